"""When the processor hears of received frames."""

from __future__ import annotations

from litex.gen import LiteXModule
from migen import If, Signal

#: Bits of a number of frames, and of a time in cycles.
FRAMES_BITS = 8
CYCLES_BITS = 20


class Coalescer(LiteXModule):
    """An event for several frames: at a number of them, or a time after the first one."""

    def __init__(self) -> None:
        #: A frame.
        self.frame = Signal()
        #: At so many frames there is an event, with 0 or 1 at each; 0 cycles are no limit.
        self.frames = Signal(FRAMES_BITS)
        self.cycles = Signal(CYCLES_BITS)
        #: For one cycle: an event.
        self.event = Signal()

        count = Signal(FRAMES_BITS)
        waited = Signal(CYCLES_BITS)
        self.comb += self.event.eq(
            (self.frame & (count + 1 >= self.frames))
            | ((count != 0) & (self.cycles != 0) & (waited >= self.cycles))
        )
        self.sync += [
            waited.eq(waited + 1),
            If(self.frame, count.eq(count + 1)),
            If(count == 0, waited.eq(1)),
            If(self.event, count.eq(0)),
        ]
