"""The services go on when the application hangs with as many packets as it may hold."""

from __future__ import annotations

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether
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


@pytest.mark.parametrize("build", ["tiers", "single", "tiers, DMA", "single, DMA"])
def test_ping_and_the_stack_s_echo_are_answered(systems, build):
    talk = Conversation(systems(build))
    later = talk.start + LATER
    ping = bytes(
        Ether(src=THERE_MAC, dst=HERE_MAC) / IP(src=THERE, dst=HERE) / ICMP(id=5) / bytes(40)
    )
    frames = [
        Frame(udp_frame(b"for the application", ECHO_PORT, 77), talk.start + GAP * index)
        for index in range(DATAGRAMS)
    ]
    frames += [Frame(ping, later + GAP * index) for index in range(DATAGRAMS)]
    frames += [Frame(udp_frame(b"fast", FAST_ECHO_PORT, PEER_PORT), later + GAP * DATAGRAMS)]
    said = talk.run(frames, set={"context_wait": HANG})
    assert sum(ICMP in Ether(frame.data) for frame in said.result.frames) == DATAGRAMS
    assert [(each.target, each.payload) for each in said.datagrams] == [(PEER_PORT, b"fast")]
