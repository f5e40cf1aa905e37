"""Run a program with lines at every cycle, and check what must not depend on them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
from sweep_programs import RAM, RAM_BYTES, SECOND_COUNT, SweepProgram

from tierv.sim.core_model import CoreModel

#: The first instruction of the urgent tier issues so many cycles after its line has risen, always.
LATENCY_CYCLES = 1
#: The first instruction of a trap handler retires so many cycles after its line has risen, at the
#: most; wait states of one access come on top.
TRAP_CYCLES = 21
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
    is disturbed, that is not ``LATENCY_CYCLES``; for one of a trap handler above ``TRAP_CYCLES``.
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
        worst = runs["trap_latency"].max()
        assert 0 < worst <= TRAP_CYCLES + wait_states, f"{where}: a trap after {worst} cycles"
    return runs


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
