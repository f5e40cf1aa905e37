"""E7: throughput, latency and behaviour under overload, in the terms of RFC 2544."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from .bench import Bench, Build
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import COLOURS
from .rfc2544_plot import Curve, plot_throughput
from .rfc2544_trial import (
    MOST_FRAMES,
    SERVICES,
    SHORT_SIZES,
    SIZES,
    Target,
    measure,
)

#: How frames come to memory and go from there: the MAC's name, and what `SocParams` says for it.
MACS = {"slots": {"eth_dma": False}, "dma": {"eth_dma": True}}


class Rfc2544(Experiment):
    """Frames of seven sizes at 100 Mbit/s to an echo and to a sink, by both kinds of MAC.

    The echo is the application's, the echo in the stack is answered by the protocol service
    without the application. A short run has the other services at three sizes.
    """

    id = "E7"
    title = "UDP echo and sink"
    reference = "50 and 38 Mbit/s TCP with lwIP on MicroBlaze at 100 MHz without DMA"
    pass_line = "B echoes more than 50 Mbit/s of 1518-byte frames"
    length_unit = "frames in a trial"
    short_length = 250
    full_length = 5_000
    most_length = MOST_FRAMES

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every MAC, service, size and build."""
        setups = {mac: bench.setups("services", **soc) for mac, soc in MACS.items()}
        sizes = dict.fromkeys(SERVICES, SHORT_SIZES if self.is_short(settings) else SIZES)
        sizes["echo"] = SIZES
        cases = [
            (mac, service, size, build)
            for mac, service in itertools.product(MACS, SERVICES)
            for size, build in itertools.product(sizes[service], Build)
        ]

        def case(item: tuple[str, str, int, Build]) -> dict[str, Any]:
            mac, service, size, build = item
            row = measure(Target(setup=setups[mac][build]), service, size, settings)
            progress(f"{build}, {mac}, {service} of {size} bytes")
            return {"MAC": mac, "service": service, "bytes": size, "build": build} | row

        rows = bench.map(case, cases)
        found = dict(zip(cases, rows, strict=True))
        headline: dict[str, float] = {}
        for mac, size, build in itertools.product(MACS, SHORT_SIZES, Build):
            name = f"{build} {mac}, echo of {size} bytes (Mbit/s)"
            headline[name] = found[mac, "echo", size, build]["throughput (Mbit/s)"]
        for mac, build in itertools.product(MACS, Build):
            headline[f"{build} {mac}, echo at line rate (of {len(SIZES)} sizes)"] = sum(
                found[mac, "echo", size, build]["of line rate (%)"] == 100 for size in SIZES
            )
        passed = all(headline[f"B {mac}, echo of 1518 bytes (Mbit/s)"] > 50 for mac in MACS)
        return Outcome(rows=rows, headline=headline, passed=passed)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Throughput of the application's echo against the frame size."""
        curves = []
        for (mac, style), build in itertools.product(zip(MACS, ("--", "-"), strict=True), Build):
            case = (mac, "echo", build)
            rows = [r for r in outcome.rows if (r["MAC"], r["service"], r["build"]) == case]
            curves.append(Curve(f"{build} {mac}", rows, COLOURS[build], style))
        plot_throughput(path, self.title, curves)
