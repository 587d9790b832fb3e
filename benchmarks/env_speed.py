"""Steps and resets a second of our environments and of public ones, on one core, in one run.

    python benchmarks/env_speed.py --peers PYTHON [PYTHON ...]

Each `PYTHON` is an interpreter of an environment of its own in which peers are installed (`pip install textarena
gem-llm`, `pip install jumanji`); a peer that is missing is reported as such. Steps take random legal actions, resets
apart: the clock runs during the step only. The median step of each round, and of three rounds the best, count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

os.environ.update(OMP_NUM_THREADS="1", XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")

LANES = 1024
ROUNDS = 3


def best(measure: Callable[[], float]) -> float:
    return max(measure() for _ in range(ROUNDS))


def own_text(observation: str = "text", on_error: str = "end", level: str = "L6") -> float:
    """Return steps a second of the single text environment, through `gymnasium.make`."""
    import gymnasium
    import numpy as np

    import horizon_bench  # noqa: F401

    env = gymnasium.make("horizon_bench/Sudoku-v0", level=level, observation=observation, on_error=on_error)
    base, generator, times = env.unwrapped, np.random.default_rng(0), []
    for seed in range(-20, 300):
        env.reset(seed=abs(seed))
        for _ in range(40):
            moves = base.workshop.plain.moves(base.state)
            if not moves or base.game.end_reason:
                break
            move = moves[generator.integers(len(moves))]
            reply = (
                base.puzzle.format_action(move) if observation == "text" else " ".join(base.puzzle.compact_action(move))
            )
            begin = time.perf_counter()
            env.step(reply)
            if seed >= 0:
                times.append(time.perf_counter() - begin)
    return 1 / statistics.median(times)


def own_resets() -> float:
    import gymnasium

    import horizon_bench  # noqa: F401

    env = gymnasium.make("horizon_bench/Sudoku-v0", level="L6")
    for _ in range(700):
        env.reset()
    begin = time.perf_counter()
    for _ in range(1000):
        env.reset()
    return 1000 / (time.perf_counter() - begin)


def own_vector(family: str = "Sudoku", level: str = "L7", steps: int = 30) -> float:
    """Return lane steps a second of the batched environment; lanes that end are reset between the timed steps."""
    import gymnasium
    import numpy as np

    import horizon_bench  # noqa: F401

    vector = gymnasium.make_vec(
        f"horizon_bench/{family}-v0", LANES, level=level, observation="array", autoreset_mode="Disabled"
    )
    generator, times = np.random.default_rng(0), []
    _, infos = vector.reset(seed=0)
    mask = infos["action_mask"]
    for _ in range(steps):
        counts = mask.sum(axis=1, dtype=np.int64)
        picks = np.cumsum(counts) - counts + generator.integers(np.maximum(counts, 1))
        actions = np.flatnonzero(mask)[picks] % mask.shape[1]
        begin = time.perf_counter()
        _, _, terminated, truncated, infos = vector.step(actions)
        times.append(time.perf_counter() - begin)
        over, mask = terminated | truncated, infos["action_mask"]
        if over.any():
            mask = np.where(over[:, None], vector.reset(options={"reset_mask": over})[1]["action_mask"], mask)
    return LANES / statistics.median(times)


def cartpole() -> float:
    import gymnasium
    import numpy as np

    vector = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * LANES)
    vector.reset(seed=0)
    generator, times = np.random.default_rng(0), []
    for _ in range(15):
        actions = generator.integers(0, 2, LANES)
        begin = time.perf_counter()
        vector.step(actions)
        times.append(time.perf_counter() - begin)
    return LANES / statistics.median(times)


def textarena() -> float:
    import random

    import textarena as ta

    env, generator, times = ta.make("Sudoku-v0"), random.Random(0), []
    for seed in range(4):
        env.reset(num_players=1, seed=seed)
        raw = env
        while hasattr(raw, "env"):
            raw = raw.env
        env.get_observation()
        for _ in range(40):
            board = raw.state.game_state["board"]
            legal = fitting(board)
            if not legal:
                break
            row, column, digit = generator.choice(legal)
            begin = time.perf_counter()
            done, _ = env.step(f"[{row + 1} {column + 1} {digit}]")
            if not done:
                env.get_observation()
            times.append(time.perf_counter() - begin)
            if done:
                break
    return 1 / statistics.median(times)


def fitting(board: list[list[int]]) -> list[tuple[int, int, int]]:
    """Return row, column and digit of every fill that breaks no rule."""
    blanks = [(row, column) for row in range(9) for column in range(9) if not board[row][column]]
    return [(*place, digit) for place in blanks for digit in range(1, 10) if fits(board, *place, digit)]


def fits(board: list[list[int]], row: int, column: int, digit: int) -> bool:
    top, left = row // 3 * 3, column // 3 * 3
    return (
        digit not in board[row]
        and all(line[column] != digit for line in board)
        and all(digit not in line[left : left + 3] for line in board[top : top + 3])
    )


def gem_env() -> object:
    from gem.envs.game_env.sudoku import SudokuEnv

    return SudokuEnv(clues=41, max_turns=1000)


def gem_text() -> float:
    import random

    env, generator, times = gem_env(), random.Random(0), []
    for seed in range(8):
        env.reset(seed=seed)
        for _ in range(40):
            board = env.board
            legal = fitting(board)
            if not legal:
                break
            row, column, digit = generator.choice(legal)
            begin = time.perf_counter()
            env.step(rf"\boxed{{{row + 1} {column + 1} {digit}}}")
            times.append(time.perf_counter() - begin)
    return 1 / statistics.median(times)


def gem_resets() -> float:
    env = gem_env()
    begin = time.perf_counter()
    for seed in range(5):
        env.reset(seed=seed)
    return 5 / (time.perf_counter() - begin)


def jumanji() -> float:
    import jax
    import jax.numpy as jnp
    import jumanji as library

    env = library.make("Sudoku-v0")
    step, reset = jax.jit(jax.vmap(env.step)), jax.jit(jax.vmap(env.reset))

    @jax.jit
    def act(key, mask):
        flat = mask.reshape(LANES, -1)
        noise = jax.random.uniform(key, flat.shape) * flat
        return jnp.stack(jnp.unravel_index(noise.argmax(axis=1), mask.shape[1:]), axis=1).astype(jnp.int32)

    state, timestep = reset(jax.random.split(jax.random.PRNGKey(0), LANES))
    times = []
    for number in range(25):
        actions = act(jax.random.PRNGKey(number), timestep.observation.action_mask)
        jax.block_until_ready(actions)
        begin = time.perf_counter()
        state, timestep = step(state, actions)
        jax.block_until_ready((state, timestep))
        if number >= 2:
            times.append(time.perf_counter() - begin)
    return LANES / statistics.median(times)


OURS: dict[str, Callable[[], float]] = {
    "text 9x9, steps/s": own_text,
    "compact 4x4, steps/s": lambda: own_text("compact", level="T5"),
    "resets 9x9 text, resets/s": own_resets,
    "batched Sudoku, 1,024 lanes, steps/s": own_vector,
    "batched Rush Hour, 1,024 lanes, steps/s": lambda: own_vector("RushHour", "R1"),
    "CartPole SyncVectorEnv, 1,024 lanes, steps/s": cartpole,
}
PEERS: dict[str, Callable[[], float]] = {
    "textarena, default wrappers, steps/s": textarena,
    "gem-llm, raw, steps/s": gem_text,
    "gem-llm, resets/s": gem_resets,
    "jumanji, jitted vmap, 1,024 lanes, steps/s": jumanji,
}
RATIOS = (
    ("text 9x9, steps/s", "textarena, default wrappers, steps/s", 2),
    ("text 9x9, steps/s", "gem-llm, raw, steps/s", 1),
    ("resets 9x9 text, resets/s", "gem-llm, resets/s", 10),
    ("batched Sudoku, 1,024 lanes, steps/s", "jumanji, jitted vmap, 1,024 lanes, steps/s", 30),
    ("batched Sudoku, 1,024 lanes, steps/s", "CartPole SyncVectorEnv, 1,024 lanes, steps/s", 5),
)


def measured(entries: dict[str, Callable[[], float]]) -> dict[str, float]:
    found = {}
    for name, measure in entries.items():
        try:
            found[name] = best(measure)
        except ImportError:
            continue
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", nargs="*", default=[], metavar="PYTHON")
    parser.add_argument("--only-peers", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only_peers:
        print(json.dumps(measured(PEERS)))
        return
    figures: dict[str, float] = {}
    for python in arguments.peers:
        run = subprocess.run([python, __file__, "--only-peers"], capture_output=True, text=True, check=True)
        figures.update(json.loads(run.stdout.strip().split("\n")[-1]))
    figures.update(measured(OURS))
    for name in (*OURS, *PEERS):
        print(f"{name:48} {figures[name]:>14,.0f}" if name in figures else f"{name:48}  not installed")
    for ours, theirs, wanted in RATIOS:
        if theirs in figures:
            ratio, names = figures[ours] / figures[theirs], (ours.split(",")[0], theirs.split(",")[0])
            print(f"{names[0]} / {names[1]}: {ratio:.1f} (wanted {wanted})")


if __name__ == "__main__":
    sys.exit(main())
