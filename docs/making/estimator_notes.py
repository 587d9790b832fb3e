"""When to use each estimator and what to watch for; all other facts on their pages come from docstrings and credit.md."""

from __future__ import annotations

from typing import NamedTuple


class Note(NamedTuple):
    """What no docstring says."""

    when: str
    pitfall: str


_ABLATION = "Only to find out which part of `beacon` carries it: compare it with `beacon` on the same seeds. "

NOTES: dict[str, Note] = {
    "reinforce": Note(
        "The first choice. It needs no groups, no critic and no subgoals, and it is what the horizon-length study trains "
        "with. All other estimators are compared with it under the word `outcome`.",
        "The discount counts decisions, not atomic actions: with γ 0.995 a macro of five actions is discounted once. "
        "With `normalized=False` the size of the return sets the size of the step, so lower the learning rate.",
    ),
    "subgoal": Note(
        "Where subgoals are met one after the other, so that the next one to fall is the one that was worked on.",
        "Another name of `subgoal-next`, kept because the published text calls it so. On Sudoku, where boxes are filled in "
        "turn, it pays a wrong fill when another box is completed; see the findings on `horizon`.",
    ),
    "subgoal-next": Note(
        "Where subgoals are met one after the other, so that the next one to fall is the one that was worked on.",
        "On Sudoku, where boxes are filled in turn, it pays a wrong fill when another box is completed; "
        '`subgoal-own` avoids that. Train it on `reward="subgoal"`, or give `reward`.',
    ),
    "subgoal-own": Note(
        "Where each decision works on one known subgoal, as a fill works on its box, and subgoals are interleaved.",
        "A decision whose own subgoal is complete already, or is never completed, gets nothing, whatever it does to the "
        "rest. On the exact chain its gradient points elsewhere (table below).",
    ),
    "grpo": Note(
        "Outcome rewards, several attempts at each puzzle, no critic: the usual baseline of language-model training.",
        "A group in which all attempts succeed or all fail teaches nothing. The deviation makes nearly solved and nearly "
        "hopeless puzzles count as much as the others.",
    ),
    "grpo-no-std": Note(
        "As `grpo`, where puzzles of very different difficulty stand in one batch and shall not be weighed by it.",
        "Easy and hard groups have small differences, so the step is smaller than with `grpo` at the same learning rate.",
    ),
    "rloo": Note(
        "As `grpo`, where an unbiased baseline is wanted and nothing else: the clean reference for group baselines.",
        "Needs at least two attempts at each puzzle. With `normalized=True` it is scaled over the batch, as TRL does.",
    ),
    "reinforce++": Note(
        "One attempt at each puzzle, or groups too small to be compared.",
        "Hard puzzles are punished for being hard: the baseline is the batch, so train on levels of like difficulty.",
    ),
    "reinforce++-baseline": Note(
        "Groups as for `grpo`, with one scale for the whole batch in place of one for each group.",
        "The mean of the group still contains the attempt itself.",
    ),
    "rloo-decision": Note(
        "Attempts of different length, and a reward that comes on the way: each decision is compared with what the others "
        "still earned from their t-th decision on.",
        "The t-th decisions of two attempts may stand in very different states. Late decisions have few others, or none.",
    ),
    "centred-decision": Note(
        "For comparison with `rloo-decision`: what it costs that a mean contains the attempt itself.",
        "Late decisions, which few attempts reach, learn least. Prefer `rloo-decision`.",
    ),
    "centred-turns": Note(
        "For comparison only: it shows a mistake that is easy to make.",
        "Its direction is wrong as soon as the agent decides how long it acts. Do not train with it.",
    ),
    "ppo": Note(
        "Long episodes with little success, where the noise of whole returns is too great and a critic can be learned.",
        "A poor critic biases the gradient unless `lam` is 1. Cells with a critic have an SFT of their own. Look at "
        "*Can the critics be believed?* in the report first.",
    ),
    "vineppo": Note(
        "The cleanest credit for single decisions that the suite has, where the environment can be restored from "
        "snapshots: a reference for cheaper estimators.",
        "Every decision costs further episodes: compare it at equal cost (study `budget`), never at equal updates.",
    ),
    "gigpo": Note(
        "Where attempts at one puzzle pass through the same states, as short Rush Hour boards and small Sudokus do.",
        "Where states hardly recur it is `grpo`. Free text in observations makes every state unique; see `similar_states`.",
    ),
    "hindsight": Note(
        "Where the same state is met many times and its actions can be counted: it asks which action goes with success.",
        "Counts of one or two decide much. It needs larger groups than `gigpo`.",
    ),
    "beacon": Note(
        "Outcome rewards with subgoals that the environment can check but shall not pay.",
        'Give it episodes of `reward="outcome"`: a paid subgoal would count twice. Behind the last completed subgoal only '
        "the trajectory term teaches.",
    ),
    "beacon-released": Note(
        "To reproduce numbers of BEACON's public code.",
        "Its formulas differ from those of the article: longer attempts weigh more, and failed segments lower the baseline. "
        "The subgoal reward is 10, not 1, so that its steps are larger.",
    ),
    "beacon-gamma-0": Note(
        _ABLATION + "Only the decision that completes a subgoal is praised.",
        "All other decisions of a segment are measured against a positive mean, and so discouraged.",
    ),
    "beacon-gamma-1": Note(
        _ABLATION + "All decisions of a completed segment are praised alike.",
        "The segment term then vanishes for completed segments: r equals its own baseline.",
    ),
    "beacon-segment": Note(
        _ABLATION + "The segment term alone: whether a completed subgoal leads to the goal does not matter.",
        "An attempt that completes all subgoals but the last is praised for them as much as a solved one.",
    ),
    "beacon-trajectory": Note(
        _ABLATION + "The trajectory term alone, which is `grpo`.",
        "Equal to `grpo` by construction; if their curves differ, that is chance.",
    ),
    "beacon-random-cuts": Note(
        _ABLATION + "As many cuts, at random decisions: do subgoals matter, or only the cutting?",
        "The cuts follow from `seed` and the batch's content, so that a permutation of the attempts changes them.",
    ),
    "beacon-dropped": Note(
        _ABLATION + "Half of the subgoals are forgotten: how much does it bear a poor subgoal detector?",
        "Which ones are forgotten follows from `seed` and the batch's content.",
    ),
}
