"""The debug module's access to the system bus."""

from __future__ import annotations

from dataclasses import replace

from debug_bench import (
    DMACTIVE,
    PARAMS,
    SB_BUSY_ERROR,
    SB_INCREMENT,
    SB_READ_ON_ADDRESS,
    SB_READ_ON_DATA,
    DmBench,
    sb_access,
)

from tierv.rtl.debug.module import DebugModule, Dmi


def test_the_bus_is_read_and_written_in_bytes_half_words_and_words():
    async def test(b: DmBench):
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        base = 0x4000_0000
        b.memory.words |= {base + 4 * n: 0x0302_0100 + 0x0404_0404 * n for n in range(8)}
        for log2, mask in ((0, 0xFF), (1, 0xFFFF), (2, 0xFFFF_FFFF)):
            size = 1 << log2
            flags = SB_READ_ON_ADDRESS | SB_INCREMENT | SB_READ_ON_DATA
            await b.write(Dmi.SBCS, sb_access(log2) | flags)
            await b.write(Dmi.SBADDRESS0, base)
            await b.step(5)
            for address in range(base, base + 16, size):
                word = b.memory.words[address & ~3]
                wanted = word >> 8 * (address & 3) & mask
                assert await b.read(Dmi.SBDATA0) & mask == wanted
                await b.step(5)
            await b.write(Dmi.SBCS, sb_access(log2) | SB_INCREMENT)
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
        await b.write(Dmi.SBCS, sb_access(2) | SB_READ_ON_ADDRESS)
        await b.write(Dmi.SBADDRESS0, base)
        await wait()
        assert told == 0
        for count in (1, 2):
            await b.write(Dmi.SBDATA0, count)
            await wait()
            assert told == count
        # One that fails has written nothing.
        await b.write(Dmi.SBCS, sb_access(2))
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
            (sb_access(2), 0x5000_0000, 2),
            (sb_access(1), base + 1, 3),
            (sb_access(2), base + 2, 3),
            (sb_access(3), base, 4),
        ):
            await b.write(Dmi.SBCS, flags | SB_READ_ON_ADDRESS)
            await b.write(Dmi.SBADDRESS0, address)
            await b.step(5)
            assert await b.read(Dmi.SBCS) >> 12 & 7 == error
            await b.write(Dmi.SBADDRESS0, base)
            await b.write(Dmi.SBDATA0, 99)
            await b.step(5)
            assert b.memory.words == {base: 1, base + 4: 2}
            # The address can be set nevertheless.
            assert await b.read(Dmi.SBADDRESS0) == base
            await b.write(Dmi.SBCS, 7 << 12)
            assert await b.read(Dmi.SBCS) >> 12 & 7 == 0
        # Too soon.
        b.memory.wait_cycles = 20
        await b.write(Dmi.SBCS, sb_access(2) | SB_READ_ON_ADDRESS)
        await b.write(Dmi.SBADDRESS0, base)
        assert await b.read(Dmi.SBCS) >> 21 & 1
        await b.write(Dmi.SBADDRESS0, base + 4)
        await b.step(30)
        assert await b.read(Dmi.SBCS) & SB_BUSY_ERROR
        assert await b.read(Dmi.SBDATA0) == 1
        await b.write(Dmi.SBCS, sb_access(2) | SB_READ_ON_ADDRESS | SB_BUSY_ERROR)
        await b.write(Dmi.SBADDRESS0, base + 4)
        await b.step(30)
        assert await b.read(Dmi.SBDATA0) == 2

    DmBench().run(test)


def test_dmactive_resets_the_registers_once_what_is_on_the_bus_has_ended():
    async def test(b: DmBench):
        ctx, dut, base = b.ctx, b.dut, 0x4000_0000
        b.memory.words[base] = 0
        b.memory.wait_cycles = 20
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        await b.write(Dmi.SBCS, sb_access(0) | SB_INCREMENT)
        await b.write(Dmi.SBADDRESS0, base + 1)
        await b.write(Dmi.SBDATA0, 0xA5)

        def request() -> list[int]:
            return [ctx.get(getattr(dut, f"wb_{name}")) for name in ("we", "adr", "sel", "dat_w")]

        begun = request()
        await b.write(Dmi.DMCONTROL, 0)
        await b.write(Dmi.DMCONTROL, DMACTIVE)
        while not ctx.get(dut.wb_ack):
            assert ctx.get(dut.wb_cyc)
            assert request() == begun
            await b.step()
        await b.step()
        assert b.memory.words[base] == 0xA500
        assert await b.read(Dmi.SBCS) == 1 << 29 | 2 << 17 | 32 << 5 | 7
        for register in (Dmi.SBADDRESS0, Dmi.SBDATA0):
            assert await b.read(register) == 0

    DmBench().run(test)
