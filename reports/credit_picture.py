"""The credit picture of stored episodes, or of a noisy expert's: `python -m reports.credit_picture episodes.parquet`.

Draws the failed and the detouring attempt that the rule of `reports.trajectories` chooses, each as SVG and PNG. With
`--example` nothing needs to be stored: a noisy expert plays Rush Hour, where a mistake is a detour and never final, and
values of states, which `ppo` and `vineppo` need, come from continuations.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from curricula import load_bank
from horizon_bench.credit.batch import FloatArray
from horizon_bench.credit.snapshots import rollout_values
from horizon_bench.envs.settings import Settings
from horizon_bench.policies import NoisyExpertPolicy
from horizon_bench.rollout import Playable, rollout
from reports.figures import FIGURES, draw, write_figure
from reports.gather_credit import MISSING, chosen, credit_timeline
from reports.panels import Timeline
from reports.records import StoredEpisode, read_episodes
from reports.trajectories import LONGEST, Group, groups_of

EXAMPLE_SETTINGS = Settings(on_error="stay", observation="compact")
EXAMPLE_POLICY = NoisyExpertPolicy(error_rate=0.3)
EXAMPLE_LEVEL, EXAMPLE_INSTANCES, EXAMPLE_ATTEMPTS, EXAMPLE_CONTINUATIONS = "R1", 12, 8, 64


def draw_credit(episodes: Path, out: Path) -> list[Path]:
    """Draw the credit pictures of an `episodes.parquet` into the folder `out`; returns the files.

    Raises:
        ValueError: if the file is unreadable, or holds no attempts that can be compared.
        FileNotFoundError: if there is none.
    """
    groups = groups_of(read_episodes(episodes))
    pictures = {kind: credit_timeline(one.group, one.index) for kind, one in chosen(groups).items()}
    if not pictures:
        raise ValueError(
            f"{episodes}: no failed and no detouring attempt among {len(groups)} groups that can be drawn (at least "
            f"two attempts at one puzzle, of 1 to {LONGEST} decisions); store more attempts or those of a weaker policy"
        )
    return _write(pictures, out)


def draw_example(out: Path, seed: int = 0) -> list[Path]:
    """Draw the credit pictures of a noisy expert on Rush Hour into the folder `out`; returns the files."""
    return _write(example_pictures(seed), out)


def example_pictures(seed: int = 0, continuations: int = EXAMPLE_CONTINUATIONS) -> dict[str, Timeline]:
    """Return the pictures of a noisy expert on Rush Hour, every estimator included.

    Args:
        seed: of the attempts and of the continuations.
        continuations: from each state, whose mean return is its value.
    """
    instances = load_bank(EXAMPLE_LEVEL)[:EXAMPLE_INSTANCES]
    episodes = rollout(EXAMPLE_POLICY, instances, EXAMPLE_SETTINGS, EXAMPLE_ATTEMPTS, seed)
    where = ("example", "noisy-expert", seed, "noisy expert", 0, "rush-hour", instances[0].size, "atomic")
    drawn = chosen(groups_of(StoredEpisode(*where, episode) for episode in episodes))
    compared = {id(one.group): one.group for one in drawn.values()}
    values = {name: _values(group, instances, continuations, seed) for name, group in compared.items()}
    return {
        # Nothing can be earned after the budget, so the state after the last decision is worth 0.
        kind: credit_timeline(one.group, one.index, values=values[id(one.group)], final_values=np.zeros(len(one.group)))
        for kind, one in drawn.items()
    }


def _values(group: Group, instances: Sequence[Playable], continuations: int, seed: int) -> FloatArray:
    played = [one.episode for one in group]
    return rollout_values(EXAMPLE_POLICY, played, instances, EXAMPLE_SETTINGS, rollouts=continuations, seed=seed)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw what the command line asks for and name the files."""
    parser = argparse.ArgumentParser(prog="python -m reports.credit_picture", description="Draw who gets the credit.")
    parser.add_argument("episodes", type=Path, nargs="?", help="an episodes.parquet of a results folder")
    parser.add_argument("--example", action="store_true", help="let a noisy expert play Rush Hour instead")
    parser.add_argument(
        "--out", type=Path, default=Path(), help="folder of credit-failed and credit-detour (default .)"
    )
    options = parser.parse_args(arguments)
    if options.example == (options.episodes is not None):
        parser.error("name an episodes.parquet, or ask for --example")
    try:
        paths = draw_example(options.out) if options.example else draw_credit(options.episodes, options.out)
    except (ValueError, OSError) as error:
        parser.exit(1, f"{parser.prog}: {error}\n")
    for path in paths:
        print(path)
    for kind, words in MISSING.items():
        if not any(path.stem == f"credit-{kind}" for path in paths):
            print(f"not drawn: {words}")
    return 0


def _write(pictures: dict[str, Timeline], out: Path) -> list[Path]:
    kind = FIGURES["credit"]
    return [
        path for name, picture in pictures.items() for path in write_figure(draw(kind, picture), out, f"credit-{name}")
    ]


if __name__ == "__main__":
    raise SystemExit(main())
