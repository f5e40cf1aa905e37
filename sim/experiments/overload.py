"""E15: what is delivered of more and more frames, and what is left for everybody else."""

from __future__ import annotations

import itertools
import math
import operator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..model import SIMULATION_BAUD
from .bench import Bench, Build
from .experiment import Experiment, Outcome, Progress, Settings
from .overload_trial import (
    LEAST_FLOOD_CYCLES,
    LIN_BAUD,
    SERVICES,
    Quiet,
    Trial,
    least_cycles,
    run_quiet,
    run_trial,
    sustained_interval,
)
from .plots import COLOURS, figure

#: Offered, in parts of the rate that the build sustains; the last is the overload.
LOADS = (0.5, 1.0, 3.0, 10.0)
#: Per cent that the application is to keep; 0: the network goes first always.
SHARES = (0, 20)
#: Of the best at any lower load must be delivered, from the sustained rate on.
_FLAT = 0.9


@dataclass(frozen=True)
class _Case:
    build: Build
    service: str
    share: int
    load: float


class Overload(Experiment):
    """Frames of 64 bytes for a sink and for the application's echo, while the application computes,
    two serial ports receive without a pause (1 Mbit/s) and two LIN nodes answer: up to ten times
    the rate at which the build, doing all that, loses no frame.

    Each build is offered multiples of its own sustained rate, without a share for the application
    and with one of 20 %. What is left to the application is counted in rounds of its computation,
    against those of the same time without frames.
    """

    id = "E15"
    title = "Overload"
    reference = "floods that stop other stacks: zephyr #7571, smoltcp #848, picoTCP #140"
    pass_line = (
        "B: from the sustained rate to ten times that, 90 % of the best at any lower rate is"
        " delivered; no serial byte and no LIN response is lost at any load; beside the sink the"
        " computation keeps a share of 20 %"
    )
    length_unit = "cycles of flood"
    short_length = 3_000_000
    full_length = 20_000_000
    least_length = LEAST_FLOOD_CYCLES

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Sustained rates first, then every case.

        Raises ``ValueError`` for a flood that is over before a LIN node has to answer.
        """
        least = least_cycles(settings.clock_hz)
        if settings.length < least:
            raise ValueError(
                f"length must be at least {least} cycles at {settings.clock_hz} Hz, the time of a"
                f" LIN frame, not {settings.length}"
            )
        setups = bench.setups("services", (Build.BANKED, Build.SINGLE))
        searches = [(build, service) for build in setups for service in SERVICES]

        def search(item: tuple[Build, str]) -> float:
            interval = sustained_interval(setups[item[0]], item[1], settings)
            progress(f"{item[0]}, {item[1]}: a frame in {interval:.0f} cycles is sustained")
            return interval

        intervals = dict(zip(searches, bench.map(search, searches), strict=True))
        quiet = dict(
            zip(
                setups,
                bench.map(lambda build: run_quiet(setups[build], settings), list(setups)),
                strict=True,
            )
        )
        cases = [
            _Case(build, service, share, load)
            for build, service in searches
            for share in SHARES
            for load in LOADS
        ]

        def case(one: _Case) -> dict[str, Any]:
            interval = intervals[one.build, one.service] / one.load
            trial = run_trial(setups[one.build], one.service, interval, one.share, settings)
            progress(f"{one.build}, {one.service}, share {one.share} %, {one.load:g} times")
            return _row(one, trial, quiet[one.build], settings)

        rows = bench.map(case, cases)
        config = {
            "lin_baud": LIN_BAUD,
            "uart_baud": SIMULATION_BAUD,
        }
        return Outcome(rows=rows, headline=_headline(rows), passed=_passes(rows), config=config)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Delivered against offered."""
        xlabel, ylabel = (f"{what} (1,000 frames/s)" for what in ("offered", "delivered"))
        with figure(path, self.title, xlabel=xlabel, ylabel=ylabel) as axes:
            for build in (Build.BANKED, Build.SINGLE):
                for service, marker in zip(SERVICES, "os", strict=True):
                    for share, style in zip(SHARES, (":", "-"), strict=True):
                        chosen = _chosen(outcome.rows, build, service, share)
                        axes.plot(
                            [row["offered (kframes/s)"] for row in chosen],
                            [row["delivered (kframes/s)"] for row in chosen],
                            style, marker=marker, color=COLOURS[build],
                            label=f"{build} {service}, share {share} %",
                        )  # fmt: skip
            axes.set_ylim(bottom=0)
            axes.legend(fontsize="small")


def _chosen(rows: list[dict[str, Any]], build: Build, service: str, share: int) -> list[dict]:
    wanted = (build, service, share)
    return [row for row in rows if (row["build"], row["service"], row["share (%)"]) == wanted]


def _flatness(rows: list[dict[str, Any]]) -> float:
    """The least that is delivered from the sustained rate on, in parts of the best below."""
    delivered = [row["delivered (kframes/s)"] for row in rows if row["load"] >= 1]
    return min(map(operator.truediv, delivered, itertools.accumulate(delivered, max)))


def _headline(rows: list[dict[str, Any]]) -> dict[str, float]:
    headline: dict[str, float] = {}
    for build in (Build.BANKED, Build.SINGLE):
        for share in SHARES:
            for service in SERVICES:
                chosen = _chosen(rows, build, service, share)
                if not share:
                    sustained = next(row for row in chosen if row["load"] == 1)
                    name = f"{build}, {service} without loss (kframes/s)"
                    headline[name] = sustained["offered (kframes/s)"]
                name = f"{build} share {share} %, {service} beyond that, worst (of the best, %)"
                headline[name] = 100 * _flatness(chosen)
            left = _chosen(rows, build, "sink", share)[-1]["computation left (%)"]
            headline[f"{build} share {share} %, computation left (%)"] = left
            own = [row for row in rows if (row["build"], row["share (%)"]) == (build, share)]
            for name in ("serial bytes lost", "LIN responses lost"):
                headline[f"{build} share {share} %, {name}"] = sum(row[name] for row in own)
    return headline


def _passes(rows: list[dict[str, Any]]) -> bool:
    own = [row for row in rows if row["build"] == Build.BANKED]
    flat = all(
        _flatness(_chosen(rows, Build.BANKED, service, share)) >= _FLAT
        for service in SERVICES
        for share in SHARES
    )
    kept = all(
        row["computation left (%)"] >= row["share (%)"] for row in own if row["service"] == "sink"
    )
    whole = not any(row["serial bytes lost"] or row["LIN responses lost"] for row in own)
    return flat and kept and whole


def _row(case: _Case, trial: Trial, quiet: Quiet, settings: Settings) -> dict[str, Any]:
    left = (trial.busy_rounds - quiet.outside) / quiet.during
    per_second = settings.clock_hz / settings.length * 1e-3
    return {
        "build": case.build,
        "service": case.service,
        "share (%)": case.share,
        "load": case.load,
        "offered (kframes/s)": round(trial.offered * per_second, 2),
        "delivered (kframes/s)": round(trial.delivered * per_second, 2),
        # Nearly the share is not the share.
        "computation left (%)": math.floor(1_000 * max(0.0, left)) / 10,
        "serial bytes lost": trial.uart_lost,
        "LIN responses lost": trial.lin_lost,
    }
