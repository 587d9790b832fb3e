"""What each entry of an info dict means; the documentation pages are made from this."""

INFO: dict[str, str] = {
    "decisions": "decisions taken in the episode",
    "atomic_steps": "atomic moves carried out in the episode",
    "tokens": "tokens generated, as told by `count_tokens`, else blank-separated words",
    "distance": "goal distance of the start, in atomic actions",
    "distance_to_go": "goal distance of the state, in atomic actions; None if the goal is out of reach",
    "subgoals_done": "which subgoals hold now, in the oracle's order",
    "subgoals_reached": "indices of the subgoals that this decision reached for the first time",
    "own_subgoal": "index of the subgoal that the first carried-out move worked on, or None",
    "goal": "whether the goal is reached",
    "state_hash": "63 bits that name the state, the same in every process",
    "instance_key": "content key of the instance",
    "level": "level of the instance, or `-`",
    "format_ok": "whether the reply followed the grammar of its interface",
    "legal": "whether the reply was read and the rules refused nothing of what was tried",
    "void": "whether a false claim in the thought voided the reply",
    "actions_written": "atomic actions the reply asked for",
    "moves": "canonical text of the atomic moves carried out by this decision",
    "illegal_actions": "atomic actions of this decision that the rules refused",
    "failed_actions": "legal actions of this decision that had no effect by chance",
    "step_reward": "format and legality: -1 for an unreadable or void reply, else minus the share of refused actions",
    "end_reason": "`solved`, `wrong`, `illegal`, `format`, `dead`, `max_decisions`, `max_atomic_steps`, `max_tokens`, "
    "`lost` or `crashed` where a world from outside ended by itself, or empty while the episode goes on",
    "action_mask": "structured form only: which moves are legal now",
}
"""Every key of an info dict and what it holds."""
