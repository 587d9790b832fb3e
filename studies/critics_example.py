"""Draws what MiRA's critics expect along one solved and one failed episode, after SFT and a few phases.

`python -m studies.critics_example --out docs/images` makes the pictures of the documentation in about a minute.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import tyro

from curricula import Instance, load_bank
from horizon_bench.envs import Settings
from horizon_bench.mira.phases import REPLAY_FOLDER, train_mira
from horizon_bench.mira.replay import Replayed, read_buffer
from horizon_bench.policies.tiny import TinyPolicy
from horizon_bench.training.configs import RolloutConfig, UpdateConfig
from horizon_bench.training.settings import tiny_model, tiny_settings
from horizon_bench.training.sft import train_sft
from puzzles.sudoku import Sudoku
from reports.figures import FIGURES, draw, write_figure
from reports.gather_critics import pictures_of

LEVEL = "T3"
NAMES = ("critics-solved", "critics-failed")


def after_sft(seed: int) -> TinyPolicy:
    """Return the small policy after SFT on 4x4 Sudoku, as studies make it."""
    size, settings = tiny_model(4), tiny_settings(4)
    policy = TinyPolicy.create(Sudoku(4), board_tokens=16, hidden_size=size.hidden_size, layers=size.layers, seed=seed)
    known: list[Instance] = [one for level in ("T1", "T2", "T3") for one in load_bank(level)]
    train_sft(policy, Sudoku(4), known, replace(settings.sft, seed=seed))
    return policy


def phases(policy: TinyPolicy, updates: int, seed: int) -> list[Replayed]:
    """Train in place and return the episodes of the last update, with what the critics expected of them."""
    with tempfile.TemporaryDirectory() as folder:
        train_mira(
            policy,
            load_bank(LEVEL),
            Settings(observation="compact", on_error="semi"),
            RolloutConfig(),
            UpdateConfig(updates=updates),
            seed=seed,
            folder=Path(folder) / "checkpoints",
        )
        rows = read_buffer(Path(folder) / REPLAY_FOLDER)
    return [one for one in rows if one.update == updates - 1]


def main(out: Path = Path("docs/images"), updates: int = 12, seed: int = 0, policy: Path | None = None) -> None:
    """Train and draw.

    Args:
        out: folder of the pictures.
        updates: phases.
        seed: of everything.
        policy: folder of a saved policy after SFT; made anew by default.
    """
    start = after_sft(seed) if policy is None else TinyPolicy.load(policy)
    name = f"atomic, MiRA, trained on {LEVEL}, seed {seed}"
    for stem, panel in zip(NAMES, pictures_of(phases(start, updates, seed), name), strict=False):
        print(*write_figure(draw(FIGURES["critics"], panel), out, stem), sep="\n")
        print(panel.note)


if __name__ == "__main__":
    tyro.cli(main)
