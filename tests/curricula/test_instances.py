"""Bank files: what is written is read, what is broken is named with its line; splits follow keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curricula.instances import SPLITS, Instance, instance_rng, read_instances, split_of, write_instances

ROW = Instance("sudoku", 4, "T1", "train", "1.3434122.43.321", 3, -1, "Full House", "1234341221434321", "k", "1/T1/0")


def test_files_round_trip(tmp_path):
    file = tmp_path / "bank.tsv"
    write_instances([ROW, ROW], file, {"level": "T1", "seed": "1"})
    remarks, rows = read_instances(file)
    assert remarks == {"level": "T1", "seed": "1", "rows": "2"}
    assert rows == [(5, ROW), (6, ROW)]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda text: text.replace("puzzle\t", "poodle\t"), r":3: no bank file"),
        (lambda text: text.replace("\t3\t", "\tthree\t"), r":4: distance is no whole number"),
        (lambda text: text.replace("\ttrain\t", "\ttraining\t"), r":4: unknown split 'training'"),
        (lambda text: text.replace("\tk\t", "\t"), r":4: 10 columns, expected 11"),
        (lambda text: "", "no header"),
    ],
)
def test_damaged_files_are_named_with_the_line(tmp_path, damage, reason):
    file = tmp_path / "bank.tsv"
    write_instances([ROW], file, {"level": "T1"})
    file.write_text(damage(file.read_text()))
    with pytest.raises(ValueError, match=reason):
        read_instances(file)


@given(st.lists(st.text(), min_size=1))
def test_a_key_belongs_to_one_split(keys):
    assert all(split_of(key) in SPLITS and split_of(key) == split_of(key) for key in keys)


def test_splits_share_keys_as_documented():
    counts = [sum(split_of(str(number)) == split for number in range(20_000)) for split in SPLITS]
    assert [round(count / 20_000, 1) for count in counts] == [0.7, 0.1, 0.1] or counts[0] in range(13_700, 14_300)
    assert all(2_800 < count < 3_200 for count in counts[1:])


def test_streams_of_neighbours_are_unrelated():
    draws = {
        instance_rng(seed, level, index).integers(2**62)
        for seed in range(6)
        for level in ("L1", "L2", "T1")
        for index in range(6)
    }
    assert len(draws) == 6 * 3 * 6
    assert instance_rng(3, "L1", 4).integers(2**62) == instance_rng(3, "L1", 4).integers(2**62)
    with pytest.raises(ValueError, match="seed is -1"):
        instance_rng(-1, "L1", 0)
