"""The CSRs: what a CSR instruction reads and writes, and what a trap changes."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from .. import __version__
from ..isa import (
    LINE_PRIORITY_BITS,
    LINE_PRIORITY_CSRS,
    LINES_PER_PRIORITY_CSR,
    MAX_LINES,
    Event,
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
from .trap_registers import TrapRegisters

CSR = csr_addresses()
#: misa: MXL = 1 (32 bits), extensions I and M; B where Zba, Zbb and Zbs are all there.
MISA = 1 << 30 | 1 << 12 | 1 << 8
MISA_B = 1 << 1
_ALL_BITS = (1 << 32) - 1
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


class CsrFile(TrapRegisters, wiring.Component):
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
                #: Stage X: mepc of this tier, or else its mtvec.
                "x_tier": In(p.tier_bits),
                "x_mepc": In(1),
                "x_vector": Out(PC_BITS),
                #: Stage X: the instruction there accesses this CSR.
                "x_accesses": In(1),
                "x_address": In(12),
                #: Stage M: the CSR instruction.
                "tier": In(p.tier_bits),
                "address": In(12),
                "operation": In(2),
                "source": In(32),
                "writes": In(1),
                #: It executes; or an instruction traps, and mtval is to show `value`.
                "reads": In(1),
                "shows_value": In(1),
                "value": In(32),
                "access": Out(csr_access_layout(p)),
                #: Stage A: what was read, or mtval of a trap, or 0. What it writes.
                "read_data": Out(32),
                "late_write": Out(csr_write_layout(p)),
                #: An interrupt is pending, enabled or not.
                "pending": Out(p.tiers),
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
        self._names: dict[tuple[str, ...], Signal] = {}

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
        buffered, sharing = bit(self.buffered, self.tier), bit(self.sharing, self.tier)
        readable["mbusmode"] = Cat(buffered, sharing)
        for tier in range(p.tiers):
            with m.If(self._written(m, "mbusmode") & (self.tier == tier)):
                m.d.sync += self.buffered[tier].eq(applied(access, buffered, 0))
                if p.tiers > 1:
                    m.d.sync += self.sharing[tier].eq(applied(access, sharing, 1))
        self._read(m, readable, self._cycles() | self._events() | self._lines())
        return m

    def _named(self, m: Module, *names: str, called: str = "") -> Signal:
        """1 if the instruction in M accesses one of these CSRs, if it executes; found in X."""
        if names not in self._names:
            self._names[names] = named = Signal(name=f"names_{called or names[0]}")
            m.d.sync += named.eq(Mux(self.x_accesses, names_one_of(self.x_address, *names), 0))
        return self._names[names]

    def _written(self, m: Module, *names: str) -> Value:
        return self.access.write & self._named(m, *names)

    def _read(self, m: Module, *parts: dict[str, Value]) -> None:
        """Select by address, in parts so that no path has to choose among all of them.

        What stage A makes of it, it also writes to the registers that take their value there. The
        instruction of another tier right behind finds there what has not been written yet.
        """
        named = partial(self._named, m)
        a = self._late
        a_shared = Signal()
        names_shared = self._named(m, *SHARED_LATE_CSRS, called="shared")
        places = [
            place
            for place in range(len(self.address))
            if len({CSR[name] >> place & 1 for name in SHARED_LATE_CSRS}) > 1
        ]
        same = Cat(self.address[place] == a.address[place] for place in places).all()
        from_last = Signal()
        last = Signal(32)
        not_yet = names_shared & a_shared & same
        for written, *copies in (("mcycle", "cycle", "time"), ("mcycleh", "cycleh", "timeh")):
            not_yet = not_yet | (named(*copies) & a_shared & names_one_of(a.address, written))
        if self._params.debug:
            # A tier that is not started accesses CSRs in debug mode: its mtierarg may be in A.
            not_yet = not_yet | (
                self._named(m, "mscratch", "mtval")
                & self._scratch_writes
                & (self._scratch_row == Cat(self._named(m, "mtval"), self.tier))
            )
        m.d.comb += from_last.eq(self.reads & not_yet)
        m.d.sync += [
            a_shared.eq(self.writes & names_shared),
            last.eq(Mux(from_last, self.late_write.data & ~self._missing_bits(m), 0)),
        ]
        read: Value = last
        for number, readable in enumerate(parts):
            part = Signal(32, name=f"part{number}")
            value = chosen(named, readable)
            if number:
                value = value | Mux(self.shows_value, self.value, 0)
            m.d.sync += part.eq(Mux(self.reads & ~from_last, value, 0))
            read = read | part

        def read_in_a(*names: str) -> Signal:
            select = Signal(name=f"reads_{names[0]}")
            m.d.sync += select.eq(self.reads & self._named(m, *names))
            return select

        # What writes nothing leaves what was read as it is.
        m.d.sync += [
            a.eq(self.access),
            a.operation.eq(Mux(self.writes, self.operation, 0b10)),
            a.source.eq(Mux(self.writes, self.source, 0)),
        ]
        m.d.comb += [
            self.read_data.eq(read | chosen(read_in_a, self._retired())),
            self.late_write.write.eq(a.write),
            self.late_write.tier.eq(a.tier),
            self.late_write.address.eq(a.address),
            self.late_write.data.eq(applied(a, self.read_data)),
        ]

    def _missing_bits(self, m: Module) -> Value:
        """Bits of lines that there are not, in the register that the instruction in M accesses."""
        lines = self._params.lines
        groups, rest = divmod(lines, LINES_PER_PRIORITY_CSR)
        no_lines = Const(~((1 << lines) - 1) & _ALL_BITS, 32)
        missing = Mux(self._named(m, "mlineedge"), no_lines, 0)
        if rest:
            above = ~((1 << LINE_PRIORITY_BITS * rest) - 1) & _ALL_BITS
            missing = missing | Mux(self._named(m, f"mlineprio{groups}"), above, 0)
        return missing

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
