"""Instances made to order: deterministic, unrelated between seeds, related boards recognised."""

import pytest

from curricula.levels import find_level
from curricula.making import make_instance, relation
from curricula.proofs import prove
from puzzles.rush_hour import RushHour


@pytest.mark.parametrize("name", ["T3", "M2", "L2", "L5-pair", "R2"])
def test_the_same_arguments_make_the_same_instance_and_others_another(name):
    level = find_level(name)
    made = make_instance(level, 7, 3)
    assert make_instance(level, 7, 3) == made
    assert made.seed == f"7/{name}/3"
    assert made.level == name
    assert level.low <= made.distance <= level.high
    assert not level.techniques or made.grade in level.techniques
    others = {make_instance(level, seed, index).start for seed, index in ((7, 2), (7, 4), (6, 3), (8, 3), (8, 2))}
    assert made.start not in others
    assert len(others) == 5


def test_neighbouring_seeds_share_no_board():
    level = find_level("R1")
    series = [{make_instance(level, seed, index).start for index in range(12)} for seed in range(4)]
    assert len(set.union(*series)) == sum(map(len, series)) == 48


def test_boards_on_one_way_are_related():
    puzzle = RushHour()
    first = prove("rush-hour", "BB...CD..E.CDAAE.CD..E..F...GGF.HHH.")
    state = puzzle.parse(first.start)
    after = puzzle.apply(state, puzzle.moves(state)[0])
    later = prove("rush-hour", puzzle.key(after))
    assert later.start != first.start
    assert relation(later) == relation(first)
    assert relation(prove("rush-hour", "...B.....B..AA.B..CCDD..E.....EFFF..")) != relation(first)
