"""E17: frames at line rate while serial ports are busy both ways."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..host import protocol
from ..host.protocol import Command
from ..result import RunResult
from ..stimulus import Frame, UartBytes, UartFormat
from . import serial_link
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings, megabits_per_second
from .frames import (
    ECHO_PORT,
    FCS_BYTES,
    HEADER_BYTES,
    UDP_OFFSET,
    datagram,
    ipv4_frames,
    wire_cycles,
)
from .overload_trial import is_part
from .plots import COLOURS, figure
from .rfc2544_plot import size_axis
from .rfc2544_trial import SIZES

PORTS = range(4)
BAUD = 115_200
#: Polling is no part of the comparison.
_BUILDS = (Build.BANKED, Build.SINGLE)
#: The longest trial, in which what comes from a port fits a datagram.
_MOST_MS = 80
#: What comes from a port is sent so long after the last frame; the wire back has no room before.
_AFTER_S = 0.001
#: Bytes of a datagram to a port, and the time between two of them.
_DATAGRAM_BYTES = 512
_BETWEEN_CYCLES = 30_000
#: A port still receives when the last frame has come; it sends from before the first one on.
_MORE_BYTES = 8
_EARLY_BYTES = 40
#: What the UDP header of an echo begins with.
_ECHO = ECHO_PORT.to_bytes(2, "big")


class BusyPorts(Experiment):
    """Frames of seven sizes at 100 Mbit/s, without a gap, to the application's echo, by DMA.

    Four serial ports receive and send meanwhile, without a pause, at 115,200 baud. Bytes for them
    come in datagrams before the frames; bytes from them are packed until the frames are through,
    since there is no room for more on the wire back. Frames of all sizes come for the same time,
    80 ms at the most, so that buffers hide little loss: they hold 22 of the 8,900 frames of 64
    bytes, or 480 of 1518, in 60 ms.
    """

    id = "E17"
    title = "Line rate with busy ports"
    reference = "no figure published for a soft core"
    pass_line = "B at line rate at all seven sizes with no frame and no serial byte lost"
    length_unit = "ms of frames"
    short_length = 60
    full_length = _MOST_MS

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every size on both builds."""
        setups = bench.setups("services", _BUILDS, eth_dma=True)
        cases = list(itertools.product(_BUILDS, SIZES))

        def case(item: tuple[Build, int]) -> dict[str, Any]:
            build, size = item
            row = run_trial(setups[build], size, settings)
            progress(f"{build}, {size} bytes")
            return {"build": build, "bytes": size} | row

        rows = bench.map(case, cases)
        headline: dict[str, float] = {}
        for build in _BUILDS:
            own = [row for row in rows if row["build"] == build]
            headline[f"{build} sizes at line rate (of {len(SIZES)})"] = sum(
                row["frames lost"] == 0 for row in own
            )
            for name in ("frames lost", "serial bytes lost"):
                headline[f"{build} {name}"] = sum(row[name] for row in own)
        return Outcome(
            rows=rows, headline=headline, passed=passes(rows), config={"uart_baud": BAUD}
        )

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Frames lost against the size."""
        with figure(path, self.title, xlabel="frame (bytes)", ylabel="frames lost (%)") as axes:
            for build in _BUILDS:
                chosen = [row for row in outcome.rows if row["build"] == build]
                lost = [100 * row["frames lost"] / row["frames"] for row in chosen]
                axes.plot(SIZES, lost, marker="o", color=COLOURS[build], label=build)
            size_axis(axes)


def passes(rows: Sequence[dict[str, Any]]) -> bool:
    """The verdict of the pass line."""
    own = [row for row in rows if row["build"] == Build.BANKED]
    return not any(row["frames lost"] or row["serial bytes lost"] for row in own)


def run_trial(setup: Setup, size: int, settings: Settings, interval: float = 0) -> dict[str, Any]:
    """Frames of a size, one in so many cycles, by default as fast as they come; what was lost.

    They come for ``settings.length`` milliseconds. Raises ``ValueError`` for a longer trial than
    there can be, and if no frame is echoed.
    """
    if settings.length > _MOST_MS:
        raise ValueError(f"length must be {_MOST_MS} ms at the most, not {settings.length}")
    clock_hz = settings.clock_hz
    interval = interval or wire_cycles(size, clock_hz)
    count = int(settings.length * clock_hz // 1000 / interval)
    after = round(_AFTER_S * clock_hz)
    character = serial_link.character_cycles(BAUD, clock_hz)
    rng = np.random.default_rng(settings.seed)
    up_bytes = int(count * interval / character) + _MORE_BYTES
    up = [rng.bytes(up_bytes) for _ in PORTS]
    down = [rng.bytes(up_bytes + _EARLY_BYTES) for _ in PORTS]
    pack_us = round((count * interval + after) / clock_hz * 1e6)
    items = [
        protocol.number(Command.SET_BAUDRATE, BAUD),
        protocol.number(Command.PACK_TIME, pack_us),
    ]
    frames, start = serial_link.set_up(dict.fromkeys(PORTS, items))
    for position in range(0, len(down[0]), _DATAGRAM_BYTES):
        for port in PORTS:
            part = down[port][position : position + _DATAGRAM_BYTES]
            frames.append(Frame(serial_link.data_frame(part, port), start))
            start += _BETWEEN_CYCLES
    content = datagram(size - FCS_BYTES - HEADER_BYTES, ECHO_PORT)
    frames += [Frame(content, start + int(index * interval)) for index in range(count)]
    result = setup.run(
        cycles=start + round(len(down[0]) * character) + 3 * after,
        frames=frames,
        uart=[UartBytes(serial_link.FIRST_PIN + port, data, start) for port, data in enumerate(up)],
        uart_formats={serial_link.FIRST_PIN + port: UartFormat(BAUD) for port in PORTS},
        limit_is_error=False,
    )
    echoes = [f for f in ipv4_frames(result) if f.data[UDP_OFFSET : UDP_OFFSET + 2] == _ECHO]
    if not echoes:
        raise ValueError(f"one of {count} frames of {size} bytes must be echoed, not none")
    took = max(echo.end_cycle for echo in echoes) - int(result.frames_sent[-count])
    bits = size * 8 * len(echoes)
    return {
        "frames": count,
        "frames lost": count - len(echoes),
        "echoes (Mbit/s)": round(megabits_per_second(bits, took, clock_hz), 2),
        "serial bytes each way": len(PORTS) * up_bytes,
        "serial bytes lost": sum(_lost(result, port, down[port], up[port]) for port in PORTS),
    }


def _lost(result: RunResult, port: int, down: bytes, up: bytes) -> int:
    """Bytes that did not come through, both ways.

    Raises ``ValueError`` for others than were sent.
    """
    came = result.uart(serial_link.FIRST_PIN + port)
    went = b"".join(packet.data for packet in serial_link.packets_of(result, port))
    if not (is_part(came, down) and is_part(went, up)):
        raise ValueError(f"serial port {port} gave bytes that it did not get")
    return len(down) - len(came) + len(up) - len(went)
