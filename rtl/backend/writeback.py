"""Stage A: align what was loaded and write the result."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import executed_layout, tier_event_layout, writer_layout
from ..params import CoreParams
from ..util import apart
from .align import octets_of, parts_of, selected
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
                #: The instruction in M, or the late load that takes its slot, as one behind it must
                #: know it.
                "next_writer": Out(writer_layout(params)),
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
        # What of the word a load takes: all of it, one of its halves or bytes; the ones whose sign
        # fills the rest.
        upper = Signal(16)
        halves = Signal(2)
        octets = Signal(4)
        signed_halves = Signal(2)
        signed_octets = Signal(4)
        # A late load may take the slot of a CSR instruction that writes no register.
        is_late = Signal()

        late_writes = late.rd != 0
        m.d.comb += [
            self.next_writer.valid.eq(Mux(self.late.valid, late_writes, i.valid & control.writes)),
            self.next_writer.tier.eq(Mux(self.late.valid, self.late.tier, i.tier)),
            self.next_writer.rd.eq(Mux(self.late.valid, late.rd, control.rd)),
        ]
        m.d.sync += [
            self.writer.eq(self.next_writer),
            self.writer.valid.eq(
                Mux(
                    self.late.valid,
                    late_writes,
                    self.retired & control.writes & ~self.postponed,
                )
            ),
            self.last_result.eq(self.result),
        ]
        is_load = self.late.valid | control.load
        funct3 = Mux(self.late.valid, late.funct3, control.funct3)
        place = Mux(self.late.valid, late.address[:2], i.address[:2])
        loaded = Mux(self.late.valid | i.remote, self.bus_word, self.local_word)
        octet, half, whole = (Mux(is_load, part, 0) for part in parts_of(funct3, place))
        m.d.sync += [
            is_late.eq(self.late.valid),
            # The multiplier gives 0 where another result counts, and the other way round.
            result.eq(Mux(is_load | control.csr, 0, i.result | self.product)),
            word.eq(loaded),
            upper.eq(Mux(whole, loaded[16:], 0)),
            octets.eq(octet),
            halves.eq(half | whole),
            signed_octets.eq(Mux(funct3[2], 0, octet)),
            signed_halves.eq(Mux(funct3[2], 0, half)),
        ]
        all_octets = octets_of(word)
        all_halves = [word[:16], word[16:]]
        octet_fill = (signed_octets & Cat(part[-1] for part in all_octets)).any()
        fill = octet_fill | (signed_halves & Cat(part[-1] for part in all_halves)).any()
        m.d.comb += self.result.eq(
            selected(octets, all_octets)
            | selected(halves, all_halves)
            | Cat(C(0, 8), octet_fill.replicate(8), fill.replicate(16))
            | Cat(C(0, 16), upper)
            | result
            | Mux(is_late, 0, apart(m, "from_csr", self.csr_data))
        )
        return m
