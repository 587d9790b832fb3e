"""The shape of the repository: who may import whom, and that its files say the same things."""

from __future__ import annotations

import configparser
import pathlib
import re
import subprocess
import sys
import tomllib

import pytest
from making.imports import ORDER, imports_of, layered, part_edges, parts_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAINING = {"torch", "transformers", "trl", "accelerate", "datasets", "safetensors", "peft", "tokenizers"}
FORBIDDEN = {
    "puzzles": TRAINING | {"gymnasium", "numba", "matplotlib", "scipy"},
    "solvers": TRAINING | {"gymnasium", "matplotlib"},
    "curricula": TRAINING | {"gymnasium", "matplotlib"},
    "horizon_bench": {"matplotlib", "tyro", "rich"},
    "reports": TRAINING | {"tyro", "rich"},
    "studies": set(),
}
HOME_OF_TRAINING = ("horizon_bench/policies", "horizon_bench/training", "horizon_bench/mira")


def modules() -> list[pathlib.Path]:
    return [path for package in ORDER for path in sorted((ROOT / package).rglob("*.py"))]


def imported_packages(path: pathlib.Path) -> set[str]:
    return {name.split(".")[0] for name, _ in imports_of(path)}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_imports_only_what_stands_to_its_left(path: pathlib.Path) -> None:
    package = path.relative_to(ROOT).parts[0]
    imports = imported_packages(path)
    to_the_right = set(ORDER[ORDER.index(package) + 1 :])
    assert not imports & to_the_right
    assert not imports & FORBIDDEN[package]
    if package == "horizon_bench" and not path.relative_to(ROOT).as_posix().startswith(HOME_OF_TRAINING):
        assert not imports & TRAINING


def test_no_two_parts_of_horizon_bench_import_each_other_at_once() -> None:
    edges = part_edges()
    order = layered(edges, parts_of())
    at_once = [edge for edge, now in edges.items() if now]
    assert [edge for edge in at_once if order.index(edge[0]) <= order.index(edge[1])] == []


def test_importing_the_packages_loads_no_training_library() -> None:
    program = (
        "import puzzles, solvers, curricula, horizon_bench, reports, sys;"
        f"print(sorted({TRAINING!r} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert result.stdout.strip() == "[]"


def test_the_wheel_holds_the_six_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))
    assert tuple(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == ORDER


def test_ci_runs_the_commands_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf8").split("\n")
    for command in ("python -m pip install tox && tox -e study-smoke", "python -m pip install tox && tox -e tests"):
        assert command in readme
        assert command in script


def test_every_study_of_tox_is_a_study_of_the_matrix() -> None:
    from studies.matrix import STUDIES

    parser = configparser.ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini", encoding="utf8")
    header = next(name for name in parser.sections() if name.startswith("testenv:study-"))
    names = header.removeprefix("testenv:study-").strip("{}").split(",")
    assert set(names) == set(STUDIES)


def test_tox_knows_the_words_of_every_cell() -> None:
    from studies.matrix import SCALES, STUDIES

    conditions = re.findall(r"^    study-([a-z0-9-]+): train$", (ROOT / "tox.ini").read_text(encoding="utf8"), re.M)
    known = {word for condition in conditions for word in condition.split("-")}
    cells = [cell.name for study in STUDIES.values() for scale in SCALES.values() for cell in study.cells(scale)]
    assert {word for name in cells for word in name.removeprefix("study-").split("-")} <= known
