from __future__ import annotations

import numpy as np

from horizon_bench.credit.archer import (
    DoubleCritic,
    archer_actor_losses,
    archer_advantages,
    archer_critic_gradients,
    archer_critic_losses,
)


def critic(action_values: list[list[float]]) -> DoubleCritic:
    return DoubleCritic(
        action_values=np.array(action_values),
        state_values=np.array([[0.0, 1.0], [0.5, 0.5]]),
        target_action_values=np.array([[1.0, 1.0], [0.5, 0.0]]),
        target_next_values=np.array([[2.0, 9.0], [1.0, 9.0]]),
    )


def test_each_head_has_its_own_target() -> None:
    """Q targets: 1 + 0.5 * V' for the first turn, 1 at the end of the episode."""
    action, state = archer_critic_losses(
        critic([[2.0, 1.0], [2.0, 1.0]]), np.array([1.0, 1.0]), np.array([0.0, 1.0]), gamma=0.5
    )
    np.testing.assert_allclose(action, [0.0, 0.125])
    np.testing.assert_allclose(state, [0.5, 0.125])


def test_gradients_are_those_of_the_losses() -> None:
    rewards, done, size = np.array([1.0, 1.0]), np.array([0.0, 1.0]), 1e-6
    start = [[0.3, -0.2], [1.1, 0.4]]
    analytic, _ = archer_critic_gradients(critic(start), rewards, done, gamma=0.5)
    for head in range(2):
        for turn in range(2):
            moved = [row.copy() for row in start]
            moved[head][turn] += size
            after = archer_critic_losses(critic(moved), rewards, done, gamma=0.5)[0].sum()
            before = archer_critic_losses(critic(start), rewards, done, gamma=0.5)[0].sum()
            np.testing.assert_allclose((after - before) / size, analytic[head, turn], atol=1e-5)


def test_the_advantage_takes_the_smaller_of_both_heads() -> None:
    found = archer_advantages(np.array([[1.0, 3.0], [2.0, 2.0]]), np.array([[0.0, 1.0], [0.5, 0.5]]))
    assert found.tolist() == [1.0, 1.5]


def test_the_baseline_loss_divides_by_masked_positions_too() -> None:
    """Advantage 1, values 0.5 and (masked) 9: residuals 0.5 and 0."""
    arrays = np.array([1.0]), np.array([[-2.0, -4.0]]), np.array([[1.0, 0.0]])
    assert archer_actor_losses(*arrays) == (2.0, 0.0)
    assert archer_actor_losses(*arrays, np.array([[0.5, 9.0]])) == (1.0, 0.125)


def test_lists_of_integers_are_taken() -> None:
    np.testing.assert_array_equal(archer_advantages([[1, 2], [0, 3]], [[0, 0], [1, 1]]), [0, 2])
    assert archer_actor_losses([1], [[-1, -2]], [[1, 1]]) == (3.0, 0.0)


def test_gradients_of_state_values_are_twice_the_mean_error() -> None:
    """Errors of V: 0 - 1, 1 - 1; 0.5 - 0.5, 0.5 - 0."""
    rewards, done = np.array([1.0, 1.0]), np.array([0.0, 1.0])
    _, state = archer_critic_gradients(critic([[2.0, 1.0], [2.0, 1.0]]), rewards, done, gamma=0.5)
    assert state.tolist() == [[-1.0, 0.0], [0.0, 0.5]]


def test_the_policy_loss_is_the_mean_over_turns_of_sums_over_tokens() -> None:
    """Turn 1: 2 * (-1 - 2), turn 2: -1 * -4; the mean of -6 and 4, turned around."""
    loss, _ = archer_actor_losses([2.0, -1.0], [[-1.0, -2.0], [-4.0, -8.0]], [[1, 1], [1, 0]])
    assert loss == 1.0
