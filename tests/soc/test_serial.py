"""The serial ports: cocotb tests of blocks of several sizes, and the parameters they refuse."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from cocotb_run import Outcomes, cocotb_items, report
from csr_block import build_block, run_module
from litex.soc.interconnect import csr_bus
from migen import Module, Record, Signal, run_simulation
from serial_bench import SYS_CLK_HZ

from tierv.soc.serial import SOURCES, SerialParams, SerialPorts, registers
from tierv.soc.serial.params import baud_range, tuning_word

#: Characters in the receive and in the transmit FIFO.
#: ``counters`` has counters of four bits.
DEPTHS = {
    "usual": (16, 16),
    "counters": (16, 16),
    "least": (1, 1),
    "most": (256, 256),
    "uneven": (7, 3),
}
#: The quickest first.
MODULES = {
    "cocotb_serial_counters": ("counters",),
    "cocotb_serial_registers": ("usual",),
    "cocotb_serial_events": ("usual",),
    "cocotb_serial_flow": ("usual",),
    "cocotb_serial_turn": ("usual",),
    "cocotb_serial_fifo": ("usual", "least", "most", "uneven"),
    "cocotb_serial_transmitter": ("usual",),
    "cocotb_serial_receiver": ("usual",),
}
PORTS = 2


def make(size: str):
    receive, transmit = DEPTHS[size]
    params = SerialParams(
        sys_clk_hz=SYS_CLK_HZ, ports=PORTS, receive_depth=receive, transmit_depth=transmit
    )
    layout = [("tx", 1), ("rx", 1), ("rts_n", 1), ("cts_n", 1)]
    pads = [Record(layout, name=f"pads{index}") for index in range(PORTS)]
    few = {name: (4, what) for name, (_, what) in registers.COUNTERS.items()}
    with patch.dict(registers.COUNTERS, few if size == "counters" else {}):
        block = SerialPorts(pads, params)
    irqs = [Signal(name=f"irq{index}") for index in range(PORTS)]
    block.comb += [irq.eq(line) for irq, line in zip(irqs, block.irqs, strict=True)]
    return block, [*pads, *irqs]


@cache
def model(size: str) -> Path:
    return build_block(f"serial-{size}", lambda: make(size), SOURCES)


def variables(size: str) -> dict[str, str]:
    """What tells the tests which model it is."""
    receive, transmit = DEPTHS[size]
    return {"SERIAL_RECEIVE_DEPTH": str(receive), "SERIAL_TRANSMIT_DEPTH": str(transmit)}


@cache
def outcomes(module: str, size: str) -> Outcomes:
    return run_module(module, model(size), variables(size))


@pytest.mark.parametrize(("module", "size", "test"), cocotb_items(MODULES))
def test_serial(module, size, test):
    report(outcomes(module, size), module, test)


#: Rates that serial ports usually have.
STANDARD_BAUDS = (
    *(300, 600, 1_200, 2_400, 4_800, 9_600, 14_400, 19_200, 28_800, 31_250, 38_400, 57_600),
    *(76_800, 115_200, 230_400, 460_800, 500_000, 921_600),
)


@pytest.mark.parametrize("sys_clk_hz", [50_000_000, 60_000_000, 100_000_000, 125_000_000])
def test_every_standard_speed_is_within_a_thousandth(sys_clk_hz):
    for baud in STANDARD_BAUDS:
        achieved = tuning_word(baud, sys_clk_hz) * sys_clk_hz / 2**32
        assert abs(achieved / baud - 1) < 0.001, baud


def test_the_slowest_speed_is_within_a_thousandth_too():
    slowest, _ = baud_range(SYS_CLK_HZ)
    assert abs(tuning_word(slowest, SYS_CLK_HZ) * SYS_CLK_HZ / 2**32 / slowest - 1) <= 0.001


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ports": 0}, "ports must be an integer from 1 to 16, not 0"),
        ({"ports": 17}, "ports must be an integer from 1 to 16, not 17"),
        ({"receive_depth": 0}, "receive_depth must be an integer from 1 to 256, not 0"),
        ({"transmit_depth": 257}, "transmit_depth must be an integer from 1 to 256, not 257"),
        ({"receive_depth": 8.0}, r"receive_depth must be an integer from 1 to 256, not 8\.0"),
        ({"transmit_depth": True}, "transmit_depth must be an integer from 1 to 256, not True"),
        ({"stamps": 1}, "stamps must be True or False, not 1"),
        ({"baud": 12_500_001}, "baud must be from 12 to 12500000, not 12500001"),
        ({"baud": 11}, "baud must be from 12 to 12500000, not 11"),
        ({"sys_clk_hz": 100e6}, r"sys_clk_hz must be an integer from 8 to .*, not 100000000\.0"),
        ({"sys_clk_hz": 0}, "sys_clk_hz must be an integer from 8 to 1000000000, not 0"),
    ],
)
def test_an_impossible_parameter_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        SerialParams(**{"sys_clk_hz": SYS_CLK_HZ} | changes)


def test_there_must_be_pins_for_every_port():
    with pytest.raises(ValueError, match="pads must be for 2 ports, not for 1"):
        SerialPorts([Record([("tx", 1), ("rx", 1)])], SerialParams(sys_clk_hz=10**8, ports=2))


def test_every_register_says_what_it_is():
    block, _ = make("least")
    for register in block.get_csrs():
        assert register.description, register.name
        for field in getattr(getattr(register, "fields", None), "fields", []):
            assert field.description, (register.name, field.name)


def heard(block: SerialPorts, paging: int, page: int, words: list[int]) -> list[tuple[int, int]]:
    """Which reads of these words of the CSR bus the block listens to, and for which word of it."""
    bench = Module()
    bus = csr_bus.Interface(32, 15)
    bench.comb += block.listen(SimpleNamespace(bus=bus), page, paging=paging)
    found = []

    def drive():
        yield bus.re.eq(1)
        for word in words:
            yield bus.adr.eq(word)
            yield
            if (yield block._read):
                found.append((word, (yield block._address)))

    run_simulation(bench, drive())
    return found


@pytest.mark.parametrize("paging", [0x400, 0x800, 0x1000, 0x4000])
def test_a_block_hears_the_accesses_of_its_page_whatever_pages_the_soc_has(paging):
    pads = [Record([("tx", 1), ("rx", 1)]) for _ in range(2)]
    block = SerialPorts(pads, SerialParams(sys_clk_hz=10**8, ports=2))
    words, page = paging // 4, 3
    registers = len(block.get_csrs())
    addresses = [page * words + n for n in range(registers)]
    assert heard(block, paging, page, addresses) == [(one, one % words) for one in addresses]
    # Other pages, and what is far behind the registers in this one.
    others = [n * words + 5 for n in (0, 1, 2, 4, 5, 7)]
    others += [page * words + n for n in range(512, words, 512)]
    assert heard(block, paging, page, others) == []


def test_pages_that_are_too_small_for_the_ports_are_refused():
    pads = [Record([("tx", 1), ("rx", 1)]) for _ in range(16)]
    block = SerialPorts(pads, SerialParams(sys_clk_hz=10**8, ports=16))
    message = "paging must be at least 1608 bytes for 16 ports, not 1024"
    with pytest.raises(ValueError, match=message):
        block.listen(SimpleNamespace(bus=csr_bus.Interface(32, 14)), 3, paging=0x400)
