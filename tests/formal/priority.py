"""Which tier issues: strict priority, no slot lost, and from the line to the first instruction."""

from __future__ import annotations

from amaranth.hdl import Cat, Mux, Value

from tierv.rtl.isa import Opcode
from tierv.rtl.layouts import arrival_layout

from .bench import IMEM, Bench, one_of, small_core
from .check import Check, Method
from .programs import CSR, ENTRY, NOP, WFI, boot, csrw, li

#: Bit of mie that enables the timer interrupt.
MTIE = 1 << 7


class Chooser:
    """What the choice of the tier that issues depends on, of one tier, any of them."""

    def __init__(self, bench: Bench) -> None:
        core = bench.core
        self.bench = bench
        self.tier = bench.any_constant(bench.params.tier_bits, "tier")
        bench.assume(self.tier < bench.params.tiers)
        self.ready = self.of(core._tiers.ready)
        self.pairs = Value.cast(core._buffer.pairs[self.tier])
        self.redirected = self.is_me(core._redirect)
        issued = core._buffer.issued
        self.issues = bench.named(self.is_me(issued), "issues")
        mine = issued.tier == self.tier
        is_wfi, shares, last = (
            bench.watch(f"core.buffer.{name}", 1) for name in ("i_wfi", "shares", "last")
        )
        #: It leaves the next slot to others by its own will.
        self.leaves = self.is_me(core._buffer.wfi) | (self.issues & shares)
        #: Its instruction waits in stage I, and the tier leaves the next slot to others as if it
        #: had issued: a wfi, a load or store of a tier that shares, the last in its buffer.
        waits = core._buffer.present & mine & ~self.issues
        self.waits_outside = bench.named(
            waits & (is_wfi | shares | (last & (self.pairs == 0b0001))), "waits_outside"
        )
        #: It has an instruction for the next slot, and nothing that is known late takes it away.
        self.can_issue = bench.named(
            self.ready
            & self.pairs.bit_select(self.issues, 1)
            & ~self.redirected
            & ~self.leaves
            & ~self.waits_outside,
            "can_issue",
        )

    def of(self, vector) -> Value:
        return Value.cast(vector).bit_select(self.tier, 1)

    def is_me(self, event) -> Value:
        return event.valid & (event.tier == self.tier)


def priority(bench: Bench) -> None:
    """No less urgent tier issues in a slot that a more urgent one can use, and no slot is lost."""
    core = bench.core
    tiers = core._tiers
    chooser = Chooser(bench)
    counted = Cat(~held[1:] | held[:-1] for held in core._buffer.pairs).all()
    bench.assume_at_start(counted)
    bench.lemma("pairs_are_counted", counted)
    could = bench.past(chooser.can_issue)
    below = core.issue_valid & (core.issue_tier < chooser.tier)
    bench.prove("no_lower_tier_issues", could & (chooser.tier != 0), ~below)
    bench.prove(
        "no_slot_is_lost",
        could & ~bench.past(core._redirect.valid),
        core._buffer.present & (core._buffer.issued.tier >= chooser.tier),
    )
    bench.prove("only_ready_tiers_issue", chooser.issues, bench.past(chooser.ready))

    bench.cover(
        "slot_left_while_waiting",
        bench.past(chooser.ready & ~chooser.redirected & chooser.waits_outside) & below,
    )

    # Who shares: a tier with `sharing`, behind a load or store.
    layout = arrival_layout(bench.params)
    words = layout(bench.watch("core.predecoder.arrived", layout.size)).words
    for place in range(2):
        is_memory = one_of(words[place][2:7], (Opcode.LOAD, Opcode.STORE))
        is_flagged = core._predecoder.flags.memory[place]
        bench.prove(f"memory_{place}", core._predecoder.valid, is_flagged == is_memory)
    shares = bench.watch("core.buffer.shares", 1)
    bench.prove(
        "shares_if_asked",
        shares & (core._buffer.issued.tier == chooser.tier),
        chooser.of(core._csrs.sharing),
    )

    # What `ready` means.
    waiting, waking = chooser.of(tiers.waiting), chooser.of(core.wake)
    bench.prove("ready_is_started", chooser.ready, chooser.of(tiers.started))
    bench.prove("ready_is_awake", chooser.ready & waiting, waking)
    ceilings = [
        (chooser.tier > lower)
        & tiers.started[lower]
        & ~tiers.waiting[lower]
        & (tiers.ceilings[lower] >= chooser.tier)
        for lower in range(bench.params.tiers)
    ]
    bench.prove("ceiling_holds_back", Cat(ceilings).any(), ~chooser.ready)
    bench.prove("ceiling_holds_nobody_else", chooser.of(tiers.held), Cat(ceilings).any())


def wake(bench: Bench) -> None:
    """A tier that waits wakes in the cycle of an enabled line, timer or post, and for nothing else.

    A line is pending while it is high or, with an edge, from its rise until it is acknowledged.
    """
    core = bench.core
    tiers, lines, bus, access = core._tiers, core._lines, core._bus, core._csrs.access
    tier = bench.any_constant(bench.params.tier_bits, "tier")
    bench.assume(tier < bench.params.tiers)

    def of(vector) -> Value:
        return Value.cast(vector).bit_select(tier, 1)

    def enabled(name: str) -> Value:
        return of(bench.watch(f"core.csrs.enable_{name}", bench.params.tiers))

    edges = lines.edges
    latched = bench.watch("core.line_unit.latched", bench.params.lines)
    rising = edges & core.lines & ~bench.past(core.lines)
    pending = (core.lines & ~edges) | rising | (edges & latched)
    external = (pending & Value.cast(lines.masks[tier])).any() & enabled("mei")
    timer = of(core.timer) & enabled("mti")
    posted = of(bench.watch("core.csrs.posted", bench.params.tiers)) & enabled("msi")
    waits = of(tiers.waiting) & of(tiers.started) & ~of(tiers.stop) & of(bus.settled)
    for name, interrupt in (("line", external), ("timer", timer), ("post", posted)):
        bench.prove(f"{name}_wakes", waits & interrupt, of(core.wake))
    bench.prove("nothing_else_wakes", of(core.wake), waits & (external | timer | posted))

    acknowledges = access.write & (access.address == CSR["mlineack"]) & (access.operation != 3)
    acknowledged = Mux(acknowledges, access.source[: bench.params.lines], 0)
    kept = bench.past(rising | (latched & ~acknowledged))
    both = edges & bench.past(edges)
    bench.prove("edges_are_latched", both.any(), ((latched ^ kept) & both) == 0)
    bench.cover("edge_is_acknowledged", (bench.past(latched) & both & ~latched).any())


def latency(bench: Bench) -> None:
    """The most urgent tier issues in the cycle after it wakes, whatever the less urgent one does.

    Its code, and the words fetched ahead of it, are in local memory, and the bus makes no errors.
    """
    core, tiers = bench.core, bench.core._tiers
    top = bench.params.tiers - 1
    fetcher = core._fetcher
    is_local = fetcher.lookup_pc[IMEM.size_log2 - 2 :] == IMEM.base >> IMEM.size_log2
    bench.assume((fetcher.lookup_tier != top) | is_local)
    bench.assume(~core.wb_err)
    wakes = bench.named(core.wake[top] & ~tiers.held[top], "wakes")
    issues = bench.named(core.issue_valid & (core.issue_tier == top), "issues")
    bench.prove("in_the_next_cycle", bench.past(wakes), issues)
    # The bound is tight: no tier issues in the cycle of its wake.
    bench.prove("no_sooner", wakes, ~issues)
    bench.cover("in_place_of_another", bench.past(wakes & core.issue_valid) & issues)
    bench.cover("twice", bench.held(bench.past(wakes), name="woken_before") & wakes)


def _any_state(fill) -> Bench:
    bench = Bench(small_core(3))
    fill(bench)
    return bench


def waiting_top() -> dict[int, int]:
    """A program of two tiers, of which the more urgent one waits for its timer."""
    return boot(2) | {
        ENTRY[1]: li(5, MTIE),
        ENTRY[1] + 4: csrw("mie", 5),
        ENTRY[1] + 8: WFI,
        ENTRY[1] + 12: NOP,
    }


def _latency() -> Bench:
    bench = Bench(small_core(2), program=waiting_top())
    latency(bench)
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name="priority",
        claim=priority.__doc__,
        build=lambda: _any_state(priority),
        depth=4,
        cover_depth=20,
        method=Method.UNBOUNDED,
        short=True,
    ),
    Check(
        name="wake",
        claim=wake.__doc__.splitlines()[0],
        build=lambda: _any_state(wake),
        depth=2,
        cover_depth=20,
        method=Method.UNBOUNDED,
        short=True,
    ),
    Check(
        name="latency",
        claim=latency.__doc__,
        build=_latency,
        depth=25,
        short=True,
        short_depth=21,
    ),
]
