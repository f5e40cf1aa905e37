"""A clock and the CSR bus of a block under cocotb, one cycle at a time."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Mapping
from pathlib import Path

import cocotb
from cocotb.triggers import Timer
from csr_block import REGISTERS_VARIABLE
from planted_faults import MUTATION_VARIABLE

_HALF_PERIOD_NS = 5
_RESET_CYCLES = 2
#: The longest test of a sound block takes half of it.
_MOST_NS = 700_000


def choose_fault(dut, most_ns: int) -> None:
    """Make the planted fault of the environment active, if any; the test must then end in time."""
    mutation = int(os.environ.get(MUTATION_VARIABLE, "0"))
    if mutation:
        dut.mutation.value = mutation
        cocotb.start_soon(_give_up(most_ns))


async def _give_up(most_ns: int) -> None:
    await Timer(most_ns, "ns")
    raise AssertionError(f"the test does not end in {most_ns} ns")


class CsrBench:
    """Drives the inputs of a block of ``csr_block`` one clock cycle at a time.

    In each cycle inputs are set first and outputs are then seen as the next clock edge will.
    """

    def __init__(self, dut) -> None:
        self.dut = dut
        #: Word address and number of words of each register, the highest word first.
        self.registers: dict[str, tuple[int, int]] = json.loads(
            Path(os.environ[REGISTERS_VARIABLE]).read_text()
        )
        #: The present cycle.
        self.cycle = 0
        #: Called in each cycle, before its clock edge.
        self.each_cycle: list[Callable[[], None]] = []
        for pin in ("sys_clk", "sys_rst", "bus_adr", "bus_we", "bus_re", "bus_dat_w"):
            getattr(dut, pin).value = 0
        choose_fault(dut, _MOST_NS)

    async def reset(self) -> None:
        """Two cycles of reset."""
        self.dut.sys_rst.value = 1
        await self.step(_RESET_CYCLES)
        self.dut.sys_rst.value = 0

    async def step(self, cycles: int = 1) -> None:
        """Let so many cycles pass."""
        for _ in range(cycles):
            await Timer(_HALF_PERIOD_NS, "ns")
            for look in self.each_cycle:
                look()
            self.dut.sys_clk.value = 1
            await Timer(_HALF_PERIOD_NS, "ns")
            self.dut.sys_clk.value = 0
            self.cycle += 1

    async def write(self, name: str, value: int) -> int:
        """Write a register of one word; takes a cycle, whose number it returns."""
        dut = self.dut
        address, words = self.registers[name]
        assert words == 1
        dut.bus_adr.value, dut.bus_dat_w.value, dut.bus_we.value = address, value, 1
        await self.step()
        dut.bus_we.value = 0
        return self.cycle - 1

    async def read(self, name: str) -> int:
        """Read a register, beginning in the present cycle; takes two cycles for each word."""
        dut = self.dut
        address, words = self.registers[name]
        value = 0
        for word in range(words):
            dut.bus_adr.value, dut.bus_re.value = address + word, 1
            await self.step()
            dut.bus_re.value = 0
            await Timer(1, "ns")
            value = value << 32 | int(dut.bus_dat_r.value)
            await self.step()
        return value


async def check_storages(bench, masks: Mapping[str, int], reset: Mapping[str, int]) -> None:
    """Each of the registers, just reset, holds its value in ``reset`` or 0, and then the bits that
    it has of what was last written to it.
    """
    for name in masks:
        assert await bench.read(name) == reset.get(name, 0), name
    rng = random.Random(1)
    values: dict[str, int] = {}
    for _ in range(4):
        for name in rng.sample([*masks], len(masks)):
            value = rng.getrandbits(32)
            values[name] = value & masks[name]
            await bench.write(name, value)
        # Odd and even, and long enough for a block to become quiet.
        for wait in (1, 9, 12):
            await bench.step(wait)
            for name, value in values.items():
                assert await bench.read(name) == value, name


def low_bits(bits: Mapping[str, int]) -> dict[str, int]:
    """Masks of registers that have so many bits, the lowest ones."""
    return {name: (1 << count) - 1 for name, count in bits.items()}
