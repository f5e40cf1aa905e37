"""What the slots are worth that a driver can't use while it waits for the bus."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..elf import Program
from ..firmware import FIRMWARE
from .interrupts import LINE, of_handler
from .model import device_words
from .program import build_program
from .run import Core, Rises, Run, RunError, run

#: Words that the driver copies for each interrupt, and cycles of each access.
WORDS = 16
DEVICE_CYCLES = 4
_FIRST_RISE = 20_000
#: Cycles from one interrupt to the next; longer than any core needs for a copy.
_INTERVAL = 400
#: For how long a line is held where the driver never rests.
_HELD_CYCLES = 20_000
#: With GCC's order of loads and stores a trap handler saves sixteen registers, and four without. So
#: the peers copy faster, but TierV slower, with one tier too: each core has what is best for it.
_PEERS_FLAGS = ("-fno-schedule-insns", "-fno-schedule-insns2")


@dataclass(frozen=True, kw_only=True)
class Slots:
    """A driver and an application on one core."""

    #: Cycles of a copy, from its first instruction in the execute stage to its last one's end.
    copy_cycles: float
    #: Instructions per cycle of the application while the driver copies, and in all.
    during_copies: float
    application: float
    #: The same of both together.
    total: float
    #: Copies in 1,000 cycles and instructions per cycle of the application if the driver never
    #: rests.
    saturated_copies: float
    saturated_application: float


def _program(core: Core, *, sharing: bool, held: bool) -> Program:
    bench = FIRMWARE / "bench"
    defines = [f"LINE={LINE}", f"WORDS={WORDS}"]
    defines.append(f"ANSWER=DEVICE_{'OUTPUT' if held else 'LOWER'}")
    defines += [name for name, wanted in (("SHARING", sharing), ("BENCH_OWN", core.own)) if wanted]
    return build_program(
        "slots",
        [bench / "background.S", bench / "slots.c"],
        context=core.context,
        tiers=core.tiers,
        defines=defines,
        flags={"slots.c": () if core.own else _PEERS_FLAGS},
    )


def _run(core: Core, program: Program, cycles: int, rises: Rises) -> Run:
    result = run(
        core, program, cycles=cycles, rises=rises, trace=True, endless=True, variable="copied"
    )
    if result.variable.tolist() != device_words(WORDS):
        raise RunError(f"the driver on {core.name} has copied something else than the device gave")
    return result


def measure_slots(core: Core, *, count: int, seed: int, sharing: bool = False) -> Slots:
    """Copies at random moments, and copies without a pause.

    ``sharing`` sets ``mbusmode.SHARING`` in the driver's tier. Raises ``RunError`` if what is there
    at the end of its copies is something else than the device gave.
    """
    core = replace(core, bus=replace(core.bus, device_cycles=DEVICE_CYCLES))
    program = _program(core, sharing=sharing, held=False)
    rises = Rises(
        line=LINE,
        first=_FIRST_RISE,
        count=count + 1,
        shortest=_INTERVAL - 50,
        longest=_INTERVAL + 50,
        seed=seed,
    )
    result = _run(core, program, rises.last_cycle, rises)
    trace = result.trace
    cycle = trace["cycle"].astype(np.int64)
    handles = of_handler(core, program, trace)
    own = np.flatnonzero(handles)
    executed = cycle[own] - trace["age"][own]
    begins = np.searchsorted(executed, result.rises[:, 0])
    first, last = executed[begins[:-1]], cycle[own[begins[1:] - 1]]
    programs = cycle[~handles]
    during = np.searchsorted(programs, last + 1) - np.searchsorted(programs, first)
    begin, end = result.rises[0, 0], result.rises[-1, 0]
    inside = (cycle >= begin) & (cycle < end)
    copies, application = _saturated(core, sharing)
    return Slots(
        copy_cycles=float(np.median(last + 1 - first)),
        during_copies=float(during.sum() / (last + 1 - first).sum()),
        application=float((inside & ~handles).sum() / (end - begin)),
        total=float(inside.sum() / (end - begin)),
        saturated_copies=copies,
        saturated_application=application,
    )


def _saturated(core: Core, sharing: bool) -> tuple[float, float]:
    program = _program(core, sharing=sharing, held=True)
    rises = Rises(line=LINE, first=_FIRST_RISE, count=1, shortest=1, longest=1, pulse=_HELD_CYCLES)
    result = _run(core, program, _FIRST_RISE + _HELD_CYCLES, rises)
    # Each copy begins with a store to the output; the first and the last are left out.
    stores = result.stores[(result.stores[:, 0] >= _FIRST_RISE), 0][1:-1]
    if len(stores) < 3:
        raise RunError(f"the driver on {core.name} has copied {len(stores)} times")
    trace = result.trace
    inside = trace[(trace["cycle"] >= stores[0]) & (trace["cycle"] < stores[-1])]
    length = stores[-1] - stores[0]
    programs = int((~of_handler(core, program, inside)).sum())
    return float(1e3 * (len(stores) - 1) / length), float(programs / length)
