from __future__ import annotations

import io
import re

from studies.display import Ledger, clock_text, make_display
from studies.pool import Finished, Job, Progress, Started

JOBS = [Job("long", None, cost=90.0), Job("short", None, cost=10.0)]


def test_time_left_begins_with_the_estimate_and_follows_the_measured_speed() -> None:
    now = [0.0]
    ledger = Ledger(JOBS, workers=2, clock=lambda: now[0])
    assert ledger.seconds_left == 50.0
    now[0] = 90.0
    ledger.take(Progress("long", 1.0, ""))
    assert ledger.share == 0.9
    assert 9.0 < ledger.seconds_left < 10.0
    ledger.take(Finished("long"))
    ledger.take(Finished("short"))
    assert ledger.seconds_left == 0.0
    assert ledger.finished == ledger.total == 2


def test_durations_read_as_a_clock() -> None:
    assert [clock_text(seconds) for seconds in (0, 59.6, 61, 3661)] == ["0:00", "1:00", "1:01", "1:01:01"]


def test_without_a_terminal_there_is_one_line_for_each_end() -> None:
    out = io.StringIO()
    with make_display(JOBS, 2, out) as display:
        for event in (Started("long"), Progress("long", 0.5, "update 40"), Finished("long", result="fine")):
            display.show(event)
        display.show(Finished("short", error="no [room]"))
    assert out.getvalue().splitlines() == ["[1/2] long: fine", "[2/2] short: failed: no [room]"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_bars_show_the_whole_and_ends_stay_as_lines() -> None:
    out = Terminal()
    with make_display(JOBS, 2, out) as display:
        for event in (Started("long"), Progress("long", 0.5, "update 40"), Finished("short", error="no [room]")):
            display.show(event)
        display.show(Finished("long", result="fine"))
    for part in ("short: failed no [room]", "long: fine", "2/2 done"):
        assert part in re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
