"""Writes the moving pictures of the gallery, and from the results of a study its example report and its figures.

    python docs/make_gallery.py                            # the episodes, from the code alone
    python docs/make_gallery.py --report results/horizon  # the example report and the pictures of figures as well

The same code and the same records give the same bytes.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from PIL import Image

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.envs.instances import workshop
from horizon_bench.envs.replaying import frames, write_gif
from horizon_bench.policies import make_policy
from horizon_bench.rollout import rollout

DOCS = Path(__file__).resolve().parent
EPISODES = DOCS / "images" / "episodes"
FIGURES = DOCS / "images" / "figures"
REPORT = DOCS / "example_report.html"
LARGEST = 3_000_000
"""Bytes of the example report at most."""

PLAYED = {
    "sudoku-macro": ("T4", 5, Settings(interface="macro"), 3),
    "rush-hour-macro": ("R2", 0, Settings(interface="macro"), 3),
    "shop-macro": ("S2", 0, Settings(interface="macro"), 2),
}
"""Level, number of the test instance, settings, and actions that the expert puts into a reply."""
SHOWN = ("success-by-distance", "training", "invalid-share")
"""Figures whose pictures stand on the pages."""
WIDTH = 900
"""Pixels of a figure's picture at most."""


def write_episode(name: str) -> Path:
    """Write one episode of the expert as a moving picture of few colours."""
    level, number, settings, actions = PLAYED[name]
    instance = load_bank(level, "test")[number]
    episode = rollout(make_policy("expert", actions=actions), [instance], settings)[0]
    puzzle = workshop(instance.puzzle, instance.size, True).puzzle
    path = write_gif(EPISODES / f"{name}.gif", puzzle, frames(puzzle, episode.start, episode.turns), 700)
    return shrink(path)


def shrink(path: Path) -> Path:
    """Write a moving picture again with 32 colours."""
    with Image.open(path) as picture:
        boards, times = [], []
        for index in range(getattr(picture, "n_frames", 1)):
            picture.seek(index)
            times.append(picture.info["duration"])
            boards.append(picture.convert("RGB").quantize(32, dither=Image.Dither.NONE))
    boards[0].save(path, save_all=True, append_images=boards[1:], duration=times, loop=0, optimize=True)
    return path


def write_example(results: Path) -> None:
    """Write the example report of a results folder, and the pictures of some of its figures."""
    from reports.page import write_report

    with tempfile.TemporaryDirectory() as folder:
        page = write_report(results, Path(folder) / "report.html")
        if page.stat().st_size > LARGEST:
            raise ValueError(f"{page} has {page.stat().st_size} bytes, more than {LARGEST}; take a smaller study")
        shutil.copyfile(page, REPORT)
        FIGURES.mkdir(parents=True, exist_ok=True)
        for name in SHOWN:
            drawn = sorted((page.parent / "report_files" / "figures").glob(f"{name}*.png"))
            if drawn:
                write_small(drawn[0], FIGURES / f"{name}.png")


def write_small(source: Path, target: Path) -> None:
    """Write a picture again, no wider than `WIDTH`, with 64 colours."""
    with Image.open(source) as picture:
        plain = picture.convert("RGB")
    if plain.width > WIDTH:
        plain = plain.resize((WIDTH, round(plain.height * WIDTH / plain.width)), Image.Resampling.LANCZOS)
    plain.quantize(64, dither=Image.Dither.NONE).save(target, optimize=True)


def main() -> int:
    """Write what was asked for, and say what and how large."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--report", type=Path, help="results of a study, for the example report")
    asked = reader.parse_args()
    written = [write_episode(name) for name in PLAYED]
    if asked.report:
        write_example(asked.report)
        written += [REPORT, *sorted(FIGURES.glob("*.png"))]
    for path in written:
        print(f"{path.relative_to(DOCS)}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
