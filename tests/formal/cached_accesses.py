"""How the core uses its data cache: what the cache's proof assumes of it, and what loads get."""

from __future__ import annotations

from amaranth.hdl import Cat, Signal, Value
from amaranth.lib import data

from tierv.rtl.backend.bus import ACCESS, SlotState
from tierv.rtl.isa import Cause
from tierv.rtl.rvfi import packet_layout

from .bench import CACHED, TINY_DATA_CACHE, Bench, TinyParams, is_local, opened, small_core
from .check import Check, Method


class Slot:
    """The slot on the bus of one tier, any of them, and the cache's last answer to it."""

    def __init__(self, bench: Bench) -> None:
        m, bus, cache = bench.m, bench.core._bus, bench.core._data_cache
        tiers = bench.params.tiers
        memories = opened(bus).submodules
        self.tier = bench.any_constant(bench.params.tier_bits, "tier")
        self.state = bench.watch("core.bus.states", 2 * tiers).word_select(self.tier, 2)
        self.cached, self.buffered, self.loads, self.errors, self.muted = (
            bench.watch(f"core.bus.{name}", tiers).bit_select(self.tier, 1)
            for name in ("cached", "buffered", "loads", "errors", "muted")
        )
        self.word = data.View(ACCESS, bench.row(memories.slots, self.tier)).address[2:]
        self.result = bench.row(memories.results, self.tier)
        #: It has a load that the cache has missed.
        self.asks = bench.named(self.is_in(SlotState.OPEN) & self.cached, "asks")
        done = cache.load_done
        self.ends = bench.named(done.valid & cache.load_taken & (done.tier == self.tier), "ends")
        self.answer, self.failed = Signal(32, name="answer"), Signal(name="failed")
        with m.If(self.ends):
            m.d.sync += [self.answer.eq(cache.load_data), self.failed.eq(cache.load_error)]

    def is_in(self, state: SlotState) -> Value:
        return self.state == state.value


def is_cached(word: Value) -> Value:
    return is_local(word << 2, CACHED)


def requests(bench: Bench, slot: Slot) -> None:
    """What is assumed of the core where the cache is proved by itself (`data_cache`)."""
    cache, past = bench.core._data_cache, bench.past
    load = cache.load
    bench.prove("store", cache.store, cache.room & is_cached(cache.word))
    bench.prove("slot_asks", slot.asks, load.valid & (load.tier >= slot.tier))
    bench.prove(
        "load_is_of_a_slot",
        load.valid & (load.tier == slot.tier),
        slot.asks & (cache.load_word == slot.word) & is_cached(slot.word),
    )
    stays = past(slot.asks & ~slot.ends)
    bench.prove("load_stays", stays, slot.asks & (slot.word == past(slot.word)))
    bench.prove("ends_what_was_asked", slot.ends, slot.asks)


def order(bench: Bench, slot: Slot) -> None:
    """No store of a tier executes from the miss of its load to the answer."""
    core = bench.core
    stores = core._data_cache.store & (core._data_cache.store_tier == slot.tier)
    bench.prove("store_behind_a_load", stores, ~slot.asks)
    opens = core._bus.open & (core._bus.tier == slot.tier)
    bench.prove("store_right_behind_a_load", opens & core._m.cached, ~stores)


def packets(bench: Bench, slot: Slot) -> None:
    """Accesses to cached memory that RVFI shows are as the cache stored or read them."""
    core = bench.core
    cache, stage, late_load, past = core._data_cache, core._m, core._bus.late, bench.past
    direct, late = bench.channels
    shown = direct.valid & is_cached(direct.mem_addr[2:])
    own = direct.ctx == slot.tier
    stored, word = past(cache.store, 2), past(cache.word, 2)
    stores = shown & (direct.mem_wmask != 0)
    lanes = Cat(bit.replicate(8) for bit in direct.mem_wmask)
    bench.prove(
        "store_as_shown",
        stored,
        stores
        & (word == direct.mem_addr[2:])
        & (past(cache.store_tier, 2) == direct.ctx)
        & (past(cache.store_mask, 2) == direct.mem_wmask)
        & (((past(cache.store_data, 2) ^ direct.mem_wdata) & lanes) == 0),
    )
    bench.prove("shown_is_stored", stores, stored)
    loads, missed = shown & (direct.mem_rmask != 0), past(stage.remote)
    bench.prove(
        "hit",
        loads & ~missed,
        past(cache.hit, 2)
        & ~stored
        & (word == direct.mem_addr[2:])
        & (direct.mem_rdata == past(cache.read_data)),
    )
    # For x0 RVFI may show the word of another tier's late load.
    bench.prove(
        "miss",
        loads & missed & own & past(slot.cached) & (direct.rd_addr != 0),
        ~past(slot.failed) & (direct.mem_rdata == past(slot.answer)),
    )
    bench.prove(
        "late",
        late.valid & past(slot.cached & late_load.valid & (late_load.tier == slot.tier)),
        (late.mem_addr[2:] == past(slot.word))
        & ~past(slot.failed)
        & (late.mem_rdata == past(slot.answer)),
    )
    faults = direct.trap & (bench.trap_cause() == Cause.LOAD_ACCESS)
    bench.prove(
        "fault",
        direct.valid & faults & own & past(slot.cached & stage.collects),
        past(slot.failed),
    )
    fences = direct.valid & ~direct.trap & (direct.insn[:7] == 0x0F)
    is_open = past(cache.stores_open, 2).bit_select(slot.tier, 1)
    bench.prove("fence_waits", fences & own, ~is_open)
    bench.prove("fence_i_drops_lines", fences & (direct.insn[12:15] == 1), past(cache.invalidate))


def returns(bench: Bench, slot: Slot) -> None:
    """A load that missed, precise, comes back for the word that it asked for."""
    core, past = bench.core, bench.past
    direct = bench.channels[0]
    bench.prove(
        "asked_for_it",
        direct.valid & (direct.mem_rmask != 0) & past(core._m.remote & slot.cached),
        direct.mem_addr[2:] == past(slot.word),
    )


def _suppose(bench: Bench, slot: Slot) -> None:
    """What the induction needs to know of the states."""
    core, cache = bench.core, bench.core._data_cache
    active_tier = bench.watch("core.bus.active_tier", bench.params.tier_bits)
    is_fetch = bench.watch("core.bus.active_fetch", 1)
    on_bus = core.wb_cyc & ~is_fetch & (active_tier == slot.tier)
    busy = cache.request.valid | cache.load_done.valid
    layout = data.ArrayLayout(packet_layout(bench.params), bench.params.tiers)
    kept = data.View(layout, bench.watch("core.rvfi.kept", layout.size))
    addresses = Cat(kept[tier].mem_addr for tier in range(bench.params.tiers))
    kept_word = addresses.word_select(slot.tier, 32)[2:]
    is_open, is_late, is_done = (slot.is_in(SlotState[name]) for name in ("OPEN", "LATE", "DONE"))
    later = is_late | (is_open & slot.buffered & slot.loads)
    for name, trigger, condition in (
        ("on_bus", on_bus, is_open & ~slot.cached),
        ("busy", busy & (cache.load_done.tier == slot.tier), slot.asks),
        ("asks", slot.asks, (slot.loads | slot.muted) & is_cached(slot.word)),
        ("late", is_late, slot.buffered & slot.loads & ~(slot.cached & slot.failed)),
        ("late_word", later, kept_word == slot.word),
        ("done", is_done & slot.cached, slot.errors == slot.failed),
        ("answer", (is_done | is_late) & slot.cached, slot.result == slot.answer),
    ):
        bench.lemma(f"supposed_{name}", condition, given=trigger)


def _accesses() -> Bench:
    bench = Bench(small_core(2, kind=TinyParams, **TINY_DATA_CACHE))
    slot = Slot(bench)
    for fill in (requests, order, packets, _suppose):
        fill(bench, slot)
    bench.cut("core.divider.steps")
    return bench


def _misses() -> Bench:
    bench = Bench(small_core(1, kind=TinyParams, **TINY_DATA_CACHE), window=True)
    returns(bench, Slot(bench))
    bench.cut("core.divider.steps")
    return bench


CHECKS = [
    Check(
        name="cached-accesses",
        claim="accesses to cached memory that RVFI shows are as the data cache stored or read them,"
        " and the core keeps to what the cache's proof assumes",
        build=_accesses,
        depth=3,
        cover_depth=20,
        method=Method.INDUCTION,
    ),
    Check(
        name="cached-misses",
        claim=returns.__doc__,
        build=_misses,
        depth=20,
    ),
]
