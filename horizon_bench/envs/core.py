"""The game: one episode of one puzzle under one interface, without Gymnasium, prompts or arrays.

`Game.play` reads a reply, carries out what the rules allow and says what came of it. Every environment form is a view
of this class, so that text, tokens, arrays and batches mean the same.
"""

from __future__ import annotations

from hashlib import blake2b
from math import ceil
from typing import Any

import numpy as np

from horizon_bench.envs.decisions import Decision, Snapshot
from horizon_bench.envs.instances import Prepared, Workshop
from horizon_bench.envs.interfaces import find_interface
from horizon_bench.envs.parsing import ParsedReply
from horizon_bench.envs.prompts import feedback_text, turn_text
from horizon_bench.envs.rewards import REWARDS, RewardFacts, distance_potential
from horizon_bench.envs.settings import Settings, check_count
from puzzles.base import EXACT_DISTANCE, SNAPSHOTS, Puzzle

_NOTHING = ParsedReply((), None, "", "no action found")


def hash_text(text: str) -> int:
    """Return 63 bits that name a text, the same in every process."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


class Game:
    """One episode at a time, under fixed settings."""

    def __init__(self, workshop: Workshop, settings: Settings, sample: str) -> None:
        """Set the rules.

        Args:
            workshop: puzzle, parser and prepared instances.
            settings: interface, reward, error rules and budgets.
            sample: text of any start, which shows the shape of boards.
        """
        self.sample = sample
        self.workshop = workshop
        self.puzzle = workshop.puzzle
        self.prepared: Prepared | None = None
        self.pending: str | None = None
        self.configure(settings)
        self.generator = np.random.default_rng(0)
        self.end_reason = ""
        self._told_tokens: int | None = None

    def configure(self, settings: Settings) -> None:
        """Change the settings; an episode goes on under them, a half action that was chosen is dropped.

        Raises:
            ValueError: if thoughts shall be checked and the puzzle cannot check them.
        """
        if settings.thought == "checked" and type(self.puzzle).check_thought is Puzzle.check_thought:
            raise ValueError(f"puzzle {self.puzzle.name!r} checks no thoughts; use thought='free' or 'none'")
        if settings.reward == "potential":
            self.puzzle.require(EXACT_DISTANCE, "reward 'potential'")
        self.settings = settings
        self.interface = find_interface(settings.interface)
        self._reward = REWARDS[settings.reward]
        if self.prepared is not None:
            self.pending = None
            self.max_decisions, self.max_atomic_steps = self.budgets(self.prepared)

    # ---------------------------------------------------------------- episodes

    def start(self, prepared: Prepared, generator: np.random.Generator) -> None:
        """Begin an episode.

        Args:
            prepared: the instance.
            generator: draws which actions fail; untouched if none may.
        """
        self.prepared = prepared
        self.generator = generator
        self.oracle = prepared.oracle
        self.state = prepared.start
        self.decisions = self.atomic_steps = self.tokens = 0
        self._told_tokens = None
        self.end_reason = ""
        self.pending = None
        self.memory: tuple[tuple[str, str], ...] = ()
        self.feedback, self.feedback_token = "", "<ok>"
        self.distance_to_go: int | None = prepared.distance
        self.subgoals_done = prepared.subgoals_done
        self.paid = {index for index, done in enumerate(self.subgoals_done) if done}
        self.last_move: Any = None
        self.max_decisions, self.max_atomic_steps = self.budgets(prepared)

    def budgets(self, prepared: Prepared) -> tuple[int, int]:
        """Return the budgets of an instance in decisions and in atomic steps."""
        slack = ceil(prepared.distance * self.settings.budget_slack - 1e-9)
        halves = 2 if self.interface.halves else 1
        return self.settings.max_decisions or slack * halves, self.settings.max_atomic_steps or slack

    def count_tokens(self, tokens: int) -> None:
        """Say how many tokens the next reply cost; without this its blank-separated words are counted.

        Raises:
            ValueError: if that is no whole number of at least 0.
        """
        check_count("tokens", tokens)
        self._told_tokens = int(tokens)

    def play(self, reply: str) -> Decision:
        """Read one reply, carry out what the rules allow, and return what came of it.

        Raises:
            RuntimeError: if the episode is over.
        """
        tokens = len(reply.split()) if self._told_tokens is None else self._told_tokens
        return self._decide(self._read(reply), tokens)

    def play_moves(self, moves: tuple[Any, ...]) -> Decision:
        """Play a reply that holds exactly these moves: the structured form's way in."""
        parsed = ParsedReply(tuple((move,) for move in moves), None, "", "" if moves else "no action found")
        decision = self._new_decision(parsed)
        self._check_format(decision)
        return self._decide(decision, self._told_tokens or 0)

    def _decide(self, decision: Decision, tokens: int) -> Decision:
        if self.prepared is None:
            raise RuntimeError("there is no episode yet; call reset() first")
        if self.end_reason:
            raise RuntimeError(f"the episode is over ({self.end_reason}); call reset() first")
        settings = self.settings
        self._told_tokens = None
        self.tokens += tokens
        self.decisions += 1
        before = self.distance_to_go
        scored = self.puzzle.score(self.state) if settings.reward == "score" else 0.0
        solved_at = None
        if settings.max_tokens is not None and self.tokens > settings.max_tokens:
            self.end_reason = "max_tokens"
        elif decision.format_ok and not decision.void:
            solved_at = self._carry_out(decision)
        elif settings.void_ends:
            self.end_reason = "format"
        self._close()
        self._pay(decision, before, solved_at, scored)
        self._remember(decision)
        return decision

    # ---------------------------------------------------------------- reading

    def _read(self, reply: str) -> Decision:
        """Return the decision a reply asks for, nothing carried out yet."""
        if self.interface.halves and self.prepared is not None:
            return self._read_half(reply)
        decision = self._new_decision(self.workshop.parser.parse(reply))
        self._check_format(decision)
        self._check_thought(decision)
        return decision

    def _new_decision(self, parsed: ParsedReply) -> Decision:
        actions = parsed.actions
        written = actions[0] if len(actions) == 1 else tuple([move for action in actions for move in action])
        return Decision(parsed, not parsed.problem, parsed.problem, written)

    def _check_format(self, decision: Decision) -> None:
        """Hold the number of written actions against the interface."""
        if decision.problem:
            return
        interface, count = self.interface, len(decision.written)
        if interface.single and count != 1:
            self._spoil(decision, f"{count} atomic actions where exactly one belongs")
        fixed = interface.fixed
        if fixed is not None and (count > fixed or (count < fixed and not self._finishes(decision.written))):
            self._spoil(decision, f"{count} atomic actions where exactly {fixed} belong")

    def _check_thought(self, decision: Decision) -> None:
        """Hold the thought's claims against the board."""
        if self.settings.thought != "checked" or not decision.format_ok:
            return
        thought = decision.parsed.thought
        verdict = None if thought is None else self.puzzle.check_thought(self.state, thought)
        if verdict is None:
            self._spoil(decision, "no thought with a claim that can be checked")
        elif not verdict:
            decision.void, decision.problem = True, "a claim in the thought is false"

    @staticmethod
    def _spoil(decision: Decision, problem: str) -> None:
        decision.format_ok, decision.problem = False, problem

    def _finishes(self, moves: tuple[Any, ...]) -> bool:
        """Return whether the moves, those that the rules refuse left out, end the puzzle."""
        state = self.state
        for move in moves:
            if self.puzzle.refusal(state, move) is None:
                state = self.puzzle.apply(state, move)
                if self.puzzle.solved(state):
                    return True
        return not self.workshop.plain.moves(state)

    def _read_half(self, reply: str) -> Decision:
        """Return the decision of one half of an action; the second half completes the move."""
        half = self.workshop.splitter.read(self.state, self.pending, reply)
        parsed = _NOTHING._replace(thought=half.thought, rationale=half.rationale, problem=half.problem)
        decision = self._new_decision(parsed)
        self._check_thought(decision)
        if not decision.format_ok or decision.void:
            return decision
        self.pending = half.pending
        if half.refused:
            decision.reasons.append(half.refused)
            decision.refused.append(half.text)
        if half.move is not None:
            decision.written = (half.move,)
        return decision

    # ---------------------------------------------------------------- rules

    def _carry_out(self, decision: Decision) -> int | None:
        """Carry out the written moves as far as the rules go; return the index of the solving one."""
        settings, puzzle, interface = self.settings, self.puzzle, self.interface
        if decision.refused:
            self._refuse(decision)
        for move in decision.written:
            if decision.tried == interface.most_carried or self.atomic_steps >= self.max_atomic_steps:
                break
            try:
                state = puzzle.apply(self.state, move)
            except ValueError as error:
                decision.refused.append(move)
                decision.reasons.append(puzzle.refusal(self.state, move) or str(error))
                if self._refuse(decision):
                    break
                continue
            if settings.failure_probability and self.generator.random() < settings.failure_probability:
                decision.failed += 1
                continue
            if not decision.carried:
                decision.own_subgoal = self.oracle.own_subgoal(self.state, move)
            reached = self._advance(state, move, decision)
            if puzzle.solved(state):
                self.end_reason = "solved"
                return len(decision.carried) - 1
            if self.distance_to_go is None:
                self.end_reason = puzzle.failure(state) or ("wrong" if settings.wrong_ends else "")
                if self.end_reason:
                    break
            if settings.on_error == "dead" and not self.workshop.plain.moves(state):
                self.end_reason = "dead"
                break
            if reached and settings.stop_at_subgoal:
                break
        return None

    def _refuse(self, decision: Decision) -> bool:
        """Apply the error rule to an illegal move; return whether the rest of the reply is dropped."""
        if self.settings.on_error == "strict":
            self.end_reason = "illegal"
        return self.settings.on_error != "semi"

    def _advance(self, state: Any, move: Any, decision: Decision) -> bool:
        """Take one step; return whether it reached a subgoal for the first time."""
        self.state = state
        self.last_move = move
        self.atomic_steps += 1
        decision.carried.append(move)
        self.distance_to_go = self.oracle.distance_to_go(state)
        before, paid = self.subgoals_done, self.paid
        done = self.subgoals_done = tuple(self.oracle.subgoals_done(state))
        if done == before:
            return False
        reached = False
        for index, reached_now in enumerate(done):
            if reached_now and index not in paid:
                paid.add(index)
                decision.subgoals_reached.append(index)
                decision.subgoals_at.append(len(decision.carried) - 1)
                reached = True
        return reached

    def _close(self) -> None:
        """End the episode if a budget is used up."""
        limit = self.settings.max_tokens
        if self.end_reason:
            return
        if self.decisions >= self.max_decisions:
            self.end_reason = "max_decisions"
        elif self.atomic_steps >= self.max_atomic_steps:
            self.end_reason = "max_atomic_steps"
        elif limit is not None and self.tokens >= limit:
            self.end_reason = "max_tokens"

    @property
    def terminated(self) -> bool:
        """Whether the rules have ended the episode."""
        return bool(self.end_reason) and not self.end_reason.startswith("max_")

    @property
    def truncated(self) -> bool:
        """Whether a budget has ended the episode."""
        return self.end_reason.startswith("max_")

    # ---------------------------------------------------------------- rewards and memory

    def _pay(self, decision: Decision, before: int | None, solved_at: int | None, scored: float) -> None:
        """Set the decision's rewards."""
        if not decision.format_ok or decision.void:
            decision.step_reward = -1.0
        elif decision.refused:
            decision.step_reward = -len(decision.refused) / decision.tried
        settings, before_phi, after_phi = self.settings, 0.0, 0.0
        if settings.reward == "outcome" and solved_at is None:
            return
        if settings.reward == "potential" and self.prepared is not None:
            before_phi = distance_potential(before, self.prepared.distance)
            after_phi = 0.0 if self.terminated else distance_potential(self.distance_to_go, self.prepared.distance)
        decision.reward = self._reward(
            RewardFacts(
                solved_at,
                tuple(decision.subgoals_at),
                len(self.subgoals_done),
                len(decision.carried),
                before_phi,
                after_phi,
                decision.step_reward,
                settings.gamma,
                settings.discount_inside,
                self.puzzle.score(self.state) - scored if settings.reward == "score" else 0.0,
            )
        )

    def _remember(self, decision: Decision) -> None:
        """Keep what the next observation tells of this decision."""
        if not decision.format_ok or decision.void:
            self.feedback_token = "<void>"
        else:
            self.feedback_token = "<illegal>" if decision.refused else "<ok>"
        if self.settings.observation != "text":
            return
        write, turns = self.workshop.write, self.settings.memory_turns
        self.feedback = feedback_text(write, decision, self.pending)
        self.memory = (*self.memory, turn_text(write, decision, self.pending))[-turns:] if turns else ()

    # ---------------------------------------------------------------- facts

    def state_hash(self) -> int:
        """Return 63 bits that name the state, the same in every process."""
        text = self.puzzle.format(self.state)
        return hash_text(text if self.pending is None else f"{text}\0{self.pending}")

    def snapshot(self) -> Snapshot:
        """Return everything the episode goes on from."""
        if self.prepared is None:
            raise RuntimeError("there is no episode yet; call reset() first")
        self.puzzle.require(SNAPSHOTS, "a snapshot")
        return Snapshot(
            start=self.prepared.text,
            key=self.prepared.key,
            level=self.prepared.level,
            state=self.state,
            counters=(self.decisions, self.atomic_steps, self.tokens),
            paid=frozenset(self.paid),
            pending=self.pending,
            memory=self.memory,
            feedback=self.feedback,
            feedback_token=self.feedback_token,
            end_reason=self.end_reason,
            generator=dict(self.generator.bit_generator.state),
            last_move=self.last_move,
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go on from a snapshot, the generator's state included."""
        self.start(self.workshop.prepare(snapshot), self.generator)
        self.generator.bit_generator.state = snapshot.generator
        self.state = snapshot.state
        self.decisions, self.atomic_steps, self.tokens = snapshot.counters
        self.distance_to_go = self.oracle.distance_to_go(self.state)
        self.subgoals_done = tuple(self.oracle.subgoals_done(self.state))
        self.paid = set(snapshot.paid)
        self.pending, self.memory = snapshot.pending, snapshot.memory
        self.feedback, self.feedback_token = snapshot.feedback, snapshot.feedback_token
        self.end_reason, self.last_move = snapshot.end_reason, snapshot.last_move
