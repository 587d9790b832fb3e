"""What an agent remembers of each episode that it plays."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np

Memory = TypeVar("Memory")

LEAST_KEPT = 8192
"""Episodes that are remembered at least; the oldest give way."""


class Lanes(Generic[Memory]):
    """One memory for each episode, told apart by the episode's generator, which is its own from start to end."""

    def __init__(self, make: Callable[[], Memory]) -> None:
        """Start without episodes.

        Args:
            make: returns the memory of an episode that begins.
        """
        self._make = make
        self._kept: OrderedDict[int, tuple[np.random.Generator, Memory]] = OrderedDict()

    def of(self, generators: Sequence[np.random.Generator]) -> list[Memory]:
        """Return the memory of each lane's episode, a new one where an episode begins."""
        found = []
        for generator in generators:
            name = id(generator)
            if name not in self._kept:
                self._kept[name] = (generator, self._make())
            self._kept.move_to_end(name)
            found.append(self._kept[name][1])
        while len(self._kept) > max(LEAST_KEPT, len(generators)):
            self._kept.popitem(last=False)
        return found
