"""The page that says, figure by figure, what is drawn and how to read it."""

from __future__ import annotations

from pathlib import Path

from making.markdown import MADE
from reports.figures import FIGURES

PICTURES = Path(__file__).resolve().parents[1] / "images" / "figures"

_DURING = "One line for each condition, its band over seeds; time runs from left to right in updates. "

READING: dict[str, str] = {
    "h50": "One bar for each condition: the dot is the estimate, the bar its 95 % interval. Where two bars do not overlap the "
    "conditions differ; where they do, look at the paired difference in the tables before you say that they do not. An "
    "arrow or a value at the edge means that success never fell to a half within the distances tested.",
    "success-by-distance": "Each point is a level, placed at its mean distance; bars are 95 % intervals over puzzles and seeds. "
    "Read along a curve how fast success falls, and between curves who falls later. Filled points are after RL, hollow ones "
    "after SFT: the step from hollow to filled is what RL brought. Lines are fits, not data.",
    "pass-by-distance": "As above, for at least one success in k attempts. Where this curve is high and the one above is low, "
    "the policy can solve the puzzle but not reliably; where both are low, RL has nothing to find.",
    "training": _DURING
    + "Look for falls that stay: a mark shows where a collapse was noticed. Evaluations use few puzzles, so "
    "single dips mean little.",
    "rollout-success": _DURING
    + "It jumps where the training levels change, and stays near 0 or 1 where they are too hard or too "
    "easy to learn from.",
    "cost-tokens": "The same curves with tokens to the right in place of updates. Compare heights at one vertical line: who is "
    "better after having spent as much?",
    "cost-calls": "The same with environment calls. Continuations of `vineppo` count.",
    "cost-seconds": "The same with seconds. It holds for one machine under one load; the two above do not depend on that.",
    "macro-edge": "Above 0 macros are better, below single actions. To the right decisions are lost more often. Each point is a "
    "paired difference with its interval; a curve for each distance and one over all.",
    "technique": "Rows are techniques, columns distances, colour and number success. Which direction changes the colour more?",
    "macro-length": _DURING
    + "At 1 the macro policy has become an atomic one, and nothing can be said about macros any more.",
    "invalid-share": _DURING + "A jump by 30 points is one of the first signs of a collapse.",
    "voided-share": _DURING + "It is the risk of a turn: what no choice of actions can avoid.",
    "entropy": _DURING
    + "A slow fall is learning. A fall to nearly nothing means one way only is left to be sampled; a rise means "
    "that training drives the policy apart.",
    "gradient-norm": _DURING + "Spikes by themselves are harmless; look whether success falls after them.",
    "sample-size": _DURING + "Under 30 % a few replies decide the update.",
    "masked-share": _DURING + "Over a half means: lower the learning rate, or take fewer optimiser steps a batch.",
    "conflict-share": _DURING
    + "High values mean that the same action in the same state is praised in one attempt and blamed in "
    "another: credit that averages out.",
    "gradient-ratio": _DURING + "100 % means no conflict; near 0 the pushes cancel out.",
    "zero-share": _DURING + "High values mean that many decisions teach nothing, as in groups of equal outcome.",
    "subgoal-contrast": _DURING + "Above 1 decisions at subgoals are pushed harder than others.",
    "failures": "Rows are conditions before and after training, columns classes of failure; each row adds up to 100 %. Read how "
    "shares move between columns with training. [Why attempts fail](failures.md) defines the classes.",
    "subgoal-times": "A row is a number of subgoals, a column a tenth of the decisions. Dark cells to the right: most failed "
    "attempts had come that far.",
    "calibration": "Points on the diagonal: of the states that the critic gave a chance of 0.6, six in ten were solved. Points "
    "below it: the critic hopes too much.",
    "critics": "Two attempts, one solved, one failed. A good value falls where the mistake is made, not only at the end.",
    "credit": "Boards from left to right, the goal distance below, then a row for each estimator: one colour praises, the other "
    "blames. Read a row's colours as a shape; each row has its own scale. [Credit](credit.md#the-credit-picture) walks through "
    "two of them.",
}


def section(name: str) -> str:
    """Return what is said of a figure."""
    kind = FIGURES[name]
    parts = [f"## {name}", f"**{kind.title}**", f"*{kind.caption}*", READING[name]]
    if (PICTURES / f"{name}.png").is_file():
        parts.insert(2, f"![{kind.title}](images/figures/{name}.png)")
    return "\n\n".join(parts)


def pages() -> dict[str, str]:
    """Return the page of all figures by its path in `docs`."""
    head = [
        "# Figure by figure",
        MADE,
        "Every report holds those of these figures that its records allow, in this order; titles and captions are those of the "
        "report. Pictures are from the [example report](gallery.md#an-example-report). What the numbers mean: "
        "[Figures, tables and the report](figures.md).",
        "Colours say the interface, line styles the reward, hollow marks SFT only, in every figure.",
    ]
    return {"figure_by_figure.md": "\n\n".join([*head, *map(section, FIGURES)]) + "\n"}
