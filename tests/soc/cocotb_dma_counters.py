"""The counters of the Ethernet DMA, on a block whose counters have two bits."""

from __future__ import annotations

import cocotb
from dma_bench import BUFFERS, RECEIVE, RECEIVE_RING, DmaBench

FULL = 3
ROOM = 100


@cocotb.test()
async def every_counter_stops_at_its_largest_value(dut):
    bench = DmaBench(dut)
    await bench.begin(receive_ring=RECEIVE_RING, longest=ROOM)
    await bench.put_word(RECEIVE_RING + 4, 0)
    await bench.write("control", RECEIVE)
    await bench.step(20)
    for count in range(1, 7):
        bench.bring(bench.rng.randbytes(64))
        await bench.until_taken()
        assert await bench.read("receive_missed") == min(count, FULL)
    await bench.give_room(0, BUFFERS, ROOM)
    await bench.step(20)
    for count in range(1, 7):
        bench.bring(bench.rng.randbytes(64), wrong=True)
        bench.bring(bench.rng.randbytes(ROOM + 1))
        await bench.until_taken()
        for name in ("receive_wrong", "receive_long"):
            assert await bench.read(name) == min(count, FULL), name
