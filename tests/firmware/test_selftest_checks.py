"""The self-test's checks on SoCs that it is not usually for."""

from __future__ import annotations

import subprocess

import pytest
from host_build import FAKE, ROOT, TESTS, build, write_headers
from serial_headers import serial_headers

from tierv.soc.serial.params import SerialParams


@pytest.mark.parametrize(("receive", "transmit"), [(1, 1), (1, 16), (16, 2), (16, 16)])
def test_serial_ports_pass_with_as_few_characters_as_their_fifos_take(receive, transmit):
    params = SerialParams(
        sys_clk_hz=100_000_000, ports=2, receive_depth=receive, transmit_depth=transmit
    )
    name = f"selftest{receive}-{transmit}"
    headers = serial_headers(params, first_line=16, mac_line=1)
    headers["soc"]["TIMER0_INTERRUPT"] = 4
    program = build(
        name,
        [TESTS / "selftest_driver.c", ROOT / "firmware/drivers/serial.c"],
        include=[FAKE, write_headers(name, **headers)],
        defines=["CONTEXT_POLLED"],
    )
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
