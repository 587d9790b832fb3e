from __future__ import annotations

from pathlib import Path

import pytest

from reports.records import (
    CellRecord,
    EvaluationRecord,
    UpdateRecord,
    append,
    cut,
    drop_torn_line,
    read,
    read_cell,
    scan,
    write_cell,
)

ROWS = [UpdateRecord("s", "c", 0, "rl", update, "T1", {"success": update / 10}) for update in range(4)]


def file_of(folder: Path, count: int = 4) -> Path:
    append(folder / "records.jsonl", ROWS[:count])
    return folder / "records.jsonl"


def test_appending_in_parts_reads_as_one(tmp_path: Path) -> None:
    path = file_of(tmp_path, 2)
    assert append(path, ROWS[2:]) == 2
    assert read(path) == ROWS


def test_a_corrupt_line_is_named_with_file_and_number(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b'{"kind": "upda\n', lines[3]]))
    with pytest.raises(ValueError, match=r"records\.jsonl:3: .*run it again"):
        read(path)
    records, problems = scan(path)
    assert records == [ROWS[0], ROWS[1], ROWS[3]]
    assert len(problems) == 1


def test_a_torn_last_line_is_refused_unless_asked_for(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match=r":4: the last line is torn"):
        read(path)
    assert read(path, torn_line=True) == ROWS[:3]


def test_a_torn_line_must_go_before_more_is_appended(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(ValueError, match="torn"):
        append(path, ROWS)
    assert drop_torn_line(path)
    assert not drop_torn_line(path)
    append(path, ROWS[3:])
    assert read(path) == ROWS


def test_cutting_keeps_the_first_records_and_refuses_to_invent_some(tmp_path: Path) -> None:
    path = file_of(tmp_path)
    cut(path, 3)
    assert read(path) == ROWS[:3]
    with pytest.raises(ValueError, match="holds 3 records"):
        cut(path, 4)


def test_a_cell_is_written_whole_and_read_back(tmp_path: Path) -> None:
    cell = CellRecord("s", "c", 0, "label", "sudoku", 4, "macro", "outcome", "rloo", ("T1",), ("T1", "T2"))
    write_cell(tmp_path, cell)
    assert read_cell(tmp_path) == cell
    (tmp_path / "cell.json").write_text("{")
    with pytest.raises(ValueError, match=r"cell\.json"):
        read_cell(tmp_path)


def test_a_record_sums_up_its_episode(make) -> None:
    stored = make.stored_episodes(make.arms[2], 0, 80, __import__("numpy").random.default_rng(0))[0]
    record = EvaluationRecord.from_episode(
        stored.episode, study="s", cell="c", seed=0, phase="rl", update=80, puzzle="sudoku", interface="atomic"
    )
    assert record.decisions == len(stored.episode.turns)
    assert record.atomic_steps == sum(len(turn.moves) for turn in stored.episode.turns)
    assert record.distance_left == stored.episode.turns[-1].distance_after
