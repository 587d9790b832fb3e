"""Bias, variance and direction of every estimator's gradient, measured against the exact one.

`python -m horizon_bench.credit.probe` prints the table that `docs/credit.md` shows.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from horizon_bench.credit.batch import CreditBatch, FloatArray
from horizon_bench.credit.diagnostics import isolation_correlation
from horizon_bench.credit.probe_chain import ACTIONS, Chain
from horizon_bench.credit.registry import ESTIMATORS, NEEDS_VALUES, Estimator, find_estimator


@dataclass(frozen=True)
class ProbeResult:
    """How an estimator's gradient relates to the exact one, over many sampled batches."""

    name: str
    scale: float
    """Length of the mean gradient along the exact one: 1 for an unbiased estimator, below 1 for one that shrinks."""
    bias: float
    """|mean - exact| over |exact|; of little meaning for normalised advantages, whose scale is free."""
    tilt: float
    """Part of the mean gradient at right angles to the exact one, over its length: bias of direction."""
    tilt_error: float
    """Standard error of the tilt: what sampling alone would give an unbiased estimator."""
    cosine: float
    """Cosine between the mean gradient and the exact one."""
    batch_cosine: float
    """Mean cosine between a single batch's gradient and the exact one: what one update sees."""
    noise: float
    """Root of the summed variances of one batch's gradient over the length of the mean gradient."""


def probe_gradients(
    estimator: Estimator, chain: Chain, *, batches: int, groups: int, attempts: int, seed: int, rollouts: int = 0
) -> FloatArray:
    """Return the gradient estimate of each sampled batch, mean over its episodes, shape [batches, places * 3].

    Args:
        estimator: called on each batch.
        chain: environment and policy.
        batches: how many are sampled.
        groups: groups in a batch.
        attempts: episodes in a group.
        seed: two estimators with one seed see the same episodes.
        rollouts: replaces the exact values by the mean of so many continuations of each state; 0 keeps them.
    """
    gradients = np.zeros((batches, chain.places * ACTIONS))
    for index, stream in enumerate(np.random.SeedSequence(seed).spawn(batches)):
        sampling, simulating = (np.random.default_rng(child) for child in stream.spawn(2))
        batch = chain.sample(groups, attempts, sampling)
        if rollouts:
            batch = replace(batch, values=rollout_values(batch, chain, rollouts, simulating))
        gradients[index] = batch_gradient(batch, estimator(batch), chain) / (groups * attempts)
    return gradients


def batch_gradient(batch: CreditBatch, advantages: FloatArray, chain: Chain) -> FloatArray:
    """Return the sum over decisions of A * grad log pi(action | place), shape [places * 3]."""
    score = np.zeros((batch.turns, ACTIONS))
    score[np.arange(batch.turns), batch.actions] = 1.0
    score -= chain.probabilities[batch.states]
    gradient = np.zeros((chain.places, ACTIONS))
    np.add.at(gradient, batch.states, advantages[:, None] * score)
    return gradient.ravel()


def rollout_values(batch: CreditBatch, chain: Chain, rollouts: int, rng: np.random.Generator) -> FloatArray:
    """Return the mean return of `rollouts` continuations of each decision's state, shape [turns]."""
    total = np.zeros(batch.turns)
    for _ in range(rollouts):
        total += chain.simulate(batch.states, batch.turn_in_episode, rng)
    return total / rollouts


def summarize(name: str, gradients: FloatArray, exact: FloatArray) -> ProbeResult:
    """Return how sampled gradients, shape [batches, parameters], relate to the exact one, shape [parameters]."""
    mean, length = gradients.mean(axis=0), float(np.linalg.norm(exact))
    along = float(mean @ exact) / length**2
    across = mean - along * exact
    size = float(np.linalg.norm(mean))
    variance = gradients.var(axis=0, ddof=1)
    lengths = np.linalg.norm(gradients, axis=1)
    moved = lengths > 0
    cosines = (gradients[moved] @ exact) / (lengths[moved] * length)
    return ProbeResult(
        name=name,
        scale=along,
        bias=float(np.linalg.norm(mean - exact)) / length,
        tilt=float(np.linalg.norm(across)) / size if size else math.nan,
        tilt_error=math.sqrt(float(variance.sum()) / len(gradients)) / size if size else math.nan,
        cosine=float(mean @ exact) / (size * length) if size else math.nan,
        batch_cosine=float(cosines.sum()) / len(gradients),
        noise=math.sqrt(float(variance.sum())) / size if size else math.nan,
    )


def probe(
    names: Sequence[str] = (),
    *,
    chain: Chain | None = None,
    batches: int = 400,
    groups: int = 4,
    attempts: int = 8,
    seed: int = 0,
    rollouts: int = 9,
) -> list[ProbeResult]:
    """Return the bias, variance and direction of registered estimators on the chain.

    Args:
        names: which estimators; all where left out.
        chain: environment and policy.
        batches: sampled batches for each.
        groups: groups in a batch.
        attempts: episodes in a group.
        seed: all estimators see the same episodes.
        rollouts: continuations behind each value that `vineppo` uses; `ppo` gets exact values.
    """
    where = chain if chain is not None else Chain()
    results = []
    for name in names or ESTIMATORS:
        simulated = rollouts if NEEDS_VALUES.get(name) == "rollouts" else 0
        sizes = {"batches": batches, "groups": groups, "attempts": attempts}
        gradients = probe_gradients(find_estimator(name), where, **sizes, seed=seed, rollouts=simulated)
        results.append(summarize(name, gradients, where.exact_gradient().ravel()))
    return results


def probe_isolation(
    names: Sequence[str] = (), *, chain: Chain | None = None, groups: int = 2000, attempts: int = 8, seed: int = 0
) -> dict[str, float]:
    """Return how each estimator's segment advantages correlate with what is earned after the segment.

    The default chain has a budget that does not bind, so that an early subgoal does not buy time for later ones: any
    correlation comes from the estimator.

    Args:
        names: which estimators; all where left out.
        chain: environment and policy.
        groups: groups in the one batch.
        attempts: episodes in a group.
        seed: of the episodes.
    """
    batch = (chain if chain is not None else Chain(budget=30)).sample(groups, attempts, np.random.default_rng(seed))
    return {name: isolation_correlation(batch, find_estimator(name)(batch)) for name in names or ESTIMATORS}


def format_table(results: Sequence[ProbeResult]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        "| estimator | scale | tilt (± sampling) | cosine of the mean | cosine of one batch | noise |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{result.name}` | {result.scale:.3f} | {result.tilt:.3f} (± {result.tilt_error:.3f}) | {result.cosine:.3f} "
        f"| {result.batch_cosine:.3f} | {result.noise:.2f} |"
        for result in results
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table for the given command-line arguments."""
    parser = argparse.ArgumentParser(prog="python -m horizon_bench.credit.probe", description=__doc__)
    parser.add_argument("names", nargs="*", help="estimators; all where left out")
    parser.add_argument("--batches", type=int, default=400, help="sampled batches for each estimator")
    parser.add_argument("--groups", type=int, default=4, help="groups in a batch")
    parser.add_argument("--attempts", type=int, default=8, help="episodes in a group")
    parser.add_argument("--seed", type=int, default=0, help="all estimators see the same episodes")
    parser.add_argument("--rollouts", type=int, default=9, help="continuations behind each value of vineppo")
    parser.add_argument("--isolation", action="store_true", help="print correlations with later segments instead")
    options = vars(parser.parse_args(arguments))
    names, isolation = options.pop("names"), options.pop("isolation")
    if isolation:
        for name, value in probe_isolation(names, seed=options["seed"]).items():
            print(f"{name:22} {value:6.3f}")
    else:
        print(format_table(probe(names, **options)))


if __name__ == "__main__":
    main()
