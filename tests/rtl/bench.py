"""A bench for the core alone: clock, local memories, buses, lines, and an observer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from bus_model import BusModel, merged
from cocotb.triggers import Timer
from cocotb_cores import CORE_VARIABLE, CORES
from planted_faults import MUTATION_VARIABLE

from tierv.rtl.params import CoreParams

#: Cycles from stage I to stage M.
ISSUE_TO_RETIRE = 3
_HALF_PERIOD = Timer(5, "ns")
#: A store here ends a program; the word stored is its result.
EXIT = 0xF000_0000
#: RAM on the bus.
RAM = 0x4000_0000
#: The bus answers with an error.
NOWHERE = 0x5000_0000


def params_under_test() -> CoreParams:
    """The parameters of the model that runs."""
    return CORES[os.environ[CORE_VARIABLE]]


class BenchError(AssertionError):
    """A program did not do what it is bound to do."""


@dataclass(frozen=True)
class Issue:
    """An instruction left stage I."""

    cycle: int
    tier: int


@dataclass(frozen=True)
class Retirement:
    """An instruction retired in stage M."""

    cycle: int
    tier: int
    pc: int

    @property
    def issued(self) -> int:
        """The cycle in which it issued, for the last time if it was repeated."""
        return self.cycle - ISSUE_TO_RETIRE


@dataclass
class Observer:
    """What the core did in each cycle since the last reset."""

    issues: list[Issue] = field(default_factory=list)
    retirements: list[Retirement] = field(default_factory=list)
    #: (cycle, tier) of each end of a wfi.
    wakes: list[tuple[int, int]] = field(default_factory=list)

    def of(self, tier: int) -> list[Retirement]:
        """Retirements of one tier."""
        return [r for r in self.retirements if r.tier == tier]

    def at(self, pc: int, tier: int | None = None) -> list[int]:
        """Cycles in which the instruction at `pc` issued."""
        return [
            r.issued for r in self.retirements if r.pc == pc and (tier is None or r.tier == tier)
        ]

    def issued(self, tier: int) -> list[int]:
        """Cycles in which an instruction of the tier issued."""
        return [i.cycle for i in self.issues if i.tier == tier]


class _Pins(dict):
    """Handles of a module's pins by name: as attributes they are looked up anew at each use."""

    def __init__(self, dut) -> None:
        super().__init__()
        self._dut = dut

    def __missing__(self, name: str):
        self[name] = getattr(self._dut, name)
        return self[name]


class Bench:
    """Drives every input of the core, one clock cycle at a time.

    In each cycle, inputs are set first, then outputs are sampled as the next clock edge will see
    them. Local memories are read and written at that edge.
    """

    def __init__(self, dut, params: CoreParams | None = None) -> None:
        self.params = params or params_under_test()
        self._pins = _Pins(dut)
        #: What the inputs were set to.
        self._inputs: dict[str, int] = {}
        self.imem = [0] * (self.params.imem.size_bytes // 8)
        self.dmem = [0] * (self.params.dmem.size_bytes // 4)
        self.bus = BusModel()
        self.bus.add_ram(RAM, 0x4000)
        #: Behind the caches, if there are any.
        self.memory = BusModel()
        if self.params.has_caches:
            self.memory.add_ram(self.params.cached.base, 0x4000)
        self.seen = Observer()
        #: The present cycle; 0 is the first without reset.
        self.cycle = 0
        #: State of the line and timer pins in this cycle; tests change it between cycles.
        self.lines = 0
        self.timer = 0
        #: Called at the beginning of each cycle.
        self.each_cycle: list[Callable[[], None]] = []
        self.result: int | None = None
        self.bus.on_write(EXIT, self._exit)
        self._resets = False
        mutation = int(os.environ.get(MUTATION_VARIABLE, "0"))
        if mutation:
            dut.mutation.value = mutation

    def _exit(self, word: int) -> None:
        self.result = word

    # Memories.

    def load(self, address: int, words: Iterable[int]) -> int:
        """Put words into a local or cached memory or RAM; returns the address behind them."""
        for word in words:
            self.poke(address, word)
            address += 4
        return address

    def poke(self, address: int, word: int) -> None:
        """Write a word."""
        imem, dmem = self.params.imem, self.params.dmem
        if imem.base <= address < imem.base + imem.size_bytes:
            index, odd = divmod((address - imem.base) // 4, 2)
            old = self.imem[index]
            if odd:
                self.imem[index] = old & 0xFFFF_FFFF | word << 32
            else:
                self.imem[index] = old & ~0xFFFF_FFFF | word
        elif dmem.base <= address < dmem.base + dmem.size_bytes:
            self.dmem[(address - dmem.base) // 4] = word
        elif address in self.memory.ram:
            self.memory.ram[address] = word
        else:
            self.bus.ram[address] = word

    def peek(self, address: int) -> int:
        """Read a word of local data memory, cached memory or RAM."""
        dmem = self.params.dmem
        if dmem.base <= address < dmem.base + dmem.size_bytes:
            return self.dmem[(address - dmem.base) // 4]
        return self.memory.ram.get(address, self.bus.ram.get(address))

    # Time.

    async def reset(self) -> None:
        """Hold the core in reset for two cycles; memories keep their content."""
        self.bus.reset()
        self.memory.reset()
        self.lines = self.timer = 0
        self.result = None
        self.set("rst", 1)
        self._resets = True
        await self.step()
        await self.step()
        self._resets = False
        self.set("rst", 0)
        self.cycle = 0
        self.seen = Observer()

    async def step(self, cycles: int = 1) -> None:
        """Let cycles pass."""
        for _ in range(cycles):
            await self._step()

    def get(self, name: str) -> int:
        """What a pin is now."""
        return int(self._pins[name].value)

    def set(self, name: str, value: int) -> None:
        """Write a pin, which is done by this alone."""
        # Writing costs as much as all else, also if it stays what it was.
        if self._inputs.get(name) != value:
            self._inputs[name] = value
            self._pins[name].value = value

    async def _step(self) -> None:
        for call in self.each_cycle:
            call()
        # The bus's outputs come from registers: they are valid at the beginning of the cycle.
        if not self._resets:
            self._serve("wb", self.bus)
            if self.params.has_caches:
                self._serve("mem", self.memory)
        self.set("lines", self.lines)
        self.set("timer", self.timer)
        self.set("clk", 0)
        await _HALF_PERIOD
        self._observe()
        imem_address = self.get("imem_address")
        dmem_address = self.get("dmem_address")
        mask = self.get("dmem_write_mask")
        written = self.get("dmem_write_data") if mask else 0
        self.set("clk", 1)
        await _HALF_PERIOD
        self.set("imem_read_data", self.imem[imem_address])
        self.set("dmem_read_data", self.dmem[dmem_address])
        if mask:
            self.dmem[dmem_address] = merged(self.dmem[dmem_address], written, mask)
        self.cycle += 1

    def _observe(self) -> None:
        if self.get("issue_valid"):
            self.seen.issues.append(Issue(self.cycle, self.get("issue_tier")))
        if self.get("retire_valid"):
            self.seen.retirements.append(
                Retirement(self.cycle, self.get("retire_tier"), self.get("retire_pc"))
            )
        wake = self.get("wake")
        if wake:
            for tier in range(self.params.tiers):
                if wake >> tier & 1:
                    self.seen.wakes.append((self.cycle, tier))

    def _serve(self, prefix: str, bus: BusModel) -> None:
        if not self.get(f"{prefix}_cyc"):
            bus.idle()
            self.set(f"{prefix}_ack", 0)
            self.set(f"{prefix}_err", 0)
            return
        assert self.get(f"{prefix}_stb")
        write = self.get(f"{prefix}_we")
        answer = bus.serve(
            cycle=self.cycle,
            address=self.get(f"{prefix}_adr") << 2,
            write=bool(write),
            mask=self.get(f"{prefix}_sel"),
            data=self.get(f"{prefix}_dat_w") if write else 0,
        )
        self.set(f"{prefix}_ack", answer.ack)
        self.set(f"{prefix}_err", answer.error)
        self.set(f"{prefix}_dat_r", answer.data)

    # Programs.

    async def run(self, cycles: int = 5000) -> int:
        """Run until a tier stores to EXIT; returns the word stored.

        Raises ``BenchError`` if that does not happen in time.
        """
        end = self.cycle + cycles
        while self.result is None:
            if self.cycle >= end:
                last = self.seen.retirements[-3:]
                raise BenchError(f"no end after {cycles} cycles; last: {last}")
            await self._step()
        # What was in the pipeline.
        await self.step(4)
        return self.result

    async def execute(self, words: Iterable[int], cycles: int = 5000) -> int:
        """Reset, and run the words as tier 0's program from the reset address."""
        self.load(self.params.reset_address, words)
        await self.reset()
        return await self.run(cycles)
