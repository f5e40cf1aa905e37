"""A line at every cycle of a program, whatever it executes: nothing changes but the time."""

from __future__ import annotations

from pathlib import Path

import pytest
from lockstep import CORES
from sweep import (
    BUFFERED,
    LEAST_TRAP_CYCLES,
    LOCAL,
    MASKS_TRAPS,
    PRECISE,
    TrapBound,
    sweep,
    trap_bound,
    trap_latencies,
)
from sweep_programs import SweepProgram, classes

from tierv.rtl.document import MANUAL
from tierv.sim.core_model import CoreModel

#: Grids of pairs, in cycles.
COARSE, FINE = 29, 7
#: Draws of wait states: few of them meet the worst case of a program that uses the bus.
DRAWS = 40


@pytest.mark.parametrize("name", classes(CORES["3"]))
def test_a_line_at_every_cycle_changes_nothing_but_the_time(tmp_path, name):
    sweep(SweepProgram(name, CORES["3"]), tmp_path, pairs=COARSE)


@pytest.mark.parametrize("name", ["cache-misses", "code-on-the-bus", "bus-store", "fence-i"])
def test_misses_of_the_caches_change_nothing_but_the_time_and_delay_no_urgent_tier(tmp_path, name):
    sweep(SweepProgram(name, CORES["cached"]), tmp_path, wait_states=9)


@pytest.mark.parametrize("name", classes(CORES["1"]))
def test_a_trap_at_every_cycle_changes_nothing_but_the_time(tmp_path, name):
    sweep(SweepProgram(name, CORES["1"]), tmp_path, wait_states=1)


def test_a_late_trap_is_seen_beside_the_marks_too(tmp_path):
    class LateOnce(CoreModel):
        def sweep(self, *words):
            runs = super().sweep(*words)
            runs["trap_latency"][runs["first"] == runs["first"].max()] += 10
            return runs

    program = SweepProgram("add", CORES["1"])
    with pytest.raises(AssertionError, match="a trap after 1[89] cycles"):
        sweep(program, tmp_path, model=LateOnce(program.params))


@pytest.mark.parametrize(
    ("row", "bound"),
    [
        ("a trap handler of tier N - 1 (or of the only one)", LOCAL),
        ("the same, with buffered accesses", BUFFERED),
        ("the same, with precise accesses", PRECISE),
    ],
)
def test_the_manual_tells_how_long_a_trap_handler_may_have_to_wait(row, bound):
    (line,) = [line for line in MANUAL.read_text().splitlines() if line.startswith(f"| {row}")]
    assert [cell.strip() for cell in line.split("|")][2:4] == [str(LEAST_TRAP_CYCLES), str(bound)]


def worst_trap_latencies(folder: Path, wait_states: int) -> dict[TrapBound, int]:
    """The longest of all draws, by the bound that is to hold for it."""
    worst = dict.fromkeys((LOCAL, BUFFERED, PRECISE), 0)
    for name in classes(CORES["1"]):
        program = SweepProgram(name, CORES["1"])
        bound = trap_bound(program)
        draws = DRAWS if wait_states and bound != LOCAL else 1
        for seed in range(1, draws + 1):
            runs = sweep(program, folder, "--seed", str(seed), wait_states=wait_states)
            if name not in MASKS_TRAPS:
                worst[bound] = max(worst[bound], trap_latencies(program, runs).max())
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("wait_states", [0, 1, 2, 6])
def test_the_bounds_of_a_trap_handler_are_reached(tmp_path, wait_states):
    worst = worst_trap_latencies(tmp_path, wait_states)
    assert worst == {bound: bound.cycles(wait_states) for bound in worst}


@pytest.mark.slow
@pytest.mark.parametrize("wait_states", [7, 15])
def test_the_bounds_of_a_trap_handler_hold_with_long_accesses(tmp_path, wait_states):
    worst = worst_trap_latencies(tmp_path, wait_states)
    # So few draws do not meet the last cycle of precise ones.
    precise = worst.pop(PRECISE)
    assert PRECISE.cycles(wait_states) - 1 <= precise <= PRECISE.cycles(wait_states)
    assert worst == {bound: bound.cycles(wait_states) for bound in worst}


@pytest.mark.slow
@pytest.mark.parametrize("wait_states", [0, 40])
@pytest.mark.parametrize("name", classes(CORES["cached"]))
def test_no_class_of_instructions_lets_a_miss_delay_an_urgent_tier(tmp_path, name, wait_states):
    sweep(SweepProgram(name, CORES["cached"]), tmp_path, wait_states=wait_states)


@pytest.mark.slow
@pytest.mark.parametrize("wait_states", [0, 3])
@pytest.mark.parametrize(("tiers", "pairs"), [("3", FINE), ("8", COARSE)])
@pytest.mark.parametrize("name", classes(CORES["3"]))
def test_lines_that_meet_on_the_bus_and_the_divider_change_nothing_but_the_time(
    tmp_path, name, tiers, pairs, wait_states
):
    program = SweepProgram(name, CORES[tiers], thorough=True)
    sweep(program, tmp_path, pairs=pairs, wait_states=wait_states)
