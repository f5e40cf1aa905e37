"""The services with the Ethernet DMA: datagrams of every length, wrong frames among them."""

from __future__ import annotations

import pytest
from checksums import check_checksums
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from tierv.sim.experiments.frames import (
    ECHO_PORT,
    FAST_ECHO_PORT,
    PEER_ADDRESS,
    PEER_PORT,
    arp_request,
    udp_frame,
)
from tierv.sim.firmware import Context, build_firmware
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.records import FrameFlag
from tierv.sim.run import Simulation, Until
from tierv.sim.stimulus import Frame

INTRODUCTION, START = 200_000, 250_000
#: Of datagrams: those of the shortest frames, and every seventh length.
LENGTHS = [*range(30), *range(30, 1473, 7), 1471, 1472]
CONTEXTS = {Context.TIERS: "standard", Context.SINGLE: "single", Context.POLLED: "single"}


def checked(frame: bytes) -> tuple[tuple[str, int, int], bytes]:
    """Where a datagram goes and its payload, if its checksums are right."""
    packet = Ether(frame)
    check_checksums(packet)
    ip, datagram = packet[IP], packet[UDP]
    return (ip.dst, datagram.sport, datagram.dport), frame[42 : 34 + datagram.len]


@pytest.mark.slow
@pytest.mark.parametrize("context", CONTEXTS)
def test_datagrams_of_every_length_come_back_at_line_rate(context):
    soc = simulation_params(cpu_variant=CONTEXTS[context], eth_dma=True)
    model = build_model(ModelParams(soc=soc, profile=False))
    payloads = [bytes((index * 7 + length) & 255 for index in range(length)) for length in LENGTHS]
    wrong = Frame(udp_frame(bytes(50), ECHO_PORT), flags=FrameFlag.BAD_FCS)
    frames = [Frame(arp_request(), cycle=INTRODUCTION)]
    for index, payload in enumerate(payloads):
        port = (ECHO_PORT, FAST_ECHO_PORT)[index % 2]
        frames.append(Frame(udp_frame(payload, port), cycle=START))
        if index % 10 == 0:
            frames.append(wrong)
    # The shortest ones come too fast for S and polled: with pauses.
    if context is not Context.TIERS:
        frames[1:] = [
            Frame(frame.data, cycle=START + 3000 * index, flags=frame.flags)
            for index, frame in enumerate(frames[1:])
        ]
    result = Simulation(model).run(
        build_firmware("services", model, context),
        frames=frames,
        cycles=20_000_000,
        until=Until(frames=1 + len(payloads)),
    )
    echoes = [checked(frame.data) for frame in result.frames if frame.data[12:14] == b"\x08\0"]
    for port, parity in ((ECHO_PORT, 0), (FAST_ECHO_PORT, 1)):
        mine = [payload for (_, source, _), payload in echoes if source == port]
        assert mine == payloads[parity::2]
    assert {(to, port) for (to, _, port), _ in echoes} == {(PEER_ADDRESS, PEER_PORT)}
