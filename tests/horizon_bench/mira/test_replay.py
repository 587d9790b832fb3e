from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import time
from dataclasses import fields

import numpy as np
import pytest

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.episodes import Turn
from horizon_bench.mira.replay import ReplayBuffer, Replayed, plausible, read_buffer, read_part, write_part
from horizon_bench.policies import ExpertPolicy
from horizon_bench.rollout import rollout

WRITER = """
import os, pathlib, signal, sys
import pyarrow.parquet as pq
from horizon_bench.mira.replay import ReplayBuffer, read_part

folder, source, torn = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3] == "torn"
rows = read_part(source)
buffer = ReplayBuffer(folder, 1000)
if torn:
    whole = pq.write_table
    def write(table, path, **options):
        if "000003" in str(path):
            whole(table, path, **options)
            os.truncate(path, path.stat().st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        whole(table, path, **options)
    pq.write_table = write
for update in range(10_000):
    buffer.add(update, rows)
    print(update, flush=True)
"""


@pytest.fixture(scope="module")
def rows() -> list[Replayed]:
    episodes = rollout(ExpertPolicy(), load_bank("T2")[:3], Settings(), 2)
    return [
        Replayed(episode, 4, 2, 7, "atomic", 0.8, "Hidden Single", "failure", (0.25,) * 6, (0.5,) * 6)
        for episode in episodes
    ]


def same(one: Replayed, other: Replayed) -> bool:
    for turn, twin in zip(one.episode.turns, other.episode.turns, strict=True):
        for field in fields(Turn):
            if not np.array_equal(getattr(turn, field.name), getattr(twin, field.name)):
                return False
    names = [field.name for field in fields(Replayed) if field.name != "episode"]
    return all(getattr(one, name) == getattr(other, name) for name in names)


def test_an_episode_comes_back_as_it_was_with_its_provenance(rows: list[Replayed], tmp_path: pathlib.Path) -> None:
    again = read_part(write_part(tmp_path / "update-000004.parquet", rows))
    assert len(again) == len(rows)
    assert all(same(one, other) for one, other in zip(rows, again, strict=True))


def test_the_buffer_holds_the_last_updates_in_memory_and_on_disk(rows: list[Replayed], tmp_path: pathlib.Path) -> None:
    buffer = ReplayBuffer(tmp_path / "replay", 2)
    buffer.rewind(0)
    for update in range(5):
        buffer.add(update, rows[: update + 1])
    assert len(buffer.episodes()) == 4 + 5
    assert len(buffer.episodes(before=4)) == 3 + 4
    assert len(buffer.part(4)) == 5
    assert buffer.part(0) == ()
    buffer.prune(4)
    resumed = ReplayBuffer(tmp_path / "replay", 2)
    (tmp_path / "replay" / "update-000009.parquet.1.part").write_bytes(b"torn")
    resumed.rewind(4)
    assert [len(resumed.part(update)) for update in range(6)] == [0, 0, 3, 4, 0, 0]
    assert sorted(path.name for path in (tmp_path / "replay").iterdir()) == [
        "update-000002.parquet",
        "update-000003.parquet",
    ]
    assert len(read_buffer(tmp_path / "replay")) == 7


def test_without_replay_the_last_update_is_still_known(rows: list[Replayed]) -> None:
    buffer = ReplayBuffer(None, 0)
    buffer.add(0, rows)
    assert buffer.episodes(before=1) == []
    assert len(buffer.part(0)) == len(rows)


def test_a_file_that_is_missing_or_damaged_is_named(rows: list[Replayed], tmp_path: pathlib.Path) -> None:
    ReplayBuffer(tmp_path, 3).add(0, rows)
    with pytest.raises(ValueError, match=r"lacks update 1, .*update-000001\.parquet"):
        ReplayBuffer(tmp_path, 3).rewind(2)
    (tmp_path / "update-000000.parquet").write_bytes(b"PAR1nothing")
    with pytest.raises(ValueError, match=r"update-000000\.parquet: unreadable replay episodes"):
        ReplayBuffer(tmp_path, 3).rewind(1)


@pytest.mark.parametrize("how", ["torn", "any"])
def test_a_kill_in_the_middle_of_a_write_leaves_whole_files_only(
    rows: list[Replayed], tmp_path: pathlib.Path, how: str
) -> None:
    source = write_part(tmp_path / "source" / "update-000000.parquet", rows)
    folder = tmp_path / "replay"
    child = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(source), how], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    if how == "any":
        for _ in range(3):
            child.stdout.readline()
        time.sleep(0.003)
        os.kill(child.pid, signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert child.returncode == -signal.SIGKILL
    whole = sorted(folder.glob("update-*.parquet"))
    assert len(whole) >= 3
    for path in whole:
        assert len(read_part(path)) == len(rows)
    if how == "torn":
        assert len(whole) == 3
        assert list(folder.glob("*.part"))
    resumed = ReplayBuffer(folder, 3)
    resumed.rewind(3)
    assert len(resumed) == 3 * len(rows)
    assert not list(folder.glob("*.part"))


def test_replies_between_the_bounds_are_replayed() -> None:
    likelihoods = np.array([0.2, 0.5, 0.51, 0.95, 0.951, 1.0])
    assert plausible(likelihoods, 0.5, 0.95).tolist() == [2, 3]
