"""The instruction cache: stages P and F, and the reading of lines."""

from __future__ import annotations

import enum

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..isa import EBREAK
from ..layouts import PC_BITS
from ..params import CoreParams
from .port import LINE_ANSWER, LINE_REQUEST
from .tags import Tags


class InstructionCache(wiring.Component):
    """Give a pair of words a cycle after its address, as local memory does, if it is there.

    Direct-mapped. One line is read at a time, for one tier, from its first word on; the pair that
    the tier missed is kept until `taken`, so that the tier gets on whatever becomes of the line. A
    line in which a word ended in an error is not kept; only that word's fetch faults.
    """

    class State(enum.Enum):
        IDLE = 0
        #: Until no line is being dropped.
        WAIT = 1
        FILL = 2
        DONE = 3

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                #: Stage P: the pair asked for.
                "lookup_pc": In(PC_BITS),
                #: Stage F: the same a cycle later; whether the pair is there, and its words.
                "pc": In(PC_BITS),
                "hit": Out(1),
                "words": Out(data.ArrayLayout(32, 2)),
                #: Drop every line.
                "invalidate": In(1),
                #: Read the line of `pc`; only while not `busy`.
                "start": In(1),
                "start_tier": In(params.tier_bits),
                #: Forget the pair of `tier`. The line is read to its end.
                "cancel": In(1),
                #: The pair has been used.
                "taken": In(1),
                "busy": Out(1),
                "done": Out(1),
                "tier": Out(params.tier_bits),
                "missed_words": Out(data.ArrayLayout(32, 2)),
                #: Each word: its transaction ended in an error.
                "missed_faults": Out(2),
                "request": Out(LINE_REQUEST),
                "answer": In(LINE_ANSWER),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        line_bits = p.cache_line_bytes.bit_length() - 3
        index_bits = p.icache_bytes.bit_length() - 3
        m.submodules.tags = tags = Tags(p, p.icache_bytes)

        state = Signal(self.State)
        pc = Signal(PC_BITS)
        beat = Signal(line_bits)
        cancelled = Signal()
        #: The line is not to be kept.
        spoilt = Signal()
        # The line has come. It counts a cycle later, because a pair that is in F has been looked up
        # before its last word was written.
        kept = Signal()
        m.d.sync += kept.eq(0)
        with m.If(kept):
            m.d.comb += [tags.write.eq(1), tags.write_valid.eq(1)]
        answer = self.answer
        m.d.comb += [
            self.busy.eq(state != self.State.IDLE),
            self.done.eq(state == self.State.DONE),
            self.request.valid.eq(state == self.State.FILL),
            self.request.word.eq(Cat(beat, pc[line_bits:])),
            self.request.last.eq(beat.all()),
            tags.lookup.eq(self.pc),
            tags.invalidate.eq(self.invalidate),
            tags.write_word.eq(pc),
            self.hit.eq(tags.hit),
        ]
        for word in range(2):
            depth = 1 << (index_bits - 1)
            memory = Memory(shape=32, depth=depth, init=[], attrs={"no_rw_check": 1})
            m.submodules[f"words{word}"] = memory
            read = memory.read_port()
            write = memory.write_port()
            m.d.comb += [
                read.addr.eq(self.lookup_pc[1:index_bits]),
                self.words[word].eq(read.data),
                write.addr.eq(self.request.word[1:index_bits]),
                write.data.eq(answer.data),
                write.en.eq(answer.valid & (beat[0] == word)),
            ]

        with m.Switch(state):
            with m.Case(self.State.IDLE):
                m.d.sync += [
                    self.tier.eq(self.start_tier),
                    pc.eq(self.pc),
                    beat.eq(0),
                    cancelled.eq(0),
                    self.missed_faults.eq(0),
                ]
                with m.If(self.start):
                    m.d.sync += state.eq(self.State.WAIT)
            with m.Case(self.State.WAIT):
                m.d.sync += spoilt.eq(self.invalidate)
                with m.If(self.cancel):
                    m.d.sync += state.eq(self.State.IDLE)
                with m.Elif(~tags.clearing):
                    m.d.comb += tags.write.eq(1)
                    m.d.sync += state.eq(self.State.FILL)
            with m.Case(self.State.FILL):
                wanted = beat[1:] == pc[1:line_bits]
                m.d.sync += [
                    cancelled.eq(cancelled | self.cancel),
                    spoilt.eq(spoilt | self.invalidate | (answer.valid & answer.error)),
                ]
                with m.If(answer.valid):
                    m.d.sync += beat.eq(beat + 1)
                    for word in range(2):
                        with m.If(wanted & (beat[0] == word)):
                            m.d.sync += [
                                self.missed_words[word].eq(Mux(answer.error, EBREAK, answer.data)),
                                self.missed_faults[word].eq(answer.error),
                            ]
                    with m.If(beat.all()):
                        m.d.sync += [
                            kept.eq(~(spoilt | self.invalidate | answer.error)),
                            state.eq(
                                Mux(cancelled | self.cancel, self.State.IDLE, self.State.DONE)
                            ),
                        ]
            with m.Case(self.State.DONE):
                with m.If(self.taken | self.cancel):
                    m.d.sync += state.eq(self.State.IDLE)
        return m
