"""Shopping lists to the letter: as read, written and said, and why one is refused."""

from __future__ import annotations

import pytest

from puzzles.shop import Shop
from puzzles.shop_catalogue import Product, Wish
from puzzles.shop_text import read_wishes, say_product, say_wish, write_wishes

SHOP = Shop()
JACKET = Product("jacket", "lumen", "ceramic", ("handmade",), 5)


def test_wishes_are_said_and_written() -> None:
    full = Wish("jacket", "lumen", "wool", "quiet", 60, ("red", "small", "", "matt"))
    assert say_wish(full) == (
        "jacket, brand lumen, material wool, quiet, at most $60; to choose: colour red, size small, finish matt"
    )
    assert say_wish(Wish("mug", "", "", "", 5, ("",) * 4)) == "mug, at most $5"
    assert say_product(JACKET) == "lumen ceramic jacket, handmade, $5"
    assert write_wishes((full, Wish("mug", "", "", "", 5, ("",) * 4))) == (
        "lumen wool quiet jacket <=60 red small matt; mug <=5"
    )


LISTS = {
    "": "the wish '' names no category",
    " scarf ": "the wish 'scarf' names no limit",
    "velmo <=40": "the wish 'velmo <=40' names no category",
    "scarf rug <=40": "a wish names category twice: scarf and rug",
    "scarf <=40 <=50": "a wish names limit twice: 40 and <=50",
    "scarf <=41": f"the price limit is 41, must be one of {', '.join(str(price) for price in range(5, 81, 5))}",
    "scarf <=40 shiny": "'shiny' is no word of the shop, and no price limit such as <=40",
    "scarf <=40 " + "y" * 50: f"{'y' * 40!r} is no word of the shop, and no price limit such as <=40",
    "scarf <=1000": "'<=1000' is no word of the shop, and no price limit such as <=40",
    "jacket <=40 red": "there is no colour to choose of a jacket, so no 'red'",
    ";".join(["scarf <=40"] * 5): "the list has 5 wishes, at most 4 are allowed",
}


@pytest.mark.parametrize("text", LISTS)
def test_a_wrong_list_is_refused_in_these_words(text: str) -> None:
    with pytest.raises(ValueError) as caught:
        SHOP.parse(text)
    assert str(caught.value) == LISTS[text]


def test_a_long_wish_is_quoted_in_part_and_four_wishes_are_allowed() -> None:
    with pytest.raises(ValueError) as caught:
        SHOP.parse("velmo " + " " * 80 + "wool")
    assert str(caught.value) == f"the wish {('velmo ' + ' ' * 54)!r} names no category"
    assert len(SHOP.parse(";".join(["scarf <=$40"] * 4)).wishes) == 4
    assert SHOP.parse("mug <=5").wishes == (Wish("mug", "", "", "", 5, ("",) * 4),)
    wishes = read_wishes("huge matt jacket quiet wool lumen <=$60 twin", SHOP.catalogue.axes)
    assert wishes == (Wish("jacket", "lumen", "wool", "quiet", 60, ("", "huge", "twin", "matt")),)
