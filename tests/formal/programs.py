"""The first words of the programs: they start the tiers and make them wait; the rest is free."""

from __future__ import annotations

from tierv.rtl.isa import csr_addresses

from .bench import IMEM

CSR = csr_addresses()
NOP = 0x0000_0013
WFI = 0x1050_0073
#: Where the more urgent tiers begin. Small enough for the immediate of a CSR instruction.
ENTRY = (0, 16, 24)


def csrwi(name: str, value: int) -> int:
    return CSR[name] << 20 | value << 15 | 5 << 12 | 0x73


def csrw(name: str, register: int) -> int:
    return CSR[name] << 20 | register << 15 | 1 << 12 | 0x73


def li(register: int, value: int) -> int:
    """Load a constant of 12 bits, which is extended by its sign."""
    return (value & 0xFFF) << 20 | register << 7 | 0x13


def boot(tiers: int, *, buffered: bool = False) -> dict[int, int]:
    """Tier 0 starts all others, each at its ENTRY; from there on every word is free.

    With ``buffered`` tier 0 uses the bus in that mode.
    """
    words = [csrwi(f"mtierpc{tier}", ENTRY[tier]) for tier in range(1, tiers)]
    if tiers > 1:
        words.append(csrwi("mtierrun", (1 << tiers) - 1))
    if buffered:
        words.append(csrwi("mbusmode", 1))
    return {IMEM.base + 4 * place: word for place, word in enumerate(words)}
