"""Makes a bank of TextWorld games: `python -m horizon_bench.outside.textworld_make --games 400 --file bank.json.gz`.

Needs the package. Games with more things of a kind than there are names, or whose events could happen two at once, are
left out; so are games whose content key is there already. A later run with the same seed gives the same bank.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from horizon_bench.outside.extras import need
from horizon_bench.outside.textworld_bank import Bank, Banked, content_key, write_bank
from horizon_bench.outside.textworld_games import Game, Rule, make_games, package_rules
from horizon_bench.outside.textworld_house import House, TextState
from horizon_bench.outside.textworld_oracle import TextWorldOracle
from horizon_bench.outside.textworld_rules import Mechanics, mechanics

SEED = 20261129


def graded(game: Game, rules: Sequence[Rule]) -> Banked | None:
    """Return a game with its distances, or None where it does not fit.

    Args:
        game: a game.
        rules: it plays by.
    """
    ready = mechanics(game.facts, rules)
    try:
        houses = [House(game, ready, done, 0) for done in range(len(game.quest))]
    except ValueError:
        return None
    if not _separate(houses[0], ready):
        return None
    return Banked(game, content_key(game), tuple(map(_distance, houses)))


def _separate(house: House, ready: Mechanics) -> bool:
    """Return whether no action gives what two events ask for."""
    return all(
        sum(bool(action.gains & event.mask) for event in house.events) <= 1
        for actions in ready.actions.values()
        for action in actions
    )


def _distance(house: House) -> int:
    start = TextState("", house.start, house.happened(house.start, 0))
    return TextWorldOracle(house, start).distance


def fitting(games: Iterable[Game | None], rules: Sequence[Rule]) -> Iterator[Banked]:
    """Yield the games that fit and are new."""
    seen = set()
    for game in games:
        banked = None if game is None else graded(game, rules)
        if banked is not None and banked.key not in seen:
            seen.add(banked.key)
            yield banked


def main() -> int:
    """Make a bank."""
    parser = argparse.ArgumentParser(prog="python -m horizon_bench.outside.textworld_make", description=__doc__)
    parser.add_argument("--games", type=int, default=400, help="games to make, a second or more each (default 400)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"of all chance (default {SEED})")
    parser.add_argument("--file", type=Path, required=True, help="file to write, NAME.json.gz")
    arguments = parser.parse_args()
    if arguments.games < 1:
        parser.error(f"--games is {arguments.games}, must be at least 1")
    try:
        version = need("textworld", "making TextWorld games").__version__
    except ImportError as error:
        parser.error(str(error))
    rules = package_rules()
    games: list[Banked] = []
    for banked in fitting(make_games(arguments.seed), rules):
        games.append(banked)
        print(f"\r{len(games)} of {arguments.games} games", end="", file=sys.stderr, flush=True)
        if len(games) == arguments.games:
            break
    write_bank(Bank(version, rules, tuple(games)), arguments.file)
    print(file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
