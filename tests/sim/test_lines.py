"""External interrupt lines: raised by schedule and at random, lowered by firmware and by time."""

from __future__ import annotations

import pytest

from tierv.sim.run import SimulationError
from tierv.sim.stimulus import LineLevel, RandomLine


def answer(simulation, firmware, lines, answers):
    """The run in which firmware answers so many rises."""
    return simulation.run(
        firmware("line_marks"), cycles=2_000_000, lines=lines, set={"answers": answers}
    )


def changes(result) -> list[tuple[int, int, int]]:
    """(cycle, line, level) of every change."""
    return [(int(r["cycle"]), int(r["line"]), int(r["level"])) for r in result.lines]


def test_a_scheduled_line_reaches_the_cpu_and_is_lowered_by_it(simulation, firmware):
    result = answer(simulation, firmware, [LineLevel(5000, raise_mask=0b0100)], 1)
    (rise, line, level), (fall, _, low) = changes(result)
    assert (rise, line, level, low) == (5000, 2, 1, 0)
    mark, pending = result.marks[0]
    assert pending == 0b0100
    assert rise < mark < fall


def test_a_line_falls_in_the_cycle_after_it_was_acknowledged(simulation, firmware):
    result = answer(simulation, firmware, [LineLevel(5000, raise_mask=1)], 1)
    acknowledged = [int(r["cycle"]) for r in result.mailbox if r["offset"] == 3]
    assert changes(result)[1][0] == acknowledged[0] + 1


def test_every_line_has_its_own_bit(simulation, firmware):
    lines = [LineLevel(5000 * (n + 1), raise_mask=1 << n) for n in range(4)]
    result = answer(simulation, firmware, lines, 4)
    assert [value for _, value in result.marks] == [1, 2, 4, 8]


def test_a_schedule_can_lower_lines(simulation, firmware):
    lines = [LineLevel(3000, raise_mask=8), LineLevel(3001, lower_mask=8)]
    result = simulation.run(firmware("spin"), cycles=5000, lines=lines, limit_is_error=False)
    assert changes(result) == [(3000, 3, 1), (3001, 3, 0)]


def test_random_lines_keep_their_intervals_and_count(simulation, firmware):
    line = RandomLine(1, min_cycles=300, max_cycles=700, seed=5, count=200, start=2000)
    result = answer(simulation, firmware, [line], 200)
    events = changes(result)
    assert len(events) == 400
    falls = [2000] + [cycle for cycle, _, level in events if not level]
    rises = [cycle for cycle, _, level in events if level]
    intervals = [rise - fall for fall, rise in zip(falls, rises, strict=False)]
    assert all(300 <= interval <= 700 for interval in intervals)
    assert max(intervals) - min(intervals) > 300


def test_a_seed_gives_the_same_line_and_another_one_another(simulation, firmware):
    def rises(seed: int) -> list[tuple[int, int, int]]:
        line = RandomLine(0, min_cycles=50, max_cycles=5000, seed=seed, count=20)
        return changes(answer(simulation, firmware, [line], 20))

    assert rises(1) == rises(1)
    assert rises(1) != rises(2)


def test_a_random_line_can_be_a_pulse(simulation, firmware):
    line = RandomLine(3, min_cycles=100, max_cycles=100, seed=0, count=3, hold_cycles=1)
    result = simulation.run(firmware("spin"), cycles=2000, lines=[line], limit_is_error=False)
    assert changes(result) == [
        (100, 3, 1), (101, 3, 0), (201, 3, 1), (202, 3, 0), (302, 3, 1), (303, 3, 0),
    ]  # fmt: skip


def test_a_line_that_is_not_there_is_refused(simulation, firmware):
    line = RandomLine(4, min_cycles=1, max_cycles=1, seed=0, count=1)
    with pytest.raises(SimulationError, match="no external line 4"):
        simulation.run(firmware("spin"), cycles=100, lines=[line])
    with pytest.raises(SimulationError, match="only 4 external lines"):
        simulation.run(firmware("spin"), cycles=100, lines=[LineLevel(0, raise_mask=16)])


def test_a_line_that_is_lowered_is_low_for_a_cycle_at_the_least(simulation, firmware):
    lines = [RandomLine(0, 0, 0, seed=1, count=2, start=100), LineLevel(200, lower_mask=1)]
    result = simulation.run(firmware("spin"), cycles=400, lines=lines, limit_is_error=False)
    assert result.lines["cycle"].tolist() == [100, 200, 201]
    assert result.lines["level"].tolist() == [1, 0, 1]
