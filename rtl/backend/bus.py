"""The Wishbone port: one open access per tier, and the fetches from outside local memory."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, enum, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts import ISSUE_TO_M_CYCLES, PC_BITS, tier_event_layout
from ..params import CoreParams
from ..util import bit, highest

#: A load or store on its way.
ACCESS = data.StructLayout(
    {
        "address": 32,
        "write": 1,
        "data": 32,
        "mask": 4,
        "funct3": 3,
        "rd": 5,
    }
)


#: Wait states of an access that ends in time for an instruction that was made ready as it began.
SHORT_WAIT_STATES = 2
#: What is expected of the next access at the most.
LONG_WAIT_STATES = 15


class SlotState(enum.Enum, shape=2):
    """What a tier's bus access is up to."""

    IDLE = 0
    #: Waiting for the bus, or on it.
    OPEN = 1
    #: A precise access has ended; its instruction comes back for the result.
    DONE = 2
    #: A buffered load has ended; its result waits for a free slot in stage A.
    LATE = 3


class BusUnit(wiring.Component):
    """Run the tiers' loads and stores on the bus, the most urgent first.

    Each tier has one slot. What is on the bus ends first: that transaction is all that an urgent
    tier can have to wait for. Only a more urgent tier's follows at once; ahead of others `cyc` is 0
    for a cycle, so that another master gets the bus. Wishbone B4 classic cycles, one word each. A
    load that the data cache has missed has a slot as well, but keeps clear of the bus.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        super().__init__(
            {
                #: Stage M: open an access for `tier`; only while its slot is idle.
                "open": In(1),
                "tier": In(p.tier_bits),
                "access": In(ACCESS),
                #: The tier does not wait for its result.
                "open_buffered": In(1),
                #: Stage M: the instruction of `tier` has used the result of its precise access.
                "collect": In(1),
                #: Stage M: the tier will not come for what a precise access of its gives.
                "abandon": In(tier_event_layout(p)),
                #: Word read by the tier in M, or by the late load.
                "read_data": Out(32),
                # Each tier's slot.
                "idle": Out(p.tiers),
                #: An access is open, and not so near its end that its tier could issue.
                "busy": Out(p.tiers),
                #: The tier whose late load is the next to enter stage A.
                "leaving": Out(p.tiers),
                "done": Out(p.tiers),
                "done_error": Out(p.tiers),
                #: A precise access has begun and has not been collected.
                "precise": Out(p.tiers),
                #: No access open, and lines have settled after the last write.
                "settled": Out(p.tiers),
                #: The word of a buffered load has not yet come.
                "load_open": Out(p.tiers),
                #: The tier in I has a buffered load that is not yet in stage A, for this register.
                "issue_tier": In(p.tier_bits),
                "issue_pending": Out(1),
                "issue_rd": Out(5),
                #: The tier in I has the word of a precise load, whose instruction comes again.
                "issue_collects": Out(1),
                #: A buffered access ended in an error; until its trap is taken.
                "failed": Out(p.tiers),
                "failed_store": Out(p.tiers),
                "failure_taken": In(tier_event_layout(p)),
                #: A buffered load's result enters stage A if `late_taken`.
                "late": Out(tier_event_layout(p)),
                "late_access": Out(ACCESS),
                "late_taken": In(1),
                #: Tiers that can't go on, or wake, without their loads.
                "awaited": In(p.tiers),
                #: No instruction shall issue: a more urgent tier's load needs a slot in stage A.
                "reserve": Out(1),
                # Instruction fetch.
                "fetch_request": In(1),
                "fetch_tier": In(p.tier_bits),
                "fetch_address": In(PC_BITS),
                "fetch_active": Out(1),
                # Wishbone.
                "cyc": Out(1),
                "adr": Out(30),
                "we": Out(1),
                "sel": Out(4),
                "dat_w": Out(32),
                "dat_r": In(32),
                "ack": In(1),
                "err": In(1),
            }
            | (
                {
                    #: What opens is a load for the data cache.
                    "open_cached": In(1),
                    # The most urgent of these, and its answer (`DataCache`).
                    "cached_load": Out(tier_event_layout(p)),
                    "cached_word": Out(PC_BITS),
                    "cached_done": In(tier_event_layout(p)),
                    "cached_error": In(1),
                    "cached_data": In(32),
                    "cached_taken": Out(1),
                    #: A store to cached memory ended in an error.
                    "store_failed": In(tier_event_layout(p)),
                }
                if p.dcache_bytes
                else {}
            )
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        tiers = p.tiers
        states = Signal(data.ArrayLayout(SlotState, tiers))
        buffered = Signal(tiers)
        loads = Signal(tiers)
        errors = Signal(tiers)
        # Abandoned: it goes on like a buffered access, and nothing comes of it.
        muted = Signal(tiers)

        # Loads for the data cache.
        cached = Signal(tiers)

        # What is on the bus.
        active = Signal()
        active_fetch = Signal()
        active_tier = Signal(p.tier_bits)
        finishes = Signal()
        m.d.comb += finishes.eq(active & (self.ack | self.err))

        slots = Memory(shape=ACCESS, depth=p.contexts, init=[])
        m.submodules.slots = slots
        slot_write = slots.write_port()
        slot_read = slots.read_port(domain="comb")
        late_read = slots.read_port(domain="comb")
        on_bus = Signal(ACCESS)
        m.d.comb += [
            slot_write.addr.eq(self.tier),
            slot_write.data.eq(self.access),
            slot_write.en.eq(self.open),
            slot_read.addr.eq(active_tier),
            on_bus.eq(slot_read.data),
            self.cyc.eq(active),
            self.adr.eq(Mux(active_fetch, self.fetch_address, on_bus.address[2:])),
            self.we.eq(~active_fetch & on_bus.write),
            self.sel.eq(Mux(active_fetch, 0b1111, on_bus.mask)),
            self.dat_w.eq(on_bus.data),
            self.fetch_active.eq(active & active_fetch),
        ]

        # The next transaction begins when the bus is free; a more urgent one as it becomes free.
        here = Signal(tiers)
        waiting = Signal(tiers)
        for tier in range(tiers):
            opens = self.open & (self.tier == tier)
            m.d.comb += here[tier].eq(active & ~active_fetch & (active_tier == tier))
            waits = ((states[tier] == SlotState.OPEN) & ~here[tier]) | opens
            if p.dcache_bytes:
                waits = waits & ~Mux(opens, self.open_cached, cached[tier])
            m.d.comb += waiting[tier].eq(waits)
        data_tier = Signal(p.tier_bits)
        fetch_waits = Signal()
        fetch_first = Signal()
        m.d.comb += [
            data_tier.eq(highest(waiting)),
            fetch_waits.eq(self.fetch_request & ~(active & active_fetch)),
            fetch_first.eq(fetch_waits & (~waiting.any() | (self.fetch_tier > data_tier))),
        ]

        # Wait states of what is on the bus so far, and by how many each tier's last access had more
        # than a short one: as many are expected. The end is near from when an instruction made
        # ready comes in time for it, of a short one from the beginning, until it has been missed.
        age = Signal(range(LONG_WAIT_STATES + 1))
        near = Signal(tiers)
        short = Signal(tiers, init=-1)
        begins = Cat(waiting[tier] & ~waiting[tier + 1 :].any() for tier in range(tiers))
        expected = Memory(shape=age.shape(), depth=p.contexts, init=[])
        m.submodules.expected = expected
        expected_write = expected.write_port()
        expected_read = expected.read_port(domain="comb")
        m.d.comb += [
            expected_write.addr.eq(active_tier),
            expected_write.data.eq(Mux(age < SHORT_WAIT_STATES, 0, age - SHORT_WAIT_STATES)),
            expected_write.en.eq(finishes & ~active_fetch),
            expected_read.addr.eq(active_tier),
        ]
        with m.If(age != LONG_WAIT_STATES):
            m.d.sync += age.eq(age + 1)
        with m.If(age + 1 == expected_read.data):
            m.d.sync += near.eq(here)
        with m.If(age == expected_read.data + SHORT_WAIT_STATES):
            m.d.sync += near.eq(0)
        may_begin = Cat(~active, *(~active | (active_tier < tier) for tier in range(1, tiers)))
        begin = Signal()
        m.d.comb += begin.eq(
            (waiting & may_begin).any() | (fetch_waits & bit(may_begin, self.fetch_tier))
        )
        with m.If(~active | finishes):
            m.d.sync += [
                age.eq(0),
                near.eq(Mux(fetch_first | ~begin, 0, begins & short)),
                active.eq(begin),
                active_fetch.eq(fetch_first),
                active_tier.eq(Mux(fetch_first, self.fetch_tier, data_tier)),
            ]

        results = Memory(shape=32, depth=p.contexts, init=[])
        m.submodules.results = results
        result_write = results.write_port()
        result_read = results.read_port(domain="comb")
        ended = finishes & ~active_fetch
        ends_cached = Signal()
        error = self.err
        if p.dcache_bytes:
            m.d.comb += [
                self.cached_taken.eq(~ended),
                ends_cached.eq(self.cached_done.valid & ~ended),
                result_write.addr.eq(Mux(ended, active_tier, self.cached_done.tier)),
                result_write.data.eq(Mux(ended, self.dat_r, self.cached_data)),
                result_write.en.eq(ended | ends_cached),
            ]
            error = Mux(ended, self.err, self.cached_error)
            self._choose_cached(m, states, cached, slots)
        else:
            m.d.comb += [
                result_write.addr.eq(active_tier),
                result_write.data.eq(self.dat_r),
                result_write.en.eq(ended),
            ]
        m.d.comb += [
            result_read.addr.eq(Mux(self.late_taken, self.late.tier, self.tier)),
            self.read_data.eq(result_read.data),
        ]

        late = Cat(states[tier] == SlotState.LATE for tier in range(tiers))
        m.d.comb += [
            self.leaving.eq(Cat(late[tier] & ~late[tier + 1 :].any() for tier in range(tiers))),
            self.late.valid.eq(late.any()),
            self.late.tier.eq(highest(late)),
            late_read.addr.eq(self.late.tier),
            self.late_access.eq(late_read.data),
        ]

        for tier in range(tiers):
            state = states[tier]
            opens = self.open & (self.tier == tier)
            ends = finishes & here[tier]
            with m.If(ends):
                m.d.sync += short[tier].eq(age <= SHORT_WAIT_STATES)
            if p.dcache_bytes:
                ends = ends | (ends_cached & (self.cached_done.tier == tier))
            collected = self.collect & (self.tier == tier)
            written = self.late_taken & (self.late.tier == tier)
            failure_taken = self.failure_taken.valid & (self.failure_taken.tier == tier)
            abandoned = Signal(name=f"abandoned{tier}")
            m.d.comb += abandoned.eq(
                self.abandon.valid & (self.abandon.tier == tier) & self.precise[tier]
            )
            with m.If(opens):
                m.d.sync += [
                    state.eq(SlotState.OPEN),
                    buffered[tier].eq(self.open_buffered),
                    loads[tier].eq(~self.access.write),
                    muted[tier].eq(0),
                ]
            with m.Elif(abandoned):
                m.d.sync += [buffered[tier].eq(1), loads[tier].eq(0), muted[tier].eq(1)]
                with m.If(ends | (state == SlotState.DONE)):
                    m.d.sync += state.eq(SlotState.IDLE)
            with m.Elif(ends):
                with m.If(~buffered[tier]):
                    m.d.sync += [state.eq(SlotState.DONE), errors[tier].eq(error)]
                with m.Elif(loads[tier] & ~error):
                    m.d.sync += state.eq(SlotState.LATE)
                with m.Else():
                    m.d.sync += state.eq(SlotState.IDLE)
            with m.Elif(collected | written):
                m.d.sync += state.eq(SlotState.IDLE)
            with m.If(ends & buffered[tier] & error & ~muted[tier]):
                m.d.sync += [
                    self.failed[tier].eq(1),
                    self.failed_store[tier].eq(~loads[tier]),
                ]
            with m.Elif(failure_taken):
                m.d.sync += self.failed[tier].eq(0)
            if p.dcache_bytes:
                with m.If(self.store_failed.valid & (self.store_failed.tier == tier)):
                    m.d.sync += [self.failed[tier].eq(1), self.failed_store[tier].eq(1)]
                with m.If(opens):
                    m.d.sync += cached[tier].eq(self.open_cached)

            idle = state == SlotState.IDLE
            m.d.comb += [
                self.idle[tier].eq(idle),
                self.busy[tier].eq((state == SlotState.OPEN) & ~near[tier]),
                self.done[tier].eq(state == SlotState.DONE),
                self.done_error[tier].eq(errors[tier]),
                self.precise[tier].eq(~idle & ~buffered[tier]),
                self.load_open[tier].eq((state == SlotState.OPEN) & buffered[tier] & loads[tier]),
                self.settled[tier].eq(idle),
            ]
            if p.line_settle_cycles:
                settling = Signal(range(p.line_settle_cycles + 1), name=f"settling{tier}")
                with m.If(ends & ~loads[tier]):
                    m.d.sync += settling.eq(p.line_settle_cycles)
                with m.Elif(settling != 0):
                    m.d.sync += settling.eq(settling - 1)
                m.d.comb += self.settled[tier].eq(idle & (settling == 0))

        # A load that its tier waits for, or has left behind in wfi, gets its slot in stage A from a
        # bubble in stage I, which is made while it is still on the bus; one bubble is on its way at
        # a time. Other loads find a slot at the next access of their tier at the latest.
        coming = Signal(tiers)
        for tier in range(tiers):
            m.d.comb += coming[tier].eq(self.awaited[tier] & (here[tier] | late[tier]))
        bubbles = Signal(ISSUE_TO_M_CYCLES)
        m.d.sync += bubbles.eq(Cat(self.reserve, bubbles))
        m.d.comb += self.reserve.eq(
            Cat(coming[tier] & (self.issue_tier < tier) for tier in range(1, tiers)).any()
            & ~bubbles.any()
        )

        # The register that a buffered load of the tier in I will write.
        targets = Memory(shape=5, depth=p.contexts, init=[])
        m.submodules.targets = targets
        target_write = targets.write_port()
        target_read = targets.read_port(domain="comb")
        m.d.comb += [
            target_write.addr.eq(self.tier),
            target_write.data.eq(self.access.rd),
            target_write.en.eq(self.open),
            target_read.addr.eq(self.issue_tier),
            self.issue_rd.eq(target_read.data),
            self.issue_pending.eq(
                (
                    bit(self.load_open, self.issue_tier)
                    | (
                        bit(late, self.issue_tier)
                        & ~(self.late_taken & (self.late.tier == self.issue_tier))
                    )
                )
                & (target_read.data != 0)
            ),
            self.issue_collects.eq(bit(self.done & loads, self.issue_tier)),
        ]
        return m

    def _choose_cached(self, m: Module, states, cached: Signal, slots: Memory) -> None:
        """Ask the data cache for the most urgent load that it has missed."""
        open_ = Signal(self._params.tiers)
        read = slots.read_port(domain="comb")
        m.d.comb += [
            open_.eq(
                Cat(
                    (states[tier] == SlotState.OPEN) & cached[tier]
                    for tier in range(self._params.tiers)
                )
            ),
            self.cached_load.valid.eq(open_.any()),
            self.cached_load.tier.eq(highest(open_)),
            read.addr.eq(self.cached_load.tier),
            self.cached_word.eq(data.View(ACCESS, read.data).address[2:]),
        ]
