"""Reading Rush Hour boards: letter maps and vehicle lists, each refusal with its reason."""

from __future__ import annotations

import json
from collections.abc import Sequence

from puzzles.rush_hour_layout import LENGTHS, NAMES, Layout, RushHourState, Vehicle

EMPTY = ".o0"
WALL = "x"


def read_board(text: str, rows: int, columns: int, exit_row: int) -> RushHourState:
    """Return the state that a letter map or a JSON vehicle list describes.

    Args:
        text: `rows * columns` characters, whole or as one word per row, or `[[row, column, length, "H", "A"], ...]`.
        rows: rows of the board.
        columns: columns of the board.
        exit_row: row whose right end is the exit, from 0.

    Raises:
        ValueError: naming what is wrong with the board.
    """
    if text.lstrip().startswith("["):
        return build_state(_read_vehicle_list(text), [], rows, columns, exit_row)
    words = text.split()
    if len(words) > 1 and [len(word) for word in words] != [columns] * rows:
        raise ValueError(f"a board of several words needs {rows} rows of {columns} characters, got {len(words)} words")
    cells = "".join(words)
    if len(cells) != rows * columns:
        raise ValueError(f"board has {len(cells)} characters, expected {rows * columns} ({rows} rows of {columns})")
    places: dict[str, list[int]] = {}
    for cell, mark in enumerate(cells):
        if mark not in EMPTY:
            places.setdefault(mark, []).append(cell)
    walls = places.pop(WALL, [])
    vehicles = [_read_vehicle(letter, where, columns) for letter, where in places.items()]
    return build_state(vehicles, [divmod(cell, columns) for cell in walls], rows, columns, exit_row)


def build_state(
    vehicles: Sequence[Vehicle], walls: Sequence[tuple[int, int]], rows: int, columns: int, exit_row: int
) -> RushHourState:
    """Return the state with these vehicles and walls; any breach of the rules raises `ValueError`."""
    letters = [vehicle.letter for vehicle in vehicles]
    if len(letters) > len(NAMES):
        raise ValueError(f"board has {len(letters)} vehicles, at most {len(NAMES)} are allowed")
    primary = "X" if "X" in letters else "A"
    if primary not in letters:
        raise ValueError("board has no primary car (letter A or X)")
    if len(set(letters)) < len(letters):
        raise ValueError("one letter names two vehicles")
    taken = dict.fromkeys(walls, "a wall")
    for vehicle in vehicles:
        _check_vehicle(vehicle, rows, columns)
        for cell in vehicle.cells():
            if cell in taken:
                raise ValueError(f"vehicle {vehicle.letter} overlaps {taken[cell]} at row {cell[0]}, column {cell[1]}")
            taken[cell] = f"vehicle {vehicle.letter}"
    ordered = sorted(vehicles, key=lambda vehicle: (vehicle.letter != primary, vehicle.letter))
    _check_primary(ordered[0], exit_row)
    wall_mask = sum(1 << (row * columns + column) for row, column in walls)
    layout = Layout(
        rows,
        columns,
        exit_row,
        letters=tuple(vehicle.letter for vehicle in ordered),
        horizontal=tuple(vehicle.horizontal for vehicle in ordered),
        lines=tuple(vehicle.line for vehicle in ordered),
        lengths=tuple(vehicle.length for vehicle in ordered),
        walls=wall_mask,
    )
    occupied = sum(1 << (row * columns + column) for row, column in taken)
    return RushHourState(layout, tuple(vehicle.position for vehicle in ordered), occupied)


def write_board(state: RushHourState) -> str:
    """Return the letter map of a state as one word, `.` for empty and `x` for walls."""
    layout = state.layout
    cells = ["."] * (layout.rows * layout.columns)
    for cell in range(len(cells)):
        if layout.walls >> cell & 1:
            cells[cell] = WALL
    for vehicle, letter in enumerate(layout.letters):
        line, at = layout.lines[vehicle], state.positions[vehicle]
        horizontal = layout.horizontal[vehicle]
        first, stride = (line * layout.columns + at, 1) if horizontal else (at * layout.columns + line, layout.columns)
        for offset in range(layout.lengths[vehicle]):
            cells[first + offset * stride] = letter
    return "".join(cells)


def canonical_names(state: RushHourState) -> str:
    """Return the letter map with the primary called A and the others B, C, ... in order of first appearance."""
    text = write_board(state)
    names = {".": ".", WALL: WALL, state.layout.letters[0]: NAMES[0]}
    for mark in text:
        if mark not in names:
            names[mark] = NAMES[len(names) - 2]
    return "".join(names[mark] for mark in text)


def _read_vehicle(letter: str, cells: list[int], columns: int) -> Vehicle:
    if not ("A" <= letter <= "Z"):
        hint = "; vehicles are upper-case letters" if letter.isalpha() else ""
        raise ValueError(f"character {letter!r} is neither a vehicle (A-Z), a wall (x) nor empty (. o 0){hint}")
    length, (row, column) = len(cells), divmod(cells[0], columns)
    if length not in LENGTHS:
        raise ValueError(f"vehicle {letter} covers {length} cells, must be 2 or 3")
    stride = cells[1] - cells[0]
    horizontal = stride == 1 and column + length <= columns
    if (horizontal or stride == columns) and cells[-1] == cells[0] + (length - 1) * stride:
        return Vehicle(row, column, length, horizontal, letter)
    raise ValueError(f"the cells of vehicle {letter} do not lie side by side in one row or column")


def _read_vehicle_list(text: str) -> list[Vehicle]:
    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise ValueError(f"vehicle list is not JSON: {problem}") from None
    vehicles = []
    for item in items if isinstance(items, list) else [items]:
        match item:
            # JSON's true and false would pass as the numbers 1 and 0.
            case [bool(), *_] | [_, bool(), *_] | [_, _, bool(), *_]:
                raise ValueError(f"vehicle {item!r} has a truth value where a number belongs")
            case [int(row), int(column), int(length), "H" | "V" as way, str(letter)] if len(letter) == 1:
                vehicles.append(Vehicle(row, column, length, way == "H", letter))
            case _:
                raise ValueError(f'vehicle {item!r} is not [row, column, length, "H" or "V", letter]')
    return vehicles


def _check_vehicle(vehicle: Vehicle, rows: int, columns: int) -> None:
    if not ("A" <= vehicle.letter <= "Z"):
        raise ValueError(f"vehicle letter {vehicle.letter!r} is not one of A-Z")
    if vehicle.length not in LENGTHS:
        raise ValueError(f"vehicle {vehicle.letter} has length {vehicle.length}, must be 2 or 3")
    last_row, last_column = vehicle.cells()[-1]
    if vehicle.row < 0 or vehicle.column < 0 or last_row >= rows or last_column >= columns:
        raise ValueError(f"vehicle {vehicle.letter} leaves the board of {rows} rows and {columns} columns")


def _check_primary(primary: Vehicle, exit_row: int) -> None:
    if not primary.horizontal:
        raise ValueError(f"primary car {primary.letter} is vertical, must lie in the exit row")
    if primary.row != exit_row:
        raise ValueError(f"primary car {primary.letter} is in row {primary.row}, not in the exit row {exit_row}")
    if primary.length != 2:
        raise ValueError(f"primary car {primary.letter} has length {primary.length}, must be 2")
