"""The services under more datagrams for the application than it can answer."""

from __future__ import annotations

import pytest
from terminal_frames import Conversation, udp_frame

from tierv.sim.experiments.frames import ECHO_PORT
from tierv.sim.stimulus import Frame

#: Cycles of the shortest frame on the wire, and how many there are.
SLOT, FRAMES = 672, 1500
COMMAND_PORT, GAP = 7100, 50_000
ECHO_PEER, COMMAND_PEER = 77, 78


@pytest.mark.parametrize(
    "build", ["tiers", "single", "polled", "tiers, DMA", "single, DMA", "polled, DMA"]
)
def test_commands_are_answered_and_echoes_go_on(systems, build):
    talk = Conversation(systems(build))
    flood = [
        Frame(udp_frame(bytes(18), ECHO_PORT, ECHO_PEER), talk.start + SLOT * index)
        for index in range(FRAMES)
    ]
    end = talk.start + SLOT * FRAMES
    commands = [
        Frame(udp_frame(b"%d ifconfig" % index, COMMAND_PORT, COMMAND_PEER), cycle)
        for index, cycle in enumerate(range(talk.start + GAP, end, GAP))
    ]
    said = talk.run(sorted([*flood, *commands], key=lambda frame: frame.cycle))
    meanwhile = [each.target for each in said.datagrams if each.cycle < end]
    assert meanwhile.count(ECHO_PEER) > FRAMES / 4
    assert meanwhile.count(COMMAND_PEER) > len(commands) / 3
