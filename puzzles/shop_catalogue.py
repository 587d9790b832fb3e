"""The shop's catalogue, made from a seed, and its text index (BM25 by the package bm25s).

Products are drawn from the raw stream of a bit generator, which numpy keeps stable over releases, so that a seed means
the same shop everywhere. Ranking is deterministic: by BM25 score (Lucene's variant, k1 1.5, b 0.75) rounded to four
decimals, ties by the product's number. Products that hold no word of the query are never listed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from puzzles.shop_words import AXES, BRANDS, CATEGORIES, FEATURES, MATERIALS, PRICES

PER_PAGE = 4
"""Products on a page of results."""
MOST_PAGES = 5
"""Pages of results that the shop shows."""

Query = tuple[str, ...]
"""One or two words of the index, in canonical order."""


class Product(NamedTuple):
    """What is for sale."""

    category: str
    brand: str
    material: str
    features: tuple[str, ...]
    """One or two."""
    price: int
    """Dollars."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words that the index holds of it."""
        return (self.brand, self.material, *self.features, self.category)


class Wish(NamedTuple):
    """What shall be bought."""

    category: str
    brand: str
    """"" for any; so for material and feature."""
    material: str
    feature: str
    limit: int
    """Highest price, in dollars."""
    options: tuple[str, ...]
    """Choice on each of `AXES`, "" for any."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the index that it names."""
        return tuple(word for word in (self.brand, self.material, self.feature, self.category) if word)

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices that it names."""
        return tuple(value for value in self.options if value)


def meets(product: Product, wish: Wish) -> tuple[bool, ...]:
    """Return which demands of a wish a product meets: category first, then price, then the attributes it names."""
    named = (
        (wish.brand, product.brand == wish.brand),
        (wish.material, product.material == wish.material),
        (wish.feature, wish.feature in product.features),
    )
    price = product.price <= wish.limit
    return (product.category == wish.category, price, *(held for name, held in named if name))


class Catalogue:
    """All products of a shop, which choices each category offers, and the text index."""

    def __init__(self, size: int, seed: int) -> None:
        """Make the products.

        Args:
            size: number of products.
            seed: of the shop.
        """
        stream = np.random.PCG64(np.random.SeedSequence([seed, size]))
        axes = tuple(AXES)
        draws = stream.random_raw(len(CATEGORIES))
        self.axes: dict[str, tuple[str, ...]] = {
            category: tuple(axis for place, axis in enumerate(axes) if place != int(draw) % (len(axes) + 1))
            for category, draw in zip(CATEGORIES, draws, strict=True)
        }
        """What can be chosen, by category: three or all four of `AXES`."""
        self.products: tuple[Product, ...] = tuple(_draw(row) for row in stream.random_raw(6 * size).reshape(size, 6))
        self._rankings: dict[Query, tuple[int, ...]] = {}
        self._by_category: dict[str, list[int]] = {category: [] for category in CATEGORIES}
        for number, product in enumerate(self.products):
            self._by_category[product.category].append(number)
        self.matches = lru_cache(maxsize=4096)(self._matches)
        """Numbers of the products that meet all of a wish but for its choices; argument: the wish."""

    def rank(self, query: Query) -> tuple[int, ...]:
        """Return the numbers of the best products for a query, best first, as many as the shop shows."""
        known = self._rankings.get(query)
        if known is None:
            scores = np.round(np.asarray(self._index.get_scores(list(query)), dtype=np.float64), 4)
            found = np.flatnonzero(scores > 0)
            order = np.argsort(-scores[found], kind="stable")[: PER_PAGE * MOST_PAGES]
            known = self._rankings[query] = tuple(int(number) for number in found[order])
        return known

    def frequency(self, word: str) -> int:
        """Return how many products hold a word."""
        return self._frequencies.get(word, 0)

    def _matches(self, wish: Wish) -> frozenset[int]:
        candidates = self._by_category[wish.category]
        return frozenset(number for number in candidates if all(meets(self.products[number], wish)))

    @cached_property
    def _frequencies(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for product in self.products:
            for word in product.words:
                counts[word] = counts.get(word, 0) + 1
        return counts

    @cached_property
    def _index(self) -> Any:
        try:
            import bm25s
        except ImportError as error:
            raise ModuleNotFoundError(
                "the shop ranks by the package bm25s, which is missing; run: python -m pip install bm25s", name="bm25s"
            ) from error
        # The package sets its logger to DEBUG when it is imported.
        logging.getLogger("bm25s").setLevel(logging.WARNING)
        index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
        index.index([list(product.words) for product in self.products], show_progress=False)
        return index


@lru_cache(maxsize=8)
def catalogue(size: int, seed: int) -> Catalogue:
    """Return the catalogue of a shop, shared by all who ask for the same one."""
    return Catalogue(size, seed)


def _draw(row: Any) -> Product:
    """Return the product that six raw numbers stand for."""
    numbers: Iterator[int] = (int(number) for number in row)
    category, brand, material, first, second, price = numbers
    features = [FEATURES[first % len(FEATURES)]]
    other = second % (2 * len(FEATURES))
    if other < len(FEATURES) and FEATURES[other] not in features:
        features.append(FEATURES[other])
    return Product(
        CATEGORIES[category % len(CATEGORIES)],
        BRANDS[brand % len(BRANDS)],
        MATERIALS[material % len(MATERIALS)],
        tuple(sorted(features)),
        PRICES[price % len(PRICES)],
    )
