"""The speed of a transmitter or receiver."""

from __future__ import annotations

from litex.gen import LiteXModule
from migen import If, Signal

from .params import TUNING_BITS


class Ticks(LiteXModule):
    """Says when an eighth of a bit is over: a phase accumulator.

    Tick k is in cycle ceil(k * 2^29 / tuning) after the cycle of ``restart``; none is early, and
    none is late by a cycle or more, however many there are.
    """

    def __init__(self) -> None:
        #: Speed, by ``params.tuning_word``.
        self.tuning = tuning = Signal(TUNING_BITS)
        #: Begins a bit in this cycle.
        self.restart = restart = Signal()
        #: The end of an eighth of a bit, for one cycle.
        self.tick = tick = Signal()

        phase = Signal(TUNING_BITS)
        total = Signal(TUNING_BITS + 1)
        self.comb += [total.eq(phase + tuning), tick.eq(total[TUNING_BITS])]
        self.sync += If(restart, phase.eq(0)).Else(phase.eq(total))
