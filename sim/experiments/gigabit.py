"""E18: frames at 1 Gbit/s by DMA."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path
from typing import Any

from tierv.soc.params import GIGABIT_ETHERNET

from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .frames import wire_cycles
from .plots import COLOURS
from .rfc2544_plot import Curve, plot_throughput
from .rfc2544_trial import (
    MOST_FRAMES,
    SERVICES,
    SHORT_SIZES,
    SIZES,
    Target,
    measure,
    saturate,
)

#: What is asked for in a short run.
_SHORT_SERVICES = ("echo", "sink")
_HEADLINE_SIZES = (64, 512)
#: B is at line rate from this size on.
_LEAST_BYTES = 512
#: To saturate the builds the wire is so much faster, which the DMA still keeps up with.
_SATURATION = 1.25
#: GMII brings a byte in a clock.
_BITS_PER_CLOCK = 8


def _times(size: int) -> float:
    """Frames of a size that take as long as one of the headline's longest."""
    return wire_cycles(max(_HEADLINE_SIZES), 1) / wire_cycles(size, 1)


class Gigabit(Experiment):
    """E7's frames and services at 1 Gbit/s, by GMII and DMA.

    GMII has its own clock of 125 MHz, so that at a system clock of 100 MHz a frame of 512 bytes
    comes in 426 cycles and one of 64 in 67. Cycles a frame at saturation are those of the echo
    while frames come by a wire that is a quarter faster, a frame of 512 bytes in 340 cycles: more
    than is answered, which "saturation lost" shows. Those trials are as long as the one with frames
    of 512 bytes. A short run has fewer services and sizes.
    """

    id = "E18"
    title = "UDP at 1 Gbit/s"
    reference = "182 and 100 Mbit/s TCP with lwIP on MicroBlaze at 100 MHz with DMA (AMD UG643)"
    pass_line = "B takes and echoes all frames of 512 bytes and more at line rate"
    length_unit = "frames in a trial"
    short_length = 500
    full_length = 5_000
    most_length = int(MOST_FRAMES / _times(min(_HEADLINE_SIZES)))

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every service, size and build."""
        setups = bench.setups("services", eth_dma=True, eth_bits_per_second=GIGABIT_ETHERNET)
        is_short = self.is_short(settings)
        services = _SHORT_SERVICES if is_short else tuple(SERVICES)
        sizes = SHORT_SIZES if is_short else SIZES
        cases = list(itertools.product(services, sizes, Build))

        def case(item: tuple[str, int, Build]) -> dict[str, Any]:
            service, size, build = item
            row = _measure(setups[build], service, size, settings)
            progress(f"{build}, {service} of {size} bytes")
            return {"service": service, "bytes": size, "build": build} | row

        rows = bench.map(case, cases)
        found = dict(zip(cases, rows, strict=True))
        headline: dict[str, float] = {}
        for size, build in itertools.product(_HEADLINE_SIZES, Build):
            name = f"{build} echo of {size} bytes at saturation (cycles a frame)"
            headline[name] = found["echo", size, build]["cycles a frame at saturation"]
        for service, build in itertools.product(services, Build):
            for size in _HEADLINE_SIZES:
                name = f"{build} {service} of {size} bytes (Mbit/s)"
                headline[name] = found[service, size, build]["throughput (Mbit/s)"]
            name = f"{build} {service} at line rate (of {len(sizes)} sizes)"
            own = (found[service, size, build] for size in sizes)
            headline[name] = sum(row["of line rate (%)"] == 100 for row in own)
        return Outcome(
            rows=rows,
            headline=headline,
            passed=passes(rows),
            config={
                "eth_bits_per_second": GIGABIT_ETHERNET,
                "saturation_bits_per_second": _SATURATION * GIGABIT_ETHERNET,
            },
        )

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Throughput against the frame size."""
        styles = dict(zip(SERVICES, ("-", "--", ":"), strict=True))
        services = dict.fromkeys(row["service"] for row in outcome.rows)
        curves = [
            Curve(
                f"{build} {service}",
                [row for row in outcome.rows if (row["service"], row["build"]) == (service, build)],
                COLOURS[build],
                styles[service],
            )
            for service, build in itertools.product(services, Build)
        ]
        plot_throughput(path, self.title, curves, GIGABIT_ETHERNET)


def _measure(setup: Setup, service: str, size: int, settings: Settings) -> dict[str, Any]:
    target = Target(setup=setup, bits_per_second=GIGABIT_ETHERNET)
    row = measure(target, service, size, settings)
    if service == "echo" and size in _HEADLINE_SIZES:
        rate = round(_SATURATION * GIGABIT_ETHERNET)
        faster = dataclasses.replace(target, bits_per_second=rate, mii_hz=rate // _BITS_PER_CLOCK)
        as_long = dataclasses.replace(settings, length=round(settings.length * _times(size)))
        row |= saturate(faster, service, size, as_long)
    return row


def passes(rows: list[dict[str, Any]]) -> bool:
    """The verdict of the pass line."""
    return all(
        row["of line rate (%)"] == 100
        for row in rows
        if row["build"] == Build.BANKED and row["bytes"] >= _LEAST_BYTES
    )
