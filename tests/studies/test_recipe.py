from __future__ import annotations

import pytest

from horizon_bench.policies import ExpertPolicy, NoisyExpertPolicy, RandomPolicy
from studies.factors import Cell
from studies.matrix import SCALES, STUDIES, parse_name
from studies.named_policies import expert_actions
from studies.own_puzzle import scale_of
from studies.presets import PRESETS
from studies.recipe import STAGES, environment, instances, label, stage_seed, untrained_policy
from studies.recipe import test_levels as levels_of
from studies.runner import CellJob
from studies.training_settings import Training, resolved_training, widened


def test_stages_of_near_seeds_draw_from_unrelated_streams() -> None:
    drawn = [stage_seed(seed, stage) for seed in range(50) for stage in STAGES]
    assert len(set(drawn)) == len(drawn)
    assert stage_seed(3, "evaluation") == stage_seed(3, "evaluation")


@pytest.mark.parametrize("study", STUDIES)
@pytest.mark.parametrize("scale", SCALES)
def test_every_cell_of_every_study_has_valid_settings(study: str, scale: str) -> None:
    for cell in STUDIES[study].cells(SCALES[scale]):
        check_settings(cell, beyond_sft=study in BEYOND_SFT)


BEYOND_SFT = ("collapse", "mira")
"""Studies that train, among others, on levels that SFT has not seen."""


def check_settings(cell: Cell, *, beyond_sft: bool = False) -> None:
    settings = environment(cell, cell.evaluation_interface)
    assert settings.on_error == cell.on_error
    if cell.needs_sft:
        training = resolved_training(CellJob("results", "test", cell, 0, PRESETS["cpu"]))
        assert training.update.updates == PRESETS["cpu"].updates
        if cell.family != "q":
            assert set(training.sft_levels) < set(levels_of(cell))
            assert beyond_sft or set(cell.train_levels) <= set(training.sft_levels)
    else:
        assert untrained_policy(cell) is not None


def test_cells_of_one_study_have_different_labels() -> None:
    for study in STUDIES.values():
        cells = study.cells(SCALES["t"])
        shown = {(label(cell), cell.family, cell.interface) for cell in cells}
        assert len(shown) == len(cells)


def test_labels_read_as_people_say_them() -> None:
    assert label(parse_name("study-sudoku-macro-t34-subgoal")) == "macro + subgoals, trained on T3+T4"
    assert label(parse_name("study-rush-atomic-r1to2-outcome")) == "atomic, trained on R1, then R2"
    assert label(parse_name("study-sudoku-atomic-l-expert")) == "expert (Sudoku)"
    own = scale_of("horizon_bench.outside.textworld:TextWorld").cell("atomic", learner="expert")
    assert label(own) == "expert (TextWorld)"


def test_untrained_policies_follow_their_cell() -> None:
    assert untrained_policy(parse_name("study-sudoku-macro-l-expert")) == ExpertPolicy(4)
    assert untrained_policy(parse_name("study-rush-atomic-r-noisy-err5")) == NoisyExpertPolicy(0.05, 1)
    assert untrained_policy(parse_name("study-rush-atomic-r-random")) == RandomPolicy()
    assert [expert_actions(name) for name in ("split", "macro-fixed-2", "macro-capped-12")] == [1, 2, 12]


def test_test_and_training_puzzles_share_no_content() -> None:
    cell = parse_name("study-sudoku-macro-t3-outcome")
    train = {one.key for one in instances(cell, ("T3",), "train")}
    test = instances(cell, levels_of(cell), "test", 5)
    assert [one.level for one in test[::5]] == list(levels_of(cell))
    assert not train & {one.key for one in test}


def test_recipe_words_change_what_they_name() -> None:
    def update(name: str) -> object:
        return resolved_training(CellJob("results", "test", parse_name(name), 0, PRESETS["smoke"])).update

    plain = update("study-sudoku-macro-t3-outcome")
    other = update("study-sudoku-macro-t3-outcome-nonorm-nomask-notruncation-steps4")
    assert plain.correction == "sequence-truncation+geometric-mask"  # type: ignore[attr-defined]
    assert (other.correction, other.steps_per_epoch) == ("none", 4)  # type: ignore[attr-defined]
    assert other.estimator_options == {"normalized": False}  # type: ignore[attr-defined]
    third = update("study-sudoku-macro-t3-outcome-rate0p5-onlynegative")
    assert third.learning_rate == plain.learning_rate / 2  # type: ignore[attr-defined]
    assert (plain.signs, third.signs) == ("both", "negative")  # type: ignore[attr-defined]


def test_an_interface_is_taught_what_it_asks_for() -> None:
    def training(name: str) -> Training:
        return resolved_training(CellJob("results", "test", parse_name(name), 0, PRESETS["smoke"]))

    plain = training("study-sudoku-macro-t3-outcome")
    split = training("study-sudoku-split-t3-outcome").sft
    assert split.modes[: len(plain.sft.modes)] == plain.sft.modes
    assert {*split.modes} - {*plain.sft.modes} == {"what", "where"}
    assert split.steps > plain.sft.steps
    assert training("study-sudoku-fixed3-t3-outcome").sft.targets.fixed_length == 3
    assert training("study-sudoku-atomic-t3-outcome").sft == plain.sft


@pytest.mark.parametrize(("multiple", "width"), [(0.5, 24), (1.0, 48), (2.0, 96)])
def test_model_widths_split_into_heads(multiple: float, width: int) -> None:
    assert widened(48, multiple) == width
    assert widened(64, multiple) % 16 == 0
