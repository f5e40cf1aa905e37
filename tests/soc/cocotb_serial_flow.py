"""Flow control of a serial port, by RTS and CTS and by XON and XOFF."""

from __future__ import annotations

import cocotb
from cocotb.triggers import FallingEdge
from serial_bench import FRAMING, USUAL, Form, Line, SerialBench

CTS, RTS, OBEY_XOFF, SEND_XOFF, ASSERT_RTS, TURN = 1, 2, 4, 8, 16, 32
XON, XOFF = 0x11, 0x13
CHARACTER = 160


def sent(line: Line) -> list[int]:
    return [
        sum(bit << n for n, bit in enumerate(levels[1:9])) for _, levels in line.characters(USUAL)
    ]


@cocotb.test()
async def without_cts_no_character_begins_and_one_that_has_begun_ends(dut):
    bench = await SerialBench(dut).begin(flow=CTS)
    line = Line(bench)
    for value in (1, 2, 3):
        await bench.write("transmit", value)
    await bench.step(CHARACTER // 2)
    bench.cts_n.value = 1
    await bench.step(10 * CHARACTER)
    assert sent(line) == [1]
    assert not await bench.read("status") & 1
    bench.cts_n.value = 0
    await bench.step(3 * CHARACTER)
    assert sent(line) == [1, 2, 3]


@cocotb.test()
async def cts_means_nothing_unless_it_is_asked_for(dut):
    bench = await SerialBench(dut).begin(flow=0)
    line = Line(bench)
    bench.cts_n.value = 1
    await bench.write("transmit", 5)
    await bench.step(2 * CHARACTER)
    assert sent(line) == [5]


@cocotb.test()
async def rts_follows_the_level_between_stop_and_resume(dut):
    bench = await SerialBench(dut).begin(flow=RTS, flow_levels=6 | 2 << 16)
    seen = []
    for _ in range(7):
        seen.append(int(bench.rts_n.value))
        await bench.send([0])
        await bench.step(4)
    assert seen == [0] * 6 + [1]
    seen = []
    while await bench.receive() is not None:
        seen.append(int(bench.rts_n.value))
    assert seen == [1, 1, 1, 1, 0, 0, 0]


@cocotb.test()
async def rts_is_software_s_otherwise(dut):
    bench = await SerialBench(dut).begin()
    assert int(bench.rts_n.value) == 0
    await bench.write("flow", 0)
    assert int(bench.rts_n.value) == 1
    await bench.write("flow", ASSERT_RTS)
    assert int(bench.rts_n.value) == 0


@cocotb.test()
async def xoff_stops_the_transmitter_until_xon(dut):
    bench = await SerialBench(dut).begin(flow=OBEY_XOFF)
    line = Line(bench)
    for value in (1, 2, 3, 4, 5):
        await bench.write("transmit", value)
    await bench.send([0x41, XOFF, 0x42])
    assert await bench.read("status") >> 5 & 1
    await bench.step(10 * CHARACTER)
    # The third had begun.
    assert sent(line) == [1, 2, 3]
    await bench.send([0x43, XON])
    await bench.step(4 * CHARACTER)
    assert sent(line) == [1, 2, 3, 4, 5]
    assert await bench.receive_all() == [(0x41, 0), (0x42, 0), (0x43, 0)]
    assert await bench.counters() == {"received": 3, "transmitted": 5, "xoffs": 1}


@cocotb.test()
async def xoff_with_a_fault_is_no_xoff(dut):
    bench = await SerialBench(dut).begin(flow=OBEY_XOFF)
    await bench.drive([*USUAL.levels(XOFF)[:-1], 0, 1, 1], USUAL.bit_ps)
    assert not await bench.read("status") >> 5 & 1
    assert await bench.receive_all() == [(XOFF, FRAMING)]


@cocotb.test()
async def without_the_setting_xon_and_xoff_are_characters_and_stop_nothing(dut):
    bench = await SerialBench(dut).begin(flow=0)
    await bench.send([XOFF, XON])
    assert await bench.receive_all() == [(XOFF, 0), (XON, 0)]
    assert not await bench.read("status") >> 5 & 1


@cocotb.test()
async def switching_it_off_lets_the_transmitter_go_on(dut):
    bench = await SerialBench(dut).begin(flow=OBEY_XOFF)
    line = Line(bench)
    await bench.send([XOFF])
    await bench.write("transmit", 9)
    await bench.step(2 * CHARACTER)
    assert sent(line) == []
    await bench.write("flow", 0)
    await bench.step(2 * CHARACTER)
    assert sent(line) == [9]


@cocotb.test()
async def xoff_and_xon_are_sent_as_the_level_asks_ahead_of_what_waits(dut):
    bench = await SerialBench(dut).begin(flow=SEND_XOFF, flow_levels=4 | 1 << 16)
    line = Line(bench)
    await bench.send([0] * 3)
    assert sent(line) == []
    await bench.send([0] * 2)
    await bench.step(2 * CHARACTER)
    assert sent(line) == [XOFF]
    for value in (1, 2, 3):
        await bench.write("transmit", value)
    for _ in range(4):
        await bench.receive()
    await bench.step(6 * CHARACTER)
    assert sent(line) == [XOFF, 1, XON, 2, 3]
    assert await bench.counters() == {"received": 5, "transmitted": 5}


@cocotb.test()
async def xoff_waits_for_neither_cts_nor_xon_nor_the_end_of_what_comes(dut):
    flow = CTS | OBEY_XOFF | SEND_XOFF | TURN
    bench = await SerialBench(dut).begin(flow=flow, flow_levels=2 | 1 << 16)
    line = Line(bench)
    bench.cts_n.value = 1
    await bench.write("transmit", 1)
    await bench.send([XOFF, 0, 0])
    cocotb.start_soon(bench.send([0] * 4))
    await bench.step(2 * CHARACTER)
    assert sent(line) == [XOFF]


@cocotb.test()
async def a_sender_that_obeys_rts_never_overruns_the_port(dut):
    form = Form(baud=1e8 / 8)
    bench = await SerialBench(dut).begin(form, flow=RTS, flow_levels=14 | 4 << 16)
    values = [index & 0xFF for index in range(100)]

    async def send():
        for value in values:
            while int(bench.rts_n.value):
                await FallingEdge(bench.rts_n)
            await bench.send([value], form)

    task = cocotb.start_soon(send())
    found = []
    while len(found) < len(values):
        await bench.step(400)
        found += await bench.receive_all()
    await task
    assert found == [(value, 0) for value in values]
    assert await bench.counters() == {"received": 100}


@cocotb.test()
async def in_loop_back_rts_is_cts(dut):
    bench = await SerialBench(dut).begin(flow=RTS | CTS, flow_levels=2 | 0 << 16)
    bench.cts_n.value = 1
    await bench.write("format", USUAL.register | 1 << 6)
    for value in range(1, 9):
        await bench.write("transmit", value)
    await bench.step(12 * CHARACTER)
    # One more had begun when the level was reached.
    assert await bench.read("level") & 0xFFFF in (2, 3)
    found = []
    while not await bench.read("status") & 1 or await bench.read("level") & 0xFFFF:
        found += await bench.receive_all()
        await bench.step(CHARACTER)
    found += await bench.receive_all()
    assert found == [(value, 0) for value in range(1, 9)]


@cocotb.test()
async def the_peer_hears_of_rts_before_a_character_is_lost(dut):
    bench = await SerialBench(dut).begin(flow=RTS, flow_levels=16 | 8 << 16)
    cocotb.start_soon(bench.send(range(16)))
    await bench.rise(bench.rts_n)
    assert await bench.read("level") & 0xFFFF == 16
