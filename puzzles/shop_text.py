"""Shopping lists as text: `nordal steel kettle quiet <=40 red large; wool rug <=25`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from puzzles.shop_catalogue import Product, Wish
from puzzles.shop_words import AXES, AXIS_OF, GROUP_OF, PRICES

MOST_WISHES = 4

_LIMIT = re.compile(r"<=\$?([0-9]{1,3})")


def read_wishes(text: str, axes: Mapping[str, tuple[str, ...]]) -> tuple[Wish, ...]:
    """Return the wishes of a shopping list.

    Args:
        text: wishes separated by semicolons; each names a category, a price limit, and at most one brand, material,
            feature and choice of each kind, in any order.
        axes: kinds of choices that each category offers.

    Raises:
        ValueError: naming what is wrong with the list.
    """
    parts = text.split(";")
    if len(parts) > MOST_WISHES:
        raise ValueError(f"the list has {len(parts)} wishes, at most {MOST_WISHES} are allowed")
    return tuple(_read_wish(part, axes) for part in parts)


def write_wishes(wishes: tuple[Wish, ...]) -> str:
    """Return the list as one line."""
    return "; ".join(" ".join((*wish.words, f"<={wish.limit}", *wish.choices)) for wish in wishes)


def say_wish(wish: Wish) -> str:
    """Return a wish as people say it."""
    parts = [
        wish.category,
        f"brand {wish.brand}" if wish.brand else "",
        f"material {wish.material}" if wish.material else "",
        wish.feature,
        f"at most ${wish.limit}",
    ]
    chosen = [f"{axis} {value}" for axis, value in zip(AXES, wish.options, strict=True) if value]
    choices = f"; to choose: {', '.join(chosen)}" if chosen else ""
    return ", ".join(part for part in parts if part) + choices


def say_product(product: Product) -> str:
    """Return a product as a page shows it."""
    title = f"{product.brand} {product.material} {product.category}"
    return ", ".join((title, *product.features, f"${product.price}"))


def _read_wish(text: str, axes: Mapping[str, tuple[str, ...]]) -> Wish:
    found: dict[str, str] = {}
    for word in text.split():
        limit = _LIMIT.fullmatch(word)
        kind = "limit" if limit else GROUP_OF.get(word) or AXIS_OF.get(word)
        if kind is None:
            raise ValueError(f"{word[:40]!r} is no word of the shop, and no price limit such as <=40")
        if kind in found:
            raise ValueError(f"a wish names {kind} twice: {found[kind]} and {word}")
        found[kind] = limit[1] if limit else word
    for kind in ("category", "limit"):
        if kind not in found:
            raise ValueError(f"the wish {text.strip()[:60]!r} names no {kind}")
    if int(found["limit"]) not in PRICES:
        raise ValueError(f"the price limit is {found['limit']}, must be one of {', '.join(map(str, PRICES))}")
    for axis in AXES:
        if axis in found and axis not in axes[found["category"]]:
            raise ValueError(f"there is no {axis} to choose of a {found['category']}, so no {found[axis]!r}")
    options = tuple(found.get(axis, "") for axis in AXES)
    brand, material, feature = (found.get(kind, "") for kind in ("brand", "material", "feature"))
    return Wish(found["category"], brand, material, feature, int(found["limit"]), options)
