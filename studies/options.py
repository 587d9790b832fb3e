"""The words of cell names that stand for interfaces and for options: how each is written, and read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

INTERFACE_WORDS = {"atomic": "atomic", "macro": "macro", "stepwise": "macro-stepwise", "split": "split"}
INTERFACE_FORMS = (*INTERFACE_WORDS, "capped3", "fixed2")


def interface_word(interface: str) -> str:
    """Return how a cell's name writes an interface."""
    back = {value: word for word, value in INTERFACE_WORDS.items()}
    return back.get(interface) or interface.removeprefix("macro-").replace("-", "")


def interface_of(word: str) -> str | None:
    """Return the interface that a word of a cell's name stands for, None if it stands for none."""
    match = re.fullmatch(r"(capped|fixed)([1-9]\d*)", word)
    return f"macro-{match[1]}-{match[2]}" if match else INTERFACE_WORDS.get(word)


@dataclass(frozen=True)
class Option:
    """A factor that a name mentions only where it differs from the default."""

    field: str
    words: str
    """How its words look, for people."""
    write: Callable[[object], str]
    read: Callable[[str], object | None]
    """Return the value a word stands for, or None where the word is none of this factor's."""


def _choice(name: str, table: Mapping[str, object]) -> Option:
    back = {value: word for word, value in table.items()}
    return Option(name, ", ".join(table), lambda value: back[value], lambda word: table.get(word))


def _number(name: str, prefix: str, words: str, unit: float = 1.0) -> Option:
    pattern = re.compile(rf"{prefix}(\d+)(?:p(\d+))?")

    def write(value: object) -> str:
        return prefix + f"{float(str(value)) / unit:.6f}".rstrip("0").rstrip(".").replace(".", "p")

    def read(word: str) -> float | None:
        match = pattern.fullmatch(word)
        return round(float(f"{match[1]}.{match[2] or 0}") * unit, 8) if match else None

    return Option(name, words, write, read)


def _percent(name: str, prefix: str) -> Option:
    return _number(name, prefix, f"{prefix}5 (5 %), {prefix}0p5 (0.5 %)", unit=0.01)


def _multiple(name: str, prefix: str) -> Option:
    return _number(name, prefix, f"{prefix}2 (twice), {prefix}0p5 (half)")


def _steps() -> Option:
    def read(word: str) -> int | None:
        match = re.fullmatch(r"steps([1-9]\d*)", word)
        return int(match[1]) if match else None

    return Option("optimiser_steps", "steps4", lambda value: f"steps{value}", read)


def _interface_option() -> Option:
    def read(word: str) -> str | None:
        return interface_of(word.removeprefix("as")) if word.startswith("as") else None

    return Option("run_as", "asstepwise", lambda value: "as" + interface_word(str(value)), read)


OPTIONS: tuple[Option, ...] = (
    _interface_option(),
    _choice("on_error", {word: word for word in ("strict", "end", "semi", "dead", "stay")}),
    _choice("thought", {"free": "free", "checked": "checked"}),
    _percent("slip", "slip"),
    _choice("slip_known", {"blindslip": False}),
    _percent("mistake", "err"),
    _percent("failure", "fail"),
    _choice("normalized", {"nonorm": False}),
    _choice("geometric_mask", {"nomask": False}),
    _choice("truncation", {"notruncation": False}),
    _steps(),
    _multiple("rate", "rate"),
    _choice("signs", {"onlypositive": "positive", "onlynegative": "negative"}),
    _multiple("width", "width"),
)
