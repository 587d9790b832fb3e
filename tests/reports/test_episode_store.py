from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reports.episode_store import StoredEpisode, append_episodes, read_episodes, write_episodes


def same(one: StoredEpisode, other: StoredEpisode) -> bool:
    arrays = ("prompt_ids", "reply_ids", "sampling_logprobs")
    for turn, twin in zip(one.episode.turns, other.episode.turns, strict=True):
        for name in vars(turn):
            mine, its = getattr(turn, name), getattr(twin, name)
            if name in arrays:
                assert mine.dtype == its.dtype
                assert np.array_equal(mine, its)
            else:
                assert mine == its
    return True


def test_episodes_come_back_exactly(tmp_path: Path, make) -> None:
    rng = np.random.default_rng(0)
    stored = make.stored_episodes(make.arms[3], 1, 80, rng)
    path = write_episodes(tmp_path / "episodes.parquet", stored[:5])
    append_episodes(path, stored[5:])
    back = read_episodes(path)
    assert len(back) == len(stored)
    assert all(same(one, other) for one, other in zip(stored, back, strict=True))


def test_the_same_episodes_give_the_same_file(tmp_path: Path, make) -> None:
    stored = make.stored_episodes(make.arms[3], 1, 80, np.random.default_rng(0))
    files = [write_episodes(tmp_path / f"{name}.parquet", stored).read_bytes() for name in "ab"]
    assert files[0] == files[1]


def test_an_unreadable_file_is_named_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "episodes.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(ValueError, match=r"episodes\.parquet: unreadable .* move it away"):
        read_episodes(path)


def test_no_episodes_is_a_file_too(tmp_path: Path) -> None:
    assert read_episodes(write_episodes(tmp_path / "episodes.parquet", [])) == []
