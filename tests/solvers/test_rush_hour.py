"""The exact Rush Hour solver against a plain search over letter maps, and against checked boards."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from puzzles.rush_hour import RushHour, Step
from solvers import rush_hour
from solvers.rush_hour import SearchBudgetError

CHECKED = [
    # board, slides, steps, reachable states: classic card 1, two boards of Michael Fogleman's database (MIT), and a
    # random unsolvable one
    ("BB...CD..E.CDAAE.CD..E..F...GGF.HHH.", 8, 16, 1247),
    ("............AA......................", 1, 4, 5),
    ("..BB.....C..AA.C...........x........", 3, 6, 45),
    ("BBBCCDEEEF.DGAAFHDGI.FH..IJ.KLMMJ.KL", -1, -1, 3493),
]

LONGEST = "BCCx..B..DEEFAAD..F.GHHIJJG..IKKLLLI"
"""103 steps, from Michael Fogleman's database (MIT)."""


@st.composite
def boards(draw):
    """A small puzzle and the text of one of its boards: few enough states for a plain search."""
    puzzle = RushHour(draw(st.integers(3, 6)), draw(st.integers(4, 6)))
    cells = [["."] * puzzle.columns for _ in range(puzzle.rows)]
    cells[puzzle.exit_row][:2] = "AA"
    letters = iter("BCDEFGHIJKLMN")
    for _ in range(draw(st.integers(3, 30))):
        row, column = draw(st.integers(0, puzzle.rows - 1)), draw(st.integers(0, puzzle.columns - 1))
        length, down = draw(st.sampled_from([1, 2, 2, 2, 3, 3])), draw(st.booleans())
        places = [(row + down * offset, column + (not down) * offset) for offset in range(length)]
        if all(r < puzzle.rows and c < puzzle.columns and cells[r][c] == "." for r, c in places):
            mark = "x" if length == 1 else next(letters, "x")
            for r, c in places if mark != "x" else places[:1]:
                cells[r][c] = mark
    return puzzle, "".join(map("".join, cells))


def neighbours(text: str, columns: int, slides: bool) -> list[str]:
    """All boards one move away, by the letters alone."""
    found = []
    for letter in sorted(set(text) - set(".x")):
        cells = [at for at, mark in enumerate(text) if mark == letter]
        stride = cells[1] - cells[0]
        for sign in (1, -1):
            board, at = list(text), cells
            while True:
                head = (at[-1] if sign > 0 else at[0]) + sign * stride
                wraps = stride == 1 and head // columns != at[0] // columns
                if not 0 <= head < len(board) or wraps or board[head] != ".":
                    break
                board[head], board[at[0] if sign > 0 else at[-1]] = letter, "."
                at = [cell + sign * stride for cell in at]
                found.append("".join(board))
                if not slides:
                    break
    return found


def plain_distances(text: str, puzzle: RushHour, slides: bool, most: int = 4000) -> dict[str, int] | None:
    """Distance of every reachable board from `text`; None if there are more than `most`."""
    seen, level = {text: 0}, [text]
    while level:
        following = []
        for board in level:
            for after in neighbours(board, puzzle.columns, slides):
                if after not in seen:
                    seen[after] = seen[board] + 1
                    following.append(after)
        if len(seen) > most:
            return None
        level = following
    return seen


def is_goal(text: str, puzzle: RushHour) -> bool:
    return text[(puzzle.exit_row + 1) * puzzle.columns - 2 :][:2] == "AA"


@pytest.mark.parametrize(("board", "slides", "steps", "states"), CHECKED)
def test_checked_boards(board, slides, steps, states):
    assert rush_hour.distance(board, "steps") == (None if steps < 0 else steps)
    assert rush_hour.distance(board, "slides") == (None if slides < 0 else slides)
    assert len(rush_hour.distance_map(board)) == states


@pytest.mark.shared
def test_shared_boards_in_both_metrics(shared_table):
    rows = shared_table("rush_boards_shared.tsv")
    assert len(rows) == 59
    texts = [row["board"] for row in rows]
    for metric in rush_hour.METRICS:
        assert rush_hour.distance_batch(texts, metric).tolist() == [int(row[f"optimal_{metric}"]) for row in rows]
    for row in rows:
        cluster = rush_hour.distance_map(row["orig"])
        assert (len(cluster), cluster.goals) == (int(row["reachable_states"]), int(row["goal_states"]))


@settings(max_examples=60)
@given(boards(), st.sampled_from(rush_hour.METRICS))
def test_no_way_is_shorter_and_every_plan_replays(case, metric):
    puzzle, text = case
    reached = plain_distances(text, puzzle, metric == "slides")
    if reached is None:
        return
    best = min((far for board, far in reached.items() if is_goal(board, puzzle)), default=None)
    found = rush_hour.solve(text, metric, puzzle=puzzle)
    assert found.distance == best == rush_hour.distance(text, metric, puzzle=puzzle)
    if found.moves is None:
        assert found.states == len(reached)
        assert found.path == "-"
        return
    state = puzzle.parse(text)
    for move in found.moves:
        for step in puzzle.parse_action(str(move)):
            state = puzzle.apply(state, step)
    assert puzzle.solved(state)
    assert len(found.moves) == best
    assert metric == "slides" or all(move.cells == 1 for move in found.moves)


@settings(max_examples=25)
@given(boards(), st.sampled_from(rush_hour.METRICS))
def test_distance_map_agrees_with_the_solver_and_with_itself(case, metric):
    puzzle, text = case
    reached = plain_distances(text, puzzle, metric == "slides", most=600)
    if reached is None:
        return
    cluster = rush_hour.distance_map(text, metric, puzzle=puzzle)
    shown = {puzzle.format(state): togo for state, togo in cluster.items()}
    assert shown.keys() == reached.keys()
    for board, togo in shown.items():
        around = [shown[after] for after in neighbours(board, puzzle.columns, metric == "slides")]
        if togo < 0:
            assert max(shown.values()) < 0
        elif togo == 0:
            assert is_goal(board, puzzle)
        else:
            assert not is_goal(board, puzzle)
            assert min(around) == togo - 1
        assert cluster.distance(puzzle.parse(board)) == (None if togo < 0 else togo)


@settings(max_examples=25)
@given(boards(), st.sampled_from(rush_hour.METRICS))
def test_shortest_ways_are_counted_exactly(case, metric):
    puzzle, text = case
    slides = metric == "slides"
    reached = plain_distances(text, puzzle, slides, most=1500)
    if reached is None:
        return
    goals = [board for board in reached if is_goal(board, puzzle)]
    best = min((reached[board] for board in goals), default=0)
    ways = {text: 1}
    for board in sorted(reached, key=reached.__getitem__):
        for after in neighbours(board, puzzle.columns, slides) if board in ways else ():
            if reached[after] == reached[board] + 1:
                ways[after] = ways.get(after, 0) + ways[board]
    expected = sum(ways[board] for board in goals if reached[board] == best)
    assert rush_hour.count_optimal(text, metric, puzzle=puzzle) == expected


def test_counts_beyond_floating_point_are_exact():
    cluster = rush_hour.distance_map(LONGEST)
    puzzle, togo = RushHour(), dict(cluster.items())
    ways = {state: 1 for state, far in togo.items() if far == 0}
    for state in sorted(togo, key=togo.__getitem__):
        if togo[state] > 0:
            after = [puzzle.apply(state, move) for move in puzzle.moves(state)]
            ways[state] = sum(ways[other] for other in after if togo[other] == togo[state] - 1)
    assert ways[cluster.start] > 2**53
    assert rush_hour.count_optimal(LONGEST) == ways[cluster.start]


def test_an_eight_by_eight_board_with_its_own_exit_row():
    puzzle = RushHour(8, 8, 6)
    # The truck B leaves the exit row after two steps up; the primary car then drives six.
    text = "........" * 5 + "....B..." + "AA..B..." + "....B..."
    assert rush_hour.distance(text, "steps", puzzle=puzzle) == 2 + 6
    assert rush_hour.distance(text, "slides", puzzle=puzzle) == 2


def test_budgets_end_with_a_clear_error():
    unsolvable = CHECKED[-1][0]
    with pytest.raises(SearchBudgetError, match="max_states=1000"):
        rush_hour.solve(unsolvable, max_states=1000)
    with pytest.raises(SearchBudgetError, match="max_states=1000"):
        rush_hour.distance([unsolvable], max_states=1000)
    wide = RushHour(8, 8)
    text = "........" * 3 + "AA......" + "BB....CC" + "DD....EE" + "FF......" + "GG......"
    with pytest.raises(SearchBudgetError, match="max_seconds"):
        rush_hour.distance_map(text, puzzle=wide, max_seconds=1e-9)
    with pytest.raises(ValueError, match="positive"):
        rush_hour.solve(unsolvable, max_states=0)


def test_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="known: steps, slides"):
        rush_hour.solve("............AA......................", "cells")


def test_batches_agree_with_single_boards_on_any_number_of_threads():
    texts = [row[0] for row in CHECKED] * 8
    alone = np.array([-1 if far is None else far for far in rush_hour.distance(texts)])
    for threads in (1, 3):
        assert rush_hour.distance_batch(texts, threads=threads).tolist() == alone.tolist()


def test_states_elsewhere_are_not_on_the_map():
    puzzle = RushHour()
    cluster = rush_hour.distance_map("............AA.B.....B..............")
    other = puzzle.parse("............AAB.....B...............")
    assert other not in cluster
    with pytest.raises(ValueError, match="cannot be reached"):
        cluster.distance(other)
    assert puzzle.apply(cluster.start, Step("A", "right")) in cluster
