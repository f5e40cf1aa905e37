"""Run a program with lines at every cycle, and check what must not depend on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sweep_programs import RAM, RAM_BYTES, SECOND_COUNT, SweepProgram

from tierv.sim.core_model import CoreModel

#: The first instruction of the urgent tier issues so many cycles after its line has risen, always.
LATENCY_CYCLES = 1
#: The first instruction of a trap handler issues so many cycles after its line, at the least.
LEAST_TRAP_CYCLES = 4
_ISSUE_TO_RETIRE_CYCLES = 4
#: So many of an access delay no trap handler further.
_FREE_WAIT_STATES = 1


@dataclass(frozen=True)
class TrapBound:
    """Most cycles from a line to the issue of a trap handler's first instruction."""

    #: Whatever the bus does, or while its accesses have no more than ``_FREE_WAIT_STATES``.
    core: int
    #: With longer ones, the wait states of one on top of these if that is more; None if the bus is
    #: not used.
    access: int | None = None

    def cycles(self, wait_states: int) -> int:
        """With so many wait states at the most."""
        if self.access is None or wait_states <= _FREE_WAIT_STATES:
            return self.core
        return max(self.core, self.access + wait_states)

    def __str__(self) -> str:
        core = str(self.core)
        if self.access is None:
            return core
        longer = f"{self.access} + the wait states of one access"
        if self.cycles(_FREE_WAIT_STATES + 1) > self.core:
            return f"{core}; from {_FREE_WAIT_STATES + 1} wait states on {longer}"
        return f"{core}, or {longer} if that is more"


#: What the manual says, by what the program does.
LOCAL, BUFFERED, PRECISE = TrapBound(11), TrapBound(11, 6), TrapBound(15, 18)
_BUFFERED = ("buffered-load", "buffered-store", "shared-copy")
_PRECISE = ("bus-load", "bus-store", "fence", "fence-i")
#: Classes that take traps of their own, during which no other is taken, or that fetch from the bus.
MASKS_TRAPS = ("ecall", "illegal", "misaligned", "bus-error", "fetch-fault", "code-on-the-bus")
#: Classes in which tier 1 does not always wait, or the program holds it back.
HOLDS_SECOND = ("post", "ceiling", "stop")


def sweep(
    program: SweepProgram,
    folder: Path,
    *more_options: str,
    step: int = 1,
    pairs: int = 0,
    wait_states: int = 0,
    model: CoreModel | None = None,
) -> np.ndarray:
    """The runs of a sweep, in the folder; ``model`` is another one of the same core.

    Raises ``AssertionError`` for an end state that is not the undisturbed run's, for a line that
    was not served once, and for a latency of the most urgent tier, or of tier 1 while no other one
    is disturbed, that is not ``LATENCY_CYCLES``; for one of a trap handler above its bound, which
    is that of precise accesses beside the program's marks.
    """
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
    runs = (model or CoreModel(program.params)).sweep(elf, *words, *more_options)
    where = f"{program.name}, {program.params.tiers} tiers, {wait_states} wait states"
    assert len(runs) > 1, where
    for run in runs:
        lines = f"{where}, lines at {run['first']} and {run['second']}"
        assert run["code"] >= 0, f"{lines}: no end"
        served = int(run["first"] >= 0) + SECOND_COUNT * int(run["second"] >= 0)
        assert run["code"] == served, f"{lines}: served {run['code']:#x} instead of {served:#x}"
        assert run["difference"] < 0, f"{lines}: another word at {run['difference']:#x}"
    if len(program.tiers) > 1:
        _check_latencies(runs, where, both=program.name not in HOLDS_SECOND)
    elif program.name not in MASKS_TRAPS:
        cycles = trap_latencies(program, runs)
        most = trap_bound(program).cycles(wait_states)
        longest = _trap_latencies(runs).max()
        assert longest <= PRECISE.cycles(wait_states), f"{where}: a trap after {longest} cycles"
        assert cycles.min() == LEAST_TRAP_CYCLES, f"{where}: traps after {cycles.min()} cycles"
        assert cycles.max() <= most, f"{where}: a trap after {cycles.max()} cycles"
    return runs


def trap_bound(program: SweepProgram) -> TrapBound:
    """What the program's class does that an interrupt may have to wait for."""
    if program.name in _PRECISE:
        return PRECISE
    return BUFFERED if program.name in _BUFFERED else LOCAL


def trap_latencies(program: SweepProgram, runs: np.ndarray) -> np.ndarray:
    """Cycles to the issue of the trap handler, of the lines that rise one after the other.

    The program's marks are precise accesses: without others, lines count between the first and
    the last one that nothing delays.
    """
    cycles = _trap_latencies(runs)
    if trap_bound(program) == PRECISE:
        return cycles
    prompt = np.flatnonzero(cycles == LEAST_TRAP_CYCLES)
    return cycles[prompt[0] : prompt[-1] + 1]


def _trap_latencies(runs: np.ndarray) -> np.ndarray:
    return runs["trap_latency"][runs["first"] >= 0] - _ISSUE_TO_RETIRE_CYCLES


def _check_latencies(runs: np.ndarray, where: str, *, both: bool) -> None:
    expected = [LATENCY_CYCLES]
    urgent = latencies([runs], "first_latency")
    assert [*urgent] == expected, f"{where}: latencies of the most urgent tier {urgent}"
    alone = latencies([runs[runs["first"] < 0]], "second_latency")
    assert not both or [*alone] == expected, f"{where}: latencies of tier 1 {alone}"


def latencies(runs: Iterable[np.ndarray], name: str) -> dict[int, int]:
    """Histogram of latencies in cycles."""
    values, counts = np.unique(np.concatenate([run[name] for run in runs]), return_counts=True)
    histogram = zip(values.tolist(), counts.tolist(), strict=True)
    return {value: count for value, count in histogram if value >= 0}
