"""The services go on when the application hangs with as many packets as it may hold."""

from __future__ import annotations

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
from system_builds import turns
from terminal_frames import HERE, HERE_MAC, THERE, THERE_MAC, Conversation, udp_frame

from tierv.sim.experiments.frames import ECHO_PORT, FAST_ECHO_PORT
from tierv.sim.stimulus import Frame

#: `j .`, in place of where the application waits.
HANG = (0x6F).to_bytes(4, "little")
#: More datagrams for the application than there are packets.
DATAGRAMS, GAP = 40, 5_000
#: From the first of them to what others answer: the packets of those that were dropped are back.
LATER = 400_000
PEER_PORT = 78
#: Datagrams for the application, then at once pings that keep packets until they are sent, the
#: first of them for long, and datagrams that keep the last packets.
HELD, SENT, LAST = 12, (14, 16), 4
LONG_PING = 1472
#: Pings that come later, and their time apart.
PINGS, PING_GAP = 100, 20_000
#: Within this all is as ever: twice ``NETWORK_REFILL_US``.
DEAF_AT_MOST = 200_000

PEER = Ether(src=THERE_MAC, dst=HERE_MAC) / IP(src=THERE, dst=HERE)


def ping(number: int, size: int = 18) -> bytes:
    return bytes(PEER / ICMP(id=5, seq=number) / bytes(size))


@pytest.mark.parametrize("build", turns("tiers", "single", "tiers, DMA", "single, DMA"))
def test_ping_and_the_stack_s_echo_are_answered(systems, build):
    talk = Conversation(systems(build))
    later = talk.start + LATER
    frames = [
        Frame(udp_frame(b"for the application", ECHO_PORT, 77), talk.start + GAP * index)
        for index in range(DATAGRAMS)
    ]
    frames += [Frame(ping(index), later + GAP * index) for index in range(DATAGRAMS)]
    frames += [Frame(udp_frame(b"fast", FAST_ECHO_PORT, PEER_PORT), later + GAP * DATAGRAMS)]
    said = talk.run(frames, set={"context_wait": HANG})
    assert sum(ICMP in Ether(frame.data) for frame in said.result.frames) == DATAGRAMS
    assert [(each.target, each.payload) for each in said.datagrams] == [(PEER_PORT, b"fast")]


@pytest.mark.parametrize("sent", SENT)
@pytest.mark.parametrize("build", turns("tiers, DMA", "single, DMA"))
def test_packets_that_come_back_untold_are_room_again(systems, build, sent):
    talk = Conversation(systems(build))
    data = udp_frame(b"for the application", ECHO_PORT, 77)
    frames = [Frame(data, talk.start + GAP * index) for index in range(HELD)]
    burst = talk.start + GAP * 2 * HELD
    frames.append(Frame(ping(0, LONG_PING), burst))
    frames += [Frame(ping(0), burst) for _ in range(sent)] + [Frame(data, burst)] * LAST
    later = burst + DEAF_AT_MOST
    frames += [Frame(ping(1 + index), later + PING_GAP * index) for index in range(PINGS)]
    said = talk.run(frames, set={"context_wait": HANG})
    answers = [Ether(frame.data) for frame in said.result.frames]
    numbers = [answer[ICMP].seq for answer in answers if ICMP in answer]
    assert [number for number in numbers if number != 0] == list(range(1, 1 + PINGS))
