"""The self-test's checks: what they find, and that they pass on SoCs that it is not usually for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from host_build import FAKE, NOT_HERE, ROOT, TESTS, build, write_headers
from serial_headers import serial_headers

from tierv.soc.serial.params import SerialParams

PORTS = 2
#: What is wrong with a board, and which check must find it.
FAULTS = {
    "a bit that is stuck": "local memory",
    "a byte that is not written alone": "large memory",
    "division": "arithmetic",
    "services in the wrong order": "services",
    "no protocol service": "services",
    "no timer": "timer",
    "a late timer": "timer",
    "an early timer": "timer",
    "two ticks": "timer",
    "a lost character": "serial port",
    "a wrong character": "serial port",
    "a character too many": "serial port",
    "a line that is never idle": "serial port",
}


def build_checks(receive: int, transmit: int, cpu: str = "VEXRISCV") -> Path:
    params = SerialParams(
        sys_clk_hz=100_000_000, ports=PORTS, receive_depth=receive, transmit_depth=transmit
    )
    name = f"selftest{receive}-{transmit}-{cpu}"
    headers = serial_headers(params, first_line=16, mac_line=1)
    headers["soc"] |= {"TIMER0_INTERRUPT": 4, f"CONFIG_CPU_TYPE_{cpu}": 1}
    return build(
        name,
        [TESTS / "selftest_driver.c", ROOT / "firmware/drivers/serial.c"],
        include=[FAKE, write_headers(name, **headers)],
        defines=["CONTEXT_POLLED"],
    )


def failures(program: Path, *fault: str) -> list[str]:
    """The checks that have not passed, of which the self-test's end has the number."""
    done = subprocess.run([program, *fault], capture_output=True, text=True, check=False)
    if done.returncode == NOT_HERE:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
    *names, number = done.stdout.splitlines()
    assert int(number) == len(names)
    return names


@pytest.mark.parametrize(("receive", "transmit"), [(1, 1), (1, 16), (16, 2), (16, 16)])
def test_a_good_board_passes_with_as_few_characters_as_its_fifos_take(receive, transmit):
    assert failures(build_checks(receive, transmit)) == []


@pytest.fixture(scope="module", params=["VEXRISCV", "PICORV32"])
def checks(request) -> Path:
    """On a CPU that sees which lines are pending, and on one that does not."""
    return build_checks(16, 16, request.param)


def test_a_good_board_passes_whether_its_cpu_sees_lines_or_not(checks):
    assert failures(checks) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found_by_the_check_for_it_and_by_no_other(checks, fault):
    found = FAULTS[fault]
    assert failures(checks, fault) == [found] * (PORTS if found == "serial port" else 1)
