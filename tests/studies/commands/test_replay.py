"""Recorded episodes as text, GIF and strip."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from horizon_bench.episodes import Episode, Turn
from reports.episode_store import StoredEpisode, write_episodes
from studies.commands.replay import Replay

BOARD = "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR."
EPISODE = {
    "puzzle": "rush-hour",
    "start": BOARD,
    "turns": [{"reply": "", "moves": ["move(A, right, 1)", "move(P, up, 1)"]}, {"reply": "hm", "moves": []}],
}


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "episode.json"
    path.write_text(json.dumps(EPISODE))
    return path


def test_text_shows_every_board(recorded, capsys):
    assert Replay(recorded).run() == 0
    out = capsys.readouterr().out
    assert [line for line in out.split("\n") if line.startswith(("start", "decision"))] == [
        "start",
        "decision 1: move(A, right, 1)",
        "decision 1: move(P, up, 1)",
        "decision 2: nothing carried out",
    ]
    assert "P A A . . O" in out


def test_gif_and_strip_hold_every_board(recorded, tmp_path, capsys):
    assert Replay(recorded, form="gif", out=tmp_path / "a.gif").run() == 0
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.n_frames >= 3
        size = gif.size
    assert Replay(recorded, form="strip", out=tmp_path / "a.png").run() == 0
    with Image.open(tmp_path / "a.png") as strip:
        assert strip.size == (4 * size[0], size[1] + 20)


def test_stored_episodes_are_found_by_index(tmp_path, capsys):
    turns = [
        Turn("", "", np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32), 0.0, False, True, True, 1,
             (move,), 0, 0.0, 0.0, (), None, 0, None, None)
        for move in ("value(3, r4c2)", "value(1, r4c4)")
    ]  # fmt: skip
    episode = Episode("key", "1234341221434.2.", "T1", 2, 0, 0, tuple(turns), True, True, False, "solved")
    path = write_episodes(
        tmp_path / "episodes.parquet", [StoredEpisode("study", "cell", 0, "rl", 1, "sudoku", 4, "atomic", episode)]
    )
    assert Replay(path, index=-1).run() == 0
    out = capsys.readouterr().out
    assert "sudoku T1, atomic, attempt 0: solved after 2 decisions, 2 atomic steps" in out
    assert "4 3 | 2 1" in out
    with pytest.raises(ValueError, match="holds 1 episodes"):
        Replay(path, index=1).run()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("not json", "is no recorded episode"),
        ('{"puzzle": "sudoku"}', "is no recorded episode"),
        ("[]", "holds no episodes"),
        (json.dumps({**EPISODE, "puzzle": "sudokuu"}), "did you mean 'sudoku'"),
        (json.dumps({**EPISODE, "turns": [{"moves": ["move(X, up, 1)"]}]}), "decision 1: .*cannot move up"),
        (json.dumps({**EPISODE, "turns": [{"moves": ["jump"]}]}), "'jump' is no action"),
        (json.dumps({**EPISODE, "turns": [{"moves": "jump"}]}), "must be a list of texts"),
    ],
)
def test_damaged_files_are_named(tmp_path, content, message):
    path = tmp_path / "episode.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        Replay(path).run()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Replay(tmp_path / "nowhere.parquet").run()


def test_a_folder_without_episodes_says_which_file_is_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no episodes at .*episodes\.parquet; .* such as results/smoke/CELL/0"):
        Replay(tmp_path).run()


def test_runs_that_there_are_are_named(tmp_path, monkeypatch):
    for cell in "abcde":
        run = tmp_path / "results" / "smoke" / cell / "0"
        run.mkdir(parents=True)
        (run / "episodes.parquet").touch()
    monkeypatch.chdir(tmp_path)
    named = "such as results/smoke/a/0, results/smoke/b/0, results/smoke/c/0 and 2 more"
    with pytest.raises(FileNotFoundError, match=rf"no episodes at nofile\.parquet; .*{named}"):
        Replay(Path("nofile.parquet")).run()
    with pytest.raises(FileNotFoundError, match=rf"no episodes at results/episodes\.parquet; .*{named}"):
        Replay(Path("results")).run()
