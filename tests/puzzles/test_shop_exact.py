"""Shop to the letter: pages as shown, lists as written, actions as read, refusals in their words, scores by hand."""

from __future__ import annotations

import numpy as np
import pytest

from puzzles.shop import Move, Purchase, Shop, ShopState, search_moves
from puzzles.shop_catalogue import PER_PAGE, Catalogue, Product, Wish, meets
from puzzles.shop_words import AXES, INDEX_WORDS

SHOP = Shop()
LIST = "lumen wool jacket <=60 small; brisk handmade mug <=80"
RULES = """\
A shop of 3000 products. Buy what the wish asks for: the right category, brand, material and feature as far as it \
names them, a price within its limit, and the choices it names. A purchase cannot be undone. Goal: every wish is met \
in full. A search takes one or two words, a category, brand, material or feature; choices are made on the product's \
page (colour: red, blue, green, black, white; size: small, medium, large, huge; pack: single, twin, bulk; finish: \
matt, glossy, plain).
Actions: search(WORD WORD), open(PLACE), choose(VALUE), go(next), go(previous), go(back), buy(now), for example \
search(nordal kettle), open(1), choose(red)."""
JACKET = Product("jacket", "lumen", "ceramic", ("handmade",), 5)
"""The first product of the shop."""


def play(*actions: str, text: str = LIST, shop: Shop = SHOP) -> ShopState:
    state = shop.parse(text)
    for action in actions:
        moves = shop.parse_action(action)
        assert moves is not None
        state = shop.apply(state, moves[0])
    return state


SEARCHED = ("search(lumen jacket)",)
OPENED = (*SEARCHED, "open(1)")
CHOSEN = (*OPENED, "choose(small)")
BOUGHT = (*CHOSEN, "buy()")
DONE = (*BOUGHT, "search(brisk mug)", "open(2)", "buy(now)")

PAGES = {
    (): "Page: search",
    SEARCHED: """\
Page: results for lumen jacket, 1 of 5
1. lumen ceramic jacket, handmade, $5
2. lumen steel jacket, lightweight, $35
3. lumen wood jacket, foldable, $20
4. lumen wool jacket, insulated, stackable, $55""",
    OPENED: """\
Page: lumen ceramic jacket, handmade, $5
size: small, medium, large, huge (chosen: none)
pack: single, twin, bulk (chosen: none)
finish: matt, glossy, plain (chosen: none)""",
    CHOSEN: """\
Page: lumen ceramic jacket, handmade, $5
size: small, medium, large, huge (chosen: small)
pack: single, twin, bulk (chosen: none)
finish: matt, glossy, plain (chosen: none)""",
}


@pytest.mark.parametrize("actions", PAGES)
def test_pages_are_shown_under_their_wish(actions: tuple[str, ...]) -> None:
    wish = "Wish 1 of 2: jacket, brand lumen, material wool, at most $60; to choose: size small"
    assert SHOP.render(play(*actions)) == f"{wish}\n{PAGES[actions]}"


def test_the_next_wish_and_the_end_are_shown() -> None:
    assert SHOP.render(play(*BOUGHT)) == "Wish 2 of 2: mug, brand brisk, handmade, at most $80\nPage: search"
    assert SHOP.render(play(*DONE)) == "All wishes are done with. Score: 0.71"
    found = Shop(3).render(play("search(nordal)", text="mug <=5", shop=Shop(3)))
    assert found.endswith("\nPage: results for nordal, 1 of 1\nnothing found")


def test_the_rules_are_told_in_full() -> None:
    assert SHOP.rules() == RULES


@pytest.mark.parametrize(
    ("actions", "text"),
    [
        ((), LIST),
        (SEARCHED, LIST + " @  @ results lumen jacket 1 -1:,,,"),
        ((*SEARCHED, "go(next)"), LIST + " @  @ results lumen jacket 2 -1:,,,"),
        (CHOSEN, LIST + " @  @ item lumen jacket 1 0:,small,,"),
        (BOUGHT, LIST + " @ 0:,small,, @ search  0 -1:,,,"),
        (DONE, LIST + " @ 0:,small,, 830:,,, @ search  0 -1:,,,"),
    ],
)
def test_states_are_written_with_purchases_and_page(actions: tuple[str, ...], text: str) -> None:
    assert SHOP.format(play(*actions)) == text


def names(state: ShopState) -> list[str]:
    return [SHOP.format_action(move) for move in SHOP.moves(state)]


def test_moves_stand_in_the_order_of_the_page() -> None:
    places = ["open(1)", "open(2)", "open(3)", "open(4)"]
    assert names(play(*SEARCHED)) == [*places, "go(next)", "go(back)"]
    assert names(play(*SEARCHED, "go(next)")) == [*places, "go(next)", "go(previous)", "go(back)"]
    assert names(play(*SEARCHED, *["go(next)"] * 4)) == [*places, "go(previous)", "go(back)"]
    choices = [f"choose({value})" for axis in ("size", "pack", "finish") for value in AXES[axis]]
    assert names(play(*OPENED)) == [*choices, "go(back)", "buy(now)"]
    assert names(play(*CHOSEN)) == [*choices[1:], "go(back)", "buy(now)"]
    assert SHOP.moves(play(*DONE)) == ()
    assert SHOP.moves(play()) == search_moves()


def test_every_search_of_one_or_two_words_is_a_move() -> None:
    count = len(INDEX_WORDS)
    moves = search_moves()
    assert len(moves) == len(set(moves)) == count + count * (count - 1) // 2
    assert moves[0] == Move("search", INDEX_WORDS[0])
    assert moves[count] == Move("search", f"{INDEX_WORDS[0]} {INDEX_WORDS[1]}")
    every = SHOP.all_moves()
    assert every[: len(moves)] == moves
    rest = [
        "open(1)",
        "open(2)",
        "open(3)",
        "open(4)",
        *(f"choose({value})" for axis in AXES.values() for value in axis),
    ]
    rest += ["go(next)", "go(previous)", "go(back)", "buy(now)"]
    assert [SHOP.format_action(move) for move in every[len(moves) :]] == rest


REFUSALS = [
    ((), Move("open", "1"), "open belongs to the results page, this is the search page"),
    ((), Move("choose", "red"), "choose belongs to the item page, this is the search page"),
    ((), Move("buy", "now"), "buy belongs to the item page, this is the search page"),
    (SEARCHED, Move("search", "mug"), "search belongs to the search page, this is the results page"),
    (SEARCHED, Move("open", "5"), "the page lists 4 products"),
    (SEARCHED, Move("open", "0"), "the page lists 4 products"),
    (SEARCHED, Move("open", "4"), None),
    (SEARCHED, Move("go", "previous"), "this is the first page of results"),
    (SEARCHED, Move("go", "up"), "'up' is no way; go takes next, previous, back"),
    (SEARCHED, Move("sell", "now"), "there is no operation 'sell'"),
    ((*SEARCHED, *["go(next)"] * 4), Move("go", "next"), "this is the last page of results"),
    ((*SEARCHED, *["go(next)"] * 3), Move("go", "next"), None),
    ((*SEARCHED, "go(next)"), Move("go", "previous"), None),
    (OPENED, Move("go", "next"), "there is no next from the item page"),
    (OPENED, Move("go", "previous"), "there is no previous from the item page"),
    (OPENED, Move("go", "back"), None),
    ((), Move("go", "back"), "there is no back from the search page"),
    (OPENED, Move("choose", "red"), "'red' cannot be chosen of this product"),
    (OPENED, Move("choose", "shiny"), "'shiny' cannot be chosen of this product"),
    (CHOSEN, Move("choose", "small"), "small is chosen already"),
    (CHOSEN, Move("choose", "large"), None),
    (OPENED, Move("buy", "later"), "buy takes now, not 'later'"),
    (OPENED, Move("buy", "now"), None),
    (DONE, Move("search", "mug"), "all wishes are done with"),
    ((), Move("search", "red"), "the index knows no 'red'; search by category, brand, material or feature"),
    ((), Move("search", "x" * 40), f"the index knows no {'x' * 30!r}; search by category, brand, material or feature"),
    ((), Move("search", "lumen wool jacket"), "a search takes one or two words, not 3"),
    ((), Move("search", ""), "a search takes one or two different words"),
    ((), Move("search", "mug mug"), "a search takes one or two different words"),
    ((), Move("search", f"{INDEX_WORDS[1]} {INDEX_WORDS[0]}"), "a search takes one or two different words"),
    ((), Move("search", f"{INDEX_WORDS[0]} {INDEX_WORDS[1]}"), None),
]


@pytest.mark.parametrize(("actions", "move", "words"), REFUSALS)
def test_a_refusal_says_why(actions: tuple[str, ...], move: Move, words: str | None) -> None:
    state = play(*actions)
    assert SHOP.refusal(state, move) == words
    if words is not None:
        with pytest.raises(ValueError) as caught:
            SHOP.apply(state, move)
        assert str(caught.value) == f"{move.operation}({move.argument}): {words}"


def test_actions_change_what_they_say_and_nothing_else() -> None:
    start = SHOP.parse(LIST)
    results = play(*SEARCHED)
    assert results == start._replace(page="results", query=("lumen", "jacket"), leaf=1)
    assert play(*OPENED) == results._replace(page="item", product=0)
    assert play(*SEARCHED, "open(4)").product == 363
    assert play(*SEARCHED, "go(next)", "open(2)") == results._replace(page="item", leaf=2, product=112)
    assert play(*CHOSEN).chosen == ("", "small", "", "")
    assert play(*CHOSEN, "choose(twin)", "choose(large)").chosen == ("", "large", "twin", "")
    assert play(*CHOSEN, "go(back)") == results
    assert play(*SEARCHED, "go(next)", "go(next)", "go(previous)").leaf == 2
    assert play(*BOUGHT) == ShopState(start.wishes, (Purchase(0, ("", "small", "", "")),))
    back = play(*BOUGHT, "search(brisk mug)", "go(back)")
    assert back == play(*BOUGHT)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("search(Lumen  JACKET)", Move("search", "lumen jacket")),
        (" search( jacket lumen lumen ) ", Move("search", "lumen jacket")),
        ("search jacket", Move("search", "jacket")),
        ("search(zzz jacket aaa)", Move("search", "jacket aaa zzz")),
        ("open(12)", Move("open", "12")),
        ("open 4", Move("open", "4")),
        ("choose( RED )", Move("choose", "red")),
        ("go(back)", Move("go", "back")),
        ("go previous", Move("go", "previous")),
        ("buy( now )", Move("buy", "now")),
        ("buy", Move("buy", "now")),
        ("buy()", Move("buy", "now")),
        (f"search({'a' * 80})", Move("search", "a" * 80)),
        ("search(a" + " " * 199 + ")", Move("search", "a")),
        ("search(a" + " " * 200 + ")", None),
        (f"search({'a' * 81})", None),
        ("search(red jacket lumen)", Move("search", "lumen jacket red")),
        ("search red", None),
        ("search lumen wool jacket", None),
        ("open(100)", None),
        ("open(01)", None),
        ("open(a)", None),
        ("buy(later)", None),
        ("go(up)", None),
        ("choose(lumen)", None),
        ("sell(now)", None),
        ("sell now", None),
        ("sell red", None),
        ("open(1) open(2)", None),
        ("", None),
    ],
)
def test_an_action_is_read_in_every_form(text: str, move: Move | None) -> None:
    assert SHOP.parse_action(text) == (None if move is None else (move,))


def test_a_purchase_scores_the_share_of_demands_that_it_meets() -> None:
    (wish,) = SHOP.parse("lumen handmade jacket <=5 small single").wishes
    right = Purchase(0, ("", "small", "single", ""))
    assert SHOP.wish_score(wish, right) == 1.0
    assert SHOP.met(wish, right)
    assert SHOP.wish_score(wish, Purchase(0, ("", "small", "twin", ""))) == 0.8
    assert not SHOP.met(wish, Purchase(0, ("", "small", "twin", "")))
    assert SHOP.wish_score(wish._replace(limit=4), right) == 0.8
    assert SHOP.wish_score(wish._replace(category="mug"), right) == 0.0
    assert SHOP.score(play(*BOUGHT)) == 0.375
    assert SHOP.score(play(*DONE)) == pytest.approx((0.75 + 2 / 3) / 2)


def test_a_list_is_solved_when_every_wish_is_met() -> None:
    text = "lumen jacket <=5; lumen handmade jacket <=5"
    once = play(*OPENED, "buy()", text=text)
    assert not SHOP.solved(once)
    assert SHOP.score(once) == 0.5
    assert SHOP.solved(play(*OPENED, "buy()", *OPENED, "buy()", text=text))
    assert not SHOP.solved(play(*OPENED, "buy()", *SEARCHED, "open(2)", "buy()", text=text))
    assert not SHOP.solved(play(*DONE))


def test_demands_are_category_price_and_what_the_wish_names() -> None:
    anything = Wish("jacket", "", "", "", 5, ("",) * 4)
    assert meets(JACKET, anything) == (True, True)
    assert meets(JACKET, anything._replace(limit=4, category="mug")) == (False, False)
    assert meets(JACKET, anything._replace(brand="lumen", material="wool", feature="handmade")) == (
        *(True, True, True, False, True),
    )
    assert JACKET.words == ("lumen", "ceramic", "handmade", "jacket")
    assert anything._replace(brand="brisk", feature="quiet").words == ("brisk", "quiet", "jacket")
    assert anything._replace(options=("red", "", "twin", "")).choices == ("red", "twin")


@pytest.fixture(scope="module")
def fresh() -> Catalogue:
    """The catalogue of `SHOP`, made anew, so that nothing of it was looked up before."""
    return Catalogue(3000, 0)


def test_matches_are_the_products_that_meet_all_but_choices(fresh: Catalogue) -> None:
    (wish,) = SHOP.parse("handmade mug <=40").wishes
    found = fresh.matches(wish)
    assert sorted(found)[:5] == [531, 1629, 1695, 2427, 2537]
    assert found == {number for number, product in enumerate(fresh.products) if all(meets(product, wish))}
    assert fresh.frequency("mug") == sum(product.category == "mug" for product in fresh.products) == 109
    assert fresh.frequency("handmade") == sum("handmade" in product.features for product in fresh.products)
    assert fresh.frequency("nothing") == 0


def test_ranking_puts_products_with_both_words_first(fresh: Catalogue) -> None:
    ranked = fresh.rank(("brisk", "mug"))
    assert ranked[:10] == (2450, 830, 2909, 16, 29, 67, 96, 146, 265, 277)
    assert len(ranked) == PER_PAGE * 5
    assert fresh.rank(("brisk", "mug")) is ranked
    assert all(type(number) is int for number in ranked)
    assert fresh.rank(("mug",))[:6] == (8, 80, 237, 327, 402, 430)
    small = Catalogue(3, 0)
    assert small.rank(("nordal",)) == ()
    assert [SHOP.leaves((word,)) for word in ("brisk", "mug")] == [5, 5]
    assert Shop(3).leaves(("nordal",)) == 1


def test_the_catalogue_offers_three_or_all_kinds_of_choices() -> None:
    made = Catalogue(3000, 0)
    axes = made.axes
    assert axes["apron"] == ("colour", "size", "pack", "finish")
    assert axes["backpack"] == ("colour", "pack", "finish")
    assert axes["jacket"] == ("size", "pack", "finish")
    assert axes["vase"] == ("colour", "pack", "finish")
    assert axes == SHOP.catalogue.axes
    assert len(axes) == 26
    assert made.products == SHOP.catalogue.products
    assert made.products[:3] == (
        JACKET,
        Product("towel", "albero", "steel", ("quiet", "rechargeable"), 55),
        Product("bowl", "fennel", "wood", ("organic", "waterproof"), 50),
    )
    for other in (Catalogue(3000, 1), Catalogue(2999, 0)):
        assert other.products[:100] != made.products[:100]


def test_shops_have_their_bounds() -> None:
    for wrong, words in (
        ({"size": 0}, "size is 0, must be the number of products, 1 to 20000"),
        ({"size": 20_001}, "size is 20001, must be the number of products, 1 to 20000"),
        ({"size": True}, "size is True, must be the number of products, 1 to 20000"),
        ({"size": 3.0}, "size is 3.0, must be the number of products, 1 to 20000"),
        ({"seed": -1}, "seed is -1, must be a whole number of at least 0"),
        ({"seed": True}, "seed is True, must be a whole number of at least 0"),
        ({"seed": 1.0}, "seed is 1.0, must be a whole number of at least 0"),
    ):
        with pytest.raises(ValueError) as caught:
            Shop(**wrong)
        assert str(caught.value) == words
    assert repr(Shop(1, 2)) == "Shop(size=1, seed=2)"
    assert repr(Shop()) == "Shop(size=3000, seed=0)"
    assert len(Shop(20_000).catalogue.products) == 20_000
    assert len(Shop(1, 2).catalogue.products) == 1


def test_tokens_say_what_is_still_to_choose_and_what_each_place_lacks() -> None:
    wish = ("jacket", "lumen", "wool", "-", "-", "small", "-", "-")
    nothing = ("-",) * 20
    assert SHOP.compact(play()) == ("<search>", "left2", "-", *wish, *nothing)
    first = ("<held>", "<held>", "<lacked>", "-", "<held>")
    last = ("<held>", "<held>", "<held>", "-", "<held>")
    assert SHOP.compact(play(*SEARCHED)) == ("<results>", "left2", "<more>", *wish, *first * 3, *last)
    assert SHOP.compact(play(*SEARCHED, *["go(next)"] * 4))[:3] == ("<results>", "left2", "-")
    chosen = ("jacket", "lumen", "wool", "-", *"----")
    assert SHOP.compact(play(*OPENED)) == ("<item>", "left2", "-", *wish, *first, *nothing[5:])
    assert SHOP.compact(play(*CHOSEN)) == ("<item>", "left2", "-", *chosen, *first, *nothing[5:])
    assert SHOP.compact(play(*BOUGHT))[:7] == ("<search>", "left1", "-", "mug", "brisk", "-", "handmade")
    assert SHOP.compact(play(*DONE)) == ("<done>", "left0", *["-"] * 29)
    assert SHOP.compact_action(Move("search", "lumen jacket")) == ("search", "lumen", "jacket")
    grid = SHOP.encode(play(*SEARCHED))
    assert grid.dtype == np.int8
    assert [SHOP.vocabulary()[number] for number in grid] == list(SHOP.compact(play(*SEARCHED)))
    assert SHOP.array_high() == 103
    known = set(SHOP.vocabulary())
    assert all(known >= set(SHOP.compact_action(move)) for move in SHOP.all_moves())


def test_only_searches_ways_and_purchases_reveal_something() -> None:
    revealing = {operation: SHOP.reveals(play(), Move(operation, "x")) for operation in
                 ("search", "open", "choose", "go", "buy")}  # fmt: skip
    assert revealing == {"search": True, "open": False, "choose": False, "go": True, "buy": True}


def test_examples_are_met_by_the_first_products() -> None:
    examples = SHOP.examples()
    assert examples == (
        "lumen handmade jacket <=5 small single",
        "albero quiet towel <=55 red single",
        "fennel organic bowl <=50 red single",
        "lumen handmade jacket <=5 small single; albero quiet towel <=55 red single",
    )
    assert SHOP.solved(play(*CHOSEN, "choose(single)", "buy()", text=examples[0]))
