"""Rush Hour: optimal steps of this project against a plain Python breadth-first search, in the same run, on one core.

Run `python benchmarks/rush_hour.py [--boards FILE]`. FILE holds one board a line; by default boards of the shipped
banks R1-R5 are taken. Times are processor times; compilation is timed apart.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from curricula.banks import load_bank
from puzzles.rush_hour import RushHour
from solvers import rush_hour

ROW, SIZE = 2, 6


def plain_search(board: str) -> int:
    """Return the fewest steps of a 6x6 board by a breadth-first search over tuples of positions; -1 if unsolvable."""
    vehicles, start = read_vehicles(board)
    walls = frozenset(cell for cell, mark in enumerate(board) if mark == "x")
    covers = [
        [tuple(first + at * stride + offset * stride for offset in range(length)) for at in range(SIZE - length + 1)]
        for first, stride, length in vehicles
    ]
    goal = SIZE - vehicles[0][2]
    seen, level, depth = {start}, [start], 0
    while level:
        following = []
        for positions in level:
            if positions[0] == goal:
                return depth
            taken = set(walls)
            for cover, at in zip(covers, positions, strict=True):
                taken.update(cover[at])
            for vehicle, at in enumerate(positions):
                cover = covers[vehicle]
                for to, entered in ((at - 1, 0), (at + 1, -1)):
                    if 0 <= to < len(cover) and cover[to][entered] not in taken:
                        after = (*positions[:vehicle], to, *positions[vehicle + 1 :])
                        if after not in seen:
                            seen.add(after)
                            following.append(after)
        level, depth = following, depth + 1
    return -1


def read_vehicles(board: str) -> tuple[list[tuple[int, int, int]], tuple[int, ...]]:
    """Return first cell of the line, stride and length of each vehicle, the primary car first, and their positions."""
    vehicles, positions = [], []
    for letter in sorted(set(board) - set(".x")):
        cells = [cell for cell, mark in enumerate(board) if mark == letter]
        stride = cells[1] - cells[0]
        line = cells[0] // SIZE * SIZE if stride == 1 else cells[0] % SIZE
        vehicles.append((line, stride, len(cells)))
        positions.append((cells[0] - line) // stride)
    return vehicles, tuple(positions)


def timed(boards: list[str]) -> tuple[float, int, list[int]]:
    """Return seconds, states found and distances of the compiled solver."""
    begin = time.process_time()
    found = [rush_hour.solve(board) for board in boards]
    seconds = time.process_time() - begin
    return (
        seconds,
        sum(each.states for each in found),
        [-1 if each.distance is None else each.distance for each in found],
    )


def read_boards(file: Path | None, each: int) -> list[str]:
    """Return the boards of a file, or some of every shipped level."""
    if file is not None:
        puzzle = RushHour()
        return [puzzle.key(puzzle.parse(line)) for line in file.read_text().split()]
    levels = ("R1", "R2", "R3", "R4", "R5")
    return [instance.start for level in levels for instance in load_bank(level, "test")[:each]]


def main() -> None:
    """Print speed and ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=Path, default=None)
    parser.add_argument("--each", type=int, default=20, help="boards of each level")
    arguments = parser.parse_args()
    boards = read_boards(arguments.boards, arguments.each)
    begin = time.process_time()
    rush_hour.solve(boards[0])
    print(f"compilation or loading of compiled code: {time.process_time() - begin:.2f} s")
    begin = time.process_time()
    plain = [plain_search(board) for board in boards]
    plain_seconds = time.process_time() - begin
    seconds, states, fast = min(timed(boards) for _ in range(3))
    if fast != plain:
        raise SystemExit("the two searches disagree")
    print(f"boards: {len(boards)}, distances {min(fast)} to {max(fast)}, {states / len(boards):.0f} states a board")
    print(f"this project: {len(boards) / seconds:.0f} boards/s, {states / seconds / 1e6:.2f} million states/s")
    print(f"plain Python: {len(boards) / plain_seconds:.1f} boards/s")
    print(f"ratio: {plain_seconds / seconds:.0f} (at least 20 asked)")


if __name__ == "__main__":
    main()
