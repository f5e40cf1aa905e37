"""The counters of a serial port, on a block whose counters have four bits."""

from __future__ import annotations

import cocotb
from serial_bench import SYS_CLK_HZ, Form, SerialBench

FAST = Form(baud=SYS_CLK_HZ / 8, parity="E")
FULL = 15
OBEY_XOFF = 4
XOFF = 0x13


@cocotb.test()
async def every_counter_stops_at_its_largest_value_and_begins_anew_when_read(dut):
    bench = await SerialBench(dut).begin(FAST, flow=OBEY_XOFF)
    wrong = FAST.changed(parity="O")
    for count, expected in ((14, 14), (15, FULL), (16, FULL), (40, FULL), (3, 3)):
        for _ in range(count):
            await bench.send([0x21], wrong)
            await bench.receive()
            await bench.drive([*FAST.levels(0x7E)[:-1], 0, 1, 1], FAST.bit_ps)
            await bench.receive()
            await bench.send_break(12, FAST, delimiter=2)
            await bench.receive()
            await bench.send([XOFF], FAST)
        assert await bench.counters() == {
            "received": min(FULL, 2 * count),
            "parity": expected,
            "framing": expected,
            "breaks": expected,
            "xoffs": expected,
        }
        assert await bench.counters() == {}


@cocotb.test()
async def lost_characters_are_counted_up_to_the_largest_value(dut):
    bench = await SerialBench(dut).begin(FAST)
    await bench.send(range(16 + 20), FAST)
    assert await bench.counters() == {"received": FULL, "overruns": FULL}
    await bench.set_form(Form(baud=10_000))
    for _ in range(16 + 1 + 20):
        await bench.write("transmit", 1)
    assert await bench.counters() == {"transmitted": 1, "lost": FULL}
