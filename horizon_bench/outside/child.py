"""A simulator in a process of its own, spoken to in lines of JSON: whatever happens to it, the run goes on.

The child ends when its input ends, so that it never outlives its parent, however that ends.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import wait
from pathlib import Path

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
        # It finds the modules that this process finds, a script's own folder included.
        places = filter(None, [os.environ.get("PYTHONPATH", ""), *sys.path])
        self._child = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
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
                with suppress(BrokenPipeError):
                    pipe.close()
        try:
            self._child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()

    def _ask(self, what: str, text: str) -> View:
        asked, answers = self._child.stdin, self._child.stdout
        if asked is None or answers is None or asked.closed:
            raise RuntimeError("the simulator is closed")
        line = bytearray()
        # A child that has died shows at the write or at the read, whichever notices first.
        with suppress(BrokenPipeError, ConnectionResetError):
            asked.write(json.dumps([what, text]).encode() + b"\n")
            asked.flush()
            line = self._line(answers.fileno())
        if not line.endswith(b"\n"):
            raise RuntimeError(f"the simulator's process ended with status {self._child.wait(_PATIENCE)}")
        kind, content = json.loads(line)
        if kind == "error":
            raise RuntimeError(content)
        return View(**{**content, "commands": tuple(content["commands"]), "subgoals": tuple(content["subgoals"])})

    def _line(self, answers: int) -> bytearray:
        """Return what the child tells, up to the end of the line, or of the child."""
        line, limit = bytearray(), time.monotonic() + self._patience
        while not line.endswith(b"\n"):
            if not wait([answers], max(0.0, limit - time.monotonic())):
                self._child.kill()
                raise RuntimeError(f"the simulator's process gave no answer in {self._patience:g} s")
            part = os.read(answers, 2**16)
            if not part:
                break
            line += part
        return line


def serve(start: Callable[[], Simulator]) -> None:
    """Answer a parent's questions until its input ends; an exception is told and leaves the child running.

    Questions are lines of JSON, `["reset", TASK]` or `["step", COMMAND]`; so are the answers, `["view", FIELDS]` or
    `["error", REASON]`. Nothing else comes between: a simulator that reads its input finds it empty, and what it prints
    goes to the error stream.

    Args:
        start: starts the simulator that answers.
    """
    # Ctrl-C reaches the child as well; its parent decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asked, answers = os.fdopen(os.dup(0), encoding="utf8"), os.fdopen(os.dup(1), "w", encoding="utf8")
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)
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
