"""What the documentation says about credit must be there."""

from __future__ import annotations

import importlib
import pathlib
import re

import pytest

from horizon_bench.credit import CORRECTIONS, ESTIMATORS
from horizon_bench.credit.probe import format_table, probe

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "credit.md"
MODULES = (
    "archer|arrays|beacon|corrections|critics|diagnostics|groups|multi_objective|"
    "published_corrections|snapshots|states|tokens"
)


@pytest.fixture
def page() -> str:
    return PAGE.read_text(encoding="utf8")


@pytest.mark.parametrize("name", [*ESTIMATORS, *CORRECTIONS])
def test_every_name_is_documented(page: str, name: str) -> None:
    assert f"`{name}`" in page


def test_every_function_in_the_table_of_conventions_exists(page: str) -> None:
    named = re.findall(rf"\b({MODULES})\.([a-z_]+)", page)
    assert len(named) >= 25
    for module, function in named:
        assert callable(getattr(importlib.import_module(f"horizon_bench.credit.{module}"), function))


@pytest.mark.parametrize("name", ["rloo", "centred-turns"])
def test_the_figures_of_the_probe_are_those_of_its_command(page: str, name: str) -> None:
    assert format_table(probe([name], batches=1000)).split("\n")[-1] in page
