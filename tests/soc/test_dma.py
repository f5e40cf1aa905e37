"""The Ethernet DMA: its rings under cocotb, alone between a memory and a MAC's streams."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import pytest
from cocotb_run import Outcomes, cocotb_items, report
from csr_block import build_block, run_module
from dma_bench import make_rings

from tierv.soc.dma.ethernet import EthernetDma
from tierv.soc.params import GIGABIT_ETHERNET

MODULES = {
    "cocotb_dma_receive": ("dma",),
    "cocotb_dma_datagram": ("dma",),
    "cocotb_dma_transmit": ("dma",),
}


@cache
def outcomes(module: str) -> Outcomes:
    return run_module(module, build_block("dma", make_rings))


def test_a_system_clock_too_slow_for_the_wire_is_refused():
    phy = SimpleNamespace(bits_per_second=GIGABIT_ETHERNET)
    with pytest.raises(ValueError, match=r"sys_clk_hz must be 83.3 MHz or more .* not 50000000"):
        EthernetDma(phy, 50_000_000)


@pytest.mark.parametrize(("module", "size", "test"), cocotb_items(MODULES))
def test_the_rings(module, size, test):
    report(outcomes(module), module, test)
