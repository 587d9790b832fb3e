"""Levels: ranges that do not overlap, names with a way out."""

import pytest

from curricula.levels import LEVELS, TECHNIQUE_CLASSES, TECHNIQUE_LEVELS, find_level, level_of
from puzzles import PUZZLES
from solvers.techniques import TECHNIQUES


@pytest.mark.parametrize("level", LEVELS.values(), ids=LEVELS)
def test_each_distance_of_a_level_belongs_to_it_alone(level):
    assert level.puzzle in PUZZLES
    assert 0 < level.low <= level.high
    for distance in range(level.low, level.high + 1):
        assert level_of(level.puzzle, level.size, distance) == level.name
    assert level.make_puzzle().name == level.puzzle


def test_distances_outside_every_level_have_none():
    assert level_of("sudoku", 9, 46) == level_of("rush-hour", 6, 3) == level_of("sudoku", 16, 20) == "-"


def test_unknown_levels_name_the_nearest():
    with pytest.raises(ValueError, match="did you mean 'L3'"):
        find_level("l3")
    with pytest.raises(ValueError, match="did you mean 'L3-pair'"):
        find_level("L3-pairs")


def test_technique_classes_name_known_techniques_and_do_not_overlap():
    known = [technique.name for technique in TECHNIQUES]
    listed = [name for names in TECHNIQUE_CLASSES.values() for name in names]
    assert set(listed) <= set(known)
    assert len(set(listed)) == len(listed)
    assert {level.techniques for level in TECHNIQUE_LEVELS.values()} == set(TECHNIQUE_CLASSES.values())
