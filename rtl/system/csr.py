"""The CSRs: what a CSR instruction reads and writes, and what a trap changes."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .. import __version__
from ..isa import (
    LINE_PRIORITY_BITS,
    LINE_PRIORITY_CSRS,
    LINES_PER_PRIORITY_CSR,
    MAX_LINES,
    Event,
    Interrupt,
    csr_addresses,
)
from ..layouts import (
    PC_BITS,
    csr_access_layout,
    csr_write_layout,
    tier_event_layout,
    trap_layout,
)
from ..params import CoreParams
from ..util import applied, bit, pick
from .csr_select import chosen, halves, names_one_of
from .monitor import EVENT_COUNTER_BITS, LATENCY_BITS

CSR = csr_addresses()
#: misa: MXL = 1 (32 bits), extensions I and M; B where Zba, Zbb and Zbs are all there.
MISA = 1 << 30 | 1 << 12 | 1 << 8
MISA_B = 1 << 1
MSTATUS_MIE = 3
MSTATUS_MPIE = 7
MSTATUS_MPP = 11
#: Shared by all tiers, and written in stage A.
SHARED_LATE_CSRS = (
    "mcycle",
    "mcycleh",
    "mlineedge",
    *LINE_PRIORITY_CSRS,
)


def version_number() -> int:
    """mimpid: major, minor and patch of the package's version, a byte each."""
    major, minor, patch = (int(part) for part in __version__.split("."))
    return major << 16 | minor << 8 | patch


def implemented(params: CoreParams) -> list[int]:
    """Addresses that do not raise an illegal-instruction exception."""
    groups = -(-params.lines // LINES_PER_PRIORITY_CSR)
    missing = {f"mtierpc{n}" for n in range(params.tiers, 8)}
    missing |= {f"mtierarg{n}" for n in range(params.tiers, 8)}
    missing |= set(LINE_PRIORITY_CSRS[groups:])
    missing |= {
        f"mlinestamp{n}" for n in range(params.lines if params.line_stamps else 0, MAX_LINES)
    }
    if not params.counters:
        missing.add("mtierlatency")
    return [address for name, address in CSR.items() if name not in missing]


class CsrFile(wiring.Component):
    """Read CSRs in stage M, write them there or a cycle later.

    What counts for the next cycle is written in M, in the cycle of the read; the rest in A
    (``late_write``), where an instruction of another tier that follows at once finds the new value:
    the effect on what all tiers share is atomic in both cases. The memories of trap vector and
    return address are also read a cycle earlier, in X, for the instructions that go there.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        p = params
        super().__init__(
            {
                #: Stage X: mtvec and mepc of this tier.
                "x_tier": In(p.tier_bits),
                "x_mtvec": Out(PC_BITS),
                "x_mepc": Out(PC_BITS),
                #: Stage X: address of the CSR instruction that will be in M.
                "x_address": In(12),
                #: Stage M: the CSR instruction.
                "tier": In(p.tier_bits),
                "address": In(12),
                "operation": In(2),
                "source": In(32),
                "writes": In(1),
                "reads": In(1),
                "access": Out(csr_access_layout(p)),
                #: Stage A: what was read; 0 if it was no CSR instruction. What it writes.
                "read_data": Out(32),
                "late_write": Out(csr_write_layout(p)),
                #: mtvec or mepc of this instruction's tier, read in X.
                "vector": In(PC_BITS),
                "trap": In(trap_layout(p)),
                "mret": In(tier_event_layout(p)),
                # What the interrupts come from.
                "timer": In(p.tiers),
                "line_interrupt": In(p.tiers),
                #: Interrupts wait while the tier has a precise bus access open.
                "hold_interrupts": In(p.tiers),
                #: The tier leaves wfi; a trap is due; its cause.
                "wake": Out(p.tiers),
                "interrupt": Out(p.tiers),
                #: The same without `hold_interrupts`, for stage M: what was due in X still is.
                "still_interrupt": Out(p.tiers),
                "interrupt_cause": Out(data.ArrayLayout(5, p.tiers)),
                "buffered": Out(p.tiers),
                "sharing": Out(p.tiers),
                # What other units show.
                "started": In(p.tiers),
                "ceilings": In(data.ArrayLayout(p.tier_bits, p.tiers)),
                "cycle": In(64),
                #: minstret of the tier in stage A.
                "retired": In(64),
                #: The event counter that `address` names.
                "events": In(EVENT_COUNTER_BITS),
                "latency": In(LATENCY_BITS),
                "lines_pending": In(p.lines),
                "lines_tier_pending": In(p.lines),
                "lines_claim": In(range(p.lines + 1)),
                "lines_stamp": In(32),
                "lines_edges": In(p.lines),
                "lines_masks": In(data.ArrayLayout(p.lines, p.tiers)),
                "lines_priorities": In(data.ArrayLayout(LINE_PRIORITY_BITS, p.lines)),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        p = self._params
        access = self.access

        m.d.comb += [
            access.write.eq(self.writes),
            access.tier.eq(self.tier),
            access.address.eq(self.address),
            access.operation.eq(self.operation),
            access.source.eq(self.source),
        ]
        readable: dict[str, Value] = self._trap_registers(m)
        readable |= self._interrupts(m)
        readable |= self._identity()
        shared = Signal(p.tiers)
        m.d.comb += shared.eq(self.started)
        readable["mtierrun"] = shared
        readable["mceiling"] = pick(list(self.ceilings), self.tier)
        readable["mbusmode"] = Cat(bit(self.buffered, self.tier), bit(self.sharing, self.tier))
        with m.If(access.write & names_one_of(self.address, "mbusmode")):
            for tier in range(p.tiers):
                with m.If(self.tier == tier):
                    m.d.sync += self.buffered[tier].eq(applied(access, self.buffered[tier], 0))
                    if p.tiers > 1:
                        m.d.sync += self.sharing[tier].eq(applied(access, self.sharing[tier], 1))
        self._read(m, readable, self._cycles() | self._events() | self._lines())
        return m

    def _read(self, m: Module, *parts: dict[str, Value]) -> None:
        """Select by address, in parts so that no path has to choose among all of them.

        What stage A makes of it, it also writes to the registers that take their value there. The
        instruction of another tier right behind finds there what has not been written yet.
        """
        p = self._params
        read: Value = Const(0, 32)
        for number, readable in enumerate(parts):
            part = Signal(32, name=f"part{number}")
            m.d.sync += part.eq(Mux(self.reads, chosen(m, self.x_address, readable), 0))
            read = read | part
        a = Signal(csr_access_layout(p))
        a_reads = Signal()
        m.d.sync += [a.eq(self.access), a_reads.eq(self.reads)]
        retired = chosen(m, self.address, self._retired())
        last_written = Signal(32)
        from_last = Signal()
        names_shared = Signal()
        m.d.sync += [
            last_written.eq(self.late_write.data),
            names_shared.eq(names_one_of(self.x_address, *SHARED_LATE_CSRS)),
            from_last.eq(self.reads & a.write & (a.address == self.address) & names_shared),
        ]
        m.d.comb += [
            self.read_data.eq(Mux(from_last, last_written, read | Mux(a_reads, retired, 0))),
            self.late_write.write.eq(a.write),
            self.late_write.tier.eq(a.tier),
            self.late_write.address.eq(a.address),
            self.late_write.data.eq(applied(a, self.read_data)),
        ]

    def _trap_registers(self, m: Module) -> dict[str, Value]:
        """mstatus, mtvec, mepc, mcause, mtval, mscratch."""
        p = self._params
        access = self.access
        trap = self.trap

        def written(name: str) -> Value:
            return access.write & names_one_of(self.address, name)

        # Apart, so that what is late to choose one of them does not have to address them first.
        vector = applied(access, self.vector, 2)
        for name, x_value, written_value, writes in (
            ("mtvec", self.x_mtvec, vector, written("mtvec")),
            ("mepc", self.x_mepc, Mux(trap.valid, trap.pc, vector), trap.valid | written("mepc")),
        ):
            memory = Memory(shape=PC_BITS, depth=p.contexts, init=[])
            m.submodules[name] = memory
            write = memory.write_port()
            read = memory.read_port(domain="comb")
            m.d.comb += [
                read.addr.eq(self.x_tier),
                x_value.eq(read.data),
                write.addr.eq(self.tier),
                write.data.eq(written_value),
                write.en.eq(writes),
            ]
        # Rows {tier, 0}: mscratch; {tier, 1}: mtval.
        scratch = Memory(shape=32, depth=2 * p.contexts, init=[])
        m.submodules.scratch = scratch
        scratch_write = scratch.write_port()
        scratch_read = scratch.read_port(domain="comb")
        remote = Signal()
        names_mtval = Signal()
        m.d.comb += [
            names_mtval.eq(names_one_of(self.address, "mtval")),
            remote.eq(names_one_of(self.address, *(f"mtierarg{tier}" for tier in range(8)))),
            scratch_read.addr.eq(Cat(names_mtval, self.tier)),
            scratch_write.addr.eq(
                Cat(
                    trap.valid | names_mtval,
                    Mux(remote & ~trap.valid, self.address[: p.tier_bits], self.tier),
                )
            ),
            scratch_write.data.eq(
                Mux(trap.valid, trap.value, applied(access, Mux(remote, 0, scratch_read.data)))
            ),
            scratch_write.en.eq(
                trap.valid
                | written("mscratch")
                | written("mtval")
                | (access.write & remote & ~bit(self.started, self.address[:3]))
            ),
        ]
        causes = Memory(shape=6, depth=p.contexts, init=[])
        m.submodules.causes = causes
        cause_write = causes.write_port()
        cause_read = causes.read_port(domain="comb")
        m.d.comb += [
            cause_read.addr.eq(self.tier),
            cause_write.addr.eq(self.tier),
            cause_write.data.eq(
                Mux(
                    trap.valid,
                    Cat(trap.cause, trap.interrupt),
                    Cat(
                        applied(access, cause_read.data[:5]),
                        applied(access, cause_read.data[5], 31),
                    ),
                )
            ),
            cause_write.en.eq(trap.valid | written("mcause")),
        ]

        self._enabled = Signal(p.tiers)
        before = Signal(p.tiers)
        for tier in range(p.tiers):
            here = self.tier == tier
            with m.If(trap.valid & here):
                m.d.sync += [before[tier].eq(self._enabled[tier]), self._enabled[tier].eq(0)]
            with m.Elif(self.mret.valid & here):
                m.d.sync += [self._enabled[tier].eq(before[tier]), before[tier].eq(1)]
            with m.Elif(written("mstatus") & here):
                m.d.sync += [
                    self._enabled[tier].eq(applied(access, self._enabled[tier], MSTATUS_MIE)),
                    before[tier].eq(applied(access, before[tier], MSTATUS_MPIE)),
                ]
            with m.Elif(written(f"mtierpc{tier}") & ~self.started[tier]):
                m.d.sync += self._enabled[tier].eq(0)

        pc = Cat(C(0, 2), self.vector)
        return {
            "mstatus": (bit(self._enabled, self.tier) << MSTATUS_MIE)
            | (bit(before, self.tier) << MSTATUS_MPIE)
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
        with m.If(access.write & names_one_of(self.address, "mpost")):
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
        for tier in range(p.tiers):
            with m.If(access.write & names_one_of(self.address, "mie") & (self.tier == tier)):
                m.d.sync += [
                    enable[tier].eq(applied(access, enable[tier], code))
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
        ]
        for tier in range(p.tiers):
            m.d.comb += self.interrupt_cause[tier].eq(
                Mux(
                    external[tier],
                    Interrupt.MEI,
                    Mux(software[tier], Interrupt.MSI, Interrupt.MTI),
                )
            )

        def view(vectors: dict[Interrupt, Value]) -> Value:
            value: Value = Const(0, 32)
            for code, vector in vectors.items():
                value = value | (bit(vector, self.tier) << code)
            return value

        return {"mie": view(enables), "mip": view(sources), "mpost": posted}

    def _identity(self) -> dict[str, Value]:
        return {
            "misa": Const(MISA | (MISA_B if len(self._params.extensions) == 3 else 0), 32),
            "mimpid": Const(version_number(), 32),
            "mhartid": self.tier,
        }

    def _cycles(self) -> dict[str, Value]:
        return halves(("mcycle", "cycle", "time"), self.cycle)

    def _retired(self) -> dict[str, Value]:
        return halves(("minstret", "instret"), self.retired)

    def _events(self) -> dict[str, Value]:
        if not self._params.counters:
            return {}
        names = tuple(f"mhpmcounter{event + 2}" for event in Event)
        values = halves(names, self.events)
        values |= {f"mhpmevent{event + 2}": Const(event, 32) for event in Event}
        values["mtierlatency"] = self.latency
        return values

    def _lines(self) -> dict[str, Value]:
        p = self._params
        values = {
            "mlinemask": pick(list(self.lines_masks), self.tier),
            "mlineedge": self.lines_edges,
            "mlinepend": self.lines_tier_pending,
            "mlineraw": self.lines_pending,
            "mlineclaim": self.lines_claim,
        }
        for group in range(-(-p.lines // LINES_PER_PRIORITY_CSR)):
            first = group * LINES_PER_PRIORITY_CSR
            last = min(first + LINES_PER_PRIORITY_CSR, p.lines)
            values[f"mlineprio{group}"] = Cat(
                self.lines_priorities[line] for line in range(first, last)
            )
        if p.line_stamps:
            for line in range(p.lines):
                values[f"mlinestamp{line}"] = self.lines_stamp
        return values
