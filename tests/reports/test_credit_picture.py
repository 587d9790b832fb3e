from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from horizon_bench.credit import ESTIMATORS
from reports.credit_picture import draw_credit, example_pictures, main
from reports.trajectories import LONGEST


def test_the_command_draws_twice_alike_from_stored_episodes(small: Path, tmp_path: Path, capsys) -> None:
    episodes = sorted(small.rglob("episodes.parquet"))[0]
    paths = [draw_credit(episodes, tmp_path / folder) for folder in ("a", "b")]
    assert [path.name for path in paths[0]] == ["credit-failed.svg", "credit-failed.png"]
    assert [path.read_bytes() for path in paths[0]] == [path.read_bytes() for path in paths[1]]
    assert main([str(episodes), "--out", str(tmp_path / "a")]) == 0
    assert "not drawn: no attempt that made a detour" in capsys.readouterr().out


def test_the_example_shows_every_estimator_on_a_failed_attempt_and_a_detour() -> None:
    pictures = example_pictures(continuations=12)
    assert list(pictures) == ["failed", "detour"]
    for kind, picture in pictures.items():
        assert {ESTIMATORS[name] for name in picture.estimators} == set(ESTIMATORS.values())
        assert len(picture.moments) <= LONGEST
        assert any(moment.change in ("same", "farther") for moment in picture.moments)
        assert (picture.moments[-1].distance == 0) == (kind == "detour")
    rows = dict(zip(pictures["detour"].estimators, pictures["detour"].advantages, strict=True))
    changes = [moment.change for moment in pictures["detour"].moments]
    nearer, nowhere = (
        [value for value, change in zip(rows["vineppo"], changes, strict=True) if (change == "nearer") == is_nearer]
        for is_nearer in (True, False)
    )
    assert np.mean(nearer) > 0 > np.mean(nowhere)
    assert min(rows["rloo"]) == max(rows["rloo"]) > 0


@pytest.mark.parametrize("arguments", [[], ["episodes.parquet", "--example"]])
def test_the_command_wants_episodes_or_the_example(arguments: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "name an episodes.parquet, or ask for --example" in capsys.readouterr().err


def test_missing_episodes_are_one_line(tmp_path: Path, capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        main([str(tmp_path / "none.parquet")])
    assert stop.value.code == 1
    assert capsys.readouterr().err.count("\n") == 1
