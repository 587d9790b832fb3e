"""Pages made from the code are what the code says, and nothing in a registry is without its page."""

from __future__ import annotations

import inspect
from functools import partial

import pytest
import site_hooks
from make_pages import pages, stale
from making import estimators, figures, interfaces, reference
from making.estimator_notes import NOTES as ESTIMATOR_NOTES
from making.markdown import argument_notes, readable
from making.study_notes import NOTES as STUDY_NOTES
from written_pages import read

from horizon_bench.credit import ESTIMATORS
from horizon_bench.envs import INTERFACES
from reports.figures import FIGURES
from studies.matrix import STUDIES


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return pages()


def test_the_files_are_what_the_code_says(made: dict[str, str]) -> None:
    assert stale(made) == [], "run `python docs/make_pages.py`"


def test_every_study_has_a_page_with_its_question_and_a_way_to_read_it(made: dict[str, str]) -> None:
    assert list(STUDY_NOTES) == list(STUDIES)
    for name, study in STUDIES.items():
        assert study.question in made[f"studies/{name}.md"]
        assert set(STUDY_NOTES[name].figures) <= set(FIGURES)


def test_every_estimator_has_a_page_with_each_of_its_options(made: dict[str, str]) -> None:
    assert set(ESTIMATOR_NOTES) == set(ESTIMATORS)
    for name, estimator in ESTIMATORS.items():
        function = estimator.func if isinstance(estimator, partial) else estimator
        options = set(argument_notes(function)) - {"batch"}
        assert options == set(inspect.signature(function).parameters) - {"batch"}
        page = made[f"estimators/{estimators.slug(name)}.md"]
        assert all(f"| `{option}` |" in page for option in options)


def test_every_interface_has_a_page(made: dict[str, str]) -> None:
    shown = {interfaces.COUNTED.get(name, name) for name in interfaces.NOTES}
    assert {name.rstrip("0123456789") for name in INTERFACES} == {name.rstrip("0123456789") for name in shown}


def test_every_figure_is_explained() -> None:
    assert list(figures.READING) == list(FIGURES)


def test_every_module_is_in_the_reference() -> None:
    found = reference.packages()
    assert "horizon_bench.credit.beacon" in found["horizon_bench.credit"]
    assert "studies.questions.horizon" in found["studies.questions"]
    assert all(reference.first_line(name).endswith((".", ":")) for name in found)


def test_a_study_page_shows_what_was_claimed_of_it() -> None:
    one = "## One\n\n*Study `a`: x.*\n\n**It holds: twice.** More.\n\n- **And this**: y\n\n"
    text = f"# F\n\n{one}## Two\n\n*Study `b`*\n\n**No.**\n"
    assert site_hooks.claims(text, "a") == "[One](../findings.md#one)\n\n- It holds: twice.\n- And this."
    assert site_hooks.claims(text, "c") == "Not run with several seeds yet."


def test_studies_with_findings_are_named_as_the_hook_looks_for_them() -> None:
    findings = read("docs/findings.md")
    named = [name for name in STUDIES if "Not run" not in site_hooks.claims(findings, name)]
    assert {"execution", "horizon", "curriculum", "recipe", "mira", "turn-risk", "restore"} <= set(named)


def test_examples_and_shapes_of_docstrings_are_no_links() -> None:
    text = "Shape [turns], `x[0]`, [a page](https://example.org).\n\n>>> [1]\n[1]"
    shown = "Shape \\[turns], `x[0]`, [a page](https://example.org).\n\n```python\n>>> [1]\n[1]\n```"
    assert readable(text) == shown
