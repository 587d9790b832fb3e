"""A cell of the study matrix and its readable name: folder, tox environment and join key in one.

`study-sudoku-macro-t3-subgoal-checked-slip5` reads: Sudoku, macro interface, trained on level T3, subgoal credit, a
checked thought in each reply whose tokens slip with probability 5 %. The first four words after `study` are always
there; further words name what differs from the defaults. A cell's name says what it does, not how long or on what
machine.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from curricula.levels import SHOP_SIZE
from puzzles.names import check_name, unknown_name
from studies.learners import LEARNERS, Learner
from studies.named_policies import policy_word
from studies.options import INTERFACE_FORMS, OPTIONS, interface_of, interface_word

PREFIX = "study"


@dataclass(frozen=True)
class Family:
    """A board and its levels, short ways first."""

    puzzle: str
    size: int
    """Side of the board; products of a shop."""
    levels: tuple[str, ...]

    @property
    def by_word(self) -> dict[str, str]:
        """Levels by the word for them in cell names: `3` for T3, `3s` for L3-single."""
        return {level_word(level): level for level in self.levels}


def level_word(level: str) -> str:
    """Return how a cell's name writes a level: its number, and the first letter of its technique class."""
    number, _, technique = level[1:].partition("-")
    return number + technique[:1]


TECHNIQUE_FAMILY = "q"
"""9x9 boards sorted by the hardest technique that they need."""
FAMILIES: dict[str, Family] = {
    "t": Family("sudoku", 4, ("T1", "T2", "T3", "T4", "T5")),
    "m": Family("sudoku", 6, ("M1", "M2", "M3", "M4", "M5")),
    "l": Family("sudoku", 9, ("L1", "L2", "L3", "L4", "L5", "L6", "L7")),
    "r": Family("rush-hour", 6, ("R1", "R2", "R3", "R4", "R5")),
    "s": Family("shop", SHOP_SIZE, ("S1", "S2", "S3", "S4")),
    TECHNIQUE_FAMILY: Family(
        "sudoku",
        9,
        tuple(
            f"L{number}-{technique}"
            for technique, numbers in (("single", "2345"), ("pair", "345"), ("fish", "345"))
            for number in numbers
        ),
    ),
}
PUZZLE_WORDS = {"sudoku": "sudoku", "rush": "rush-hour", "shop": "shop"}

USUAL_FIXED = 2
"""Actions of the fixed macros that SFT teaches beside the other replies."""

Schedule = tuple[tuple[str, ...], ...]
"""Levels trained on, phase after phase; () trains on nothing."""


@dataclass(frozen=True)
class Cell:
    """One point of the study matrix, everything resolved but preset and seed."""

    puzzle: str = "sudoku"
    family: str = "t"
    """Key of the board's family of levels, see `FAMILIES`; a puzzle of your own has its own name here."""
    interface: str = "atomic"
    train: Schedule = ()
    """Levels trained on, phase after phase."""
    learner: str = "outcome"
    """Key of `LEARNERS`: credit of a trained policy, or a policy that is not trained. With `estimator`, any word; with
    a colon a policy's own name, such as `hf:MODEL`, which plays as it is."""
    on_error: str = "semi"
    """What follows an error: `strict`, `end`, `semi`, `dead`, `stay`."""
    thought: str = "none"
    """`none`, `free` or `checked`."""
    slip: float = 0.0
    """Probability that a thought token turns into a random one."""
    slip_known: bool = True
    """Whether the trainer knows of slips, or takes each token for one that the model chose."""
    mistake: float = 0.0
    """Probability that a noisy expert's decision is wrong."""
    failure: float = 0.0
    """Probability that the environment does not carry an action out."""
    run_as: str = ""
    """Interface of the evaluation where it is not the interface of the training."""
    normalized: bool = True
    """Normalise returns over the batch."""
    geometric_mask: bool = True
    """Drop replies whose geometric mean ratio leaves its band."""
    truncation: bool = True
    """Cap the sequence importance weight."""
    optimiser_steps: int = 1
    """Optimiser steps per rollout batch."""
    rate: float = 1.0
    """Learning rate as a multiple of the usual one."""
    signs: str = "both"
    """Advantages that are learned from: `both`, `positive` or `negative`."""
    width: float = 1.0
    """Width of the model as a multiple of the usual one."""
    estimator: str = ""
    """An estimator of yours, `module:name`; it takes the place of the learner's."""
    module: str = ""
    """Module to import first, where the puzzle is registered by a package of yours."""

    def __post_init__(self) -> None:
        """Refuse a cell that names something unknown."""
        if not self.estimator and not self.named:
            check_name("learner", self.learner, LEARNERS)
        for multiple in (self.rate, self.width):
            if not 0.0 < multiple <= 100.0:
                raise ValueError(f"a multiple of the learning rate or the width must lie in 0..100, not {multiple}")
        for chosen in (self.slip, self.mistake, self.failure):
            if not 0.0 <= chosen <= 1.0:
                raise ValueError(f"a probability must lie in 0..1, not {chosen}")
        if not self.module:
            family = FAMILIES[check_name("family of levels", self.family, FAMILIES)]
            if family.puzzle != self.puzzle:
                raise ValueError(f"levels {self.family}… belong to {family.puzzle}, not to {self.puzzle}")
            for level in self.train_levels:
                check_name("level", level, family.levels)
        if self.trained != bool(self.train):
            need = "needs training levels" if self.trained else "trains on nothing, so it has no training levels"
            raise ValueError(f"learner {self.learner!r} {need}; got {self.train!r}")

    @property
    def credit(self) -> Learner:
        """How the cell's policy comes about."""
        if self.named:
            return Learner(policy=self.learner, estimator="none")
        return Learner(estimator=self.estimator) if self.estimator else LEARNERS[self.learner]

    @property
    def named(self) -> bool:
        """Whether a policy plays that is chosen by its own name."""
        return ":" in self.learner

    @property
    def trained(self) -> bool:
        """Whether reinforcement learning takes place in this cell."""
        return self.credit.estimator != "none"

    @property
    def needs_sft(self) -> bool:
        """Whether the policy is the preset's model, which SFT teaches, with or without RL after it."""
        return self.credit.policy == "tiny"

    @property
    def fixed_length(self) -> int:
        """Actions of a fixed macro, as SFT teaches them: the interface's own number, or the usual one."""
        return int(self.interface.rpartition("-")[2]) if "-fixed-" in self.interface else USUAL_FIXED

    @property
    def train_levels(self) -> tuple[str, ...]:
        """All levels trained on, in order of first use."""
        return tuple(dict.fromkeys(level for phase in self.train for level in phase))

    @property
    def evaluation_interface(self) -> str:
        """The interface that evaluations use."""
        return self.run_as or self.interface

    @property
    def name(self) -> str:
        """The cell's name; `parse_name` reads it back."""
        words = [
            PREFIX,
            _puzzle_word(self.family if self.module else self.puzzle),
            interface_word(self.interface),
            _train_word(self),
            policy_word(self.learner) if self.named else self.learner,
        ]
        for option in OPTIONS:
            value = getattr(self, option.field)
            if value != getattr(Cell, option.field):
                words.append(option.write(value))
        return "-".join(words)


FEWEST_WORDS = 4
"""Words of a name after the first that are always there: puzzle, interface, levels, learner."""


def parse_name(name: str) -> Cell:
    """Return the cell that `name` stands for.

    Raises:
        ValueError: if a word is not known there, naming the nearest one; or if the words do not fit together.
    """
    prefix, *words = name.split("-")
    if prefix != PREFIX or len(words) < FEWEST_WORDS:
        raise ValueError(
            f"{name!r} is no cell; a name has the form {PREFIX}-PUZZLE-INTERFACE-LEVELS-LEARNER[-OPTION…], "
            "for example study-sudoku-macro-t3-subgoal"
        )
    named_puzzle, named_interface, named_levels, learner, *options = _in_order(words)
    puzzle = PUZZLE_WORDS[check_name("puzzle", named_puzzle, PUZZLE_WORDS)]
    interface = interface_of(named_interface) or check_name("interface", named_interface, INTERFACE_FORMS)
    family, train = _parse_train(named_levels, puzzle)
    cell = Cell(puzzle, family, interface, train, check_name("learner", learner, LEARNERS))
    for word in options:
        cell = replace(cell, **_read_option(word))  # type: ignore[arg-type]
    if cell.name != name:
        raise ValueError(f"{name!r} is not how this cell is written; its one name is {cell.name}")
    _refuse_without_meaning(cell)
    return cell


def _in_order(words: list[str]) -> list[str]:
    """Return the words of a name in their one order, by what they mean; as they are where one of them means nothing."""
    places = {word: _place(word) for word in words}
    return words if NOWHERE in places.values() else sorted(words, key=places.__getitem__)


def _place(word: str) -> int:
    """Return where in a name a word stands: 0 for the puzzle to 4 for options."""
    meanings = (
        word in PUZZLE_WORDS,
        interface_of(word) is not None,
        _LEVELS.fullmatch(word) is not None,
        word in LEARNERS,
        any(option.read(word) is not None for option in OPTIONS),
    )
    return meanings.index(True) if True in meanings else NOWHERE


NOWHERE = -1


def _refuse_without_meaning(cell: Cell) -> None:
    """Refuse a cell whose words are known, and say nothing together."""
    order = FAMILIES[cell.family].levels
    for phase in cell.train:
        rising = tuple(sorted(set(phase), key=order.index))
        if phase != rising:
            raise ValueError(
                f"{cell.name!r} trains on {', '.join(phase)}; the levels of a phase must rise, each named once: write "
                f"{cell.family}{''.join(map(level_word, rising))}, or phases with `to` between them"
            )
    for phase, after in pairwise(cell.train):
        if phase == after:
            raise ValueError(
                f"{cell.name!r} trains on {', '.join(phase)} twice in a row; a phase must differ from the one before "
                "it: name it once"
            )
    for option in OPTIONS:
        value = getattr(cell, option.field)
        if value != getattr(Cell, option.field) and (lacking := _lacking(cell, option.field)):
            word = option.write(value)
            raise ValueError(f"{cell.name!r}: {word} says nothing without {lacking}; leave the word {word} out")


def _lacking(cell: Cell, factor: str) -> str:
    """Return what a cell lacks without which a factor changes nothing in it, "" if it lacks nothing."""
    if factor in OF_RL and not cell.trained:
        return "training by RL"
    if factor in OF_MODEL and not cell.needs_sft:
        return "the small model"
    if factor == "mistake" and cell.credit.policy != "noisy-expert":
        return "the learner noisy, which alone has an error rate"
    if factor == "slip" and cell.thought == "none":
        return "thoughts, free or checked"
    if factor == "slip_known" and not cell.slip:
        return "slips, such as slip5"
    if factor == "run_as" and cell.run_as == cell.interface:
        return "another interface than that of the training"
    return ""


OF_RL = ("normalized", "geometric_mask", "truncation", "optimiser_steps", "rate", "signs")
"""Factors of training by RL alone."""
OF_MODEL = ("slip", "slip_known", "width")
"""Factors of the small model, which no other policy has."""


def factor_words() -> dict[str, str]:
    """Return the words that names are made of, by factor, for help and documentation."""
    levels = ", ".join(
        f"{key}{words[0]}-{key}{words[-1]} ({FAMILIES[key].puzzle})"
        for key, words in ((key, list(family.by_word)) for key, family in FAMILIES.items())
    )
    words = {
        "puzzle": ", ".join(PUZZLE_WORDS),
        "interface": ", ".join(INTERFACE_FORMS),
        "levels": f"{levels}; l34 = L3 and L4, r1to2 = R1 then R2, q3s4p = L3-single and L4-pair, "
        "l = none (policies that are not trained)",
        "learner": ", ".join(LEARNERS),
    }
    return words | {option.field: option.words for option in OPTIONS}


def _read_option(word: str) -> dict[str, object]:
    for option in OPTIONS:
        value = option.read(word)
        if value is not None:
            return {option.field: value}
    known = (form.split(" ")[0] for option in OPTIONS for form in option.words.split(", "))
    raise unknown_name("option", word, known)


def _puzzle_word(puzzle: str) -> str:
    back = {value: word for word, value in PUZZLE_WORDS.items()}
    return back.get(puzzle, re.sub(r"[^a-z0-9]", "", puzzle.lower()))


def _train_word(cell: Cell) -> str:
    if cell.module:
        return (
            "to".join("".join(re.sub(r"[^a-z0-9]", "", level.lower()) for level in phase) for phase in cell.train)
            or "all"
        )
    return cell.family + "to".join("".join(map(level_word, phase)) for phase in cell.train)


def _parse_train(word: str, puzzle: str) -> tuple[str, Schedule]:
    if not _LEVELS.fullmatch(word):
        raise ValueError(
            f"levels {word!r} do not have a form like l34 (L3 and L4), r1to2 (R1 then R2) or l (no training)"
        )
    known = {key: value for key, value in FAMILIES.items() if value.puzzle == puzzle}
    key = check_name(f"family of levels of {puzzle}", word[0], known)
    phases = word[1:].split("to") if len(word) > 1 else []
    return key, tuple(tuple(_level(key, one) for one in re.findall(_LEVEL, phase)) for phase in phases)


def _level(family: str, word: str) -> str:
    return FAMILIES[family].by_word.get(word, family.upper() + word)


_LEVEL = r"\d[spf]?"
_PHASE = rf"(?:{_LEVEL})+"
_LEVELS = re.compile(rf"[a-z]({_PHASE}(to{_PHASE})*)?")
