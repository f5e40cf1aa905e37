"""Instruction fetch over the bus, for code outside the local memory."""

from __future__ import annotations

import enum

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from ..isa import EBREAK
from ..layouts import PC_BITS
from ..params import CoreParams


class BusFetcher(wiring.Component):
    """Fetch one pair of words for one tier, word by word.

    Takes one request at a time and holds the result until `taken`. A request that is cancelled
    while a word is on the bus ends with that word, because a bus transaction can't be abandoned.
    """

    class State(enum.Enum):
        IDLE = 0
        FIRST = 1
        SECOND = 2
        DONE = 3

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                #: Begin a fetch; only while not `busy`.
                "start": In(1),
                "start_tier": In(params.tier_bits),
                #: Bit 0 set: the first word of the pair is not wanted.
                "start_pc": In(PC_BITS),
                #: Forget the fetch of `tier`.
                "cancel": In(1),
                #: The result has been used.
                "taken": In(1),
                "busy": Out(1),
                "done": Out(1),
                "tier": Out(params.tier_bits),
                "words": Out(data.ArrayLayout(32, 2)),
                #: Each word: the bus answered with an error.
                "faults": Out(2),
                #: A word is wanted from the bus.
                "request": Out(1),
                "address": Out(PC_BITS),
                #: The word is on the bus in this cycle.
                "active": In(1),
                "ack": In(1),
                "error": In(1),
                "read_data": In(32),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        state = Signal(self.State)
        pc = Signal(PC_BITS)
        cancelled = Signal()

        m.d.comb += [
            self.busy.eq(state != self.State.IDLE),
            self.done.eq(state == self.State.DONE),
            self.request.eq((state == self.State.FIRST) | (state == self.State.SECOND)),
            self.address.eq(pc),
        ]

        dropped = self.cancel | cancelled
        with m.Switch(state):
            with m.Case(self.State.IDLE):
                # Taken whether it starts or not, which is known late.
                m.d.sync += [
                    self.tier.eq(self.start_tier),
                    pc.eq(self.start_pc),
                    cancelled.eq(0),
                    self.faults.eq(0),
                ]
                with m.If(self.start):
                    m.d.sync += state.eq(Mux(self.start_pc[0], self.State.SECOND, self.State.FIRST))
            with m.Case(self.State.FIRST, self.State.SECOND):
                finished = self.ack | self.error
                with m.If(self.active & finished):
                    for word in range(2):
                        with m.If(pc[0] == word):
                            m.d.sync += self.words[word].eq(Mux(self.error, EBREAK, self.read_data))
                    m.d.sync += [
                        self.faults.eq(Mux(self.error, Mux(pc[0], 0b10, 0b01), 0)),
                        pc[0].eq(1),
                        state.eq(
                            Mux(
                                (state == self.State.SECOND) | self.error,
                                self.State.DONE,
                                self.State.SECOND,
                            )
                        ),
                    ]
                    with m.If(dropped):
                        m.d.sync += state.eq(self.State.IDLE)
                with m.Elif(dropped & ~self.active):
                    m.d.sync += state.eq(self.State.IDLE)
                with m.Elif(self.cancel):
                    m.d.sync += cancelled.eq(1)
            with m.Case(self.State.DONE):
                with m.If(self.taken | self.cancel):
                    m.d.sync += state.eq(self.State.IDLE)
        return m
