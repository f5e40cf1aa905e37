"""Hardware triggers: breakpoints and watchpoints that need no change of the program."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from ..isa import debug_csr_addresses
from ..layouts import PC_BITS, csr_access_layout
from ..params import CoreParams
from ..util import applied, bit, pick

CSR = debug_csr_addresses()
#: tdata1 as mcontrol (Debug Support 0.13.2, section 5.2.3): type 2, dmode, action 1, by the lowest
#: address of the access, before it.
MCONTROL_FIXED = 2 << 28 | 1 << 27 | 1 << 12
MCONTROL_M = 6
MCONTROL_EXECUTE = 2
MCONTROL_STORE = 1
MCONTROL_LOAD = 0
#: Places of the bits that can be set.
_BITS = (MCONTROL_LOAD, MCONTROL_STORE, MCONTROL_EXECUTE, MCONTROL_M)
#: tinfo: type 2 only.
TINFO = 1 << 2


class Triggers(wiring.Component):
    """Compare each instruction of stage D, and each address of stage X, with its tier's triggers.

    They fire before the instruction executes, and not in debug mode. Only debug mode can write
    them: dmode is fixed at 1.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        super().__init__(
            {
                "d_tier": In(p.tier_bits),
                "d_pc": In(PC_BITS),
                # The instruction in X.
                "x_base": In(32),
                "x_offset": In(12),
                "x_load": In(1),
                "x_store": In(1),
                #: It shall not execute.
                "hit": Out(1),
                "debug": In(p.tiers),
                #: Stage M: a CSR of the triggers, perhaps.
                "csr": In(csr_access_layout(p)),
                "csr_reads": In(1),
                #: Stage A: what was read; 0 if it was no CSR of these.
                "read_data": Out(32),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        csr = self.csr
        select_bits = max(1, (p.triggers - 1).bit_length())
        selects = [Signal(select_bits, name=f"select{tier}") for tier in range(p.tiers)]
        selected = Signal(select_bits)
        m.d.comb += selected.eq(pick(selects, csr.tier))
        in_debug = Signal()
        m.d.comb += in_debug.eq(csr.write & bit(self.debug, csr.tier))

        def writes(name: str) -> Value:
            return in_debug & (csr.address == CSR[name])

        wanted = Signal(32)
        m.d.comb += wanted.eq(applied(csr, Cat(selected, C(0, 32 - select_bits))))
        # What is no trigger can't be selected.
        with m.If(writes("tselect") & (wanted < p.triggers)):
            for tier, select in enumerate(selects):
                with m.If(csr.tier == tier):
                    m.d.sync += select.eq(wanted)

        hits = Signal(p.triggers)
        values = []
        controls = []
        for trigger in range(p.triggers):
            here = selected == trigger
            bits = [Signal(len(_BITS), name=f"bits{trigger}_{tier}") for tier in range(p.tiers)]
            addresses = Memory(shape=32, depth=p.contexts, init=[])
            m.submodules[f"addresses{trigger}"] = addresses
            write = addresses.write_port()
            d_read = addresses.read_port(domain="comb")
            csr_read = addresses.read_port(domain="comb")
            own_bits = pick(bits, csr.tier)
            m.d.comb += [
                write.addr.eq(csr.tier),
                write.data.eq(applied(csr, csr_read.data)),
                write.en.eq(writes("tdata2") & here),
                d_read.addr.eq(self.d_tier),
                csr_read.addr.eq(csr.tier),
            ]
            values.append(csr_read.data)
            controls.append(own_bits)
            for tier in range(p.tiers):
                with m.If(writes("tdata1") & here & (csr.tier == tier)):
                    m.d.sync += [
                        bits[tier][n].eq(applied(csr, bits[tier][n], place))
                        for n, place in enumerate(_BITS)
                    ]
            load, store, execute, machine = pick(bits, self.d_tier)
            counts = machine & ~bit(self.debug, self.d_tier)
            fires = Signal(name=f"fires{trigger}")
            loads = Signal(name=f"loads{trigger}")
            stores = Signal(name=f"stores{trigger}")
            address = Signal(32, name=f"address{trigger}")
            m.d.sync += [
                fires.eq(counts & execute & (d_read.data == Cat(0, 0, self.d_pc))),
                loads.eq(counts & load),
                stores.eq(counts & store),
                address.eq(d_read.data),
            ]
            accesses = (self.x_load & loads) | (self.x_store & stores)
            m.d.comb += hits[trigger].eq(
                fires | (accesses & _is_sum(address, self.x_base, self.x_offset.as_signed()))
            )
        m.d.comb += self.hit.eq(hits.any())

        value = Signal(32)
        with m.Switch(csr.address):
            with m.Case(CSR["tselect"]):
                m.d.comb += value.eq(selected)
            with m.Case(CSR["tdata1"]):
                own = pick(controls, selected)
                m.d.comb += value.eq(
                    Cat(Mux(own[_BITS.index(n)], 1, 0) if n in _BITS else 0 for n in range(7))
                    | MCONTROL_FIXED
                )
            with m.Case(CSR["tdata2"]):
                m.d.comb += value.eq(pick(values, selected))
            with m.Case(CSR["tinfo"]):
                m.d.comb += value.eq(TINFO)
        m.d.sync += self.read_data.eq(Mux(self.csr_reads, value, 0))
        return m


def _is_sum(total: Value, first: Value, second: Value) -> Value:
    """1 if ``total`` is the 32-bit sum of the others, without waiting for a carry.

    first + second + ~total is all ones then; so each digit of the sum without carries must be the
    inverse of the carry from the digit below it.
    """
    second = Cat(second[n] for n in range(len(second)))
    second = Cat(second, second[-1].replicate(32 - len(second)))
    digits = first ^ second ^ ~total
    carries = (first & second) | (first & ~total) | (second & ~total)
    return (digits ^ Cat(0, carries[:31]))[:32].all()
