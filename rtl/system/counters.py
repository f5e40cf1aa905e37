"""Cycle, instruction and performance counters."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..isa import Event, csr_addresses
from ..layouts import csr_access_layout, tier_event_layout
from ..params import CoreParams
from ..util import applied, highest

CSR = csr_addresses()
#: Width of a performance counter; the bits above read 0.
EVENT_COUNTER_BITS = 40
LATENCY_BITS = 16


class CycleCounter(wiring.Component):
    """mcycle, 64 bits, common to all tiers."""

    def __init__(self, params: CoreParams) -> None:
        super().__init__({"csr": In(csr_access_layout(params)), "value": Out(64)})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.sync += self.value.eq(self.value + 1)
        with m.If(self.csr.write & (self.csr.address == CSR["mcycle"])):
            m.d.sync += self.value[:32].eq(applied(self.csr, self.value[:32]))
        with m.If(self.csr.write & (self.csr.address == CSR["mcycleh"])):
            m.d.sync += self.value[32:].eq(applied(self.csr, self.value[32:]))
        return m


class TierCounter(wiring.Component):
    """One counter per tier, of which at the most one counts in a cycle.

    A CSR write replaces the count of its cycle. Unless `own_tier`, it takes a cycle more.
    """

    def __init__(
        self, params: CoreParams, *, width: int, low: int, high: int, own_tier: bool
    ) -> None:
        self._params = params
        self._width = width
        self._low = low
        self._high = high
        #: Only the tier in stage M counts, so that one read port does.
        self._own_tier = own_tier
        super().__init__(
            {
                "count": In(tier_event_layout(params)),
                "csr": In(csr_access_layout(params)),
                "value": Out(64),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        counters = Memory(shape=self._width, depth=p.contexts, init=[])
        m.submodules.counters = counters
        write = counters.write_port()
        read = counters.read_port(domain="comb")
        csr = self.csr

        current = Signal(self._width)
        m.d.comb += [read.addr.eq(self.count.tier), current.eq(read.data)]
        own = Signal(self._width)
        if self._own_tier:
            m.d.comb += own.eq(current)
        else:
            own_read = counters.read_port(domain="comb")
            m.d.comb += [own_read.addr.eq(csr.tier), own.eq(own_read.data)]
        m.d.comb += self.value.eq(own)

        is_low = csr.address == self._low
        is_high = csr.address == self._high
        sets = Signal()
        set_tier = Signal(p.tier_bits)
        set_value = Signal(self._width)
        # Only the tier that counts could see that its write comes late.
        m.d["comb" if self._own_tier else "sync"] += [
            sets.eq(csr.write & (is_low | is_high)),
            set_tier.eq(csr.tier),
            set_value.eq(
                Cat(
                    Mux(is_low, applied(csr, own[:32]), own[:32]),
                    Mux(is_high, applied(csr, own[32:]), own[32:]),
                )
            ),
        ]
        m.d.comb += [
            write.addr.eq(Mux(sets, set_tier, self.count.tier)),
            write.data.eq(Mux(sets, set_value, current + 1)),
            write.en.eq(sets | self.count.valid),
        ]
        return m


class PerformanceMonitor(wiring.Component):
    """The fixed events of ``isa.Event``, and the worst latency from wake to issue."""

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                "csr": In(csr_access_layout(params)),
                #: Started and not waiting, or waking in this cycle.
                "awake": In(params.tiers),
                "waking": In(params.tiers),
                "issued": In(tier_event_layout(params)),
                "values": Out(data.ArrayLayout(64, len(Event))),
                "latency": Out(data.ArrayLayout(LATENCY_BITS, params.tiers)),
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
        happened = {
            Event.OWNED: (awake.any(), owner),
            Event.FILLED: (issued.valid & (issued.tier < chooser), issued.tier),
            Event.SWITCHES: (issued.valid & (issued.tier != last), issued.tier),
        }
        for event, (valid, tier) in happened.items():
            counter = TierCounter(
                p,
                width=EVENT_COUNTER_BITS,
                low=CSR[f"mhpmcounter{event + 2}"],
                high=CSR[f"mhpmcounter{event + 2}h"],
                own_tier=False,
            )
            m.submodules[event.name.lower()] = counter
            # Counted a cycle later: choosing what happened takes one.
            m.d.sync += [counter.count.valid.eq(valid), counter.count.tier.eq(tier)]
            m.d.comb += [
                counter.csr.eq(self.csr),
                self.values[event - 1].eq(counter.value),
            ]

        # Cycles from the one in which a tier is due to wake to the one in which it issues.
        clear = self.csr.write & (self.csr.address == CSR["mtierlatency"])
        for tier in range(p.tiers):
            due = Signal(name=f"due{tier}")
            elapsed = Signal(LATENCY_BITS, name=f"elapsed{tier}")
            issues = issued.valid & (issued.tier == tier)
            with m.If(waking[tier]):
                m.d.sync += [due.eq(1), elapsed.eq(1)]
            with m.Elif(issues):
                m.d.sync += due.eq(0)
            with m.Elif(~elapsed.all()):
                m.d.sync += elapsed.eq(elapsed + 1)
            with m.If(clear & (self.csr.tier == tier)):
                m.d.sync += self.latency[tier].eq(0)
            with m.Elif(due & issues & (elapsed > self.latency[tier])):
                m.d.sync += self.latency[tier].eq(elapsed)
        return m
