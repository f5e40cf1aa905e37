"""The Ethernet DMA: its rings under cocotb, alone between a memory and a MAC's streams."""

from __future__ import annotations

from functools import cache, partial
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from cocotb_run import Outcomes, cocotb_items, report
from csr_block import build_block, run_module
from dma_bench import make_rings
from liteeth.phy.model import LiteEthPHYModel
from migen import Record

from tierv.soc.dma.ethernet import SEND_CYCLES, EthernetDma
from tierv.soc.params import GIGABIT_ETHERNET


def make_small_counters():
    """Counters of two bits."""
    with patch("tierv.soc.dma.ethernet._COUNT_BITS", 2):
        return make_rings()


#: Where the wire may be faster than the rings, frames wait until they have been read.
BLOCKS = {
    "dma": make_rings,
    "dma-whole": partial(make_rings, whole_frames=True),
    "dma-counters": make_small_counters,
}
#: The quickest first.
MODULES = {
    "cocotb_dma_counters": ("dma-counters",),
    "cocotb_dma_gigabit": ("dma", "dma-whole"),
    "cocotb_dma_registers": ("dma",),
    "cocotb_dma_receive": ("dma",),
    "cocotb_dma_transmit": ("dma", "dma-whole"),
    "cocotb_dma_datagram": ("dma",),
}


#: Cycles of a word on a wire of 1 Gbit/s at 73 MHz, and at 50 MHz.
WORD_CYCLES = {"dma": 2.34, "dma-whole": 1.6}
#: Of one on the fastest wire to which frames go in this way.
FASTEST_WORD_CYCLES = {"dma": SEND_CYCLES, "dma-whole": 1.6}


def variables(block: str) -> dict[str, str]:
    """What tells the tests which model it is."""
    if block not in WORD_CYCLES:
        return {}
    return {
        "DMA_WORD_CYCLES": str(WORD_CYCLES[block]),
        "DMA_FASTEST_WORD_CYCLES": str(FASTEST_WORD_CYCLES[block]),
    }


@cache
def outcomes(module: str, block: str) -> Outcomes:
    return run_module(module, build_block(block, BLOCKS[block]), variables(block))


def test_a_system_clock_too_slow_for_the_wire_is_refused():
    phy = SimpleNamespace(bits_per_second=GIGABIT_ETHERNET)
    with pytest.raises(ValueError, match=r"sys_clk_hz must be 39.7 MHz or more .* not 39000000"):
        EthernetDma(phy, 39_000_000)


def test_an_interface_of_a_rate_that_nobody_knows_is_refused():
    names = ("valid", "data", "ready")
    pads = Record([(f"{way}_{name}", 8) for way in ("source", "sink") for name in names])
    phy = LiteEthPHYModel(pads)
    with pytest.raises(ValueError, match="phy must say its bits_per_second, .* LiteEthPHYModel"):
        EthernetDma(phy, 100_000_000)


@pytest.mark.parametrize(("module", "block", "test"), cocotb_items(MODULES))
def test_the_rings(module, block, test):
    report(outcomes(module, block), module, test)
