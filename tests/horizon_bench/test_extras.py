from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import horizon_bench
from horizon_bench.extras import EXTRAS, extra_needed, missing_package

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("puzzles", "solvers", "curricula", "horizon_bench", "reports", "studies")
OPTIONAL = {package for packages in EXTRAS.values() for package in packages}
BROUGHT_BY_OTHERS = {"PIL": "pillow", "llvmlite": "numba", "tokenizers": "transformers", "uvicorn": "openenv"}
"""Import names that differ from the requirement that brings them."""

WALK = """
import importlib, pkgutil, sys
for name in {optional!r}:
    sys.modules[name] = None
import horizon_bench
for package in {packages!r}:
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
        if not module.name.endswith("__main__"):
            try:
                importlib.import_module(module.name)
                print(module.name, "loads", sep="\\t")
            except ImportError as error:
                print(module.name, error, sep="\\t")
"""


@pytest.fixture(scope="module")
def without_extras() -> dict[str, str]:
    """Return what importing each module says where no extra is installed."""
    program = WALK.format(optional=sorted(OPTIONAL), packages=PACKAGES)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return dict(line.split("\t", 1) for line in run.stdout.splitlines())


def requirements() -> tuple[list[str], dict[str, list[str]]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    return project["dependencies"], project["optional-dependencies"]


def named(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found
    return found.group().lower()


def test_every_module_loads_without_the_extras_or_names_the_one_it_needs(without_extras: dict[str, str]) -> None:
    loads = {name for name, said in without_extras.items() if said == "loads"}
    refuses = {name: said for name, said in without_extras.items() if name not in loads}
    assert {
        "horizon_bench.envs.puzzle_env",
        "horizon_bench.policies",
        "horizon_bench.credit",
        "solvers.sudoku",
    } <= loads
    assert {"reports.page", "curricula.making", "studies.cli", "horizon_bench.testing"} <= loads
    assert {name for name in refuses if "[train]" in refuses[name]} >= {
        "horizon_bench.training.rl",
        "horizon_bench.policies.tiny",
        "horizon_bench.mira.phases",
        "studies.supervised",
    }
    for name, said in refuses.items():
        assert re.search(r'pip install "horizon-bench\[\w+\]"', said), (name, said)


@pytest.mark.parametrize("statement", ["import horizon_bench", "import puzzles, solvers, curricula, reports, studies"])
def test_importing_loads_nothing_that_is_heavy(statement: str) -> None:
    heavy = {*OPTIONAL, "matplotlib", "numba", "scipy", "pyarrow", "hypothesis", "PIL", "jinja2", "rich", "tyro"}
    program = f"import sys; {statement}; print(sorted({heavy!r} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_every_package_that_the_code_imports_is_required_or_brought_by_an_extra() -> None:
    base, extras = requirements()
    brought = {named(each) for each in base} | OPTIONAL
    for name in PACKAGES:
        for path in (ROOT / name).rglob("*.py"):
            for package in imported(path) - set(sys.stdlib_module_names) - set(PACKAGES):
                assert BROUGHT_BY_OTHERS.get(package, package) in brought, f"{path} imports {package}"
    for extra, packages in EXTRAS.items():
        listed = {named(each) for each in extras[extra]}
        assert {BROUGHT_BY_OTHERS.get(each, each) for each in packages} <= listed, extra


def test_the_lower_bounds_are_the_versions_of_the_oldest_check() -> None:
    base, extras = requirements()
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf8").splitlines()
    oldest = dict(line.split("==") for line in lines if not line.startswith("#"))
    for requirement in [*base, *extras["train"], *extras["tests"]]:
        name, _, bound = requirement.partition(">=")
        assert release(bound) == release(oldest[name]), requirement


def release(version: str) -> list[int]:
    numbers = [int(part) for part in version.split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return numbers


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def test_a_missing_package_that_no_extra_brings_is_told_as_it_is() -> None:
    assert missing_package(ModuleNotFoundError("No module named 'sideboard'", name="sideboard")) is None
    with pytest.raises(ModuleNotFoundError, match="no_such_package") as told, extra_needed():
        import no_such_package  # type: ignore[import-not-found]  # noqa: F401
    assert "horizon-bench[" not in str(told.value)


def test_the_version_is_said_once() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    assert project["version"] == horizon_bench.__version__
