"""E4: the reference's second of traffic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .bench import Bench, Build
from .experiment import Experiment, Outcome, Progress, Settings, megabits_per_second
from .plots import COLOURS, figure
from .trace_file import read_trace
from .traffic import CYCLES, make_traffic, replay


class Trace(Experiment):
    """1,080 packets and 1,652 sends at random times in 200 M cycles, 8.60 Mbit/s at 200 MHz.

    A shorter run has less of everything at the same rate. Nothing may be lost; what is left of
    the processor tells the builds apart. A recorded trace's busiest second is replayed with
    ``--trace``.
    """

    id = "E4"
    title = "Trace"
    reference = "8.57 to 8.60 Mbit/s with 2,732 interrupts in a second of 200 M cycles"
    pass_line = "B loses nothing"
    length_unit = "cycles of the trace"
    short_length = 20_000_000
    full_length = CYCLES
    takes_trace = True

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """The same traffic on all builds."""
        if settings.trace is None:
            traffic = make_traffic(settings.seed, settings.length)
        else:
            traffic = read_trace(settings.trace, settings.length)
        setups = bench.setups("trace")

        def case(build: Build) -> dict[str, Any]:
            delivery = replay(setups[build], traffic)
            progress(str(build))
            share = 1 - delivery.lost / (delivery.packets + delivery.sends)
            return {
                "build": build,
                "packets": delivery.packets,
                "delivered": delivery.delivered,
                "sends": delivery.sends,
                "sent": delivery.sent,
                "lost": delivery.lost,
                "Mbit/s at 200 MHz": round(
                    megabits_per_second(traffic.bits * share, traffic.cycles), 3
                ),
                "busy (%)": round(100 * (1 - delivery.idle_share), 3),
                "idle (%)": round(100 * delivery.idle_share, 3),
                "busy (cycles an event)": round(
                    (delivery.cycles - delivery.idle_cycles) / (delivery.packets + delivery.sends)
                ),
            }

        rows = bench.map(case, list(setups))
        by_build = {row["build"]: row for row in rows}
        headline = {
            "B lost": by_build[Build.BANKED]["lost"],
            "B (Mbit/s at 200 MHz)": by_build[Build.BANKED]["Mbit/s at 200 MHz"],
            "B busy (%)": by_build[Build.BANKED]["busy (%)"],
            "S busy (%)": by_build[Build.SINGLE]["busy (%)"],
        }
        return Outcome(rows=rows, headline=headline, passed=by_build[Build.BANKED]["lost"] == 0)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Bars of the busy share."""
        rate = max(row["Mbit/s at 200 MHz"] for row in outcome.rows)
        with figure(path, f"{self.title}: {rate:.2f} Mbit/s at 200 MHz", ylabel="busy (%)") as axes:
            for position, row in zip(np.arange(len(outcome.rows)), outcome.rows, strict=True):
                bars = axes.bar(position, row["busy (%)"], 0.6, color=COLOURS[row["build"]])
                axes.bar_label(bars)
            axes.set_xticks(range(len(outcome.rows)), [row["build"] for row in outcome.rows])
