"""A serial block under cocotb: its registers, and its pins with models of the other end."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import Edge, RisingEdge, Timer
from cocotb.utils import get_sim_time
from csr_bench import choose_fault
from csr_block import REGISTERS_VARIABLE

PERIOD_PS = 10_000
SYS_CLK_HZ = 10**12 // PERIOD_PS
RESET_CYCLES = 4
#: The longest test of a sound block takes half of it.
_MOST_NS = 2_000_000
#: Flags of a received character, as ``registers`` has them.
BREAK, FRAMING, PARITY, OVERRUN = 1, 2, 4, 8


@dataclass(frozen=True)
class Form:
    """Speed and form of characters; parity is N, E, O, M or S."""

    baud: float = SYS_CLK_HZ / 16
    data_bits: int = 8
    parity: str = "N"
    stop_bits: int = 1

    @property
    def bit_ps(self) -> float:
        return 1e12 / self.baud

    def levels(self, value: int) -> list[int]:
        """Start bit, data, parity, stop bits."""
        data = [value >> bit & 1 for bit in range(self.data_bits)]
        ones = sum(data)
        parity = {"N": [], "E": [ones % 2], "O": [1 - ones % 2], "M": [1], "S": [0]}
        return [0, *data, *parity[self.parity], *[1] * self.stop_bits]

    @property
    def register(self) -> int:
        """Value of the register format."""
        return self.data_bits - 5 | "NEOMS".index(self.parity) << 2 | (self.stop_bits - 1) << 5

    def changed(self, **changes) -> Form:
        return replace(self, **changes)


USUAL = Form()


def tuning(baud: float) -> int:
    """Value of the register tuning."""
    return min(round(baud * 2**32 / SYS_CLK_HZ), 2**29 - 1)


class SerialBench:
    """Clock, registers and pins."""

    def __init__(self, dut, port: int = 0) -> None:
        self.dut = dut
        self.port = port
        self.registers = json.loads(Path(os.environ[REGISTERS_VARIABLE]).read_text())
        self.rx = getattr(dut, f"pads{port}_rx")
        self.tx = getattr(dut, f"pads{port}_tx")
        self.rts_n = getattr(dut, f"pads{port}_rts_n")
        self.cts_n = getattr(dut, f"pads{port}_cts_n")
        self.irq = getattr(dut, f"irq{port}")
        choose_fault(dut, _MOST_NS)

    async def begin(self, form: Form = USUAL, **registers: int) -> SerialBench:
        """Reset, and give registers values; what happens is half a cycle after a clock edge."""
        dut = self.dut
        for pin in ("sys_clk", "bus_adr", "bus_we", "bus_re", "bus_dat_w"):
            getattr(dut, pin).value = 0
        for name in dir(dut):
            if name.startswith("pads") and name.endswith("_rx"):
                getattr(dut, name).value = 1
            if name.startswith("pads") and name.endswith("_cts_n"):
                getattr(dut, name).value = 0
        dut.sys_rst.value = 1
        await Timer(PERIOD_PS // 2, "ps")
        cocotb.start_soon(Clock(dut.sys_clk, PERIOD_PS, unit="ps").start())
        await self.step(RESET_CYCLES)
        await Timer(PERIOD_PS // 2, "ps")
        dut.sys_rst.value = 0
        self._zero_ps = get_sim_time("ps") - PERIOD_PS // 2
        await self.set_form(form)
        for name, value in registers.items():
            await self.write(name, value)
        return self

    def beside(self, port: int) -> SerialBench:
        """Another port of the block, which has begun."""
        other = SerialBench(self.dut, port)
        other._zero_ps = self._zero_ps
        return other

    @property
    def cycle(self) -> int:
        """Cycles since the reset."""
        return int((get_sim_time("ps") - self._zero_ps) // PERIOD_PS)

    async def step(self, cycles: int = 1) -> None:
        await Timer(cycles * PERIOD_PS, "ps")

    async def until(self, cycle: int) -> None:
        """Wait for the middle of a cycle."""
        await self.step(cycle - self.cycle)

    async def rise(self, signal) -> int:
        """Wait for a signal to rise; returns the cycle and waits for its middle."""
        await RisingEdge(signal)
        await Timer(PERIOD_PS // 2, "ps")
        return self.cycle

    async def set_form(self, form: Form) -> None:
        await self.write("tuning", tuning(form.baud))
        await self.write("format", form.register)

    def _address(self, name: str) -> int:
        own = f"port{self.port}_{name}"
        return self.registers[own if own in self.registers else name][0]

    async def write(self, name: str, value: int, cycles: int = 3) -> None:
        """Write a register; takes so many cycles."""
        await self.write_at(self._address(name), value, cycles)

    async def write_at(self, address: int, value: int, cycles: int = 3) -> None:
        dut = self.dut
        dut.bus_adr.value, dut.bus_dat_w.value, dut.bus_we.value = address, value, 1
        await self.step()
        dut.bus_we.value = 0
        await self.step(cycles - 1)

    async def read(self, name: str) -> int:
        """Read a register; takes three cycles."""
        return await self.read_at(self._address(name))

    async def read_at(self, address: int) -> int:
        dut = self.dut
        dut.bus_adr.value, dut.bus_re.value = address, 1
        await self.step()
        dut.bus_re.value = 0
        value = int(dut.bus_dat_r.value)
        await self.step(2)
        return value

    async def receive(self) -> tuple[int, int] | None:
        """The oldest character and its flags, or None."""
        word = await self.read("receive")
        return (word & 0xFF, word >> 26) if word >> 24 & 1 else None

    async def receive_all(self) -> list[tuple[int, int]]:
        found = []
        while (character := await self.receive()) is not None:
            found.append(character)
        return found

    async def counters(self) -> dict[str, int]:
        """All counters that are not 0; reading makes them so."""
        names = ("received", "transmitted", "overruns", "framing", "parity", "breaks", "lost")
        counts = {name: await self.read(f"count_{name}") for name in (*names, "xoffs")}
        return {name: count for name, count in counts.items() if count}

    async def drive(self, levels: Iterable[int], bit_ps: float) -> None:
        """Give the receive pin levels of equal length, exact on the average; it then stays."""
        start = get_sim_time("ps")
        for number, level in enumerate(levels, 1):
            self.rx.value = level
            await Timer(max(1, round(start + number * bit_ps - get_sim_time("ps"))), "ps")

    async def send(self, values: Iterable[int], form: Form = USUAL) -> None:
        """Characters for the receiver, back to back."""
        await self.drive([bit for value in values for bit in form.levels(value)], form.bit_ps)

    async def send_break(self, bits: float, form: Form = USUAL, delimiter: float = 1) -> None:
        self.rx.value = 0
        await Timer(round(bits * form.bit_ps), "ps")
        self.rx.value = 1
        await Timer(round(delimiter * form.bit_ps), "ps")


class Line:
    """The transmit pin: when it changed, in cycles."""

    def __init__(self, bench: SerialBench) -> None:
        self.bench = bench
        #: Cycle and level.
        self.changes: list[tuple[int, int]] = []
        self._task = cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        while True:
            await Edge(self.bench.tx)
            self.changes.append((self.bench.cycle, int(self.bench.tx.value)))

    def level_at(self, cycle: float) -> int:
        level = 1
        for change, after in self.changes:
            if change > cycle:
                break
            level = after
        return level

    def characters(self, form: Form) -> list[tuple[int, list[int]]]:
        """Cycle of each start bit, and the levels of the character's bits in their middles."""
        bit = form.bit_ps / PERIOD_PS
        bits = len(form.levels(0))
        found, free = [], -1.0
        for cycle, level in self.changes:
            if level == 0 and cycle >= free:
                levels = [self.level_at(cycle + (n + 0.5) * bit) for n in range(bits)]
                found.append((cycle, levels))
                free = cycle + (bits - 0.5) * bit
        return found
