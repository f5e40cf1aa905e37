"""The way from the memory port to LiteDRAM: lines and stores, for memories of every width."""

from __future__ import annotations

import random
from collections import deque

import pytest
from bus_model import merged
from litedram.common import LiteDRAMNativePort
from litedram.frontend.adapter import LiteDRAMNativePortConverter
from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import passive, run_simulation

from tierv.rtl.cache.port import Cycle
from tierv.soc.line_reader import LineReader

#: No multiple of the size of what the port reaches.
BASE = 0x4000_0400
LINE_BYTES = 32
LINE_WORDS = LINE_BYTES // 4
MEMORY_BYTES = 1024
#: Of a word.
MOST_CYCLES = 200


class Bench(LiteXModule):
    """A line reader in front of a memory of ``width`` bits, which takes its time."""

    def __init__(self, width: int, seed: int) -> None:
        self._rng = random.Random(seed)
        self.memory = bytearray(self._rng.randbytes(MEMORY_BYTES))
        self.bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self.port = LiteDRAMNativePort("both", address_width=24, data_width=width)
        wide = self.port
        if width < 32:
            wide = LiteDRAMNativePort("both", address_width=23, data_width=32)
            self.converter = LiteDRAMNativePortConverter(wide, self.port)
        self.reader = LineReader(self.bus, wide, base=BASE, line_bytes=LINE_BYTES)
        #: Addresses of the commands that the memory has got.
        self.commands: list[tuple[str, int]] = []

    @passive
    def serve(self):
        """The memory: commands in order, words some cycles later, without waiting for anyone."""
        port, rng = self.port, self._rng
        step = port.data_width // 8
        reads, writes = deque(), deque()
        cycle = 0
        while True:
            if (yield port.cmd.valid) and (yield port.cmd.ready):
                address = (yield port.cmd.addr) * step
                if (yield port.cmd.we):
                    writes.append(address)
                    self.commands.append(("write", address))
                else:
                    reads.append((cycle + 5, address))
                    self.commands.append(("read", address))
            if (yield port.wdata.valid) and (yield port.wdata.ready):
                address, value = writes.popleft(), (yield port.wdata.data)
                mask = yield port.wdata.we
                for byte in range(step):
                    if mask >> byte & 1:
                        self.memory[address + byte] = value >> 8 * byte & 0xFF
            yield port.cmd.ready.eq(rng.random() < 0.6)
            yield port.wdata.ready.eq(len(writes) > 0 and rng.random() < 0.6)
            due = bool(reads) and reads[0][0] <= cycle
            yield port.rdata.valid.eq(due)
            if due:
                address = reads.popleft()[1]
                word = self.memory[address : address + step]
                yield port.rdata.data.eq(int.from_bytes(word, "little"))
            yield
            cycle += 1

    def transfer(self, word: int, cti: Cycle, value: int | None = None, mask: int = 0b1111):
        """One word, which the bus does not leave; returns what was read."""
        bus = self.bus
        yield bus.cyc.eq(1)
        yield bus.stb.eq(1)
        yield bus.adr.eq(BASE // 4 + word)
        yield bus.cti.eq(cti)
        yield bus.we.eq(value is not None)
        yield bus.dat_w.eq(value or 0)
        yield bus.sel.eq(mask)
        yield
        waited = 0
        while not (yield bus.ack):
            waited += 1
            assert waited < MOST_CYCLES
            yield
        return (yield bus.dat_r)

    def release(self):
        """Leave the bus for a cycle."""
        yield self.bus.cyc.eq(0)
        yield self.bus.stb.eq(0)
        yield

    def expected(self, word: int) -> int:
        """What the memory holds."""
        return int.from_bytes(self.memory[4 * word : 4 * word + 4], "little")


@pytest.mark.parametrize("width", [16, 32, 64, 128, 256])
def test_lines_words_and_stores_in_any_order_are_those_of_the_memory(width):
    bench = Bench(width, seed=width)
    rng = random.Random(width)

    def drive():
        for _ in range(80):
            kind, word = rng.choice(["line", "word", "store"]), rng.randrange(MEMORY_BYTES // 4)
            if kind == "word":
                read = yield from bench.transfer(word, rng.choice([Cycle.CLASSIC, Cycle.END]))
                assert read == bench.expected(word)
                yield from bench.release()
            elif kind == "store":
                old, value, mask = bench.expected(word), rng.getrandbits(32), rng.randrange(1, 16)
                yield from bench.transfer(word, Cycle.CLASSIC, value, mask)
                yield from bench.release()
                wanted.append((word, merged(old, value, mask)))
            else:
                first = word - word % LINE_WORDS
                for word in range(first, first + LINE_WORDS):
                    last = word == first + LINE_WORDS - 1
                    cti = Cycle.END if last else Cycle.INCREMENTING
                    read = yield from bench.transfer(word, cti)
                    assert read == bench.expected(word)
                yield from bench.release()
            while wanted:
                word, value = wanted.pop()
                assert bench.expected(word) == value

    wanted: list[tuple[int, int]] = []
    run_simulation(bench, [drive(), bench.serve()])


def test_a_line_is_asked_for_at_once():
    bench = Bench(64, seed=0)

    def drive():
        yield from bench.transfer(LINE_WORDS, Cycle.INCREMENTING)
        assert len(bench.commands) >= 3

    run_simulation(bench, [drive(), bench.serve()])
    assert bench.commands[:3] == [("read", LINE_BYTES + 8 * beat) for beat in range(3)]


@pytest.mark.parametrize("width", [32, 64])
def test_a_word_alone_is_asked_for_alone(width):
    bench = Bench(width, seed=1)

    def drive():
        yield from bench.transfer(5, Cycle.CLASSIC)
        yield from bench.release()
        yield from bench.transfer(LINE_WORDS, Cycle.END)
        yield from bench.release()

    run_simulation(bench, [drive(), bench.serve()])
    step = width // 8
    assert bench.commands == [("read", 20 // step * step), ("read", LINE_BYTES)]


@pytest.mark.parametrize("we", [0, 1])
@pytest.mark.parametrize("cyc", [0, 1])
def test_half_an_access_is_none(we, cyc):
    bench = Bench(64, seed=0)

    def drive():
        yield bench.bus.cyc.eq(cyc)
        yield bench.bus.stb.eq(1 - cyc)
        yield bench.bus.we.eq(we)
        for _ in range(10):
            yield
            assert not (yield bench.port.cmd.valid)

    run_simulation(bench, [drive(), bench.serve()])


@pytest.mark.parametrize("width", [16, 512])
def test_a_memory_of_another_width_is_refused(width):
    bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
    port = LiteDRAMNativePort("both", address_width=24, data_width=width)
    with pytest.raises(ValueError, match=rf"from 32 to 256 bits .* not {width}"):
        LineReader(bus, port, base=BASE, line_bytes=LINE_BYTES)
