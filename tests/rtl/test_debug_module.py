"""The debug module: harts, abstract commands and their errors, resets, groups."""

from __future__ import annotations

import encoding as rv
import pytest
from debug_bench import (
    ACKHAVERESET,
    CLRRESETHALT,
    DMACTIVE,
    HALTREQ,
    NDMRESET,
    RESUMEREQ,
    SB_INCREMENT,
    SETRESETHALT,
    TIERS,
    DmBench,
    hart,
    sb_access,
)

from tierv.rtl.debug.module import Dmi
from tierv.rtl.isa import debug_csr_addresses

DATA_CSR = debug_csr_addresses()["mdebugdata"]
#: Of dmstatus: any and all.
HALTED, RUNNING, NONEXISTENT, RESUMEACK, HAVERESET = (3 << n for n in (8, 10, 14, 16, 18))
#: cmderr.
BUSY, UNSUPPORTED, EXCEPTION, NOT_HALTED = 1, 2, 3, 4
#: Of command: 32 bits.
WORD, TRANSFER, WRITE, POSTEXEC = 2 << 20, 1 << 17, 1 << 16, 1 << 18
GPR = 0x1000


def test_registers_show_what_the_module_is():
    async def test(b: DmBench):
        assert await b.read(Dmi.DMSTATUS) == 0, "it is not active"
        await b.write(Dmi.HARTINFO, 5)
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        assert await b.read(Dmi.DMCONTROL) == DMACTIVE
        status = await b.status()
        # Version 0.13, authenticated, halts on reset, ends the program buffer.
        assert status & 0xF == 2
        assert status & (1 << 7 | 1 << 5 | 1 << 22) == 1 << 7 | 1 << 5 | 1 << 22
        assert await b.read(Dmi.HARTINFO) == 1 << 12 | DATA_CSR
        assert await b.read(Dmi.ABSTRACTCS) == 2 << 24 | 1
        assert await b.read(Dmi.SBCS) == 1 << 29 | 2 << 17 | 32 << 5 | 7
        assert await b.read(0x7F) == 0

    DmBench().run(test)


def test_harts_are_selected_halted_and_resumed_one_by_one():
    async def test(b: DmBench):
        await b.halt(1)
        assert b.tiers.halted == 0b010
        assert await b.read(Dmi.HALTSUM0) == 0b010
        assert await b.status() & (HALTED | RUNNING) == HALTED
        await b.write(Dmi.DMCONTROL, hart(0))
        assert await b.status() & (HALTED | RUNNING) == RUNNING
        await b.write(Dmi.DMCONTROL, hart(1) | RESUMEREQ)
        await b.step(3)
        assert await b.status() & (HALTED | RUNNING | RESUMEACK) == RUNNING | RESUMEACK
        assert b.tiers.halted == 0
        # A request to halt as well: it is that what counts.
        await b.halt(2)
        await b.write(Dmi.DMCONTROL, hart(2) | RESUMEREQ | HALTREQ)
        await b.step(4)
        assert b.tiers.halted == 0b100
        assert not await b.status() & RESUMEACK

    DmBench().run(test)


def test_a_hart_that_does_not_exist_is_told_so_and_nothing_happens():
    async def test(b: DmBench):
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        await b.write(Dmi.DMCONTROL, 0x3FF << 16 | 0x3FF << 6 | DMACTIVE)
        assert await b.read(Dmi.DMCONTROL) == 0xF << 16 | DMACTIVE
        for number in range(16):
            await b.write(Dmi.DMCONTROL, hart(number))
            status = await b.status() & (NONEXISTENT | RUNNING | HALTED)
            assert status == (RUNNING if number < TIERS else NONEXISTENT), number
        await b.write(Dmi.DMCONTROL, hart(TIERS) | HALTREQ)
        await b.step(5)
        assert b.tiers.halted == 0
        await b.write(Dmi.COMMAND, WORD | TRANSFER | GPR)
        assert await b.command_error() == NOT_HALTED
        assert not b.tiers.ran

    DmBench().run(test)


def test_registers_are_read_and_written_by_a_program():
    async def test(b: DmBench):
        await b.halt(1)
        b.tiers.result = 0xCAFE_F00D
        await b.write(Dmi.COMMAND, WORD | TRANSFER | GPR + 7)
        assert await b.read(Dmi.ABSTRACTCS) >> 12 & 1, "busy"
        await b.step(8)
        assert await b.read(Dmi.DATA0) == 0xCAFE_F00D
        b.tiers.result = None
        await b.write(Dmi.PROGBUF0, 0x1111_1111)
        await b.write(Dmi.PROGBUF0 + 1, 0x2222_2222)
        await b.write(Dmi.DATA0, 5)
        await b.write(Dmi.COMMAND, WORD | TRANSFER | WRITE | POSTEXEC | GPR + 8)
        await b.step(8)
        await b.write(Dmi.COMMAND, POSTEXEC)
        await b.step(8)
        buffer = [0x1111_1111, 0x2222_2222, rv.EBREAK]
        assert b.tiers.ran == [
            (1, [rv.csr("csrrw", 0, DATA_CSR, 7), rv.EBREAK, rv.EBREAK, rv.EBREAK]),
            (1, [rv.csr("csrrs", 8, DATA_CSR, 0), *buffer]),
            (1, [rv.NOP, *buffer]),
        ]
        assert await b.command_error() == 0

    DmBench().run(test)


@pytest.mark.parametrize(
    "command",
    [
        1 << 24,
        2 << 24 | 2 << 20,
        WORD | TRANSFER | 0x300,
        WORD | TRANSFER | GPR + 32,
        3 << 20 | TRANSFER | GPR,
        WORD | TRANSFER | GPR | 1 << 19,
    ],
)
def test_a_command_that_is_not_supported_is_refused(command: int):
    async def test(b: DmBench):
        await b.halt(0)
        await b.write(Dmi.COMMAND, command)
        await b.write(Dmi.COMMAND, WORD | TRANSFER | GPR)
        await b.step(8)
        assert not b.tiers.ran, "after an error nothing begins"
        assert await b.command_error() == UNSUPPORTED
        await b.write(Dmi.COMMAND, WORD | TRANSFER | GPR)
        await b.step(8)
        assert len(b.tiers.ran) == 1

    DmBench().run(test)


def test_a_command_for_a_running_hart_is_refused():
    async def test(b: DmBench):
        await b.halt(0)
        await b.write(Dmi.DMCONTROL, hart(1))
        await b.write(Dmi.COMMAND, WORD | TRANSFER | GPR)
        assert await b.command_error() == NOT_HALTED
        assert not b.tiers.ran

    DmBench().run(test)


def test_an_exception_in_a_program_is_told_once():
    async def test(b: DmBench):
        await b.halt(0)
        b.tiers.fails = True
        await b.write(Dmi.COMMAND, POSTEXEC)
        await b.step(8)
        assert await b.command_error() == EXCEPTION
        assert await b.command_error() == 0

    DmBench().run(test)


@pytest.mark.parametrize("register", [Dmi.DATA0, Dmi.PROGBUF0, Dmi.COMMAND, Dmi.ABSTRACTAUTO])
@pytest.mark.parametrize("write", [True, False])
def test_what_a_running_command_uses_is_not_to_be_touched(register: Dmi, write: bool):
    async def test(b: DmBench):
        await b.halt(0)
        b.tiers.program_cycles = 20
        await b.write(Dmi.DATA0, 1)
        await b.write(Dmi.COMMAND, WORD | TRANSFER | WRITE | GPR)
        if write:
            await b.write(register, 7)
        else:
            await b.read(register)
        await b.step(30)
        harmless = not write and register in (Dmi.COMMAND, Dmi.ABSTRACTAUTO)
        assert await b.command_error() == (0 if harmless else BUSY)
        assert len(b.tiers.ran) == 1
        assert await b.read(Dmi.DATA0) == 1
        assert await b.read(Dmi.PROGBUF0) == 0

    DmBench().run(test)


def test_accesses_repeat_the_command_if_they_are_to():
    async def test(b: DmBench):
        await b.halt(0)
        await b.write(Dmi.COMMAND, WORD | TRANSFER | GPR + 3)
        await b.step(8)
        for auto, address, write in (
            (1, Dmi.DATA0, False),
            (1, Dmi.DATA0, True),
            (1 << 16, Dmi.PROGBUF0, True),
            (1 << 17, Dmi.PROGBUF0 + 1, False),
        ):
            await b.write(Dmi.ABSTRACTAUTO, auto)
            assert await b.read(Dmi.ABSTRACTAUTO) == auto
            for other in (Dmi.DATA0, Dmi.PROGBUF0, Dmi.PROGBUF0 + 1):
                count = len(b.tiers.ran)
                if write:
                    await b.write(other, 9)
                else:
                    await b.read(other)
                await b.step(8)
                assert len(b.tiers.ran) == count + (other == address)
        assert {program[0] for _, program in b.tiers.ran} == {rv.csr("csrrw", 0, DATA_CSR, 3)}
        assert await b.command_error() == 0

    DmBench().run(test)


def test_what_is_repeated_is_the_last_command_also_if_it_is_not_supported():
    async def test(b: DmBench):
        await b.halt(0)
        await b.write(Dmi.COMMAND, WORD | TRANSFER | GPR + 3)
        await b.step(8)
        await b.write(Dmi.COMMAND, 1 << 24 | WORD | TRANSFER | GPR + 3)
        assert await b.command_error() == UNSUPPORTED
        await b.write(Dmi.ABSTRACTAUTO, 1)
        await b.read(Dmi.DATA0)
        await b.step(8)
        assert await b.command_error() == UNSUPPORTED
        assert len(b.tiers.ran) == 1

    DmBench().run(test)


def test_resets_are_remembered_and_harts_halt_on_them_if_asked():
    async def test(b: DmBench):
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        for number in range(TIERS):
            await b.write(Dmi.DMCONTROL, hart(number))
            assert await b.status() & HAVERESET
            await b.write(Dmi.DMCONTROL, hart(number) | ACKHAVERESET)
            assert not await b.status() & HAVERESET
        await b.write(Dmi.DMCONTROL, hart(2) | SETRESETHALT)
        await b.write(Dmi.DMCONTROL, hart(1) | SETRESETHALT)
        await b.write(Dmi.DMCONTROL, hart(1) | CLRRESETHALT)
        await b.write(Dmi.DMCONTROL, hart(0) | NDMRESET)
        await b.step(5)
        assert b.ctx.get(b.dut.ndmreset) == 1
        await b.write(Dmi.DMCONTROL, hart(0))
        await b.step(5)
        assert await b.status() & HAVERESET
        assert b.tiers.halted == 0b100

    DmBench().run(test)


def test_the_harts_of_a_group_halt_together():
    async def test(b: DmBench):
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        for number in (0, 2):
            await b.write(Dmi.DMCONTROL, hart(number))
            await b.write(Dmi.DMCS2, 1 << 2 | 1 << 1)
            assert await b.read(Dmi.DMCS2) == 1 << 2
        await b.write(Dmi.DMCONTROL, hart(1))
        assert await b.read(Dmi.DMCS2) == 0
        # Groups that there are not: halt group 2, resume group 1.
        for group in (2 << 2, 1 << 11 | 1 << 2):
            await b.write(Dmi.DMCS2, group | 1 << 1)
            assert await b.read(Dmi.DMCS2) == 0
        await b.halt(1)
        await b.step(5)
        assert b.tiers.halted == 0b010
        await b.halt(2)
        await b.step(5)
        assert b.tiers.halted == 0b111
        # They are resumed one by one, and stay so.
        await b.write(Dmi.DMCONTROL, hart(0) | RESUMEREQ)
        await b.step(5)
        assert b.tiers.halted == 0b110
        await b.write(Dmi.DMCONTROL, hart(2))
        await b.write(Dmi.DMCS2, 1 << 1)
        await b.write(Dmi.DMCONTROL, hart(0) | HALTREQ)
        await b.step(5)
        await b.write(Dmi.DMCONTROL, hart(2) | RESUMEREQ)
        await b.step(5)
        assert b.tiers.halted == 0b011

    DmBench().run(test)


def test_a_hart_that_is_about_to_resume_halts_with_its_group():
    async def test(b: DmBench):
        await b.halt(0)
        for number in (0, 2):
            await b.write(Dmi.DMCONTROL, hart(number))
            await b.write(Dmi.DMCS2, 1 << 2 | 1 << 1)
        b.tiers.held = 0b001
        await b.write(Dmi.DMCONTROL, hart(0) | RESUMEREQ)
        await b.step(3)
        await b.halt(2)
        assert b.tiers.halted == 0b101
        b.tiers.held = 0
        await b.step(1)
        assert b.tiers.halted == 0b100
        await b.step(3)
        assert b.tiers.halted == 0b101
        # It is not asked again.
        await b.write(Dmi.DMCONTROL, hart(0) | RESUMEREQ)
        await b.step(5)
        assert b.tiers.halted == 0b100

    DmBench().run(test)


def test_dmactive_resets_the_module():
    async def test(b: DmBench):
        await b.halt(1)
        await b.write(Dmi.DMCS2, 1 << 2 | 1 << 1)
        registers = [Dmi.DATA0, Dmi.PROGBUF0, Dmi.PROGBUF0 + 1, Dmi.SBADDRESS0, Dmi.SBDATA0]
        for register in registers:
            await b.write(register, 0x1234_5678)
            assert await b.read(register) == 0x1234_5678
        await b.step(5)
        await b.write(Dmi.COMMAND, 1 << 24)
        await b.write(Dmi.ABSTRACTAUTO, 1)
        await b.write(Dmi.SBCS, sb_access(0) | SB_INCREMENT)
        await b.write(Dmi.DMCONTROL, hart(1) | HALTREQ | SETRESETHALT)
        await b.write(Dmi.DMCONTROL, 0)
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        assert await b.read(Dmi.DMCONTROL) == DMACTIVE
        assert await b.read(Dmi.DMCS2) == 0
        assert await b.read(Dmi.ABSTRACTCS) == 2 << 24 | 1
        assert await b.read(Dmi.ABSTRACTAUTO) == 0
        assert await b.read(Dmi.SBCS) == 1 << 29 | 2 << 17 | 32 << 5 | 7
        assert b.ctx.get(b.dut.halt) == 0
        assert b.ctx.get(b.dut.reset_halt) == 0
        for register in registers:
            assert await b.read(register) == 0

    DmBench().run(test)
