"""Both rings at once between wires of 1 Gbit/s, at about the slowest system clock."""

from __future__ import annotations

import os
from collections import deque

import cocotb
from dma_bench import (
    BUFFERS,
    MEMORY_BYTES,
    RECEIVE,
    RECEIVE_RING,
    TRANSMIT,
    TRANSMIT_RING,
    DmaBench,
)

WORD_CYCLES = float(os.environ["DMA_WORD_CYCLES"])
#: Words' time of a preamble, and of check sequence and gap.
PREAMBLE_WORDS, BETWEEN_WORDS = 2, 4
#: What LiteEth's MAC keeps on the way from the wire's clock to the system's.
QUEUE_WORDS = 32
#: For how long the bus, which always wants a word, waits for one at most.
BUS_CYCLES = 40
#: How many frames of so many bytes go and come.
COUNTS = {60: 20, 61: 20, 124: 16, 508: 4, 1514: 2}


class Wire:
    """When words pass: one at a time, and a pause between frames."""

    def __init__(self, *, behind_first: int = 0, behind_last: int) -> None:
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
        self._due = max(self._due, cycle - WORD_CYCLES) + WORD_CYCLES * words


async def go_and_come(bench: DmaBench, incoming: list[bytes], outgoing: int) -> None:
    """Bring the frames as the wire does, and take so many as it does: each without a gap.

    Meanwhile the bus reads all the time.
    """
    for frame in incoming:
        bench.bring(frame)
    coming, bench.words = bench.words, deque()
    from_wire = Wire(behind_last=BETWEEN_WORDS + PREAMBLE_WORDS)
    # The preamble is sent when a frame's first word is there.
    to_wire = Wire(behind_first=PREAMBLE_WORDS, behind_last=BETWEEN_WORDS)
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
