"""The rings between wires of 1 Gbit/s: both at once, and one at the slowest system clock."""

from __future__ import annotations

import os
from collections import deque

import cocotb
from dma_bench import (
    BUFFERS,
    MEMORY_BYTES,
    OWNED,
    RECEIVE,
    RECEIVE_RING,
    TRANSMIT,
    TRANSMIT_RING,
    DmaBench,
)

from tierv.soc.params import GIGABIT_ETHERNET

WORD_CYCLES = float(os.environ["DMA_WORD_CYCLES"])
FASTEST_WORD_CYCLES = float(os.environ["DMA_FASTEST_WORD_CYCLES"])
#: At the slowest system clock, 39.7 MHz.
SLOWEST_WORD_CYCLES = 39.7e6 / (GIGABIT_ETHERNET / 32)
#: Words' time of a preamble, and of check sequence and gap.
PREAMBLE_WORDS, BETWEEN_WORDS = 2, 4
#: What LiteEth's MAC keeps on the way from the wire's clock to the system's.
QUEUE_WORDS = 32
#: For how long the bus, which always wants a word, waits for one at most.
BUS_CYCLES = 40
#: How many frames of so many bytes go and come.
COUNTS = {60: 20, 61: 20, 124: 16, 508: 4, 1514: 2}
#: A transmit ring of one descriptor, and frames of a lasting load.
EMPTY_RING, MANY = 0, 60
#: Bytes of a short frame.
SHORT = 64


class Wire:
    """When words pass: one at a time, and a pause between frames."""

    def __init__(self, word_cycles: float, *, behind_first: int = 0, behind_last: int) -> None:
        self._word_cycles = word_cycles
        #: Words' time in which there is none.
        self._behind_first, self._behind_last = behind_first, behind_last
        self._due = 0.0
        self._is_within = False

    def is_free(self, cycle: int) -> bool:
        """Whether a word may pass in the cycle."""
        return cycle >= self._due

    def passed(self, cycle: int, *, last: bool) -> None:
        """A word has passed, perhaps later than it might have."""
        words = 1 + self._behind_first * (not self._is_within) + self._behind_last * last
        self._is_within = not last
        self._due = max(self._due, cycle - self._word_cycles) + self._word_cycles * words


async def go_and_come(
    bench: DmaBench, incoming: list[bytes], outgoing: int, word_cycles: float = WORD_CYCLES
) -> None:
    """Bring the frames as the wire does, and take so many as it does: each without a gap.

    Meanwhile the bus reads all the time.
    """
    for frame in incoming:
        bench.bring(frame)
    coming, bench.words = bench.words, deque()
    from_wire = Wire(word_cycles, behind_last=BETWEEN_WORDS + PREAMBLE_WORDS)
    # The preamble is sent when a frame's first word is there.
    to_wire = Wire(word_cycles, behind_first=PREAMBLE_WORDS, behind_last=BETWEEN_WORDS)
    cycle, is_within = 0, False
    bench.dut.host_cyc.value = bench.dut.host_stb.value = 1
    waited = 0
    while coming or bench.words or len(bench.sent) < outgoing:
        if coming and from_wire.is_free(cycle):
            word = coming.popleft()
            bench.words.append(word)
            from_wire.passed(cycle, last=bool(word[1]))
        assert len(bench.words) <= QUEUE_WORDS, "the MAC has no room for a word"
        takes = to_wire.is_free(cycle)
        bench.take = float(takes)
        frames, words = len(bench.sent), bench.words_sent
        await bench.step()
        cycle += 1
        waited = 0 if bench.dut.host_ack.value else waited + 1
        assert waited < BUS_CYCLES
        assert cycle < 20_000, f"{len(bench.sent)} of {outgoing} frames were sent"
        if bench.words_sent > words:
            is_within = len(bench.sent) == frames
            to_wire.passed(cycle, last=not is_within)
        else:
            assert not (takes and is_within), "a gap in a frame"
    bench.dut.host_cyc.value = bench.dut.host_stb.value = 0


@cocotb.test()
async def frames_of_every_length_come_and_go_without_a_gap(dut):
    bench = DmaBench(dut)
    await bench.begin(receive_ring=RECEIVE_RING, transmit_ring=TRANSMIT_RING)
    for length, count in COUNTS.items():
        spacing = (length + 5) // 4 * 4
        behind = BUFFERS + count * spacing
        assert behind + count * spacing <= MEMORY_BYTES
        outgoing = [bench.rng.randbytes(length) for _ in range(count)]
        incoming = [bench.rng.randbytes(length) for _ in range(count)]
        rooms = [BUFFERS + spacing * number + number % 2 * 2 for number in range(count)]
        for number, frame in enumerate(outgoing):
            await bench.give_room(number, rooms[number], length)
            await bench.give_frame(number, behind + spacing * number, frame)
        await bench.write("receive_last", count - 1)
        await bench.write("transmit_last", count - 1)
        await bench.write("control", RECEIVE | TRANSMIT)
        # The rings begin between two frames.
        await bench.step(10)
        await go_and_come(bench, incoming, count)
        await bench.step(40)
        assert bench.sent == outgoing, f"{length} bytes"
        for frame, room in zip(incoming, rooms, strict=True):
            assert await bench.get(room, length) == frame, f"{length} bytes"
        await bench.write("control", 0)
        bench.sent.clear()


@cocotb.test()
async def a_ring_with_nothing_to_send_delays_no_frame_that_comes(dut):
    bench = await DmaBench(dut).begin(receive_ring=RECEIVE_RING, transmit_ring=EMPTY_RING)
    await bench.put_word(EMPTY_RING + 4, 0)
    await bench.write("receive_last", MANY - 1)
    for length in (60, 61):
        for odd in (0, 2):
            rooms = [BUFFERS + 64 * number + odd for number in range(MANY)]
            for number, room in enumerate(rooms):
                await bench.give_room(number, room, length)
            await bench.write("control", RECEIVE | TRANSMIT)
            await bench.step(10)
            frames = [bench.rng.randbytes(length) for _ in rooms]
            await go_and_come(bench, frames, 0, SLOWEST_WORD_CYCLES)
            await bench.step(40)
            for frame, room in zip(frames, rooms, strict=True):
                assert await bench.get(room, length) == frame, f"{length} bytes at {odd}"
            await bench.write("control", 0)
            await bench.step(20)


async def gap_of_a_frame(bench: DmaBench, room_at: int, frame_at: int) -> int:
    """How long the frame of the transmit ring's first descriptor is interrupted, in cycles.

    Another one begins to come at once; there is room for it, and the frame to send, so much later.
    """
    dut, sent, first_words = bench.dut, len(bench.sent), bench.words_sent
    writes = {room_at: RECEIVE_RING, frame_at: TRANSMIT_RING}
    bench.bring(bench.rng.randbytes(SHORT))
    coming, bench.words = bench.words, deque()
    from_wire = Wire(FASTEST_WORD_CYCLES, behind_last=BETWEEN_WORDS + PREAMBLE_WORDS)
    to_wire = Wire(FASTEST_WORD_CYCLES, behind_first=PREAMBLE_WORDS, behind_last=BETWEEN_WORDS)
    dut.processor_dat_w.value = OWNED | SHORT
    gap, cycle = 0, 0
    while len(bench.sent) == sent or coming or bench.words:
        assert cycle < 500, f"{len(coming) + len(bench.words)} words are left"
        dut.processor_we.value = 15 * (cycle in writes)
        dut.processor_adr.value = writes.get(cycle, 0) // 4 + 1
        if coming and from_wire.is_free(cycle):
            bench.words.append(coming.popleft())
            from_wire.passed(cycle, last=not coming)
        takes, words = to_wire.is_free(cycle), bench.words_sent
        bench.take = float(takes)
        await bench.step()
        if bench.words_sent > words:
            to_wire.passed(cycle, last=len(bench.sent) > sent)
        elif takes and first_words < words and len(bench.sent) == sent:
            gap += 1
        cycle += 1
    return gap


@cocotb.test()
async def a_frame_that_begins_while_the_receiver_catches_up_has_no_gap(dut):
    """Words that have waited for a descriptor are written in a row: nothing is read meanwhile."""
    bench = await DmaBench(dut).begin(receive_ring=RECEIVE_RING, transmit_ring=TRANSMIT_RING)
    frame = bench.rng.randbytes(SHORT)
    await bench.give_frame(0, BUFFERS, frame)
    await bench.give_room(0, BUFFERS + SHORT, SHORT)
    dut.host_cyc.value = dut.host_stb.value = 1
    for phase in range(12):
        for frame_at in range(1, 11):
            for ring in (RECEIVE_RING, TRANSMIT_RING):
                await bench.put_word(ring + 4, 0)
            await bench.write("control", RECEIVE | TRANSMIT)
            await bench.step(20 + phase)
            gap = await gap_of_a_frame(bench, 0, frame_at)
            assert gap == 0, (phase, frame_at)
            assert bench.sent.pop() == frame
            await bench.write("control", 0)
            await bench.step(20)
