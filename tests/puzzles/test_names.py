from __future__ import annotations

import pytest

from puzzles.names import check_name, did_you_mean, unknown_name

KNOWN = ("macro", "macro-stepwise", "atomic", "L3")


def test_a_known_name_comes_back_and_another_is_an_error_with_the_nearest_and_all_choices() -> None:
    assert check_name("interface", "macro", KNOWN) == "macro"
    with pytest.raises(ValueError, match=r"^unknown interface 'marco'; did you mean 'macro'\? known: macro, .*, L3$"):
        check_name("interface", "marco", iter(KNOWN))
    with pytest.raises(ValueError, match=r"^unknown interface 7; known: macro, "):
        check_name("interface", 7, KNOWN)


@pytest.mark.parametrize(("name", "near"), [("MACRO", "macro"), ("l3", "L3"), ("atomical", "atomic"), ("xyz", "")])
def test_the_nearest_is_found_whatever_its_case(name: str, near: str) -> None:
    assert did_you_mean(name, KNOWN) == (f"; did you mean {near!r}?" if near else "")


def test_an_error_can_be_had_without_raising_it() -> None:
    assert str(unknown_name("split", "Tset", ("train", "test"))) == (
        "unknown split 'Tset'; did you mean 'test'? known: train, test"
    )
