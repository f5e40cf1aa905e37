"""The binary files between Python and the C++ harness: one table, from which its header is made.

All numbers are little endian. ``cycle`` counts clock cycles of the SoC; cycle 0 is the first one
after reset, and a pin has the value of cycle n from the nth rising clock edge to the next.
"""

from __future__ import annotations

import enum

import numpy as np

#: The harness counts no further.
CYCLE_END = 1 << 63
#: Between the harness's looks at the terminal, the network and the clock on the wall, and at how
#: long it has been quiet.
HOUSEKEEPING_CYCLES = 2048

#: Name and numpy type of the fields of each record.
LAYOUTS: dict[str, tuple[tuple[str, str], ...]] = {
    # A frame for the SoC; `length` bytes follow. Not sent before `cycle`, nor before the gap.
    "FrameIn": (
        ("cycle", "u8"),
        ("length", "u4"),
        ("gap_nibbles", "u4"),
        ("flags", "u4"),
        ("preamble_bytes", "u4"),
    ),
    # When the first nibble of a frame's preamble was put on the wire, in order of sending.
    "FrameSent": (("cycle", "u8"),),
    # A frame from the SoC, without preamble and FCS; `length` bytes follow.
    "FrameOut": (
        ("cycle", "u8"),
        ("end_cycle", "u8"),
        ("length", "u4"),
        ("gap_nibbles", "u4"),
        ("errors", "u4"),
        ("reserved", "u4"),
    ),
    # A character for the SoC: `bits` levels of `pattern`, bit 0 first, of `bit_q8` / 256 cycles.
    "UartIn": (
        ("cycle", "u8"),
        ("pattern", "u4"),
        ("bit_q8", "u4"),
        ("bits", "u4"),
        ("port", "u4"),
    ),
    # A character from the SoC; `cycle` is the falling edge of its start bit.
    "UartOut": (
        ("cycle", "u8"),
        ("duration_cycles", "u4"),
        ("data", "u2"),
        ("port", "u1"),
        ("errors", "u1"),
    ),
    # Levels to set on the external lines; a line in both masks is raised.
    "LineIn": (("cycle", "u8"), ("raise_mask", "u4"), ("lower_mask", "u4")),
    # A change of an external line.
    "LineOut": (("cycle", "u8"), ("line", "u4"), ("level", "u4")),
    # A write to the mailbox, `offset` in words.
    "MailboxOut": (("cycle", "u8"), ("offset", "u4"), ("data", "u4")),
    # An instruction that left the pipeline; a CPU that does not tell has none.
    "RetireOut": (("cycle", "u8"), ("pc", "u4"), ("tier", "u4")),
    # Bytes for a memory; `length` bytes follow.
    "Segment": (("address", "u4"), ("length", "u4")),
}

DTYPES = {
    name: np.dtype([(field, "<" + kind) for field, kind in fields])
    for name, fields in LAYOUTS.items()
}

_C_TYPES = {"u1": "uint8_t", "u2": "uint16_t", "u4": "uint32_t", "u8": "uint64_t"}


class FrameFlag(enum.IntFlag):
    """How a frame for the SoC differs from a proper one."""

    #: The check sequence is inverted.
    BAD_FCS = 1
    #: Not padded to 60 bytes.
    NO_PAD = 2
    #: The bytes are all there is: nothing is appended to them.
    NO_FCS = 4
    #: Half a byte follows.
    DRIBBLE = 8
    #: The PHY signals an error in the last byte.
    RX_ERROR = 16
    #: The preamble goes on where the start delimiter should be.
    NO_DELIMITER = 32


class FrameError(enum.IntFlag):
    """What is wrong with a frame from the SoC."""

    #: The preamble isn't seven bytes and a start delimiter.
    PREAMBLE = 1
    FCS = 2
    #: Less than 96 bit times after the frame before it.
    SHORT_GAP = 4
    #: Less than 64 bytes with the FCS.
    RUNT = 8
    #: More than 1,518 bytes with the FCS.
    OVERSIZE = 16
    #: Half a byte at the end.
    HALF_BYTE = 32


class UartError(enum.IntFlag):
    """What is wrong with a character from the SoC."""

    #: The stop bit is low.
    FRAMING = 1
    PARITY = 2
    #: All bits are low, and the stop bit too.
    BREAK = 4


class RunEnd(enum.IntEnum):
    """Why a run ended; the exit status of the harness."""

    #: Firmware wrote to the mailbox, or a condition of the command line was met.
    EXIT = 0
    CONDITION = 10
    #: The user ended it.
    QUIT = 11
    #: The cycle limit: nothing else ended it.
    LIMIT = 12
    #: The harness can't do what it is asked.
    ERROR = 2


def _c_enum(cls: type[enum.IntEnum]) -> list[str]:
    prefix = "".join("_" + c.lower() if c.isupper() else c for c in cls.__name__).lstrip("_")
    return [
        f"constexpr uint32_t {prefix}_{member.name.lower()} = {member.value};" for member in cls
    ]


def cpp_records() -> list[str]:
    """Lines of C++ that declare the records and the bits in them."""
    lines = []
    for name, fields in LAYOUTS.items():
        lines.append(f"struct {name} {{")
        lines += [f"    {_C_TYPES[kind]} {field};" for field, kind in fields]
        lines.append("};")
        lines.append(f"static_assert(sizeof({name}) == {DTYPES[name].itemsize});")
    for flags in (FrameFlag, FrameError, UartError, RunEnd):
        lines += _c_enum(flags)
    return lines
