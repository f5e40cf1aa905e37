"""The firmware compiles for SoCs at the corners of what the parameters allow."""

from __future__ import annotations

import pytest
from slow_turns import turns

from tierv.sim.design import elaborate
from tierv.sim.firmware import compile_firmware
from tierv.sim.model import simulation_params

CORNERS = {
    "no serial ports": {"uarts": 0},
    "least": {
        "cpu_variant": "tiers2",
        "uarts": 1,
        "uart_receive_bytes": 1,
        "uart_transmit_bytes": 1,
        "uart_stamps": False,
        "echo_bins": 0,
        "eth_rx_slots": 2,
        "eth_tx_slots": 2,
    },
    "fullest local memory": {
        "cpu_variant": "tiers8",
        "uarts": 16,
        "uart_receive_bytes": 256,
        "uart_transmit_bytes": 256,
        "eth_dma": True,
    },
    "interrupts of another kind": {"cpu": "picorv32"},
}


#: They take their turn with the slow tests.
SLOW = ("no serial ports", "least", "interrupts of another kind")


@pytest.mark.parametrize("corner", turns(CORNERS, SLOW))
def test_applications_compile(corner, tmp_path):
    params = simulation_params(**CORNERS[corner])
    elaborate(params, tmp_path / "soc")
    for app in ("services", "standalone", "selftest"):
        compile_firmware(app, params, tmp_path / "soc/include", tmp_path / app)
