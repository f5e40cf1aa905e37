"""E7: throughput, latency and behaviour under overload, in the terms of RFC 2544."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..result import RunResult
from ..stimulus import Frame
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings, megabits_per_second
from .frames import (
    ECHO_PORT,
    FAST_ECHO_PORT,
    FCS_BYTES,
    HEADER_BYTES,
    SINK_PORT,
    arp_request,
    datagram,
    ipv4_frames,
    wire_cycles,
)
from .plots import COLOURS, figure

#: Bytes of frames with their check sequence.
SIZES = (64, 128, 256, 512, 1024, 1280, 1518)
#: How frames come to memory and go from there: the MAC's name, and what `SocParams` says for it.
MACS = {"slots": {"eth_dma": False}, "dma": {"eth_dma": True}}
#: What the firmware does with the frames, and the port for it.
SERVICES = {"echo": ECHO_PORT, "echo in the stack": FAST_ECHO_PORT, "sink": SINK_PORT}
_HEADLINE_SIZES = (64, 512, 1518)
_START = 250_000
_INTRODUCTION = 200_000
#: After the last frame everything is through when so many more could have come, or so many cycles
#: have passed for each of them.
_TAIL_FRAMES = 32
_TAIL_CYCLES_PER_FRAME = 3_000
#: The search ends when it knows the rate to this part of the line rate.
_PRECISION = 1 / 128
#: Preamble and start delimiter come before what a latency is counted to.
_PREAMBLE_BYTES = 8


@dataclass(frozen=True)
class _Trial:
    """Frames at a steady rate, and what came of them."""

    frames: int
    #: Echoes, or datagrams that the sink took.
    delivered: int
    #: Time that the deliveries took, per delivery.
    cycles_each: float
    #: From the last bit of a frame to the first of its echo; of a sink, nothing.
    latencies: np.ndarray


class Rfc2544(Experiment):
    """Frames of seven sizes at 100 Mbit/s to an echo and to a sink, by both kinds of MAC.

    Throughput is the highest rate at which no frame is lost (RFC 1242 section 3.17); latency is
    that at this rate, for store-and-forward devices (section 3.8). "Overload" is what is
    delivered of frames at line rate. The echo is the application's; the echo in the stack is
    answered by the protocol service, without the application.
    """

    id = "E7"
    title = "UDP echo and sink"
    reference = "50 and 38 Mbit/s TCP with lwIP on MicroBlaze at 100 MHz without DMA"
    pass_line = "B echoes more than 50 Mbit/s of 1518-byte frames"
    length_unit = "frames in a trial"
    short_length = 500
    full_length = 5_000

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every MAC, service, size and build."""
        setups = {mac: bench.setups("services", **soc) for mac, soc in MACS.items()}
        cases = list(itertools.product(MACS, SERVICES, SIZES, Build))

        def case(item: tuple[str, str, int, Build]) -> dict[str, Any]:
            mac, service, size, build = item
            row = self._case(setups[mac][build], service, size, settings)
            progress(f"{build}, {mac}, {service} of {size} bytes")
            return {"MAC": mac, "service": service, "bytes": size, "build": build} | row

        rows = bench.map(case, cases)
        found = dict(zip(cases, rows, strict=True))
        headline: dict[str, float] = {}
        for mac, size, build in itertools.product(MACS, _HEADLINE_SIZES, Build):
            name = f"{build} {mac}, echo of {size} bytes (Mbit/s)"
            headline[name] = found[mac, "echo", size, build]["throughput (Mbit/s)"]
        for mac, build in itertools.product(MACS, Build):
            headline[f"{build} {mac}, echo at line rate (of {len(SIZES)} sizes)"] = sum(
                found[mac, "echo", size, build]["of line rate (%)"] == 100 for size in SIZES
            )
        passed = all(headline[f"B {mac}, echo of 1518 bytes (Mbit/s)"] > 50 for mac in MACS)
        return Outcome(rows=rows, headline=headline, passed=passed)

    def _case(self, setup: Setup, service: str, size: int, settings: Settings) -> dict[str, Any]:
        line_cycles = wire_cycles(size, settings.clock_hz)
        overload = trial = _run(setup, service, size, line_cycles, settings)
        low, high = 0.0, 1.0
        if overload.delivered == overload.frames:
            low = 1.0
        while high - low > _PRECISION:
            middle = (low + high) / 2
            attempt = _run(setup, service, size, line_cycles / middle, settings)
            if attempt.delivered == attempt.frames:
                low, trial = middle, attempt
            else:
                high = middle
        latencies = trial.latencies * 1e6 / settings.clock_hz
        row: dict[str, Any] = {
            "throughput (Mbit/s)": round(low * _rate(size, line_cycles, settings), 2),
            "of line rate (%)": round(100 * low, 1),
            "overload (Mbit/s)": round(
                _rate(size, max(overload.cycles_each, line_cycles), settings), 2
            ),
            "overload lost (%)": round(100 * (1 - overload.delivered / overload.frames), 1),
            "cycles a frame at overload": round(overload.cycles_each),
        }
        if len(latencies) and low:
            row |= {
                "latency mean (us)": round(float(latencies.mean()), 2),
                "latency max (us)": round(float(latencies.max()), 2),
            }
        return row

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Throughput of the application's echo against the frame size."""
        with figure(path, self.title, xlabel="frame (bytes)", ylabel="Mbit/s") as axes:
            for mac, style in zip(MACS, ("--", "-"), strict=True):
                for build in Build:
                    chosen = [
                        row["throughput (Mbit/s)"]
                        for row in outcome.rows
                        if (row["MAC"], row["service"], row["build"]) == (mac, "echo", build)
                    ]
                    label = f"{build} {mac}"
                    axes.plot(SIZES, chosen, style, marker="o", color=COLOURS[build], label=label)
            line = [size * 8 / wire_cycles(size, 100_000_000) * 100 for size in SIZES]
            axes.plot(SIZES, line, color="gray", label="line rate")
            axes.set_xscale("log", base=2)
            axes.set_xticks(SIZES, SIZES)
            axes.legend(fontsize="small")


def _rate(size: int, cycles: float, settings: Settings) -> float:
    """Mbit/s of frames with check sequence, as RFC 2544 counts them, one in so many cycles."""
    return megabits_per_second(size * 8, cycles, settings.clock_hz)


def _run(setup: Setup, service: str, size: int, interval: float, settings: Settings) -> _Trial:
    content = datagram(size - FCS_BYTES - HEADER_BYTES, SERVICES[service])
    frames = [Frame(arp_request(), cycle=_INTRODUCTION)]
    frames += [
        Frame(content, cycle=_START + int(index * interval)) for index in range(settings.length)
    ]
    duration = int(settings.length * interval)
    tail = _TAIL_FRAMES * max(_TAIL_CYCLES_PER_FRAME, round(interval))
    result = setup.run(
        cycles=_START + duration + tail,
        frames=frames,
        get=["discarded_datagrams"],
        limit_is_error=False,
    )
    if service == "sink":
        delivered = int(result.values["discarded_datagrams"])
        # What the slots and queues still hold when the last frame has come is taken afterwards.
        return _Trial(settings.length, delivered, duration / max(1, delivered), np.array([]))
    return _echo_trial(result, len(content), settings, duration)


def _echo_trial(result: RunResult, content: int, settings: Settings, duration: int) -> _Trial:
    echoes = ipv4_frames(result)
    delivered = len(echoes)
    latencies = np.array([])
    if delivered == settings.length:
        sent = result.frames_sent[1 : 1 + settings.length].astype(np.int64)
        frame_bits = (_PREAMBLE_BYTES + content + FCS_BYTES) * 8
        on_wire = frame_bits * settings.clock_hz / 100_000_000
        starts = np.array([echo.cycle for echo in echoes])
        preamble = _PREAMBLE_BYTES * 8 * settings.clock_hz / 100_000_000
        latencies = starts + preamble - (sent + on_wire)
    end = max([_START + duration, *(echo.end_cycle for echo in echoes)])
    return _Trial(settings.length, delivered, (end - _START) / max(1, delivered), latencies)
