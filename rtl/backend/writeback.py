"""Stage A: align what was loaded and write the result."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import executed_layout, tier_event_layout, writer_layout
from ..params import CoreParams
from .bus import ACCESS


class WriteBack(wiring.Component):
    """Take a result from M, or a late load in a slot that M leaves free."""

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                # Stage M.
                "m": In(executed_layout(params)),
                "retired": In(1),
                #: The result comes later.
                "postponed": In(1),
                "product": In(32),
                "local_word": In(32),
                "bus_word": In(32),
                "late": In(tier_event_layout(params)),
                "late_access": In(ACCESS),
                #: The late load, as one behind it must know it while it takes the slot.
                "late_writer": Out(writer_layout(params)),
                # Stage A.
                #: What a CSR instruction has read, 0 after others.
                "csr_data": In(32),
                "writer": Out(writer_layout(params)),
                "result": Out(32),
                #: The result of a cycle ago, which the register file does not show yet.
                "last_result": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        i = self.m
        control = i.control
        late = self.late_access
        result = Signal(32)
        word = Signal(32)
        is_load = Signal()
        funct3 = Signal(3)
        place = Signal(2)

        m.d.comb += [
            self.late_writer.valid.eq(self.late.valid & (late.rd != 0)),
            self.late_writer.tier.eq(self.late.tier),
            self.late_writer.rd.eq(late.rd),
        ]
        m.d.sync += [
            self.writer.valid.eq(
                Mux(
                    self.late.valid,
                    late.rd != 0,
                    self.retired & control.writes & ~self.postponed,
                )
            ),
            self.writer.tier.eq(Mux(self.late.valid, self.late.tier, i.tier)),
            self.writer.rd.eq(Mux(self.late.valid, late.rd, control.rd)),
            word.eq(Mux(self.late.valid | i.remote, self.bus_word, self.local_word)),
            is_load.eq(self.late.valid | control.load),
            funct3.eq(Mux(self.late.valid, late.funct3, control.funct3)),
            place.eq(Mux(self.late.valid, late.address[:2], i.address[:2])),
            self.last_result.eq(self.result),
        ]
        with m.If(control.multiply):
            m.d.sync += result.eq(self.product)
        with m.Elif(control.csr):
            m.d.sync += result.eq(0)
        with m.Else():
            m.d.sync += result.eq(i.result)

        half = Mux(place[1], word[16:], word[:16])
        byte = Mux(place[0], half[8:], half[:8])
        extend = ~funct3[2]
        loaded = Signal(32)
        with m.Switch(funct3[:2]):
            with m.Case(0):
                m.d.comb += loaded.eq(Cat(byte, (byte[7] & extend).replicate(24)))
            with m.Case(1):
                m.d.comb += loaded.eq(Cat(half, (half[15] & extend).replicate(16)))
            with m.Default():
                m.d.comb += loaded.eq(word)
        m.d.comb += self.result.eq(Mux(is_load, loaded, result | self.csr_data))
        return m
