"""The SoC at work: accesses to nowhere, all sixteen ports, and other clocks."""

from __future__ import annotations

import pytest
from soc_firmware import build_firmware

from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.run import Simulation, Until
from tierv.sim.stimulus import Frame, UartBytes

ALL_ONES = 0xFFFF_FFFF


@pytest.mark.parametrize("address", [0xE000_0000, 0x9000_0000, 0x8200_0000, 0xF100_0000])
def test_an_access_to_nowhere_is_a_bus_error_within_ten_microseconds(simulation, firmware, address):
    results = simulation.run(firmware("wild"), cycles=100_000, set={"address": address}).results
    before, value, cycles, after = (results[index] for index in range(4))
    assert (before, value, after) == (0, ALL_ONES, 2)
    assert 100 <= cycles <= 1000


@pytest.fixture(scope="module")
def sixteen() -> Simulation:
    """The largest SoC, at another clock; compiled once only, because it runs only here."""
    params = simulation_params(cpu="vexriscv", uarts=16, sys_clk_hz=60_000_000)
    return Simulation(build_model(ModelParams(soc=params, profile=False)))


@pytest.mark.slow
def test_the_console_and_all_sixteen_ports_work_at_once(sixteen):
    program = build_firmware("uart_loop", sixteen.model.include)
    items = [UartBytes(port, bytes([port, 0x80 + port])) for port in range(17)]
    result = sixteen.run(program, cycles=5_000_000, uart=items, set={"characters": 34, "ports": 17})
    expected = [bytes([port + 1, 0x81 + port]) for port in range(17)]
    assert [result.uart(port) for port in range(17)] == expected


@pytest.mark.slow
def test_frames_pass_at_a_clock_that_the_mii_rate_does_not_divide(sixteen):
    program = build_firmware("echo", sixteen.model.include)
    frame = Frame(bytes(range(12)) + bytes(range(100)))
    out = sixteen.run(program, cycles=1_000_000, frames=[frame], until=Until(frames=1)).frames[0]
    assert (out.data[12:], out.errors) == (frame.data[12:], 0)
    # 60 MHz: 2.4 cycles a nibble.
    assert abs(out.end_cycle - out.cycle - (8 + 112 + 4) * 2 * 2.4) <= 2
