"""The services with the Ethernet DMA: datagrams of every length, wrong frames among them."""

from __future__ import annotations

import pytest
from checksums import checked_datagram

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
from tierv.sim.records import FrameFlag
from tierv.sim.run import Until
from tierv.sim.stimulus import Frame

INTRODUCTION, START = 200_000, 250_000
#: Of datagrams: those of the shortest frames, and every seventh length.
LENGTHS = [*range(30), *range(30, 1473, 7), 1471, 1472]


@pytest.mark.slow
@pytest.mark.parametrize("build", ["tiers, DMA", "single, DMA", "polled, DMA"])
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
    settings = Settings(seed=5, clock_hz=100_000_000, length=200)
    row = busy_ports.run_trial(Setup(system.services, system.simulation), 64, settings)
    assert row["serial bytes each way"] > 0
    assert (row["frames lost"], row["serial bytes lost"]) == (0, 0)
