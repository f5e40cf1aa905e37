"""Capture files as stimulus, and from results (pcap 2.4; not pcapng)."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

from .result import FrameOut
from .stimulus import Frame

_MAGIC_MICROSECONDS = 0xA1B2_C3D4
_MAGIC_NANOSECONDS = 0xA1B2_3C4D
_UNITS_PER_SECOND = {_MAGIC_MICROSECONDS: 10**6, _MAGIC_NANOSECONDS: 10**9}
_LINK_TYPE_ETHERNET = 1
_SNAPSHOT_BYTES = 65535


def read_pcap(
    path: Path | str, sys_clk_hz: int, *, speed: float = 1.0, start_cycle: int = 0
) -> list[Frame]:
    """Frames of a capture, at their own times or ``speed`` times as fast.

    The first one is at ``start_cycle``. Bytes that the capture left out are zero. Raises
    ``ValueError`` for a file that is no pcap of Ethernet frames, or that ends within one.
    """
    data = Path(path).read_bytes()
    for order in "<>":
        magic = struct.unpack(order + "I", data[:4])[0] if len(data) >= 24 else 0
        if magic in _UNITS_PER_SECOND:
            break
    else:
        raise ValueError(f"{path} must be a pcap file")
    link_type = struct.unpack(order + "I", data[20:24])[0]
    if link_type != _LINK_TYPE_ETHERNET:
        raise ValueError(f"{path} must have Ethernet frames (link type 1), not {link_type}")
    if not speed > 0:
        raise ValueError(f"speed must be above 0, not {speed!r}")
    units = _UNITS_PER_SECOND[magic]
    frames, position, first = [], 24, None
    while position < len(data):
        if len(data) < position + 16:
            raise ValueError(f"{path} ends within a frame")
        seconds, fraction, stored, length = struct.unpack_from(order + "4I", data, position)
        position += 16
        if len(data) < position + stored:
            raise ValueError(f"{path} ends within a frame")
        time = seconds * units + fraction
        first = time if first is None else first
        cycle = start_cycle + round((time - first) * sys_clk_hz / (units * speed))
        content = data[position : position + stored].ljust(length, b"\0")
        frames.append(Frame(content, cycle=cycle))
        position += stored
    return frames


def write_pcap(path: Path | str, frames: Iterable[Frame | FrameOut], sys_clk_hz: int) -> None:
    """Frames as a capture with nanosecond stamps that begin at cycle 0."""
    header = (_MAGIC_NANOSECONDS, 2, 4, 0, 0, _SNAPSHOT_BYTES, _LINK_TYPE_ETHERNET)
    parts = [struct.pack("<IHHiIII", *header)]
    for frame in frames:
        seconds, rest = divmod(frame.cycle, sys_clk_hz)
        length = len(frame.data)
        nanoseconds = rest * 10**9 // sys_clk_hz
        parts += [struct.pack("<4I", seconds, nanoseconds, length, length), frame.data]
    Path(path).write_bytes(b"".join(parts))
