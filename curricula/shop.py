"""Shopping lists made to order: goal distance in a range, every wish within reach of a search that can be known.

A wish is drawn around a product, so that it can be met. It is kept only if the search for its two rarest words lies on
a shortest way: a buyer who knows how common words are can then act as well as one who has seen the whole index. Longer
ways come from longer lists, more choices and more pages, at the same skills.
"""

from __future__ import annotations

import numpy as np

from puzzles.shop import Shop
from puzzles.shop_catalogue import MOST_PAGES, Wish
from puzzles.shop_text import MOST_WISHES, write_wishes
from puzzles.shop_words import AXES, PRICES
from solvers.shop import guide, rarest_words

MAX_TRIES = 20_000
"""Shopping lists tried before a request is given up."""
SHORTEST, LONGEST = 3, 11
"""Actions that one wish may take: search, open, buy; four choices and four more pages."""

_NAMED = 0.7
"""Probability that a wish names its product's brand; the same for material, feature and each choice."""
_ALLOWANCES = 4
"""Steps of price by which a limit may lie above the product's price."""


def random_wish(rng: np.random.Generator, puzzle: Shop) -> Wish:
    """Return a wish that some product of the shop meets; it names two or three attributes.

    Args:
        rng: source of randomness.
        puzzle: the shop.
    """
    product = puzzle.catalogue.products[int(rng.integers(puzzle.size))]
    named = rng.random(3) < _NAMED
    if named.sum() < 2:
        named[:] = True
        named[int(rng.integers(3))] = False
    feature = product.features[int(rng.integers(len(product.features)))]
    attributes = [
        word if keep else "" for word, keep in zip((product.brand, product.material, feature), named, strict=True)
    ]
    price = PRICES.index(product.price) + int(rng.integers(_ALLOWANCES + 1))
    offered = puzzle.catalogue.axes[product.category]
    options = tuple(
        values[int(rng.integers(len(values)))] if rng.random() < _NAMED and axis in offered else ""
        for axis, values in AXES.items()
    )
    brand, material, feature = attributes
    return Wish(product.category, brand, material, feature, PRICES[min(price, len(PRICES) - 1)], options)


def generate(
    low: int, high: int, rng: np.random.Generator, puzzle: Shop | None = None, max_tries: int = MAX_TRIES
) -> str:
    """Return a shopping list whose goal distance lies in a range.

    Args:
        low: smallest goal distance, in actions; at least 1.
        high: largest goal distance.
        rng: source of randomness; the same stream gives the same list.
        puzzle: the shop; the usual one by default.
        max_tries: budget of random lists.

    Raises:
        ValueError: if the range is empty or out of reach, or the budget is used up.
    """
    if not 1 <= low <= high or high < SHORTEST or low > MOST_WISHES * LONGEST:
        raise ValueError(
            f"the range of actions must satisfy 1 <= low <= high, high >= {SHORTEST} and low <= "
            f"{MOST_WISHES * LONGEST}, got {low} to {high}"
        )
    puzzle = puzzle or Shop()
    most = min(MOST_WISHES, high // SHORTEST)
    for _ in range(max_tries):
        count = int(rng.integers(-(-low // LONGEST), most + 1))
        wishes = [random_wish(rng, puzzle) for _ in range(count)]
        least = sum(SHORTEST + len(wish.choices) for wish in wishes)
        if not least <= high or least + count * (MOST_PAGES - 1) < low:
            continue
        distances = [_distance(puzzle, wish) for wish in wishes]
        if None not in distances and low <= sum(each or 0 for each in distances) <= high:
            return write_wishes(tuple(wishes))
    raise ValueError(f"no shopping list of {low} to {high} actions found in {max_tries} tries")


def _distance(puzzle: Shop, wish: Wish) -> int | None:
    """Return the wish's distance, None where the search for its two rarest words is not on a shortest way."""
    known = guide(puzzle, wish)
    return known.distance if known.searches == (rarest_words(puzzle, wish),) else None
