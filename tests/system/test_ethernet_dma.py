"""The services with the Ethernet DMA: datagrams of every length, wrong frames among them."""

from __future__ import annotations

import pytest
from checksums import checked_datagram
from system_builds import DMA_BUILDS, turns
from terminal_frames import Conversation, control_frame, peer_is_here
from terminal_frames import udp_frame as datagram

from tierv.sim.experiments import busy_ports
from tierv.sim.experiments.bench import Setup
from tierv.sim.experiments.experiment import Settings
from tierv.sim.experiments.frames import (
    ECHO_PORT,
    FAST_ECHO_PORT,
    PEER_ADDRESS,
    PEER_PORT,
    arp_request,
    udp_frame,
)
from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command
from tierv.sim.records import FrameFlag
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame, UartBytes, UartFormat

INTRODUCTION, START = 200_000, 250_000
#: Cycles of the shortest frame on the wire.
SLOT = 672
#: Of datagrams: those of the shortest frames, and every seventh length.
LENGTHS = [*range(30), *range(30, 1473, 7), 1471, 1472]


@pytest.mark.slow
@pytest.mark.parametrize("build", DMA_BUILDS)
def test_datagrams_of_every_length_come_back_at_line_rate(systems, build):
    payloads = [bytes((index * 7 + length) & 255 for index in range(length)) for length in LENGTHS]
    wrong = Frame(udp_frame(bytes(50), ECHO_PORT), flags=FrameFlag.BAD_FCS)
    frames = [Frame(arp_request(), cycle=INTRODUCTION)]
    for index, payload in enumerate(payloads):
        port = (ECHO_PORT, FAST_ECHO_PORT)[index % 2]
        frames.append(Frame(udp_frame(payload, port), cycle=START))
        if index % 10 == 0:
            frames.append(wrong)
    # The shortest ones come too fast for S and polled: with pauses.
    if build != "tiers, DMA":
        frames[1:] = [
            Frame(frame.data, cycle=START + 3000 * index, flags=frame.flags)
            for index, frame in enumerate(frames[1:])
        ]
    result = systems(build).run(
        frames=frames,
        cycles=20_000_000,
        until=Until(frames=1 + len(payloads)),
    )
    echoes = [
        checked_datagram(frame.data) for frame in result.frames if frame.data[12:14] == b"\x08\0"
    ]
    for port, parity in ((ECHO_PORT, 0), (FAST_ECHO_PORT, 1)):
        mine = [payload for (_, source, _), payload in echoes if source == port]
        assert mine == payloads[parity::2]
    assert {(to, port) for (to, _, port), _ in echoes} == {(PEER_ADDRESS, PEER_PORT)}


def test_shortest_frames_at_line_rate_and_four_busy_serial_ports_lose_nothing(systems):
    system = systems("tiers, DMA")
    settings = Settings(seed=5, clock_hz=100_000_000, length=2)
    row = busy_ports.run_trial(Setup(system.services, system.simulation), 64, settings)
    assert row["serial bytes each way"] > 0
    assert (row["frames lost"], row["serial bytes lost"]) == (0, 0)


@pytest.mark.parametrize("build", turns(*DMA_BUILDS))
def test_serial_packets_find_a_copy_also_when_frames_at_line_rate_have_all_room(systems, build):
    """Those of serial ports lie where the MAC does not reach."""
    baud, ports, count = 1_000_000, 2, 1500
    settings = (
        protocol.number(Command.SET_BAUDRATE, baud),
        protocol.number(Command.PACK_LENGTH, 16),
    )
    talk = Conversation(
        systems(build),
        *(control_frame(port, peer_is_here(), *settings) for port in range(ports)),
    )
    end = talk.start + SLOT * count
    flood = [Frame(datagram(bytes(18), ECHO_PORT, 77), talk.start + SLOT * i) for i in range(count)]
    later = Frame(datagram(b"after it", ECHO_PORT, 78), end + 200_000)
    text = bytes(range(256)) * 4
    uart = [UartBytes(1 + port, text, talk.start, UartFormat(baud)) for port in range(ports)]
    said = talk.run([*flood, later], uart)
    assert [each.payload for each in said.datagrams if each.target == 78] == [b"after it"]
    assert sum(each.target == 77 for each in said.datagrams) > count // 4
    for port in range(ports):
        # Who polls at this rate comes too late for some.
        assert build == "polled, DMA" or said.bytes_of(port) == text
