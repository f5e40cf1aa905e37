"""Ends of received frames in RGMII: without ``FrameTail`` the MAC finds no wrong check sequence."""

from __future__ import annotations

import random

import pytest
from liteeth.common import eth_phy_description
from liteeth.mac.crc import LiteEthMACCRC32Checker
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMIIRX
from litex.gen import LiteXModule
from litex.gen.sim import run_simulation
from litex.soc.interconnect import stream
from mac_stream import with_fcs
from migen import Record
from migen.fhdl.tools import list_targets

from tierv.soc.ethernet import FrameTail


class Chain(LiteXModule):
    """A stream as LiteEth's RGMII receiver makes it, and the MAC's checker behind it."""

    def __init__(self, *, with_tail: bool) -> None:
        self.received = stream.Endpoint(eth_phy_description(8))
        self.checker = checker = LiteEthMACCRC32Checker(eth_phy_description(8))
        if with_tail:
            self.tail = tail = FrameTail()
            self.comb += [self.received.connect(tail.sink), tail.source.connect(checker.sink)]
        else:
            self.comb += self.received.connect(checker.sink)
        self.comb += checker.source.ready.eq(1)


def verdicts(frames: list[bytes], *, with_tail: bool) -> list[bool]:
    """For each frame, whether the checker took it for a wrong one."""
    chain = Chain(with_tail=with_tail)
    found: list[bool] = []

    def send():
        received = chain.received
        for frame in frames:
            for index, value in enumerate(frame):
                yield received.valid.eq(1)
                yield received.data.eq(value)
                yield received.last.eq(index == len(frame) - 1)
                yield
            yield received.valid.eq(0)
            yield received.last.eq(0)
            for _ in range(12):
                yield

    def watch():
        source = chain.checker.source
        for _ in range(sum(len(frame) + 12 for frame in frames) + 20):
            if (yield source.valid) and (yield source.last):
                found.append(bool((yield source.error)))
            yield

    run_simulation(chain, [send(), watch()])
    return found


@pytest.fixture(scope="module")
def frames() -> list[bytes]:
    """Good ones at even positions, with one bit wrong at odd ones."""
    rng = random.Random(3)
    made = []
    for length in (60, 61, 64, 90):
        data = rng.randbytes(length)
        frame = bytearray(with_fcs(data))
        made.append(bytes(frame))
        frame[rng.randrange(len(frame))] ^= 1 << rng.randrange(8)
        made.append(bytes(frame))
    return made


def test_wrong_frames_are_told_from_good_ones(frames):
    assert verdicts(frames, with_tail=True) == [False, True] * 4


def test_without_the_tail_the_mac_takes_every_frame_for_a_good_one(frames):
    assert verdicts(frames, with_tail=False) == [False] * 8


def test_liteeths_receiver_still_leaves_last_be_out():
    pads = Record([("rx_ctl", 1), ("rx_data", 4)])
    receiver = LiteEthPHYRGMIIRX(pads, with_inband_status=False)
    fragment = receiver.get_fragment()
    driven = list_targets(fragment.comb) | list_targets(fragment.sync["sys"])
    assert receiver.source.data in driven
    assert receiver.source.last_be not in driven
