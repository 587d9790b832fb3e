"""How the policies of cells come about: the words for credit, and for policies that are not trained."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Learner:
    """How a cell's policy comes about: trained with an estimator on a reward, or not trained at all."""

    policy: str = "tiny"
    """`tiny` is trained; `expert`, `noisy-expert` and `random` are not."""
    estimator: str = "reinforce"
    reward: str = "outcome"


LEARNERS: dict[str, Learner] = {
    "outcome": Learner(),
    "subgoal": Learner(estimator="subgoal-next", reward="subgoal"),
    "ownsubgoal": Learner(estimator="subgoal-own", reward="subgoal"),
    "grpo": Learner(estimator="grpo"),
    "rloo": Learner(estimator="rloo"),
    "reinforcepp": Learner(estimator="reinforce++"),
    "gigpo": Learner(estimator="gigpo"),
    "beacon": Learner(estimator="beacon"),
    "ppo": Learner(estimator="ppo"),
    "vineppo": Learner(estimator="vineppo"),
    "hindsight": Learner(estimator="hindsight"),
    "grponostd": Learner(estimator="grpo-no-std"),
    "reinforceppbaseline": Learner(estimator="reinforce++-baseline"),
    "rloodecision": Learner(estimator="rloo-decision"),
    "centreddecision": Learner(estimator="centred-decision"),
    "centredturns": Learner(estimator="centred-turns"),
    "beaconreleased": Learner(estimator="beacon-released"),
    "beacongamma0": Learner(estimator="beacon-gamma-0"),
    "beacongamma1": Learner(estimator="beacon-gamma-1"),
    "beaconsegment": Learner(estimator="beacon-segment"),
    "beacontrajectory": Learner(estimator="beacon-trajectory"),
    "beaconrandomcuts": Learner(estimator="beacon-random-cuts"),
    "beacondropped": Learner(estimator="beacon-dropped"),
    "mira": Learner(estimator="mira"),
    "mirakl": Learner(estimator="mira-kl"),
    "miraawr": Learner(estimator="mira-awr"),
    "miranopotential": Learner(estimator="mira-no-potential"),
    "miramc": Learner(estimator="mira-mc"),
    "miratd": Learner(estimator="mira-td"),
    "miraannealed": Learner(estimator="mira-annealed"),
    "miranoreplay": Learner(estimator="mira-no-replay"),
    "miranocurriculum": Learner(estimator="mira-no-curriculum"),
    "bc": Learner(estimator="bc"),
    "sft": Learner(estimator="none"),
    "expert": Learner(policy="expert", estimator="none"),
    "noisy": Learner(policy="noisy-expert", estimator="none"),
    "random": Learner(policy="random", estimator="none"),
}
