"""The pictures of imports are what the code says, and the page beside them leaves nothing out."""

from __future__ import annotations

from pathlib import Path

import pytest
from making import imports

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("path", imports.pages())
def test_a_picture_of_imports_is_what_the_code_says(path: str) -> None:
    committed = (DOCS / path).read_text(encoding="utf8")
    assert committed == imports.pages()[path], "who imports whom has changed: run python docs/make_pages.py"


def test_the_page_names_every_package_and_part() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf8")
    assert all(f"\n### {package}\n" in text for package in imports.ORDER)
    assert [part for part in imports.parts_of() if f"`{part}`" not in text] == []


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    files = {
        "puzzles/__init__.py": "import numpy\n",
        "solvers/exact.py": "from puzzles import base\n",
        "horizon_bench/credit/__init__.py": "from horizon_bench.episodes import Episode\n",
        "horizon_bench/episodes.py": "def f():\n    import solvers.exact\n    from horizon_bench import credit\n",
        "horizon_bench/data/notes.txt": "",
        "horizon_bench/__init__.py": "import horizon_bench.credit\n",
        "reports/__init__.py": "if TYPE_CHECKING:\n    from solvers import exact\n",
        "reports/table.py": "def f():\n    import puzzles\n\nimport puzzles\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf8")
    return tmp_path


def test_imports_inside_functions_and_for_types_are_late(small_tree: Path) -> None:
    assert imports.package_edges(small_tree) == {
        ("horizon_bench", "solvers"): False,
        ("reports", "puzzles"): True,
        ("reports", "solvers"): False,
        ("solvers", "puzzles"): True,
    }


def test_parts_are_folders_and_modules_and_stand_below_what_they_import(small_tree: Path) -> None:
    parts, edges = imports.parts_of(small_tree), imports.part_edges(small_tree)
    assert parts == ["credit", "episodes"]
    assert edges == {("credit", "episodes"): True, ("episodes", "credit"): False}
    assert imports.layered(edges, parts) == ["episodes", "credit"]
    assert imports.in_words(edges) == "episodes imports (credit). credit imports episodes."


def test_parts_that_import_one_another_stand_together() -> None:
    edges = {("a", "c"): True, ("c", "a"): True, ("b", "a"): True, ("a", "d"): True, ("a", "b"): False}
    assert imports.layered(edges, "abcd") == ["d", "a", "c", "b"]
