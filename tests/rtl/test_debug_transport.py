"""JTAG: the TAP's own registers, DMI through it, and the same through the TAP of an FPGA."""

from __future__ import annotations

import pytest
from debug_bench import DMACTIVE, HALTREQ, PARAMS, DmBench, JtagBench, hart

from tierv.rtl.debug.module import Dmi
from tierv.rtl.debug.top import ExternalDebug
from tierv.rtl.debug.transport import IDCODE, Instruction

NOP, READ, WRITE = 0, 1, 2
DMI_BITS = 41


def dmi(address: int, data: int, operation: int) -> int:
    return address << 34 | data << 2 | operation


def test_the_tap_tells_who_it_is_and_passes_by():
    async def test(b: JtagBench):
        await b.reset_tap()
        assert await b.scan(0, 32) == IDCODE
        assert IDCODE & 1
        for bypass in (0x1F, 0x00, 0x12):
            await b.select(bypass)
            assert await b.scan(0b1011_0011, 9) == 0b0110_0110 | 1 << 8, hex(bypass)
        await b.select(Instruction.IDCODE)
        assert await b.scan(0xFFFF_FFFF, 32) == IDCODE
        # The instruction register shows 01 as it is captured.
        assert await b.scan(Instruction.DTMCS, 5, instruction=True) & 3 == 1
        assert await b.scan(1 << 16 | 1 << 17, 32) == 1 << 12 | 7 << 4 | 1
        await b.reset_tap()
        assert await b.scan(0, 32) == IDCODE

    JtagBench().run(test)


async def halt_through_dmi(b, scan) -> None:
    """Halt tier 1 and see that it is; each scan gives the answer to the one before."""
    await scan(dmi(Dmi.DMCONTROL, DMACTIVE, WRITE))
    await scan(dmi(Dmi.DMCONTROL, hart(1) | HALTREQ, WRITE))
    assert b.tiers.halted == 0b010
    await scan(dmi(Dmi.DMSTATUS, 0, READ))
    status = await scan(dmi(Dmi.HALTSUM0, 0, READ))
    assert status >> 34 == Dmi.DMSTATUS
    assert status & 3 == 0, "no error"
    assert status >> 2 >> 8 & 3 == 3
    halted = await scan(dmi(Dmi.DMCONTROL, 0, NOP))
    assert halted >> 2 & 0xFFFF_FFFF == 0b010
    # What is no operation does nothing, and leaves the last answer.
    again = await scan(dmi(Dmi.DMCONTROL, 0, 3))
    assert again == halted
    assert b.ctx.get(b.dut.halt) == 0b010


@pytest.mark.parametrize("half", [4, 7, 30])
def test_dmi_reaches_the_module_at_any_rate_of_tck(half: int):
    async def test(b: JtagBench):
        b.half = half
        await b.reset_tap()
        await b.select(Instruction.DMI)
        await halt_through_dmi(b, lambda value: b.scan(value, DMI_BITS))

    JtagBench().run(test)


class FpgaTapBench(DmBench):
    """The registers that an FPGA leaves to its user. ``registered``: as in an ECP5, TDI is told as
    it was at the last rising edge, TDO goes through a register of the falling edge, Capture and
    Shift are told of the own registers only, Update of all."""

    half = 6

    def __init__(self, registered: bool) -> None:
        super().__init__(ExternalDebug(PARAMS, fpga_tap=True))
        self._registered = registered
        self._tdo = 0

    async def clock(self, state: str, next_state: str, tdi: int, selects: str) -> int:
        """A period of TCK in a state of the TAP; what TDO was as it rose."""
        ctx, dut = self.ctx, self.dut
        if not self._registered:
            ctx.set(dut.jtag_tdi, tdi)
        ctx.set(dut.jtag_tck, 0)
        self._tdo = ctx.get(dut.jtag_tdo)
        await self.step(self.half)
        found = self._tdo if self._registered else ctx.get(dut.jtag_tdo)
        ctx.set(dut.jtag_tck, 1)
        if self._registered:
            ctx.set(dut.jtag_tdi, tdi)
        own = next_state in ("capture", "shift") or not self._registered
        for name in ("capture", "shift", "update"):
            tells = next_state == name and (selects or not self._registered or name == "update")
            ctx.set(getattr(dut, f"jtag_{name}"), int(bool(tells)))
        for name in ("dtmcs", "dmi"):
            ctx.set(getattr(dut, f"jtag_selects_{name}"), int(own and selects == name))
        await self.step(self.half)
        return found

    async def scan(self, value: int, bits: int, selects: str) -> int:
        """Shift bits through a register; none of ours if it selects none."""
        found = 0
        await self.clock("idle", "select", 0, selects)
        await self.clock("select", "capture", 0, selects)
        await self.clock("capture", "shift", 0, selects)
        for number in range(bits):
            after = "exit" if number == bits - 1 else "shift"
            found |= await self.clock("shift", after, value >> number & 1, selects) << number
        await self.clock("exit", "update", 0, selects)
        await self.clock("update", "idle", 0, selects)
        return found


@pytest.mark.parametrize("registered", [False, True])
def test_dmi_reaches_the_module_through_the_tap_of_an_fpga(registered: bool):
    async def test(b: FpgaTapBench):
        assert await b.scan(0, 32, "dtmcs") == 1 << 12 | 7 << 4 | 1
        await halt_through_dmi(b, lambda value: b.scan(value, DMI_BITS, "dmi"))
        # Others' registers are none of ours.
        await b.scan(dmi(Dmi.DMCONTROL, 0, WRITE), DMI_BITS, "")
        assert b.ctx.get(b.dut.halt) == 0b010

    FpgaTapBench(registered).run(test)
