"""E5: the reference's traffic faster and faster, until something is lost."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from typing import Any

import numpy as np

from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import COLOURS, figure
from .search import PLACES_PER_OCTAVE, Survival, up_to_first_loss
from .trace_file import read_trace
from .traffic import CYCLES, Traffic, make_traffic, replay

#: Bits a clock cycle on the wire: 400 Mbit/s at 100 MHz, so that the wire is not the limit.
_WIRE_BITS_PER_CYCLE = 4
#: Random traces, so that a confidence interval can be given.
_TRACES = 10
#: The search begins here, and goes down to a little less than the trace's own speed.
_FIRST_COMPRESSION = 25.0
_LEAST_COMPRESSION = _FIRST_COMPRESSION / 32
#: Quantile of Student's t distribution with one degree of freedom less than that, for a two-sided
#: interval of 95 %.
_T_95 = 2.262


class Saturation(Experiment):
    """How much a trace is compressed in time, and no packet and no send is lost.

    k of a build is the greatest compression such that it and all that were tried below it lose
    nothing. All builds are searched in the same way on the same grid, 25 times powers of the 64th
    root of 2: from 25 on every 16th until the first loss (19 % apart), or if there is one at 25
    every 64th downwards to 0.78, and what is between is halved, to 1.1 %. A loss can come from how
    events happen to meet, so that a higher compression loses nothing again: four more, up to 1.41
    times the first loss, are tried, and the greatest without loss is told beside k. Trials are 102
    at the most, for a trace of 200 M cycles of which nothing is lost, and usually 14.

    There are ten traces, whose random seeds follow the given one, and the ratio of two builds is
    taken trace by trace. With ``--trace`` a recorded trace's busiest second is the only one.
    """

    id = "E5"
    title = "Saturation"
    reference = "+1.1 %, computed from the paper's numbers; it never saturated"
    pass_line = "k(B) is at least 1.05 times k(S), the mean over all traces"
    length_unit = "cycles of each trace"
    short_length = 40_000_000
    full_length = CYCLES
    takes_trace = True

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every trace on every build.

        Raises ``ValueError`` for a trace of which nothing is lost however fast it comes, and for
        one of which something is lost at every speed tried.
        """
        wire = settings.clock_hz * _WIRE_BITS_PER_CYCLE // 4
        traffics = _traffics(settings)
        setups = bench.setups("trace")
        cases = [(name, build) for name in traffics for build in Build]

        def case(item: tuple[int | str, Build]) -> Survival:
            name, build = item
            found = _survival(setups[build], traffics[name], wire)
            if found.highest is None:
                raise ValueError(
                    f"{build} loses some of trace {name} at every speed tried, from"
                    f" {_LEAST_COMPRESSION:.2f} to {_FIRST_COMPRESSION:g} times its own"
                )
            if found.highest == _most_compression(traffics[name]):
                raise ValueError(
                    f"trace {name} never saturates {build}: nothing is lost even"
                    f" {found.highest:,.0f} times as fast, when all of it comes at once"
                )
            more = f", and {found.again:.1f} without loss" if found.again else ""
            progress(f"{build}, trace {name}: {found.highest:.1f}{more}")
            return found

        found = dict(zip(cases, bench.map(case, cases), strict=True))
        rows = [
            self._row(name, {build: found[name, build] for build in Build}) for name in traffics
        ]
        ratios = [row["k(B)/k(S)"] for row in rows]
        mean = statistics.fmean(ratios)
        headline = {"k(B)/k(S), mean": mean}
        if len(rows) == _TRACES:
            headline["k(B)/k(S), half of the 95 % interval"] = _half_interval(ratios)
        headline |= {
            "k(B)/k(S), worst": min(ratios),
            "k(B)/k(polled), mean": statistics.fmean(row["k(B)/k(polled)"] for row in rows),
            "k(B)/k(polled), worst": min(row["k(B)/k(polled)"] for row in rows),
        }
        for build in Build:
            headline[f"{build}, traces without loss again above the first"] = sum(
                f"again({build})" in row for row in rows
            )
        return Outcome(
            rows=rows,
            headline=headline,
            passed=mean >= 1.05,
            config={
                "traces": len(traffics),
                "wire_bits_per_second": wire * 4,
                "precision": 2 ** (1 / PLACES_PER_OCTAVE),
            },
        )

    def _row(self, name: int | str, found: dict[Build, Survival]) -> dict[str, Any]:
        row: dict[str, Any] = {"trace": name}
        k = {build: survival.highest for build, survival in found.items()}
        row |= {f"k({build})": round(value, 2) for build, value in k.items()}
        for build in (Build.SINGLE, Build.POLLED):
            row[f"k(B)/k({build})"] = round(k[Build.BANKED] / k[build], 4)
        for build, survival in found.items():
            if survival.again:
                row[f"again({build})"] = round(survival.again, 2)
        return row

    def plot(self, outcome: Outcome, path: Path) -> None:
        """The compressions of all traces."""
        positions = np.arange(len(outcome.rows))
        with figure(path, self.title, xlabel="trace", ylabel="compression without loss") as axes:
            for index, build in enumerate(Build):
                values = [row[f"k({build})"] for row in outcome.rows]
                place = positions + (index - 1) * 0.25
                axes.bar(place, values, 0.25, label=build, color=COLOURS[build])
            axes.set_xticks(positions, [row["trace"] for row in outcome.rows])
            axes.legend()


def _traffics(settings: Settings) -> dict[int | str, Traffic]:
    """Random traces by their seeds, or the recorded one by its name."""
    if settings.trace is not None:
        return {settings.trace.stem: read_trace(settings.trace, settings.length)}
    seeds = range(settings.seed, settings.seed + _TRACES)
    return {seed: make_traffic(seed, settings.length) for seed in seeds}


def _most_compression(traffic: Traffic) -> float:
    """All events are in one cycle then."""
    return max(_FIRST_COMPRESSION, traffic.cycles)


def _survival(setup: Setup, traffic: Traffic, mii_hz: int) -> Survival:
    def survives(compression: float) -> bool:
        return replay(setup, traffic, compression=compression, mii_hz=mii_hz).lost == 0

    return up_to_first_loss(
        survives,
        first=_FIRST_COMPRESSION,
        least=_LEAST_COMPRESSION,
        most=_most_compression(traffic),
    )


def _half_interval(values: list[float]) -> float:
    """Half the 95 % confidence interval of the mean."""
    return _T_95 * statistics.stdev(values) / math.sqrt(len(values))
