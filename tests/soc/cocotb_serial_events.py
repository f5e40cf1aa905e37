"""The events of serial ports: watermarks, the timeout to the cycle, and the bitmap of all ports."""

from __future__ import annotations

import cocotb
from serial_bench import PARITY, PERIOD_PS, RESET_CYCLES, Form, SerialBench, tuning

FORM = Form()
BIT = 16
RECEIVE, TRANSMIT, IDLE, CTS = 1, 2, 4, 8
OBEY_XOFF, XOFF = 4, 0x13
#: From the end of the timeout on the pin to the event.
LATENCY = 4


@cocotb.test()
async def the_receive_event_is_as_long_as_the_watermark_is_reached(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE, timeout=0)
    for watermark in (1, 2, 3, 5, 16):
        await bench.write("watermarks", watermark)
        for count in range(1, watermark + 1):
            assert not int(bench.irq.value)
            await bench.send([count])
            assert await bench.read("level") & 0xFFFF == count
        assert int(bench.irq.value)
        assert await bench.receive() == (1, 0)
        assert not int(bench.irq.value)
        await bench.receive_all()


@cocotb.test()
async def the_timeout_is_over_to_the_cycle(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE, watermarks=8)
    slow = Form(baud=100_003)
    for form in (FORM, Form(baud=3_333_333), Form(data_bits=5, parity="E", baud=5_000_000), slow):
        await bench.set_form(form)
        for bits in (1, 2, 3) if form == slow else (1, 2, 3, 40, 250):
            await bench.write("timeout", bits)
            await bench.step(50)
            start = bench.cycle
            cocotb.start_soon(bench.send([0x15], form))
            rise = await bench.rise(bench.irq)
            middle = len(form.levels(0)) - form.stop_bits + 0.5
            ticks = round((middle + bits) * 8)
            # Ticks come in the cycle in which their phase is passed.
            expected = -(-(ticks << 29) // tuning(form.baud)) + LATENCY
            assert rise - start == expected, (form, bits)
            assert len(await bench.receive_all()) == 1
            assert not int(bench.irq.value)


@cocotb.test()
async def each_character_begins_the_timeout_anew(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE, watermarks=16, timeout=12)
    for _ in range(6):
        await bench.drive([*FORM.levels(0x33), *[1] * 11], FORM.bit_ps)
        assert not int(bench.irq.value)
    await bench.step(2 * BIT)
    assert int(bench.irq.value)
    # Once it is over it stays so until the FIFO is empty, also if another character comes.
    await bench.send([0x44])
    assert int(bench.irq.value)
    for _ in range(7):
        assert int(bench.irq.value)
        assert await bench.receive() is not None
    assert not int(bench.irq.value)
    await bench.step(40 * BIT)
    assert not int(bench.irq.value)


@cocotb.test()
async def spikes_on_a_quiet_line_do_not_begin_the_timeout_anew(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE, watermarks=16, timeout=20)
    await bench.send([0x33])
    for _ in range(3):
        assert not int(bench.irq.value)
        # A quarter of a bit.
        await bench.drive([0], BIT // 4 * PERIOD_PS)
        await bench.drive([1], 5 * FORM.bit_ps)
    assert not int(bench.irq.value)
    await bench.step(8 * BIT)
    assert int(bench.irq.value)


@cocotb.test()
async def a_timeout_is_forgotten_with_the_last_character_whenever_the_next_one_comes(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE)

    async def call(offset: int, name: str) -> list[int]:
        """The line while a character comes and one is taken so many cycles after its start bit."""
        await bench.send([1])
        await bench.step(20 * BIT)
        assert int(bench.irq.value)
        sending = cocotb.start_soon(bench.send([2]))
        await bench.step(offset)
        empty = bench.receive() if name == "receive" else bench.write("purge", 1)
        emptying = cocotb.start_soon(empty)
        levels = []
        for _ in range(2 * BIT):
            await bench.step()
            levels.append(int(bench.irq.value))
        await emptying
        await sending
        await bench.receive_all()
        return levels

    for name in ("receive", "purge"):
        for offset in range(9 * BIT, 11 * BIT):
            await bench.write("watermarks", 1)
            await bench.write("timeout", 0)
            is_emptied = 0 in await call(offset, name)
            await bench.write("watermarks", 16)
            await bench.write("timeout", 12)
            levels = await call(offset, name)
            assert (0 in levels) == is_emptied, f"{name} at {offset}"
            assert levels[-1] == 1 - is_emptied, f"{name} at {offset}"


@cocotb.test()
async def a_timeout_that_becomes_shorter_than_the_silence_is_over_at_once(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE, watermarks=8)
    for bits in (10, 1, 30):
        await bench.write("timeout", 40)
        await bench.send([0x55])
        await bench.step(30 * BIT)
        assert not int(bench.irq.value)
        await bench.write("timeout", bits)
        await bench.step(BIT)
        assert int(bench.irq.value), bits
        await bench.receive_all()


@cocotb.test()
async def a_timeout_that_is_taken_back_is_not_over_until_there_is_one_again(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE, watermarks=8, timeout=40)
    await bench.send([0x55])
    await bench.step(30 * BIT)
    await bench.write("timeout", 0)
    await bench.step(100 * BIT)
    assert not int(bench.irq.value)
    await bench.write("timeout", 50)
    await bench.step(18 * BIT)
    assert not int(bench.irq.value)
    await bench.step(2 * BIT)
    assert int(bench.irq.value)


@cocotb.test()
async def without_a_timeout_less_than_the_watermark_waits(dut):
    bench = await SerialBench(dut).begin(ev_enable=RECEIVE, watermarks=2, timeout=0)
    await bench.send([1])
    await bench.step(500 * BIT)
    assert not int(bench.irq.value)


@cocotb.test()
async def a_character_with_a_flag_calls_at_once(dut):
    form = FORM.changed(parity="E")
    bench = await SerialBench(dut).begin(form, ev_enable=RECEIVE, watermarks=16, timeout=0)
    await bench.send([1, 2], form)
    assert not int(bench.irq.value)
    await bench.send([3], form.changed(parity="O"))
    assert int(bench.irq.value)
    assert await bench.receive_all() == [(1, 0), (2, 0), (3, PARITY)]
    assert not int(bench.irq.value)


@cocotb.test()
async def the_transmit_event_is_at_the_watermark_or_less(dut):
    bench = await SerialBench(dut).begin(Form(baud=1_000_000), ev_enable=TRANSMIT)
    await bench.write("watermarks", 1 | 4 << 16)
    assert int(bench.irq.value)
    # One leaves for the transmitter at once.
    for count in range(1, 8):
        await bench.write("transmit", count)
        assert int(bench.irq.value) == (count - 1 <= 4), count
    await bench.rise(bench.irq)
    assert await bench.read("level") >> 16 == 12


@cocotb.test()
async def one_read_tells_which_ports_call_and_each_has_its_line(dut):
    first, second = await SerialBench(dut).begin(), SerialBench(dut, 1)
    assert await first.read("pending") == 0
    for bench in (first, second):
        await bench.write("tuning", tuning(FORM.baud))
        await bench.write("watermarks", 1)
        await bench.write("ev_enable", RECEIVE)
    await second.send([5])
    assert await first.read("pending") == 0b10
    assert (int(first.irq.value), int(second.irq.value)) == (0, 1)
    for name in ("ev_status", "ev_pending"):
        assert await first.read(name) == TRANSMIT | IDLE
        assert await second.read(name) == RECEIVE | TRANSMIT | IDLE
    await first.write("ev_enable", RECEIVE | TRANSMIT)
    assert await first.read("pending") == 1 << 16 | 0b10
    assert (int(first.irq.value), int(second.irq.value)) == (1, 1)
    await second.write("ev_enable", TRANSMIT)
    assert await first.read("pending") == 0b11 << 16
    assert await second.receive() == (5, 0)
    assert await first.receive() is None


@cocotb.test()
async def cts_has_not_changed_after_a_reset_whatever_it_is(dut):
    bench = await SerialBench(dut).begin()
    for level in (0, 1):
        dut.sys_rst.value, bench.cts_n.value = 1, level
        await bench.step(RESET_CYCLES)
        dut.sys_rst.value = 0
        await bench.step(5)
        assert not await bench.read("ev_pending") & CTS
        assert (await bench.read("status") >> 3 & 1) == 1 - level


@cocotb.test()
async def a_change_of_cts_stays_pending_until_cleared(dut):
    bench = await SerialBench(dut).begin()
    await bench.step(5)
    await bench.write("ev_pending", CTS)
    await bench.write("ev_enable", CTS)
    for level in (1, 0):
        assert not int(bench.irq.value)
        bench.cts_n.value = level
        await bench.step(5)
        assert int(bench.irq.value)
        assert (await bench.read("status") >> 3 & 1) == 1 - level
        await bench.write("ev_pending", RECEIVE | TRANSMIT | IDLE)
        assert int(bench.irq.value)
        await bench.write("ev_pending", CTS)


@cocotb.test()
async def the_status_of_events_is_their_level_enabled_or_not(dut):
    bench = await SerialBench(dut).begin(watermarks=1 | 2 << 16)
    assert await bench.read("ev_status") == TRANSMIT | IDLE
    await bench.send([1])
    assert await bench.read("ev_status") == RECEIVE | TRANSMIT | IDLE
    for _ in range(4):
        await bench.write("transmit", 2)
    assert await bench.read("ev_status") == RECEIVE
    await bench.receive()
    assert await bench.read("ev_status") == 0


@cocotb.test()
async def a_count_is_read_once(dut):
    bench = await SerialBench(dut).begin()
    await bench.send([1, 2, 3])
    assert await bench.counters() == {"received": 3}
    assert await bench.counters() == {}
    await bench.receive_all()
    # Events while it is read are neither lost nor doubled.
    task = cocotb.start_soon(bench.send([9] * 14, Form(baud=1e12 / PERIOD_PS / 8)))
    await bench.write("tuning", tuning(1e12 / PERIOD_PS / 8))
    total = 0
    while not task.done():
        total += await bench.read("count_received")
    await bench.step(20)
    assert total + await bench.read("count_received") == await bench.read("level") & 0xFFFF


@cocotb.test()
async def whatever_happens_is_counted_while_the_bus_takes_every_third_cycle(dut):
    form = Form(baud=1e12 / PERIOD_PS / 8, parity="E")
    bench = await SerialBench(dut).begin(form, flow=OBEY_XOFF)
    bad = [*form.changed(parity="O").levels(0x21)[:-1], 0, 1, 1]
    levels = [*bad, *[0] * 12, 1, 1, *form.levels(XOFF)]
    task = cocotb.start_soon(bench.drive(levels * 10, form.bit_ps))
    while not task.done():
        await bench.receive()
    await bench.receive_all()
    names = ("received", "framing", "parity", "breaks", "xoffs")
    assert await bench.counters() == dict.fromkeys(names, 10)
