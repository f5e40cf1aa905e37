"""The services as boards have them, with few packets, on a SoC with their clock, wire and DMA."""

from __future__ import annotations

import pytest
from checksums import checked_datagram

from tierv.boards.registry import find_board
from tierv.boards.selftest import simulated_params
from tierv.sim.experiments.frames import ECHO_PORT, FAST_ECHO_PORT, arp_request, udp_frame
from tierv.sim.firmware import compile_firmware
from tierv.sim.model import ModelParams, build_model
from tierv.sim.paths import build_root
from tierv.sim.run import Simulation, Until
from tierv.sim.stimulus import Frame

INTRODUCTION, START, PAUSE = 200_000, 250_000, 20_000
LENGTHS = (0, 1, 18, 19, 100, 511, 1000, 1471, 1472)
#: Frames without a gap: as many as the buffers of the smallest board take.
BURST = 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["colorlight_i9", "arty"])
def test_datagrams_of_every_length_come_back(name):
    board = find_board(name)
    soc = simulated_params(board)
    assert soc.eth_dma
    model = build_model(ModelParams(soc=soc, profile=False))
    folder = build_root() / "firmware" / model.params.name / board.app
    program = compile_firmware(board.app, soc, model.include, folder, defines=board.defines)
    frames = [Frame(arp_request(), cycle=INTRODUCTION)]
    payloads = []
    for index, length in enumerate(LENGTHS):
        for number in range(BURST):
            payloads.append(bytes((length + number + at * 7) & 0xFF for at in range(length)))
            port = (ECHO_PORT, FAST_ECHO_PORT)[number % 2]
            frames.append(Frame(udp_frame(payloads[-1], port), cycle=START + PAUSE * index))
    result = Simulation(model).run(
        program, frames=frames, cycles=2_000_000, until=Until(frames=len(frames))
    )
    echoes = [frame.data for frame in result.frames if frame.data[12:14] == b"\x08\0"]
    assert len(echoes) == len(payloads)
    found = {port: [] for port in (ECHO_PORT, FAST_ECHO_PORT)}
    for echo in echoes:
        (_, port, _), payload = checked_datagram(echo)
        found[port].append(payload)
    assert found == {ECHO_PORT: payloads[::2], FAST_ECHO_PORT: payloads[1::2]}
