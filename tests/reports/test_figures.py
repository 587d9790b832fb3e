from __future__ import annotations

import io
import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from reports.conditions import Condition, conditions_of
from reports.figures import FIGURES, FigureKind, credit_map, draw, find_figure, png_bytes, svg_bytes
from reports.figures.charts import draw_points
from reports.figures.style import INTERFACE_COLOURS, colour_of, look_of, write_figure
from reports.inline import inline_svg
from reports.intervals import Estimate
from reports.panels import Heat, Panel, Point, Series, Timeline, marked
from reports.results import Results, load_results


@pytest.fixture(scope="module")
def results(small: Path) -> Results:
    return load_results(small)


@pytest.fixture(scope="module")
def conditions(results: Results) -> tuple[Condition, ...]:
    return conditions_of(results)


@pytest.fixture(scope="module")
def risky(make, tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results of a study that every figure can be drawn from."""
    techniques = ("naked single", "hidden single")
    arms = []
    for slip in (0, 10):
        for interface in ("atomic", "macro"):
            name, label = f"study-sudoku-{interface}-t3-outcome-slip{slip}", f"{interface}, slip {slip}"
            options = {"study": "turn-risk", "voided": slip / 100, "techniques": techniques, "critics": True}
            arms.append(make.arm(name, label, interface, **options))
    return load_results(make.results(tmp_path_factory.mktemp("risky"), tuple(arms), seeds=2, puzzles=6))


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_with_units_and_redraws_to_the_same_bytes(risky: Results, name: str) -> None:
    kind: FigureKind = FIGURES[name]
    panels = kind.gather(risky, conditions_of(risky))
    assert panels
    first, second = (svg_bytes(draw(kind, panels[0]), name) for _ in range(2))
    assert first == second
    assert b"<dc:date>" not in first
    text = first.decode()
    if isinstance(panels[0], Timeline):
        assert "(atomic actions)" in text
    elif not isinstance(panels[0], Heat):
        assert panels[0].x_label in re.sub(r"<[^>]+>", "", text)
        assert "n = " in panels[0].note or "seeds" in panels[0].note


def test_the_same_records_give_the_same_estimates_in_another_process_of_thought(results: Results) -> None:
    kind = FIGURES["success-by-distance"]
    assert kind.gather(results, conditions_of(results)) == kind.gather(
        results, conditions_of(load_results(results.folder))
    )


def test_a_figure_draws_on_given_axes_and_leaves_global_settings_alone(results: Results, conditions) -> None:
    import matplotlib
    from matplotlib.figure import Figure

    before = dict(matplotlib.rcParams)
    axes = Figure().add_subplot()
    kind = FIGURES["training"]
    assert kind.draw(axes, kind.gather(results, conditions)[0]) is axes
    draw(kind, kind.gather(results, conditions)[0])
    assert dict(matplotlib.rcParams) == before


def test_the_collapse_is_marked_where_it_was_noticed(results: Results, conditions) -> None:
    series = FIGURES["training"].gather(results, conditions)[0].series
    marks = {one.interface: one.collapses for one in series}
    assert marks["macro"] == ()
    assert len(marks["atomic"]) == 1
    assert marks["atomic"][0][0] in range(40, 80)


def test_files_of_both_kinds_are_written_twice_alike(results: Results, conditions, tmp_path: Path) -> None:
    kind = FIGURES["h50"]
    panel = kind.gather(results, conditions)[0]
    for folder in ("a", "b"):
        write_figure(draw(kind, panel), tmp_path / folder, "h50")
    for ending in ("svg", "png"):
        assert (tmp_path / "a" / f"h50.{ending}").read_bytes() == (tmp_path / "b" / f"h50.{ending}").read_bytes()


def test_one_colour_an_interface_and_one_line_a_reward() -> None:
    assert len(set(INTERFACE_COLOURS.values())) == len(INTERFACE_COLOURS)
    assert colour_of("macro-fixed-2") == colour_of("macro-fixed-3") == INTERFACE_COLOURS["macro-fixed"]
    assert colour_of("macro-stepwise") != colour_of("macro")
    plain, subgoal = (Series("", "atomic", reward, "rl", ()) for reward in ("outcome", "subgoal"))
    assert look_of(plain)["color"] == look_of(subgoal)["color"]
    assert look_of(plain)["linestyle"] != look_of(subgoal)["linestyle"]
    twins = marked([plain, plain])
    assert look_of(twins[0])["marker"] != look_of(twins[1])["marker"]


def test_an_unknown_figure_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ValueError, match="did you mean 'entropy'"):
        find_figure("entropie")


def test_a_credit_picture_scales_each_row_by_its_largest() -> None:
    heat = credit_map({"rloo": [1.0, -2.0], "grpo": [0.0, 0.0]}, subgoals=[1])
    assert heat.values == ((0.5, -1.0), (0.0, 0.0))
    assert heat.texts[0] == ("+1.00", "-2.00")
    with pytest.raises(ValueError, match="same decisions"):
        credit_map({"rloo": [1.0], "grpo": [0.0, 0.0]})
    with pytest.raises(ValueError, match="none"):
        credit_map({})


def test_inlined_figures_follow_the_page_and_keep_their_ids_apart(results: Results, conditions) -> None:
    kind = FIGURES["success-by-distance"]
    svg = svg_bytes(draw(kind, kind.gather(results, conditions)[0]), "x")
    texts = [inline_svg(svg, name, 'A "title" <b>') for name in ("one", "two")]
    identities = [set(re.findall(r' id="([^"]+)"', text)) for text in texts]
    assert not identities[0] & identities[1]
    for text, names in zip(texts, identities, strict=True):
        assert text.startswith("<svg ")
        assert 'aria-label="A &quot;title&quot; &lt;b&gt;"' in text
        used = set(re.findall(r'(?:url\(#|href="#)([^)"]+)', text))
        assert used
        assert used <= names
        assert "currentColor" in text
        assert "#1c2430" not in text


@pytest.mark.parametrize("name", ["rollout-success", "cost-tokens", "cost-calls", "cost-seconds"])
def test_every_figure_over_training_marks_the_collapse(results: Results, conditions, name: str) -> None:
    marks = {one.interface: one.collapses for one in FIGURES[name].gather(results, conditions)[0].series}
    assert marks["macro"] == ()
    assert len(marks["atomic"]) == 1


def test_no_word_of_a_forest_reaches_another_or_the_edge_of_the_picture(risky: Results) -> None:
    kind = FIGURES["h50"]
    panel = kind.gather(risky, conditions_of(risky))[0]
    assert isinstance(panel, Panel)
    long = "atomic + own subgoals, trained on T3+T4, no geometric mask, no truncation, 4 optimiser steps"
    rows = tuple(
        replace(series, label=long, points=(replace(series.points[0], label="< 4 (about 2.3 [0.0, 4.7])"),))
        for series in panel.series
    )
    figure = draw(kind, replace(panel, series=rows))
    (axes,) = figure.axes
    words = [text.get_window_extent() for text in axes.texts]
    assert len(words) == 2 * len(rows)
    assert not any(one.overlaps(other) for one, other in itertools.combinations(words, 2))
    names = [box for text, box in zip(axes.texts, words, strict=True) if text.get_text().startswith("atomic")]
    assert len(names) == len(rows)
    assert max(box.x1 for box in names) <= axes.bbox.x1
    with Image.open(io.BytesIO(png_bytes(figure))) as picture:
        right = np.asarray(picture.convert("L"))[:, -3:]
    assert right.min() == 255


@pytest.mark.parametrize(
    ("distances", "shown"), [((5, 19, 400), {"short, medium", "long"}), ((5, 60, 127), {"short", "medium", "long"})]
)
def test_levels_that_lie_close_together_are_named_side_by_side(distances: tuple[int, ...], shown: set[str]) -> None:
    estimate = Estimate(0.5, 0.4, 0.6, 10, 1)
    places = zip(("short", "medium", "long"), distances, strict=True)
    points = tuple(Point(float(x), estimate, label) for label, x in places)
    curve = ((1.0, 0.9), (760.0 if shown == {"short, medium", "long"} else 130.0, 0.1))
    panel = Panel(
        "untrained", "distance", "success", (Series("expert", "atomic", "outcome", "rl", points, curve=curve),)
    )
    axes = draw_points(Figure(figsize=(5, 4)).subplots(), panel)
    texts = [text for text in axes.texts if text.get_text() in shown]
    assert {text.get_text() for text in axes.texts} == shown
    boxes = sorted((box.x0, box.x1) for box in (text.get_window_extent() for text in texts))
    assert all(left[1] < right[0] for left, right in itertools.pairwise(boxes))
