"""The prompt, word for word."""

import gymnasium

from horizon_bench.envs.prompts import CHARACTERS, LONGEST_PROMPT, clean

GOLDEN = """\
Sudoku on a 4x4 board with boxes of 2 rows x 2 columns. Fill every blank (.) with a digit from 1 to 4 so that no row, \
column or box holds a digit twice. Given digits never change.
One action fills one cell: value(DIGIT, rROWcCOLUMN), for example value(1, r1c1). A filled cell stays filled.
Reply with one or more actions; they are carried out in order.
Think first, between <think> and </think>; one false claim in it voids the whole reply.
You may state a short reason on the line before. End the reply with: Action: ACTION

Your last turns:
- One cell left in the box. Action: value(1, r4c4) value(1, r3c1)

Feedback: carried out value(1, r4c4). refused value(1, r3c1): row 3 already holds 1 at r3c2.

Board:
1 2 | 3 4
3 4 | 1 2
----+----
. 1 | 4 3
. . | 2 1"""


def test_golden_prompt():
    env = gymnasium.make("horizon_bench/Sudoku-v0", instance="12343412.143..2.", interface="macro", thought="checked")
    env.reset(seed=0)
    reply = "<think>b4 1</think> One cell left in the box.\nAction: value(1, r4c4) value(1, r3c1)"
    assert env.step(reply)[0] == GOLDEN


def test_every_character_outside_the_space_is_replaced():
    assert clean("a\N{SNAKE}\x00\tz") == "a??\tz"
    assert len(set(CHARACTERS)) == len(CHARACTERS)


def test_a_long_memory_gives_way_to_the_board():
    env = gymnasium.make(
        "horizon_bench/Sudoku-v0", instance="12343412.143..2.", memory_turns=500, max_decisions=500, interface="macro"
    )
    env.reset(seed=0)
    for turn in range(200):
        prompt = env.step(f"{'why ' * 60}{turn}. Action: {'value(1, r1c1) ' * 12}")[0]
    assert LONGEST_PROMPT - 500 < len(prompt) <= LONGEST_PROMPT
    assert prompt.startswith("Sudoku on a 4x4 board")
    assert prompt.endswith("2 1 | 4 3\n. . | 2 .".replace("2 1 |", ". 1 |"))
    assert "Feedback: refused value(1, r1c1)" in prompt


def test_feedback_tells_of_chance_and_of_dropped_actions():
    env = gymnasium.make("horizon_bench/Sudoku-v0", instance="12343412.143..2.", interface="macro-stepwise")
    env.reset(seed=0)
    observation = env.step("value(1, r4c4) value(2, r3c1)")[0]
    assert "Feedback: carried out value(1, r4c4). 1 further action not tried." in observation
