"""The MAC of boards with 1 Gbit/s: the registers between its stages change no frame."""

from __future__ import annotations

import random

from liteeth.common import eth_phy_description
from liteeth.mac.core import LiteEthMACCore
from litex.gen import LiteXModule
from litex.gen.sim import run_simulation
from litex.soc.interconnect import stream
from mac_stream import FrameCollector, with_fcs, words_of
from migen import passive

from tierv.soc.crc_checker import in_place_of_liteeths
from tierv.soc.ethernet import shorten_paths

PREAMBLE = bytes([*[0x55] * 7, 0xD5])
LEAST_BYTES = 60
#: Nanoseconds of a cycle of 125 MHz, and of the slowest system clock.
BYTE_NS, SYSTEM_NS = 8, 22
#: Of the system clock, for all frames there and back.
MOST_CYCLES = 400


class Wire(LiteXModule):
    """A PHY that brings back what it is given."""

    dw = 8

    def __init__(self) -> None:
        self.sink = stream.Endpoint(eth_phy_description(8))
        self.source = stream.Endpoint(eth_phy_description(8))
        self.comb += self.sink.connect(self.source)


def test_frames_leave_without_a_break_and_come_back():
    wire = Wire()
    with in_place_of_liteeths():
        core = LiteEthMACCore(wire, 32)
    shorten_paths(core)
    core.submodules.wire = wire
    chance = random.Random(1)
    frames = [chance.randbytes(length) for length in (61, 1, 130)]
    sent, cycle_of = bytearray(), []
    collector = FrameCollector()

    @passive
    def give():
        sink = core.sink
        for frame in frames:
            for data, last, last_be, _ in words_of(frame):
                yield sink.valid.eq(1)
                yield sink.data.eq(data)
                yield sink.last.eq(last)
                yield sink.last_be.eq(last_be)
                yield
                while not (yield sink.ready):
                    yield
        yield sink.valid.eq(0)

    def wait():
        for _ in range(MOST_CYCLES):
            if len(collector.frames) < len(frames):
                yield

    @passive
    def take():
        source = core.source
        yield source.ready.eq(1)
        while True:
            yield
            if (yield source.valid):
                word = ((yield source.data), (yield source.last), (yield source.last_be))
                collector.add(*word)

    @passive
    def watch():
        cycle = 0
        while True:
            if (yield wire.sink.valid) and (yield wire.sink.ready):
                sent.append((yield wire.sink.data))
                cycle_of.append(cycle)
            cycle += 1
            yield

    run_simulation(
        core,
        {"sys": [wait(), give(), take()], "eth_tx": watch()},
        clocks={"sys": SYSTEM_NS, "eth_tx": BYTE_NS, "eth_rx": BYTE_NS},
    )
    padded = [frame.ljust(LEAST_BYTES, b"\0") for frame in frames]
    whole = [PREAMBLE + with_fcs(frame) for frame in padded]
    assert bytes(sent) == b"".join(whole)
    at = 0
    for frame in whole:
        first, last = cycle_of[at], cycle_of[at + len(frame) - 1]
        assert last - first == len(frame) - 1
        at += len(frame)
    assert collector.frames == padded
