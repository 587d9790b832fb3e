from __future__ import annotations

import itertools
import pathlib
import re
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

import solvers
from horizon_bench.envs.instances import find_maker
from studies.cli import main
from studies.compact_form import check_trainable
from studies.matrix import STUDIES, played_by, select, without_training
from studies.own_puzzle import LEVELS, graded_starts, scale_of, starts_of

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
FEW = """
from lights_for_tests import LightsOut
import horizon_bench

class Lone(LightsOut):
    def moves(self, state):
        return ()

class Torn(LightsOut):
    def examples(self):
        return (*super().examples(), "111000000", "000000111")

    def moves(self, state):
        return () if self.format(state) in ("111000000", "000000111") else super().moves(state)

class OwnLevels(LightsOut):
    def levels(self):
        return ("D1", "D2", "D3")

    def starts(self, level, split):
        return self.examples()[:2]

class NoTokens(LightsOut):
    def vocabulary(self):
        return ()

class NoForm(NoTokens):
    def compact(self, state):
        return ("a board",)

    def compact_action(self, move):
        return ("lamp", str(move))

class Unlisted(LightsOut):
    def vocabulary(self):
        return super().vocabulary()[1:]

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


@pytest.mark.usefixtures("folder")
def test_examples_that_cannot_be_solved_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    scale_of("lights_for_tests:LightsOut")
    assert caplog.text == ""
    scale = scale_of("few_lights:Torn")
    (line,) = caplog.messages
    assert re.fullmatch(r"lights-out: 2 of \d+ examples cannot be solved and are left out", line)
    assert not {one.start for one in graded_starts(scale.puzzle)} & {"111000000", "000000111"}


@pytest.mark.usefixtures("folder")
def test_levels_that_a_puzzle_states_are_its_own_whatever_their_names() -> None:
    spec = scale_of("few_lights:OwnLevels").puzzle
    assert [one.start for one in starts_of(spec, "D3", "test")] == list(find_maker(spec)().examples()[:2])


VOCABULARY = r"vocabulary\(\) \(every token of"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("NoTokens", rf"lacks {VOCABULARY}[^;]*\. The page"),
        ("NoForm", rf"lacks {VOCABULARY}.*; compact\(state\) .*; compact_action\(move\) .*\. The page"),
        ("Unlisted", r"lacks tokens in vocabulary\(\), .*: '0'\. The page"),
    ],
)
@pytest.mark.parametrize("study", ["horizon", "curriculum", "smoke"])
def test_training_on_a_puzzle_without_compact_form_is_refused_before_anything_is_written(
    folder: pathlib.Path, capsys: pytest.CaptureFixture[str], study: str, name: str, message: str
) -> None:
    words = ["study", "run", study, "--puzzle", f"few_lights:{name}", "--preset", "smoke", "--workers", "0"]
    assert main([*words, "--results", str(folder / "results")]) == 1
    complaint = capsys.readouterr().err
    assert re.search(message, complaint), complaint
    assert "docs/your_puzzle.md" in complaint
    assert "`horizon-bench study run untrained` and `horizon-bench eval` work without" in complaint
    assert not (folder / "results").exists()


@pytest.mark.usefixtures("folder")
def test_what_does_not_train_needs_no_compact_form() -> None:
    scale = scale_of("few_lights:NoForm")
    check_trainable(STUDIES["untrained"].cells(scale))
    with pytest.raises(ValueError, match="cannot be trained on"):
        check_trainable(without_training(STUDIES["horizon"].cells(scale)))
    check_trainable(played_by(STUDIES["horizon"].cells(scale), "hf:any/model"))
    check_trainable(STUDIES["horizon"].cells(scale_of("lights_for_tests:LightsOut")))


def test_the_puzzle_of_the_documentation_can_be_trained_on(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (DOCS / "your_puzzle.md").read_text(encoding="utf8")
    code = page.partition("<!-- file: hanoi.py -->\n```python\n")[2].partition("```")[0]
    (tmp_path / "hanoi_for_tests.py").write_text(code, encoding="utf8")
    monkeypatch.syspath_prepend(tmp_path)
    for study in ("horizon", "curriculum"):
        check_trainable(STUDIES[study].cells(scale_of("hanoi_for_tests:Hanoi")))
