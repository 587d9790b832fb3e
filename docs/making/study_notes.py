"""Which figures and tables of a study's report to look at, and how; all other facts on its page come from the code."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """How to read the report of a study."""

    figures: tuple[str, ...]
    """Keys of `reports.figures.FIGURES`, the most important one first."""
    reading: str


_LENGTHS = (
    "Compare each condition on long levels with the same one on short levels at the distances that neither was trained on. "
    "*Comparisons* gives those differences, paired by seed and puzzle."
)

NOTES: dict[str, Note] = {
    "smoke": Note(
        ("success-by-distance", "training"),
        "The report has one seed only: it shows that every part works, and no more. The expert must stand at 100 %, chance far below it: near 0 "
        "on long boards, while on short ones it solves many (few legal moves are wrong there).",
    ),
    "horizon": Note(("success-by-distance", "h50", "training"), _LENGTHS),
    "collapse": Note(
        ("training", "invalid-share", "entropy"),
        "A collapse is marked in the curves where it was noticed; a collapsed run counts as failed everywhere else. Ask in how "
        "many seeds of each condition it came, not how deep it fell.",
    ),
    "restore": Note(
        ("success-by-distance", "macro-length"),
        "The macro policy stands there twice: run as it was trained, and *run as macro-stepwise*. The distance between its two "
        "curves is what the shorter horizon is worth; the atomic policy is the mark to compare the lower one with.",
    ),
    "turn-risk": Note(
        ("macro-edge", "voided-share"),
        "One point for each risk and rule: to the right more turns are lost, upwards macros gain more. A curve that rises "
        "through 0 says where macros begin to pay.",
    ),
    "execution": Note(
        ("success-by-distance", "h50"),
        "*Errors that add up* puts each level beside (1 − e)^d and says whether the interval of the difference holds 0. Under "
        "`stay` the difference is what recovery saves.",
    ),
    "macro-size": Note(
        ("success-by-distance", "macro-length", "cost-tokens"),
        "Compare at equal tokens as well: longer replies cost more. *Length of macros* says what flexible macros chose.",
    ),
    "split": Note(
        ("success-by-distance", "training"),
        "The split policy is evaluated in whole actions as well, so that the number of decisions is all that differs between "
        "its two curves.",
    ),
    "curriculum": Note(
        ("training", "cost-tokens", "success-by-distance"),
        "All schedules have the same number of updates, but short phases cost fewer tokens: read *Success for the same number "
        "of tokens* before you decide.",
    ),
    "recipe": Note(
        ("training", "sample-size", "masked-share"),
        "Look first at which runs collapsed. Among the others, the share of masked replies says what the mask costs.",
    ),
    "grouping": Note(("training", "success-by-distance", "zero-share"), _LENGTHS),
    "credit": Note(
        ("success-by-distance", "credit", "conflict-share"),
        "Some twenty conditions: read *Comparisons* first, then *Who gets the credit?*, which shows what each "
        "estimator makes of the same two attempts. Compare `vineppo` at equal cost only.",
    ),
    "mira": Note(
        ("success-by-distance", "calibration", "critics"),
        "Look at *Can the critics be believed?* before any score: points far from the diagonal mean a critic that misleads. A "
        "MiRA update plays half as many new episodes as one of the baselines.",
    ),
    "negative": Note(("training", "entropy", "success-by-distance"), _LENGTHS),
    "noise": Note(
        ("success-by-distance",),
        "One curve for each rate of failing actions. A macro loses more decisions to one failure, and takes fewer of them: the "
        "gap between interfaces at each rate is the answer.",
    ),
    "technique": Note(
        ("technique", "success-by-distance"),
        "Rows are techniques, columns distances. If distance is what is hard, colours change from left to right; if technique "
        "is, from top to bottom.",
    ),
    "budget": Note(
        ("cost-tokens", "cost-seconds", "cost-calls"),
        "*Success at equal cost* gives success at the largest cost that all conditions reached, three times: the order may differ.",
    ),
    "model": Note(
        ("h50", "success-by-distance"),
        "If size only pushes the distance out, the curves of all widths are shifted copies; if macros gain more with size, "
        "the gap between interfaces grows.",
    ),
    "untrained": Note(
        ("success-by-distance",),
        "The expert is the ceiling (100 % on every level that has an exact solver), chance the floor.",
    ),
}
