from __future__ import annotations

import pathlib

from solvers.techniques.table import TECHNIQUES, markdown_table

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "techniques.md"


def test_the_page_holds_the_table_of_the_code() -> None:
    assert markdown_table() in PAGE.read_text(encoding="utf8")


def test_every_technique_is_defined_in_one_sentence() -> None:
    for technique in TECHNIQUES:
        assert technique.definition.endswith(".")
        assert technique.definition.count(". ") == 0
