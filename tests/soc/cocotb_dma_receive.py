"""The receive ring of the Ethernet DMA: what is written where, and what the descriptor says."""

from __future__ import annotations

import cocotb
from dma_bench import (
    BUFFERS,
    DESCRIPTOR_BYTES,
    EVENT_RECEIVED,
    KEEP_LONG,
    KEEP_WRONG,
    MEMORY_BYTES,
    OWNED,
    RECEIVE,
    RECEIVE_RING,
    DmaBench,
    ones_sum,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

ROOM = 1536
#: Address of a buffer for each of so many descriptors.
SPACING = 1600
DESCRIPTORS = 4


def buffer(index: int) -> int:
    return BUFFERS + SPACING * index


async def start(dut, *, control: int = 0, descriptors: int = DESCRIPTORS, **registers) -> DmaBench:
    bench = DmaBench(dut)
    usual = {"receive_ring": RECEIVE_RING, "receive_last": descriptors - 1, "ev_enable": 3}
    await bench.begin(**usual | registers, control=0)
    for index in range(descriptors):
        await bench.put_word(RECEIVE_RING + DESCRIPTOR_BYTES * index + 4, 0)
    await bench.write("control", RECEIVE | control)
    await bench.step(20)
    return bench


@cocotb.test()
async def frames_of_every_length_are_stored_and_summed(dut):
    bench = await start(dut)
    for number, length in enumerate([*range(1, 8), *range(14, 20), *range(58, 72), 1513, 1514]):
        index = number % DESCRIPTORS
        at = buffer(index) + 2 * (number // DESCRIPTORS % 2)
        frame = bench.rng.randbytes(length)
        bench.written.clear()
        await bench.give_room(index, at, ROOM)
        bench.come = bench.rng.choice([0.1, 0.5, 1.0])
        bench.bring(frame)
        await bench.until_taken(40_000)
        seen = await bench.received(index)
        assert (seen.length, seen.good) == (length, True)
        assert await bench.get(at, length) == frame, f"{length} bytes"
        assert bench.untouched(buffer(index), at)
        assert bench.untouched(at + length, at + length + 8), f"{length} bytes"
        assert seen.sum == ones_sum(frame[14:]), f"{length} bytes"


@cocotb.test()
async def of_a_short_frame_the_first_mark_is_the_end(dut):
    """LiteEth's converter leaves marks and errors of the frame before it behind the end."""
    bench = await start(dut, control=KEEP_WRONG)
    number = 0
    for length in (1, 2, 3):
        end = 1 << length - 1
        for rest in range(0, 16, 2 * end):
            for wrong in (False, True):
                index = number % DESCRIPTORS
                number += 1
                word = bench.rng.getrandbits(32)
                await bench.give_room(index, buffer(index), ROOM)
                bench.written.clear()
                bench.words.append((word, 1, end | rest, wrong * end | rest))
                await bench.until_taken()
                seen = await bench.received(index)
                assert (seen.length, seen.wrong) == (length, wrong), f"{end:04b} {rest:04b}"
                data = word.to_bytes(4, "little")[:length]
                assert await bench.get(buffer(index), length) == data
                assert bench.untouched(buffer(index) + length, buffer(index) + 8)


@cocotb.test()
async def the_sum_of_a_datagram_with_its_pseudo_header_is_all_ones(dut):
    bench = await start(dut, sum_from=34)
    for number, length in enumerate((0, 1, 18, 19, 300, 1472)):
        index = number % DESCRIPTORS
        ip = IP(src="192.168.1.7", dst="10.0.0.99") / UDP(sport=7, dport=7107)
        frame = bytes(Ether() / ip / Raw(bench.rng.randbytes(length)))
        await bench.give_room(index, buffer(index), ROOM)
        bench.bring(frame)
        await bench.until_taken()
        seen = await bench.received(index)
        pseudo = frame[26:34] + b"\0\x11" + frame[38:40]
        total = seen.sum + ones_sum(pseudo)
        assert (total & 0xFFFF) + (total >> 16) == 0xFFFF


@cocotb.test()
async def nothing_is_written_outside_a_buffer(dut):
    bench = await start(dut, control=KEEP_LONG)
    rooms = (0, 1, 2, 3, 4, 5, 61, 62, 63, 64, 65, 127)
    for number, room in enumerate(rooms):
        for odd in (0, 2):
            index = (2 * number + odd // 2) % DESCRIPTORS
            at = buffer(index) + 64 + odd
            frame = bench.rng.randbytes(64)
            bench.written.clear()
            await bench.give_room(index, at, room)
            bench.bring(frame)
            await bench.until_taken()
            seen = await bench.received(index)
            stored = min(room, len(frame))
            assert (seen.length, seen.truncated) == (stored, room < len(frame))
            assert await bench.get(at, stored) == frame[:stored]
            assert bench.untouched(at - 16, at)
            assert bench.untouched(at + stored, at + 100), f"{room} bytes at {at}"


@cocotb.test()
async def a_frame_longer_than_two_kibibytes_is_cut_off(dut):
    bench = await start(dut, control=KEEP_LONG)
    for index, length in enumerate((2047, 2048, 5000)):
        frame = bench.rng.randbytes(length)
        bench.written.clear()
        await bench.give_room(index, buffer(index), ROOM)
        bench.bring(frame)
        await bench.until_taken(20_000)
        seen = await bench.received(index)
        assert (seen.length, seen.truncated, seen.long) == (ROOM, True, True)
        assert await bench.get(buffer(index), ROOM) == frame[:ROOM]
        assert bench.untouched(buffer(index) + ROOM, buffer(index) + SPACING)
    assert await bench.read("receive_long") == 3


@cocotb.test()
async def unwanted_frames_leave_the_buffer_to_the_next_one(dut):
    bench = await start(dut, longest=100)
    await bench.give_room(0, buffer(0), 200)
    good = bench.rng.randbytes(100)
    bench.bring(bench.rng.randbytes(80), wrong=True)
    bench.bring(bench.rng.randbytes(101))
    bench.bring(bench.rng.randbytes(300))
    bench.bring(bench.rng.randbytes(300), wrong=True)
    bench.bring(good)
    await bench.until_taken()
    seen = await bench.received(0)
    assert (seen.length, seen.good) == (100, True)
    assert await bench.get(buffer(0), 100) == good
    assert seen.sum == ones_sum(good[14:])
    assert await bench.read("receive_wrong") == 2
    assert await bench.read("receive_long") == 2
    assert await bench.read("receive_missed") == 0


@cocotb.test()
async def wanted_frames_come_with_what_is_wrong_with_them(dut):
    bench = await start(dut, control=KEEP_LONG | KEEP_WRONG, longest=100)
    frames = [(99, True), (101, False), (202, False), (202, True)]
    for index, (length, wrong) in enumerate(frames):
        await bench.give_room(index, buffer(index), 200)
        bench.bring(bench.rng.randbytes(length), wrong=wrong)
        await bench.until_taken()
        seen = await bench.received(index)
        assert seen.length == min(length, 200)
        assert (seen.wrong, seen.long, seen.truncated) == (wrong, length > 100, length > 200)
    assert await bench.read("receive_wrong") == 2
    assert await bench.read("receive_long") == 2


@cocotb.test()
async def frames_without_a_descriptor_are_dropped_whole_and_counted(dut):
    bench = await start(dut)
    for _ in range(3):
        bench.bring(bench.rng.randbytes(90))
    await bench.until_taken()
    assert await bench.read("receive_missed") == 3
    assert bench.untouched(BUFFERS, MEMORY_BYTES)
    frame = bench.rng.randbytes(70)
    await bench.give_room(0, buffer(0), ROOM)
    await bench.step(20)
    bench.bring(frame)
    bench.bring(bench.rng.randbytes(70))
    await bench.until_taken()
    assert (await bench.received(0)).length == 70
    assert await bench.get(buffer(0), 70) == frame
    assert await bench.read("receive_missed") == 4


@cocotb.test()
async def back_to_back_frames_go_round_the_ring_in_order(dut):
    bench = await start(dut, descriptors=3)
    frames = [bench.rng.randbytes(60 + number % 5) for number in range(20)]
    for index in range(3):
        await bench.give_room(index, buffer(index), ROOM)
    bench.come = 0.3
    for frame in frames:
        bench.bring(frame)
    for number, frame in enumerate(frames):
        index = number % 3
        seen = await bench.received(index)
        assert await bench.get(buffer(index), seen.length) == frame
        await bench.give_room(index, buffer(index), ROOM)
    assert await bench.read("receive_missed") == 0


@cocotb.test()
async def a_ring_that_is_turned_off_begins_anew_and_lets_memory_be(dut):
    bench = await start(dut)
    for index in range(2):
        await bench.give_room(index, buffer(index), ROOM)
    bench.bring(bench.rng.randbytes(64))
    await bench.until_taken()
    await bench.received(0)
    assert await bench.read("receive_index") == 1
    # In the middle of a frame: it is still given.
    bench.bring(bench.rng.randbytes(200))
    await bench.step(20)
    await bench.write("control", 0)
    assert await bench.read("active") & RECEIVE
    await bench.until_taken()
    assert (await bench.received(1)).length == 200
    assert not await bench.read("active") & RECEIVE
    await bench.give_room(2, buffer(2), ROOM)
    bench.bring(bench.rng.randbytes(64))
    await bench.until_taken()
    assert await bench.get_word(RECEIVE_RING + DESCRIPTOR_BYTES * 2 + 4) == OWNED | ROOM
    # Elsewhere, from the first descriptor on, and not with the rest of a frame.
    frame = bench.rng.randbytes(64)
    bench.bring(bench.rng.randbytes(400))
    await bench.step(20)
    await bench.write("receive_ring", RECEIVE_RING + DESCRIPTOR_BYTES)
    await bench.give_room(1, buffer(0), ROOM)
    await bench.write("control", RECEIVE)
    await bench.until_taken()
    bench.bring(frame)
    await bench.until_taken()
    seen = await bench.received(1)
    assert seen.length == 64
    assert await bench.get(buffer(0), 64) == frame
    assert await bench.read("receive_missed") == 0


async def owned(bench: DmaBench, descriptors: int) -> list[bool]:
    """Which descriptors are the DMA's."""
    places = [RECEIVE_RING + DESCRIPTOR_BYTES * index + 4 for index in range(descriptors)]
    return [bool(await bench.get_word(place) & OWNED) for place in places]


@cocotb.test()
async def a_ring_that_is_turned_off_stops_also_while_frames_come_without_a_pause(dut):
    bench = await start(dut, descriptors=16)
    for index in range(16):
        await bench.give_room(index, BUFFERS + 64 * index, 64)
    for _ in range(40):
        bench.bring(bench.rng.randbytes(64))
    while await bench.read("receive_index") < 3:
        pass
    await bench.write("control", 0)
    in_use = await bench.read("receive_index")
    await bench.step(60)
    assert bench.words
    assert not await bench.read("active") & RECEIVE
    given = 16 - sum(await owned(bench, 16))
    assert in_use <= given <= in_use + 1
    await bench.until_taken()
    # A descriptor that was fetched but not used is used the next time.
    for index in range(given):
        await bench.give_room(index, BUFFERS + 64 * index, 64)
    await bench.write("control", RECEIVE)
    await bench.step(20)
    frames = [bench.rng.randbytes(64) for _ in range(16)]
    for frame in frames:
        bench.bring(frame)
    await bench.until_taken()
    assert await bench.get(BUFFERS, 64 * 16) == b"".join(frames)
    assert not any(await owned(bench, 16))
    assert await bench.read("receive_missed") == 0


@cocotb.test()
async def a_ring_that_is_turned_off_stops_also_while_only_unwanted_frames_come(dut):
    bench = await start(dut)
    await bench.give_room(0, buffer(0), ROOM)
    await bench.step(20)
    for _ in range(40):
        bench.bring(bench.rng.randbytes(64), wrong=True)
    await bench.step(70)
    await bench.write("control", 0)
    await bench.step(60)
    assert bench.words
    assert not await bench.read("active") & RECEIVE
    assert await owned(bench, 1) == [True]


@cocotb.test()
async def a_ring_that_is_on_keeps_its_place_whatever_the_registers_say(dut):
    bench = await start(dut, descriptors=2)
    await bench.write("receive_ring", RECEIVE_RING + 2 * DESCRIPTOR_BYTES)
    await bench.write("receive_last", 0)
    for number in range(5):
        index = number % 2
        frame = bench.rng.randbytes(64)
        await bench.give_room(index, buffer(index), ROOM)
        await bench.step(20)
        bench.bring(frame)
        await bench.until_taken()
        assert (await bench.received(index)).length == 64
        assert await bench.get(buffer(index), 64) == frame
    await bench.write("control", 0)
    await bench.step(20)
    await bench.write("control", RECEIVE)
    for _ in range(3):
        frame = bench.rng.randbytes(64)
        await bench.give_room(2, buffer(2), ROOM)
        await bench.step(20)
        bench.bring(frame)
        await bench.until_taken()
        assert (await bench.received(2)).length == 64
        assert await bench.get(buffer(2), 64) == frame


@cocotb.test()
async def an_event_comes_with_the_number_of_frames_or_after_the_time(dut):
    bench = await start(dut, event_frames=3, event_cycles=500)
    for index in range(DESCRIPTORS):
        await bench.give_room(index, buffer(index), ROOM)
    for number in range(3):
        assert not dut.irq.value, number
        bench.bring(bench.rng.randbytes(64))
        await bench.until_taken()
    assert dut.irq.value
    assert await bench.read("ev_pending") == EVENT_RECEIVED
    await bench.write("ev_pending", EVENT_RECEIVED)
    await bench.step(2)
    assert not dut.irq.value
    bench.bring(bench.rng.randbytes(64))
    await bench.received(3)
    before = bench.cycle
    while not dut.irq.value and bench.cycle < before + 1000:
        await bench.step()
    assert 480 <= bench.cycle - before <= 510


@cocotb.test()
async def without_a_number_of_frames_each_is_an_event_and_without_a_time_none_comes_late(dut):
    bench = await start(dut, event_frames=0)
    for frames in (0, 2):
        await bench.write("event_frames", frames)
        await bench.give_room(0, buffer(0), ROOM)
        await bench.give_room(1, buffer(1), ROOM)
        await bench.write("control", RECEIVE)
        await bench.step(20)
        bench.bring(bench.rng.randbytes(64))
        await bench.until_taken()
        await bench.step(500)
        assert bool(dut.irq.value) == (frames == 0), frames
        await bench.write("ev_pending", EVENT_RECEIVED)
        await bench.write("control", 0)
        await bench.step(40)


@cocotb.test()
async def the_bus_sees_the_memory_while_frames_come(dut):
    bench = await start(dut)
    for index in range(DESCRIPTORS):
        await bench.give_room(index, buffer(index), ROOM)
    bench.bring(bench.rng.randbytes(1000))
    slowest = 0
    for address in range(0, RECEIVE_RING, 4):
        value = bench.rng.getrandbits(32)
        _, waited = await bench.access(address, value)
        slowest = max(slowest, waited)
        read, waited = await bench.access(address)
        slowest = max(slowest, waited)
        assert read == value
    assert slowest > 3
