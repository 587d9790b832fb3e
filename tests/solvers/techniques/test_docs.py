from __future__ import annotations

import doctest
import pathlib

from solvers.techniques.table import TECHNIQUES, markdown_table

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "techniques.md"


def test_the_page_holds_the_table_of_the_code() -> None:
    assert markdown_table() in PAGE.read_text(encoding="utf8")


def test_every_technique_is_defined_in_one_sentence() -> None:
    for technique in TECHNIQUES:
        assert technique.definition.endswith(".")
        assert technique.definition.count(". ") == 0


def test_the_examples_of_the_page_hold() -> None:
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried > 0
    assert failed == 0
