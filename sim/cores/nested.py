"""Interrupts that interrupt each other, as deep as there are tiers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..elf import Program
from ..firmware import FIRMWARE
from .interrupts import Background, Handler, entries, latency_program, of_handler, round_cycles
from .program import Context, build_program
from .run import Core, Rises, RunError, run

#: With the interrupted program these are eight contexts.
LEVELS = 7
_FIRST_RISE = 20_000
#: No core takes longer for all levels and back.
_NEST_CYCLES = 2_500


@dataclass(frozen=True)
class Nest:
    """Of each nest, in cycles."""

    #: From the rise of each level's line to its handler's first instruction in the execute stage:
    #: a row for each nest, a column for each level.
    first: np.ndarray
    #: From the first rise to the interrupted program's next instruction behind all handlers.
    back: np.ndarray
    #: Instructions of all handlers together.
    instructions: np.ndarray


def nested_program(core: Core) -> Program:
    """Handlers that raise each other's lines, in the core's own idiom."""
    bench = FIRMWARE / "bench"
    return build_program(
        "nested",
        [bench / "background.S", bench / "nested.c"],
        context=core.context,
        tiers=core.tiers,
        defines=[f"LEVELS={LEVELS}", *(["BENCH_OWN"] if core.own else [])],
    )


def measure_nested(core: Core, *, count: int, seed: int) -> Nest:
    """Nests that begin at random moments of the background.

    Raises ``RunError`` if a level was not served.
    """
    program = nested_program(core)
    period = round_cycles(core, latency_program(core, Handler.LEAF, Background.LOCAL))
    rises = Rises(
        line=1,
        first=_FIRST_RISE,
        count=count + 1,
        shortest=2 * period + _NEST_CYCLES,
        longest=3 * period + _NEST_CYCLES,
        seed=seed,
    )
    cycles = rises.last_cycle + _NEST_CYCLES
    result = run(core, program, cycles=cycles, rises=rises, trace=True, endless=True)
    lines = result.rises[:, 1].reshape(-1, LEVELS) if len(result.rises) % LEVELS == 0 else None
    if lines is None or (lines != np.arange(1, LEVELS + 1)).any():
        raise RunError(f"not all levels were served on {core.name}")
    trace = result.trace
    cycle = trace["cycle"].astype(np.int64)
    executed = cycle - trace["age"]
    handles = of_handler(core, program, trace)
    starts = result.rises[:, 0].reshape(-1, LEVELS)
    entered = entries(program, trace)
    columns = []
    for level in range(1, LEVELS + 1):
        own = executed[trace["tier"] == level] if core.context is Context.TIERS else entered
        columns.append(own[np.searchsorted(own, starts[:, level - 1])] - starts[:, level - 1])
    own = np.flatnonzero(handles)
    begins = np.searchsorted(executed[own], starts[:, 0])
    lasts = own[begins[1:] - 1]
    return Nest(np.array(columns).T[:-1], cycle[lasts + 1] - starts[:-1, 0], np.diff(begins))
