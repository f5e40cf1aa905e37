"""The core in an environment that does whatever it is allowed to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace

from amaranth.asserts import AnyConst, AnySeq
from amaranth.back import rtlil
from amaranth.hdl import (
    Assert,
    Assume,
    Cat,
    ClockDomain,
    Const,
    Cover,
    Elaboratable,
    Module,
    Mux,
    Signal,
    Value,
)
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from tierv.rtl.emit import without_collector
from tierv.rtl.isa import Cause
from tierv.rtl.params import CachedRegion, CoreParams, Region
from tierv.rtl.rvfi import CHANNELS, packet_layout
from tierv.rtl.tierv import Core

#: Wires that hold the properties begin with one of these; the rest is the property's name.
PROVED, ASSUMED, COVERED = "proved__", "assumed__", "covered__"
#: The smallest local memories, no tables that only make branches faster.
IMEM = Region(base=0x0000, size_bytes=1 << 10)
DMEM = Region(base=0x1000, size_bytes=1 << 10)
#: Causes of traps that come from the bus.
ACCESS_FAULTS = (Cause.INSTRUCTION_ACCESS, Cause.LOAD_ACCESS, Cause.STORE_ACCESS)
#: External memory, in cores with a cache.
CACHED = CachedRegion(base=0x2_0000, size_bytes=1 << 17)


@dataclass(frozen=True, kw_only=True)
class TinyParams(CoreParams):
    """Caches smaller than any that is worth building."""

    def _check_caches(self) -> None:
        """Any powers of two will do."""


#: Two lines of two words: whatever can happen, happens within a few cycles.
TINY_DATA_CACHE = {"dcache_bytes": 16, "cache_line_bytes": 8, "cached": CACHED}


def small_core(tiers: int, *, kind: type[CoreParams] = CoreParams, **more) -> CoreParams:
    """The core as it is proved: everything that isn't needed for its function left out."""
    options = {
        "lines": 2,
        "reset_address": IMEM.base,
        "imem": IMEM,
        "dmem": DMEM,
        "branch_history_log2": 0,
        "return_stack_log2": 0,
        "counters": False,
        "line_stamps": False,
        "rvfi": True,
        "altops": True,
    }
    return kind(tiers=tiers, **(options | more))


class BareBench(Elaboratable):
    """Whatever is added to `m`, and the properties of a check.

    Everything is combinational or in the domain ``sync``. After reset all state has its initial
    value and stays there for no cycle: the first step is the first cycle of operation.
    """

    def __init__(self, params: CoreParams, *, reset: bool = False) -> None:
        self.params = params
        self.m = Module()
        self.domain = ClockDomain("sync", reset_less=not reset)
        self.m.domains += self.domain
        self._assumptions = 0
        #: Rows of memories of `core` that hold what those of `other` do: assumed in the first
        #: cycle, proved from there.
        self.same_rows: list[tuple[str, int]] = []
        #: Wires of the flattened design that hold in the first cycle of an unbounded proof.
        self.at_start: list[str] = []
        self._names: set[str] = set()
        #: Properties that are proved for the sake of a proof; all others are claims.
        self.lemmas: set[str] = set()
        #: Wires of the flattened design by the signal that shows them here.
        self.watched: dict[str, str] = {}
        self._watches: dict[str, Signal] = {}
        #: Rows of memories that are always zero; another check proves it.
        self.zero_rows: list[tuple[str, int]] = []
        #: Wires of the flattened design that are free instead of driven.
        self.cuts: list[str] = []

    def elaborate(self, platform) -> Module:
        return self.m

    # Values.

    def any_value(self, width: int, name: str) -> Signal:
        """A value that may change in every cycle."""
        signal = Signal(width, name=f"any_{name}")
        self.m.d.comb += signal.eq(AnySeq(width))
        return signal

    def any_constant(self, width: int, name: str) -> Signal:
        """A value that is the same in every cycle of a trace."""
        signal = Signal(width, name=f"some_{name}")
        self.m.d.comb += signal.eq(AnyConst(width))
        return signal

    def past(self, value, cycles: int = 1) -> Signal:
        """What the value was so many cycles ago; 0 before there was one."""
        for _ in range(cycles):
            before = Signal.like(Value.cast(value), name="past", init=0)
            self.m.d.sync += before.eq(value)
            value = before
        return value

    def named(self, value, name: str) -> Signal:
        """The value under a name of its own, to be seen in traces."""
        value = Value.cast(value)
        signal = Signal(len(value), name=name)
        self.m.d.comb += signal.eq(value)
        return signal

    def held(self, sets, clears=0, name: str = "held") -> Signal:
        """Set from the cycle after `sets` on until the one after `clears`."""
        signal = Signal(name=name)
        self.m.d.sync += signal.eq((signal | sets) & ~clears)
        return signal

    def row(self, memory: Memory, address: Value) -> Value:
        """What a memory holds, which has not been elaborated yet."""
        port = memory.read_port(domain="comb")
        self.m.d.comb += port.addr.eq(address)
        return port.data

    def watch(self, wire: str, width: int) -> Signal:
        """A wire inside the core, named as in the flattened design."""
        if wire not in self._watches:
            name = f"watched__{len(self.watched)}"
            self._watches[wire] = Signal(width, name=name)
            self.watched[name] = wire
        return self._watches[wire]

    def cut(self, wire: str) -> None:
        """Let the wire, named as in the flattened design, have any value in every cycle."""
        self.cuts.append(wire)

    # Properties.

    def prove(self, name: str, trigger, condition, *, seen: bool = True) -> None:
        """Whenever `trigger` holds, `condition` does.

        That `trigger` can hold is checked too, unless it need not be `seen` here: then another
        check proves the same with another program.
        """
        self.always(name, ~_bool(trigger) | _bool(condition))
        if seen:
            self.cover(name, trigger)

    def always(self, name: str, condition) -> None:
        """The condition holds in every cycle."""
        self.m.d.comb += Assert(*self._property(PROVED, name, condition))

    def lemma(self, name: str, condition, *, given=1) -> None:
        """The condition holds whenever `given` does: what the proof of the claims needs."""
        self.lemmas.add(name)
        self.always(name, ~_bool(given) | _bool(condition))

    @property
    def properties(self) -> set[str]:
        """The names of what is proved."""
        return {name.removeprefix(PROVED) for name in self._names if name.startswith(PROVED)}

    def cover(self, name: str, condition) -> None:
        """The condition can hold."""
        self.m.d.comb += Cover(*self._property(COVERED, name, condition))

    def assume(self, condition) -> None:
        """Look only at traces in which the condition always holds."""
        self._assumptions += 1
        self.m.d.comb += Assume(*self._property(ASSUMED, str(self._assumptions), condition))

    def assume_at_start(self, condition) -> None:
        """An unbounded proof begins in any state in which the condition holds."""
        wire = f"start__{len(self.at_start)}"
        self.at_start.append(wire)
        self.named(_bool(condition), wire).attrs["keep"] = 1

    def _property(self, kind: str, name: str, condition) -> tuple[Value, str]:
        """The condition, also as a wire of its own, and the property's message."""
        if kind + name in self._names:
            raise ValueError(f"a check must not have two properties named {name!r}")
        self._names.add(kind + name)
        return self.named(_bool(condition), kind + name), kind + name

    # RTLIL.

    def rtlil(self) -> str:
        """The design as module ``top``; every property cell has its property's name."""
        # What is watched is an input until the design is flat.
        ports = [
            *self._watches.values(),
            self.domain.clk,
            *([] if self.domain.rst is None else [self.domain.rst]),
        ]
        with without_collector():
            text = rtlil.convert(self, name="top", ports=ports, emit_src=False)
        return _name_properties(text)


class Bench(BareBench):
    """A core whose inputs are free, and the properties of a check.

    ``program`` are words by their address in local instruction memory; all other words are free,
    and a fetch need not find what an earlier one of the same address found. With ``window`` the
    words outside the program repeat every 16 words and never change.
    """

    def __init__(
        self,
        params: CoreParams,
        *,
        program: dict[int, int] | None = None,
        window: bool = False,
        reset: bool = False,
    ) -> None:
        super().__init__(params, reset=reset)
        self.core = self.add_core("core", program or {}, window=window)
        self.channels = [rvfi_channel(self.core, params, n) for n in range(CHANNELS)]

    def add_core(
        self,
        name: str,
        program: dict[int, int],
        *,
        window: bool = False,
        inputs: dict[str, Value] | None = None,
    ) -> Core:
        """Another core, its inputs free but for `inputs`; its parts are attributes at once."""
        core = Core(self.params)
        opened(core)
        self.m.submodules[name] = core
        for port, member in core.signature.members.items():
            if member.flow is not In or port in ("imem_read_data", "wb_ack", "wb_err"):
                continue
            signal = getattr(core, port)
            value = (inputs or {}).get(port)
            if value is None:
                value = self.any_value(len(signal), f"{name}_{port}")
            self.m.d.comb += signal.eq(value)
        self.m.d.comb += core.imem_read_data.eq(
            self._instructions(core.imem_address, program, window, name)
        )
        ack, err = self.any_value(1, f"{name}_ack"), self.any_value(1, f"{name}_err")
        self.m.d.comb += [
            core.wb_ack.eq(ack & core.wb_cyc & ~err),
            core.wb_err.eq(err & core.wb_cyc),
        ]
        return core

    def _instructions(self, address: Value, program: dict[int, int], window: bool, name: str):
        """The pair of words at what `address` was a cycle ago."""
        m = self.m
        asked = self.past(address)
        if window:
            rows = [AnyConst(64) for _ in range(8)]
            free = Signal(64, name=f"{name}_window")
            with m.Switch(asked[:3]):
                for index, row in enumerate(rows):
                    with m.Case(index):
                        m.d.comb += free.eq(row)
        else:
            free = self.any_value(64, f"{name}_free_words")
        words = Signal(64, name=f"{name}_words")
        m.d.comb += words.eq(free)
        pairs = {(key - IMEM.base) >> 3 for key in program}
        with m.Switch(asked):
            for pair in sorted(pairs):
                first = IMEM.base + 8 * pair
                with m.Case(pair):
                    m.d.comb += [
                        words.word_select(k, 32).eq(program[first + 4 * k])
                        for k in range(2)
                        if first + 4 * k in program
                    ]
        return words

    def trap_cause(self) -> Signal:
        """The cause of the trap in channel 0, if that is one."""
        return self.past(self.core._commit.trap.cause)

    def x0_is_zero(self, core: str = "core") -> None:
        """Use that row 0 of each tier's registers is never written, as `isolation` proves."""
        for tier in range(self.params.contexts):
            self.zero_rows.append((f"{core}.operands.registers", 32 * tier))


def opened(component: wiring.Component) -> Module:
    """Elaborate a component at once, so that its parts can be referred to."""
    module = component.elaborate(None)
    component.elaborate = lambda platform: module
    return module


def _bool(value) -> Value:
    value = Value.cast(value)
    return value if len(value) == 1 else value.any()


def _name_properties(text: str) -> str:
    """Give each property cell its message for a name."""
    cells = re.compile(r'  cell \$check \S+\n    parameter \\FORMAT "(\w+)"\n')
    return cells.sub(
        lambda found: f'  cell $check \\cell__{found[1]}\n    parameter \\FORMAT ""\n', text
    )


def rvfi_channel(core: Core, params: CoreParams, channel: int) -> SimpleNamespace:
    """The fields of one RVFI channel, without ``rvfi_``."""
    return SimpleNamespace(
        **{
            name: getattr(core, f"rvfi_{name}").word_select(channel, field.width)
            for name, field in packet_layout(params)
        }
    )


def one_of(value: Value, items) -> Value:
    """The value is one of the items."""
    return Cat(value == item for item in items).any()


def select(cases: list[tuple[Value, Value]], default: Value | int) -> Value:
    """The value of the first case whose condition holds."""
    result = Value.cast(default)
    for condition, value in reversed(cases):
        result = Mux(condition, value, result)
    return result


def is_local(address: Value, region: Region) -> Value:
    """The byte address lies in the region."""
    return address[region.size_log2 :] == Const(region.base >> region.size_log2)


#: A check fills a bench with properties.
Properties = Callable[[Bench], None]
