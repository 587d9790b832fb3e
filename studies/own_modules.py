"""Modules of your own on the command line, as `MODULE:NAME`: also those of the working directory, as in `python -m`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType


def import_from_here() -> None:
    """Let modules be imported from the working directory."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)


def import_own(kind: str, spec: str) -> ModuleType:
    """Return the module of `MODULE:NAME`.

    Args:
        kind: what the name stands for, as an error shall say it.
        spec: module and name.

    Raises:
        ValueError: if the form is another, or there is no such module.
    """
    module, _, name = spec.partition(":")
    if not module or not name:
        raise ValueError(f"{kind} {spec!r} must have the form MODULE:NAME, for example my_package:my_{kind}")
    import_from_here()
    try:
        return importlib.import_module(module)
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]
        hint = f"; run the command in the folder that holds {module}" if missing else ""
        raise ValueError(f"cannot import module {module!r} of {kind} {spec!r}: {error}{hint}") from error
