"""Log-probabilities in bfloat16 against float32, on replies that a saved model writes itself.

Usage: python benchmarks/precision.py MODEL --level T3 --puzzles 50

MODEL is the folder of a small model, or hf:NAME.
"""

from __future__ import annotations

import argparse

from curricula import load_bank
from horizon_bench.envs import Settings
from horizon_bench.policies import make_policy
from horizon_bench.policies.chat import ChatSampling
from horizon_bench.training.precision import precision_report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--level", default="T3")
    parser.add_argument("--puzzles", type=int, default=50)
    parser.add_argument("--interface", default="macro")
    parser.add_argument("--max-new-tokens", type=int, default=32)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.model.startswith("hf:"):
        policy = make_policy(chosen.model, sampling=ChatSampling(max_new_tokens=chosen.max_new_tokens))
        settings = Settings(interface=chosen.interface)
    else:
        policy = make_policy("tiny", folder=chosen.model)
        settings = Settings(interface=chosen.interface, observation="compact", on_error="semi")
    puzzles = load_bank(chosen.level, "test")[: chosen.puzzles]
    for name, value in precision_report(policy, puzzles, settings, seed=chosen.seed).items():  # type: ignore[arg-type]
        print(f"{name:<14}{value:10.5f}")


if __name__ == "__main__":
    main()
