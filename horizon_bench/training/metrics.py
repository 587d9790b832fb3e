"""What one rollout batch says about the policy, as a flat dictionary of numbers. Torch-free."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from horizon_bench.episodes import Episode


def rollout_metrics(episodes: Sequence[Episode]) -> dict[str, float]:
    """Return the means over a batch of episodes.

    Returns:
        Over episodes: `episodes`, `groups`, `success`, `return` (undiscounted task reward), `decisions`,
        `atomic_steps`, `tokens`, `subgoals` (reached for the first time), `distance` (of the starts),
        `group_reward_std` (mean over groups of the standard deviation of returns). Over decisions: `entropy` (nats per
        token), `tokens_per_decision`, `macro_length` (actions written in a readable reply), `format_share` (readable
        replies), `lost_share` (unreadable ones and those voided by a false thought), `invalid_share` (unreadable, void
        or with an illegal action), `illegal_action_share` (refused among written actions), `capped_share` (replies that
        hit the token cap).
    """
    turns = [turn for episode in episodes for turn in episode.turns]
    returns = np.array([sum(turn.reward for turn in episode.turns) for episode in episodes])
    groups = np.array([episode.group for episode in episodes])
    spread = float(np.mean([returns[groups == group].std() for group in np.unique(groups)]))
    written = [turn.actions_written for turn in turns if turn.format_ok]
    return {
        "episodes": float(len(episodes)),
        "groups": float(len(np.unique(groups))),
        "success": float(np.mean([episode.solved for episode in episodes])),
        "return": float(returns.mean()),
        "decisions": len(turns) / len(episodes),
        "atomic_steps": float(np.mean([episode.atomic_steps for episode in episodes])),
        "tokens": float(np.mean([episode.tokens for episode in episodes])),
        "subgoals": sum(len(turn.subgoals_reached) for turn in turns) / len(episodes),
        "distance": float(np.mean([episode.distance for episode in episodes])),
        "group_reward_std": spread,
        "entropy": float(np.mean([turn.entropy for turn in turns])),
        "tokens_per_decision": float(np.mean([turn.tokens for turn in turns])),
        "macro_length": float(np.mean(written)) if written else 0.0,
        "format_share": len(written) / len(turns),
        "lost_share": float(np.mean([turn.lost for turn in turns])),
        "invalid_share": float(np.mean([not turn.legal for turn in turns])),
        "illegal_action_share": sum(turn.illegal_actions for turn in turns) / max(1, sum(written)),
        "capped_share": float(np.mean([turn.capped for turn in turns])),
    }
