"""The echo instrument: its cocotb tests on two sizes of it, and the parameters that it refuses."""

from __future__ import annotations

from functools import cache

import pytest
from cocotb_run import Outcomes, cocotb_items, report
from csr_block import build_block, run_module
from echo_reference import ORDER, ORDER_PRIMES, power_of_x
from migen import Record

from tierv.soc.echo_instrument import EchoInstrument, echo_layout

USUAL = {"bins": 1024, "counter_bits": 32, "latency_bits": 18, "sum_bits": 64}
#: Its counters are full soon.
TINY = {"bins": 8, "counter_bits": 4, "latency_bits": 8, "sum_bits": 16}
SIZES = {"usual": USUAL, "small": USUAL | {"bins": 64}, "tiny": TINY}
#: The quickest first.
MODULES = {
    "cocotb_echo_saturation": ("tiny",),
    "cocotb_echo_registers": ("small", "tiny"),
    "cocotb_echo_instrument": ("small", "tiny"),
}


def make(size: str):
    pads = Record(echo_layout())
    block = EchoInstrument(pads, **SIZES[size])
    return block, [pads, block.ev]


def variables(size: str) -> dict[str, str]:
    """What tells the tests which model it is."""
    return {f"ECHO_{name.upper()}": str(value) for name, value in SIZES[size].items()}


@cache
def outcomes(module: str, size: str) -> Outcomes:
    folder = build_block(f"echo-{size}", lambda: make(size))
    return run_module(module, folder, variables(size))


@pytest.mark.parametrize(("module", "size", "test"), cocotb_items(MODULES))
def test_echo_instrument(module, size, test):
    report(outcomes(module, size), module, test)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bins": 1}, "bins must be an integer from 2 to 4096, not 1"),
        ({"bins": 8192}, "bins must be an integer from 2 to 4096, not 8192"),
        ({"bins": 100}, "bins must be a power of two, not 100"),
        ({"bins": 64.0}, r"bins must be an integer from 2 to 4096, not 64\.0"),
        ({"bins": True}, "bins must be an integer from 2 to 4096, not True"),
        ({"counter_bits": 33}, "counter_bits must be an integer from 4 to 32, not 33"),
        ({"latency_bits": 7}, "latency_bits must be an integer from 8 to 24, not 7"),
        ({"sum_bits": 35}, "sum_bits must be an integer from 36 to 64, not 35"),
        ({"sum_bits": "64"}, "sum_bits must be an integer from 36 to 64, not '64'"),
    ],
)
def test_an_impossible_parameter_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        EchoInstrument(**changes)


def test_software_is_told_the_size():
    constants = EchoInstrument(bins=256, latency_bits=20).constants()
    assert (constants["ECHO_BINS"], constants["ECHO_LATENCY_BITS"]) == (256, 20)


def test_the_random_numbers_have_the_longest_period():
    assert power_of_x(ORDER) == 1
    assert all(power_of_x(ORDER // prime) != 1 for prime in ORDER_PRIMES)
