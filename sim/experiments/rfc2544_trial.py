"""Throughput, latency, loss and back-to-back frames of a service, in the terms of RFC 2544."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tierv.soc.params import FAST_ETHERNET

from ..result import RunResult
from ..stimulus import Frame
from .bench import Setup
from .experiment import Settings, megabits_per_second
from .frames import (
    ECHO_PORT,
    FAST_ECHO_PORT,
    FCS_BYTES,
    SINK_PORT,
    UDP_HEADERS_BYTES,
    arp_request,
    ipv4_frames,
    udp_frame,
    wire_cycles,
)
from .search import highest

#: Bytes of frames with their check sequence.
SIZES = (64, 128, 256, 512, 1024, 1280, 1518)
#: Those of a short run that has much else to measure.
SHORT_SIZES = (64, 512, 1518)
#: What the firmware does with the frames, and the port for it.
SERVICES = {"echo": ECHO_PORT, "echo in the stack": FAST_ECHO_PORT, "sink": SINK_PORT}
#: Of the number in each frame of a trial.
_NUMBER_BYTES = 2
#: Frames of a trial that have numbers of their own.
MOST_FRAMES = 1 << 8 * _NUMBER_BYTES
#: The firmware is ready long before the introduction.
_READY = 150_000
_INTRODUCTION = 50_000
_START = 100_000
#: After the last frame everything is through when so many more could have come, or so many cycles
#: have passed for each of them.
_TAIL_FRAMES = 32
_TAIL_CYCLES_PER_FRAME = 3_000
#: The search ends when it knows the rate to this factor. It begins at what is delivered of frames
#: at line rate, with such a step, and each step is the square of the one before.
_PRECISION = 1.02
_STEP, _GROWTH = 1.04, 2
#: It ends with an error when frames are lost that come so many times slower than that.
_MOST_SLOWER = 16
#: Preamble and start delimiter come before what a latency is counted to.
_PREAMBLE_BYTES = 8


@dataclass(frozen=True, kw_only=True)
class Target:
    """What is measured: a program on a build, and how it learns of the peer."""

    setup: Setup
    #: Cycle from which the program waits for frames.
    ready: int = _READY
    #: The frame that tells it the peer's address.
    introduction: bytes = arp_request()
    bits_per_second: int = FAST_ETHERNET
    #: Clocks of MII or GMII, if they are not those of such a wire.
    mii_hz: int | None = None


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
    #: Frames before the first that was lost; of a sink that lost any, None.
    before_loss: int | None


def measure(target: Target, service: str, size: int, settings: Settings) -> dict[str, Any]:
    """What a service does with frames of a size: a row.

    Throughput is the highest rate at which no frame is lost (RFC 1242 section 3.17); latency is
    that at this rate, for store-and-forward devices (section 3.8); back-to-back is the longest
    burst at line rate that nothing is lost of (section 3.1), which may be the whole trial.
    "Overload" is what is delivered of frames at line rate.

    Raises ``ValueError`` if frames are lost at every load that is tried.
    """
    line_cycles = wire_cycles(size, settings.clock_hz, target.bits_per_second)
    trials = {1.0: _run(target, service, size, line_cycles, settings)}
    overload = trials[1.0]

    def survives(load: float) -> bool:
        if load not in trials:
            trials[load] = _run(target, service, size, line_cycles / load, settings)
        return trials[load].delivered == settings.length

    first = min(1.0, line_cycles / overload.cycles_each)
    load = 1.0
    if not survives(1.0):
        load = highest(
            survives,
            first=first,
            step=_STEP,
            growth=_GROWTH,
            precision=_PRECISION,
            least=first / _MOST_SLOWER,
            most=1.0,
        )
        if load is None:
            raise ValueError(f"{service}: frames of {size} bytes are lost at any load tried")
    us = 1e6 / settings.clock_hz
    row: dict[str, Any] = {
        "throughput (Mbit/s)": round(load * _rate(size, line_cycles, settings), 2),
        # Nearly line rate is not line rate.
        "of line rate (%)": 100.0 if load == 1 else min(round(100 * load, 1), 99.9),
        "overload (Mbit/s)": round(
            _rate(size, max(overload.cycles_each, line_cycles), settings), 2
        ),
        "overload lost (%)": round(100 * (1 - overload.delivered / overload.frames), 1),
        "cycles a frame at overload": round(overload.cycles_each),
    }
    if overload.before_loss is not None:
        row["back-to-back (frames)"] = overload.before_loss
    latencies = trials[load].latencies * us
    if len(latencies):
        row |= {
            "latency mean (us)": round(float(latencies.mean()), 2),
            "latency max (us)": round(float(latencies.max()), 2),
        }
    return row


def saturate(target: Target, service: str, size: int, settings: Settings) -> dict[str, Any]:
    """What frames of a size cost when the wire brings more than is delivered: part of a row."""
    line_cycles = wire_cycles(size, settings.clock_hz, target.bits_per_second)
    trial = _run(target, service, size, line_cycles, settings)
    return {
        "cycles a frame at saturation": round(trial.cycles_each, 1),
        "saturation lost (%)": round(100 * (1 - trial.delivered / trial.frames), 1),
    }


def _rate(size: int, cycles: float, settings: Settings) -> float:
    """Mbit/s of frames with check sequence, as RFC 2544 counts them, one in so many cycles."""
    return megabits_per_second(size * 8, cycles, settings.clock_hz)


def _number(number: int) -> bytes:
    """Bytes for the number of a frame, which all have the same checksum."""
    both = (number, number ^ (MOST_FRAMES - 1))
    return b"".join(one.to_bytes(_NUMBER_BYTES, "big") for one in both)


@cache
def _frame(size: int, port: int) -> bytes:
    """A frame, without check sequence, with the number 0."""
    rest = size - UDP_HEADERS_BYTES - FCS_BYTES - len(_number(0))
    return udp_frame(_number(0) + bytes(index & 0xFF for index in range(rest)), port)


def _numbered(content: bytes, number: int) -> bytes:
    words = _number(number)
    return content[:UDP_HEADERS_BYTES] + words + content[UDP_HEADERS_BYTES + len(words) :]


def _number_of(frame: bytes) -> int:
    return int.from_bytes(frame[UDP_HEADERS_BYTES : UDP_HEADERS_BYTES + _NUMBER_BYTES], "big")


def _run(target: Target, service: str, size: int, interval: float, settings: Settings) -> _Trial:
    content = _frame(size, SERVICES[service])
    start = target.ready + _START
    frames = [Frame(target.introduction, cycle=target.ready + _INTRODUCTION)]
    frames += [
        Frame(_numbered(content, index), cycle=start + int(index * interval))
        for index in range(settings.length)
    ]
    duration = int(settings.length * interval)
    tail = _TAIL_FRAMES * max(_TAIL_CYCLES_PER_FRAME, round(interval))
    result = target.setup.run(
        cycles=start + duration + tail,
        frames=frames,
        get=["discarded_datagrams"],
        mii_hz=target.mii_hz,
        limit_is_error=False,
    )
    if service == "sink":
        delivered = int(result.values["discarded_datagrams"])
        complete = settings.length if delivered == settings.length else None
        # What the slots and queues still hold when the last frame has come is taken afterwards.
        cycles_each = duration / max(1, delivered)
        return _Trial(settings.length, delivered, cycles_each, np.array([]), complete)
    return _echo_trial(result, start, len(content), target.bits_per_second, settings, duration)


def _echo_trial(
    result: RunResult,
    start: int,
    content: int,
    bits_per_second: int,
    settings: Settings,
    duration: int,
) -> _Trial:
    # A frame that is echoed twice makes up for no other.
    echoes = {_number_of(echo.data): echo for echo in reversed(ipv4_frames(result))}
    delivered = len(echoes)
    latencies = np.array([])
    if delivered == settings.length:
        sent = result.frames_sent[1 : 1 + settings.length].astype(np.int64)
        frame_bits = (_PREAMBLE_BYTES + content + FCS_BYTES) * 8
        on_wire = frame_bits * settings.clock_hz / bits_per_second
        starts = np.array([echoes[number].cycle for number in range(settings.length)])
        preamble = _PREAMBLE_BYTES * 8 * settings.clock_hz / bits_per_second
        latencies = starts + preamble - (sent + on_wire)
    before_loss = next(
        (number for number in range(settings.length) if number not in echoes), settings.length
    )
    end = max([start + duration, *(echo.end_cycle for echo in echoes.values())])
    return _Trial(
        settings.length, delivered, (end - start) / max(1, delivered), latencies, before_loss
    )
