from __future__ import annotations

import itertools
import pathlib
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

import solvers
from horizon_bench.envs.instances import find_maker
from studies.matrix import STUDIES, select
from studies.own_puzzle import LEVELS, graded_starts, scale_of

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
FEW = """
from lights_for_tests import LightsOut
import horizon_bench

class Lone(LightsOut):
    def moves(self, state):
        return ()

horizon_bench.register_puzzle("few_lights/Registered-v0", "lights_for_tests:LightsOut")
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """A folder with two modules of puzzles, importable."""
    (tmp_path / "lights_for_tests.py").write_text((DOCS / "lights_out.py").read_text())
    (tmp_path / "few_lights.py").write_text(FEW)
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    yield tmp_path
    sys.path[:] = before
    for name in ("lights_for_tests", "few_lights"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("folder")
def test_levels_go_from_near_to_far_and_no_content_stands_in_two_splits() -> None:
    scale = scale_of("lights_for_tests:LightsOut")
    starts = graded_starts(scale.puzzle)
    puzzle = find_maker(scale.puzzle)()
    for one in starts[::29]:
        state = puzzle.parse(one.start)
        assert solvers.oracle(puzzle, state).distance == one.distance
        assert puzzle.key(state) == one.key
    spans = [[one.distance for one in starts if one.level == level] for level in LEVELS]
    assert all(max(near) <= min(far) for near, far in itertools.pairwise(spans))
    places = {(one.key, one.level, one.split) for one in starts}
    assert len(places) == len({one.key for one in starts})
    counts = Counter((one.level, one.split) for one in starts)
    assert len(counts) == 9
    assert all(counts[level, "train"] > counts[level, "test"] > 0 for level in LEVELS)


@pytest.mark.usefixtures("folder")
def test_a_puzzle_is_found_by_class_and_by_registered_id() -> None:
    by_class = scale_of("lights_for_tests:LightsOut")
    by_id = scale_of("few_lights:Registered")
    assert by_class.puzzle == by_id.puzzle == "lights_for_tests:LightsOut"
    assert by_id.module == "few_lights"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("study", STUDIES)
def test_every_study_has_cells_for_it_but_those_about_what_it_lacks(study: str) -> None:
    scale = scale_of("lights_for_tests:LightsOut")
    cells = STUDIES[study].cells(scale)
    if study in ("turn-risk", "split", "technique"):
        with pytest.raises(ValueError, match=f"study {study} has no cells for lights_for_tests:LightsOut"):
            select(study, scale)
        return
    assert len({cell.name for cell in cells}) == len(cells)
    assert any(cell.name.startswith("study-lightsout-") for cell in cells)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("LightsOut", "form MODULE:NAME"),
        ("not_there:LightsOut", "cannot import module 'not_there'"),
        ("lights_for_tests:LightOut", "did you mean 'LightsOut'"),
        ("os:path", r"has no puzzle 'path'(?!; did you mean 'path')"),
        ("few_lights:Lone", "offers 0 different starts"),
    ],
)
def test_what_cannot_be_studied_is_refused_with_the_reason(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scale_of(name)
