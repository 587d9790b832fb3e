"""The game at the terminal, with piped input."""

import io
import sys

import pytest

from studies.commands.play import Play

START = "1234341221434.2."


def play(monkeypatch, capsys, text, **options):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert Play(**{"instance": START, **options}).run() == 0
    return capsys.readouterr().out


def test_a_game_with_hint_undo_and_errors(monkeypatch, capsys):
    lines = "hint\nvalue(3, r4c2)\nhint\nundo\nundo\nvalue(9, r1c1)\nvalue(4, r1c1)\nrules\nr4c2 3 r4c4 1\n"
    out = play(monkeypatch, capsys, lines)
    assert "value(3, r4c2) (2 atomic actions to go)" in out
    assert "value(1, r4c4) (1 atomic actions to go)" in out
    assert "There is nothing to take back." in out
    assert "nothing was carried out: unknown action 'value(9, r1c1)'." in out
    assert "refused value(4, r1c1): r1c1 is given." in out
    assert out.endswith("Solved: 3 decisions, 2 atomic steps; the shortest way has 2.\n")


def test_the_end_of_the_input_ends_the_game(monkeypatch, capsys):
    assert "Ended (left): 0 decisions" in play(monkeypatch, capsys, "")
    assert "Ended (left): 0 decisions" in play(monkeypatch, capsys, "help\nrestart\nquit\nvalue(3, r4c2)\n")


def test_the_level_says_which_puzzle(monkeypatch, capsys):
    assert play(monkeypatch, capsys, "", instance=None, level="R2").startswith("Rush Hour")
    with pytest.raises(ValueError, match="unknown level 'R22'; did you mean 'R2'"):
        play(monkeypatch, capsys, "", instance=None, level="R22")


def test_a_puzzle_of_your_own_is_found_in_the_working_directory(monkeypatch, capsys, tmp_path):
    (tmp_path / "here_only.py").write_text(
        "from puzzles.sudoku import Sudoku\nclass Mine(Sudoku):\n    def __init__(self):\n        super().__init__(4)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    assert "2 atomic actions to go" in play(monkeypatch, capsys, "hint\n", puzzle="here_only:Mine")


def test_levels_interfaces_and_other_puzzles(monkeypatch, capsys):
    out = play(monkeypatch, capsys, "hint\n", puzzle="rush-hour", instance=None, level="R1", seed=1)
    assert "atomic actions to go" in out
    out = play(monkeypatch, capsys, "what(3)\nwhere(r4c2)\n", interface="split")
    assert "chosen: 3" in out
    out = play(monkeypatch, capsys, "hint\nwhat(3)\nhint\n", interface="split")
    assert "what(3) (2 atomic actions to go)" in out
    assert "where(r4c2) (2 atomic actions to go)" in out
    out = play(monkeypatch, capsys, "what(1)\nhint\n", interface="split", instance="12343412.143..2.")
    assert "where(r4c4) (4 atomic actions to go)" in out
    with pytest.raises(ValueError, match="did you mean 'macro'"):
        play(monkeypatch, capsys, "", interface="makro")
