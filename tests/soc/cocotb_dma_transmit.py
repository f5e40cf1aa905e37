"""The transmit ring of the Ethernet DMA: what the MAC gets, and the checksum in it."""

from __future__ import annotations

import cocotb
from dma_bench import (
    BUFFERS,
    DESCRIPTOR_BYTES,
    EVENT_SENT,
    OWNED,
    RECEIVE,
    RECEIVE_RING,
    TRANSMIT,
    TRANSMIT_RING,
    DmaBench,
    ones_sum,
)
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

SPACING = 1600
DESCRIPTORS = 4
#: Bytes of a frame where its UDP datagram and the datagram's checksum are.
DATAGRAM, CHECKSUM = 34, 40


def buffer(index: int) -> int:
    return BUFFERS + SPACING * index


async def start(dut, *, control: int = 0, descriptors: int = DESCRIPTORS) -> DmaBench:
    bench = DmaBench(dut)
    await bench.begin(
        transmit_ring=TRANSMIT_RING,
        transmit_last=descriptors - 1,
        receive_ring=RECEIVE_RING,
        receive_last=descriptors - 1,
        ev_enable=3,
    )
    for index in range(descriptors):
        await bench.put_word(TRANSMIT_RING + DESCRIPTOR_BYTES * index + 4, 0)
        await bench.put_word(RECEIVE_RING + DESCRIPTOR_BYTES * index + 4, 0)
    await bench.write("control", TRANSMIT | control)
    return bench


@cocotb.test()
async def frames_of_every_length_are_sent_and_given_back(dut):
    bench = await start(dut)
    for number, length in enumerate([*range(1, 8), *range(58, 70), 1513, 1514, 2047]):
        index = number % DESCRIPTORS
        frame = bench.rng.randbytes(length)
        bench.take = bench.rng.choice([0.1, 0.5, 1.0])
        await bench.give_frame(index, buffer(index) + 2 * (number // DESCRIPTORS % 2), frame)
        await bench.until_sent(number + 1, 20_000)
        await bench.step(10)
        assert bench.sent[-1] == frame, f"{length} bytes"
        assert not await bench.get_word(TRANSMIT_RING + DESCRIPTOR_BYTES * index + 4) & OWNED
    assert not dut.irq.value


def datagram(payload: bytes) -> tuple[bytes, bytes]:
    """A frame with a datagram, and that with its pseudo-header's sum instead of the checksum."""
    ip = IP(src="192.168.1.7", dst="10.0.0.99") / UDP(sport=7, dport=7107)
    frame = bytes(Ether() / ip / Raw(payload))
    pseudo = frame[26:34] + b"\0\x11" + frame[38:40]
    seed = ones_sum(pseudo).to_bytes(2, "little")
    return frame, frame[:CHECKSUM] + seed + frame[CHECKSUM + 2 :]


@cocotb.test()
async def a_datagram_gets_its_checksum_on_the_way(dut):
    bench = await start(dut)
    for number, length in enumerate(
        (*range(4), *range(18, 22), 700, 1471, 1472, *range(2002, 2006))
    ):
        index = number % DESCRIPTORS
        frame, seeded = datagram(bench.rng.randbytes(length))
        at = buffer(index) + 2 * (number % 2)
        bench.take = bench.rng.choice([0.2, 1.0])
        await bench.give_frame(index, at, seeded, checksum=(DATAGRAM, CHECKSUM))
        await bench.until_sent(number + 1, 20_000)
        assert bench.sent[-1] == frame, f"{length} bytes"
        assert await bench.get(at, len(seeded)) == seeded


@cocotb.test()
async def a_checksum_goes_to_any_place_and_begins_at_any(dut):
    bench = await start(dut)
    for number in range(40):
        index = number % DESCRIPTORS
        frame = bench.rng.randbytes(bench.rng.choice([64, 700]))
        first, place = (2 * bench.rng.randrange(min(len(frame) // 2, 256)) for _ in range(2))
        await bench.give_frame(index, buffer(index), frame, checksum=(first, place))
        await bench.until_sent(number + 1)
        checksum = (ones_sum(frame[first:]) ^ 0xFFFF or 0xFFFF).to_bytes(2, "little")
        assert bench.sent[-1] == frame[:place] + checksum + frame[place + 2 :], (first, place)


@cocotb.test()
async def a_checksum_of_zero_is_sent_as_ones(dut):
    bench = await start(dut)
    payload = bytearray(18)
    frame, _ = datagram(payload)
    payload[4:6] = frame[CHECKSUM : CHECKSUM + 2]
    frame, seeded = datagram(payload)
    assert frame[CHECKSUM : CHECKSUM + 2] == b"\xff\xff"
    await bench.give_frame(0, buffer(0), seeded, checksum=(DATAGRAM, CHECKSUM))
    await bench.until_sent(1)
    assert bench.sent == [frame]


@cocotb.test()
async def a_ring_is_sent_in_order_and_says_so_where_it_is_asked_to(dut):
    bench = await start(dut, descriptors=3)
    frames = [bench.rng.randbytes(bench.rng.randrange(20, 90)) for _ in range(10)]
    bench.take = 0.3
    for number, frame in enumerate(frames):
        index = number % 3
        while await bench.get_word(TRANSMIT_RING + DESCRIPTOR_BYTES * index + 4) & OWNED:
            await bench.step()
        await bench.give_frame(index, buffer(index), frame, event=number == 6)
        if number < 6:
            assert not dut.irq.value
    await bench.until_sent(10)
    assert bench.sent == frames
    await bench.step(10)
    assert await bench.read("transmit_index") == 10 % 3
    assert await bench.read("receive_index") == 0
    assert dut.irq.value
    assert await bench.read("ev_pending") == EVENT_SENT


@cocotb.test()
async def a_checksum_whose_place_is_behind_the_frame_goes_nowhere(dut):
    bench = await start(dut)
    frames = [bench.rng.randbytes(60) for _ in range(4)]
    bench.take = 0.0
    for number, frame in enumerate(frames):
        # As far behind as the words of the first frames are before, all the way round.
        place = (0, 64, 508, 510)[number]
        await bench.give_frame(number, buffer(number), frame, checksum=(58, place or 58))
    await bench.step(400)
    bench.take = 1.0
    await bench.until_sent(4)
    assert bench.sent[1:] == frames[1:]


@cocotb.test()
async def an_empty_frame_is_given_back_unsent(dut):
    bench = await start(dut)
    await bench.give_frame(0, buffer(0), b"")
    await bench.give_frame(1, buffer(1), b"abcdef")
    await bench.until_sent(1)
    assert bench.sent == [b"abcdef"]
    assert not await bench.get_word(TRANSMIT_RING + 4) & OWNED


@cocotb.test()
async def a_ring_that_is_turned_off_begins_anew(dut):
    bench = await start(dut)
    await bench.give_frame(0, buffer(0), b"first")
    await bench.until_sent(1)
    await bench.write("control", 0)
    await bench.step(20)
    assert not await bench.read("active") & TRANSMIT
    await bench.give_frame(1, buffer(1), b"second")
    await bench.step(50)
    assert bench.sent == [b"first"]
    await bench.write("transmit_ring", TRANSMIT_RING + DESCRIPTOR_BYTES)
    await bench.write("control", TRANSMIT)
    await bench.until_sent(2)
    assert bench.sent[1] == b"second"


@cocotb.test()
async def both_rings_at_once_are_fast_enough_for_a_gigabit(dut):
    bench = await start(dut, control=RECEIVE)
    frame, seeded = datagram(bench.rng.randbytes(1400))
    await bench.put_word(RECEIVE_RING, buffer(2))
    await bench.put_word(RECEIVE_RING + 4, OWNED | 1536)
    await bench.give_frame(0, buffer(0), frame)
    bench.bring(seeded)
    # A word in 3.2 cycles comes and goes.
    bench.come = bench.take = 1.0
    begin = bench.cycle
    while bench.words or len(bench.sent) < 1:
        await bench.step()
    assert bench.cycle - begin < 3.2 * len(frame) / 4
    await bench.step(20)
    assert bench.sent == [frame]
    assert await bench.get(buffer(2), len(seeded)) == seeded


@cocotb.test()
async def datagrams_with_a_checksum_fill_a_gigabit_while_there_is_no_room_for_others(dut):
    bench = await start(dut, control=RECEIVE)
    bench.take = 0.0
    frames = []
    for index in range(DESCRIPTORS):
        frame, seeded = datagram(bench.rng.randbytes(1472))
        frames.append(frame)
        await bench.give_frame(index, buffer(index), seeded, checksum=(DATAGRAM, CHECKSUM))
    # A word in 3.2 cycles; preamble, check sequence and gap are six more.
    due, taken = 0.0, 0
    for cycle in range(10_000):
        bench.take = float(cycle >= due)
        sent = len(bench.sent)
        await bench.step()
        if bench.take:
            taken += 1
            due += 3.2 * (1 if len(bench.sent) == sent else 7)
        if len(bench.sent) == len(frames):
            break
    assert bench.sent == frames
    assert taken == sum((len(frame) + 3) // 4 for frame in frames)
