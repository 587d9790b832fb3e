"""Older records as records of today: one step for each version of the schema, applied while reading or for good.

Whatever a step changes it changes without loss. Records of a newer version are refused: what they mean is unknown here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Values = Mapping[str, Any]


class NewerSchemaError(ValueError):
    """A record of a version that this program does not know yet."""


def _decisions_are_lost(values: Values) -> Values:
    """From 1 to 2: `unreadable_decisions`, which had come to count voided replies as well, is `lost_decisions`.

    A timing may say the split of an evaluation since then; where it does not, the split is "".
    """
    if values.get("kind") != "evaluation" or "unreadable_decisions" not in values:
        return values
    return {"lost_decisions" if name == "unreadable_decisions" else name: value for name, value in values.items()}


STEPS: dict[int, Callable[[Values], Values]] = {1: _decisions_are_lost}
"""What makes a record of the next version of one of the key's version."""


def upgraded(values: Values, version: int) -> dict[str, Any]:
    """Return the JSON values of a record as those of schema `version`.

    Raises:
        NewerSchemaError: if the record is of a newer version, naming both and the way out.
        ValueError: if it says no version that ever was.
    """
    found = values.get("schema")
    if type(found) is not int or found < min(STEPS):
        known = ", ".join(str(number) for number in (*STEPS, version))
        raise ValueError(f"its schema is {str(found)[:40]!r}, known are {known}")
    if found > version:
        raise NewerSchemaError(
            f"schema {found} is newer than this program, which reads up to {version}; "
            "read it with the horizon-bench that wrote it, or a later one (pip install --upgrade horizon-bench)"
        )
    for step in range(found, version):
        values = STEPS[step](values)
    return {**values, "schema": version}
