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
from .search import highest
from .trace_file import read_trace
from .traffic import CYCLES, Traffic, make_traffic, replay

#: Bits a clock cycle on the wire: 400 Mbit/s at 100 MHz, so that the wire is not the limit.
_WIRE_BITS_PER_CYCLE = 4
#: Random traces, so that a confidence interval can be given.
_TRACES = 10
#: The search begins here and ends when it knows the compression to this factor.
_FIRST_COMPRESSION = 40.0
_PRECISION = 1.01
#: Quantile of Student's t distribution with one degree of freedom less than that, for a two-sided
#: interval of 95 %.
_T_95 = 2.262


class Saturation(Experiment):
    """The highest compression in time at which no packet and no send is lost.

    The compression is searched to 1 % for each of ten traces, whose random seeds follow the
    given one, and the ratio of two builds is taken trace by trace. With ``--trace`` it is searched
    for a recorded trace's busiest second alone.
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

        Raises ``ValueError`` for a trace of which nothing is lost however fast it comes.
        """
        wire = settings.clock_hz * _WIRE_BITS_PER_CYCLE // 4
        traffics = _traffics(settings)
        setups = bench.setups("trace")
        cases = [(name, build) for name in traffics for build in Build]

        def case(item: tuple[int | str, Build]) -> float:
            name, build = item
            found = _highest_compression(setups[build], traffics[name], wire)
            if found == _most_compression(traffics[name]):
                raise ValueError(
                    f"trace {name} never saturates {build}: nothing is lost even {found:,.0f} times"
                    " as fast, when all of it comes at once"
                )
            progress(f"{build}, trace {name}: {found:.1f}")
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
        }
        return Outcome(
            rows=rows,
            headline=headline,
            passed=mean >= 1.05,
            config={
                "traces": len(traffics),
                "wire_bits_per_second": wire * 4,
                "precision": _PRECISION,
            },
        )

    def _row(self, name: int | str, found: dict[Build, float]) -> dict[str, Any]:
        row: dict[str, Any] = {"trace": name}
        row |= {f"k({build})": round(value, 2) for build, value in found.items()}
        for build in (Build.SINGLE, Build.POLLED):
            row[f"k(B)/k({build})"] = round(found[Build.BANKED] / found[build], 4)
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


def _highest_compression(setup: Setup, traffic: Traffic, mii_hz: int) -> float:
    def survives(compression: float) -> bool:
        return replay(setup, traffic, compression=compression, mii_hz=mii_hz).lost == 0

    return highest(
        survives,
        first=_FIRST_COMPRESSION,
        step=math.sqrt(2),
        precision=_PRECISION,
        most=_most_compression(traffic),
    )


def _half_interval(values: list[float]) -> float:
    """Half the 95 % confidence interval of the mean."""
    return _T_95 * statistics.stdev(values) / math.sqrt(len(values))
