"""How a reply maps to atomic moves: the action interfaces and the wrapper that applies one to an environment.

An interface is a small record of facts that the game core reads; it decides what a reply may hold and how much of it is
carried out. Nothing here knows a puzzle.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import gymnasium

from puzzles.names import check_name


@dataclass(frozen=True)
class Interface:
    """What one reply may hold, and how much of it is carried out."""

    name: str
    mode_token: str
    """Token that tells a compact-form policy how to reply; interventions are not announced."""
    single: bool = False
    """A reply holds exactly one atomic action."""
    most_carried: int | None = None
    """Atomic actions carried out at most; the rest of the reply is dropped, unread by the rules."""
    fixed: int | None = None
    """A reply holds exactly this many atomic actions, or fewer that bring the puzzle to its end."""
    halves: bool = False
    """An atomic action takes two decisions: what, then where."""

    def instruction(self) -> str:
        """Return what the prompt says about the reply."""
        if self.halves:
            return (
                "One action takes two replies. First reply: what(...) with the first argument of the action. "
                "Second reply: where(...) with its other arguments."
            )
        if self.single:
            return "Reply with exactly one action."
        if self.fixed is not None:
            return f"Reply with exactly {self.fixed} actions, fewer only if they finish the puzzle."
        return "Reply with one or more actions; they are carried out in order."


INTERFACES: dict[str, Interface] = {
    "atomic": Interface("atomic", "<atomic>", single=True),
    "macro": Interface("macro", "<macro>"),
    "macro-capped-4": Interface("macro-capped-4", "<macro>", most_carried=4),
    "macro-fixed-2": Interface("macro-fixed-2", "<fixed>", fixed=2),
    "macro-stepwise": Interface("macro-stepwise", "<macro>", most_carried=1),
    "split": Interface("split", "<what>", single=True, halves=True),
}
"""Interfaces by name; `macro-capped-k` and `macro-fixed-k` exist for every k from 1."""

_COUNTED = re.compile(r"macro-(capped|fixed)-([1-9]\d{0,2})")


def find_interface(name: str) -> Interface:
    """Return the interface called `name`.

    Args:
        name: a key of `INTERFACES`, or `macro-capped-k` or `macro-fixed-k` with k from 1 to 999.

    Raises:
        ValueError: if there is no such interface.

    >>> find_interface("macro-capped-3").most_carried
    3
    """
    match = _COUNTED.fullmatch(name) if isinstance(name, str) else None
    if match is None:
        return INTERFACES[check_name("interface", name, INTERFACES)]
    count = int(match[2])
    if match[1] == "capped":
        return Interface(name, "<macro>", most_carried=count)
    return Interface(name, "<fixed>", fixed=count)


class ActionInterface(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Gives an environment another interface: the wrapper form of the argument `interface`.

    >>> import gymnasium
    >>> env = gymnasium.make("horizon_bench:horizon_bench/Sudoku-v0", level="T1")
    >>> ActionInterface(env, "macro").unwrapped.settings.interface
    'macro'
    """

    def __init__(self, env: gymnasium.Env[Any, Any], interface: str) -> None:
        """Switch the interface of the environment beneath; takes effect at once.

        Args:
            env: an environment of this package, wrapped or not.
            interface: name of the interface.

        Raises:
            ValueError: if there is no such interface, or the environment is of another package.
        """
        base: Any = env.unwrapped
        if not hasattr(base, "use_interface"):
            raise ValueError(f"{env} has no interfaces; ActionInterface takes environments of horizon_bench")
        gymnasium.utils.RecordConstructorArgs.__init__(self, interface=interface)
        gymnasium.Wrapper.__init__(self, env)
        base.use_interface(interface)
