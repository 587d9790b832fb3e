"""What the exact solver knows about one shopping list, behind the `Oracle` protocol.

Wishes are met one after the other, so distances add up; within one wish every way is counted: a search, pages turned,
a product opened, choices, the purchase. The best search for a product holds words of that product only, for a word that
it lacks raises the scores of others and leaves its own: that makes the minimum exact without trying every pair.

Milestones are four ordered phases for each wish: the results contain a match, it is opened, its choices are made, it is
bought. They cannot be forged by other orders: each holds only where those before it hold.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

from puzzles.shop import LONGEST_QUERY, Move, Shop, ShopState
from puzzles.shop_catalogue import PER_PAGE, Query, Wish
from puzzles.shop_words import WORD_ORDER

PHASES = ("match listed", "match opened", "options chosen", "bought")
_BACK, _NEXT, _PREVIOUS, _BUY = Move("go", "back"), Move("go", "next"), Move("go", "previous"), Move("buy", "now")


class WishGuide:
    """Shortest ways to meet one wish, wherever the buyer stands."""

    def __init__(self, puzzle: Shop, wish: Wish) -> None:
        """Find the best searches.

        Args:
            puzzle: the shop.
            wish: what shall be bought.
        """
        self._puzzle, self.wish = puzzle, wish
        self.matches = puzzle.catalogue.matches(wish)
        self.choices = len(wish.choices)
        own = {query: self.turns(query) for query in queries(wish.words)}
        wider = {query: self.turns(query) for number in self.matches for query in queries(self._words(number))}
        reached = [turns for turns in (own | wider).values() if turns is not None]
        self.fewest: int | None = min(reached, default=None)
        """Pages turned after the best search; None if no search lists a match."""
        best = [query for query, turns in own.items() if turns == self.fewest]
        best = best or [query for query, turns in wider.items() if turns == self.fewest]
        self.searches = () if self.fewest is None else self._told(best)

    def _words(self, number: int) -> tuple[str, ...]:
        return self._puzzle.catalogue.products[number].words

    def _told(self, best: list[Query]) -> tuple[Query, ...]:
        """Return the search for the two rarest words if it is among the best, else all of them."""
        rarest = rarest_words(self._puzzle, self.wish)
        return (rarest,) if rarest in best else tuple(best)

    def leaves(self, query: Query) -> tuple[int, ...]:
        """Return the pages of a query's results that list a match, from 1."""
        ranked = self._puzzle.catalogue.rank(query)
        return tuple(sorted({place // PER_PAGE + 1 for place, number in enumerate(ranked) if number in self.matches}))

    def turns(self, query: Query) -> int | None:
        """Return the pages to turn after a search until a match is listed; None if none is."""
        leaves = self.leaves(query)
        return leaves[0] - 1 if leaves else None

    @property
    def distance(self) -> int | None:
        """Fewest actions from the search page to the purchase."""
        return None if self.fewest is None else 1 + self.fewest + 1 + self.choices + 1

    def missing(self, state: ShopState) -> tuple[str, ...]:
        """Return the choices of the wish that are not made on the product's page."""
        return tuple(value for value in self.wish.choices if value not in state.chosen)

    def here(self, state: ShopState) -> int | None:
        """Return the fewest actions from a page to the purchase."""
        distance = self.distance
        if distance is None or state.page == "search":
            return distance
        if state.page == "item":
            if state.product in self.matches:
                return len(self.missing(state)) + 1
            return 1 + self._listed(state)
        return self._listed(state)

    def _listed(self, state: ShopState) -> int:
        """Return the fewest actions from the state's page of results."""
        turned = [abs(leaf - state.leaf) + 1 + self.choices + 1 for leaf in self.leaves(state.query)]
        return min([*turned, 1 + (self.distance or 0)])

    def moves(self, state: ShopState) -> tuple[Move, ...]:
        """Return the moves that begin a shortest way."""
        if state.page == "search":
            return tuple(Move("search", " ".join(query)) for query in self.searches)
        if state.page == "item":
            if state.product not in self.matches:
                return (_BACK,)
            return tuple(Move("choose", value) for value in self.missing(state)) or (_BUY,)
        best = self._listed(state)
        found: list[Move] = []
        for leaf in self.leaves(state.query):
            if abs(leaf - state.leaf) + self.choices + 2 == best:
                found += self._towards(state, leaf)
        if best == 1 + (self.distance or 0):
            found.append(_BACK)
        return tuple(dict.fromkeys(found))

    def _towards(self, state: ShopState, leaf: int) -> list[Move]:
        if leaf != state.leaf:
            return [_NEXT if leaf > state.leaf else _PREVIOUS]
        shown = self._puzzle.shown(state)
        return [Move("open", str(place)) for place, number in enumerate(shown, start=1) if number in self.matches]


class ShopOracle:
    """Oracle of one shopping list."""

    def __init__(self, puzzle: Shop, start: ShopState) -> None:
        """Solve the start.

        Args:
            puzzle: the shop.
            start: the state the oracle is bound to.

        Raises:
            ValueError: if a wish cannot be met: no product meets it, or no search lists one that does.
        """
        self._puzzle, self._start = puzzle, start
        self._guides = tuple(guide(puzzle, wish) for wish in start.wishes)
        for each in self._guides:
            if each.distance is None:
                why = "no search lists a product that meets it" if each.matches else "no product meets it"
                raise ValueError(f"the wish {' '.join(each.wish.words)!r} cannot be met in this shop: {why}")
        distance = self.distance_to_go(start)
        if distance is None:
            raise ValueError("the goal is out of reach: a wrong product was bought")
        self._distance = distance

    @property
    def start(self) -> ShopState:
        """The start state the oracle is bound to."""
        return self._start

    @property
    def distance(self) -> int:
        """Goal distance of the start, in actions."""
        return self._distance

    @property
    def subgoals(self) -> tuple[str, ...]:
        """Names of the phases, with the number of the wish where there are several."""
        count = len(self._guides)
        return tuple(f"{phase} {wish + 1}" if count > 1 else phase for wish in range(count) for phase in PHASES)

    def distance_to_go(self, state: ShopState) -> int | None:
        """Return the fewest actions from `state` to the goal; None once a wish was not met by its purchase."""
        done = len(state.bought)
        if not all(map(self._puzzle.met, state.wishes, state.bought)):
            return None
        if done == len(self._guides):
            return 0
        ahead = [self._guides[done].here(state), *(each.distance for each in self._guides[done + 1 :])]
        return sum(part or 0 for part in ahead)

    def expert_moves(self, state: ShopState) -> tuple[Move, ...]:
        """Return moves that begin a shortest way; () when solved or out of reach.

        Of several best searches only that for the wish's two rarest words is named, if it is one of them, and none
        with words that the wish does not name, unless these alone are best.
        """
        if not self.distance_to_go(state):
            return ()
        return self._guides[len(state.bought)].moves(state)

    def plan(self, state: ShopState) -> tuple[Move, ...] | None:
        """Return one shortest plan from `state`, the same every time."""
        if self.distance_to_go(state) is None:
            return None
        plan: list[Move] = []
        while choices := self.expert_moves(state):
            plan.append(choices[0])
            state = self._puzzle.apply(state, choices[0])
        return tuple(plan)

    def subgoals_done(self, state: ShopState) -> tuple[bool, ...]:
        """Return which phases hold in `state`, shape [4 x wishes]."""
        done: list[bool] = []
        for number, each in enumerate(self._guides):
            if number < len(state.bought):
                done += [self._puzzle.met(each.wish, state.bought[number])] * len(PHASES)
            elif number > len(state.bought):
                done += [False] * len(PHASES)
            else:
                opened = state.page == "item" and state.product in each.matches
                listed = opened or (state.page == "results" and state.leaf in each.leaves(state.query))
                done += [listed, opened, opened and not each.missing(state), False]
        return tuple(done)

    def own_subgoal(self, state: ShopState, move: Move) -> int | None:
        """Return the phase that a move works towards: the first of its wish that does not hold yet."""
        done, first = self.subgoals_done(state), len(PHASES) * len(state.bought)
        return next((number for number in range(first, len(done)) if not done[number]), None)


@lru_cache(maxsize=4096)
def _guide(size: int, seed: int, wish: Wish) -> WishGuide:
    return WishGuide(Shop(size, seed), wish)


def guide(puzzle: Shop, wish: Wish) -> WishGuide:
    """Return the guide to a wish, shared by all oracles of the same shop."""
    return _guide(puzzle.size, puzzle.seed, wish)


def queries(words: tuple[str, ...]) -> list[Query]:
    """Return every search that some words allow, in canonical form."""
    ordered = sorted(set(words), key=WORD_ORDER.__getitem__)
    return [query for length in range(1, LONGEST_QUERY + 1) for query in combinations(ordered, length)]


def rarest_words(puzzle: Shop, wish: Wish) -> Query:
    """Return the two words of a wish that fewest products hold (one where it names no other), in canonical form."""
    rare = sorted(wish.words, key=lambda word: (puzzle.catalogue.frequency(word), WORD_ORDER[word]))
    return tuple(sorted(rare[:LONGEST_QUERY], key=WORD_ORDER.__getitem__))
