"""What happens to the pins of a simulated SoC: frames, serial characters, interrupt lines."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .records import DTYPES, FrameFlag

#: IEEE 802.3: 96 bit times, and seven bytes.
GAP_NIBBLES = 24
PREAMBLE_BYTES = 7

_PROPER = FrameFlag(0)


@dataclass(frozen=True)
class Frame:
    """An Ethernet frame for the SoC: destination address first, no preamble, no FCS.

    It goes out in its place in the list, at ``cycle`` if the wire is free by then or else as soon
    as it is. It is padded to 60 bytes unless ``flags`` say otherwise.
    """

    data: bytes
    cycle: int = 0
    flags: FrameFlag = _PROPER
    #: Idle time before it, at the least.
    gap_nibbles: int = GAP_NIBBLES
    preamble_bytes: int = PREAMBLE_BYTES


class Parity(enum.StrEnum):
    """The parity bit of serial characters."""

    NONE = "N"
    EVEN = "E"
    ODD = "O"


@dataclass(frozen=True)
class UartFormat:
    """Speed and form of serial characters; 5 to 9 data bits."""

    baud: float
    data_bits: int = 8
    parity: Parity = Parity.NONE
    stop_bits: Literal[1, 2] = 1

    def pattern(self, value: int, *, stop: bool = True) -> tuple[int, int]:
        """Levels of a character, bit 0 first, and how many: start, data, parity, stop."""
        if not 0 <= value < 1 << self.data_bits:
            raise ValueError(f"value must have {self.data_bits} bits, not be {value!r}")
        levels, bits = value << 1, 1 + self.data_bits
        if self.parity is not Parity.NONE:
            odd = value.bit_count() + (self.parity is Parity.ODD)
            levels |= (odd & 1) << bits
            bits += 1
        if stop:
            levels |= ((1 << self.stop_bits) - 1) << bits
        return levels, bits + self.stop_bits


@dataclass(frozen=True)
class UartBytes:
    """Serial characters for one port, one after the other from ``cycle`` on.

    ``format`` defaults to the port's in the run. With ``framing_error`` the stop bits are low.
    """

    port: int
    data: bytes | Sequence[int]
    cycle: int = 0
    format: UartFormat | None = None
    #: From the start of one character to that of the next; 0: back to back.
    interval_cycles: int = 0
    framing_error: bool = False


@dataclass(frozen=True)
class UartBreak:
    """The line low for ``bits`` bit times, 1 to 31, and then high for at least one."""

    port: int
    cycle: int = 0
    bits: int = 13
    format: UartFormat | None = None


@dataclass(frozen=True)
class LineLevel:
    """External lines to raise and to lower at ``cycle``."""

    cycle: int
    raise_mask: int = 0
    lower_mask: int = 0


@dataclass(frozen=True)
class RandomLine:
    """An external line that is raised ``count`` times, at pseudo-random intervals.

    An interval, ``min_cycles`` to ``max_cycles`` both included, runs from the fall of the line (at
    first from ``start``) to its next rise. It falls after ``hold_cycles``, or with 0 when firmware
    writes its bit to the mailbox's LINE_ACK.
    """

    line: int
    min_cycles: int
    max_cycles: int
    seed: int
    count: int
    hold_cycles: int = 0
    start: int = 0


def encode_frames(frames: Iterable[Frame]) -> bytes:
    """The harness's stimulus file of the frames."""
    parts = []
    for frame in frames:
        header = (frame.cycle, len(frame.data), frame.gap_nibbles, frame.flags)
        parts.append(np.array((*header, frame.preamble_bytes), DTYPES["FrameIn"]).tobytes())
        parts.append(bytes(frame.data))
    return b"".join(parts)


def bit_q8(baud: float, sys_clk_hz: int) -> int:
    """A serial bit in 1/256 clock cycles."""
    if not 0 < baud <= sys_clk_hz / 4:
        raise ValueError(f"baud must be above 0 and at most {sys_clk_hz // 4}, not {baud!r}")
    bit = round(sys_clk_hz * 256 / baud)
    if bit >= 1 << 32:
        raise ValueError(f"baud must be above {sys_clk_hz / (1 << 24):g}, not {baud!r}")
    return bit


def encode_uart(
    items: Iterable[UartBytes | UartBreak], formats: Sequence[UartFormat], sys_clk_hz: int
) -> bytes:
    """The harness's stimulus file of the characters; ``formats`` are those of the ports."""
    records = []
    for item in items:
        if not 0 <= item.port < len(formats):
            raise ValueError(f"port must be from 0 to {len(formats) - 1}, not {item.port!r}")
        form = item.format or formats[item.port]
        bit = bit_q8(form.baud, sys_clk_hz)
        if isinstance(item, UartBreak):
            if not 1 <= item.bits <= 31:
                raise ValueError(f"bits of a break must be from 1 to 31, not {item.bits!r}")
            records.append((item.cycle, 1 << item.bits, bit, item.bits + 1, item.port))
            continue
        for index, value in enumerate(item.data):
            cycle = item.cycle + index * item.interval_cycles
            levels, bits = form.pattern(value, stop=not item.framing_error)
            if item.framing_error:
                # The line must rise before the next start bit.
                levels, bits = levels | 1 << bits, bits + 1
            records.append((cycle, levels, bit, bits, item.port))
    return np.array(records, DTYPES["UartIn"]).tobytes()


def encode_lines(levels: Iterable[LineLevel]) -> bytes:
    """The harness's stimulus file of the external lines."""
    ordered = sorted(levels, key=lambda level: level.cycle)
    records = [(level.cycle, level.raise_mask, level.lower_mask) for level in ordered]
    return np.array(records, DTYPES["LineIn"]).tobytes()
