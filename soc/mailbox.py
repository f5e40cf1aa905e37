"""The mailbox: how firmware reports to the simulation that runs it."""

from __future__ import annotations

import enum

from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import Cat, Record, Signal

from .map import ORIGINS, SIZES

#: Numbers that firmware can report by name.
RESULTS = 64
#: Bits of a word offset in the window.
OFFSET_BITS = (SIZES["mailbox"] // 4 - 1).bit_length()


class MailboxOffset(enum.IntEnum):
    """Word offsets in the window: what a write there means. A read of any gives the cycle count."""

    #: Ends the run; the value is its exit code.
    EXIT = 0
    #: A marker; the value says which.
    MARK = 1
    #: Debug text, one character.
    PUTC = 2
    #: Lowers the external lines whose bits are set.
    LINE_ACK = 3
    #: The first of ``RESULTS`` numbers whose meaning the experiment defines.
    RESULT0 = 64


def mailbox_layout() -> list[tuple[str, int]]:
    """Names and widths of the pins."""
    return [("valid", 1), ("offset", OFFSET_BITS), ("data", 32)]


def mailbox_constants() -> dict[str, int]:
    """Name and value of the constants for C: addresses, and the number of results."""
    base = ORIGINS["mailbox"]
    constants = {f"MAILBOX_{entry.name}_ADDR": base + 4 * entry for entry in MailboxOffset}
    return constants | {"MAILBOX_CYCLE_ADDR": base, "MAILBOX_RESULTS": RESULTS}


class Mailbox(LiteXModule):
    """Wishbone slave that shows every write on pins in the cycle in which it is on the bus.

    A write is acknowledged in the cycle in which it arrives, a read one cycle later: LiteX's
    interconnect selects read data by the address of the cycle before. Byte enables are ignored:
    write whole words. The count that a read returns is that of the cycle of its acknowledge; it is
    0 in the first cycle after reset.
    """

    def __init__(self, pads: Record) -> None:
        #: Word-addressed slave port.
        self.bus = bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        #: Cycles since reset, bits 31:0.
        self.cycle = Signal(32)

        self.sync += self.cycle.eq(self.cycle + 1)
        access = Signal()
        waited = Signal()
        self.sync += waited.eq(access & ~bus.ack)
        self.comb += [
            access.eq(bus.cyc & bus.stb),
            bus.ack.eq(access & (bus.we | waited)),
            bus.dat_r.eq(self.cycle),
            pads.valid.eq(access & bus.we),
            Cat(pads.offset, pads.data).eq(Cat(bus.adr[:OFFSET_BITS], bus.dat_w)),
        ]
