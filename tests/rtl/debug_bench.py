"""Benches for the debug module: its DMI with a model of the tiers, and JTAG before it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field

from amaranth.sim import Simulator
from bus_model import merged

from tierv.rtl.debug.layout import PROGRAM_WORDS
from tierv.rtl.debug.module import DebugModule, Dmi
from tierv.rtl.debug.top import ExternalDebug
from tierv.rtl.params import CoreParams

TIERS = 3
PARAMS = CoreParams(tiers=TIERS, debug=True)
#: Of dmcontrol.
HALTREQ, RESUMEREQ, ACKHAVERESET = 1 << 31, 1 << 30, 1 << 28
SETRESETHALT, CLRRESETHALT, NDMRESET, DMACTIVE = 8, 4, 2, 1
#: Of sbcs.
SB_BUSY_ERROR, SB_READ_ON_ADDRESS = 1 << 22, 1 << 20
SB_INCREMENT, SB_READ_ON_DATA = 1 << 16, 1 << 15
#: A period of the clock in seconds.
_PERIOD = 1e-8


def hart(number: int) -> int:
    """dmcontrol's hartsel."""
    return number << 16 | DMACTIVE


def sb_access(bytes_log2: int) -> int:
    """sbcs's sbaccess: the size of accesses."""
    return bytes_log2 << 17


@dataclass
class Tiers:
    """What the core does for the debug module."""

    halted: int = 0
    #: Those that cannot resume yet.
    held: int = 0
    #: Cycles from a program's begin to its end, and whether that is an exception.
    program_cycles: int = 5
    fails: bool = False
    #: What the next program writes to mdebugdata.
    result: int | None = None
    #: The tiers and programs that ran, as their words.
    ran: list[tuple[int, list[int]]] = field(default_factory=list)


@dataclass
class Memory:
    """What is on the bus."""

    words: dict[int, int] = field(default_factory=dict)
    wait_cycles: int = 1


class DmBench:
    """The debug module with ``Tiers`` and ``Memory``."""

    def __init__(self, dut: DebugModule | ExternalDebug | None = None) -> None:
        self.dut = dut or DebugModule(PARAMS)
        self.tiers = Tiers()
        self.memory = Memory()

    def run(self, test: Callable[[DmBench], Coroutine]) -> None:
        """Run a test, which gets this bench."""
        simulator = Simulator(self.dut)
        simulator.add_clock(_PERIOD)

        async def testbench(ctx) -> None:
            self.ctx = ctx
            await test(self)

        simulator.add_testbench(testbench)
        simulator.add_testbench(self._core, background=True)
        simulator.add_testbench(self._bus, background=True)
        simulator.run()

    async def step(self, cycles: int = 1) -> None:
        """Let cycles pass."""
        await self.ctx.tick().repeat(cycles)

    async def write(self, address: int, data: int) -> None:
        """Write a register."""
        ctx, dut = self.ctx, self.dut
        for name, value in (("valid", 1), ("write", 1), ("address", address), ("write_data", data)):
            ctx.set(getattr(dut, f"dmi_{name}"), value)
        await self.step()
        ctx.set(dut.dmi_valid, 0)
        ctx.set(dut.dmi_write, 0)

    async def read(self, address: int) -> int:
        """Read a register."""
        ctx, dut = self.ctx, self.dut
        ctx.set(dut.dmi_valid, 1)
        ctx.set(dut.dmi_address, address)
        value = ctx.get(dut.dmi_read_data)
        await self.step()
        ctx.set(dut.dmi_valid, 0)
        return value

    async def status(self) -> int:
        return await self.read(Dmi.DMSTATUS)

    async def command_error(self) -> int:
        """cmderr, which is cleared."""
        value = await self.read(Dmi.ABSTRACTCS) >> 8 & 7
        await self.write(Dmi.ABSTRACTCS, 7 << 8)
        return value

    async def halt(self, number: int) -> None:
        """Activate, select and halt."""
        await self.write(Dmi.DMCONTROL, DMACTIVE)
        await self.write(Dmi.DMCONTROL, hart(number) | HALTREQ)
        await self.step(3)
        await self.write(Dmi.DMCONTROL, hart(number))

    async def _core(self, ctx) -> None:
        dut, tiers = self.dut, self.tiers
        left = to_resume = 0
        fresh = True
        while True:
            reset = ctx.get(dut.ndmreset)
            if reset:
                tiers.halted = left = to_resume = 0
            ctx.set(dut.came_from_reset, int(fresh and not reset))
            if not reset and fresh:
                tiers.halted |= ctx.get(dut.reset_halt)
            fresh = bool(reset)
            to_resume |= ctx.get(dut.resume) & tiers.halted
            resumed = to_resume & ~tiers.held
            to_resume &= ~resumed
            run = ctx.get(dut.run)
            tiers.halted = (tiers.halted | ctx.get(dut.halt)) & ~resumed if not reset else 0
            done = left == 1
            left = max(left - 1, 0)
            if run:
                left = tiers.program_cycles
            writes = done and tiers.result is not None
            await ctx.tick()
            ctx.set(dut.halted, tiers.halted)
            ctx.set(dut.resumed, resumed)
            ctx.set(dut.done, int(done))
            ctx.set(dut.failed, int(done and tiers.fails))
            ctx.set(dut.data_write, int(writes))
            ctx.set(dut.data, tiers.result or 0)
            if run:
                words = []
                for index in range(PROGRAM_WORDS):
                    ctx.set(dut.program_index, index)
                    words.append(ctx.get(dut.program_word))
                tiers.ran.append((run.bit_length() - 1, words))

    async def _bus(self, ctx) -> None:
        dut, memory = self.dut, self.memory
        waited = 0
        while True:
            if ctx.get(dut.wb_cyc) and not ctx.get(dut.wb_ack) and not ctx.get(dut.wb_err):
                waited += 1
            ack = err = 0
            if waited > memory.wait_cycles:
                waited = 0
                address = ctx.get(dut.wb_adr) * 4
                if address in memory.words:
                    ack = 1
                    if ctx.get(dut.wb_we):
                        memory.words[address] = merged(
                            memory.words[address], ctx.get(dut.wb_dat_w), ctx.get(dut.wb_sel)
                        )
                    ctx.set(dut.wb_dat_r, memory.words[address])
                else:
                    err = 1
            ctx.set(dut.wb_ack, ack)
            ctx.set(dut.wb_err, err)
            await ctx.tick()


class JtagBench(DmBench):
    """The same behind the four pins of JTAG, or behind the TAP of an FPGA."""

    #: Cycles of half a period of TCK.
    half = 4

    def __init__(self) -> None:
        super().__init__(ExternalDebug(PARAMS))

    async def clock(self, tms: int, tdi: int = 0) -> int:
        """A period of TCK; what TDO was as it rose."""
        ctx, dut = self.ctx, self.dut
        ctx.set(dut.jtag_tck, 0)
        ctx.set(dut.jtag_tms, tms)
        ctx.set(dut.jtag_tdi, tdi)
        await self.step(self.half)
        tdo = ctx.get(dut.jtag_tdo)
        ctx.set(dut.jtag_tck, 1)
        await self.step(self.half)
        return tdo

    async def reset_tap(self) -> None:
        """To Run-Test/Idle."""
        for tms in (1, 1, 1, 1, 1, 0):
            await self.clock(tms)

    async def scan(self, value: int, bits: int, *, instruction: bool = False) -> int:
        """Shift bits through a register, from and to Run-Test/Idle."""
        for tms in (1, 1, 0, 0) if instruction else (1, 0, 0):
            await self.clock(tms)
        found = 0
        for number in range(bits):
            last = number == bits - 1
            found |= await self.clock(int(last), value >> number & 1) << number
        for tms in (1, 0):
            await self.clock(tms)
        return found

    async def select(self, instruction: int) -> None:
        """Another data register."""
        await self.scan(instruction, 5, instruction=True)
