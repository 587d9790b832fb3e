"""Shop: text, pages, refusals, scores and tokens; catalogue and ranking come from the seed alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.shop import Move, Purchase, Shop, search_moves
from puzzles.shop_catalogue import MOST_PAGES, PER_PAGE, Catalogue
from puzzles.shop_words import AXES, AXIS_OF, GROUPS, INDEX_WORDS

SHOP = Shop()
LIST = "lumen wool jacket <=60 small; brisk mug handmade <=80"


def play(text: str, *actions: str, shop: Shop = SHOP):
    state = shop.parse(text)
    for action in actions:
        (move,) = shop.parse_action(action)
        state = shop.apply(state, move)
    return state


def test_every_word_belongs_to_one_group():
    words = [word for group in (*GROUPS.values(), *AXES.values()) for word in group]
    assert len(words) == len(set(words))


def test_a_catalogue_is_its_seed():
    assert Catalogue(300, 1).products == Catalogue(300, 1).products
    assert Catalogue(300, 1).products != Catalogue(300, 2).products
    assert [product.words for product in SHOP.catalogue.products[:2]] == [
        ("lumen", "ceramic", "handmade", "jacket"),
        ("albero", "steel", "quiet", "rechargeable", "towel"),
    ]


@given(st.sampled_from(search_moves()))
def test_ranking_is_by_matching_words_then_length_then_number(move):
    query = tuple(move.argument.split())
    ranked = SHOP.catalogue.rank(query)
    assert len(ranked) <= PER_PAGE * MOST_PAGES
    products = [SHOP.catalogue.products[number] for number in ranked]
    assert all(set(query) & set(product.words) for product in products)
    if len(query) == 1:
        # One word occurs once: only the length of the text tells products apart, and their number breaks ties.
        assert list(zip(map(len, (p.words for p in products)), ranked, strict=True)) == sorted(
            zip(map(len, (p.words for p in products)), ranked, strict=True)
        )


def test_a_word_that_a_product_lacks_never_lifts_it():
    generator = np.random.default_rng(0)
    for number in generator.integers(SHOP.size, size=40).tolist():
        product = SHOP.catalogue.products[number]
        own, foreign = product.brand, str(generator.choice([word for word in INDEX_WORDS if word not in product.words]))
        alone = SHOP.catalogue.rank((own,))
        query = tuple(sorted((own, foreign), key=INDEX_WORDS.index))
        both = SHOP.catalogue.rank(query)
        if number in both:
            assert number in alone
            assert both.index(number) >= alone.index(number)


def test_lists_are_read_in_any_order_and_written_in_one():
    state = SHOP.parse("small <=60 jacket wool lumen ;<=$80 mug handmade brisk")
    assert SHOP.format(state) == "lumen wool jacket <=60 small; brisk handmade mug <=80"
    assert SHOP.parse(SHOP.format(state)) == state


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no category"),
        ("scarf", "names no limit"),
        ("velmo <=40", "names no category"),
        ("scarf rug <=40", "names category twice"),
        ("scarf <=41", "must be one of 5, 10"),
        ("scarf <=40 shiny", "'shiny' is no word of the shop"),
        ("scarf <=40 red blue", "names colour twice"),
        (";".join(["scarf <=40"] * 5), "5 wishes, at most 4"),
    ],
)
def test_wrong_lists_are_refused_with_the_reason(text, message):
    with pytest.raises(ValueError, match=r".") as caught:
        SHOP.parse(text)
    assert message in str(caught.value)


def test_a_choice_that_the_category_lacks_is_refused():
    category, axes = next(item for item in SHOP.catalogue.axes.items() if len(item[1]) < len(AXES))
    missing = next(axis for axis in AXES if axis not in axes)
    with pytest.raises(ValueError, match=f"no {missing} to choose of a {category}"):
        SHOP.parse(f"{category} <=40 {AXES[missing][0]}")


@pytest.mark.parametrize("argument", [{"size": 0}, {"size": 20_001}, {"size": True}, {"size": 3.5}, {"seed": -1}])
def test_wrong_shops_are_refused(argument):
    with pytest.raises(ValueError, match=next(iter(argument))):
        Shop(**argument)


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("search(Mug  brisk)", Move("search", "brisk mug")),
        ("search mug brisk", Move("search", "brisk mug")),
        ("search(a brisk mug, please)", Move("search", "brisk mug a please")),
        ("buy()", Move("buy", "now")),
        ("go( next )", Move("go", "next")),
        ("open 3", Move("open", "3")),
        ("choose(red)", Move("choose", "red")),
    ],
)
def test_actions_are_read(text, move):
    assert SHOP.parse_action(text) == (move,)


@pytest.mark.parametrize(
    "text", ["", "search", "search()", "search mug brisk open", "open(0)", "choose(shiny)", "go", "go up"]
)
def test_what_is_no_action_is_none(text):
    assert SHOP.parse_action(text) is None


def test_refusals_say_why():
    state = SHOP.parse(LIST)
    reasons = {
        text: SHOP.refusal(state, SHOP.parse_action(text)[0]) for text in ("search(red mug)", "open(1)", "go(back)")
    }
    assert reasons["search(red mug)"].startswith("the index knows no 'red'")
    assert reasons["open(1)"] == "open belongs to the results page, this is the search page"
    assert reasons["go(back)"] == "there is no back from the search page"
    assert "one or two words, not 3" in SHOP.refusal(state, SHOP.parse_action("search(lumen wool jacket)")[0])
    item = play(LIST, "search(lumen jacket)", "open(1)", "choose(small)")
    assert SHOP.refusal(item, Move("choose", "small")) == "small is chosen already"
    assert SHOP.refusal(item, Move("choose", "large")) is None


def test_pages_lead_back_and_forth():
    results = play(LIST, "search(lumen jacket)", "go(next)")
    assert results == play(LIST, "search(lumen jacket)", "go(next)", "open(2)", "choose(small)", "go(back)")
    assert play(LIST, "search(lumen jacket)", "go(next)", "go(previous)") == play(LIST, "search(lumen jacket)")
    assert play(LIST, "search(lumen jacket)", "go(back)") == SHOP.parse(LIST)


def test_the_score_is_the_share_of_demands_met():
    state = SHOP.parse("lumen steel jacket <=5 small")
    (wish,) = state.wishes
    product = SHOP.catalogue.products[0]
    met = [product.price <= 5, True, product.material == "steel", True]
    assert met == [True, True, False, True]
    chosen = tuple("small" if axis == "size" else "" for axis in AXES)
    bought = state._replace(bought=(Purchase(0, chosen),))
    assert SHOP.score(bought) == sum(met) / 4
    assert SHOP.solved(bought) == all(met)
    other = next(n for n, p in enumerate(SHOP.catalogue.products) if p.category == "rug")
    assert SHOP.wish_score(wish, Purchase(other, chosen)) == 0.0
    assert SHOP.score(state) == 0.0


def test_tokens_fit_a_small_model_and_a_byte():
    assert len(SHOP.compact(SHOP.parse(LIST))) == len(SHOP.compact_features()[0]) == 31
    assert SHOP.array_high() <= 127
    assert set(SHOP.compact_features()[1]) <= set(SHOP.vocabulary())
    assert {"-", *AXIS_OF, *INDEX_WORDS} <= set(SHOP.vocabulary())


def test_the_compact_form_says_which_demands_a_product_meets_and_what_is_still_to_choose():
    text = "nordal insulated rug <=15 red"
    opened = play(text, "search(nordal rug)", "open(1)")
    names = [name for name, _ in (each for each in SHOP.compact_features()[0] if len(each) == 2)]
    fields = dict(zip(["page", "left", "more", *SHOP.compact_features()[0][3:]], SHOP.compact(opened), strict=True))
    assert names.count("wish") == len(GROUPS)
    assert [fields["wish", kind] for kind in ("category", "brand", "material", "feature")] == [
        *("rug", "nordal", "-", "insulated")
    ]
    assert fields["missing", "colour"] == "red"
    assert [fields["place 1", kind] for kind in ("category", "brand", "material", "feature", "price")] == [
        *("<held>", "<held>", "-", "<held>", "<held>")
    ]
    assert fields["place 2", "price"] == "-"
    listed = SHOP.compact(play(text, "search(nordal rug)"))
    assert listed[-20:][5:10] == ("<held>", "<held>", "-", "<lacked>", "<lacked>")
    assert set(SHOP.compact(SHOP.apply(opened, Move("choose", "red")))[7:11]) == {"-"}
    assert "red" in SHOP.compact(SHOP.apply(opened, Move("choose", "blue")))


@given(st.sampled_from(SHOP.examples()), st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_a_place_without_a_lack_is_one_that_meets_the_wish(text, seed):
    generator = np.random.default_rng(seed)
    state = SHOP.parse(text)
    words = state.wish.words
    query = sorted({str(word) for word in generator.choice(words, 2)}, key=INDEX_WORDS.index)
    state = SHOP.apply(state, Move("search", " ".join(query)))
    tokens, matches = SHOP.compact(state)[-20:], SHOP.catalogue.matches(state.wish)
    lacks = ["<lacked>" in tokens[5 * place : 5 * place + 5] for place in range(PER_PAGE)]
    assert [not lack for lack in lacks[: len(SHOP.shown(state))]] == [number in matches for number in SHOP.shown(state)]


def test_pages_read_well():
    assert SHOP.render(play(LIST, "search(lumen jacket)")).split("\n")[:2] == [
        "Wish 1 of 2: jacket, brand lumen, material wool, at most $60; to choose: size small",
        "Page: results for lumen jacket, 1 of 5",
    ]


def test_a_small_shop_may_find_nothing():
    shop = Shop(3)
    word = next(word for word in INDEX_WORDS if not shop.catalogue.frequency(word))
    empty = shop.apply(shop.parse("jacket <=60"), Move("search", word))
    assert shop.render(empty).endswith("nothing found")
    assert shop.moves(empty) == (Move("go", "back"),)
