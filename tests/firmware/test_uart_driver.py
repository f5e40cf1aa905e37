"""The driver of LiteX's UART, which is the console: bytes both ways, events, the speed."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_build import (
    FAKE,
    ROOT,
    TESTS,
    build,
    register_definitions,
    run_stepped,
    write_headers,
)
from litex.soc.cores.uart import UART

BASE, PHY_BASE = 0xF000_1000, 0xF000_1800
CASES = {
    "receive": "bytes come in their order and are told of until they are taken",
    "overruns": "bytes that the ring has no room for are counted and do not block the line",
    "transmit": "as much is queued as there is room for and leaves as the line sends",
    "late": "what happens behind the service's last look calls again",
    "start": "the start forgets what was before",
    "baud": "the speed is the nearest one below and what is achieved is told",
}


@pytest.fixture(scope="module")
def uart_driver() -> Path:
    csr = register_definitions("CSR_UART", UART().get_csrs())
    csr = {name: value + BASE * name.endswith("_ADDR") for name, value in csr.items()}
    csr |= {"CSR_UART_BASE": BASE, "CSR_UART_PHY_TUNING_WORD_ADDR": PHY_BASE}
    soc = {"CONFIG_CLOCK_FREQUENCY": 60_000_000, "CONFIG_CPU_TIERS": 1, "UARTS": 0}
    include = [FAKE, write_headers("uart", csr=csr, soc=soc)]
    return build(
        "uart_driver", [TESTS / "uart_driver.c", ROOT / "firmware/drivers/uart.c"], include=include
    )


@pytest.mark.parametrize("case", CASES, ids=list(CASES.values()))
def test_uart(uart_driver: Path, case: str) -> None:
    run_stepped(uart_driver, case)
