"""Whether an instruction in stage X is the one that has begun a precise access."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..params import CoreParams

#: All of a load's or store's instruction word.
IDENTITY = data.StructLayout({"store": 1, "funct3": 3, "rd": 5, "rs1": 5, "rs2": 5, "offset": 12})


def identity(stage, offset: Value) -> Value:
    """``IDENTITY`` of the instruction in a stage (``decoded_layout``, ``executed_layout``)."""
    control = stage.control
    fields = {
        "store": control.store,
        "funct3": control.funct3,
        "rd": control.rd,
        "rs1": stage.rs1,
        "rs2": stage.rs2,
        "offset": offset,
    }
    return Cat(fields[name] for name in IDENTITY.members)


class BegunAccess(wiring.Component):
    """Each tier's last access, to know it again.

    The instruction of a precise access is fetched once to begin it and again for its result. Code
    may have changed in between; while the word is the same, so is the access, since none of its
    tier's registers can have changed.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        super().__init__(
            {
                # Stage M: an access is opened.
                "open": In(1),
                "m_tier": In(params.tier_bits),
                "m": In(IDENTITY),
                # Stage X.
                "x_tier": In(params.tier_bits),
                "x": In(IDENTITY),
                "same": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.begun = begun = Memory(shape=IDENTITY, depth=self._params.contexts, init=[])
        write = begun.write_port()
        read = begun.read_port(domain="comb")
        m.d.comb += [
            write.addr.eq(self.m_tier),
            write.data.eq(self.m),
            write.en.eq(self.open),
            read.addr.eq(self.x_tier),
            self.same.eq(Value.cast(read.data) == Value.cast(self.x)),
        ]
        return m
