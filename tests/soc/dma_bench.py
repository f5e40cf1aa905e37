"""The rings of the Ethernet DMA under cocotb: memory, the processor's side, and a MAC."""

from __future__ import annotations

import random
from collections import deque

from csr_bench import CsrBench
from litex.gen import LiteXModule
from mac_stream import FrameCollector, Word, offer, stream_pins, words_of
from migen import If, Memory, Mux, Record, Signal

from tierv.soc.dma.descriptor import (
    LENGTH_BITS,
    OWNED_BIT,
    RECEIVE_CRC_BIT,
    RECEIVE_DATAGRAM_BIT,
    RECEIVE_LENGTH_LSB,
    RECEIVE_LONG_BIT,
    RECEIVE_TRUNCATED_BIT,
    TRANSMIT_EVENT_BIT,
    TRANSMIT_PLACE_LSB,
    TRANSMIT_START_LSB,
    TRANSMIT_SUM_BIT,
    WORDS,
)
from tierv.soc.dma.ethernet import FrameRings

MEMORY_BYTES = 16 << 10
#: Where the tests have the rings and the buffers.
RECEIVE_RING, TRANSMIT_RING, BUFFERS = 0x1A8, 0x558, 0x1000
SEED = 7
RECEIVE, TRANSMIT, KEEP_WRONG, KEEP_LONG = 1, 2, 4, 8
EVENT_RECEIVED, EVENT_SENT = 1, 2
OWNED = 1 << OWNED_BIT
DESCRIPTOR_BYTES = 4 * WORDS


def make_rings(*, whole_frames: bool = False) -> tuple[LiteXModule, list[Signal | Record]]:
    """The block and its pins: rings on a memory with a port of the processor's.

    It answers the rings and the bus where the upper bits of an address are those of ``window``;
    elsewhere nothing is written, and what is read is the complement.
    """
    block = FrameRings(whole_frames=whole_frames)
    memory = Memory(32, MEMORY_BYTES // 4)
    inner = memory.get_port(write_capable=True, we_granularity=8)
    processor = memory.get_port(write_capable=True, we_granularity=8)
    block.specials += [memory, inner, processor]
    bus = block.port.memory
    word_bits = len(inner.adr)
    selected = Signal()
    window = Signal(len(bus.adr) - word_bits, name="window")
    within = Signal()
    within_before = Signal()
    pins = Record([("adr", word_bits), ("we", 4), ("dat_w", 32), ("dat_r", 32)], name="processor")
    irq = Signal(name="irq")
    block.sync += [bus.ack.eq(selected), within_before.eq(within)]
    block.comb += [
        selected.eq(bus.cyc & bus.stb),
        within.eq(bus.adr[word_bits:] == window),
        inner.adr.eq(bus.adr),
        inner.dat_w.eq(bus.dat_w),
        If(selected & bus.we & within, inner.we.eq(bus.sel)),
        bus.dat_r.eq(Mux(within_before, inner.dat_r, ~inner.dat_r)),
        processor.adr.eq(pins.adr),
        processor.we.eq(pins.we),
        processor.dat_w.eq(pins.dat_w),
        pins.dat_r.eq(processor.dat_r),
        irq.eq(block.ev.irq),
    ]
    host = Record(
        [
            ("cyc", 1),
            ("stb", 1),
            ("we", 1),
            ("adr", 30),
            ("dat_w", 32),
            ("dat_r", 32),
            ("sel", 4),
            ("ack", 1),
        ],
        name="host",
    )
    for name in ("cyc", "stb", "we", "adr", "dat_w", "sel"):
        block.comb += getattr(block.port.bus, name).eq(getattr(host, name))
    block.comb += [
        host.dat_r.eq(block.port.bus.dat_r),
        host.ack.eq(block.port.bus.ack),
    ]
    spy = Record([("valid", 1), ("adr", word_bits), ("sel", 4)], name="spy")
    block.comb += [
        spy.valid.eq(selected & bus.we & within),
        spy.adr.eq(bus.adr),
        spy.sel.eq(bus.sel),
    ]
    return block, [pins, irq, window, *stream_pins(block, block.sink, block.source), host, spy]


class DmaBench(CsrBench):
    """One clock cycle at a time; frames come and go on their own."""

    def __init__(self, dut) -> None:
        super().__init__(dut)
        self.rng = random.Random(SEED)
        #: Words of frames that are to come.
        self.words: deque[Word] = deque()
        #: Chance in each cycle that a word comes, and that the MAC takes one.
        self.come = self.take = 1.0
        #: Frames that the MAC got, and words.
        self._collector = FrameCollector()
        self.sent = self._collector.frames
        self.words_sent = 0
        for name in (
            "processor_adr",
            "processor_we",
            "processor_dat_w",
            "sink_valid",
            "sink_last",
            "sink_data",
            "sink_last_be",
            "sink_error",
            "source_ready",
            "host_cyc",
            "host_stb",
            "host_we",
            "host_adr",
            "host_dat_w",
            "host_sel",
            "window",
        ):
            getattr(dut, name).value = 0
        self._offered = False
        #: Addresses of the bytes that the block wrote.
        self.written: set[int] = set()

    async def step(self, cycles: int = 1) -> None:
        """Let so many cycles pass; words move."""
        dut = self.dut
        for _ in range(cycles):
            if not self._offered and self.words and self.rng.random() < self.come:
                offer(dut, self.words[0])
                self._offered = True
            dut.source_ready.value = self.rng.random() < self.take
            self._moved = False
            await super().step()
            if self._moved:
                self.words.popleft()
                self._offered = False
                dut.sink_valid.value = 0

    def look(self) -> None:
        """Before each clock edge: what moves with it."""
        dut = self.dut
        if dut.spy_valid.value:
            sel, address = int(dut.spy_sel.value), 4 * int(dut.spy_adr.value)
            self.written |= {address + byte for byte in range(4) if sel >> byte & 1}
        self._moved = self._offered and bool(dut.sink_ready.value)
        if dut.source_valid.value and dut.source_ready.value:
            self.words_sent += 1
            self._collector.take(dut)

    async def begin(self, **registers: int) -> DmaBench:
        """Reset, and set registers."""
        self.each_cycle.append(self.look)
        await self.reset()
        for name, value in registers.items():
            await self.write(name, value)
        return self

    def untouched(self, begin: int, end: int) -> bool:
        """Whether the block has not written there since ``written`` was cleared."""
        return not self.written & set(range(begin, end))

    # --- the processor's side of memory

    async def put(self, address: int, data: bytes) -> None:
        """Write bytes, a word or less in a cycle."""
        dut = self.dut
        at = address
        while at < address + len(data):
            first = at % 4
            part = data[at - address : at - address + 4 - first]
            dut.processor_adr.value = at % MEMORY_BYTES // 4
            dut.processor_we.value = (1 << len(part)) - 1 << first
            dut.processor_dat_w.value = int.from_bytes(part, "little") << 8 * first
            await self.step()
            at += len(part)
        dut.processor_we.value = 0

    async def get(self, address: int, length: int) -> bytes:
        """Read bytes, a word in a cycle."""
        first = address // 4
        data = b""
        for word in range(first, (address + length + 3) // 4):
            self.dut.processor_adr.value = word % (MEMORY_BYTES // 4)
            await self.step()
            data += int(self.dut.processor_dat_r.value).to_bytes(4, "little")
        return data[address - 4 * first :][:length]

    async def put_word(self, address: int, value: int) -> None:
        await self.put(address, value.to_bytes(4, "little"))

    async def get_word(self, address: int) -> int:
        return int.from_bytes(await self.get(address, 4), "little")

    async def access(self, address: int, write: int | None = None) -> tuple[int, int]:
        """Read or write a word on the SoC's bus; returns what was read, and cycles it waited."""
        dut = self.dut
        dut.host_cyc.value = dut.host_stb.value = 1
        dut.host_we.value, dut.host_adr.value = write is not None, address // 4
        dut.host_dat_w.value, dut.host_sel.value = write or 0, 15
        waited = 0
        while not dut.host_ack.value:
            await self.step()
            waited += 1
        read = int(dut.host_dat_r.value)
        dut.host_cyc.value = dut.host_stb.value = 0
        await self.step()
        return read, waited

    # --- rings

    async def give_room(self, index: int, buffer: int, room: int) -> None:
        """Arm a receive descriptor."""
        await self.put_word(RECEIVE_RING + DESCRIPTOR_BYTES * index, buffer)
        await self.put_word(RECEIVE_RING + DESCRIPTOR_BYTES * index + 4, OWNED | room)

    async def received(self, index: int, wait: int = 3000) -> Received:
        """What a receive descriptor says when it has been given back."""
        for _ in range(wait):
            word = await self.get_word(RECEIVE_RING + DESCRIPTOR_BYTES * index + 4)
            if not word >> OWNED_BIT:
                return Received(word)
        raise AssertionError(f"receive descriptor {index} was not given back")

    async def give_frame(
        self,
        index: int,
        buffer: int,
        frame: bytes,
        *,
        checksum: tuple[int, int] | None = None,
        event: bool = False,
    ) -> None:
        """Arm a transmit descriptor; ``checksum`` is the bytes it begins with and goes to."""
        await self.put(buffer, frame)
        word = OWNED | len(frame) | event << TRANSMIT_EVENT_BIT
        if checksum:
            start, place = checksum
            word |= start // 2 << TRANSMIT_START_LSB | place // 2 << TRANSMIT_PLACE_LSB
            word |= 1 << TRANSMIT_SUM_BIT
        await self.put_word(TRANSMIT_RING + DESCRIPTOR_BYTES * index, buffer)
        await self.put_word(TRANSMIT_RING + DESCRIPTOR_BYTES * index + 4, word)

    async def until_sent(self, frames: int, wait: int = 5000) -> None:
        """Let time pass until the MAC has got so many frames."""
        for _ in range(wait):
            if len(self.sent) >= frames:
                return
            await self.step()
        raise AssertionError(f"{len(self.sent)} of {frames} frames were sent")

    def bring(self, frame: bytes, *, wrong: bool = False) -> None:
        """A frame will come."""
        self.words.extend(words_of(frame, wrong=wrong))

    async def until_taken(self, wait: int = 5000) -> None:
        """Let time pass until all frames are through."""
        for _ in range(wait):
            if not self.words:
                break
            await self.step()
        assert not self.words
        await self.step(40)


class Received:
    """The second word of a receive descriptor that was given back."""

    def __init__(self, word: int) -> None:
        self.length = word >> RECEIVE_LENGTH_LSB & (1 << LENGTH_BITS) - 1
        self.sum = word & 0xFFFF
        self.wrong = bool(word >> RECEIVE_CRC_BIT & 1)
        self.truncated = bool(word >> RECEIVE_TRUNCATED_BIT & 1)
        self.long = bool(word >> RECEIVE_LONG_BIT & 1)
        self.datagram = bool(word >> RECEIVE_DATAGRAM_BIT & 1)

    @property
    def good(self) -> bool:
        return not (self.wrong or self.truncated or self.long)


def ones_sum(data: bytes) -> int:
    """The one's-complement sum of halves in memory order (RFC 1071), as folding leaves it."""
    total = sum(
        int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "little") for at in range(0, len(data), 2)
    )
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
