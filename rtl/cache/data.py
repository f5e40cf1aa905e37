"""The data cache: stage X, the reading of lines, and the queue of stores."""

from __future__ import annotations

import enum

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.fifo import SyncFIFO
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts import PC_BITS, tier_event_layout
from ..params import CoreParams
from ..util import bit, one_hot
from .port import LINE_ANSWER, LINE_REQUEST, STORE
from .tags import Tags

#: Stores on their way to memory for which tier 0 finds room. Each tier finds room for one more than
#: the one below, so that no store waits for a less urgent tier's next ones.
QUEUE_DEPTH = 8
#: Cycles from the end of a wait to stage X, for the most urgent tier.
RETURN_CYCLES = 4


class DataCache(wiring.Component):
    """Loads and stores of external memory.

    Direct-mapped. A load that hits is as fast as one from local memory. Stores go through to
    memory, by way of a queue, and change a line that is there; none is fetched for them. A line is
    read when the queue is empty, and no store begins from the miss on, so that the line is never
    older than memory nor newer than the load, and stores do not keep a load waiting. If there are
    stores that waited meanwhile, those of more urgent tiers come before the next line. A line in
    which a word ended in an error is not kept; only that word's load faults.
    """

    class State(enum.Enum):
        IDLE = 0
        FILL = 1
        DONE = 2

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        super().__init__(
            {
                # Stage X.
                #: Word address of a load or store.
                "word": In(PC_BITS),
                "hit": Out(1),
                #: A store executes; only if there is `room`.
                "store": In(1),
                "store_tier": In(p.tier_bits),
                "store_mask": In(4),
                "store_data": In(32),
                "room": Out(1),
                #: Tiers with stores in the queue.
                "stores_open": Out(p.tiers),
                #: Stage M: the word looked up a cycle ago.
                "read_data": Out(32),
                #: The instruction of this tier goes back to wait for stores.
                "wait_for_stores": In(tier_event_layout(p)),
                "stores_busy": Out(p.tiers),
                #: A store of this tier has ended in an error.
                "store_failed": Out(tier_event_layout(p)),
                #: Drop every line.
                "invalidate": In(1),
                # A load that missed; its word is offered with `load_done` until `load_taken`.
                "load": In(tier_event_layout(p)),
                "load_word": In(PC_BITS),
                "load_done": Out(tier_event_layout(p)),
                "load_error": Out(1),
                "load_data": Out(32),
                "load_taken": In(1),
                # Memory.
                "request": Out(LINE_REQUEST),
                "answer": In(LINE_ANSWER),
                "memory_store_valid": Out(1),
                "memory_store": Out(STORE),
                "memory_store_done": In(1),
                "memory_store_error": In(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        line_bits = p.cache_line_bytes.bit_length() - 3
        index_bits = p.dcache_bytes.bit_length() - 3
        m.submodules.tags = tags = Tags(p, p.dcache_bytes)
        # Instructions that waited for the last line are on their way back.
        returns = Signal(RETURN_CYCLES)
        # Tiers whose stores come before the load.
        goes_first = Signal(p.tiers)
        m.d.comb += goes_first.eq(
            Mux(returns.any(), Cat(self.load.tier < tier for tier in range(p.tiers)), 0)
        )
        empty, waits = self._queue(m, goes_first)

        state = Signal(self.State)
        fills = state == self.State.FILL
        tier = Signal(p.tier_bits)
        word = Signal(PC_BITS)
        beat = Signal(line_bits)
        #: The line is not to be kept.
        spoilt = Signal()
        answer = self.answer
        ends = (state == self.State.DONE) & self.load_taken
        m.d.sync += returns.eq(Cat(ends & waits.any(), returns))
        m.d.comb += [
            self.request.valid.eq(fills),
            self.request.word.eq(Cat(beat, word[line_bits:])),
            self.request.last.eq(beat.all()),
            self.load_done.valid.eq(state == self.State.DONE),
            self.load_done.tier.eq(tier),
            tags.lookup.eq(self.word),
            tags.invalidate.eq(self.invalidate),
            tags.write_word.eq(word),
            self.hit.eq(tags.hit),
        ]

        with m.Switch(state):
            with m.Case(self.State.IDLE):
                m.d.sync += [
                    tier.eq(self.load.tier),
                    word.eq(self.load_word),
                    beat.eq(0),
                    spoilt.eq(self.invalidate),
                ]
                with m.If(self.load.valid & empty & ~returns.any() & ~tags.clearing):
                    m.d.comb += [tags.write.eq(1), tags.write_word.eq(self.load_word)]
                    m.d.sync += state.eq(self.State.FILL)
            with m.Case(self.State.FILL):
                m.d.sync += spoilt.eq(spoilt | self.invalidate | (answer.valid & answer.error))
                with m.If(answer.valid):
                    m.d.sync += beat.eq(beat + 1)
                    with m.If(beat == word[:line_bits]):
                        m.d.sync += [
                            self.load_data.eq(answer.data),
                            self.load_error.eq(answer.error),
                        ]
                    with m.If(beat.all()):
                        m.d.comb += [
                            tags.write.eq(1),
                            tags.write_valid.eq(~(spoilt | self.invalidate | answer.error)),
                        ]
                        m.d.sync += state.eq(self.State.DONE)
            with m.Case(self.State.DONE):
                with m.If(ends):
                    m.d.sync += state.eq(self.State.IDLE)

        # A memory for each byte, with one port to write and one to read, which every tool finds.
        for byte in range(4):
            memory = Memory(shape=8, depth=1 << index_bits, init=[], attrs={"no_rw_check": 1})
            m.submodules[f"bytes{byte}"] = memory
            read = memory.read_port()
            write = memory.write_port()
            lane = slice(8 * byte, 8 * byte + 8)
            m.d.comb += [
                read.addr.eq(self.word),
                self.read_data[lane].eq(read.data),
                write.addr.eq(Mux(fills, self.request.word, self.word)[:index_bits]),
                write.data.eq(Mux(fills, answer.data[lane], self.store_data[lane])),
                write.en.eq(answer.valid | (self.store & tags.hit & self.store_mask[byte])),
            ]
        return m

    def _queue(self, m: Module, goes_first: Value) -> tuple[Value, Value]:
        """The stores on their way; returns whether there are none, and the tiers that wait."""
        p = self._params
        entry = data.StructLayout({"store": STORE, "tier": p.tier_bits})
        m.submodules.queue = queue = SyncFIFO(width=entry.size, depth=2 * QUEUE_DEPTH)
        room = Cat(queue.w_level < QUEUE_DEPTH + tier for tier in range(p.tiers))
        pushed = Signal(entry)
        oldest = Signal(entry)
        pops = self.memory_store_done
        m.d.comb += [
            pushed.store.word.eq(self.word),
            pushed.store.data.eq(self.store_data),
            pushed.store.mask.eq(self.store_mask),
            pushed.tier.eq(self.store_tier),
            queue.w_data.eq(pushed),
            queue.w_en.eq(self.store),
            oldest.eq(queue.r_data),
            queue.r_en.eq(pops),
            self.memory_store_valid.eq(queue.r_rdy),
            self.memory_store.eq(oldest.store),
            self.room.eq(
                bit(room, self.store_tier) & (~self.load.valid | bit(goes_first, self.store_tier))
            ),
            self.store_failed.valid.eq(pops & self.memory_store_error),
            self.store_failed.tier.eq(oldest.tier),
        ]
        waits = Signal(p.tiers)
        event = self.wait_for_stores
        m.d.comb += self.stores_busy.eq(
            waits & (self.stores_open | (self.load.valid.replicate(p.tiers) & ~goes_first))
        )
        m.d.sync += waits.eq(self.stores_busy | Mux(event.valid, one_hot(event.tier, p.tiers), 0))
        for tier in range(p.tiers):
            count = Signal(range(QUEUE_DEPTH + p.tiers), name=f"stores{tier}")
            m.d.sync += count.eq(
                count + (self.store & (self.store_tier == tier)) - (pops & (oldest.tier == tier))
            )
            m.d.comb += self.stores_open[tier].eq(count != 0)
        return ~queue.r_rdy, waits
