from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def benchmark() -> Iterator[ModuleType]:
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import collapse_detection

    yield collapse_detection
    sys.path.remove(str(ROOT / "benchmarks"))


def test_the_page_holds_the_tables_that_the_command_prints(benchmark: ModuleType) -> None:
    page = (ROOT / "docs" / "collapse.md").read_text(encoding="utf8")
    tables = benchmark.made_tables(benchmark.made_cases(20, 0)) | benchmark.real_tables(benchmark.stored())
    assert len(tables) == 6
    for title, table in tables.items():
        assert table in page, title


def test_every_real_run_is_judged_as_its_reader_did(benchmark: ModuleType) -> None:
    cases = benchmark.real_cases(benchmark.stored())
    assert sum(one.collapsed for one in cases) >= 4
    assert len(cases) >= 78
    assert [one.found for one in cases] == [one.collapsed for one in cases]
    assert not any(one.false for one in cases)


def test_other_made_curves_than_the_page_shows_are_judged_alike(benchmark: ModuleType) -> None:
    cases = [one for one in benchmark.made_cases(4, 12) if one.noise != "extreme"]
    plain = [one for one in cases if one.kind in ("sudden", "then partial recovery", "of what SFT had taught")]
    assert all(one.found and one.delay()[0] <= 4 for one in plain)
    healthy = [one for one in cases if not one.collapsed]
    assert sum(one.false for one in healthy) <= 0.02 * len(healthy)


def test_made_curves_have_the_answers_they_claim(benchmark: ModuleType) -> None:
    rng = np.random.default_rng(4)
    for count in benchmark.EVALUATIONS:
        for kind in benchmark.COLLAPSING_KINDS:
            curve, onset = benchmark.collapsing_curve(kind, rng, count)
            assert curve.shape == (count,)
            assert 0 <= curve.min() <= curve.max() <= 1
            assert curve[onset] == pytest.approx(curve.max())
            lost = (curve[onset] - curve[onset + 1 :].min()) / (curve[onset] - curve[0] * (kind == "of the gain alone"))
            assert lost > 0.5
        for kind in benchmark.HEALTHY_KINDS:
            curve = benchmark.healthy_curve(kind, rng, count)
            assert 0 <= curve.min() <= curve.max() <= 1
            assert kind == "a dip that is regained" or curve[-1] > 0.5 * curve.max()


def test_labels_are_written_into_the_set_and_odd_ones_refused(benchmark: ModuleType, tmp_path: Path) -> None:
    import collapse_curves

    path = tmp_path / "curves.json.gz"
    path.write_bytes(collapse_curves.STORED.read_bytes())
    collapse_curves.label("0 collapsed 30\n\n1 doubtful -1\n", path)
    first, second, *_ = collapse_curves.stored(path)
    assert (first.label, first.onset, second.label) == ("collapsed", 30, "doubtful")
    with pytest.raises(ValueError, match="unknown label 'perhaps'"):
        collapse_curves.label("0 perhaps 3", path)
