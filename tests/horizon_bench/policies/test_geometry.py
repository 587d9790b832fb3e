"""Which places share vectors, for the puzzles of the suite and for one nobody has seen."""

from __future__ import annotations

from horizon_bench.policies.geometry import geometry
from puzzles import RushHour, Shop
from puzzles.sudoku import Sudoku


def named(puzzle: object, board_tokens: int, position: int) -> list[str]:
    places = geometry(puzzle, board_tokens)  # type: ignore[arg-type]
    return [places.features[index] for index in places.positions[position]]


def test_a_sudoku_cell_lies_in_row_column_and_box() -> None:
    assert named(Sudoku(6), 36, 9) == ["row 2", "column 4", "box 2"]


def test_a_cell_name_shares_the_features_of_its_place() -> None:
    places = geometry(Sudoku(4), 16)
    assert places.tokens["r2c3"] == places.positions[6]
    assert [places.features[index] for index in places.tokens["b4"]] == ["box 4"]
    assert "1" not in places.tokens


def test_rush_hour_has_rows_and_columns_but_no_boxes() -> None:
    assert named(RushHour(), 36, 8) == ["row 2", "column 3"]


def test_a_puzzle_may_state_its_features() -> None:
    places = geometry(Shop(), 31)
    assert len(places.positions) == 31
    assert named(Shop(), 31, 16) == ["place 2", "category"]
    assert [places.features[index] for index in places.tokens["1"]] == ["place 1"]


def test_a_board_that_is_no_grid_has_no_features() -> None:
    places = geometry(Sudoku(4), 17)
    assert places.features == ()
    assert places.positions == ((),) * 17
