"""Rules that fields of configurations have in common, each told in one way."""

from __future__ import annotations


def check_least(record: object, least: int, *names: str) -> None:
    """Raise a `ValueError` unless the fields are at least so large; it names the field, the rule and the value."""
    for name in names:
        value = getattr(record, name)
        if not value >= least:
            raise ValueError(f"{name} must be at least {least}, not {value}")


def check_positive(record: object, *names: str) -> None:
    """Raise a `ValueError` unless the fields are above 0; it names the field, the rule and the value."""
    for name in names:
        value = getattr(record, name)
        if not value > 0:
            raise ValueError(f"{name} must be above 0, not {value}")
