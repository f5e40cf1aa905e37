"""The core with external debug, and a debugger that halts and resumes whenever it likes."""

from __future__ import annotations

from collections.abc import Iterator

from amaranth.hdl import Cat, Value

from tierv.rtl.backend.execute import TRIGGER_CSRS
from tierv.rtl.isa import debug_csr_addresses
from tierv.rtl.tierv import Core

from .bench import Bench, one_of, small_core
from .chains import program_counter
from .check import Check
from .priority import latency, waiting_top
from .programs import boot
from .relation import EXISTING, Side
from .twins import Twins, twin_check

_DEBUG = {"debug": True, "triggers": 1}
#: CSRs of external debug that every instruction may read.
_READABLE = tuple(debug_csr_addresses()[name] for name in TRIGGER_CSRS)
#: What debug mode knows of a tier that it has to do with.
_STATES = (
    "kept_asked",
    "reset_halting",
    "running",
    "passed",
    "ebreakm",
    "step",
    "stepping",
    "to_run",
    "to_resume",
)


def only_halted(bench: Bench, core: Core) -> None:
    """The debug module resumes, and runs programs in, only what is halted."""
    bench.assume(((core.debug_resume | core.debug_run) & ~core.debug_halted) == 0)


def debugger(bench: Bench) -> None:
    """And here it runs none."""
    only_halted(bench, bench.core)
    bench.assume(bench.core.debug_run == 0)


def halting(bench: Bench) -> None:
    """A halted tier issues nothing, and is halted until the debugger resumes it."""
    core = bench.core
    tier = bench.any_constant(bench.params.tier_bits, "debugged")
    bench.assume(tier < bench.params.tiers)

    def of(vector):
        return vector.bit_select(tier, 1)

    halted = bench.named(of(core.debug_halted), "halted")
    was_halted = bench.past(halted)
    issues = core.issue_valid & (core.issue_tier == tier)
    bench.prove("halted_is_still", halted & was_halted, ~issues)
    resumed = bench.held(of(core.debug_resume), ~halted, "resumed")
    bench.prove("until_resumed", was_halted & ~halted, resumed)
    bench.cover("issues_again", bench.held(halted) & ~halted & issues)


class DebuggedTwins(Twins):
    """Two cores in each of which a debugger does as it likes with the lower tiers."""

    def __init__(self, tiers: int) -> None:
        super().__init__(tiers, **_DEBUG)
        bench, top = self.bench, self.top
        for name, core in self.cores.items():
            only_halted(bench, core)
            for asked in (core.debug_halt, core.debug_reset_halt):
                bench.assume(~asked[top])
            # Nor do they keep the debugger waiting for so long that it stops the urgent tier.
            bench.assume(~bench.watch(f"{name}.debug_mode.alone", 1))

    def more_related(self, *sides: Side) -> Iterator[tuple[str, Value]]:
        """The debugger has nothing to do with the urgent tier."""
        tiers, top = self.bench.params.tiers, self.top
        for side in sides:
            name, m = side.name, side.core._m
            states = [side.wire(f"debug_mode.{state}", tiers)[top] for state in _STATES]
            yield f"{name} undebugged", ~Cat(*states, side.core.debug_halted[top]).any()
            yield f"{name} begun", side.wire("debug_mode.begun", tiers)[top]
            yield f"{name} trigger bits", side.wire(f"triggers.bits0_{top}", 4) == 0
            x = side.core._execute.x
            hits = [side.wire(f"triggers.{hit}0", 1) for hit in ("fires", "loads", "stores")]
            yield f"{name} hits", ~side.owned(x.valid, x.tier) | ~Cat(hits).any()
            stops = m.stopped | side.wire("debug_mode.m_cause", 3).any()
            yield f"{name} stops", ~side.owned(m.valid, m.tier) | ~stops
            csr = side.owned(m.certain & m.control.csr, m.tier)
            yield f"{name} csr of debug", ~csr | one_of(m.csr_address, (*EXISTING, *_READABLE))
            read = side.wire("debug_mode.read_data", 32)
            yield f"{name} read of debug mode", ~self._writes(side) | (read == 0)
        first, second = sides
        values = [side.wire("triggers.read_data", 32) for side in sides]
        yield "read of triggers", ~self._writes(first) | (values[0] == values[1])
        selects = [side.wire(f"triggers.select{top}", 1) for side in sides]
        yield "trigger select", selects[0] == selects[1]
        self.bench.same_rows.append(("triggers.addresses0", top))

    def _writes(self, side: Side) -> Value:
        """An instruction of the urgent tier that writes a register is in stage A."""
        writer = side.core._write_back.writer
        return side.owned(writer.valid, writer.tier)


def _urgent() -> Bench:
    """The debugger is busy with tier 0."""
    bench = Bench(small_core(2, **_DEBUG), program=waiting_top())
    core = bench.core
    debugger(bench)
    bench.assume(~core.debug_halt[1] & ~core.debug_reset_halt[1])
    latency(bench)
    bench.cover("beside_a_halted_tier", core.debug_halted[0] & core.wake[1])
    bench.cut("core.divider.steps")
    return bench


def _program() -> Bench:
    bench = Bench(small_core(1, **_DEBUG), program=boot(1))
    debugger(bench)
    halting(bench)
    program_counter(bench, buffered=False)
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name="debug-latency",
        claim="the most urgent tier issues in the cycle after it wakes, though the debugger halts"
        " and resumes the less urgent one",
        build=_urgent,
        depth=26,
    ),
    twin_check("debug-twins", "whatever debuggers do with their lower tiers", DebuggedTwins),
    Check(
        name="debug-pc-1",
        claim="a halted tier is still, and when it is resumed its program goes on where it was",
        build=_program,
        depth=18,
    ),
]
