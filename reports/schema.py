"""The rows that a study leaves behind, as frozen dataclasses: the one border between running and reporting.

Nothing here touches a file (`reports.records` does) or computes a statistic. A wall-clock figure stands in a
`TimingRecord` only, so that every other record is identical for the same seed.
"""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from horizon_bench.episodes import Episode
from reports.failures import classify
from reports.migration import upgraded

SCHEMA_VERSION = 2
"""Version of every record below; raised whenever a field changes its name, unit or meaning. What changed, and how older
records are read, stands in `reports.migration`."""


@dataclass(frozen=True, slots=True)
class EvaluationRecord:
    """One attempt of one policy at one puzzle."""

    kind: ClassVar[str] = "evaluation"

    study: str
    """Name of the study, the results folder's first level."""
    cell: str
    """Name of the cell, the folder's second level and the join key of everything."""
    seed: int
    """Seed of the run, the folder's third level."""
    phase: str
    """What the policy had been through: `expert`, `random`, `noisy-expert`, `sft`, `rl`, ..."""
    update: int
    """RL updates made before this evaluation; 0 before the first."""
    puzzle: str
    """Name of the puzzle."""
    interface: str
    """Interface the policy was evaluated through; may differ from the one it was trained through."""
    level: str
    """Level of the instance, or `-`."""
    distance: int
    """Goal distance of the start, in atomic actions."""
    instance_key: str
    """Content key of the instance."""
    attempt: int
    """Index of the attempt at this instance, from 0."""
    solved: bool
    """Whether the goal was reached."""
    decisions: int
    """Replies of the policy."""
    atomic_steps: int
    """Primitive moves carried out."""
    tokens: int
    """Tokens the policy generated."""
    end_reason: str
    """`solved`, `wrong`, `illegal`, `format`, `dead`, `max_decisions`, `max_atomic_steps`, `max_tokens`."""
    terminated: bool = True
    """Ended by the rules."""
    truncated: bool = False
    """Ended by a budget."""
    split: str = "test"
    """Split of the instance: `validation` for evaluations during training, `test` for the scores that are reported."""
    technique: str = "-"
    """Hardest technique the instance needs, or `-` where it has no grade."""
    variant: str = ""
    """How this evaluation differs from the cell's own settings, as readable text (`slip=0.05`); "" if it does not."""
    actions_written: int = 0
    """Atomic actions the replies asked for."""
    illegal_actions: int = 0
    """Atomic actions that the rules refused."""
    lost_decisions: int = 0
    """Decisions whose reply did not follow the grammar of the interface, or was voided by a false thought."""
    capped_decisions: int = 0
    """Decisions whose reply hit the token cap."""
    subgoals_reached: int = 0
    """Subgoals completed."""
    distance_left: int | None = None
    """Goal distance at the end, in atomic actions; None if the goal was out of reach."""
    failure: str = ""
    """Why it failed, a key of `reports.failures.CLASSES`; "" if solved, or recorded before there were classes."""
    divergence: int | None = None
    """Atomic steps carried out before the first move off the expert's way; None if no move left it."""

    @classmethod
    def from_episode(
        cls,
        episode: Episode,
        *,
        study: str,
        cell: str,
        seed: int,
        phase: str,
        update: int,
        puzzle: str,
        interface: str,
        split: str = "test",
        technique: str = "-",
        variant: str = "",
        divergence: int | None = None,
    ) -> EvaluationRecord:
        """Return the record of `episode`; the keywords say where it comes from, and where it left the expert's way."""
        turns = episode.turns
        return cls(
            study=study,
            cell=cell,
            seed=seed,
            phase=phase,
            update=update,
            puzzle=puzzle,
            interface=interface,
            level=episode.level,
            distance=episode.distance,
            instance_key=episode.instance_key,
            attempt=episode.attempt,
            solved=episode.solved,
            decisions=episode.decisions,
            atomic_steps=episode.atomic_steps,
            tokens=episode.tokens,
            end_reason=episode.end_reason,
            terminated=episode.terminated,
            truncated=episode.truncated,
            split=split,
            technique=technique,
            variant=variant,
            actions_written=sum(turn.actions_written for turn in turns),
            illegal_actions=sum(turn.illegal_actions for turn in turns),
            lost_decisions=sum(turn.lost for turn in turns),
            capped_decisions=sum(turn.capped for turn in turns),
            subgoals_reached=sum(len(turn.subgoals_reached) for turn in turns),
            distance_left=turns[-1].distance_after if turns else episode.distance,
            failure=classify(episode).failure,
            divergence=divergence,
        )


@dataclass(frozen=True, slots=True)
class UpdateRecord:
    """What one training update measured."""

    kind: ClassVar[str] = "update"

    study: str
    cell: str
    seed: int
    phase: str
    """`sft` or `rl`."""
    update: int
    """Index of the update in its phase, from 1."""
    level: str
    """Levels trained on at this update, joined by `+`; a change of level is no collapse."""
    metrics: Mapping[str, float]
    """Flat measurements. Read by the collapse detector and the figures, where present: `success` (share of the
    rollout's episodes solved), `episodes`, `groups`, `group_reward_std` (mean within-group standard deviation),
    `capped_share`, `invalid_share` (illegal over written actions), `voided_share` (lost over all decisions),
    `gradient_norm`, `effective_sample_size` (over the sample size, so 0 to 1), `approximate_kl` (sampling against
    trained policy, nats a token), `entropy` (nats a token), `macro_length` (actions a decision), `loss`, `masked_share`
    (replies that the correction left out), and the diagnostics of `reports.diagnostics.DIAGNOSTICS`."""
    total_tokens: int = 0
    """Tokens generated in training so far, this update included."""
    total_environment_calls: int = 0
    """Decisions that the training environments carried out so far."""
    total_atomic_steps: int = 0
    """Primitive moves that the training environments carried out so far."""


@dataclass(frozen=True, slots=True)
class CollapseRecord:
    """One finding of the collapse detector."""

    kind: ClassVar[str] = "collapse"

    study: str
    cell: str
    seed: int
    phase: str
    criterion: str
    """Name of the criterion, a key of `reports.collapse.CRITERIA`."""
    level: str
    """Level whose evaluations show it; `all` (all evaluations pooled) or `rollout` (the training episodes)."""
    fatal: bool
    """Whether this criterion alone makes the run a collapsed one; otherwise it is a warning."""
    onset: int
    """Update of the first measurement that fulfilled the criterion."""
    update: int
    """Update at which the criterion was fulfilled for as long as it asks."""
    value: float
    """What was measured there."""
    threshold: float
    """What it was compared with."""
    message: str
    """The finding as one sentence."""
    checkpoint: str = ""
    """Checkpoint kept from before the onset, relative to the run's folder; "" if none was."""


@dataclass(frozen=True, slots=True)
class TimingRecord:
    """Seconds that a part of a run took; stands in `timings.jsonl`, never among the records."""

    kind: ClassVar[str] = "timing"

    study: str
    cell: str
    seed: int
    phase: str
    """`sft`, `rl` or `evaluation`."""
    update: int
    """Update the part ended with."""
    seconds: float
    """Wall-clock seconds of this part."""
    total_seconds: float
    """Wall-clock seconds of training so far, over every resumed part; evaluation does not count."""
    rollout_seconds: float = 0.0
    """Wall-clock seconds of this part that rollouts took."""
    decisions_per_second: float = 0.0
    """Replies of the policy in these rollouts, by second; 0 if nothing was played, or recorded before there was one."""
    tokens_per_second: float = 0.0
    """Tokens that the policy generated in these rollouts, by second."""
    split: str = ""
    """Of an evaluation: split of its instances; "" for training, or recorded before there was one."""


@dataclass(frozen=True, slots=True)
class CellRecord:
    """The whole of `cell.json`: what ran, with every setting resolved."""

    kind: ClassVar[str] = "cell"

    study: str
    cell: str
    seed: int
    label: str
    """The condition as a reader calls it (`macro + subgoals, trained on T3`)."""
    puzzle: str
    size: int
    """Rows of the board."""
    interface: str
    reward: str
    """Reward scheme (`outcome`, `subgoal`, ...)."""
    estimator: str
    train_levels: tuple[str, ...]
    """Levels trained on, in order; () for an untrained policy."""
    test_levels: tuple[str, ...]
    policy: str = "tiny"
    """Name of the policy."""
    preset: str = ""
    device: str = "cpu"
    commit: str = ""
    """Revision of the source, or "" where it is unknown."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Every other setting, resolved, as nested JSON values."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of Python and of the packages that matter."""


Record = EvaluationRecord | UpdateRecord | CollapseRecord | TimingRecord | CellRecord

KINDS: dict[str, type[Record]] = {
    record.kind: record for record in (EvaluationRecord, UpdateRecord, CollapseRecord, TimingRecord, CellRecord)
}
"""Every kind of record by its name in a file."""

_ANNOTATIONS = {name: {item.name: str(item.type) for item in dataclasses.fields(kind)} for name, kind in KINDS.items()}
_GOOD_SHAPES: set[tuple[object, ...]] = set()
"""Names and types of fields that were found right in an evaluation record, of which there are many alike."""
_NOT_FINITE = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}
_EXACT: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "str": (str,),
    "int | None": (int, type(None)),
    "bool": (bool,),
}


def in_short(value: Any) -> str:
    """Return a value as text that fits on a line, however large it is."""
    text = repr(value) if not isinstance(value, str | list | dict) else reprlib.repr(value)
    return text if len(text) <= 80 else f"{text[:80]}..."


def encode(record: Record) -> dict[str, Any]:
    """Return `record` as JSON values, its kind and the schema version first."""
    values = {item.name: _plain(getattr(record, item.name)) for item in dataclasses.fields(record)}
    return {"kind": record.kind, "schema": SCHEMA_VERSION, **values}


def decode(values: Any) -> Record:
    """Return the record that `encode` made into `values`.

    Raises:
        ValueError: if the kind, schema version, a field's name or a field's type is not ours; the message says which.
    """
    if not isinstance(values, dict):
        raise ValueError(f"a record is a JSON object, not {type(values).__name__}")
    if values.get("schema") != SCHEMA_VERSION:
        values = upgraded(values, SCHEMA_VERSION)
    kind = KINDS.get(str(values.get("kind")))
    if kind is None:
        raise ValueError(f"unknown record kind {in_short(values.get('kind'))}; known: {', '.join(KINDS)}")
    given = values.copy()
    del given["kind"], given["schema"]
    arguments = given if kind is EvaluationRecord else _converted(kind, given)
    if kind is EvaluationRecord and (shape := (*given, *map(type, given.values()))) not in _GOOD_SHAPES:
        _converted(kind, given)
        _GOOD_SHAPES.add(shape)
    try:
        return kind(**arguments)
    except TypeError as error:
        raise ValueError(f"a record of kind {kind.kind!r} lacks a field: {error}") from error


def _converted(kind: type[Record], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a record as their types, or raise `ValueError` for one that is unknown or of another."""
    known = _ANNOTATIONS[kind.kind]
    if unknown := sorted(given.keys() - known.keys()):
        raise ValueError(f"unknown field {in_short(unknown[0])} in a record of kind {kind.kind!r}")
    return {name: _checked(name, known[name], value) for name, value in given.items()}


def _plain(value: Any) -> Any:
    """Return `value` as strict JSON: numpy scalars unwrapped, numbers that JSON cannot hold as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item") and not isinstance(value, str | bytes):
        value = value.item()
    if isinstance(value, float) and not -float("inf") < value < float("inf"):
        return repr(value)
    return value


def _checked(name: str, annotation: str, value: Any) -> Any:
    """Return a field's value as its type, or raise `ValueError` if it is of another one."""
    if annotation in _EXACT:
        if type(value) not in _EXACT[annotation]:
            raise ValueError(f"field {name!r} must be {annotation}, not {in_short(value)}")
        return value
    if annotation.startswith("tuple"):
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise ValueError(f"field {name!r} must be a list of texts, not {in_short(value)}")
        return tuple(value)
    if annotation == "float":
        return _number(name, value)
    if not isinstance(value, dict):
        raise ValueError(f"field {name!r} must be an object, not {in_short(value)}")
    floats = annotation == "Mapping[str, float]"
    return {key: _number(f"{name}.{key}", item) for key, item in value.items()} if floats else value


def _number(name: str, value: Any) -> float:
    if isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"field {name!r} must be a number, not {in_short(value)}")
    return float(value)
