"""LIN frames as a stimulus: what a commander, or another node, sends on a wire (LIN 2.2A)."""

from __future__ import annotations

from .stimulus import UartBreak, UartBytes, UartFormat, bit_q8

SYNC = 0x55
#: Identifiers of the diagnostic frames.
COMMANDER_REQUEST, RESPONDER_RESPONSE = 0x3C, 0x3D
#: Bits of a header's break and its delimiter, of a character, and of a header.
BREAK_BITS, DELIMITER_BITS, CHARACTER_BITS = 13, 1, 10
HEADER_BITS = BREAK_BITS + DELIMITER_BITS + 2 * CHARACTER_BITS
#: A header or a response may take so many times its nominal time (section 2.3.2).
MOST_TIMES = 1.4


def protect(identifier: int) -> int:
    """The protected identifier. Raises ``ValueError`` for one that is not from 0 to 63."""
    if not 0 <= identifier < 64:
        raise ValueError(f"identifier must be from 0 to 63, not {identifier!r}")
    bit = [identifier >> index & 1 for index in range(6)]
    p0 = bit[0] ^ bit[1] ^ bit[2] ^ bit[4]
    p1 = 1 ^ bit[1] ^ bit[3] ^ bit[4] ^ bit[5]
    return identifier | p0 << 6 | p1 << 7


def checksum(data: bytes, identifier: int | None = None) -> int:
    """The classic checksum, or the enhanced one with an identifier."""
    total = sum(data) + (0 if identifier is None else protect(identifier))
    # End-around carry; a sum of 255 stays 255.
    return 0xFF - ((total - 1) % 0xFF + 1 if total else 0)


def header(
    port: int, identifier: int, cycle: int, form: UartFormat, *, pid: int | None = None
) -> list[UartBreak | UartBytes]:
    """A header from ``cycle`` on; ``pid`` replaces the protected identifier."""
    pid = protect(identifier) if pid is None else pid
    return [
        UartBreak(port, cycle, BREAK_BITS, form),
        UartBytes(port, bytes([SYNC, pid]), cycle, form),
    ]


def frame(
    port: int, identifier: int, data: bytes, cycle: int, form: UartFormat, *, classic: bool = False
) -> list[UartBreak | UartBytes]:
    """A header and its response, without spaces."""
    response = data + bytes([checksum(data, None if classic else identifier)])
    return [*header(port, identifier, cycle, form), UartBytes(port, response, cycle, form)]


def header_cycles(baud: float, sys_clk_hz: int) -> int:
    """Cycles from the begin of a header to the end of its stop bit, as the harness sends it."""
    bit = bit_q8(baud, sys_clk_hz)
    parts = (BREAK_BITS + DELIMITER_BITS, CHARACTER_BITS, CHARACTER_BITS)
    return sum((bits * bit + 128) >> 8 for bits in parts)
