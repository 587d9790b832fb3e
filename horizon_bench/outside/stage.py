"""Keeps simulators running and brings one to the state that is asked for: the live part behind a pure puzzle."""

from __future__ import annotations

import logging
import os
import weakref
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from horizon_bench.outside.commands import tidy, writable
from horizon_bench.outside.simulators import Simulator, Trail, View

_LOG = logging.getLogger(__name__)
_MOST_VIEWS = 4096
_MOST_COMMANDS = 2_000_000
"""In all views that are kept: some worlds list thousands in each."""
AnswerT = TypeVar("AnswerT")


class CrashError(ChildProcessError):
    """A simulator that goes down where no episode can carry the failure: twice in a row at the start of a task."""


class Stage:
    """Simulators of one world, each somewhere on a trail, and the views seen so far.

    A command that follows on a live trail is one step; any other state is reached by playing its trail again. Nothing
    starts before it is needed, at most `most_live` simulators run, and all end with the stage, the process, or `close`.
    """

    def __init__(self, start: Callable[[], Simulator], most_live: int = 1, refusals_are_free: bool = False) -> None:
        """Hold the recipe of a simulator.

        Args:
            start: starts one.
            most_live: how many run side by side at most.
            refusals_are_free: a refused command leaves the simulator as it was.
        """
        self._start = start
        self._most_live = most_live
        self._refusals_are_free = refusals_are_free
        self._live: list[tuple[Trail | None, Simulator]] = []
        self._views: OrderedDict[Trail, View] = OrderedDict()
        self._commands = 0
        self._process = os.getpid()
        self._finalizer = weakref.finalize(self, _close_all, self._live, self._process)
        self._finalizer.atexit = True

    def view(self, trail: Trail) -> View:
        """Return what the world tells at the end of a trail.

        Raises:
            CrashError: if the world goes down at the start of a task, also after a fresh start.
        """
        if trail.crash:
            return _crashed(trail.crash)
        known = self._views.get(trail)
        if known is not None:
            self._views.move_to_end(trail)
            return known
        if trail.commands:
            return self.step(Trail(trail.task, trail.commands[:-1]), trail.commands[-1])
        simulator = self._replayed(trail)
        if isinstance(simulator, str):
            simulator = self._replayed(trail)
        if isinstance(simulator, str):
            raise CrashError(f"task {trail.task!r} cannot be started: {simulator}")
        self._live.append((trail, simulator))
        return self._views[trail]

    def step(self, trail: Trail, command: str) -> View:
        """Return what the world tells of one more command; a refused one leaves the trail as it is.

        A world that goes down gives a view with `crash`, which is not kept: the same step may succeed another time.
        """
        after = Trail(trail.task, (*trail.commands, command))
        known = self._views.get(after)
        if known is not None:
            self._views.move_to_end(after)
            return known
        simulator = self._at(trail)
        if isinstance(simulator, str):
            return _crashed(simulator)
        try:
            view = _told(simulator, lambda one: _taken(one.step(command)))
        except Exception as error:
            return _crashed(self._drop(simulator, error))
        stands = after if not view.refused else trail if self._refusals_are_free else None
        self._live.append((stands, simulator))
        return self._keep(after, view)

    def ask(self, trail: Trail, question: Callable[[Any], AnswerT], stays: bool = True) -> AnswerT:
        """Return what the simulator at the end of a trail answers to a question of its own.

        Where one goes down a fresh one is asked: no command is at stake, so no episode has failed.

        Args:
            trail: where.
            question: gets the simulator.
            stays: the question leaves the simulator where it is.

        Raises:
            CrashError: if the fresh one goes down as well.
        """
        reason = ""
        for _ in range(2):
            simulator = self._at(trail)
            if isinstance(simulator, str):
                reason = simulator
            else:
                try:
                    answer = _told(simulator, question)
                except Exception as error:
                    reason = self._drop(simulator, error)
                else:
                    self._live.append((trail if stays else None, simulator))
                    return answer
        raise CrashError(reason)

    def close(self) -> None:
        """End all simulators; the next state that is asked for starts one again."""
        _close_all(self._live, self._process)

    def _at(self, trail: Trail) -> Simulator | str:
        """Return a simulator, taken off the list, at the end of a trail; or why there is none."""
        self._forget_parents()
        for index, (place, simulator) in enumerate(self._live):
            if place == trail:
                del self._live[index]
                return simulator
        return self._replayed(trail)

    def _replayed(self, trail: Trail) -> Simulator | str:
        """Return a simulator that has played a trail, or why it went down."""
        self._forget_parents()
        simulator: Simulator | None = None
        try:
            simulator = self._start() if len(self._live) < self._most_live else self._live.pop(0)[1]
            self._check(Trail(trail.task, ()), simulator.reset(trail.task))
            for number, command in enumerate(trail.commands, start=1):
                self._check(Trail(trail.task, trail.commands[:number]), simulator.step(command))
        except ImportError:
            raise
        except Exception as error:
            return self._drop(simulator, error)
        except BaseException:
            if simulator is not None:
                _close(simulator)
            raise
        return simulator

    def _check(self, trail: Trail, told: View) -> None:
        """Hold what a world tells against what it told before."""
        view, known = _taken(told), self._views.get(trail)
        if known is not None and known != view:
            raise RuntimeError(f"the world did not repeat itself after {trail.commands[-1:] or trail.task!r}")
        self._keep(trail, view)

    def _keep(self, trail: Trail, view: View) -> View:
        """Keep a view that was not kept before, or was kept as the same; the ones asked for longest ago go."""
        self._commands += 0 if trail in self._views else len(view.commands)
        self._views[trail] = view
        self._views.move_to_end(trail)
        while len(self._views) > _MOST_VIEWS or (self._commands > _MOST_COMMANDS and len(self._views) > 1):
            self._commands -= len(self._views.popitem(last=False)[1].commands)
        return view

    def _drop(self, simulator: Simulator | None, error: Exception) -> str:
        """Close a simulator that went down, and the others, for what took it may have taken them; return why."""
        reason = writable(" ".join(f"{type(error).__name__}: {error}".split()))
        _LOG.warning("the simulator went down: %s", reason)
        if simulator is not None:
            _close(simulator)
        _close_all(self._live, self._process)
        return reason

    def _forget_parents(self) -> None:
        """Leave the simulators of a parent process alone: they are not ours to talk to."""
        if self._process != os.getpid():
            self._process = os.getpid()
            self._finalizer.detach()
            self._live = []
            self._finalizer = weakref.finalize(self, _close_all, self._live, self._process)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the recipe only."""
        return {"start": self._start, "most_live": self._most_live, "refusals_are_free": self._refusals_are_free}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Begin with nothing running."""
        Stage.__init__(self, **state)


def _told(simulator: Simulator, question: Callable[[Any], AnswerT]) -> AnswerT:
    """Return an answer; a simulator that is interrupted in the middle of it is closed, for the rest would come next."""
    try:
        return question(simulator)
    except Exception:
        raise
    except BaseException:
        _close(simulator)
        raise


def _taken(view: View) -> View:
    """Return a view in the form that is kept: whole characters, commands in their one spelling, none at the end."""
    if not isinstance(view, View):
        raise TypeError(f"the world told {view!r:.80}, must be a View")
    if not 0 <= view.score <= 1:
        raise ValueError(f"the world told a score of {view.score}, must be from 0 to 1")
    listed = () if view.won or view.lost else filter(None, map(tidy, view.commands))
    return replace(
        view, text=writable(view.text), commands=tuple(dict.fromkeys(listed)), refused=writable(view.refused)
    )


def _crashed(reason: str) -> View:
    return View(text=f"The world has crashed: {reason}", lost=True, crash=reason)


def _close_all(live: list[tuple[Trail | None, Simulator]], process: int) -> None:
    """Close every simulator that this process started."""
    while live:
        _, simulator = live.pop()
        if process == os.getpid():
            _close(simulator)


def _close(simulator: Simulator) -> None:
    try:
        simulator.close()
    except Exception as error:
        _LOG.warning("a simulator did not close: %s", error)
