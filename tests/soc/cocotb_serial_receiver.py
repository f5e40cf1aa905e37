"""The receiver of a serial port: forms, speeds, glitches and breaks at its pin."""

from __future__ import annotations

import cocotb
from serial_bench import SerialBench


@cocotb.test()
async def every_byte_is_received(dut):
    bench = await SerialBench(dut).begin()
    for value in range(256):
        await bench.send([value])
        assert await bench.receive() == (value, 0), value
    assert await bench.receive() is None
