"""One new instance of a level, made from its own stream of random numbers and proven before it leaves."""

from __future__ import annotations

from curricula import rush_hour, shop, sudoku_generator
from curricula.instances import Instance, instance_rng
from curricula.levels import Level
from curricula.proofs import prove
from puzzles.rush_hour import RushHour
from puzzles.shop import Shop
from solvers.rush_hour_tables import line_members

_GRIDS = 400
"""Default budget of a Sudoku: grids to try."""


def make_instance(
    level: Level, seed: int, index: int, max_tries: int | None = None, restrict: tuple[str, ...] = ()
) -> Instance:
    """Return instance `index` of a level; the same arguments give the same instance, others an unrelated one.

    Args:
        level: distances and techniques asked for.
        seed: seed of the whole series.
        index: place in the series, from 0.
        max_tries: budget of random boards or grids; the generator's own by default.
        restrict: Sudoku: techniques that together must suffice; any by default.

    Raises:
        ValueError: if the budget is used up; the message says what was tried.
    """
    rng = instance_rng(seed, level.name, index)
    budget = {} if max_tries is None else {"max_tries": max_tries}
    if level.puzzle == "rush-hour":
        puzzle = RushHour(level.size, level.size)
        start = puzzle.format(rush_hour.generate(level.low, level.high, rng, puzzle, **budget))
    elif level.puzzle == "shop":
        start = shop.generate(level.low, level.high, rng, Shop(level.size), **budget)
    else:
        start = sudoku_generator.generate(
            1,
            level.size,
            (level.low, level.high),
            technique=level.techniques or None,
            restrict=restrict or None,
            rng=rng,
            attempts=_GRIDS if max_tries is None else max_tries,
        )[0].givens
    made = prove(level.puzzle, start, level.name, f"{seed}/{level.name}/{index}")
    broken = level.misfit(made.puzzle, made.size, made.distance, made.grade)
    if broken is not None:
        raise RuntimeError(f"the generator broke its promise, {broken}: {made}")
    return made


def relation(instance: Instance) -> str:
    """Return what two instances of one bank must not share.

    Rush Hour: vehicles and lines, since boards that share them may be states on one way; others: the start itself.
    """
    if instance.puzzle != "rush-hour":
        return instance.start
    state = RushHour(instance.size, instance.size).parse(instance.start)
    layout = state.layout
    lines = [
        (layout.horizontal[members[0]], layout.lines[members[0]], tuple(layout.lengths[vehicle] for vehicle in members))
        for members in line_members(state)
    ]
    return f"{sorted(lines)} {layout.walls}"
