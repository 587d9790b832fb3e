from __future__ import annotations

import pathlib

import pytest

from solvers.techniques import LEVEL_LIMITS, TECHNIQUES
from solvers.techniques.table import code_of, codes_of, level_of


def test_techniques_stand_in_the_order_of_trying() -> None:
    orders = [technique.order for technique in TECHNIQUES]
    assert orders == sorted(orders)


def test_every_name_and_its_sloppy_spelling_are_understood() -> None:
    for code, technique in enumerate(TECHNIQUES):
        assert code_of(technique.name) == code
        assert code_of(technique.name.lower().replace(" ", "-")) == code


def test_facts_agree_with_the_shared_table(shared_data: pathlib.Path) -> None:
    lines = (shared_data / "hodoku_techniques.tsv").read_text(encoding="utf8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    facts = {row[8]: (int(row[0]), row[4].capitalize(), int(row[6])) for row in rows}
    for technique in TECHNIQUES:
        assert facts[technique.name] == (technique.order, technique.level, technique.score)


def test_every_technique_of_the_three_lower_levels_is_known(shared_data: pathlib.Path) -> None:
    lines = (shared_data / "hodoku_techniques.tsv").read_text(encoding="utf8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")][1:]
    wanted = {row[8] for row in rows if row[4] in ("EASY", "MEDIUM", "HARD") and row[2] != "xxxx"}
    assert wanted <= {technique.name for technique in TECHNIQUES}


@pytest.mark.parametrize(("score", "names", "level"), [
    (60, ["Full House"], "Easy"),
    (800, ["Hidden Single"], "Easy"),
    (801, ["Hidden Single"], "Medium"),
    (1001, ["Naked Pair"], "Hard"),
    (100, ["X-Wing"], "Hard"),
    (1601, ["X-Wing"], "Unfair"),
    (1801, ["Naked Single"], "Extreme"),
    (0, [], "Easy"),
])  # fmt: skip
def test_level_is_that_of_the_hardest_technique_raised_by_the_score(score: int, names: list[str], level: str) -> None:
    assert level in LEVEL_LIMITS
    assert level_of(score, map(code_of, names)) == level


def test_unknown_technique_names_the_nearest() -> None:
    with pytest.raises(ValueError, match="did you mean 'Naked Pair'"):
        code_of("nacked pair")


def test_one_text_is_not_taken_for_several_names() -> None:
    with pytest.raises(ValueError, match="several names"):
        codes_of("X-Wing")
