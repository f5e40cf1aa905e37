"""E1: what an interrupt takes from the application, cycle by cycle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tierv.rtl.layouts import ISSUE_TO_M_CYCLES

from ..result import RunResult
from ..stimulus import RandomLine
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import figure

#: Firmware is ready by then.
_START = 60_000
#: Between interrupts: a round of the application's work takes about 350 cycles.
_MIN_INTERVAL, _MAX_INTERVAL = 1_800, 2_600
#: What is watched of each; must hold the interrupt and a whole round.
_WATCH = 1_500


@dataclass(frozen=True)
class _Code:
    """Address ranges of the firmware that matter."""

    handler: range | None
    service: range
    round_start: int

    @classmethod
    def of(cls, setup: Setup, build: Build) -> _Code:
        def extent(name: str) -> range:
            symbol = setup.program.symbol(name)
            return range(symbol.address, symbol.address + symbol.size)

        handler = extent("trap_handler") if build is Build.SINGLE else None
        return cls(handler, extent("interrupt_service"), extent("compute").start)


@dataclass(frozen=True)
class _Interrupts:
    """What each interrupt did, in cycles, one array element for each."""

    #: From the rise of the line to the issue of the handler's first instruction.
    first: np.ndarray
    #: The same to the first instruction of the service proper.
    service: np.ndarray
    #: From the last instruction of the service to the last of the handler, both included.
    leaving: np.ndarray
    #: Instructions of the handler, and of the service in it.
    handler_instructions: np.ndarray
    service_instructions: np.ndarray
    #: What the application lost, if it computes.
    taken: np.ndarray | None


def _between(pcs: np.ndarray, code: range) -> np.ndarray:
    return (pcs >= code.start) & (pcs < code.stop)


def _examine(result: RunResult, code: _Code, computes: bool) -> _Interrupts:
    rises = result.lines["cycle"][result.lines["level"] == 1].astype(np.int64)
    cycles = result.retired["cycle"].astype(np.int64)
    pcs = result.retired["pc"]
    serves = _between(pcs, code.service)
    if code.handler is None:
        handles = result.retired["tier"] == 2
    else:
        handles = serves | _between(pcs, code.handler)
    columns: list[list[int]] = []
    lasts = []
    for rise in rises:
        window = slice(*np.searchsorted(cycles, [rise, rise + _WATCH]))
        inside, times = handles[window], cycles[window]
        # A handler that is still leaving when the line rises is not this one.
        begun = times >= rise + ISSUE_TO_M_CYCLES
        own = times[inside & begun]
        service = times[serves[window] & begun]
        columns.append(
            [
                own[0] - rise - ISSUE_TO_M_CYCLES,
                service[0] - rise - ISSUE_TO_M_CYCLES,
                own[-1] - service[-1],
                len(own),
                len(service),
            ]
        )
        starts = times[pcs[window] == code.round_start]
        lasts.append(starts[-1] if len(starts) else 0)
    taken = _taken(np.array(lasts), cycles[pcs == code.round_start]) if computes else None
    return _Interrupts(*np.array(columns).T, taken)


def _taken(lasts: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Cycles lost to each interrupt but the first.

    Undisturbed rounds all take as long, so the starts of rounds before and after an interrupt
    differ by whole rounds plus what was lost.
    """
    lengths = np.diff(starts)
    period = int(np.bincount(lengths[lengths < _WATCH]).argmax())
    return np.diff(lasts) % period


def _spread(values: np.ndarray) -> dict[str, float]:
    return {"min": int(values.min()), "median": float(np.median(values)), "max": int(values.max())}


class Switch(Experiment):
    """One external line at random phases, against an application that waits or computes.

    A cost of "in and out" is what an interrupt takes beyond the service itself. While the
    application computes, it is the time that the application lost, less the instructions of the
    service; while it waits, it is the time from the line to the service and from the service to
    the end of the handler.
    """

    id = "E1"
    title = "Context switch"
    reference = "186 cycles to save and restore (Pattery et al.)"
    pass_line = "B takes 12 cycles or fewer in and out, at every phase; S is reported"
    length_unit = "interrupts in each case"
    short_length = 1_000
    full_length = 10_000
    # What one has taken is seen from the one before.
    least_length = 2

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Both builds, idle and busy."""
        setups = bench.setups("switch", (Build.BANKED, Build.SINGLE))
        cases = [(build, computes) for build in setups for computes in (False, True)]

        def case(item: tuple[Build, bool]) -> dict[str, Any]:
            build, computes = item
            line = RandomLine(
                0, _MIN_INTERVAL, _MAX_INTERVAL, settings.seed, settings.length, start=_START
            )
            cycles = _START + settings.length * _MAX_INTERVAL + 10 * _WATCH
            result = setups[build].run(
                cycles=cycles,
                lines=[line],
                watch_cycles=_WATCH,
                set={"application_computes": computes},
                limit_is_error=False,
            )
            code = _Code.of(setups[build], build)
            progress(f"{build}, application {'computes' if computes else 'waits'}")
            return self._row(build, computes, _examine(result, code, computes))

        rows = bench.map(case, cases)
        worst = {
            build: max(row["in and out max"] for row in rows if row["build"] == build)
            for build in setups
        }
        banked = [row for row in rows if row["build"] == Build.BANKED]
        headline = {
            "B in and out, worst (cycles)": worst[Build.BANKED],
            "S in and out, worst (cycles)": worst[Build.SINGLE],
            "B first instruction after the line, worst (cycles)": max(
                row["first instruction max"] for row in banked
            ),
            "B slots lost, worst": max(row.get("slots lost max", 0) for row in banked),
        }
        return Outcome(rows=rows, headline=headline, passed=worst[Build.BANKED] <= 12)

    def _row(self, build: Build, computes: bool, interrupts: _Interrupts) -> dict[str, Any]:
        extra = interrupts.handler_instructions - interrupts.service_instructions
        row: dict[str, Any] = {
            "build": build,
            "application": "computes" if computes else "waits",
            "interrupts": len(interrupts.first),
        }
        measures = {"first instruction": interrupts.first, "service": interrupts.service}
        if interrupts.taken is None:
            measures["in and out"] = interrupts.service + interrupts.leaving
        else:
            taken = interrupts.taken
            measures["taken"] = taken
            # The application may have waited for its own division: then it lost nothing.
            measures["in and out"] = np.maximum(0, taken - interrupts.service_instructions[1:])
            measures["slots lost"] = np.maximum(0, taken - interrupts.handler_instructions[1:])
        for name, values in measures.items():
            row |= {f"{name} {kind}": value for kind, value in _spread(values).items()}
        row["handler instructions beside the service"] = int(extra.max())
        return row

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Bars of the worst and the median case."""
        labels = [f"{row['build']}\n{row['application']}" for row in outcome.rows]
        with figure(path, self.title, ylabel="cycles in and out") as axes:
            positions = np.arange(len(labels))
            for offset, kind in ((-0.2, "median"), (0.2, "max")):
                values = [row[f"in and out {kind}"] for row in outcome.rows]
                bars = axes.bar(positions + offset, values, 0.4, label=kind)
                axes.bar_label(bars)
            axes.axhline(186, linestyle="--", color="gray", label="published: 186")
            axes.set_xticks(positions, labels)
            axes.legend()
