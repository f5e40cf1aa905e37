"""cocotb tests of the whole SoC, run by test_soc_cocotb.py with the firmware that each needs."""

from __future__ import annotations

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, with_timeout
from cocotbext.eth import GmiiFrame, MiiSink, MiiSource
from cocotbext.uart import UartSink, UartSource

SYS_PERIOD_NS = 10
MII_PERIOD_NS = 40
RESET_CYCLES = 40
BAUD = 1_000_000
TIMEOUT_US = 2000


async def start(dut) -> None:
    """Clocks, idle pins and a reset."""
    dut.sys_rst.value = 1
    dut.lines.value = 0
    cocotb.start_soon(Clock(dut.sys_clk, SYS_PERIOD_NS, unit="ns").start())
    for clock in (dut.eth_clocks_rx, dut.eth_clocks_tx):
        cocotb.start_soon(Clock(clock, MII_PERIOD_NS, unit="ns").start())
    await ClockCycles(dut.sys_clk, RESET_CYCLES)
    dut.sys_rst.value = 0


@cocotb.test()
async def echo_sends_frames_back_through_mii(dut) -> None:
    source = MiiSource(dut.eth_rx_data, dut.eth_rx_er, dut.eth_rx_dv, dut.eth_clocks_rx)
    sink = MiiSink(dut.eth_tx_data, None, dut.eth_tx_en, dut.eth_clocks_tx)
    dut.uarts_rx.value = 1
    await start(dut)
    for length in (60, 301):
        sent = bytes(range(12)) + bytes(n & 0xFF for n in range(length - 12))
        await source.send(GmiiFrame.from_payload(sent))
        frame = await with_timeout(sink.recv(), TIMEOUT_US, "us")
        assert frame.check_fcs()
        assert bytes(frame.get_payload()) == sent[6:12] + sent[:6] + sent[12:]


@cocotb.test()
async def uart_loop_sends_characters_back_plus_one(dut) -> None:
    source = UartSource(dut.uarts_rx, baud=BAUD)
    sink = UartSink(dut.uarts_tx, baud=BAUD)
    dut.eth_rx_dv.value = 0
    await start(dut)
    await source.write(b"\x00Az\xff")
    received = b""
    while len(received) < 4:
        received += bytes(await with_timeout(sink.read(1), TIMEOUT_US, "us"))
    assert received == b"\x01B{\x00"


@cocotb.test()
async def report_writes_to_the_mailbox(dut) -> None:
    dut.uarts_rx.value = 1
    dut.eth_rx_dv.value = 0
    await start(dut)
    written = []
    for _ in range(20_000):
        await ClockCycles(dut.sys_clk, 1)
        if dut.mailbox_valid.value == 1:
            written.append((int(dut.mailbox_offset.value), int(dut.mailbox_data.value)))
            if written[-1][0] == 0:
                break
    assert written[0] == (1, 0x1234)
    assert written[-1] == (0, 7)
