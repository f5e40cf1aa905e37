"""A line at every cycle of a program, whatever it executes: nothing changes but the time."""

from __future__ import annotations

import pytest
from lockstep import CORES
from sweep import sweep
from sweep_programs import SweepProgram, classes

#: Grids of pairs, in cycles.
COARSE, FINE = 29, 7


@pytest.mark.parametrize("name", classes(CORES["3"]))
def test_a_line_at_every_cycle_changes_nothing_but_the_time(tmp_path, name):
    sweep(SweepProgram(name, CORES["3"]), tmp_path, pairs=COARSE)


@pytest.mark.parametrize("name", classes(CORES["1"]))
def test_a_trap_at_every_cycle_changes_nothing_but_the_time(tmp_path, name):
    sweep(SweepProgram(name, CORES["1"]), tmp_path, wait_states=1)


@pytest.mark.slow
@pytest.mark.parametrize("wait_states", [0, 3])
@pytest.mark.parametrize(("tiers", "pairs"), [("3", FINE), ("8", COARSE)])
@pytest.mark.parametrize("name", classes(CORES["3"]))
def test_lines_that_meet_on_the_bus_and_the_divider_change_nothing_but_the_time(
    tmp_path, name, tiers, pairs, wait_states
):
    program = SweepProgram(name, CORES[tiers], thorough=True)
    sweep(program, tmp_path, pairs=pairs, wait_states=wait_states)
