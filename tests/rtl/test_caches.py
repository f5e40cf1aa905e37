"""The caches by themselves: random accesses, wait states and bus errors, against a memory."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator
from bus_model import merged

from tierv.rtl.cache.data import QUEUE_DEPTH, DataCache
from tierv.rtl.cache.instruction import InstructionCache
from tierv.rtl.cache.join import join_data_port
from tierv.rtl.cache.port import Cycle, MemoryPort
from tierv.rtl.params import CachedRegion, CoreParams

BASE = 0x4000_0000 >> 2
#: Lines of 16 bytes that share places of a cache of 1 KiB, by their first words.
LINES = [BASE + line * 4 + way * 256 for way in range(3) for line in (0, 1, 37, 63)]
#: Words whose transactions end in an error.
BROKEN = {BASE + 2, BASE + 4 * 37 + 256}
PARAMS = CoreParams(
    tiers=2,
    icache_bytes=1 << 10,
    dcache_bytes=1 << 10,
    cache_line_bytes=16,
    cached=CachedRegion(base=BASE << 2, size_bytes=1 << 17),
)
STEPS = 200


class Memory:
    """What the memory port reaches; answers after a random number of cycles."""

    def __init__(self, rng: random.Random, wait_states: int) -> None:
        self._rng = rng
        self._wait_states = wait_states
        self.words = {line + word: rng.getrandbits(32) for line in LINES for word in range(4)}
        #: First words of the bursts that were read.
        self.bursts: list[int] = []

    async def serve(self, ctx, port: MemoryPort) -> None:
        burst = False
        while True:
            await ctx.tick()
            if not (ctx.get(port.cyc) and ctx.get(port.stb)):
                continue
            for _ in range(self._rng.randint(0, self._wait_states)):
                await ctx.tick()
            word = ctx.get(port.adr)
            kind = ctx.get(port.cti)
            if ctx.get(port.we):
                assert kind == Cycle.CLASSIC
                if word not in BROKEN:
                    self.words[word] = merged(
                        self.words[word], ctx.get(port.dat_w), ctx.get(port.sel)
                    )
            else:
                if not burst:
                    self.bursts.append(word)
                burst = kind == Cycle.INCREMENTING
            ctx.set(port.err, word in BROKEN)
            ctx.set(port.ack, word not in BROKEN)
            ctx.set(port.dat_r, 0 if word in BROKEN else self.words[word])
            await ctx.tick()
            ctx.set(port.err, 0)
            ctx.set(port.ack, 0)


def simulate(m: Module, memory: Memory, port: MemoryPort, bench) -> None:
    """Run the bench beside the memory, which goes on as long as it does."""
    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)

    async def serve(ctx) -> None:
        await memory.serve(ctx, port)

    simulator.add_testbench(serve, background=True)
    simulator.run()


def some_word(rng: random.Random) -> int:
    return rng.choice(LINES) + rng.randrange(4)


@pytest.mark.parametrize("wait_states", [0, 3])
def test_loads_see_the_last_store_and_a_broken_word_faults_alone(wait_states: int) -> None:
    rng = random.Random(wait_states)
    memory = Memory(rng, wait_states)
    expected = dict(memory.words)
    cache, port = DataCache(PARAMS), MemoryPort(PARAMS)
    m = Module()
    m.submodules += [cache, port]
    join_data_port(m, cache, port)
    failures = Signal(16)
    m.d.sync += failures.eq(failures + cache.store_failed.valid)
    counts = dict.fromkeys(("hits", "misses", "errors", "full", "broken"), 0)

    async def store(ctx) -> None:
        word, mask, value = some_word(rng), rng.randrange(1, 16), rng.getrandbits(32)
        ctx.set(cache.word, word)
        while not ctx.get(cache.room):
            counts["full"] += 1
            await ctx.tick()
        ctx.set(cache.store_mask, mask)
        ctx.set(cache.store_data, value)
        ctx.set(cache.store, 1)
        await ctx.tick()
        ctx.set(cache.store, 0)
        if word in BROKEN:
            counts["broken"] += 1
        else:
            expected[word] = merged(expected[word], value, mask)

    async def load(ctx) -> None:
        word = some_word(rng)
        ctx.set(cache.word, word)
        hit = ctx.get(cache.hit)
        await ctx.tick()
        if hit:
            counts["hits"] += 1
            assert ctx.get(cache.read_data) == expected[word]
            return
        counts["misses"] += 1
        ctx.set(cache.load.valid, 1)
        ctx.set(cache.load_word, word)
        while not ctx.get(cache.load_done.valid):
            assert not ctx.get(cache.room)
            await ctx.tick()
        assert ctx.get(cache.load_error) == (word in BROKEN)
        counts["errors"] += word in BROKEN
        assert word in BROKEN or ctx.get(cache.load_data) == expected[word]
        ctx.set(cache.load_taken, 1)
        await ctx.tick()
        ctx.set(cache.load_taken, 0)
        ctx.set(cache.load.valid, 0)

    async def bench(ctx) -> None:
        for _ in range(STEPS):
            for _ in range(rng.choice((1, 1, 1, 1, 2 * QUEUE_DEPTH))):
                await store(ctx)
            for _ in range(rng.randrange(6)):
                await load(ctx)
            if rng.random() < 0.01:
                ctx.set(cache.invalidate, 1)
                await ctx.tick()
                ctx.set(cache.invalidate, 0)
        while ctx.get(cache.stores_open):
            await ctx.tick()
        assert ctx.get(failures) == counts["broken"] > 0

    simulate(m, memory, port, bench)
    assert memory.words == expected
    assert all(counts[name] for name in ("hits", "misses", "errors")), counts
    assert counts["full"] or not wait_states


@pytest.mark.parametrize("wait_states", [0, 3])
def test_pairs_are_those_of_memory_while_lines_come_and_go(wait_states: int) -> None:
    rng = random.Random(wait_states)
    memory = Memory(rng, wait_states)
    cache, port = InstructionCache(PARAMS), MemoryPort(PARAMS)
    m = Module()
    m.submodules += [cache, port]
    m.d.comb += [port.instruction.eq(cache.request), cache.answer.eq(port.instruction_answer)]
    counts = dict.fromkeys(("hits", "misses", "faults", "cancelled"), 0)

    def check(words: list[int], faults: int, pc: int) -> None:
        for half, found in enumerate(words):
            word = (pc & ~1) + half
            assert (faults >> half & 1) == (word in BROKEN)
            assert word in BROKEN or found == memory.words[word]

    async def bench(ctx) -> None:
        # What is in F; what has been missed, and whether it may be older than memory is.
        pc = some_word(rng)
        stale = False
        for _ in range(12 * STEPS):
            ctx.set(cache.pc, pc)
            busy = ctx.get(cache.busy)
            if ctx.get(cache.hit):
                counts["hits"] += 1
                check([ctx.get(word) for word in cache.words], 0, pc)
            elif not busy:
                counts["misses"] += 1
                missed, stale = pc, False
                ctx.set(cache.start, 1)
            if busy and rng.random() < 0.01:
                counts["cancelled"] += 1
                ctx.set(cache.cancel, 1)
            elif ctx.get(cache.done):
                if not stale:
                    faults = ctx.get(cache.missed_faults)
                    counts["faults"] += faults != 0
                    check([ctx.get(word) for word in cache.missed_words], faults, missed)
                ctx.set(cache.taken, 1)
            if rng.random() < 0.003:
                memory.words |= {some_word(rng): rng.getrandbits(32) for _ in range(8)}
                ctx.set(cache.invalidate, 1)
                stale = True
            following = some_word(rng)
            ctx.set(cache.lookup_pc, following)
            await ctx.tick()
            for signal in (cache.start, cache.cancel, cache.taken, cache.invalidate):
                ctx.set(signal, 0)
            pc = following

    simulate(m, memory, port, bench)
    assert all(counts.values()), counts


@pytest.mark.parametrize("line_bytes", [16, 64, 128])
def test_a_line_is_read_once_in_one_burst_from_its_first_word_on(line_bytes: int) -> None:
    params = replace(PARAMS, cache_line_bytes=line_bytes)
    memory = Memory(random.Random(0), 0)
    memory.words = {BASE + 4096 + word: word for word in range(64)}
    cache, port = DataCache(params), MemoryPort(params)
    m = Module()
    m.submodules += [cache, port]
    m.d.comb += [port.data.eq(cache.request), cache.answer.eq(port.data_answer)]

    async def bench(ctx) -> None:
        # Wait until nothing is dropped after reset.
        await ctx.tick().repeat(PARAMS.dcache_bytes // 16 + 1)
        for word in range(line_bytes // 4):
            ctx.set(cache.word, BASE + 4096 + word)
            assert ctx.get(cache.hit) == (word != 0)
            if word == 0:
                ctx.set(cache.load_word, BASE + 4096 + 3)
                ctx.set(cache.load.valid, 1)
                await ctx.tick().until(cache.load_done.valid)
                assert ctx.get(cache.load_data) == 3
                ctx.set(cache.load_taken, 1)
                ctx.set(cache.load.valid, 0)
            await ctx.tick()
            assert word == 0 or ctx.get(cache.read_data) == word

    simulate(m, memory, port, bench)
    assert memory.bursts == [BASE + 4096]


@pytest.mark.parametrize("period", [1, 13])
@pytest.mark.parametrize("kind", [InstructionCache, DataCache])
def test_a_line_comes_however_often_lines_are_dropped(kind, period: int) -> None:
    memory = Memory(random.Random(0), 0)
    cache, port = kind(PARAMS), MemoryPort(PARAMS)
    m = Module()
    m.submodules += [cache, port]
    if kind is InstructionCache:
        request, answer, done = port.instruction, port.instruction_answer, cache.done
        wants = [(cache.pc, LINES[0]), (cache.start, 1)]
    else:
        request, answer, done = port.data, port.data_answer, cache.load_done.valid
        wants = [(cache.load_word, LINES[0]), (cache.load.valid, 1)]
    m.d.comb += [request.eq(cache.request), cache.answer.eq(answer)]

    async def bench(ctx) -> None:
        for signal, value in wants:
            ctx.set(signal, value)
        # A line is dropped in each cycle, then there is time for one to come.
        cycles = 0
        while not ctx.get(done):
            ctx.set(cache.invalidate, cycles % period == 0)
            await ctx.tick()
            cycles += 1
            assert cycles < PARAMS.icache_bytes // PARAMS.cache_line_bytes + 20
        assert memory.bursts == [LINES[0]]

    simulate(m, memory, port, bench)


def test_each_tier_finds_room_for_one_store_more_than_the_one_below() -> None:
    cache = DataCache(PARAMS)
    m = Module()
    m.submodules += cache

    async def bench(ctx) -> None:
        ctx.set(cache.store, 1)
        for waiting in range(QUEUE_DEPTH + PARAMS.tiers):
            for tier in range(PARAMS.tiers):
                ctx.set(cache.store_tier, tier)
                assert ctx.get(cache.room) == (waiting < QUEUE_DEPTH + tier)
            await ctx.tick()

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_a_fence_waits_for_the_stores_of_its_own_tier() -> None:
    cache, port = DataCache(PARAMS), MemoryPort(PARAMS)
    m = Module()
    m.submodules += [cache, port]

    async def bench(ctx) -> None:
        ctx.set(cache.word, LINES[0])
        ctx.set(cache.store_tier, 1)
        ctx.set(cache.store, 1)
        for _ in range(QUEUE_DEPTH + 1):
            assert ctx.get(cache.room)
            await ctx.tick()
        ctx.set(cache.store, 0)
        assert not ctx.get(cache.room)
        assert ctx.get(cache.stores_open) == 0b10
        for left in reversed(range(QUEUE_DEPTH + 1)):
            ctx.set(cache.memory_store_done, 1)
            await ctx.tick()
            ctx.set(cache.memory_store_done, 0)
            assert ctx.get(cache.stores_open) == (0b10 if left else 0)

    simulate(m, Memory(random.Random(0), 0), port, bench)
