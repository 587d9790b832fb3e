"""How much of everything a study gets: `smoke` (minutes), `cpu` (about an hour on two cores), `paper` (GPUs).

A preset fixes sizes, never conditions: the same cells run under each. Torch-free, so that listing studies is quick; the
training settings that follow from a preset are made in `studies.training_settings`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from horizon_bench.mira.configs import MIRA_VARIANTS
from puzzles.names import check_name
from studies.factors import FAMILIES, TECHNIQUE_FAMILY, USUAL_FIXED, Cell
from studies.named_policies import ModelOptions
from studies.own_estimator import needs_critic


@dataclass(frozen=True)
class FamilyCost:
    """Measured seconds on one core, for estimates only."""

    sft: float
    """Supervised training of the small model."""
    update: float
    """One RL update."""
    trained_episode: float
    """One evaluation episode of the small model."""
    untrained_episode: float
    """One evaluation episode of an expert."""


@dataclass(frozen=True)
class LanguageScale:
    """What the training of a language model takes besides the sizes of a study."""

    learning_rate: float = 1e-6
    """Of RL, constant."""
    single_cap: int = 2048
    """Cap of a reply with one action, in tokens."""
    macro_cap: int = 4096
    """Cap of a macro, in tokens."""
    thinking: bool | None = True
    """Whether a model that can reason aloud does."""
    dtype: str = "float32"
    """Number format of the trained weights; bfloat16 would round steps of 1e-6 away."""
    traces: int = 4000
    """Expert traces of SFT."""
    sft_rate: float = 1e-5
    """Learning rate of SFT."""
    sft_batch: int = 32
    """Traces in an optimiser step of SFT."""
    lora_rank: int = 0
    """Rank of LoRA's matrices in SFT and RL; 0 trains all weights."""
    micro_batch: int = 4
    """Replies in one forward pass of a process."""


@dataclass(frozen=True)
class Preset:
    """Sizes of a study."""

    name: str
    family: str
    """Board and levels that studies use unless told otherwise."""
    seeds: int
    """Seeds of each cell; a seed covers SFT, RL and evaluation."""
    updates: int
    """RL updates of a cell, shared evenly by the phases of its schedule."""
    puzzles_per_update: int
    attempts_per_puzzle: int
    """Rollouts of one puzzle in an update, and its group."""
    test_puzzles: int
    """Test puzzles a level, after SFT and after RL; fewer where a bank holds fewer."""
    interval_puzzles: int
    """Validation puzzles a level at the evaluations during training."""
    evaluate_every: int
    """Updates between two evaluations during training."""
    untrained_puzzles: int
    """Test puzzles a level for policies that are not trained."""
    attempts: int = 4
    """Attempts at each test puzzle."""
    stored_puzzles: int = 4
    """Test puzzles a level whose episodes are kept whole, to look at."""
    temperature: float = 0.8
    """Of sampling, in training and evaluation."""
    model: str = "tiny"
    """`tiny`, or the name or folder of a transformers model."""
    language: LanguageScale | None = None
    """How a language model is trained; None for the small model."""
    asked: ModelOptions | None = None
    """How a policy by name is asked, where one plays; the usual way by default."""
    costs: Mapping[str, FamilyCost] | None = None
    """By family; None where nobody measured them."""

    def __post_init__(self) -> None:
        """Check that a language model, and no other, has its own settings."""
        if (self.model == "tiny") != (self.language is None):
            raise ValueError(f"preset {self.name!r} has model {self.model!r} but says not how it is trained (language)")

    def supervised_name(self, cell: Cell) -> str:
        """Return the name of the SFT that a cell starts from: equal for cells that share it."""
        parts = [
            cell.family.lower(),
            "" if cell.thought == "none" else cell.thought,
            "critic" if needs_critic(cell) else "",
            "halves" if cell.interface == "split" else "",
            f"fixed{cell.fixed_length}" if cell.fixed_length != USUAL_FIXED else "",
            f"width{cell.width:g}" if cell.width != 1 else "",
            "" if self.language is None else Path(self.model).name.lower(),
        ]
        return "-".join(part for part in parts if part)

    def sft_seconds(self, cell: Cell) -> float:
        """Return the expected seconds of the SFT that a cell starts from."""
        longer = (THOUGHT_SFT if cell.thought != "none" else 1.0) * (HALVES_SFT if cell.interface == "split" else 1.0)
        return self._cost(cell).sft * longer * max(1.0, cell.width)

    def seconds(self, cell: Cell) -> float:
        """Return the expected seconds of one seed of a cell, without the shared SFT."""
        cost = self._cost(cell)
        levels = len(FAMILIES[cell.family].levels) if cell.family in FAMILIES else 1
        if not cell.needs_sft:
            return levels * self.untrained_puzzles * self.attempts * cost.untrained_episode
        played = levels * self.attempts * self.evaluated_puzzles(cell) * cost.trained_episode
        learned = self.updates * cost.update * self._dearness(cell) if cell.trained else 0.0
        return (played + learned) * self._slowness(cell)

    def evaluated_puzzles(self, cell: Cell) -> int:
        """Return how many puzzles a level are played in all evaluations of one seed of a cell that needs SFT."""
        whole = (2 if cell.run_as else 1) * self.test_puzzles * (2 if cell.trained else 1)
        return whole + (self.interval_puzzles * (self.updates // self.evaluate_every + 1) if cell.trained else 0)

    def study_seconds(self, cells: Iterable[Cell]) -> float:
        """Return the expected seconds of one seed of some cells, each SFT counted once."""
        chosen = list(cells)
        supervised = {self.supervised_name(cell): self.sft_seconds(cell) for cell in chosen if cell.needs_sft}
        return sum(map(self.seconds, chosen)) + sum(supervised.values())

    def _dearness(self, cell: Cell) -> float:
        """Return how many times longer the updates of the cell's estimator take than plain ones."""
        if cell.credit.estimator in MIRA_VARIANTS:
            return CRITICS_AND_REPLAY
        return ROLLOUT_VALUES if cell.credit.estimator == "vineppo" else 1.0

    def _slowness(self, cell: Cell) -> float:
        return (THOUGHT_PLAY if cell.thought != "none" else 1.0) * max(1.0, cell.width)

    def _cost(self, cell: Cell) -> FamilyCost:
        costs = self.costs or {}
        return costs.get(cell.family) or FamilyCost(120.0, 2.0, 0.01, 0.01)


THOUGHT_SFT, THOUGHT_PLAY = 6.0, 3.0
"""How many times longer SFT and everything else take with thoughts; measured on 4x4."""
HALVES_SFT = 5.0
"""How many times longer SFT takes where it teaches the halves of actions as well."""
CRITICS_AND_REPLAY = 2.6
"""How many times longer an update of MiRA takes, though it plays half as many episodes; measured on 4x4."""
ROLLOUT_VALUES = 20.0
"""How many times longer an update takes whose values come from rollouts; 16 measured on 4x4 with short episodes."""
COSTS = {
    "t": FamilyCost(20.0, 0.55, 0.002, 0.001),
    "m": FamilyCost(120.0, 2.0, 0.008, 0.004),
    "l": FamilyCost(600.0, 6.0, 0.03, 0.006),
    "r": FamilyCost(300.0, 3.0, 0.02, 0.004),
    "s": FamilyCost(17.0, 0.8, 0.004, 0.001),
    TECHNIQUE_FAMILY: FamilyCost(600.0, 8.0, 0.04, 0.008),
}

PRESETS: dict[str, Preset] = {
    "smoke": Preset(
        name="smoke",
        family="t",
        seeds=1,
        updates=60,
        puzzles_per_update=48,
        attempts_per_puzzle=4,
        test_puzzles=100,
        interval_puzzles=25,
        evaluate_every=10,
        untrained_puzzles=20,
        costs=COSTS,
    ),
    "cpu": Preset(
        name="cpu",
        family="t",
        seeds=3,
        updates=80,
        puzzles_per_update=48,
        attempts_per_puzzle=4,
        test_puzzles=200,
        interval_puzzles=50,
        evaluate_every=10,
        untrained_puzzles=100,
        costs=COSTS,
    ),
    "paper": Preset(
        name="paper",
        family="l",
        seeds=3,
        updates=80,
        puzzles_per_update=64,
        attempts_per_puzzle=4,
        test_puzzles=100,
        interval_puzzles=25,
        evaluate_every=20,
        untrained_puzzles=100,
        model="Qwen/Qwen3-1.7B",
        language=LanguageScale(),
    ),
}


def find_preset(name: str) -> Preset:
    """Return a preset by name; an unknown one raises `ValueError` that names the nearest."""
    return PRESETS[check_name("preset", name, PRESETS)]


MAY_BE_ZERO = ("lora_rank", "stored_puzzles")
"""Sizes that may be 0; all others are above."""


def resized(preset: Preset, changes: Iterable[str]) -> Preset:
    """Return the preset with other sizes.

    >>> resized(find_preset("paper"), ["test_puzzles=2", "traces=16"]).language.traces
    16

    Args:
        preset: any preset.
        changes: sizes as NAME=VALUE; a name is a numeric field of `Preset` or, of a language model, `LanguageScale`.

    Raises:
        ValueError: for an unknown name, naming the nearest, or a value that is no size.
    """
    for change in changes:
        name, _, text = change.partition("=")
        holders = [holder for holder in (preset, preset.language) if holder is not None]
        numbers: dict[str, Any] = {
            field.name: holder
            for holder in holders
            for field in fields(holder)
            if type(getattr(holder, field.name)) in (int, float)
        }
        holder = numbers[check_name("size", name, numbers)]
        changed = replace(holder, **{name: _size(name, text, type(getattr(holder, name)))})
        preset = changed if holder is preset else replace(preset, language=changed)
    return preset


def _size(name: str, text: str, kind: type[int] | type[float]) -> float:
    """Return the number that a text names."""
    try:
        value = kind(text)
    except ValueError:
        value = kind(-1)
    if not 0 < value < float("inf") and not (value == 0 and name in MAY_BE_ZERO):
        least = "0 or more" if name in MAY_BE_ZERO else "above 0"
        raise ValueError(f"{name} is {text!r}, must be {'a whole number' if kind is int else 'a number'}, {least}")
    return value
