"""The shop's pages as tokens for small models: always as many, and what each is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from puzzles.shop_catalogue import PER_PAGE, Product, Wish, meets
from puzzles.shop_text import MOST_WISHES
from puzzles.shop_words import AXES, AXIS_OF, INDEX_WORDS

PAGES = ("search", "results", "item", "done")
NONE = "-"
"""Stands where there is nothing."""

HELD, LACKED = "<held>", "<lacked>"
"""Whether a product meets a demand of the wish."""

_WORDS = ("category", "brand", "material", "feature")
_DEMANDS = (*_WORDS, "price")


def page_tokens(
    page: str,
    left: int,
    more: bool = False,
    wish: Wish | None = None,
    chosen: Sequence[str] = (),
    goods: Sequence[Product] = (),
) -> tuple[str, ...]:
    """Return the tokens of a page, `NONE` where there is nothing.

    Args:
        page: one of `PAGES`.
        left: wishes that are not done with.
        more: whether there is a further page of results.
        wish: the wish to be met now.
        chosen: choice on each of `AXES`.
        goods: products on the page.
    """
    tokens = [f"<{page}>", f"left{left}", "<more>" if more else NONE]
    if wish is not None:
        words = (wish.category, wish.brand, wish.material, wish.feature)
        tokens += [word or NONE for word in words]
        tokens += [value if value and value not in chosen else NONE for value in wish.options]
        tokens += [token for product in goods for token in _product_tokens(product, wish)]
    return (*tokens, *(NONE,) * (len(position_features()) - len(tokens)))


def places() -> tuple[str, ...]:
    """Return the tokens of the places on a page of results."""
    return tuple(str(place + 1) for place in range(PER_PAGE))


@lru_cache(maxsize=1)
def position_features() -> tuple[tuple[str, ...], ...]:
    """Return what each position of a page is about."""
    wish = [("wish", kind) for kind in _WORDS]
    missing = [("missing", axis) for axis in AXES]
    goods = [(f"place {place}", kind) for place in places() for kind in _DEMANDS]
    return (("page",), ("left",), ("more",), *wish, *missing, *goods)


def token_features() -> Mapping[str, tuple[str, ...]]:
    """Return which tokens share what positions are about: places.

    Words share nothing with their group: their position tells it already, and what tells words apart would drown.
    """
    return {place: (f"place {place}",) for place in places()}


@lru_cache(maxsize=1)
def token_numbers() -> dict[str, int]:
    """Return the number of every token that a page can hold."""
    pages = [f"<{page}>" for page in PAGES]
    left = [f"left{count}" for count in range(MOST_WISHES + 1)]
    tokens = (NONE, *pages, *left, "<more>", HELD, LACKED, *INDEX_WORDS, *AXIS_OF)
    return {token: number for number, token in enumerate(tokens)}


def _product_tokens(product: Product, wish: Wish) -> tuple[str, ...]:
    """Return whether a product meets each demand of a wish, `NONE` where the wish names none."""
    category, price, *named = meets(product, wish)
    held = iter(named)
    words = [next(held) if word else None for word in (wish.brand, wish.material, wish.feature)]
    return tuple(NONE if met is None else HELD if met else LACKED for met in (category, *words, price))
