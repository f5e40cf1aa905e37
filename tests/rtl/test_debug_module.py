"""The debug module: harts, abstract commands and their errors, the system bus, resets, groups."""

from __future__ import annotations

from dataclasses import replace

import encoding as rv
import pytest
from debug_bench import (
    ACKHAVERESET,
    CLRRESETHALT,
    DMACTIVE,
    HALTREQ,
    NDMRESET,
    PARAMS,
    RESUMEREQ,
    SETRESETHALT,
    TIERS,
    DmBench,
    hart,
)

from tierv.rtl.debug.module import DebugModule, Dmi
from tierv.rtl.isa import debug_csr_addresses

DATA_CSR = debug_csr_addresses()["mdebugdata"]
#: Of dmstatus: any and all.
HALTED, RUNNING, NONEXISTENT, RESUMEACK, HAVERESET = (3 << n for n in (8, 10, 14, 16, 18))
#: cmderr.
BUSY, UNSUPPORTED, EXCEPTION, NOT_HALTED = 1, 2, 3, 4
#: Of command: 32 bits.
WORD, TRANSFER, WRITE, POSTEXEC = 2 << 20, 1 << 17, 1 << 16, 1 << 18
GPR = 0x1000
#: Of sbcs.
SB_BUSY_ERROR, SB_READ_ON_ADDRESS, SB_INCREMENT, SB_READ_ON_DATA = (
    1 << 22,
    1 << 20,
    1 << 16,
    1 << 15,
)


def access(bytes_log2: int) -> int:
    return bytes_log2 << 17


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


def test_the_bus_is_read_and_written_in_bytes_half_words_and_words():
    async def test(b: DmBench):
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        base = 0x4000_0000
        b.memory.words |= {base + 4 * n: 0x0302_0100 + 0x0404_0404 * n for n in range(8)}
        for log2, mask in ((0, 0xFF), (1, 0xFFFF), (2, 0xFFFF_FFFF)):
            size = 1 << log2
            flags = SB_READ_ON_ADDRESS | SB_INCREMENT | SB_READ_ON_DATA
            await b.write(Dmi.SBCS, access(log2) | flags)
            await b.write(Dmi.SBADDRESS0, base)
            await b.step(5)
            for address in range(base, base + 16, size):
                word = b.memory.words[address & ~3]
                wanted = word >> 8 * (address & 3) & mask
                assert await b.read(Dmi.SBDATA0) & mask == wanted
                await b.step(5)
            await b.write(Dmi.SBCS, access(log2) | SB_INCREMENT)
            await b.write(Dmi.SBADDRESS0, base + 16)
            for number in range(8 // size):
                await b.write(Dmi.SBDATA0, 0xA5C3_0F10 + number)
                await b.step(5)
            assert await b.read(Dmi.SBADDRESS0) == base + 24
            written = b"".join(
                (0xA5C3_0F10 + n & mask).to_bytes(size, "little") for n in range(8 // size)
            )
            found = b"".join(
                b.memory.words[base + 16 + 4 * n].to_bytes(4, "little") for n in (0, 1)
            )
            assert found == written
        assert await b.read(Dmi.SBCS) >> 12 & 7 == 0

    DmBench().run(test)


def test_the_caches_are_told_of_each_write_to_the_bus():
    bench = DmBench(DebugModule(replace(PARAMS, dcache_bytes=1 << 10)))

    async def test(b: DmBench):
        told = 0
        base = 0x4000_0000
        b.memory.words[base] = 1

        async def wait():
            nonlocal told
            for _ in range(8):
                *_, wrote = await b.ctx.tick().sample(b.dut.wrote)
                told += wrote

        await b.write(Dmi.DMCONTROL, DMACTIVE)
        await b.write(Dmi.SBCS, access(2) | SB_READ_ON_ADDRESS)
        await b.write(Dmi.SBADDRESS0, base)
        await wait()
        assert told == 0
        for count in (1, 2):
            await b.write(Dmi.SBDATA0, count)
            await wait()
            assert told == count
        # One that fails has written nothing.
        await b.write(Dmi.SBCS, access(2))
        await b.write(Dmi.SBADDRESS0, 0x5000_0000)
        await b.write(Dmi.SBDATA0, 9)
        await wait()
        assert told == 2

    bench.run(test)


def test_errors_on_the_bus_stick_until_they_are_cleared():
    async def test(b: DmBench):
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        base = 0x4000_0000
        b.memory.words |= {base: 1, base + 4: 2}
        for flags, address, error in (
            (access(2), 0x5000_0000, 2),
            (access(1), base + 1, 3),
            (access(2), base + 2, 3),
            (access(3), base, 4),
        ):
            await b.write(Dmi.SBCS, flags | SB_READ_ON_ADDRESS)
            await b.write(Dmi.SBADDRESS0, address)
            await b.step(5)
            assert await b.read(Dmi.SBCS) >> 12 & 7 == error
            await b.write(Dmi.SBADDRESS0, base)
            await b.write(Dmi.SBDATA0, 99)
            await b.step(5)
            assert b.memory.words == {base: 1, base + 4: 2}
            await b.write(Dmi.SBCS, 7 << 12)
            assert await b.read(Dmi.SBCS) >> 12 & 7 == 0
        # Too soon.
        b.memory.wait_cycles = 20
        await b.write(Dmi.SBCS, access(2) | SB_READ_ON_ADDRESS)
        await b.write(Dmi.SBADDRESS0, base)
        assert await b.read(Dmi.SBCS) >> 21 & 1
        await b.write(Dmi.SBADDRESS0, base + 4)
        await b.step(30)
        assert await b.read(Dmi.SBCS) & SB_BUSY_ERROR
        assert await b.read(Dmi.SBDATA0) == 1
        await b.write(Dmi.SBCS, access(2) | SB_READ_ON_ADDRESS | SB_BUSY_ERROR)
        await b.write(Dmi.SBADDRESS0, base + 4)
        await b.step(30)
        assert await b.read(Dmi.SBDATA0) == 2

    DmBench().run(test)


def test_dmactive_resets_the_module():
    async def test(b: DmBench):
        await b.halt(1)
        await b.write(Dmi.DMCS2, 1 << 2 | 1 << 1)
        await b.write(Dmi.COMMAND, 1 << 24)
        await b.write(Dmi.ABSTRACTAUTO, 1)
        await b.write(Dmi.SBCS, access(0) | SB_INCREMENT)
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

    DmBench().run(test)
