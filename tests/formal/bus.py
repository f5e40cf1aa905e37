"""The bus port: its protocol, and one transaction for each access that retires."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat, Mux, Signal, Value

from tierv.rtl.backend.bus import SlotState
from tierv.rtl.isa import Cause
from tierv.rtl.tierv import Core

from .bench import DMEM, Bench, is_local, one_of, small_core
from .chains import Follower
from .check import Check, Method
from .programs import boot


def wishbone(bench: Bench) -> None:
    """Wishbone B4 classic: what is on the bus stays until it is answered; then another master can
    have the bus, unless a more urgent tier waits for it."""
    core = bench.core
    ends = core.wb_ack | core.wb_err
    goes_on = bench.past(core.wb_cyc & core.wb_stb & ~ends)
    bench.prove("stays", goes_on, core.wb_cyc & core.wb_stb)
    for name in ("wb_adr", "wb_we", "wb_sel"):
        signal = getattr(core, name)
        bench.prove(f"{name}_stays", goes_on, signal == bench.past(signal))
    lanes = Cat(bit.replicate(8) for bit in core.wb_sel)
    changed = (core.wb_dat_w ^ bench.past(core.wb_dat_w)) & lanes
    bench.prove("wb_dat_w_stays", goes_on & core.wb_we, changed == 0)
    bench.prove("strobe_in_cycle", core.wb_stb, core.wb_cyc)
    tier = bench.watch("core.bus.active_tier", bench.params.tier_bits)
    # That it does, the accesses of two tiers show.
    bench.prove("more_urgent_follows", _follows(core, bench), tier > bench.past(tier), seen=False)

    # What the induction needs to know of the core: who is on the bus has something open.
    is_fetch = bench.watch("core.bus.active_fetch", 1)
    states = bench.watch("core.bus.states", 2 * bench.params.tiers)
    slot_open = states.word_select(tier, 2) == SlotState.OPEN.value
    bench.lemma("data_has_a_slot", ~core.wb_cyc | is_fetch | slot_open)
    bench.lemma("fetch_asks", ~core.wb_cyc | ~is_fetch | core._bus_fetcher.request)


def _follows(core: Core, bench: Bench) -> Value:
    """A transaction begins behind the end of another, with no cycle between them."""
    return core.wb_cyc & bench.past(core.wb_cyc & (core.wb_ack | core.wb_err))


def accesses(bench: Bench, buffered: bool) -> None:
    """Each load and store outside local memory that retires is one transaction, and no other is.

    A precise access is on the bus before its instruction retires (`ahead`), a buffered one after
    (`owed`). An error of the latter is the trap of what the tier executes next.
    """
    follower = Follower(bench)
    core, m = bench.core, bench.m
    direct, late = follower.direct, follower.late
    active_tier = bench.watch("core.bus.active_tier", bench.params.tier_bits)
    active_fetch = bench.watch("core.bus.active_fetch", 1)

    ends = core.wb_cyc & core.wb_stb & (core.wb_ack | core.wb_err)
    transaction = bench.named(
        bench.past(ends & ~active_fetch & (active_tier == follower.tier)), "transaction"
    )
    failed = bench.past(core.wb_err)
    write = bench.past(core.wb_we)
    address = bench.past(core.wb_adr)
    bytes_ = bench.past(core.wb_sel)
    data = Mux(write, bench.past(core.wb_dat_w), bench.past(core.wb_dat_r))

    mask = direct.mem_rmask | direct.mem_wmask
    retires = follower.shown & (mask != 0) & ~is_local(direct.mem_addr, DMEM)
    shown_data = Mux(direct.mem_wmask != 0, direct.mem_wdata, direct.mem_rdata)

    record = {
        "write": (Signal(name="record_write"), write, direct.mem_wmask != 0),
        "address": (Signal(30, name="record_address"), address, direct.mem_addr[2:]),
        "bytes": (Signal(4, name="record_bytes"), bytes_, mask),
    }
    record_data, record_failed = Signal(32, name="record_data"), Signal(name="record_failed")
    owed, owed_load = Signal(name="owed"), Signal(name="owed_load")
    ahead = Signal(name="ahead")

    def lanes(select):
        return Cat(bit.replicate(8) for bit in select)

    # A transaction that was not owed goes ahead of its instruction, which comes next.
    stale = bench.named(transaction & ~owed, "goes_ahead")
    pays = bench.named(transaction & owed, "pays")
    with m.If(transaction):
        m.d.sync += [
            *(kept.eq(seen) for kept, seen, _ in record.values()),
            record_data.eq(data),
            record_failed.eq(failed),
        ]
    with m.If(stale):
        m.d.sync += ahead.eq(1)
    with m.Elif(follower.shown):
        m.d.sync += ahead.eq(0)
    bench.prove("not_twice", stale, ~ahead, seen=not buffered)
    is_the_access = (
        Cat(kept == shown for kept, _, shown in record.values()).all()
        & (((record_data ^ shown_data) & lanes(record["bytes"][0])) == 0)
        & retires
    )
    cause = bench.trap_cause()

    def is_fault(write):
        return direct.trap & (cause == Mux(write, Cause.STORE_ACCESS, Cause.LOAD_ACCESS))

    is_its_trap = is_fault(record["write"][0])
    bench.prove(
        "then_its_instruction",
        follower.shown & ahead,
        Mux(record_failed, is_its_trap, is_the_access & ~direct.trap),
        seen=not buffered,
    )
    bench.prove("nothing_leaves_meanwhile", ahead, ~follower.leaves, seen=not buffered)
    if not buffered:
        bench.cover("failed_write", follower.shown & ahead & record_failed & record["write"][0])

    # An access that retires before its transaction: a store with its data, or a load.
    store_owed = retires & ~ahead
    owed_values = [Signal.like(kept, name=f"owed_{name}") for name, (kept, _, _) in record.items()]
    owed_data = Signal(32, name="owed_data")
    with m.If(store_owed):
        m.d.sync += [
            owed.eq(1),
            owed_load.eq(0),
            owed_data.eq(shown_data),
            *(kept.eq(entry[2]) for kept, entry in zip(owed_values, record.values(), strict=True)),
        ]
    with m.Elif(follower.leaves):
        m.d.sync += [owed.eq(1), owed_load.eq(1)]
    with m.Elif(transaction):
        m.d.sync += owed.eq(0)
    bench.prove(
        "only_stores_are_owed", store_owed, (direct.mem_wmask != 0) & (~owed | pays), seen=buffered
    )
    bench.prove("one_owed", follower.leaves, ~owed | pays, seen=buffered)
    is_buffered = follower.of(core._csrs.buffered)
    bench.prove("owed_if_buffered", store_owed | follower.leaves, is_buffered, seen=buffered)
    as_owed = Cat(
        seen == kept for kept, (_, seen, _) in zip(owed_values, record.values(), strict=True)
    ).all() & (((data ^ owed_data) & lanes(bytes_)) == 0)
    bench.prove("pays_a_store", pays & ~owed_load, as_owed, seen=buffered)
    bench.prove("pays_a_load", pays & owed_load, ~write, seen=buffered)
    bench.prove(
        "load_has_what_was_read",
        follower.returns,
        (late.mem_addr[2:] == record["address"][0])
        & (late.mem_rmask == record["bytes"][0])
        & ~record_failed
        & (late.mem_rdata == record_data),
        seen=buffered,
    )
    # The error of what was owed. An instruction in M as it comes still retires, and may have an
    # access of its own.
    due, due_write = Signal(name="due"), Signal(name="due_write")
    is_late_trap = is_fault(due_write)
    with m.If(pays & failed):
        m.d.sync += [due.eq(1), due_write.eq(write)]
    with m.Elif(follower.shown & is_late_trap):
        m.d.sync += due.eq(0)
    happens = follower.shown | follower.leaves
    bench.prove("late_error_traps", happens & due & bench.past(due), is_late_trap, seen=buffered)
    bench.prove(
        "access_fault_has_an_error",
        follower.shown & direct.trap & one_of(cause, (Cause.LOAD_ACCESS, Cause.STORE_ACCESS)),
        (ahead & record_failed & is_its_trap) | (due & is_late_trap),
    )

    # What is owed is on its way.
    slot_taken = bench.past(~follower.of(core._bus.idle))
    bench.prove("owed_is_open", owed & ~pays, slot_taken | bench.past(ends), seen=buffered)


def _wishbone() -> Bench:
    bench = Bench(small_core(2))
    wishbone(bench)
    return bench


def _accesses(tiers: int, buffered: bool) -> Bench:
    bench = Bench(small_core(tiers), program=boot(tiers, buffered=buffered), window=True)
    accesses(bench, buffered)
    if tiers > 1:
        bench.cover("more_urgent_follows", _follows(bench.core, bench))
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name="wishbone",
        claim=wishbone.__doc__,
        build=_wishbone,
        depth=3,
        cover_depth=14,
        method=Method.INDUCTION,
        short=True,
    ),
    *(
        Check(
            name=f"bus-accesses-{tiers}{'-buffered' if buffered else ''}",
            claim=accesses.__doc__.splitlines()[0],
            build=partial(_accesses, tiers, buffered),
            depth=depth,
            short=short_depth is not None,
            short_depth=short_depth,
        )
        for tiers, buffered, depth, short_depth in (
            (1, False, 14, 12),
            (1, True, 20, None),
            (2, False, 20, None),
        )
    ),
]
