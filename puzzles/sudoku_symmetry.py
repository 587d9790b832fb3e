"""The symmetry group of Sudoku boards: random members of it, and the canonical text that all its copies share.

The group renames digits, permutes bands, stacks, the rows in a band and the columns in a stack, and transposes where
boxes are square. `solvers.sudoku_canonical` computes the same canonical texts compiled, for whole banks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from puzzles.sudoku_layout import SYMBOLS, sudoku_layout

Uint8Array = NDArray[np.uint8]
Int64Array = NDArray[np.int64]

LARGEST_CANONICAL = 9
"""Largest board whose group is small enough to search."""


@dataclass(frozen=True)
class SudokuSymmetry:
    """One member of the group: what stands where in the copy."""

    rows: tuple[int, ...]
    """Row of the (transposed) original that becomes each row."""
    columns: tuple[int, ...]
    """Column of the (transposed) original that becomes each column."""
    digits: tuple[int, ...]
    """New name of each digit; index 0 is the blank and stays 0."""
    transposed: bool
    """Whether rows and columns change roles first."""

    def apply(self, digits: bytes) -> bytes:
        """Return the copy of a board of one digit per cell."""
        size = len(self.rows)
        board = np.frombuffer(digits, dtype=np.uint8).reshape(size, size)
        if self.transposed:
            board = board.T
        names = np.array(self.digits, dtype=np.uint8)
        return names[board[np.ix_(self.rows, self.columns)]].tobytes()


def random_symmetry(size: int, rng: np.random.Generator) -> SudokuSymmetry:
    """Return a symmetry drawn evenly from the whole group of boards of `size` rows."""
    layout = sudoku_layout(size)
    return SudokuSymmetry(
        rows=_random_lines(size, layout.box_rows, rng),
        columns=_random_lines(size, layout.box_columns, rng),
        digits=(0, *(rng.permutation(size) + 1).tolist()),
        transposed=bool(layout.box_rows == layout.box_columns and rng.integers(2)),
    )


def _random_lines(size: int, group: int, rng: np.random.Generator) -> tuple[int, ...]:
    """Return an order of rows (or columns) that keeps groups of `group` together."""
    groups = rng.permutation(size // group)
    return tuple(int(block) * group + int(line) for block in groups for line in rng.permutation(group))


@cache
def line_orders(size: int, group: int) -> Int64Array:
    """Return every order of rows (or columns) that keeps groups of `group` together, shape [orders, size]."""
    within = list(permutations(range(group)))
    orders = [
        [block * group + line for block, lines in zip(blocks, inner, strict=True) for line in lines]
        for blocks in permutations(range(size // group))
        for inner in product(within, repeat=size // group)
    ]
    return np.array(orders, dtype=np.int64)


@dataclass(frozen=True)
class RowTree:
    """The row orders as a tree: the nodes of level k are the possible first k + 1 rows."""

    children: tuple[Int64Array, ...]
    """Nodes of level k below each node of level k - 1, shape [nodes above, choices]; level 0 hangs from one root."""
    rows: tuple[Int64Array, ...]
    """Last row of each node of level k."""


@cache
def row_tree(size: int, group: int) -> RowTree:
    """Return the tree of row orders."""
    orders = [tuple(order) for order in line_orders(size, group).tolist()]
    above: list[tuple[int, ...]] = [()]
    children, rows = [], []
    for level in range(size):
        nodes = sorted({order[: level + 1] for order in orders})
        index = {node: number for number, node in enumerate(nodes)}
        below: dict[tuple[int, ...], list[int]] = {node: [] for node in above}
        for node in nodes:
            below[node[:-1]].append(index[node])
        children.append(np.array([below[node] for node in above], dtype=np.int64))
        rows.append(np.array([node[-1] for node in nodes], dtype=np.int64))
        above = nodes
    return RowTree(tuple(children), tuple(rows))


def canonical_text(digits: bytes, size: int) -> str:
    """Return the smallest text among all symmetric copies of a board, blanks before digits, row by row.

    Two boards have the same canonical text exactly when a symmetry maps one onto the other. Boards over 9x9 are only
    renamed: digits in order of appearance.
    """
    if size > LARGEST_CANONICAL:
        names: dict[int, int] = {0: 0}
        canonical = bytes([names.setdefault(digit, len(names)) for digit in digits])
    elif any(digits):
        canonical = _smallest_copy(np.frombuffer(digits, dtype=np.uint8).reshape(size, size))
    else:
        canonical = digits
    return board_text(canonical)


_AS_TEXT = f".{SYMBOLS[1:]}".encode().ljust(256, b"?")


def board_text(digits: bytes) -> str:
    """Return a board as one line, `.` where blank."""
    return digits.translate(_AS_TEXT).decode("ascii")


class _Copies:
    """Symmetric copies that agree with the smallest one so far, extended by rows and thinned by cells."""

    def __init__(self, board: Uint8Array) -> None:
        size = len(board)
        layout = sudoku_layout(size)
        self.columns = line_orders(size, layout.box_columns)
        self.boards = np.stack([board, board.T] if layout.box_rows == layout.box_columns else [board])
        sides, orders = len(self.boards), len(self.columns)
        self.side = np.repeat(np.arange(sides), orders)
        self.order = np.tile(np.arange(orders), sides)
        self.node = np.zeros(sides * orders, dtype=np.int64)
        self.names = np.zeros((sides * orders, size + 1), dtype=np.uint8)
        self.named = np.zeros(sides * orders, dtype=np.uint8)

    def keep(self, chosen: NDArray[np.bool_] | Int64Array) -> None:
        """Keep (or repeat) the chosen copies."""
        self.side, self.order, self.node = self.side[chosen], self.order[chosen], self.node[chosen]
        self.names, self.named = self.names[chosen], self.named[chosen]

    def extend(self, children: Int64Array) -> None:
        """Replace each copy by one for each row that may come next."""
        below = children[self.node]
        self.keep(np.repeat(np.arange(len(below)), below.shape[1]))
        self.node = below.ravel()

    def next_cell(self, row: Int64Array, column: int) -> int:
        """Return the smallest digit that some copy has in its next cell; only copies with it stay."""
        held = self.boards[self.side, row[self.node], self.columns[self.order, column]]
        known = self.names[np.arange(len(held)), held]
        unnamed = (known == 0) & (held > 0)
        name = np.where(unnamed, self.named + 1, known)
        smallest = name.min()
        chosen = np.flatnonzero(name == smallest)
        if len(chosen) < len(held):
            self.keep(chosen)
            held, unnamed = held[chosen], unnamed[chosen]
        first = np.flatnonzero(unnamed)
        if len(first):
            self.named[first] += 1
            self.names[first, held[first]] = self.named[first]
        return int(smallest)


def _smallest_copy(board: Uint8Array) -> bytes:
    """Return the smallest symmetric copy of a board, searched row by row over all copies that still tie."""
    size = len(board)
    tree = row_tree(size, sudoku_layout(size).box_rows)
    copies = _Copies(board)
    smallest = bytearray()
    for children, row in zip(tree.children, tree.rows, strict=True):
        copies.extend(children)
        smallest.extend([copies.next_cell(row, column) for column in range(size)])
    return bytes(smallest)
