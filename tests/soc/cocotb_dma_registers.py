"""The Ethernet DMA: its registers, events and counters, and all bits of its addresses."""

from __future__ import annotations

import cocotb
from csr_bench import check_storages, low_bits
from dma_bench import (
    BUFFERS,
    DESCRIPTOR_BYTES,
    EVENT_RECEIVED,
    EVENT_SENT,
    MEMORY_BYTES,
    RECEIVE,
    RECEIVE_RING,
    TRANSMIT,
    TRANSMIT_RING,
    DmaBench,
    ones_sum,
)

ROOM = 1536
#: Bits of the registers that hold what is written.
STORAGES = {
    "ev_enable": 2,
    "control": 4,
    "longest": 11,
    "sum_from": 11,
    "event_frames": 8,
    "event_cycles": 20,
    "receive_ring": 32,
    "receive_last": 8,
    "transmit_ring": 32,
    "transmit_last": 8,
}
#: What of them is not 0 after a reset.
RESET = {"longest": 1514, "sum_from": 14, "event_frames": 1}


async def start(dut, *, base: int = 0, control: int = RECEIVE, **registers: int) -> DmaBench:
    """Rings of two descriptors, which are the processor's, with memory at an address."""
    bench = DmaBench(dut)
    dut.window.value = base // MEMORY_BYTES
    rings = {"receive_ring": base + RECEIVE_RING, "transmit_ring": base + TRANSMIT_RING}
    await bench.begin(**rings, receive_last=1, transmit_last=1, **registers)
    for ring in (RECEIVE_RING, TRANSMIT_RING):
        for index in range(2):
            await bench.put_word(ring + DESCRIPTOR_BYTES * index + 4, 0)
    await bench.write("control", control)
    await bench.step(20)
    return bench


@cocotb.test()
async def registers_hold_what_is_written(dut):
    bench = await DmaBench(dut).begin()
    await check_storages(bench, low_bits(STORAGES), RESET)


@cocotb.test()
async def the_sum_of_a_frame_begins_with_the_given_byte(dut):
    bench = await start(dut)
    for number, first in enumerate((0, 2, 4, 14, 34, 62, 64, 512, 1022, 1026)):
        frame = bench.rng.randbytes(1100 if first > 64 else 64)
        await bench.write("sum_from", first)
        await bench.give_room(number % 2, BUFFERS, ROOM)
        await bench.step(20)
        bench.bring(frame)
        assert (await bench.received(number % 2)).sum == ones_sum(frame[first:]), first


@cocotb.test()
async def an_event_is_on_the_line_if_it_is_enabled(dut):
    for enabled in range(4):
        bench = await start(dut, control=RECEIVE | TRANSMIT, ev_enable=enabled)
        await bench.give_room(0, BUFFERS, ROOM)
        await bench.step(20)
        bench.bring(bench.rng.randbytes(64))
        await bench.until_taken()
        assert await bench.read("ev_pending") == EVENT_RECEIVED
        assert int(dut.irq.value) == bool(enabled & EVENT_RECEIVED)
        await bench.give_frame(0, BUFFERS, bench.rng.randbytes(64), event=True)
        await bench.until_sent(1)
        assert await bench.read("ev_pending") == EVENT_RECEIVED | EVENT_SENT
        await bench.write("ev_pending", EVENT_RECEIVED)
        await bench.step(2)
        assert await bench.read("ev_pending") == EVENT_SENT
        assert int(dut.irq.value) == bool(enabled & EVENT_SENT)
        await bench.write("ev_pending", EVENT_SENT)
        await bench.step(2)
        assert await bench.read("ev_pending") == 0


@cocotb.test()
async def each_frame_that_is_not_given_counts_as_one(dut):
    bench = await start(dut, longest=100)
    for count in range(1, 20):
        bench.bring(bench.rng.randbytes(64))
        await bench.until_taken()
        assert await bench.read("receive_missed") == count
    await bench.give_room(0, BUFFERS, ROOM)
    await bench.step(20)
    for count in range(1, 20):
        bench.bring(bench.rng.randbytes(64), wrong=True)
        await bench.until_taken()
        bench.bring(bench.rng.randbytes(101))
        await bench.until_taken()
        assert await bench.read("receive_wrong") == count
        assert await bench.read("receive_long") == count
    assert await bench.read("receive_missed") == 19


@cocotb.test()
async def memory_may_be_at_any_address(dut):
    for high in (0b01_0101_0101_0101_0101, 0b10_1010_1010_1010_1010):
        base = high * MEMORY_BYTES
        bench = await start(dut, base=base, control=RECEIVE | TRANSMIT)
        for number in range(5):
            index, at = number % 2, base + BUFFERS + 2 * (number // 2 % 2)
            frame = bench.rng.randbytes(90)
            await bench.give_room(index, at, ROOM)
            await bench.step(20)
            bench.bring(frame)
            assert (await bench.received(index)).good
            assert await bench.get(at, len(frame)) == frame
            await bench.give_frame(index, at + 2, bench.rng.randbytes(2) + frame, event=True)
            await bench.until_sent(number + 1)
            assert bench.sent[-1][2:] == frame
        for place in (0x8, 0xFF4, 0x1FF8, MEMORY_BYTES - 4):
            value = bench.rng.getrandbits(32)
            await bench.access(base + place, value)
            assert (await bench.access(base + place))[0] == value
            assert await bench.get_word(place) == value


@cocotb.test()
async def a_ring_is_active_until_it_has_given_back_what_it_had(dut):
    for phase in range(2):
        bench = await start(dut, control=RECEIVE | TRANSMIT)
        bench.take = 0.0
        await bench.give_room(0, BUFFERS, ROOM)
        await bench.give_frame(0, BUFFERS, bench.rng.randbytes(64), checksum=(0, 2))
        bench.bring(bench.rng.randbytes(64))
        await bench.step(phase)
        for _ in range(60):
            assert await bench.read("active") == RECEIVE | TRANSMIT
        await bench.write("control", 0)
        await bench.step(8)
        assert await bench.read("active") == 0


@cocotb.test()
async def the_bus_has_no_access_without_a_cycle(dut):
    bench = await start(dut)
    dut.host_stb.value = dut.host_we.value = 1
    dut.host_sel.value = 15
    await bench.step(8)
    assert not bench.written
    assert not dut.host_ack.value
