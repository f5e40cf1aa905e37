"""What an interrupt costs, from the rise of its line to the interrupted program, in cycles.

Definitions, the same for every core. Cycle 0 is the first one in which the core's input is high.

- *first*: the cycle in which the handler's first instruction is in the execute stage (X of TierV,
  execute of VexRiscv, ID/EX of Ibex, the cycle behind the launch in PicoRV32). A jump in a table of
  vectors is not yet the handler's first.
- *store*: the cycle in which the handler's first store is on the port of the core's bus.
- *pin*: the first cycle in which an output pin that it sets is changed, behind the last one of its
  access.
- *back*: the cycle in which the interrupted program retires its first instruction behind the
  handler's last.
- *taken*: cycles in which the interrupted program retires nothing because of the handler: the gaps
  between its retiring instructions in which one of the handler's retires, each less one.
- *lost*: by how much later the program is wherever it would have been.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tierv.rtl.layouts import ISSUE_TO_M_CYCLES

from ..elf import Program
from ..firmware import FIRMWARE
from .model import DevicePage
from .program import Context, build_program
from .run import Core, Rises, Run, RunError, run

#: The line that interrupts.
LINE = 4
#: Rises begin when every program has set up.
_FIRST_RISE = 20_000
#: No handler takes longer, cache misses and all.
_HANDLER_CYCLES = 400
#: Cycles by which no interrupt makes the interrupted program earlier.
_MOST_GAINED = 32
#: An access to the bench's page in the background with bus accesses, as to LiteX's CSRs.
BUS_CYCLES = 3
#: From the issue of an instruction of TierV to its cycle in X; it retires in M.
ISSUE_TO_X_CYCLES = ISSUE_TO_M_CYCLES - 1


class Handler(enum.StrEnum):
    """A handler in C."""

    #: Does it all by itself.
    LEAF = "leaf"
    #: Calls a function, and so saves the 16 registers that a function may change.
    CALLS = "calls"


class Background(enum.StrEnum):
    """What is interrupted (``firmware/bench/background.S``)."""

    LOCAL = "local"
    BUS = "bus"
    MISSES = "misses"


@dataclass(frozen=True)
class Latencies:
    """Of each interrupt, in cycles, an array element for each."""

    first: np.ndarray
    store: np.ndarray
    pin: np.ndarray
    back: np.ndarray
    taken: np.ndarray
    #: Instructions of the handler.
    instructions: np.ndarray
    #: None if the program does not repeat itself.
    lost: np.ndarray | None


def latency_program(
    core: Core, handler: Handler, background: Background, *, held: bool = False
) -> Program:
    """The interrupted program with its handler, in the core's own idiom."""
    bench = FIRMWARE / "bench"
    defines = [f"LINE={LINE}", f"HANDLER_{handler.upper()}", f"BACKGROUND_{background.upper()}"]
    defines += ["BENCH_OWN"] if core.own else []
    defines.append(f"ANSWER=DEVICE_{'OUTPUT' if held else 'LOWER'}")
    return build_program(
        "latency",
        [bench / "background.S", bench / "latency.c"],
        context=core.context,
        tiers=core.tiers,
        defines=defines,
    )


def of_handler(core: Core, program: Program, trace: np.ndarray) -> np.ndarray:
    """Which of the retired instructions are the handler's, a jump to it among them."""
    if core.context is Context.TIERS:
        return trace["tier"] != 0
    begin, end = (program.symbol(f"_handler_{name}").address for name in ("begin", "end"))
    return (trace["pc"] >= begin) & (trace["pc"] < end)


def entries(program: Program, trace: np.ndarray) -> np.ndarray:
    """Cycles in which a trap handler's first instruction came to the execute stage."""
    own = trace[trace["pc"] == program.symbol("_handler_begin").address]
    return own["cycle"].astype(np.int64) - own["age"]


def _round_starts(program: Program, trace: np.ndarray) -> np.ndarray:
    """Cycles in which a round of the background began."""
    start = program.symbol("background_round").address
    return trace["cycle"][trace["pc"] == start].astype(np.int64)


def round_cycles(core: Core, program: Program) -> int:
    """Length of an undisturbed round, the most usual one."""
    result = run(core, program, cycles=60_000, trace=True, endless=True)
    lengths = np.diff(_round_starts(program, result.trace))
    if len(lengths) < 4:
        raise RunError(
            f"the background on {core.name} makes {len(lengths)} rounds in 60,000 cycles"
        )
    return int(np.bincount(lengths[2:]).argmax())


def lost_cycles(starts: np.ndarray, rises: np.ndarray, period: int) -> np.ndarray:
    """By how much each interrupt but the last shifts the rounds behind it.

    Undisturbed rounds all take ``period`` cycles, so the last ones before two interrupts are whole
    rounds apart, but for what the first of the two took. The program may also be a little earlier
    than without: after a wait for the bus that suits it better.
    """
    lasts = starts[np.searchsorted(starts, rises) - 1]
    lost = np.diff(lasts) % period
    return np.where(lost > period - _MOST_GAINED, lost - period, lost)


def examine(core: Core, program: Program, result: Run, period: int | None) -> Latencies:
    """Latencies of all interrupts of a run but the last.

    Raises ``RunError`` if one was not served, or served twice.
    """
    trace = result.trace
    cycles = trace["cycle"].astype(np.int64)
    rises = result.rises[:, 0]
    handles = of_handler(core, program, trace)
    own = np.flatnonzero(handles)
    executed = cycles[own] - trace["age"][own]
    firsts = np.searchsorted(executed, rises)
    entered = executed if core.context is Context.TIERS else entries(program, trace)
    entered = entered[np.searchsorted(entered, rises)]
    stores, written = (find(DevicePage.LOWER) for find in (result.stores_to, result.written_to))
    if len(stores) != len(rises):
        raise RunError(f"{len(rises)} rises on {core.name}, but {len(stores)} were served")
    columns = []
    for index in range(len(rises) - 1):
        begin, end = own[firsts[index]], own[firsts[index + 1] - 1]
        # From the program's last instruction before to its first behind.
        inside = slice(begin - 1, end + 2)
        programs = np.flatnonzero(~handles[inside])
        times = cycles[inside]
        gaps = np.diff(times[programs]) - 1
        columns.append(
            (
                entered[index] - rises[index],
                stores[index] - rises[index],
                written[index] + 1 - rises[index],
                times[-1] - rises[index],
                gaps[np.diff(programs) > 1].sum(),
                firsts[index + 1] - firsts[index],
            )
        )
    lost = None
    if period is not None:
        lost = lost_cycles(_round_starts(program, trace), rises, period)
    return Latencies(*np.array(columns).T, lost)


def measure(
    core: Core, handler: Handler, background: Background, *, count: int, seed: int
) -> Latencies:
    """Interrupts at random moments of the background."""
    if background is Background.BUS:
        cycles = max(core.bus.device_cycles, BUS_CYCLES)
        core = replace(core, bus=replace(core.bus, device_cycles=cycles))
    program = latency_program(core, handler, background)
    period = round_cycles(core, program)
    # With cache misses no round is like the other, and how long ago the handler has run matters.
    steady = background is not Background.MISSES
    rises = Rises(
        line=LINE,
        first=_FIRST_RISE,
        count=count + 1,
        shortest=_HANDLER_CYCLES + (2 * period if steady else 0),
        longest=_HANDLER_CYCLES + (3 * period if steady else period),
        pulse=1 if core.latches_lines else 0,
        seed=seed,
    )
    cycles = rises.last_cycle + 2 * _HANDLER_CYCLES
    result = run(core, program, cycles=cycles, rises=rises, trace=True, endless=True)
    return examine(core, program, result, period if steady else None)


def held_interval(core: Core) -> tuple[int, float]:
    """A line that stays high: cycles from one handler's first instruction to the next one's, and
    instructions of the program between."""
    program = latency_program(core, Handler.LEAF, Background.LOCAL, held=True)
    length = 4_000
    rises = Rises(line=LINE, first=_FIRST_RISE, count=1, shortest=1, longest=1, pulse=length)
    cycles = _FIRST_RISE + length
    result = run(core, program, cycles=cycles, rises=rises, trace=True, endless=True)
    served = result.stores_to(DevicePage.OUTPUT)[2:-2]
    if len(served) < 10:
        raise RunError(f"a line that stays high is served {len(served)} times on {core.name}")
    inside = result.trace[
        (result.trace["cycle"] >= served[0]) & (result.trace["cycle"] < served[-1])
    ]
    programs = (~of_handler(core, program, inside)).sum()
    return int(np.median(np.diff(served))), float(programs / (len(served) - 1))


def spread(values: Sequence[int] | np.ndarray) -> str:
    """Minimum, median and maximum, as tables show them."""
    return f"{np.min(values)}/{np.median(values):g}/{np.max(values)}"
