"""The CSRs of traps and interrupts."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.memory import Memory

from ..isa import Interrupt
from ..layouts import PC_BITS, csr_access_layout
from ..util import applied, bit

MSTATUS_MIE = 3
MSTATUS_MPIE = 7
MSTATUS_MPP = 11


class TrapRegisters:
    """Part of ``csr.CsrFile``: each method returns what its registers read as."""

    def _trap_registers(self, m: Module) -> dict[str, Value]:
        """mstatus, mtvec, mepc, mcause, mtval, mscratch."""
        p = self._params
        access = self.access
        trap = self.trap
        a = self._late = Signal(csr_access_layout(p), name="a")

        # Rows {tier, 0}: mtvec; {tier, 1}: mepc.
        vectors = Memory(shape=PC_BITS, depth=2 * p.contexts, init=[])
        m.submodules.vectors = vectors
        vector_write = vectors.write_port()
        vector_read = vectors.read_port(domain="comb")
        m.d.comb += [
            vector_read.addr.eq(Cat(self.x_mepc, self.x_tier)),
            self.x_vector.eq(vector_read.data),
            vector_write.addr.eq(Cat(trap.valid | self._named(m, "mepc"), self.tier)),
            vector_write.data.eq(Mux(trap.valid, trap.pc, applied(access, self.vector, 2))),
            vector_write.en.eq(trap.valid | self._written(m, "mtvec", "mepc")),
        ]

        # Written in A: the next CSR instruction of the tier is behind that.
        # Rows {tier, 0}: mscratch; {tier, 1}: mtval.
        scratch = Memory(shape=32, depth=2 * p.contexts, init=[])
        m.submodules.scratch = scratch
        scratch_write = scratch.write_port()
        scratch_read = scratch.read_port(domain="comb")
        names_mtval = self._named(m, "mtval")
        remote = self._written(m, *(f"mtierarg{tier}" for tier in range(8)))
        scratch_row = self._scratch_row = Signal(len(scratch_write.addr))
        scratch_writes = self._scratch_writes = Signal()
        m.d.sync += [
            scratch_row.eq(
                Cat(
                    trap.valid | names_mtval,
                    Mux(remote, self.address[: p.tier_bits], self.tier),
                )
            ),
            scratch_writes.eq(
                trap.valid
                | self._written(m, "mscratch", "mtval")
                | (remote & ~bit(self.started, self.address[:3]))
            ),
        ]
        m.d.comb += [
            scratch_read.addr.eq(Cat(names_mtval, self.tier)),
            scratch_write.addr.eq(scratch_row),
            # Of a trap, too: nothing but `value` has been read.
            scratch_write.data.eq(self.late_write.data),
            scratch_write.en.eq(scratch_writes),
        ]
        causes = Memory(shape=6, depth=p.contexts, init=[])
        m.submodules.causes = causes
        cause_write = causes.write_port()
        cause_read = causes.read_port(domain="comb")
        cause_writes = Signal()
        trapped = Signal()
        trap_cause = Signal(6)
        written = self.late_write.data
        m.d.sync += [
            cause_writes.eq(trap.valid | self._written(m, "mcause")),
            trapped.eq(trap.valid),
            trap_cause.eq(Cat(trap.cause, trap.interrupt)),
        ]
        m.d.comb += [
            cause_read.addr.eq(self.tier),
            cause_write.addr.eq(a.tier),
            cause_write.data.eq(Mux(trapped, trap_cause, Cat(written[:5], written[31]))),
            cause_write.en.eq(cause_writes),
        ]

        self._enabled = Signal(p.tiers)
        before = Signal(p.tiers)
        enabled_here, before_here = bit(self._enabled, self.tier), bit(before, self.tier)
        now_enabled, now_before = Signal(), Signal()
        with m.If(trap.valid):
            m.d.comb += now_before.eq(enabled_here)
        with m.Elif(self.mret.valid):
            m.d.comb += [now_enabled.eq(before_here), now_before.eq(1)]
        with m.Else():
            m.d.comb += [
                now_enabled.eq(applied(access, enabled_here, MSTATUS_MIE)),
                now_before.eq(applied(access, before_here, MSTATUS_MPIE)),
            ]
        changes = trap.valid | self.mret.valid | self._written(m, "mstatus")
        starts = self._written(m, *(f"mtierpc{tier}" for tier in range(8)))
        for tier in range(p.tiers):
            with m.If(changes & (self.tier == tier)):
                m.d.sync += [self._enabled[tier].eq(now_enabled), before[tier].eq(now_before)]
            with m.If(starts & (self.address[:3] == tier) & ~self.started[tier]):
                m.d.sync += self._enabled[tier].eq(0)

        pc = Cat(C(0, 2), self.vector)
        return {
            "mstatus": (enabled_here << MSTATUS_MIE)
            | (before_here << MSTATUS_MPIE)
            | (0b11 << MSTATUS_MPP),
            "mtvec": pc,
            "mepc": pc,
            "mscratch": scratch_read.data,
            "mtval": scratch_read.data,
            "mcause": Cat(cause_read.data[:5], C(0, 26), cause_read.data[5]),
        }

    def _interrupts(self, m: Module) -> dict[str, Value]:
        """mie, mip, mpost, and who is to wake or to trap."""
        p = self._params
        access = self.access
        posted = Signal(p.tiers)
        with m.If(self._written(m, "mpost")):
            m.d.sync += posted.eq(applied(access, posted))
        # A line traps a cycle later than it wakes.
        line_traps = Signal(p.tiers)
        m.d.sync += line_traps.eq(self.line_interrupt)

        enables = {code: Signal(p.tiers, name=f"enable_{code.name.lower()}") for code in Interrupt}
        sources = {
            Interrupt.MSI: posted,
            Interrupt.MTI: self.timer,
            Interrupt.MEI: self.line_interrupt,
        }
        here = {code: bit(enable, self.tier) for code, enable in enables.items()}
        for tier in range(p.tiers):
            with m.If(self._written(m, "mie") & (self.tier == tier)):
                m.d.sync += [
                    enable[tier].eq(applied(access, here[code], code))
                    for code, enable in enables.items()
                ]
        software = posted & enables[Interrupt.MSI]
        timer = self.timer & enables[Interrupt.MTI]
        external = line_traps & enables[Interrupt.MEI]
        m.d.comb += [
            self.wake.eq(
                Cat(
                    Cat(sources[code][tier] & enables[code][tier] for code in Interrupt).any()
                    for tier in range(p.tiers)
                )
            ),
            self.still_interrupt.eq(self._enabled & (software | timer | external)),
            self.interrupt.eq(self.still_interrupt & ~self.hold_interrupts),
            self.pending.eq(posted | self.timer | line_traps),
        ]
        for tier in range(p.tiers):
            m.d.comb += self.interrupt_cause[tier].eq(
                Mux(
                    external[tier],
                    Interrupt.MEI,
                    Mux(software[tier], Interrupt.MSI, Interrupt.MTI),
                )
            )

        def view(bits: dict[Interrupt, Value]) -> Value:
            value: Value = Const(0, 32)
            for code, its in bits.items():
                value = value | (its << code)
            return value

        pending = {code: bit(source, self.tier) for code, source in sources.items()}
        return {"mie": view(here), "mip": view(pending), "mpost": posted}
