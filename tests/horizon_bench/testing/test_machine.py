"""The state machine finds nothing in sound puzzles under any interface, and finds a seeded fault."""

import hypothesis
import pytest
from hypothesis.stateful import run_state_machine_as_test
from lights_out import LightsOut

from horizon_bench.envs import INTERFACES
from horizon_bench.testing import machine_for

FAST = hypothesis.settings(
    max_examples=6,
    stateful_step_count=12,
    database=None,
    derandomize=True,
    phases=(hypothesis.Phase.generate,),
    suppress_health_check=list(hypothesis.HealthCheck),
)

STARTS = {
    "sudoku": ("12..3.....4....2",),
    "rush-hour": ("AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR.",),
    "shop": ("nordal insulated rug <=15 red",),
    LightsOut: (),
}


@pytest.mark.parametrize("interface", INTERFACES)
@pytest.mark.parametrize("puzzle", STARTS)
def test_twins_agree_under_every_interface(puzzle, interface):
    machine = machine_for(puzzle, starts=STARTS[puzzle], interface=interface, on_error="stay", failure_probability=0.2)
    run_state_machine_as_test(machine, settings=FAST)


class DrawsTheLastLampAstray(LightsOut):
    def render(self, state):
        return super().render(state) if sum(state) != 3 else "\N{ELECTRIC LIGHT BULB}"


def test_a_seeded_fault_is_found():
    machine = machine_for(DrawsTheLastLampAstray, on_error="stay", budget_slack=5.0)
    with pytest.raises(AssertionError, match="outside its space"):
        run_state_machine_as_test(machine, settings=hypothesis.settings(FAST, max_examples=40))
