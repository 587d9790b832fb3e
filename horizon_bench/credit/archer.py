"""ArCHer's losses over turns (arXiv 2402.19446), in numpy: what its trainer's double critic and actor minimise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from horizon_bench.credit.arrays import as_floats
from horizon_bench.credit.batch import FloatArray


@dataclass(frozen=True)
class DoubleCritic:
    """Two critics' outputs for each turn, each of shape [2, turns]."""

    action_values: FloatArray
    """Q(s, a) of the two critics being trained."""
    state_values: FloatArray
    """V(s) of the two critics being trained."""
    target_action_values: FloatArray
    """Q(s, a') of the target critics, a' sampled from the current policy."""
    target_next_values: FloatArray
    """V(s') of the target critics."""

    def __post_init__(self) -> None:
        """Convert lists to arrays."""
        for name, value in vars(self).items():
            object.__setattr__(self, name, np.asarray(value, dtype=np.float64))


def archer_critic_losses(
    critic: DoubleCritic, rewards: ArrayLike, done: ArrayLike, *, gamma: float
) -> tuple[FloatArray, FloatArray]:
    """Return the mean squared errors of Q and of V, each of shape [2]; ArCHer minimises the sum of all four.

    Q_i regresses on r + gamma (1 - done) V_i(s') of the target critic, V_i on the target's Q_i(s, a'); every head has
    targets of its own.

    Args:
        critic: outputs for each turn.
        rewards: shape [turns].
        done: 1 where the episode ended, shape [turns].
        gamma: discount for one turn.
    """
    action_error, state_error = _errors(critic, rewards, done, gamma)
    return np.mean(action_error**2, axis=1), np.mean(state_error**2, axis=1)


def archer_critic_gradients(
    critic: DoubleCritic, rewards: ArrayLike, done: ArrayLike, *, gamma: float
) -> tuple[FloatArray, FloatArray]:
    """Return the losses' gradients by Q and by V, each of shape [2, turns]."""
    action_error, state_error = _errors(critic, rewards, done, gamma)
    turns = action_error.shape[1]
    return 2 * action_error / turns, 2 * state_error / turns


def archer_advantages(action_values: ArrayLike, state_values: ArrayLike) -> FloatArray:
    """Return min(Q_1, Q_2) - min(V_1, V_2) of each turn from outputs of shape [2, turns], shape [turns]."""
    action_values, state_values = as_floats(action_values, state_values)
    return np.asarray(action_values.min(axis=0) - state_values.min(axis=0), dtype=np.float64)


def archer_actor_losses(
    advantages: ArrayLike, logprobs: ArrayLike, mask: ArrayLike, token_values: ArrayLike | None = None
) -> tuple[float, float]:
    """Return the policy loss and the token baseline's loss.

    Policy: minus the mean over turns of the sum over tokens of (A - token value) * log-probability. Baseline: mean over
    all positions, masked ones included, of the squared masked A - token value; 0 without a baseline.

    Args:
        advantages: shape [turns].
        logprobs: shape [turns, tokens].
        mask: 1 at generated tokens, shape [turns, tokens].
        token_values: shape [turns, tokens].
    """
    advantages, logprobs, mask = as_floats(advantages, logprobs, mask)
    baseline = np.zeros_like(logprobs) if token_values is None else np.asarray(token_values, dtype=np.float64)
    residual = (advantages[:, None] - baseline) * mask
    policy = -float(np.mean((residual * logprobs).sum(axis=1)))
    return policy, 0.0 if token_values is None else float(np.mean(residual**2))


def _errors(critic: DoubleCritic, rewards: ArrayLike, done: ArrayLike, gamma: float) -> tuple[FloatArray, FloatArray]:
    rewards, done = as_floats(rewards, done)
    target = rewards + gamma * (1 - done) * critic.target_next_values
    return critic.action_values - target, critic.state_values - critic.target_action_values
