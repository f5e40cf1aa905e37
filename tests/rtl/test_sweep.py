"""A line at every cycle of a program, whatever it executes: nothing changes but the time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from lockstep import CORES
from sweep_programs import RAM, RAM_BYTES, SECOND_COUNT, SweepProgram, classes

from tierv.sim.core_model import CoreModel

#: The first instruction of the urgent tier issues so many cycles after its line has risen, always.
LATENCY_CYCLES = 1
#: Classes in which tier 1 does not always wait, or the program holds it back.
HOLDS_SECOND = ("post", "ceiling", "stop")
#: Grids of pairs, in cycles.
COARSE, FINE = 29, 7


def sweep(
    program: SweepProgram, folder: Path, *, step: int, pairs: int, wait_states: int
) -> np.ndarray:
    """The runs of a sweep; each was checked for its end state and for lines lost."""
    elf = folder / "program.elf"
    elf.write_bytes(program.elf())
    options = {
        "--memory": f"{RAM:#x}:{RAM_BYTES:#x}",
        "--cycles": 20_000,
        "--sweep-tiers": ",".join(str(tier) for tier in program.tiers),
        "--sweep-step": step,
        "--sweep-pairs": pairs,
        "--wait-states": wait_states,
    }
    words = [str(word) for option in options.items() for word in option]
    runs = CoreModel(program.params).sweep(elf, *words)
    where = f"{program.name}, {program.params.tiers} tiers, {wait_states} wait states"
    assert len(runs) > 1, where
    for run in runs:
        lines = f"{where}, lines at {run['first']} and {run['second']}"
        assert run["code"] >= 0, f"{lines}: no end"
        served = int(run["first"] >= 0) + SECOND_COUNT * int(run["second"] >= 0)
        assert run["code"] == served, f"{lines}: served {run['code']:#x} instead of {served:#x}"
        assert run["difference"] < 0, f"{lines}: another word at {run['difference']:#x}"
    return runs


def latencies(runs: Iterable[np.ndarray], name: str) -> dict[int, int]:
    """Histogram of latencies in cycles."""
    values, counts = np.unique(np.concatenate([run[name] for run in runs]), return_counts=True)
    return {
        int(value): int(count) for value, count in zip(values, counts, strict=True) if value > 0
    }


@pytest.mark.parametrize("name", classes(CORES["3"]))
def test_a_line_at_every_cycle_changes_nothing_but_the_time(tmp_path, name):
    program = SweepProgram(name, CORES["3"])
    runs = sweep(program, tmp_path, step=1, pairs=COARSE, wait_states=0)
    alone = [runs[(runs["first"] < 0) | (runs["second"] < 0)]]
    assert [*latencies([runs], "first_latency")] == [LATENCY_CYCLES]
    if name not in HOLDS_SECOND:
        assert [*latencies(alone, "second_latency")] == [LATENCY_CYCLES]


@pytest.mark.parametrize("name", classes(CORES["1"]))
def test_a_trap_at_every_cycle_changes_nothing_but_the_time(tmp_path, name):
    program = SweepProgram(name, CORES["1"])
    sweep(program, tmp_path, step=1, pairs=0, wait_states=1)


@pytest.mark.slow
@pytest.mark.parametrize("wait_states", [0, 3])
@pytest.mark.parametrize(("tiers", "pairs"), [("3", FINE), ("8", COARSE)])
@pytest.mark.parametrize("name", classes(CORES["3"]))
def test_lines_that_meet_on_the_bus_and_the_divider_change_nothing_but_the_time(
    tmp_path, name, tiers, pairs, wait_states
):
    program = SweepProgram(name, CORES[tiers], thorough=True)
    runs = sweep(program, tmp_path, step=1, pairs=pairs, wait_states=wait_states)
    assert [*latencies([runs], "first_latency")] == [LATENCY_CYCLES]
