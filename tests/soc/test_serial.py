"""The serial ports: cocotb tests of blocks of several sizes, and the parameters they refuse."""

from __future__ import annotations

from functools import cache

import pytest
from csr_block import build_block, cocotb_tests, run_module
from migen import Record, Signal
from serial_bench import SYS_CLK_HZ

from tierv.soc.serial import SerialParams, SerialPorts

#: Characters in the receive and in the transmit FIFO.
DEPTHS = {"usual": (16, 16), "least": (1, 1), "most": (256, 256), "uneven": (7, 3)}
MODULES = {"cocotb_serial_receiver": ("usual",)}
ITEMS = [
    pytest.param(module, size, test, id=f"{size}-{test}")
    for module, sizes in MODULES.items()
    for size in sizes
    for test in cocotb_tests(module)
]
PORTS = 2


def make(size: str):
    receive, transmit = DEPTHS[size]
    params = SerialParams(
        sys_clk_hz=SYS_CLK_HZ, ports=PORTS, receive_depth=receive, transmit_depth=transmit
    )
    layout = [("tx", 1), ("rx", 1), ("rts_n", 1), ("cts_n", 1)]
    pads = [Record(layout, name=f"pads{index}") for index in range(PORTS)]
    block = SerialPorts(pads, params)
    irqs = [Signal(name=f"irq{index}") for index in range(PORTS)]
    block.comb += [irq.eq(line) for irq, line in zip(irqs, block.irqs, strict=True)]
    return block, [*pads, *irqs]


@cache
def outcomes(module: str, size: str) -> dict[str, str | None]:
    folder = build_block(f"serial-{size}", lambda: make(size))
    receive, transmit = DEPTHS[size]
    variables = {"SERIAL_RECEIVE_DEPTH": str(receive), "SERIAL_TRANSMIT_DEPTH": str(transmit)}
    return run_module(module, folder, variables)


@pytest.mark.parametrize(("module", "size", "test"), ITEMS)
def test_serial(module, size, test):
    results = outcomes(module, size)
    assert test in results, f"{module} ended before {test}"
    if results[test]:
        pytest.fail(results[test], pytrace=False)
