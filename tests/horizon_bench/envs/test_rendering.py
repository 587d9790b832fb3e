"""Pictures show the board, tell given from own digits and mark the last move; text shows the same."""

import types

import gymnasium
import numpy as np
import pytest
from lights_out import LightsOut
from PIL import Image

from horizon_bench.envs.rendering import draw
from horizon_bench.envs.replaying import find_puzzle, frames, write_gif

SUDOKU = {"instance": "12343412.143..2."}
RUSH_HOUR = {"instance": "AA...OP..Q.OPXXQ.OP..Q..B...CCB.RRR."}


def cell(picture, row, column, side=48, margin=12):
    top, left = margin + row * side, margin + column * side
    return picture[top + 6 : top + side - 6, left + 6 : left + side - 6]


def test_sudoku_digits_appear_where_they_are_filled():
    env = gymnasium.make("horizon_bench/Sudoku-v0", render_mode="rgb_array", **SUDOKU)
    env.reset(seed=0)
    before = env.render()
    env.step("value(1, r4c4)")
    after = env.render()
    assert before.dtype == np.uint8
    assert before.shape == after.shape == (216, 216, 3)
    assert len(np.unique(cell(before, 3, 3).reshape(-1, 3), axis=0)) == 1
    assert (0, 114, 178) in {tuple(map(int, pixel)) for pixel in cell(after, 3, 3).reshape(-1, 3)}
    assert np.array_equal(cell(before, 0, 0), cell(after, 0, 0))


def test_rush_hour_vehicles_move_on_the_picture():
    env = gymnasium.make("horizon_bench/RushHour-v0", render_mode="rgb_array", **RUSH_HOUR)
    env.reset(seed=0)
    before = env.render()
    env.step("move(A, right, 1)")
    after = env.render()
    assert np.array_equal(cell(before, 0, 3), cell(after, 0, 4))
    assert not np.array_equal(cell(before, 0, 2), cell(after, 0, 2))
    assert (213, 94, 0) in {tuple(map(int, pixel)) for pixel in cell(after, 2, 1).reshape(-1, 3)}


def test_any_puzzle_is_drawn_as_its_text():
    env = gymnasium.make("horizon_bench/Puzzle-v0", puzzle=LightsOut, render_mode="rgb_array")
    env.reset(seed=0)
    before = env.render()
    env.step(env.unwrapped.puzzle.format_action(env.unwrapped.oracle.plan(env.unwrapped.state)[0]))
    assert before.shape == env.render().shape
    assert not np.array_equal(before, env.render())


def test_text_marks_the_last_move_and_human_prints_it(capsys):
    env = gymnasium.make("horizon_bench/Sudoku-v0", render_mode="ansi", **SUDOKU)
    env.reset(seed=0)
    env.step("value(1, r4c4)")
    assert env.render().endswith(". . | 2 1\nlast move: value(1, r4c4)")
    env = gymnasium.make("horizon_bench/Sudoku-v0", render_mode="human", **SUDOKU)
    env.reset(seed=0)
    env.step("value(1, r4c4)")
    assert capsys.readouterr().out.count("1 2 | 3 4") == 2


def test_rendering_before_the_first_reset_says_what_to_do():
    env = gymnasium.make("horizon_bench/Sudoku-v0", instance="1234341221434.2.", render_mode="rgb_array")
    with pytest.raises(RuntimeError, match="call reset"):
        env.render()


@pytest.mark.filterwarnings("error")
def test_rendering_without_a_mode_says_how():
    env = gymnasium.make("horizon_bench/Sudoku-v0", **SUDOKU).unwrapped
    env.reset(seed=0)
    with pytest.raises(UserWarning, match="render_mode='ansi'"):
        env.render()


def test_a_recorded_episode_whose_boards_differ_in_size_is_never_cut(tmp_path):
    start, moves = "nordal insulated rug <=15 red", ("search(nordal rug)", "open(1)")
    shop = find_puzzle("shop", 3000)
    boards = frames(shop, start, [types.SimpleNamespace(reply=move, moves=(move,)) for move in moves])
    alone = [draw(shop, boards[0].state, board.state, board.move).shape for board in boards]
    assert len(set(alone)) > 1
    with Image.open(write_gif(tmp_path / "shop.gif", shop, boards)) as picture:
        assert picture.size == (max(shape[1] for shape in alone), max(shape[0] for shape in alone))
