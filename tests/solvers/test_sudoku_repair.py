"""The fewest breaks against trying every set of nodes."""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.sudoku_repair import fewest_breaks


def circular(graph: dict[int, set[int]]) -> bool:
    remaining = dict(graph)
    while True:
        free = [node for node, others in remaining.items() if not any(other in remaining for other in others)]
        if not free:
            return bool(remaining)
        for node in free:
            del remaining[node]


def smallest_set(graph: dict[int, set[int]]) -> int:
    for size in range(len(graph) + 1):
        for chosen in combinations(graph, size):
            if not circular({node: others for node, others in graph.items() if node not in chosen}):
                return size
    raise AssertionError


@given(st.dictionaries(st.integers(0, 7), st.sets(st.integers(0, 7), max_size=3), max_size=8))
@settings(max_examples=150)
def test_the_answer_is_the_smallest_set_that_meets_every_circle(graph: dict[int, set[int]]) -> None:
    assert fewest_breaks(graph) == smallest_set(graph)


def test_examples() -> None:
    assert fewest_breaks({}) == 0
    assert fewest_breaks({1: {2}, 2: {3}, 3: set()}) == 0
    assert fewest_breaks({1: {2}, 2: {1}}) == 1
    assert fewest_breaks({1: {2}, 2: {1}, 3: {4}, 4: {5}, 5: {3}}) == 2
    assert fewest_breaks({1: {2, 3}, 2: {1}, 3: {1}}) == 1
