"""Performance monitor: the events of ``isa.Event``, and the worst latency from wake to issue."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..isa import Event, csr_addresses
from ..layouts import csr_access_layout, tier_event_layout
from ..params import CoreParams
from ..util import applied, bit, highest, pick
from .csr_select import is_one_of, names_one_of

CSR = csr_addresses()
#: Width of an event counter; the bits above read 0.
EVENT_COUNTER_BITS = 40
LATENCY_BITS = 16


class EventCounters(wiring.Component):
    """A counter for each event of each tier.

    The counters are in one memory with one adder, which visits them in turn and adds what has
    happened since the last time. A CSR instruction on a counter visits that one instead, so that it
    reads and writes the exact value.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                #: What happened in a cycle, and to which tier.
                "happened": In(data.ArrayLayout(tier_event_layout(params), len(Event))),
                #: Stage X: whether a CSR instruction will be in M; its tier and address.
                "x_csr": In(1),
                "x_tier": In(params.tier_bits),
                "x_address": In(12),
                #: Stage M: the CSR instruction.
                "csr": In(csr_access_layout(params)),
                "value": Out(EVENT_COUNTER_BITS),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        csr = self.csr
        rows = [(event, tier) for event in Event for tier in range(p.tiers)]
        addresses = [Const(event << p.tier_bits | tier, 2 + p.tier_bits) for event, tier in rows]
        turn = Signal(2 + p.tier_bits, init=addresses[0].value)
        next_turn = Signal.like(turn)
        row = Signal.like(turn)
        next_row = Signal.like(turn)
        reads = Signal()
        names = tuple(f"mhpmcounter{event + 2}{half}" for event in Event for half in ("", "h"))
        x_reads = self.x_csr & is_one_of(self.x_address, names)
        # Event 1 is in mhpmcounter3.
        x_event = (self.x_address[:2] - (CSR["mhpmcounter3"] - 1))[:2]
        turn_tier, turn_event = turn[: p.tier_bits], turn[p.tier_bits :]
        with m.If(reads):
            m.d.comb += next_turn.eq(turn)
        with m.Elif(turn_tier != p.tiers - 1):
            m.d.comb += next_turn.eq(turn + 1)
        with m.Else():
            last = turn_event == max(Event).value
            m.d.comb += next_turn[p.tier_bits :].eq(Mux(last, min(Event).value, turn_event + 1))
        m.d.comb += next_row.eq(Mux(x_reads, Cat(self.x_tier, x_event), next_turn))
        m.d.sync += [
            turn.eq(next_turn),
            reads.eq(x_reads),
            row.eq(next_row),
        ]

        # Enough for four rounds. CSR instructions put off two of three turns at most: a tier's wait
        # for each other, and the slot between is another tier's only behind a memory access.
        pending_bits = len(rows).bit_length() + 2
        added = Signal(pending_bits)
        next_added: Value = Const(0, pending_bits)
        for address, (event, tier) in zip(addresses, rows, strict=True):
            pending = Signal(pending_bits, name=f"pending_{event.name.lower()}{tier}")
            happened = self.happened[event - 1]
            counted = (pending + (happened.valid & (happened.tier == tier)))[:pending_bits]
            is_next = next_row == address
            m.d.sync += pending.eq(Mux(is_next, 0, counted))
            next_added = next_added | Mux(is_next, counted, 0)
        m.d.sync += added.eq(next_added)

        counters = Memory(shape=EVENT_COUNTER_BITS, depth=4 * p.contexts, init=[])
        m.submodules.counters = counters
        read = counters.read_port(domain="comb")
        write = counters.write_port()
        total = self.value
        is_high = csr.address[7]
        sets = reads & csr.write
        changed = Signal(32)
        m.d.comb += [
            read.addr.eq(row),
            total.eq(read.data + added),
            changed.eq(applied(csr, Mux(is_high, total[32:], total[:32]))),
            write.addr.eq(row),
            write.en.eq(1),
            write.data.eq(
                Cat(
                    Mux(sets & ~is_high, changed, total[:32]),
                    Mux(sets & is_high, changed, total[32:]),
                )
            ),
        ]
        return m


class WorstLatency(wiring.Component):
    """Each tier's most cycles from its wake to its first instruction."""

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "cycle": In(LATENCY_BITS + 1),
                "waking": In(params.tiers),
                "issued": In(tier_event_layout(params)),
                #: Stage M: `clear` the value of this tier.
                "tier": In(params.tier_bits),
                "clear": In(1),
                "value": Out(LATENCY_BITS),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        tiers = range(self._params.tiers)
        woken = Signal(data.ArrayLayout(LATENCY_BITS + 1, len(tiers)))
        due = Signal(len(tiers))
        # How often the lower bits of `cycle` have begun anew since then: at the second time, more
        # cycles have passed than can be told.
        laps = Signal(data.ArrayLayout(2, len(tiers)))
        worst = Signal(data.ArrayLayout(LATENCY_BITS, len(tiers)))

        # What issues ends the wait of its tier; how long it was is known a cycle later.
        elapsed = Signal(LATENCY_BITS + 1)
        ended = Signal(tier_event_layout(self._params))
        too_long = Signal()
        issued = self.issued
        m.d.sync += [
            elapsed.eq(self.cycle - pick([woken[tier] for tier in tiers], issued.tier)),
            too_long.eq(pick([laps[tier][1] for tier in tiers], issued.tier)),
            ended.valid.eq(issued.valid & bit(due, issued.tier)),
            ended.tier.eq(issued.tier),
        ]
        latency = Signal(LATENCY_BITS)
        exceeds = Signal()
        m.d.comb += [
            latency.eq(Mux(too_long | elapsed[-1], (1 << LATENCY_BITS) - 1, elapsed)),
            exceeds.eq(ended.valid & (latency > pick([worst[tier] for tier in tiers], ended.tier))),
            self.value.eq(pick([worst[tier] for tier in tiers], self.tier)),
        ]
        for tier in tiers:
            with m.If(self.waking[tier]):
                m.d.sync += [woken[tier].eq(self.cycle), due[tier].eq(1), laps[tier].eq(0)]
            with m.Else():
                with m.If(issued.valid & (issued.tier == tier)):
                    m.d.sync += due[tier].eq(0)
                with m.If((self.cycle[:LATENCY_BITS] == 0) & ~laps[tier][1]):
                    m.d.sync += laps[tier].eq(laps[tier] + 1)
            with m.If(self.clear & (self.tier == tier)):
                m.d.sync += worst[tier].eq(0)
            with m.Elif(exceeds & (ended.tier == tier)):
                m.d.sync += worst[tier].eq(latency)
        return m


class PerformanceMonitor(wiring.Component):
    """Find what happens, and count it."""

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "cycle": In(64),
                #: Started and not waiting, or waking in this cycle.
                "awake": In(params.tiers),
                "waking": In(params.tiers),
                "issued": In(tier_event_layout(params)),
                #: Stage X: whether a CSR instruction will be in M; its tier and address.
                "x_csr": In(1),
                "x_tier": In(params.tier_bits),
                "x_address": In(12),
                #: Stage M: the CSR instruction.
                "csr": In(csr_access_layout(params)),
                #: The event counter that it names; its tier's worst latency.
                "events": Out(EVENT_COUNTER_BITS),
                "latency": Out(LATENCY_BITS),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        # What issues is known late in its cycle: all is looked at a cycle later.
        awake = Signal(p.tiers)
        waking = Signal(p.tiers)
        issued = Signal(tier_event_layout(p))
        m.d.sync += [awake.eq(self.awake), waking.eq(self.waking), issued.eq(self.issued)]
        owner = Signal(p.tier_bits)
        chooser = Signal(p.tier_bits)
        last = Signal(p.tier_bits)
        m.d.comb += owner.eq(highest(awake))
        # What issues was chosen a cycle before.
        m.d.sync += chooser.eq(owner)
        with m.If(issued.valid):
            m.d.sync += last.eq(issued.tier)

        counters = m.submodules.counters = EventCounters(p)
        m.d.comb += [
            counters.x_csr.eq(self.x_csr),
            counters.x_tier.eq(self.x_tier),
            counters.x_address.eq(self.x_address),
            counters.csr.eq(self.csr),
            self.events.eq(counters.value),
        ]
        for event, valid, tier in (
            (Event.OWNED, awake.any(), owner),
            (Event.FILLED, issued.valid & (issued.tier < chooser), issued.tier),
            (Event.SWITCHES, issued.valid & (issued.tier != last), issued.tier),
        ):
            happened = counters.happened[event - 1]
            m.d.sync += [happened.valid.eq(valid), happened.tier.eq(tier)]

        latency = m.submodules.latency = WorstLatency(p)
        m.d.comb += [
            latency.cycle.eq(self.cycle),
            latency.waking.eq(waking),
            latency.issued.eq(issued),
            latency.tier.eq(self.csr.tier),
            latency.clear.eq(self.csr.write & names_one_of(self.csr.address, "mtierlatency")),
            self.latency.eq(latency.value),
        ]
        return m
