"""Imports what only the extra `outside` brings, with an error that says how to get it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from horizon_bench.extras import install


def need(module: str, world: str) -> Any:
    """Return an imported module.

    Args:
        module: its name.
        world: what needs it.

    Raises:
        ImportError: with the command that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{world} needs the package {module.partition('.')[0]!r} ({error}); run: {install('outside')}"
        ) from error
