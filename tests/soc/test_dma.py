"""The Ethernet DMA: its rings under cocotb, alone between a memory and a MAC's streams."""

from __future__ import annotations

from functools import cache

import pytest
from cocotb_run import Outcomes, cocotb_items, report
from csr_block import build_block, run_module
from dma_bench import make_rings

MODULES = {"cocotb_dma_receive": ("dma",), "cocotb_dma_transmit": ("dma",)}


@cache
def outcomes(module: str) -> Outcomes:
    return run_module(module, build_block("dma", make_rings))


@pytest.mark.parametrize(("module", "size", "test"), cocotb_items(MODULES))
def test_the_rings(module, size, test):
    report(outcomes(module), module, test)
