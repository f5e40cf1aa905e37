"""What a load reads through the data cache is what was stored there last."""

from __future__ import annotations

from functools import partial

from amaranth.hdl import Cat, Mux, Signal, Value
from amaranth.lib import data, wiring

from tierv.rtl.cache.data import QUEUE_DEPTH, DataCache
from tierv.rtl.cache.join import join_data_port
from tierv.rtl.cache.port import STORE, MemoryPort
from tierv.rtl.layouts import PC_BITS
from tierv.rtl.params import CoreParams

from .bench import TINY_DATA_CACHE, BareBench, TinyParams, is_local, opened, select
from .check import Check, Method

TINY = TinyParams(tiers=4, **TINY_DATA_CACHE)
USUAL = CoreParams(tiers=4, dcache_bytes=8 << 10)


class CacheBench(BareBench):
    """The data cache and its memory port, and one byte, any, of the memory behind them.

    Inputs are free, but for what is assumed of the core. So is the other master of the port, and
    which transactions end in an error. Memory changes by stores, in any way by a store that ends in
    an error, and at any time by somebody else.
    """

    def __init__(self, params: CoreParams) -> None:
        super().__init__(params)
        self.line_bits = params.cache_line_bytes.bit_length() - 3
        self.index_bits = params.dcache_bytes.bit_length() - 3
        self.most_stores = QUEUE_DEPTH + params.tiers - 1
        m = self.m
        self.cache = cache = m.submodules.cache = DataCache(params)
        self.port = port = m.submodules.port = MemoryPort(params)
        inside = opened(cache)
        self.tags = inside.submodules.tags
        self.queue = inside.submodules.queue
        self._tag_memory = opened(self.tags).submodules.memory
        self._store_memory = opened(self.queue).submodules.storage
        self._byte_memories = [inside.submodules[f"bytes{byte}"] for byte in range(4)]
        join_data_port(m, cache, port)
        driven = ("answer", "memory_store_done", "memory_store_error")
        for part, name in (
            *((cache, name) for name in _inputs(cache) if name not in driven),
            *((port, name) for name in ("instruction", "dat_r", "ack", "err")),
        ):
            signal = Value.cast(getattr(part, name))
            m.d.comb += signal.eq(self.any_value(len(signal), name))

        self.place = self.any_constant(PC_BITS, "place")
        self.lane = self.any_constant(2, "lane")
        self.tier = self.any_constant(params.tier_bits, "tier")
        self.assume(self.is_cached(self.place))
        #: A line is read, or has been read for a load that has not been answered.
        self.busy = self.named(cache.request.valid | cache.load_done.valid, "busy")
        self._assume_core()
        self._follow_stores()
        self._follow_memory()

    def _assume_core(self) -> None:
        """What the core does, and which load `tier` has open."""
        cache, m = self.cache, self.m
        load, done = cache.load, cache.load_done
        self.assume(~cache.store | (cache.room & self.is_cached(cache.word)))
        self.assume(~load.valid | self.is_cached(cache.load_word))
        # A load asks until it has been answered, with the same address.
        ends = done.valid & cache.load_taken
        self.assume(~self.past(load.valid & ~ends) | load.valid)
        asks = load.valid & (load.tier == self.tier)
        here = cache.load_word == self.place
        self.asked, self.asked_here = Signal(name="asked"), Signal(name="asked_here")
        m.d.sync += self.asked.eq((self.asked | asks) & ~(ends & (done.tier == self.tier)))
        with m.If(asks & ~self.asked):
            m.d.sync += self.asked_here.eq(here)
        self.assume(~(asks & self.asked) | (here == self.asked_here))

    def _follow_stores(self) -> None:
        """Those in the queue, the oldest first: whether each is to the byte, and of `tier`."""
        first = self.watch("cache.queue.consume", 4)
        to_byte, of_tier, values = [], [], []
        for number in range(self.most_stores):
            entry = self.row(self._store_memory, (first + number)[:4])
            store = data.View(STORE, entry[: STORE.size])
            valid = number < self.queue.level
            to_byte.append(valid & (store.word == self.place) & self.of_lane(store.mask))
            of_tier.append(valid & (entry[STORE.size :] == self.tier))
            values.append(self.byte(store.data))
        self.to_byte = self.named(Cat(to_byte), "to_byte")
        self.of_tier = self.named(Cat(of_tier), "of_tier")
        self.last_value = select(list(zip(to_byte[::-1], values[::-1], strict=True)), 0)
        self.last_of_tier = select(list(zip(to_byte[::-1], of_tier[::-1], strict=True)), 0)

    def _follow_memory(self) -> None:
        """The byte as it is in memory, and as a load shall see it."""
        cache, port, m = self.cache, self.port, self.m
        ends = port.cyc & port.stb & (port.adr == self.place) & (port.ack | port.err)
        writes = ends & port.we & self.of_lane(port.sel)
        self.memory, self.expected = Signal(8, name="memory"), Signal(8, name="expected")
        reads = ends & ~port.we & ~port.err
        self.assume(~reads | (self.byte(port.dat_r) == self.memory))
        new = self.any_value(8, "new")
        changes = self.named(self.any_value(1, "changes") | (writes & port.err), "changed")
        self.stores = self.named(
            cache.store & (cache.word == self.place) & self.of_lane(cache.store_mask), "stores"
        )
        #: Memory has changed otherwise than by a store, and no line has been dropped since.
        self.stale = Signal(name="stale")
        m.d.sync += self.stale.eq((self.stale | changes) & ~cache.invalidate)
        with m.If(changes):
            m.d.sync += self.memory.eq(new)
        with m.Elif(writes):
            m.d.sync += self.memory.eq(self.byte(port.dat_w))
        remain = Cat(self.to_byte[0] & ~port.store_done, self.to_byte[1:]).any()
        with m.If(self.stores):
            m.d.sync += self.expected.eq(self.byte(cache.store_data))
        with m.Elif(changes & ~remain):
            m.d.sync += self.expected.eq(new)
        #: Memory has changed while the line was read or the load waited for its answer.
        self.moved = self.held(changes & self.busy, ~self.busy, "moved")
        fails = cache.answer.valid & cache.answer.error & (cache.request.word == self.place)
        #: The byte's word was read, in an error.
        self.broken = self.held(fails, ~self.busy, "broken")

    def byte(self, word: Value) -> Value:
        return word.word_select(self.lane, 8)

    def of_lane(self, mask: Value) -> Value:
        return mask.bit_select(self.lane, 1)

    def cached_byte(self) -> Value:
        """What the cache holds in the byte's place."""
        rows = (self.row(memory, self.place[: self.index_bits]) for memory in self._byte_memories)
        return self.byte(Cat(rows))

    def tag_row(self) -> Value:
        """The valid bit and the tag of that place."""
        return self.row(self._tag_memory, self.set_of(self.place))

    def set_of(self, word: Value) -> Value:
        return word[self.line_bits : self.index_bits]

    def is_cached(self, word: Value) -> Value:
        return is_local(word << 2, self.params.cached)


def _inputs(part: wiring.Component) -> list[str]:
    return [name for name, member in part.signature.members.items() if member.flow is wiring.In]


def coherence(bench: CacheBench, seen: bool) -> None:
    """A load, hit or miss, reads each byte as the last store left it, whichever tier's that was."""
    cache, m = bench.cache, bench.m
    looks_up = cache.hit & (cache.word == bench.place) & ~cache.store
    bench.prove(
        "hit_reads_the_last_store",
        bench.past(looks_up & ~bench.stale),
        bench.byte(cache.read_data) == bench.past(bench.expected),
        seen=seen,
    )
    # Block RAM may give anything for a row that is written at the same time.
    same_row = (cache.request.word ^ bench.place)[: bench.index_bits] == 0
    bench.prove("hit_reads_a_row_at_rest", looks_up, ~(cache.answer.valid & same_row), seen=seen)
    answers = cache.load_done.valid & (cache.load_done.tier == bench.tier)
    here = answers & bench.asked_here
    bench.prove("answers_who_asked", answers, bench.asked, seen=seen)
    bench.prove(
        "miss_reads_the_last_store",
        here & ~cache.load_error & ~bench.moved,
        bench.byte(cache.load_data) == bench.expected,
        seen=seen,
    )
    bench.prove("error_is_of_its_word", here, cache.load_error == bench.broken, seen=seen)
    # So those that follow a load of their tier are not seen by it.
    bench.prove(
        "only_urgent_stores_pass_a_load",
        cache.store & cache.load.valid,
        cache.store_tier > cache.load.tier,
        seen=seen,
    )
    own_last = Signal(name="own_last")
    with m.If(bench.stores):
        m.d.sync += own_last.eq(cache.store_tier == bench.tier)
    bench.prove(
        "fence_leaves_it_in_memory",
        own_last & ~cache.stores_open.bit_select(bench.tier, 1),
        bench.memory == bench.expected,
        seen=seen,
    )
    if seen:
        stored = bench.held(bench.stores & cache.hit, cache.invalidate, "stored")
        bench.cover("hit_after_a_store", looks_up & stored & ~bench.stale & (bench.expected != 0))
        bench.cover("miss_again", here & stored & ~bench.moved & (bench.expected != 0))
        bench.cover("error", here & cache.load_error)
    _suppose(bench, own_last)


def _suppose(bench: CacheBench, own_last: Signal) -> None:
    """What the induction needs to know of the states."""
    cache, tags, queue, busy = bench.cache, bench.tags, bench.queue, bench.busy
    place, expected = bench.place, bench.expected
    fills, done, owns = cache.request.valid, cache.load_done, MemoryPort.Owner
    word, beat = tags.write_word, cache.request.word[: bench.line_bits]
    returns = bench.watch("cache.returns", 4)
    spoilt = bench.watch("cache.spoilt", 1)
    cleared = bench.watch("cache.tags.cleared", bench.index_bits - bench.line_bits)
    owner = bench.watch("port.owner", 2)
    first, last = (bench.watch(f"cache.queue.{name}", 4) for name in ("consume", "produce"))
    counts = (bench.watch(f"cache.stores{tier}", 4) for tier in range(bench.params.tiers))
    count = Cat(counts).word_select(bench.tier, 4)
    tag_row, cached_byte = bench.tag_row(), bench.cached_byte()
    tag = place[bench.index_bits : bench.params.cached.size_log2 - 2]
    is_there = (tag_row == Cat(1, tag)) & ~tags.clearing
    has_come = done.valid | (beat > place[: bench.line_bits])
    of_line = word[bench.line_bits :] == place[bench.line_bits :]
    of_place = word == place
    has_word = busy & of_place & has_come
    for name, trigger, condition in (
        ("line", is_there & ~bench.stale, cached_byte == expected),
        (
            "line_so_far",
            fills & of_line & has_come & ~bench.stale & ~spoilt,
            cached_byte == expected,
        ),
        ("no_line_meanwhile", fills & (bench.set_of(word) == bench.set_of(place)), ~tag_row[0]),
        ("cleared", tags.clearing & (cleared > bench.set_of(place)), ~tag_row[0]),
        ("clears_all", ~tags.clearing, cleared == 0),
        (
            "word",
            has_word & ~cache.load_error & ~bench.moved,
            bench.byte(cache.load_data) == expected,
        ),
        ("word_failed", has_word, cache.load_error == bench.broken),
        ("broken", busy & bench.broken, of_line & has_come),
        ("load", busy, cache.load.valid & bench.is_cached(word)),
        (
            "load_of_tier",
            busy & (done.tier == bench.tier),
            bench.asked & (of_place == bench.asked_here),
        ),
        ("no_stores_meanwhile", busy, (queue.level == 0) & (returns == 0)),
        ("reads_for_the_cache", owner == owns.DATA.value, fills),
        ("stores_for_the_cache", owner == owns.STORE.value, queue.level != 0),
        ("queue", True, (queue.level <= bench.most_stores) & ((first + queue.level)[:4] == last)),
        ("newest", True, Mux(bench.to_byte.any(), bench.last_value, bench.memory) == expected),
        ("newest_of_tier", bench.to_byte.any() & own_last, bench.last_of_tier),
        ("count", True, count == sum(bench.of_tier)),
    ):
        bench.lemma(f"supposed_{name}", condition, given=trigger)


def _bench(params: CoreParams, seen: bool) -> CacheBench:
    bench = CacheBench(params)
    coherence(bench, seen)
    return bench


CHECKS = [
    Check(
        name=name,
        claim=coherence.__doc__,
        build=partial(_bench, params, seen),
        depth=depth,
        cover_depth=20,
        method=Method.INDUCTION,
        short=True,
    )
    for name, params, seen, depth in (
        # Deeper than the proof needs, so that most bugs are shown from reset on.
        ("data-cache", TINY, True, 8),
        ("data-cache-8k", USUAL, False, 1),
    )
]
