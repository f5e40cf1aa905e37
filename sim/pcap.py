"""Capture files as stimulus, and pcap files (version 2.4) of results."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

from .capture import LINK_TYPE_ETHERNET, Packet, read_capture
from .records import CYCLE_END
from .result import FrameOut
from .stimulus import Frame

_MAGIC_NANOSECONDS = 0xA1B2_3C4D
_SNAPSHOT_BYTES = 65535


def read_pcap(
    path: Path | str,
    sys_clk_hz: int,
    *,
    speed: float = 1.0,
    start_cycle: int = 0,
    most_bytes: int = _SNAPSHOT_BYTES,
) -> list[Frame]:
    """Frames of a capture, pcap or pcapng, at their own times or ``speed`` times as fast.

    The earliest one is at ``start_cycle``; they are in the order of their times. Bytes that the
    capture left out are zero. Raises ``ValueError`` as ``read_capture``, and for a frame of more
    than ``most_bytes`` without check sequence or later than the simulation can count.
    """
    return time_frames(
        read_capture(path),
        path,
        sys_clk_hz,
        speed=speed,
        start_cycle=start_cycle,
        most_bytes=most_bytes,
    )


def time_frames(
    packets: Iterable[Packet],
    path: Path | str,
    sys_clk_hz: int,
    *,
    speed: float,
    start_cycle: int,
    most_bytes: int,
) -> list[Frame]:
    """Frames of packets of a capture, as ``read_pcap``; ``path`` is what errors name."""
    if not (speed > 0 and math.isfinite(speed)):
        raise ValueError(f"speed must be above 0, not {speed!r}")
    ordered = sorted(packets, key=lambda packet: packet.seconds)
    cycles_per_second = Fraction(sys_clk_hz) / Fraction(speed)
    frames = []
    for packet in ordered:
        if packet.length > most_bytes:
            raise ValueError(
                f"{path}, packet {packet.number}: a frame must have {most_bytes} bytes at the most,"
                f" not {packet.length}"
            )
        cycle = start_cycle + round((packet.seconds - ordered[0].seconds) * cycles_per_second)
        if cycle >= CYCLE_END:
            raise ValueError(
                f"{path}, packet {packet.number}: must come before cycle 2**63, not in {cycle}"
            )
        frames.append(Frame(packet.stored.ljust(packet.length, b"\0"), cycle=cycle))
    return frames


def write_pcap(path: Path | str, frames: Iterable[Frame | FrameOut], sys_clk_hz: int) -> None:
    """Frames as a capture with nanosecond stamps that begin at cycle 0."""
    header = (_MAGIC_NANOSECONDS, 2, 4, 0, 0, _SNAPSHOT_BYTES, LINK_TYPE_ETHERNET)
    parts = [struct.pack("<IHHiIII", *header)]
    for frame in frames:
        seconds, rest = divmod(frame.cycle, sys_clk_hz)
        length = len(frame.data)
        nanoseconds = rest * 10**9 // sys_clk_hz
        parts += [struct.pack("<4I", seconds, nanoseconds, length, length), frame.data]
    Path(path).write_bytes(b"".join(parts))
