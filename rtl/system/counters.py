"""mcycle and minstret."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..layouts import csr_write_layout, tier_event_layout
from ..params import CoreParams
from .csr_select import names_one_of


class CycleCounter(wiring.Component):
    """mcycle, 64 bits, common to all tiers."""

    def __init__(self, params: CoreParams) -> None:
        super().__init__({"csr": In(csr_write_layout(params)), "value": Out(64)})

    def elaborate(self, platform) -> Module:
        m = Module()
        m.d.sync += self.value.eq(self.value + 1)
        with m.If(self.csr.write & names_one_of(self.csr.address, "mcycle")):
            m.d.sync += self.value[:32].eq(self.csr.data)
        with m.If(self.csr.write & names_one_of(self.csr.address, "mcycleh")):
            m.d.sync += self.value[32:].eq(self.csr.data)
        return m


class InstructionCounter(wiring.Component):
    """minstret, 64 bits for each tier; works in stage A, where only one tier can count.

    A CSR write replaces the count of its own instruction.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                #: The instruction in A; valid if it has retired.
                "count": In(tier_event_layout(params)),
                #: Its CSR write.
                "csr": In(csr_write_layout(params)),
                "value": Out(64),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        counters = Memory(shape=64, depth=self._params.contexts, init=[])
        m.submodules.counters = counters
        write = counters.write_port()
        read = counters.read_port(domain="comb")
        sets_low = self.csr.write & names_one_of(self.csr.address, "minstret")
        sets_high = self.csr.write & names_one_of(self.csr.address, "minstreth")
        total = Signal(64)
        m.d.comb += [
            read.addr.eq(self.count.tier),
            self.value.eq(read.data),
            total.eq(self.value + ~(sets_low | sets_high)),
            write.addr.eq(self.count.tier),
            write.data.eq(
                Cat(
                    Mux(sets_low, self.csr.data, total[:32]),
                    Mux(sets_high, self.csr.data, total[32:]),
                )
            ),
            write.en.eq(self.count.valid),
        ]
        return m
