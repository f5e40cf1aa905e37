"""How the core begins, and that it goes on."""

from __future__ import annotations

from amaranth.hdl import Cat, Mux, Signal

from .bench import IMEM, Bench, small_core
from .check import Check, Method
from .programs import boot
from .relation import COMMON, PER_TIER

#: Cycles from the first one after a reset to the issue of the first instruction.
FIRST_ISSUE_CYCLES = 2
#: What software, lines and posts leave in the core, and a reset clears.
CLEARED = (
    *("tiers.waiting", "tiers.ceilings", "csrs.posted", "csrs.buffered", "csrs.sharing"),
    *("csrs._enabled", "csrs.enable_mei", "csrs.enable_mti", "csrs.enable_msi"),
    *("line_unit.masks", "line_unit.edges", "line_unit.latched", "line_unit.priorities"),
    *("bus.states", "bus.failed"),
)
#: Most cycles in which a tier that may issue shows nothing.
IDLE_CYCLES = 12


def reset(bench: Bench) -> None:
    """A cycle of reset, in whatever state, and tier 0 begins at the reset address; nothing else."""
    core, m = bench.core, bench.m
    direct, late = bench.channels
    begun = Signal(name="begun", reset_less=True)
    m.d.sync += begun.eq(1)
    bench.assume_at_start(bench.domain.rst & ~begun)
    bench.assume(~(begun & bench.domain.rst))

    shown = Signal(name="shown_before")
    m.d.sync += shown.eq(shown | direct.valid)
    first = begun & direct.valid & ~shown
    bench.prove("begins_at_the_reset_address", first, direct.pc_rdata == bench.params.reset_address)
    bench.prove("begins_in_tier_0", first, direct.ctx == 0)
    bench.prove("counts_from_0", first, direct.order == 0)
    bench.prove("no_interrupt_is_taken", first, ~direct.intr)
    bench.prove("nothing_is_left_on_the_bus", begun & ~shown & ~direct.valid, ~late.valid)
    first_cycle = bench.named(begun & ~bench.held(begun, name="begun_before"), "first_cycle")
    activity = (core.wb_cyc, core.dmem_write_mask, core.issue_valid, core.retire_valid, core.wake)
    bench.prove("nothing_goes_on", first_cycle, ~Cat(activity).any())
    tiers = bench.params.tiers
    per_tier = PER_TIER | {"bus.states": 2, "bus.failed": 1}
    widths = COMMON | {name: width * tiers for name, width in per_tier.items()}
    left = Cat(bench.watch(f"core.{name}", widths[name]) for name in CLEARED)
    bench.prove("nothing_is_left_set", first_cycle, left == 0)
    issued = bench.held(core.issue_valid, name="issued_before") | core.issue_valid
    in_time = begun & bench.past(first_cycle, FIRST_ISSUE_CYCLES)
    bench.prove("begins_in_time", in_time, issued)
    retired = bench.held(core.retire_valid, name="retired_before") | core.retire_valid
    bench.prove("only_tier_0_is_started", begun & ~retired, core._tiers.started == 1)


def liveness(bench: Bench) -> None:
    """A tier that is started and not waiting gets on, if nobody more urgent keeps it from it.

    Its code and data are local, it does not divide, and interrupts that have come stay: an
    instruction that meets one in X which is gone in M is repeated.
    """
    core, m = bench.core, bench.m
    direct = bench.channels[0]
    tier = bench.params.tiers - 1
    fetcher = core._fetcher
    local = fetcher.lookup_pc[IMEM.size_log2 - 2 :] == IMEM.base >> IMEM.size_log2
    bench.assume((fetcher.lookup_tier != tier) | local)
    bench.assume(~core._commit.wait_for_divider.valid)
    in_m = core._commit.m
    bench.assume(~(in_m.valid & in_m.remote & (in_m.tier == tier)))
    for inputs in (core.lines, core.timer):
        bench.assume((bench.past(inputs) & ~inputs) == 0)
    runs = core._tiers.started[tier] & ~core._tiers.waiting[tier] & ~core._tiers.held[tier]
    gets_on = direct.valid & (direct.ctx == tier)
    idle = Signal(5, name="idle")
    m.d.sync += idle.eq(Mux(runs & ~gets_on, idle + 1, 0))
    bench.prove("gets_on", runs, idle <= IDLE_CYCLES)
    bench.cover("bound_is_tight", idle == IDLE_CYCLES)


def _reset() -> Bench:
    bench = Bench(small_core(2), reset=True)
    reset(bench)
    return bench


def _liveness(tiers: int) -> Bench:
    bench = Bench(small_core(tiers), program=boot(tiers))
    liveness(bench)
    return bench


CHECKS = [
    Check(
        name="reset",
        claim=reset.__doc__,
        build=_reset,
        depth=10,
        method=Method.RESET,
        short=True,
    ),
    Check(
        name="liveness-1",
        claim=liveness.__doc__.splitlines()[0],
        build=lambda: _liveness(1),
        depth=24,
        short=True,
        short_depth=22,
    ),
]
