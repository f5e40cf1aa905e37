"""The registers of serial ports and where they are, and the pins of each port."""

from __future__ import annotations

import random

import cocotb
from csr_bench import check_storages, low_bits
from serial_bench import FRAMING, PERIOD_PS, RESET_CYCLES, USUAL, Line, SerialBench, tuning

LEVELS = 0x1FF_01FF
#: Bits of the registers that hold what is written.
STORAGES = {
    **low_bits({"ev_enable": 4, "tuning": 29, "format": 8, "flow": 6, "timeout": 12, "limit": 9}),
    **dict.fromkeys(("watermarks", "flow_levels"), LEVELS),
}
#: What they hold after a reset.
RESET = {
    "ev_enable": 0,
    "tuning": tuning(115_200),
    "format": 3,
    "flow": 16,
    "watermarks": 8 | 8 << 16,
    "flow_levels": 12 | 4 << 16,
    "timeout": 40,
    "limit": 16,
}
RECEIVING, CTS = 2, 8
#: Of the addresses of a block, and a bit of the block's own address.
ADDRESSES = OTHER_BLOCK = 1 << 9


@cocotb.test()
async def registers_hold_what_is_written(dut):
    first = await SerialBench(dut).begin()
    second = first.beside(1)
    dut.sys_rst.value = 1
    await first.step(RESET_CYCLES)
    dut.sys_rst.value = 0
    for bench in (first, second):
        await check_storages(bench, STORAGES, RESET)


@cocotb.test()
async def an_address_without_a_register_is_nobody_s(dut):
    rng = random.Random(2)
    first = await SerialBench(dut).begin()
    second = first.beside(1)
    await second.set_form(USUAL)
    for bench in (first, second):
        await bench.send([1, 2, 3])
    settings = [[await bench.read(name) for name in RESET] for bench in (first, second)]
    last = max(address for address, _ in first.registers.values())
    others = range(OTHER_BLOCK, OTHER_BLOCK + last + 1)
    for address in (*range(last + 1, ADDRESSES), *others):
        assert await first.read_at(address) == 0, address
        await first.write_at(address, rng.getrandbits(32))
    for bench, before in zip((first, second), settings, strict=True):
        assert [await bench.read(name) for name in RESET] == before
        assert await bench.read("level") == 3 | 16 << 16
        assert await bench.counters() == {"received": 3}


@cocotb.test()
async def each_port_has_its_own_pins(dut):
    rng = random.Random(3)
    first = await SerialBench(dut).begin()
    second = first.beside(1)
    await second.set_form(USUAL)
    ports = [
        (bench, Line(bench), rng.randbytes(12), rng.randbytes(12)) for bench in (first, second)
    ]
    for bench, _, received, sent in ports:
        cocotb.start_soon(bench.send(received))
        for value in sent:
            await bench.write("transmit", value)
        # Not in step with each other.
        await bench.step(5)
    await first.step(13 * 160)
    for bench, line, received, sent in ports:
        assert await bench.receive_all() == [(value, 0) for value in received]
        assert [levels for _, levels in line.characters(USUAL)] == [
            USUAL.levels(value) for value in sent
        ]
    for number in range(4):
        levels = number % 2, number // 2
        for bench, level in zip((first, second), levels, strict=True):
            bench.cts_n.value = level
            await bench.write("flow", (1 - level) << 4)
        await first.step(5)
        for bench, level in zip((first, second), levels, strict=True):
            assert bool(await bench.read("status") & CTS) == (not level)
            assert int(bench.rts_n.value) == level


@cocotb.test()
async def a_change_of_one_cycle_is_not_seen_at_any_port(dut):
    first = await SerialBench(dut).begin()
    for bench in (first, first.beside(1)):
        for _ in range(4):
            bench.rx.value = 0
            await bench.step()
            bench.rx.value = 1
            await bench.step(6)
            assert not await bench.read("status") & RECEIVING
        await bench.drive([0, 0, 0, 1], 3 * PERIOD_PS)
        assert await bench.read("status") & RECEIVING


@cocotb.test()
async def the_status_tells_of_what_is_being_received(dut):
    bench = await SerialBench(dut).begin()
    task = cocotb.start_soon(bench.drive([*USUAL.levels(0x55)[:-1], 0, 0, 1, 1, 1], USUAL.bit_ps))
    seen = []
    while not task.done():
        seen.append(bool(await bench.read("status") & RECEIVING))
        await bench.step(5)
    # From the start bit on to the end of the low level that is no stop bit.
    begin, end = seen.index(True), len(seen) - seen[::-1].index(True)
    assert seen == [False] * begin + [True] * (end - begin) + [False] * (len(seen) - end)
    assert begin * 8 <= 32
    assert 11 * 16 <= end * 8 < 12 * 16 + 8
    assert await bench.receive_all() == [(0x55, FRAMING)]
