"""The shop's pages as tokens for small models: always as many, and what each is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from puzzles.shop_catalogue import PER_PAGE, Product, Wish
from puzzles.shop_text import MOST_WISHES
from puzzles.shop_words import AXES, AXIS_OF, GROUPS, INDEX_WORDS, PRICES

PAGES = ("search", "results", "item", "done")
NONE = "-"
"""Stands where there is nothing."""

_KINDS = ("category", "brand", "material", "feature", "price")
_FIELDS = ("category", "brand", "material", "feature", "feature", "price")


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
        named = (wish.category, wish.brand, wish.material, wish.feature, f"${wish.limit}", *wish.options, *chosen)
        tokens += [word or NONE for word in named]
        tokens += [token for product in goods for token in _product_tokens(product)]
    return (*tokens, *(NONE,) * (len(position_features()) - len(tokens)))


def places() -> tuple[str, ...]:
    """Return the tokens of the places on a page of results."""
    return tuple(str(place + 1) for place in range(PER_PAGE))


@lru_cache(maxsize=1)
def position_features() -> tuple[tuple[str, ...], ...]:
    """Return what each position of a page is about."""
    wish = [("wish", kind) for kind in (*_KINDS, *AXES)]
    chosen = [("chosen", axis) for axis in AXES]
    goods = [(f"place {place}", kind) for place in places() for kind in _FIELDS]
    return (("page",), ("left",), ("more",), *wish, *chosen, *goods)


def token_features() -> Mapping[str, tuple[str, ...]]:
    """Return which tokens share what positions are about: places, and words by their group."""
    features = {place: (f"place {place}",) for place in places()}
    return features | {word: (kind,) for kind, words in {**GROUPS, **AXES}.items() for word in words}


@lru_cache(maxsize=1)
def token_numbers() -> dict[str, int]:
    """Return the number of every token that a page can hold."""
    pages = [f"<{page}>" for page in PAGES]
    left = [f"left{count}" for count in range(MOST_WISHES + 1)]
    prices = [f"${price}" for price in PRICES]
    tokens = (NONE, *pages, *left, "<more>", *prices, *INDEX_WORDS, *AXIS_OF)
    return {token: number for number, token in enumerate(tokens)}


def _product_tokens(product: Product) -> tuple[str, ...]:
    first, *rest = product.features
    second = rest[0] if rest else NONE
    return (product.category, product.brand, product.material, first, second, f"${product.price}")
