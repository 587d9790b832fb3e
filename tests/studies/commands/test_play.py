"""The game at the terminal, with piped input."""

import io

import pytest

from studies.commands.play import Play

START = "1234341221434.2."


def play(monkeypatch, capsys, text, **options):
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert Play(**{"instance": START, **options}).run() == 0
    return capsys.readouterr().out


def test_a_game_with_hint_undo_and_errors(monkeypatch, capsys):
    lines = "hint\nvalue(3, r4c2)\nhint\nundo\nundo\nvalue(9, r1c1)\nvalue(4, r1c1)\nrules\nr4c2 3 r4c4 1\n"
    out = play(monkeypatch, capsys, lines)
    assert "value(3, r4c2) (2 atomic actions to go)" in out
    assert "value(1, r4c4) (1 atomic actions to go)" in out
    assert "There is nothing to take back." in out
    assert "nothing was carried out: unknown action 'value(9, r1c1)'." in out
    assert "refused value(4, r1c1): r1c1 is given." in out
    assert out.endswith("Solved: 3 decisions, 2 atomic steps; the shortest way has 2.\n")


def test_the_end_of_the_input_ends_the_game(monkeypatch, capsys):
    assert "Ended (left): 0 decisions" in play(monkeypatch, capsys, "")
    assert "Ended (left): 0 decisions" in play(monkeypatch, capsys, "help\nrestart\nquit\nvalue(3, r4c2)\n")


def test_levels_interfaces_and_other_puzzles(monkeypatch, capsys):
    out = play(monkeypatch, capsys, "hint\n", puzzle="rush-hour", instance=None, level="R1", seed=1)
    assert "atomic actions to go" in out
    out = play(monkeypatch, capsys, "what(3)\nwhere(r4c2)\n", interface="split")
    assert "chosen: 3" in out
    with pytest.raises(ValueError, match="did you mean 'macro'"):
        play(monkeypatch, capsys, "", interface="makro")
