"""The services under more datagrams for the application than it can answer."""

from __future__ import annotations

import pytest
from system_builds import OWN_BUILDS, turns
from terminal_frames import Conversation, control_frame, peer_is_here, udp_frame

from tierv.sim.experiments.frames import ECHO_PORT
from tierv.sim.stimulus import Frame, UartBytes

#: Cycles of the shortest frame on the wire, and how many there are.
SLOT, FRAMES = 672, 1500
COMMAND_PORT, GAP = 7100, 50_000
#: Longer than a serial port keeps what it has received.
QUIET = 1_500_000
ECHO_PEER, COMMAND_PEER = 77, 78
#: What a serial port receives meanwhile, without a pause.
CHARACTERS = bytes(range(250))


def flood(start: int) -> list[Frame]:
    """Datagrams without a pause for the application, which sends them back."""
    return [
        Frame(udp_frame(bytes(18), ECHO_PORT, ECHO_PEER), start + SLOT * index)
        for index in range(FRAMES)
    ]


@pytest.mark.parametrize("build", turns(*OWN_BUILDS))
def test_commands_are_answered_and_echoes_go_on(systems, build):
    talk = Conversation(systems(build))
    end = talk.start + SLOT * FRAMES
    commands = [
        Frame(udp_frame(b"%d ifconfig" % index, COMMAND_PORT, COMMAND_PEER), cycle)
        for index, cycle in enumerate(range(talk.start + GAP, end, GAP))
    ]
    said = talk.run(sorted([*flood(talk.start), *commands], key=lambda frame: frame.cycle))
    meanwhile = [each.target for each in said.datagrams if each.cycle < end]
    assert meanwhile.count(ECHO_PEER) > FRAMES / 4
    assert meanwhile.count(COMMAND_PEER) > len(commands) / 3


@pytest.mark.parametrize("build", turns(*OWN_BUILDS))
def test_serial_ports_are_served(systems, build):
    talk = Conversation(systems(build), control_frame(0, peer_is_here()))
    said = talk.run(flood(talk.start), [UartBytes(1, CHARACTERS, talk.start + GAP)], quiet=QUIET)
    assert said.bytes_of(0) == CHARACTERS
