"""Every block of Python in the documentation runs: page by page, in order, each page in a fresh namespace."""

from __future__ import annotations

import doctest
import importlib.util
import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import gymnasium
import pytest
from written_pages import PAGES, PYTHON, ROOT, Block, blocks

from horizon_bench.credit.registry import ESTIMATORS, NEEDS_VALUES

SLOW = os.environ.get("HORIZON_BENCH_SLOW_DOCS", "") == "1"
MARKED = {"slow": 2, "needs": 3, "sketch": 4}
"""How many blocks do not run here, by kind. Change a number only together with the page, and give the reason there."""


def python_blocks(page: str) -> list[Block]:
    return [block for block in blocks(page) if block.language in PYTHON]


WITH_PYTHON = [page for page in PAGES if python_blocks(page)]


def runs(block: Block) -> bool:
    if block.mark == "needs":
        return importlib.util.find_spec(block.package) is not None
    return not block.mark or (block.mark == "slow" and SLOW)


def reports_conftest() -> ModuleType:
    """Return the module that makes results for the tests of reports."""
    spec = importlib.util.spec_from_file_location("made_results", ROOT / "tests" / "reports" / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["made_results"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(block: Block, names: dict[str, object]) -> None:
    """Run a block; lines of `>>>` must print what stands below them."""
    where = str(ROOT / block.page)
    if ">>> " in block.code:
        test = doctest.DocTestParser().get_doctest(block.code, names, block.page, where, block.line - 1)
        runner = doctest.DocTestRunner(verbose=False)
        test.globs = names
        runner.run(test, clear_globs=False)
        assert runner.failures == 0
    else:
        exec(compile("\n" * (block.line - 1) + block.code, where, "exec"), names)


@pytest.fixture
def readers_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand where a reader stands: a package of their own, results of a study; what a page registers is forgotten."""
    (tmp_path / "my_package").mkdir()
    (tmp_path / "my_package" / "__init__.py").touch()
    shutil.copy(ROOT / "docs" / "lights_out.py", tmp_path / "my_package")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    known = [(registry, dict(registry)) for registry in (gymnasium.registry, ESTIMATORS, NEEDS_VALUES)]
    yield tmp_path
    for registry, before in known:
        registry.clear()
        registry.update(before)
    own = {block.reason.removesuffix(".py") for page in WITH_PYTHON for block in python_blocks(page)} | {"my_package"}
    for module in [name for name in sys.modules if name.split(".")[0] in own]:
        del sys.modules[module]


@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_blocks_of_a_page_run(page: str, readers_folder: Path) -> None:
    if SLOW:
        reports_conftest().make_results(readers_folder / "results", seeds=2, puzzles=12)
    names: dict[str, object] = {"__name__": "page"}
    for block in python_blocks(page):
        if block.mark == "file":
            (readers_folder / block.reason).write_text(block.code, encoding="utf8")
        elif runs(block):
            run(block, names)
        elif ">>> " not in block.code:
            compile("\n" * (block.line - 1) + block.code, page, "exec")


def test_blocks_that_do_not_run_are_few_and_say_why() -> None:
    marked = [block for page in WITH_PYTHON for block in python_blocks(page) if block.mark in MARKED]
    assert Counter(block.mark for block in marked) == MARKED
    assert all(len(block.reason.split()) >= 3 for block in marked)


def test_a_puzzle_of_your_own_takes_less_than_thirty_lines() -> None:
    (puzzle,) = [block for block in blocks("docs/your_puzzle.md") if block.mark == "file"]
    assert len([line for line in puzzle.code.split("\n") if line.strip()]) < 30
