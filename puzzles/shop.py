"""Shop: search a catalogue, open a product, choose, buy; a small, self-contained world in the manner of WebShop.

The state is a page of the shop. Catalogue and index come from a seed (`shop_catalogue`); a shopping list of one to four
wishes is the start (`shop_text`). A purchase cannot be undone: a wrong one puts the goal out of reach.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from puzzles.base import Puzzle
from puzzles.shop_catalogue import PER_PAGE, Query, Wish, catalogue, meets
from puzzles.shop_text import read_wishes, say_product, say_wish, write_wishes
from puzzles.shop_tokens import page_tokens, places, position_features, token_features, token_numbers
from puzzles.shop_words import AXES, AXIS_OF, INDEX_WORDS, WORD_ORDER

LARGEST = 20_000
LONGEST_QUERY = 2
"""Words of a search."""
OPERATIONS = ("search", "open", "choose", "go", "buy")
WAYS = ("next", "previous", "back")
NO_CHOICE = ("",) * len(AXES)


class Move(NamedTuple):
    """One action: an operation and its argument."""

    operation: str
    """One of `OPERATIONS`."""
    argument: str
    """Words of a search, place on the page, choice, way, or `now`."""


class Purchase(NamedTuple):
    """What was bought for one wish."""

    product: int
    chosen: tuple[str, ...]
    """Choice on each of `AXES`, "" where none was made."""


class ShopState(NamedTuple):
    """Where the buyer stands."""

    wishes: tuple[Wish, ...]
    bought: tuple[Purchase, ...] = ()
    """One for each wish that is done with, in order."""
    page: str = "search"
    """`search`, `results` or `item`."""
    query: Query = ()
    leaf: int = 0
    """Page of the results, from 1; 0 where there are none."""
    product: int = -1
    """Number of the open product; -1 where none is."""
    chosen: tuple[str, ...] = NO_CHOICE

    @property
    def wish(self) -> Wish | None:
        """The wish to be met now; None when all are done with."""
        return self.wishes[len(self.bought)] if len(self.bought) < len(self.wishes) else None


@lru_cache(maxsize=1)
def search_moves() -> tuple[Move, ...]:
    """Return every search: one word of the index, or two."""
    queries = [*((word,) for word in INDEX_WORDS), *combinations(INDEX_WORDS, 2)]
    return tuple(Move("search", " ".join(query)) for query in queries)


_OPENS = tuple(Move("open", place) for place in places())
_CHOICES = {value: Move("choose", value) for value in AXIS_OF}
_WAYS = {way: Move("go", way) for way in WAYS}
_BUY = Move("buy", "now")
_CALL = re.compile(r"\s*(search|open|choose|go|buy)\(([^()\n]{0,200})\)\s*")
_WORD = re.compile(r"[^\W_]+")
_LONGEST_ARGUMENT = 80


class Shop(Puzzle[ShopState, Move]):
    """A shop: buy what is wished for, one wish after the other."""

    name: ClassVar[str] = "shop"
    repeats_words: ClassVar[bool] = True
    action_pattern: ClassVar[re.Pattern[str]] = re.compile(r"(?:search|open|choose|go|buy)\([^()\n]{0,200}\)")

    def __init__(self, size: int = 3000, seed: int = 0) -> None:
        """Open a shop.

        Args:
            size: number of products, 1 to 20,000.
            seed: of the catalogue, 0 or more.

        Raises:
            ValueError: if a number is out of range.
        """
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= LARGEST:
            raise ValueError(f"size is {size!r}, must be the number of products, 1 to {LARGEST}")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ValueError(f"seed is {seed!r}, must be a whole number of at least 0")
        self.size, self.seed = size, seed
        self.catalogue = catalogue(size, seed)

    def __repr__(self) -> str:
        return f"Shop(size={self.size}, seed={self.seed})"

    # ---------------------------------------------------------------- rules

    def parse(self, text: str) -> ShopState:
        """Return the start with the shopping list of `text`, such as `nordal kettle quiet <=40 red; wool rug <=25`."""
        return ShopState(read_wishes(text, self.catalogue.axes))

    def format(self, state: ShopState) -> str:
        """Return the list as one line; past the start followed by what was bought and the page."""
        text = write_wishes(state.wishes)
        if state == ShopState(state.wishes):
            return text
        bought = " ".join(f"{each.product}:{','.join(each.chosen)}" for each in state.bought)
        place = f"{' '.join(state.query)} {state.leaf} {state.product}:{','.join(state.chosen)}"
        return f"{text} @ {bought} @ {state.page} {place}"

    def moves(self, state: ShopState) -> tuple[Move, ...]:
        """Return every legal action; () when all wishes are done with."""
        if state.wish is None:
            return ()
        if state.page == "search":
            return search_moves()
        back = (_WAYS["back"],)
        if state.page == "item":
            axes = self.catalogue.axes[self.catalogue.products[state.product].category]
            values = (value for axis in AXES if axis in axes for value in AXES[axis] if value not in state.chosen)
            return (*(_CHOICES[value] for value in values), *back, _BUY)
        shown = len(self.shown(state))
        onward = (_WAYS["next"],) if state.leaf < self.leaves(state.query) else ()
        backward = (_WAYS["previous"],) if state.leaf > 1 else ()
        return (*_OPENS[:shown], *onward, *backward, *back)

    def apply(self, state: ShopState, move: Move) -> ShopState:
        """Return the page after a legal action; an illegal one raises `ValueError` with the reason."""
        reason = self.refusal(state, move)
        if reason is not None:
            raise ValueError(f"{self.format_action(move)}: {reason}")
        operation, argument = move
        if operation == "search":
            return state._replace(page="results", query=tuple(argument.split()), leaf=1)
        if operation == "open":
            return state._replace(page="item", product=self.shown(state)[int(argument) - 1])
        if operation == "choose":
            place = tuple(AXES).index(AXIS_OF[argument])
            return state._replace(chosen=(*state.chosen[:place], argument, *state.chosen[place + 1 :]))
        if operation == "buy":
            return ShopState(state.wishes, (*state.bought, Purchase(state.product, state.chosen)))
        if argument != "back":
            return state._replace(leaf=state.leaf + (1 if argument == "next" else -1))
        if state.page == "item":
            return state._replace(page="results", product=-1, chosen=NO_CHOICE)
        return ShopState(state.wishes, state.bought)

    def solved(self, state: ShopState) -> bool:
        """Return whether every wish is met in full."""
        return state.wish is None and all(
            self.met(wish, bought) for wish, bought in zip(state.wishes, state.bought, strict=True)
        )

    def refusal(self, state: ShopState, move: Move) -> str | None:
        """Return why the shop refuses an action, or None if it is legal."""
        operation, argument = move
        if state.wish is None:
            return "all wishes are done with"
        at = {"search": "search", "open": "results", "choose": "item", "buy": "item"}.get(operation, state.page)
        if at != state.page:
            return f"{operation} belongs to the {at} page, this is the {state.page} page"
        if operation == "search":
            return _query_fault(argument)
        if operation == "open":
            shown = len(self.shown(state))
            return None if argument in map(str, range(1, shown + 1)) else f"the page lists {shown} products"
        if operation == "choose":
            return self._choice_fault(state, argument)
        if operation == "buy":
            return None if argument == "now" else f"buy takes now, not {argument!r}"
        return self._way_fault(state, argument) if operation == "go" else f"there is no operation {operation!r}"

    def _choice_fault(self, state: ShopState, value: str) -> str | None:
        axis = AXIS_OF.get(value)
        if axis is None or axis not in self.catalogue.axes[self.catalogue.products[state.product].category]:
            return f"{value!r} cannot be chosen of this product"
        return f"{value} is chosen already" if value in state.chosen else None

    def _way_fault(self, state: ShopState, way: str) -> str | None:
        if way not in WAYS:
            return f"{way!r} is no way; go takes {', '.join(WAYS)}"
        if state.page == "search" or (state.page == "item" and way != "back"):
            return f"there is no {way} from the {state.page} page"
        if way == "next" and state.leaf >= self.leaves(state.query):
            return "this is the last page of results"
        return "this is the first page of results" if way == "previous" and state.leaf <= 1 else None

    # ---------------------------------------------------------------- what pages show, and scores

    def leaves(self, query: Query) -> int:
        """Return how many pages of results a query has; an empty one where nothing is found."""
        return max(1, -(-len(self.catalogue.rank(query)) // PER_PAGE))

    def shown(self, state: ShopState) -> tuple[int, ...]:
        """Return the numbers of the products on the page of results; () on other pages."""
        if state.page != "results":
            return ()
        first = PER_PAGE * (state.leaf - 1)
        return self.catalogue.rank(state.query)[first : first + PER_PAGE]

    def met(self, wish: Wish, purchase: Purchase) -> bool:
        """Return whether a purchase meets a wish in full."""
        return self.wish_score(wish, purchase) == 1.0

    def wish_score(self, wish: Wish, purchase: Purchase) -> float:
        """Return the share of a wish's demands that a purchase meets: price, attributes, choices.

        A product of another category scores 0.
        """
        right_category, *held = meets(self.catalogue.products[purchase.product], wish)
        demands = [*held, *(value in purchase.chosen for value in wish.choices)]
        return sum(demands) / len(demands) if right_category else 0.0

    def score(self, state: ShopState) -> float:
        """Return the mean score of all wishes, 0 to 1; one that nothing was bought for scores 0."""
        scores = [self.wish_score(wish, bought) for wish, bought in zip(state.wishes, state.bought, strict=False)]
        return sum(scores) / len(state.wishes)

    def reveals(self, state: ShopState, move: Move) -> bool:
        """Return whether the next page cannot be foreseen: results of a search or of paging, and the next wish."""
        return move.operation in ("search", "go", "buy")

    # ---------------------------------------------------------------- text

    def parse_action(self, text: str) -> tuple[Move, ...] | None:
        """Return the action of `search(nordal kettle)` or, in tokens, `search nordal kettle`; None for anything else.

        The index takes words in any order; those that it does not know are kept, so that the refusal can name them.
        """
        call = _CALL.fullmatch(text)
        if call is None:
            operation, *words = text.split() or [""]
            move = _read(operation, " ".join(words))
            return None if move is None or (operation == "search" and _query_fault(move.argument)) else (move,)
        move = _read(call[1], call[2])
        return None if move is None else (move,)

    def format_action(self, move: Move) -> str:
        """Return `search(nordal kettle)`."""
        return f"{move[0]}({move[1]})"

    def rules(self) -> str:
        """Return rules, goal and action grammar as the prompt states them."""
        kinds = "; ".join(f"{axis}: {', '.join(values)}" for axis, values in AXES.items())
        return (
            f"A shop of {self.size} products. Buy what the wish asks for: the right category, brand, material and "
            "feature as far as it names them, a price within its limit, and the choices it names. A purchase cannot "
            "be undone. Goal: every wish is met in full. A search takes one or two words, a category, brand, "
            f"material or feature; choices are made on the product's page ({kinds}).\n"
            "Actions: search(WORD WORD), open(PLACE), choose(VALUE), go(next), go(previous), go(back), buy(now), for "
            "example search(nordal kettle), open(1), choose(red)."
        )

    def render(self, state: ShopState) -> str:
        """Return the page as people read it."""
        wish = state.wish
        if wish is None:
            return f"All wishes are done with. Score: {self.score(state):.2f}"
        head = f"Wish {len(state.bought) + 1} of {len(state.wishes)}: {say_wish(wish)}"
        if state.page == "search":
            return f"{head}\nPage: search"
        if state.page == "item":
            product = self.catalogue.products[state.product]
            lines = [f"{head}\nPage: {say_product(product)}"]
            for axis, chosen in zip(AXES, state.chosen, strict=True):
                if axis in self.catalogue.axes[product.category]:
                    lines.append(f"{axis}: {', '.join(AXES[axis])} (chosen: {chosen or 'none'})")
            return "\n".join(lines)
        lines = [f"{head}\nPage: results for {' '.join(state.query)}, {state.leaf} of {self.leaves(state.query)}"]
        found = [self.catalogue.products[number] for number in self.shown(state)]
        lines += [f"{place}. {say_product(product)}" for place, product in enumerate(found, start=1)]
        return "\n".join(lines if found else [*lines, "nothing found"])

    # ---------------------------------------------------------------- arrays

    def all_moves(self) -> tuple[Move, ...]:
        """Return every search, place, choice and way, and the purchase."""
        return (*search_moves(), *_OPENS, *_CHOICES.values(), *_WAYS.values(), _BUY)

    def encode(self, state: ShopState) -> NDArray[np.int8]:
        """Return the number of each token of `compact`, shape [tokens]."""
        numbers = token_numbers()
        return np.array([numbers[token] for token in self.compact(state)], dtype=np.int8)

    def array_high(self) -> int:
        """Return the largest number of a token."""
        return len(token_numbers()) - 1

    # ---------------------------------------------------------------- tokens

    def compact(self, state: ShopState) -> tuple[str, ...]:
        """Return page, wishes left, the wish's words, its choices still to make, and the products of the page.

        Of a product stands which demands of the wish it meets: words are compared here, as a reader does at a glance.
        """
        left = len(state.wishes) - len(state.bought)
        if state.wish is None:
            return page_tokens("done", left)
        numbers = (state.product,) if state.page == "item" else self.shown(state)
        more = state.page == "results" and state.leaf < self.leaves(state.query)
        goods = [self.catalogue.products[number] for number in numbers]
        return page_tokens(state.page, left, more, state.wish, state.chosen, goods)

    def compact_action(self, move: Move) -> tuple[str, ...]:
        """Return the operation and the words of its argument."""
        return (move.operation, *move.argument.split())

    def vocabulary(self) -> tuple[str, ...]:
        """Return the tokens of pages and actions."""
        return (*token_numbers(), *OPERATIONS, *places(), *WAYS, "now")

    def compact_features(self) -> tuple[tuple[tuple[str, ...], ...], Mapping[str, tuple[str, ...]]]:
        """Return what each position of `compact` is about, and which tokens share it."""
        return position_features(), token_features()

    # ---------------------------------------------------------------- examples

    def examples(self) -> tuple[str, ...]:
        """Return lists that are met by the first products of the catalogue."""
        wishes = []
        for product in self.catalogue.products[:3]:
            axes = self.catalogue.axes[product.category]
            options = tuple(AXES[axis][0] if axis in axes[:2] else "" for axis in AXES)
            wishes.append(Wish(product.category, product.brand, "", product.features[0], product.price, options))
        return (*(write_wishes((wish,)) for wish in wishes), write_wishes(tuple(wishes[:2])))


def _read(operation: str, argument: str) -> Move | None:
    """Return the move of an operation and its argument, in canonical form; None if there is no such move."""
    argument = " ".join(argument.split()).casefold()
    if operation == "search":
        words = _WORD.findall(argument)
        query = sorted(dict.fromkeys(words), key=lambda word: (WORD_ORDER.get(word, len(WORD_ORDER)), word))
        text = " ".join(query)
        return Move("search", text) if words and len(text) <= _LONGEST_ARGUMENT else None
    if operation == "buy":
        return _BUY if argument in ("", "now") else None
    if operation == "go":
        return _WAYS.get(argument)
    if operation == "open":
        return Move("open", argument) if re.fullmatch(r"[1-9][0-9]?", argument) else None
    return _CHOICES.get(argument) if operation == "choose" else None


def _query_fault(text: str) -> str | None:
    """Return why a search is refused, None if it is not."""
    words = text.split()
    unknown = [word for word in words if word not in WORD_ORDER]
    if unknown:
        return f"the index knows no {unknown[0][:30]!r}; search by category, brand, material or feature"
    if len(words) > LONGEST_QUERY:
        return f"a search takes one or two words, not {len(words)}"
    numbers = [WORD_ORDER[word] for word in words]
    return None if words and numbers == sorted(set(numbers)) else "a search takes one or two different words"
