"""Banks: shipped levels load, splits share no key, building is reproducible and independent of workers."""

import pytest

from curricula.banks import DATA, SPLITS, bank_files, build_bank, load_bank, quota, save_bank, summary
from curricula.levels import LEVELS, TECHNIQUE_LEVELS, find_level
from curricula.making import make_instance, relation
from curricula.verifying import row_faults

SHIPPED = sorted(file.stem for file in bank_files())


def test_every_level_is_shipped():
    assert set(LEVELS) <= set(SHIPPED) <= set(LEVELS) | set(TECHNIQUE_LEVELS)


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_banks_hold_their_levels(name):
    level = find_level(name)
    splits = {split: load_bank(name, split) for split in SPLITS}
    keys = {split: {instance.key for instance in instances} for split, instances in splits.items()}
    assert not keys["train"] & keys["validation"] | keys["train"] & keys["test"] | keys["validation"] & keys["test"]
    every = [instance for instances in splits.values() for instance in instances]
    assert len({relation(instance) for instance in every}) == len(every)
    assert all(level.low <= instance.distance <= level.high for instance in every)
    if name in LEVELS:
        assert {split: len(instances) for split, instances in splits.items()} == quota(level)
    for instance in every[:: len(every) // 3]:
        assert row_faults(instance) == []
    seed, _, index = every[0].seed.split("/")
    if not level.techniques and level.high < 30:
        assert make_instance(level, int(seed), int(index)) == every[0]


@pytest.mark.parametrize("name", ["T2", "R1"])
def test_building_is_reproducible_and_independent_of_workers(name):
    level, wanted = find_level(name), {"train": 6, "validation": 1, "test": 2}
    built = build_bank(level, 3, wanted)
    assert build_bank(level, 3, wanted, workers=2) == built
    assert summary(built) == wanted
    assert [row_faults(instance) for instance in built] == [[]] * 9
    assert not {each.start for each in built} & {each.start for each in build_bank(level, 4, wanted)}


def test_a_bank_of_ones_own_is_read_by_path(tmp_path):
    built = build_bank(find_level("T2"), 3, {"train": 2, "validation": 0, "test": 1})
    save_bank(built, tmp_path / "T2.tsv", level="T2")
    assert load_bank("T2", "train", tmp_path) == tuple(built[:2])
    assert load_bank("T2", "test", tmp_path / "T2.tsv") == (built[2],)
    save_bank(built[:1], tmp_path / "T2.tsv", level="T2")
    assert len(load_bank("T2", "train", tmp_path)) == 1
    with pytest.raises(ValueError, match="holds no test instances of level 'T2'"):
        load_bank("T2", "test", tmp_path)


def test_what_there_is_none_of_is_named(tmp_path):
    with pytest.raises(ValueError, match="did you mean 'T2'"):
        load_bank("t2")
    with pytest.raises(ValueError, match="known: train, validation, test"):
        load_bank("T2", "tests")
    with pytest.raises(FileNotFoundError, match="banks there: none"):
        load_bank("T2", path=tmp_path)
    assert (DATA / "T2.tsv").is_file()


def test_a_file_of_several_levels_gives_the_one_that_is_asked_for_or_all(tmp_path):
    easy, longer = load_bank("T1", "test")[:2], load_bank("T2", "test")[:3]
    save_bank([*easy, *longer], tmp_path / "mixed.tsv")
    assert load_bank("T2", "test", tmp_path / "mixed.tsv") == longer
    assert load_bank(None, "test", tmp_path / "mixed.tsv") == (*easy, *longer)
    with pytest.raises(ValueError, match="name a level, or a bank file"):
        load_bank(None, "test", tmp_path)
