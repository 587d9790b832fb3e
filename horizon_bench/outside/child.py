"""A simulator in a process of its own, spoken to in lines of JSON: whatever happens to it, the run goes on.

The child ends when its input ends, so that it never outlives its parent, however that ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from multiprocessing.connection import wait
from typing import IO

from horizon_bench.outside.simulators import Simulator, View

_PATIENCE = 5.0
"""Seconds that a child has to end by itself."""


class ChildSimulator:
    """Speaks to a child that runs `serve`."""

    def __init__(self, module: str, arguments: Sequence[str] = (), patience: float = 900.0) -> None:
        """Start the child.

        Args:
            module: run as `python -m MODULE ARGUMENTS`; it calls `serve`.
            arguments: of the command line.
            patience: seconds that one answer may take before the child counts as hanging, and is ended.
        """
        self._patience = patience
        self._child = subprocess.Popen(
            [sys.executable, "-m", module, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf8"
        )

    @property
    def process(self) -> int:
        """Number of the child's process."""
        return self._child.pid

    def reset(self, task: str) -> View:
        """Begin a task anew."""
        return self._ask("reset", task)

    def step(self, command: str) -> View:
        """Carry out one command."""
        return self._ask("step", command)

    def close(self) -> None:
        """End the child."""
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue
        try:
            self._child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _ask(self, what: str, text: str) -> View:
        asked, answers = self._child.stdin, self._child.stdout
        if asked is None or answers is None or asked.closed:
            raise RuntimeError("the simulator is closed")
        line = ""
        # A child that has died shows at the write or at the read, whichever notices first.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            asked.write(json.dumps([what, text]) + "\n")
            asked.flush()
            if not wait([answers.fileno()], self._patience):
                self._child.kill()
                raise RuntimeError(f"the simulator's process gave no answer in {self._patience:g} s")
            line = answers.readline()
        if not line:
            raise RuntimeError(f"the simulator's process ended with status {self._child.wait(_PATIENCE)}")
        kind, content = json.loads(line)
        if kind == "error":
            raise RuntimeError(content)
        return View(**{**content, "commands": tuple(content["commands"]), "subgoals": tuple(content["subgoals"])})


def serve(start: Callable[[], Simulator], asked: IO[str] = sys.stdin, answers: IO[str] | None = None) -> None:
    """Answer a parent's questions until its input ends; an exception is told and leaves the child running.

    Args:
        start: starts the simulator that answers.
        asked: lines of JSON, `["reset", TASK]` or `["step", COMMAND]`.
        answers: lines of JSON, `["view", FIELDS]` or `["error", REASON]`; by default the output stream. What else is
            printed then goes to the error stream, so that answers alone reach the parent.
    """
    if answers is None:
        answers = os.fdopen(os.dup(1), "w", encoding="utf8")
        os.dup2(2, 1)
    simulator: Simulator | None = None
    try:
        for line in asked:
            what, text = json.loads(line)
            try:
                simulator = start() if simulator is None else simulator
                view = simulator.reset(text) if what == "reset" else simulator.step(text)
                answer = ["view", asdict(view)]
            except Exception as error:
                answer = ["error", f"{type(error).__name__}: {error}"]
            answers.write(json.dumps(answer) + "\n")
            answers.flush()
    finally:
        if simulator is not None:
            simulator.close()
