"""Two ways to a memory that takes whole words only: no byte is lost, whoever stores it."""

from __future__ import annotations

import random

import pytest
from bus_model import lane_bits, merged
from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import passive, run_simulation

from tierv.soc.whole_words import WholeWords

WORDS = 4
EVERY = 0b1111
#: Of a transfer, the other way's before included.
MOST_CYCLES = 100


def bus() -> wishbone.Interface:
    return wishbone.Interface(data_width=32, address_width=32, addressing="word")


class Bench(LiteXModule):
    """One memory behind two buses, of which each takes its time."""

    def __init__(self) -> None:
        self.words = [0] * WORDS
        self.memories = [bus(), bus()]
        self.first = WholeWords(self.memories[0])
        self.second = WholeWords(self.memories[1], self.first)
        self.buses = [self.first.bus, self.second.bus]

    @passive
    def serve(self, index: int):
        rng = random.Random(index)
        memory = self.memories[index]
        while True:
            if (yield memory.cyc) and (yield memory.stb):
                for _ in range(rng.randrange(4)):
                    yield
                address = yield memory.adr
                if (yield memory.we):
                    assert (yield memory.sel) == EVERY
                    self.words[address] = yield memory.dat_w
                yield memory.dat_r.eq(self.words[address])
                yield memory.ack.eq(1)
                yield
                yield memory.ack.eq(0)
            yield

    def transfer(self, index: int, address: int, value: int | None, mask: int = EVERY):
        """Returns what was read."""
        port = self.buses[index]
        yield port.cyc.eq(1)
        yield port.stb.eq(1)
        yield port.we.eq(value is not None)
        yield port.adr.eq(address)
        yield port.dat_w.eq(value or 0)
        yield port.sel.eq(mask)
        yield
        waited = 0
        while not (yield port.ack):
            waited += 1
            assert waited < MOST_CYCLES
            yield
        read = yield port.dat_r
        yield port.cyc.eq(0)
        yield port.stb.eq(0)
        yield
        return read


@pytest.mark.parametrize("seed", range(4))
def test_each_way_finds_what_it_has_stored_beside_the_others_bytes(seed):
    bench = Bench()
    done = []

    def drive(index: int):
        # Of each word one half is this one's.
        rng = random.Random(10 * seed + index)
        mine = [0] * WORDS
        for _ in range(200):
            address = rng.randrange(WORDS)
            if rng.random() < 0.3:
                read = yield from bench.transfer(index, address, None)
                assert read & lane_bits(0b11 << 2 * index) == mine[address]
            else:
                mask = rng.randrange(1, 4) << 2 * index
                value = rng.getrandbits(32)
                yield from bench.transfer(index, address, value, mask)
                mine[address] = merged(mine[address], value, mask)
        done.append(index)

    drivers = [drive(0), drive(1), bench.serve(0), bench.serve(1)]
    run_simulation(bench, drivers)
    assert sorted(done) == [0, 1]


def test_a_whole_word_is_stored_without_a_look_at_it():
    bench = Bench()
    bench.words = [0x1111_1111] * WORDS
    loads = []

    @passive
    def watch():
        memory = bench.memories[0]
        while True:
            if (yield memory.cyc) and not (yield memory.we):
                loads.append((yield memory.adr))
            yield

    def drive():
        yield from bench.transfer(0, 2, 0x600D_CAFE)

    run_simulation(bench, [drive(), bench.serve(0), watch()])
    assert bench.words[2] == 0x600D_CAFE
    assert not loads


@pytest.mark.parametrize("whole", [0, 1])
def test_a_whole_word_is_not_undone_by_bytes_of_the_other_way(whole):
    bench = Bench()

    def words():
        rng = random.Random(whole)
        for _ in range(100):
            value = rng.getrandbits(32)
            yield from bench.transfer(whole, 0, value)
            read = yield from bench.transfer(whole, 0, None)
            # The other one has only the last byte.
            assert read & lane_bits(0b0111) == value & lane_bits(0b0111)

    def some_bytes():
        rng = random.Random(5)
        for _ in range(150):
            yield from bench.transfer(1 - whole, 0, rng.getrandbits(32), 0b1000)

    run_simulation(bench, [words(), some_bytes(), bench.serve(0), bench.serve(1)])


def test_whatever_is_no_store_is_the_memorys_in_the_same_cycle():
    way = WholeWords(memory := bus())
    rng = random.Random(3)
    given = [way.bus.cyc, way.bus.stb, way.bus.we, way.bus.adr, way.bus.cti, way.bus.bte]
    taken = [memory.cyc, memory.stb, memory.we, memory.adr, memory.cti, memory.bte]
    answers = [memory.ack, memory.err, memory.dat_r]
    answered = [way.bus.ack, way.bus.err, way.bus.dat_r]

    def drive():
        for _ in range(100):
            values = [rng.getrandbits(len(signal)) for signal in given + answers]
            # A store is another matter, half of one is none.
            if values[0] and values[1]:
                values[2] = 0
            for signal, value in zip(given + answers, values, strict=True):
                yield signal.eq(value)
            yield
            values[2] = 0
            for signal, value in zip(taken + answered, values, strict=True):
                assert (yield signal) == value

    run_simulation(way, drive())


@pytest.mark.parametrize("mask", [0b0001, EVERY])
@pytest.mark.parametrize("patience", range(1, 8))
@pytest.mark.parametrize("stores", [False, True])
def test_a_store_that_is_given_up_does_not_become_another(mask, patience, stores):
    bench = Bench()
    bench.words = [0x1111_1111] * WORDS
    read = []

    def drive():
        port = bench.buses[0]
        yield port.cyc.eq(1)
        yield port.stb.eq(1)
        yield port.we.eq(1)
        yield port.adr.eq(1)
        yield port.dat_w.eq(0xAAAA_AAAA)
        yield port.sel.eq(mask)
        for _ in range(patience):
            yield
            if (yield port.ack):
                break
        # Another's access follows at once.
        if stores:
            yield from bench.transfer(0, 2, 0x2222_2222)
        read.append((yield from bench.transfer(0, 2, None)))
        read.append((yield from bench.transfer(0, 1, None)))

    run_simulation(bench, [drive(), bench.serve(0)])
    assert read[0] == (0x2222_2222 if stores else 0x1111_1111)
    assert read[1] in (0x1111_1111, merged(0x1111_1111, 0xAAAA_AAAA, mask))
    assert bench.words[0] == bench.words[3] == 0x1111_1111
