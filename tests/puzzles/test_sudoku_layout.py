"""The geometry of Sudoku boards."""

import pytest

from puzzles.sudoku_layout import BOX_SHAPES, sudoku_layout


@pytest.mark.parametrize("size", BOX_SHAPES)
def test_units_cover_the_board_and_peers_share_one(size: int) -> None:
    layout = sudoku_layout(size)
    assert len(layout.units) == 3 * size
    assert sorted(cell for unit in layout.units for cell in unit) == sorted(3 * list(range(size * size)))
    for cell, peers in enumerate(layout.peers):
        shared = {other for unit in layout.units if cell in unit for other in unit} - {cell}
        assert set(peers) == shared


def test_six_by_six_boxes_have_two_rows() -> None:
    layout = sudoku_layout(6)
    assert layout.boxes[0] == (0, 1, 2, 6, 7, 8)
    assert layout.boxes[5] == (27, 28, 29, 33, 34, 35)
    assert layout.cell_names[9] == "r2c4"
