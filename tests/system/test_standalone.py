"""The program of boards without Ethernet, on a SoC without it."""

from __future__ import annotations

import pytest

from tierv.sim.firmware import Context, build_firmware
from tierv.sim.model import ModelParams, build_model, simulation_params
from tierv.sim.run import Simulation, Until
from tierv.sim.stimulus import UartBytes

pytestmark = pytest.mark.slow
READY = 400_000
TEXT = bytes(range(256)) * 2


def test_ports_send_back_what_they_receive_while_the_console_answers():
    soc = simulation_params(ethernet=False, uarts=2)
    model = build_model(ModelParams(soc=soc, profile=False))
    program = build_firmware("standalone", model, Context.TIERS)
    uart = [
        UartBytes(0, b"irqtune\n", cycle=READY),
        UartBytes(1, TEXT, cycle=READY),
        UartBytes(2, TEXT[::-1], cycle=READY + 333),
    ]
    result = Simulation(model).run(
        program, cycles=20_000_000, uart=uart, until=Until(quiet_cycles=READY)
    )
    assert result.uart(1) == TEXT
    assert result.uart(2) == TEXT[::-1]
    console = result.uart(0).decode()
    assert console.endswith("tierv> ")
    rows = [line.split() for line in console.splitlines()]
    priorities = {
        words[1]: int(words[3]) for words in rows if len(words) == 6 and words[0].isdigit()
    }
    # A port has room for a few characters only.
    assert min(priorities["uart0"], priorities["uart1"]) > priorities["console"]
