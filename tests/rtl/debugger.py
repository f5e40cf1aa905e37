"""A debug module for the bench: the core's debug ports, and programs on halted tiers."""

from __future__ import annotations

import encoding as rv
from bench import Bench

from tierv.rtl.isa import debug_csr_addresses

DEBUG_CSR = debug_csr_addresses()
#: Words of debug mode's program.
WORDS = 4
#: Of dcsr.
EBREAKM = 1 << 15
STEP = 1 << 2
#: Of tdata1.
TYPE_2, DMODE, ACTION_DEBUG = 2 << 28, 1 << 27, 1 << 12
M, EXECUTE, STORE, LOAD = 1 << 6, 1 << 2, 1 << 1, 1
#: Causes in dcsr.
BY_EBREAK, BY_TRIGGER, BY_REQUEST, BY_STEP, BY_RESET = 1, 2, 3, 4, 5
#: A register that programs may change: what was in it is put back.
SCRATCH = 9


class Debugger:
    """Halts, looks at and resumes the tiers of a bench."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        #: Tiers that shall halt, and those that shall as the core leaves reset.
        self.halt = 0
        self.reset_halt = 0
        self.data = 0
        self.program = [rv.EBREAK] * WORDS
        self.done = self.failed = False
        self.resumed: list[int] = []
        self._pulses = {"debug_resume": 0, "debug_run": 0, "debug_wrote": 0}
        bench.each_cycle.append(self._cycle)

    def _cycle(self) -> None:
        bench = self.bench
        # Outputs of the last cycle's end are stable: they come from registers, but for those that
        # are sampled here a cycle late.
        if bench.get("debug_done"):
            self.done = True
            self.failed = bool(bench.get("debug_failed"))
        if bench.get("debug_data_write"):
            self.data = bench.get("debug_data")
        if resumed := bench.get("debug_resumed"):
            self.resumed.append(resumed)
        bench.set("debug_halt", self.halt)
        bench.set("debug_reset_halt", self.reset_halt)
        bench.set("debug_data_read", self.data)
        bench.set("debug_program_word", self.program[bench.get("debug_program_index")])
        for name, mask in self._pulses.items():
            bench.set(name, mask)
            self._pulses[name] = 0

    @property
    def halted(self) -> int:
        """Tiers in debug mode."""
        return self.bench.get("debug_halted")

    async def until_halted(self, tier: int, cycles: int = 200) -> None:
        """Wait until a tier is in debug mode."""
        for _ in range(cycles):
            if self.halted >> tier & 1:
                return
            await self.bench.step()
        raise AssertionError(f"tier {tier} does not halt: {self.halted:#b}")

    async def stop(self, tier: int) -> None:
        """Halt a tier."""
        self.halt = 1 << tier
        await self.until_halted(tier)
        self.halt = 0
        await self.bench.step()

    async def resume(self, tier: int) -> None:
        """Let a halted tier go on."""
        count = len(self.resumed)
        self._pulses["debug_resume"] = 1 << tier
        for _ in range(100):
            await self.bench.step()
            if len(self.resumed) > count:
                return
        raise AssertionError(f"tier {tier} does not resume")

    async def run(self, tier: int, *words: int, cycles: int = 400) -> bool:
        """Have a halted tier run up to three words; True unless they raised an exception."""
        self.program = [*words, *[rv.EBREAK] * (WORDS - len(words))]
        self.done = False
        self._pulses["debug_run"] = 1 << tier
        for _ in range(cycles):
            await self.bench.step()
            if self.done:
                return not self.failed
        raise AssertionError(f"the program on tier {tier} does not end")

    def write_memory(self, address: int, word: int) -> None:
        """Write to memory beside the core, as the debug module does on the bus."""
        self.bench.poke(address, word)
        self._pulses["debug_wrote"] = 1

    async def register(self, tier: int, number: int) -> int:
        """Read a register of a halted tier."""
        data = DEBUG_CSR["mdebugdata"]
        assert await self.run(tier, rv.csr("csrrw", 0, data, number))
        return self.data

    async def set_register(self, tier: int, number: int, value: int) -> None:
        """Write a register of a halted tier."""
        self.data = value
        assert await self.run(tier, rv.csr("csrrs", number, DEBUG_CSR["mdebugdata"], 0))

    async def csr(self, tier: int, name: str) -> int:
        """Read one of the CSRs of debug mode and triggers."""
        kept = await self.register(tier, SCRATCH)
        assert await self.run(tier, rv.csr("csrrs", SCRATCH, DEBUG_CSR[name], 0))
        value = await self.register(tier, SCRATCH)
        await self.set_register(tier, SCRATCH, kept)
        return value

    async def set_csr(self, tier: int, name: str, value: int) -> None:
        """Write one of them."""
        kept = await self.register(tier, SCRATCH)
        await self.set_register(tier, SCRATCH, value)
        assert await self.run(tier, rv.csr("csrrw", 0, DEBUG_CSR[name], SCRATCH))
        await self.set_register(tier, SCRATCH, kept)

    async def cause(self, tier: int) -> int:
        """Why the tier is in debug mode."""
        return await self.csr(tier, "dcsr") >> 6 & 7

    async def step(self, tier: int) -> int:
        """Let a halted tier execute one instruction; dpc behind it."""
        dcsr = await self.csr(tier, "dcsr")
        await self.set_csr(tier, "dcsr", dcsr | STEP)
        await self.resume(tier)
        await self.until_halted(tier)
        assert await self.cause(tier) == BY_STEP
        await self.set_csr(tier, "dcsr", dcsr & ~STEP)
        return await self.csr(tier, "dpc")

    async def set_trigger(self, tier: int, number: int, kind: int, address: int) -> None:
        """Have a trigger halt the tier before what ``kind`` says is done at the address."""
        await self.set_csr(tier, "tselect", number)
        assert await self.csr(tier, "tselect") == number
        await self.set_csr(tier, "tdata2", address)
        await self.set_csr(
            tier, "tdata1", TYPE_2 | DMODE | ACTION_DEBUG | (M | kind if kind else 0)
        )
