"""Registers and PC of each tier from one instruction to the next; nothing lost, nothing twice."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import C, Cat, Mux, Signal, Value

from tierv.rtl.isa import Cause, csr_addresses

from .bench import Bench, small_core
from .check import Check
from .programs import boot

CSR = csr_addresses()


class Follower:
    """What one tier, any of them, does, in the cycle in which RVFI shows it.

    A buffered load retires without a packet and gets it when its result is there: ``leaves`` in
    the cycle in which the packet would have come, ``returns`` when it comes. It never does if the
    bus answers with an error, which is a trap instead.
    """

    def __init__(self, bench: Bench) -> None:
        core, m = bench.core, bench.m
        self.bench = bench
        self.direct, self.late = bench.channels
        self.tier = bench.any_constant(bench.params.tier_bits, "tier")
        if bench.params.tiers < 1 << bench.params.tier_bits:
            bench.assume(self.tier < bench.params.tiers)
        retired = bench.past(core.retire_valid & (core.retire_tier == self.tier))
        self.shown = bench.named(self.direct.valid & (self.direct.ctx == self.tier), "shown")
        self.leaves = bench.named(retired & ~self.shown, "leaves")
        self.left_pc = bench.past(core.retire_pc)
        self.returns = bench.named(self.late.valid & (self.late.ctx == self.tier), "returns")
        self.away = Signal(name="away")
        fails = self.event(core._commit.trap) & (bench.trap_cause() == Cause.LOAD_ACCESS)
        m.d.sync += self.away.eq((self.away & ~self.returns & ~fails) | self.leaves)

    def of(self, vector) -> Value:
        """This tier's bit of a vector."""
        return Value.cast(vector).bit_select(self.tier, 1)

    def event(self, event) -> Value:
        """A ``layouts.tier_event_layout`` of the core happened to this tier a cycle ago."""
        return self.bench.past(event.valid & (event.tier == self.tier))


def registers(bench: Bench, buffered: bool) -> None:
    """What a tier reads from a register is what its own last instruction there wrote."""
    follower = Follower(bench)
    m = bench.m
    direct, late = follower.direct, follower.late
    register = bench.any_constant(5, "register")
    bench.assume(register != 0)
    known, value = Signal(name="known"), Signal(32, name="value")
    loaded = follower.returns & (late.rd_addr == register)
    now_known = bench.named(known | loaded, "now_known")
    now = bench.named(Mux(loaded, late.rd_wdata, value), "now")
    written = follower.shown & (direct.rd_addr == register)
    m.d.sync += [
        known.eq(now_known | written),
        value.eq(Mux(written, direct.rd_wdata, now)),
    ]
    for name, address, data in (
        ("first", direct.rs1_addr, direct.rs1_rdata),
        ("second", direct.rs2_addr, direct.rs2_rdata),
    ):
        bench.prove(name, follower.shown & now_known & (address == register), data == now)

    # A buffered load read its address when it retired, and writes its register when it returns;
    # until then nobody of its tier may have used that register.
    before_known, before = Signal(name="before_known"), Signal(32, name="before")
    touched = Signal(name="touched")
    touches = follower.shown & (
        (direct.rs1_addr == register) | (direct.rs2_addr == register) | written
    )
    with m.If(follower.leaves):
        m.d.sync += [before_known.eq(now_known), before.eq(now), touched.eq(0)]
    with m.Else():
        m.d.sync += touched.eq(touched | touches)
    bench.prove(
        "late_address",
        follower.returns & before_known & (late.rs1_addr == register),
        late.rs1_rdata == before,
        seen=buffered,
    )
    bench.prove("late_result_unseen", loaded, ~touched & ~touches, seen=buffered)


def program_counter(bench: Bench, buffered: bool) -> None:
    """Each instruction of a tier begins where the one before it said that the tier goes on."""
    follower = Follower(bench)
    core, m = bench.core, bench.m
    commit, access = core._commit, core._csrs.access
    direct, late = follower.direct, follower.late
    known, expected = Signal(name="known"), Signal(32, name="expected")
    happens = bench.named(follower.shown | follower.leaves, "happens")
    pc = bench.named(Mux(follower.leaves, follower.left_pc, direct.pc_rdata), "pc")
    interrupted = bench.named(
        follower.event(commit.trap) & bench.past(commit.trap.interrupt), "interrupted"
    )
    trap_pc = Cat(C(0, 2), bench.past(commit.trap.pc))
    moved = bench.past(
        access.write
        & (access.address[3:] == CSR["mtierpc0"] >> 3)
        & (access.address[:3] == follower.tier)
        & ~follower.of(core._tiers.started)
    )
    target = Mux(bench.past(access.operation == 3), 0, bench.past(access.source)) & 0xFFFF_FFFC
    with m.If(moved):
        m.d.sync += [known.eq(1), expected.eq(target)]
    with m.Elif(interrupted):
        m.d.sync += [known.eq(1), expected.eq(Cat(C(0, 2), bench.past(commit.redirect.pc)))]
    with m.Elif(happens):
        m.d.sync += [
            known.eq(1),
            expected.eq(Mux(follower.leaves, (pc + 4)[:32], direct.pc_wdata)),
        ]
    bench.prove("goes_on", happens & known, pc == expected)
    bench.prove("interrupted_between", interrupted & known, trap_pc == expected)
    bench.prove(
        "trap_of_the_instruction",
        follower.shown & direct.trap,
        follower.event(commit.trap) & ~interrupted & (trap_pc == direct.pc_rdata),
    )

    # rvfi_intr: the first instruction of a handler, and the first after a wake.
    first = Signal(name="first")
    woken = bench.past(core.wake.bit_select(follower.tier, 1))
    trapped = follower.event(commit.trap)
    with m.If(trapped | woken):
        m.d.sync += first.eq(1)
    with m.Elif(happens):
        m.d.sync += first.eq(0)
    bench.prove("first_of_a_handler", follower.shown & first, direct.intr)
    bench.prove("intr_only_at_the_first", follower.shown & direct.intr, first)

    # Buffered loads are the only instructions without a packet of their own, one at a time.
    left_pc = Signal(32, name="pc_that_left")
    with m.If(follower.leaves):
        m.d.sync += left_pc.eq(pc)
    is_load = (late.insn[:7] == 0x03) & ~late.trap
    for name, event, condition in (
        ("returns_once", follower.returns, follower.away),
        ("one_away", follower.leaves, ~follower.away | follower.returns),
        ("returns_as_it_left", follower.returns, late.pc_rdata == left_pc),
        ("only_loads_leave", follower.returns, is_load),
    ):
        bench.prove(name, event, condition, seen=buffered)


def order(bench: Bench, buffered: bool) -> None:
    """`rvfi_order` numbers what happens without gap or repetition, over all tiers."""
    core, m = bench.core, bench.m
    direct, late = bench.channels
    retired = bench.past(core.retire_valid)
    happens = bench.named(direct.valid | retired, "happens")
    count = Signal(16, name="count")
    m.d.sync += count.eq(count + happens)
    bench.prove("counts", direct.valid, direct.order == count)
    bench.prove("trap_or_retired", direct.valid, direct.trap ^ retired)
    tier = bench.any_constant(bench.params.tier_bits, "tier")
    number = Signal(16, name="number")
    with m.If(retired & ~direct.valid & (bench.past(core.retire_tier) == tier)):
        m.d.sync += number.eq(count)
    bench.prove(
        "late_has_its_number",
        late.valid & (late.ctx == tier),
        late.order == number,
        seen=buffered,
    )


def _bench(fill, tiers: int, buffered: bool) -> Bench:
    bench = Bench(small_core(tiers), program=boot(tiers, buffered=buffered))
    fill(bench, buffered)
    bench.cut("core.divider.steps")
    return bench


#: Tiers, whether tier 0 buffers its accesses, how deep, and how deep in the short set.
RUNS = ((1, False, 14, 12), (1, True, 20, None), (2, False, 20, None))
_NAMES = (("registers", registers), ("pc", program_counter), ("order", order))

CHECKS = [
    Check(
        name=f"{name}-{tiers}{'-buffered' if buffered else ''}",
        claim=fill.__doc__.splitlines()[0],
        build=partial(_bench, fill, tiers, buffered),
        depth=depth,
        short=tiers == 1 and (not buffered or fill is order),
        short_depth=short_depth,
    )
    for name, fill in _NAMES
    for tiers, buffered, depth, short_depth in RUNS
    if fill is not order or tiers > 1 or buffered
]
