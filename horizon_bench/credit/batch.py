"""What every estimator sees: one rollout batch as flat arrays over decisions, episodes marked by offsets.

No environment, model or configuration enters here, so that an estimator is a pure function of numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from horizon_bench.episodes import Episode, Turn
from puzzles.names import check_name

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Scalar = TypeVar("Scalar", bound=np.generic)

LARGEST = 1e305
"""Largest size of a reward or value; sums and differences of such numbers stay finite."""

Ragged = Sequence[Sequence[float]]
"""One inner sequence for each episode, one number for each decision."""


@dataclass(frozen=True)
class CreditBatch:
    """A ragged batch of episodes; `turns` is the number of decisions of all episodes together.

    Episode e owns the decisions `offsets[e]` .. `offsets[e + 1] - 1`, in time order. Lists are taken as well as
    arrays; whatever has the wrong shape, or is no finite number of a size up to 1e305, is refused with a `ValueError`.
    """

    offsets: IntArray
    """Shape [episodes + 1]; first entry 0, last entry `turns`, never decreasing."""
    group: IntArray
    """Shape [episodes]; episodes of one group start from the same instance."""
    rewards: FloatArray
    """Task reward of each decision (outcome: 1 at the solving decision), shape [turns].

    NaN marks an episode that could not be scored: estimators that compare the scores of whole episodes leave it out and
    give it 0, the others refuse it.
    """
    step_rewards: FloatArray
    """Format and legality reward of each decision, shape [turns]."""
    subgoals_reached: IntArray
    """How many subgoals each decision completed for the first time, shape [turns]."""
    own_subgoal_turn: IntArray
    """Index within the episode of the decision that completed the subgoal this decision worked on, shape [turns].

    -1 if that subgoal was never completed, or was complete before.
    """
    states: IntArray
    """Hash of the state each decision saw, shape [turns]."""
    actions: IntArray
    """Hash of each decision's carried-out moves, shape [turns]."""
    terminated: BoolArray
    """Whether the episode ended by the rules (solved or dead), not by a budget, shape [episodes]."""
    values: FloatArray | None = None
    """Value of the state each decision saw, by a critic or by rollouts, shape [turns]; for estimators that need one."""
    final_values: FloatArray | None = None
    """Critic's value of the state after the last decision, shape [episodes]; 0 counts for terminated ones."""

    def __post_init__(self) -> None:
        """Convert lists to arrays, check every shape and number."""
        _convert(self, "offsets", np.int64)
        episodes = len(self.offsets) - 1
        if self.offsets.ndim != 1 or episodes < 0 or self.offsets[0] != 0 or np.any(np.diff(self.offsets) < 0):
            raise ValueError(f"offsets must rise from 0 without ever decreasing, got {self.offsets.tolist()[:8]}")
        turns = int(self.offsets[-1])
        for name, kind in _PER_EPISODE.items():
            _convert(self, name, kind, episodes, "one entry for each episode")
        for name, kind in _PER_TURN.items():
            _convert(self, name, kind, turns, "one entry for each decision (the last offset)")
        for name, kind in (_PER_TURN | _PER_EPISODE).items():
            if kind is np.float64:
                _check_size(self, name)
        _check_subgoals(self)

    @property
    def episodes(self) -> int:
        """Number of episodes."""
        return len(self.group)

    @property
    def turns(self) -> int:
        """Number of decisions of all episodes together."""
        return int(self.offsets[-1])

    @property
    def lengths(self) -> IntArray:
        """Number of decisions of each episode, shape [episodes]."""
        return np.diff(self.offsets)

    @property
    def episode_of_turn(self) -> IntArray:
        """Index of the episode each decision belongs to, shape [turns]."""
        return np.repeat(np.arange(self.episodes), self.lengths)

    @property
    def turn_in_episode(self) -> IntArray:
        """Index of each decision within its episode, shape [turns]."""
        return np.arange(self.turns) - np.repeat(self.offsets[:-1], self.lengths)

    @property
    def group_of_turn(self) -> IntArray:
        """Group of the episode each decision belongs to, shape [turns]."""
        return self.group[self.episode_of_turn]

    @classmethod
    def from_episodes(
        cls, episodes: Sequence[Episode], values: ArrayLike | None = None, final_values: ArrayLike | None = None
    ) -> CreditBatch:
        """Return the batch that holds the credit-relevant facts of some episodes.

        Args:
            episodes: what a rollout returned, in any order of groups.
            values: value of the state that each decision saw, shape [turns], decisions in the episodes' order.
            final_values: value of the state after each episode's last decision, shape [episodes].

        Raises:
            ValueError: if `values` or `final_values` has another length.
        """
        turns = [turn for episode in episodes for turn in episode.turns]
        known: dict[tuple[str, ...], int] = {}
        return cls(
            offsets=np.cumsum([0, *(len(episode.turns) for episode in episodes)]),
            group=np.array([episode.group for episode in episodes], dtype=np.int64),
            rewards=np.array([turn.reward for turn in turns], dtype=np.float64),
            step_rewards=np.array([turn.step_reward for turn in turns], dtype=np.float64),
            subgoals_reached=np.array([len(turn.subgoals_reached) for turn in turns], dtype=np.int64),
            own_subgoal_turn=np.array(
                [index for episode in episodes for index in _own_subgoal_turns(episode.turns)], dtype=np.int64
            ),
            states=np.array([_signed(turn.state_hash) for turn in turns], dtype=np.int64),
            actions=np.array([_moves_hash(turn.moves, known) for turn in turns], dtype=np.int64),
            terminated=np.array([episode.terminated for episode in episodes], dtype=np.bool_),
            values=None if values is None else np.asarray(values, dtype=np.float64),
            final_values=None if final_values is None else np.asarray(final_values, dtype=np.float64),
        )

    @classmethod
    def from_ragged(
        cls,
        rewards: Ragged,
        *,
        group: Sequence[Hashable] | None = None,
        step_rewards: Ragged | None = None,
        subgoals_reached: Sequence[Sequence[int]] | None = None,
        own_subgoal_turn: Sequence[Sequence[int]] | None = None,
        states: Sequence[Sequence[Hashable]] | None = None,
        actions: Sequence[Sequence[Hashable]] | None = None,
        terminated: Sequence[bool] | None = None,
        values: Ragged | None = None,
        final_values: Sequence[float] | None = None,
    ) -> CreditBatch:
        """Return a batch from lists of lists, for hand-made examples and other people's rollouts.

        Args:
            rewards: task reward of each decision, a list for each episode.
            group: any label for each episode; all one group where left out.
            step_rewards: format and legality rewards; zeros where left out.
            subgoals_reached: subgoals completed by each decision; zeros where left out.
            own_subgoal_turn: see the field; never completed where left out.
            states: any hashable label of each decision's state; all different where left out.
            actions: any hashable label of each decision's action; all different where left out.
            terminated: true for every episode where left out.
            values: see the field.
            final_values: see the field.
        """
        lengths = [len(row) for row in rewards]
        tails = None if final_values is None else np.asarray(final_values, dtype=np.float64)
        return cls(
            offsets=np.cumsum([0, *lengths]),
            group=np.zeros(len(lengths), dtype=np.int64) if group is None else number_labels(group),
            rewards=_flat_numbers(rewards, lengths, 0.0),
            step_rewards=_flat_numbers(step_rewards, lengths, 0.0),
            subgoals_reached=_flat_numbers(subgoals_reached, lengths, 0).astype(np.int64),
            own_subgoal_turn=_flat_numbers(own_subgoal_turn, lengths, -1).astype(np.int64),
            states=_flat_labels(states, lengths),
            actions=_flat_labels(actions, lengths),
            terminated=np.ones(len(lengths), dtype=np.bool_) if terminated is None else np.asarray(terminated),
            values=None if values is None else _flat_numbers(values, lengths, 0.0),
            final_values=tails,
        )

    @classmethod
    def from_padded(
        cls, mask: ArrayLike, per_turn: Mapping[str, ArrayLike], per_episode: Mapping[str, ArrayLike] | None = None
    ) -> CreditBatch:
        """Return a batch from padded arrays.

        Args:
            mask: true where a decision was taken, shape [episodes, decisions]; every row's decisions come first.
            per_turn: fields of this class by name, each of shape [episodes, decisions]; `rewards` must be among them.
            per_episode: fields by name, each of shape [episodes]: `group`, `terminated`, `final_values`.

        Raises:
            ValueError: if a row takes a decision behind its padding, or a name or shape is wrong.
        """
        taken = np.asarray(mask, dtype=np.bool_)
        if taken.ndim != 2 or np.any(taken[:, 1:] & ~taken[:, :-1]):
            raise ValueError("mask must have shape [episodes, decisions] with every row's decisions before its padding")
        for name in per_turn:
            check_name("field of per_turn", name, _PER_TURN)
        for name in per_episode or {}:
            check_name("field of per_episode", name, _PER_EPISODE)
        if "rewards" not in per_turn:
            raise ValueError("per_turn lacks `rewards`")
        arrays = {name: np.asarray(value) for name, value in per_turn.items()}
        for name, array in arrays.items():
            if array.shape != taken.shape:
                raise ValueError(f"{name} has shape {array.shape}, but the mask has {taken.shape}")
        rows = {
            name: [row[kept].tolist() for row, kept in zip(array, taken, strict=True)] for name, array in arrays.items()
        }
        batch = cls.from_ragged(**rows)
        return replace(batch, **{name: np.asarray(value) for name, value in (per_episode or {}).items()})

    def padded(self, per_turn: NDArray[Scalar], fill: float = 0.0) -> NDArray[Scalar]:
        """Return a flat array over decisions padded to shape [episodes, longest episode]."""
        inside = np.arange(self.lengths.max(initial=0)) < self.lengths[:, None]
        result = np.full(inside.shape, fill, dtype=per_turn.dtype)
        result[inside] = per_turn
        return result

    def split(self, per_turn: NDArray[Scalar]) -> list[NDArray[Scalar]]:
        """Return a flat array over decisions as one array for each episode."""
        return np.split(per_turn, self.offsets[1:-1]) if self.episodes else []


_PER_EPISODE = {"group": np.int64, "terminated": np.bool_, "final_values": np.float64}
_PER_TURN = {
    "rewards": np.float64,
    "step_rewards": np.float64,
    "subgoals_reached": np.int64,
    "own_subgoal_turn": np.int64,
    "states": np.int64,
    "actions": np.int64,
    "values": np.float64,
}


def number_labels(labels: Sequence[Hashable]) -> IntArray:
    """Return a number for each label, equal for equal labels, in order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)


def _convert(batch: CreditBatch, name: str, kind: type, length: int | None = None, rule: str = "") -> None:
    value = getattr(batch, name)
    if value is None:
        return
    array: NDArray[Any] = np.asarray(value, dtype=kind)
    if length is not None and array.shape != (length,):
        raise ValueError(f"{name} has shape {array.shape}, but the offsets ask for ({length},): {rule}")
    object.__setattr__(batch, name, array)


def _check_size(batch: CreditBatch, name: str) -> None:
    array = getattr(batch, name)
    if array is None:
        return
    wrong = ~(np.abs(array) <= LARGEST)
    if name == "rewards":
        wrong &= ~np.isnan(array)
    if name == "final_values":
        wrong &= ~batch.terminated
    if np.any(wrong):
        entry = int(np.flatnonzero(wrong)[0])
        raise ValueError(f"{name} hold {array[entry]} at entry {entry}, but must be numbers of a size up to {LARGEST}")


def _check_subgoals(batch: CreditBatch) -> None:
    reached = batch.subgoals_reached
    if np.any(reached < 0):
        turn = int(np.flatnonzero(reached < 0)[0])
        raise ValueError(f"subgoals_reached of decision {turn} is {int(reached[turn])}: no decision undoes one")
    own, lengths = batch.own_subgoal_turn, np.repeat(batch.lengths, batch.lengths)
    wrong = (own >= lengths) | ((own >= 0) & (own < batch.turn_in_episode)) | (own < -1)
    if np.any(wrong):
        turn = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            f"own_subgoal_turn of decision {turn} is {int(own[turn])}: it counts within the episode, "
            "cannot lie before the decision or after the episode's end, and is -1 for a subgoal never completed"
        )


def _flat_numbers(rows: Ragged | None, lengths: list[int], fill: float) -> FloatArray:
    if rows is None:
        return np.full(sum(lengths), float(fill))
    _check_lengths(rows, lengths)
    return np.array([item for row in rows for item in row], dtype=np.float64)


def _flat_labels(rows: Sequence[Sequence[Hashable]] | None, lengths: list[int]) -> IntArray:
    if rows is None:
        return np.arange(sum(lengths))
    _check_lengths(rows, lengths)
    return number_labels([item for row in rows for item in row])


def _check_lengths(rows: Sequence[Sequence[Hashable]], lengths: list[int]) -> None:
    found = [len(row) for row in rows]
    if found != lengths:
        raise ValueError(f"episodes have lengths {lengths[:8]}, but one argument has rows of lengths {found[:8]}")


def _own_subgoal_turns(turns: Sequence[Turn]) -> list[int]:
    completed_at: dict[int, int] = {}
    for index, turn in enumerate(turns):
        for subgoal in turn.subgoals_reached:
            completed_at.setdefault(subgoal, index)
    own = [-1 if turn.own_subgoal is None else completed_at.get(turn.own_subgoal, -1) for turn in turns]
    return [done if done >= index else -1 for index, done in enumerate(own)]


def _signed(value: int) -> int:
    return (int(value) + 2**63) % 2**64 - 2**63


def _moves_hash(moves: tuple[str, ...], known: dict[tuple[str, ...], int]) -> int:
    if moves not in known:
        digest = hashlib.blake2b("\n".join(moves).encode(), digest_size=8).digest()
        known[moves] = int.from_bytes(digest, "big", signed=True)
    return known[moves]
