"""E18: frames at 1 Gbit/s by DMA."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

from tierv.soc.params import GIGABIT_ETHERNET

from .bench import Bench, Build
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import COLOURS, figure
from .rfc2544_trial import SERVICES, SIZES, Target, measure, plot_line_rate, size_axis

#: GMII's own: a byte comes in a cycle.
_CLOCK_HZ = 125_000_000
_HEADLINE_SIZES = (64, 512)
#: B is at line rate from this size on.
_LEAST_BYTES = 512


class Gigabit(Experiment):
    """E7's frames and services at 1 Gbit/s, by GMII and DMA.

    The system clock is that of GMII, 125 MHz, in which a frame of 512 bytes comes in 532 cycles;
    what the builds need for a frame is a number of cycles, which any other clock divides.
    """

    id = "E18"
    title = "UDP at 1 Gbit/s"
    reference = "182 and 100 Mbit/s TCP with lwIP on MicroBlaze at 100 MHz with DMA (AMD UG643)"
    pass_line = "B takes and echoes all frames of 512 bytes and more at line rate"
    length_unit = "frames in a trial"
    short_length = 500
    full_length = 5_000

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every service, size and build."""
        settings = dataclasses.replace(settings, clock_hz=_CLOCK_HZ)
        soc = {
            "eth_dma": True,
            "eth_bits_per_second": GIGABIT_ETHERNET,
            "sys_clk_hz": settings.clock_hz,
        }
        setups = bench.setups("services", **soc)
        cases = list(itertools.product(SERVICES, SIZES, Build))

        def case(item: tuple[str, int, Build]) -> dict[str, Any]:
            service, size, build = item
            target = Target(setup=setups[build], bits_per_second=GIGABIT_ETHERNET)
            row = measure(target, service, size, settings)
            progress(f"{build}, {service} of {size} bytes")
            return {"service": service, "bytes": size, "build": build} | row

        rows = bench.map(case, cases)
        found = dict(zip(cases, rows, strict=True))
        headline: dict[str, float] = {}
        for service, build in itertools.product(SERVICES, Build):
            own = [found[service, size, build] for size in SIZES]
            for size in _HEADLINE_SIZES:
                name = f"{build} {service} of {size} bytes (Mbit/s)"
                headline[name] = found[service, size, build]["throughput (Mbit/s)"]
            name = f"{build} {service} at line rate (of {len(SIZES)} sizes)"
            headline[name] = sum(row["of line rate (%)"] == 100 for row in own)
        return Outcome(
            rows=rows,
            headline=headline,
            passed=passes(rows),
            config={"sys_clk_hz": settings.clock_hz, "eth_bits_per_second": GIGABIT_ETHERNET},
        )

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Throughput against the frame size."""
        styles = dict(zip(SERVICES, ("-", "--", ":"), strict=True))
        with figure(path, self.title, xlabel="frame (bytes)", ylabel="Mbit/s") as axes:
            for service, build in itertools.product(SERVICES, Build):
                chosen = [
                    row["throughput (Mbit/s)"]
                    for row in outcome.rows
                    if (row["service"], row["build"]) == (service, build)
                ]
                label, colour = f"{build} {service}", COLOURS[build]
                axes.plot(SIZES, chosen, styles[service], marker="o", color=colour, label=label)
            plot_line_rate(axes, GIGABIT_ETHERNET)
            size_axis(axes)


def passes(rows: list[dict[str, Any]]) -> bool:
    """The verdict of the pass line."""
    return all(
        row["of line rate (%)"] == 100
        for row in rows
        if row["build"] == Build.BANKED and row["bytes"] >= _LEAST_BYTES
    )
