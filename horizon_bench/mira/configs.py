"""Every choice of a MiRA run as one frozen record, and the variants by name. Torch-free."""

from __future__ import annotations

from dataclasses import dataclass

from horizon_bench.checks import check_least, check_positive
from puzzles.names import check_name

REPLAY_LIMIT = 2.0
"""Most replayed replies as a multiple of the new ones, as published."""
LOSS_NAMES = ("squared", "kl", "awr", "bc")
"""What is minimised over replies, see `horizon_bench.mira.losses`."""


def _within(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} must lie in {low:g}..{high:g}, not {value}")


@dataclass(frozen=True)
class MiraConfig:
    """How a phase learns. Published are `shaping` and the bounds of likelihood, success and replay."""

    loss: str = "squared"
    """Name in `LOSS_NAMES`."""
    beta: float = 0.5
    """Strength of the pull towards the reference; for `awr` the temperature of its weights. Ours."""
    lam: float = 0.5
    """Weight of the one-step term of the advantage; 1 trusts the critic alone, 0 the return alone. Ours."""
    gamma: float = 1.0
    """Discount for one decision. Ours: the value critic estimates a probability of success, which has no discount."""
    shaping: float = 0.3
    """Coefficient a of the potential's difference in the shaped reward; 0 trains no potential critic."""
    anneal_updates: int = 0
    """Updates over which a falls linearly to 0; 0 keeps it."""
    label_failures: bool = False
    """Whether failed episodes get progress labels up to their last subgoal."""
    phase_updates: int = 1
    """Updates that share one frozen reference policy. Ours."""
    epochs: int = 1
    """Passes over the new and the replayed replies of an update. Ours."""
    steps_per_epoch: int = 2
    """Optimiser steps in a pass. Ours."""
    collect_share: float = 0.5
    """Groups played in an update, as a share of the rollout's: replayed replies stand in for the others. Ours."""
    critic_steps: int = 4
    """Optimiser steps of the critics in an update. Ours."""
    first_critic_steps: int = 60
    """The same in the first update, when the critics know nothing. Ours."""
    critic_batch: int = 256
    """States in one of them. Ours."""
    critic_rate: float = 2e-3
    """Learning rate of the critics. Ours."""
    replay_updates: int = 10
    """Updates whose episodes the buffer keeps; 0 replays nothing. Ours."""
    replay_share: float = 1.0
    """Most replayed replies, as a multiple of the new ones; ours, the published limit is 2."""
    likelihood_low: float = 0.5
    """A replayed reply's mean token probability under the policy, 1 / perplexity, must lie above this ..."""
    likelihood_high: float = 0.95
    """... and not above this: what is mastered already is left out."""
    failure_share: float = 0.5
    """Share of the instances that are drawn near the last update's failures; 0 for no curriculum. Ours."""
    success_low: float = 0.05
    """Least success that the value critic may expect at the start of such an instance."""
    success_high: float = 0.75
    """Most success that it may expect there."""

    def __post_init__(self) -> None:
        """Check the fields."""
        check_name("loss", self.loss, LOSS_NAMES)
        for name in ("lam", "gamma", "likelihood_low", "likelihood_high", "failure_share", "success_low"):
            _within(name, getattr(self, name), 0.0, 1.0)
        _within("likelihood_high", self.likelihood_high, self.likelihood_low, 1.0)
        _within("success_high", self.success_high, self.success_low, 1.0)
        for name, most in (("shaping", 100.0), ("replay_share", REPLAY_LIMIT)):
            _within(name, getattr(self, name), 0.0, most)
        if not 0.0 < self.collect_share <= 1.0:
            raise ValueError(f"collect_share must lie above 0 and not above 1, not {self.collect_share}")
        check_positive(self, "beta", "critic_rate")
        check_least(self, 1, "phase_updates", "epochs", "steps_per_epoch")
        check_least(self, 1, "critic_steps", "first_critic_steps", "critic_batch")
        check_least(self, 0, "anneal_updates", "replay_updates")

    def shaping_at(self, update: int) -> float:
        """Return the coefficient a of an update, counted from 0."""
        if not self.anneal_updates:
            return self.shaping
        return self.shaping * max(0.0, 1.0 - update / self.anneal_updates)


MIRA_VARIANTS: dict[str, MiraConfig] = {
    "mira": MiraConfig(),
    "mira-kl": MiraConfig(loss="kl", beta=0.05),
    "mira-awr": MiraConfig(loss="awr", beta=0.2),
    "mira-no-potential": MiraConfig(shaping=0.0),
    "mira-mc": MiraConfig(lam=0.0),
    "mira-td": MiraConfig(lam=1.0),
    "mira-annealed": MiraConfig(anneal_updates=80),
    "mira-no-replay": MiraConfig(replay_updates=0),
    "mira-no-curriculum": MiraConfig(failure_share=0.0),
    "bc": MiraConfig(loss="bc", shaping=0.0),
}
"""The whole and its ablations by name: as cells call their estimator."""


def find_variant(name: str) -> MiraConfig:
    """Return a variant by name; an unknown one raises `ValueError` that names the nearest."""
    return MIRA_VARIANTS[check_name("variant of MiRA", name, MIRA_VARIANTS)]
