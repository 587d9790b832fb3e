from __future__ import annotations

from collections.abc import Callable

import pytest

from solvers.techniques import LEVEL_LIMITS, TECHNIQUES
from solvers.techniques.table import code_of, codes_of, level_of

SharedTable = Callable[[str], list[dict[str, str]]]


def test_techniques_stand_in_the_order_of_trying() -> None:
    orders = [technique.order for technique in TECHNIQUES]
    assert orders == sorted(orders)


def test_every_name_and_its_sloppy_spelling_are_understood() -> None:
    for code, technique in enumerate(TECHNIQUES):
        assert code_of(technique.name) == code
        assert code_of(technique.name.lower().replace(" ", "-")) == code


def test_facts_agree_with_the_shared_table(shared_table: SharedTable) -> None:
    facts = {
        row["display_name"]: (int(row["order"]), row["level"].capitalize(), int(row["base_score"]))
        for row in shared_table("hodoku_techniques.tsv")
    }
    for technique in TECHNIQUES:
        assert facts[technique.name] == (technique.order, technique.level, technique.score)


def test_every_technique_of_the_three_lower_levels_is_known(shared_table: SharedTable) -> None:
    rows = shared_table("hodoku_techniques.tsv")
    wanted = {
        row["display_name"] for row in rows if row["level"] in ("EASY", "MEDIUM", "HARD") and row["code"] != "xxxx"
    }
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
