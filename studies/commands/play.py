"""`horizon-bench play`: an instance in the terminal, with hints from the solver; works with piped input as well."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

HELP = """Write an action, or one of
  hint     a move on a shortest way
  undo     take the last reply back
  restart  begin again
  rules    rules and grammar
  quit     leave"""


@dataclass(frozen=True)
class Play:
    """Play an instance yourself."""

    puzzle: tyro.conf.Positional[str | None] = None
    """`sudoku`, `rush-hour`, or a puzzle of your own as `package.module:ClassName`; by default the level's."""
    level: str | None = None
    """Level; by default the puzzle's first."""
    split: str = "validation"
    """Part of the bank."""
    bank: Path | None = None
    """Bank file; by default the level's own."""
    instance: str | None = None
    """Text of a start, instead of a level."""
    interface: str = "macro"
    """How a reply maps to moves: atomic, macro, macro-capped-k, macro-fixed-k, macro-stepwise, split."""
    on_error: str = "stay"
    """What follows an error: strict, end, semi, dead, stay."""
    seed: int | None = None
    """Seed of the draw; by default another instance each time."""

    def run(self) -> int:
        """Play until the puzzle is solved, the episode is over or the input ends."""
        from horizon_bench.envs.puzzle_env import PuzzleEnv
        from studies.own_modules import import_from_here

        import_from_here()
        env = PuzzleEnv(
            puzzle=self.puzzle or self.puzzle_of_level(),
            level=self.level,
            split=self.split,
            bank=self.bank,
            instance=self.instance,
            interface=self.interface,
            on_error=self.on_error,
            budget_slack=100.0,
        )
        env.reset(seed=self.seed)
        print(f"{env.puzzle.rules()}\n\n{HELP}\n")
        return Session(env).run()

    def puzzle_of_level(self) -> str:
        """Return the puzzle that has the level, `sudoku` if none is given."""
        from curricula.levels import find_level

        return "sudoku" if self.level is None else find_level(self.level).puzzle


class Session:
    """One game at the terminal."""

    def __init__(self, env: Any) -> None:
        """Begin with an environment that has been reset."""
        self.env = env
        self.past: list[Any] = []
        self.commands = {"hint": self.hint, "undo": self.undo, "restart": self.restart, "rules": self.rules}

    def run(self) -> int:
        """Read lines until the end."""
        self.show()
        for line in self.lines():
            word = line.strip().lower()
            if word in ("quit", "exit", "q"):
                break
            if word in ("help", "?"):
                print(HELP)
            elif word in self.commands:
                self.commands[word]()
            elif word:
                self.reply(line)
            if self.env.game.end_reason:
                break
        self.summary()
        return 0

    def lines(self) -> Any:
        """Yield what the player writes, with a prompt where somebody sits there."""
        while True:
            if sys.stdin.isatty():
                print("> ", end="", flush=True)
            line = sys.stdin.readline()
            if not line:
                return
            if not sys.stdin.isatty():
                print(f"> {line.rstrip()}")
            yield line

    def reply(self, text: str) -> None:
        """Take one decision."""
        from horizon_bench.envs.prompts import feedback_text

        self.past.append(self.env.get_state())
        decision = self.env.game.play(text)
        print(feedback_text(self.env.workshop.write, decision, self.env.game.pending))
        self.show()

    def hint(self) -> None:
        """Print a move on a shortest way."""
        game = self.env.game
        moves = game.oracle.expert_moves(game.state)
        if not moves:
            print("The goal is out of reach from here: undo.")
            return
        print(f"{self.reply_for(moves)} ({game.distance_to_go} atomic actions to go)")

    def reply_for(self, moves: Sequence[Any]) -> str:
        """Return the next reply on the way of one of the moves."""
        from horizon_bench.envs.split import halves

        game = self.env.game
        if not game.interface.halves:
            return str(game.puzzle.format_action(moves[0]))
        pairs = [halves(game.puzzle, move) for move in moves]
        if game.pending is None:
            return f"what({pairs[0][0]})"
        wheres = [where for what, where in pairs if what == game.pending]
        return f"where({wheres[0]})" if wheres else "undo, the half that is chosen leads astray"

    def undo(self) -> None:
        """Take the last reply back."""
        if not self.past:
            print("There is nothing to take back.")
            return
        self.env.set_state(self.past.pop())
        self.show()

    def restart(self) -> None:
        """Begin the same instance again."""
        self.past.clear()
        self.env.reset(options={"same_instance": True})
        self.show()

    def rules(self) -> None:
        """Print the rules."""
        print(self.env.puzzle.rules())
        print(self.env.game.interface.instruction())

    def show(self) -> None:
        """Print the board."""
        game = self.env.game
        chosen = "" if game.pending is None else f"\nchosen: {game.pending}"
        print(f"\n{game.puzzle.render(game.state)}{chosen}\n")

    def summary(self) -> None:
        """Print how it went."""
        game = self.env.game
        verdict = "Solved" if game.end_reason == "solved" else f"Ended ({game.end_reason or 'left'})"
        print(
            f"{verdict}: {game.decisions} decisions, {game.atomic_steps} atomic steps; "
            f"the shortest way has {self.env.instance.distance}."
        )
