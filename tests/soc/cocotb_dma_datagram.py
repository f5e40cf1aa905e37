"""What a receive descriptor says of datagrams, beside a definition that reads the whole frame."""

from __future__ import annotations

from collections.abc import Iterator

import cocotb
from dma_bench import BUFFERS, KEEP_LONG, KEEP_WRONG, RECEIVE, RECEIVE_RING, DmaBench, ones_sum
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_Router_Alert
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Packet, Raw

ROOM = 1536
#: Of a frame: Ethernet's header with the addresses, and what the headers of a datagram are.
ADDRESSES_END, HEADERS_END = 12, 42


def is_good_datagram(frame: bytes) -> bool:
    """RFC 791 and RFC 768, word for word."""
    packet, datagram = frame[14:], frame[34:]
    if frame[12:14] != b"\x08\0" or len(frame) < HEADERS_END:
        return False
    number = int.from_bytes
    whole = number(packet[2:4], "big") == len(packet) and number(datagram[4:6], "big") == len(
        datagram
    )
    fragment = number(packet[6:8], "big") & 0x3FFF
    if packet[0] != 0x45 or packet[9] != 17 or fragment or not whole or datagram[6:8] == b"\0\0":
        return False
    pseudo = packet[12:20] + b"\0\x11" + datagram[4:6]
    return ones_sum(packet[:20]) == 0xFFFF and ones_sum(pseudo + datagram) == 0xFFFF


async def start(dut, **registers: int) -> DmaBench:
    bench = DmaBench(dut)
    await bench.begin(receive_ring=RECEIVE_RING, receive_last=0, control=0, **registers)
    await bench.put_word(RECEIVE_RING + 4, 0)
    await bench.write("control", RECEIVE | KEEP_LONG | KEEP_WRONG)
    return bench


async def said(bench: DmaBench, frame: bytes, *, wrong: bool = False, room: int = ROOM) -> bool:
    """Whether the descriptor says that the frame is a good datagram."""
    await bench.give_room(0, BUFFERS, room)
    bench.bring(frame, wrong=wrong)
    await bench.until_taken(20_000)
    return (await bench.received(0)).datagram


def datagram(payload: bytes, **ip) -> Packet:
    return Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / (
        IP(**{"src": "192.168.1.7", "dst": "10.0.0.99"} | ip)
        / UDP(sport=7, dport=7107)
        / Raw(payload)
    )


def others() -> Iterator[tuple[str, bytes]]:
    """Frames that are something else, or something besides, with right checksums."""
    payload = bytes(range(40))
    whole = bytes(datagram(payload))
    yield "ARP", bytes(Ether() / ARP()).ljust(60, b"\0")
    yield "a tag", bytes(Ether() / Dot1Q(vlan=5) / datagram(payload).payload)
    yield "ICMP", bytes(Ether() / IP() / ICMP() / Raw(payload))
    yield "TCP", bytes(Ether() / IP() / TCP() / Raw(payload))
    yield "an option", bytes(datagram(payload, options=IPOption_Router_Alert()))
    yield "the first fragment", bytes(datagram(payload, flags="MF"))
    yield "a fragment", bytes(datagram(payload, frag=5))
    yield "padding", whole + bytes(1)
    yield "a short frame's padding", bytes(datagram(b"")).ljust(60, b"\0")
    yield "without its end", whole[:-1]
    without = bytearray(whole)
    without[40:42] = b"\0\0"
    yield "without a checksum", bytes(without)
    packet = datagram(payload)
    packet[UDP].len = 30
    yield "UDP shorter than IPv4", bytes(Ether(bytes(packet)))
    yield "headers cut off", whole[:38]


@cocotb.test()
async def good_datagrams_of_every_length_are_told(dut):
    bench = await start(dut)
    for length in (*range(24), 98, 99, 1471, 1472):
        bench.come = bench.rng.choice([0.2, 1.0])
        flags = bench.rng.choice(["", "DF"])
        packet = datagram(
            bench.rng.randbytes(length), flags=flags, tos=length & 255, ttl=1 + length % 99
        )
        frame = bytes(packet)
        assert is_good_datagram(frame)
        assert await said(bench, frame), f"{length} bytes"


@cocotb.test()
async def a_datagram_with_a_wrong_bit_in_its_headers_is_none(dut):
    bench = await start(dut)
    frame = bytes(datagram(bench.rng.randbytes(31)))
    for bit in range(8 * HEADERS_END + 16):
        flipped = bytearray(frame)
        flipped[bit // 8] ^= 1 << bit % 8
        expected = bit // 8 < ADDRESSES_END
        assert is_good_datagram(bytes(flipped)) == expected
        assert await said(bench, bytes(flipped)) == expected, f"bit {bit}"


@cocotb.test()
async def two_wrong_bits_that_leave_the_frame_s_sum_are_seen(dut):
    bench = await start(dut)
    whole = bytes(datagram(bytes(40), ttl=64))
    frame = bytearray(whole)
    # The time to live, and the checksum of UDP, by as much.
    frame[22] += 1
    frame[40:42] = (int.from_bytes(frame[40:42], "big") - 0x100).to_bytes(2, "big")
    assert ones_sum(bytes(frame[14:])) == ones_sum(whole[14:])
    assert not await said(bench, bytes(frame))


@cocotb.test()
async def other_frames_are_not_told(dut):
    bench = await start(dut)
    for name, frame in others():
        assert not is_good_datagram(frame), name
        assert not await said(bench, frame), name
        # Nothing of it stays.
        assert await said(bench, bytes(datagram(b"abc"))), name


@cocotb.test()
async def a_datagram_in_a_frame_with_a_fault_is_not_told(dut):
    bench = await start(dut, longest=200)
    frame = bytes(datagram(bytes(100)))
    assert await said(bench, frame)
    assert not await said(bench, frame, wrong=True)
    assert not await said(bench, frame, room=100)
    assert not await said(bench, bytes(datagram(bytes(159))))


@cocotb.test()
async def random_changes_are_told_as_the_definition_says(dut):
    bench = await start(dut)
    for _ in range(150):
        frame = bytearray(bytes(datagram(bench.rng.randbytes(bench.rng.randrange(40)))))
        for _ in range(bench.rng.randrange(3)):
            at = bench.rng.randrange(6, HEADERS_END // 2) * 2
            frame[at : at + 2] = bench.rng.choice([b"\0\0", b"\xff\xff", b"\x45\0", b"\x40\0"])
        if bench.rng.random() < 0.5:
            # The header's checksum is right again.
            frame[24:26] = b"\0\0"
            frame[24:26] = (0xFFFF ^ ones_sum(bytes(frame[14:34]))).to_bytes(2, "little")
        expected = is_good_datagram(bytes(frame))
        assert await said(bench, bytes(frame)) == expected, frame.hex()
