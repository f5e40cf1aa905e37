"""The SoC's own small blocks, each alone: the mailbox, bus errors, and the ends of frames."""

from __future__ import annotations

import itertools
from collections.abc import Generator

import pytest
from litex.soc.interconnect import wishbone
from migen import Constant, Record, run_simulation

from tierv.soc.ethernet import FrameTail, InterFrameGap
from tierv.soc.mailbox import Mailbox, mailbox_layout
from tierv.soc.map import SIZES
from tierv.soc.soc import BusErrors

ALL_ONES = 0xFFFF_FFFF
#: In the mailbox's window.
LAST_OFFSET = SIZES["mailbox"] // 4 - 1


def test_a_write_to_the_mailbox_is_on_the_pins_while_it_is_on_the_bus():
    pads = Record(mailbox_layout())
    mailbox = Mailbox(pads)
    bus = mailbox.bus
    seen = []

    def bench() -> Generator:
        for offset, data in ((0, 5), (67, ALL_ONES), (LAST_OFFSET, 1)):
            yield bus.cyc.eq(1)
            yield bus.stb.eq(1)
            yield bus.we.eq(1)
            # Above the window are the address bits that chose the mailbox.
            yield bus.adr.eq(0x8100_0000 // 4 + offset)
            yield bus.dat_w.eq(data)
            yield
            pins = []
            for pin in (pads.valid, pads.offset, pads.data, bus.ack):
                pins.append((yield pin))
            seen.append(tuple(pins))
        yield bus.stb.eq(0)
        yield
        seen.append((yield pads.valid))

    run_simulation(mailbox, bench())
    assert seen == [(1, 0, 5, 1), (1, 67, ALL_ONES, 1), (1, LAST_OFFSET, 1, 1), 0]


def test_a_read_of_the_mailbox_takes_one_wait_and_gives_the_count():
    mailbox = Mailbox(Record(mailbox_layout()))
    bus = mailbox.bus
    seen = []

    def bench() -> Generator:
        yield bus.cyc.eq(1)
        yield bus.stb.eq(1)
        for _ in range(4):
            yield
            data, acknowledged = (yield bus.dat_r), (yield bus.ack)
            seen.append((acknowledged, data == (yield mailbox.cycle)))

    run_simulation(mailbox, bench())
    assert seen == [(0, True), (1, True), (0, True), (1, True)]


@pytest.mark.parametrize("first", [0, 0xFFFF, ALL_ONES - 2])
def test_the_mailbox_counts_the_cycles_since_reset(first):
    mailbox = Mailbox(Record(mailbox_layout()))
    assert mailbox.cycle.reset.value == 0
    mailbox.cycle.reset = Constant(first, 32)
    seen = []

    def bench() -> Generator:
        for _ in range(6):
            seen.append((yield mailbox.bus.dat_r))
            yield

    run_simulation(mailbox, bench())
    assert seen == [(first + cycle) & ALL_ONES for cycle in range(6)]


@pytest.mark.parametrize("we", [0, 1])
@pytest.mark.parametrize("cyc", [0, 1])
def test_half_an_access_to_the_mailbox_is_none(we, cyc):
    pads = Record(mailbox_layout())
    bus = (mailbox := Mailbox(pads)).bus
    seen = set()

    def bench() -> Generator:
        yield bus.cyc.eq(cyc)
        yield bus.stb.eq(1 - cyc)
        yield bus.we.eq(we)
        for _ in range(4):
            yield
            seen.update([(yield pads.valid), (yield bus.ack)])

    run_simulation(mailbox, bench())
    assert seen == {0}


def test_a_read_of_the_mailbox_never_shows_on_the_pins():
    pads = Record(mailbox_layout())
    mailbox = Mailbox(pads)
    seen = []

    def bench() -> Generator:
        yield mailbox.bus.cyc.eq(1)
        yield mailbox.bus.stb.eq(1)
        for _ in range(4):
            yield
            seen.append((yield pads.valid))

    run_simulation(mailbox, bench())
    assert seen == [0, 0, 0, 0]


def _bus_with_timeout(cycles: int):
    masters = [wishbone.Interface() for _ in range(2)]
    slave = wishbone.Interface()
    bus = wishbone.InterconnectShared(
        masters, [(lambda address: address == 0, slave)], register=True, timeout_cycles=cycles
    )
    bus.errors = BusErrors(bus, masters)
    return bus, masters


def test_an_access_that_nobody_answers_is_an_error_for_its_master_alone():
    bus, masters = _bus_with_timeout(20)
    seen = []

    def bench() -> Generator:
        yield masters[1].cyc.eq(1)
        yield masters[1].stb.eq(1)
        yield masters[1].adr.eq(0x1234)
        for cycle in range(40):
            yield
            if (yield masters[1].ack):
                values = [cycle]
                for signal in (masters[1].err, masters[1].dat_r, masters[0].err, masters[0].ack):
                    values.append((yield signal))
                seen.append(values)
                yield masters[1].stb.eq(0)

    run_simulation(bus, bench())
    ((cycle, *values),) = seen
    assert values == [1, ALL_ONES, 0, 0]
    assert 20 <= cycle <= 23


def test_an_answered_access_is_no_error():
    bus, masters = _bus_with_timeout(20)
    seen = []

    def bench() -> Generator:
        yield masters[0].cyc.eq(1)
        yield masters[0].stb.eq(1)
        yield bus.slave_ack.eq(1)
        for _ in range(3):
            yield
            seen.append(((yield masters[0].ack), (yield masters[0].err)))

    slave = wishbone.Interface()
    bus = wishbone.InterconnectShared(masters, [(lambda _: 1, slave)], True, 20)
    bus.slave_ack = slave.ack
    bus.errors = BusErrors(bus, masters)
    run_simulation(bus, bench())
    assert seen == [(1, 0)] * 3


def test_a_byte_after_the_last_one_waits_for_twelve_byte_times():
    gap = InterFrameGap(byte_cycles=2)
    seen = []

    def bench() -> Generator:
        yield gap.source.ready.eq(1)
        yield gap.sink.valid.eq(1)
        yield gap.sink.last.eq(1)
        for cycle in range(60):
            yield
            if (yield gap.source.valid):
                seen.append(cycle)

    run_simulation(gap, bench())
    # Of two clock cycles each, between one byte and the next.
    assert [second - first for first, second in itertools.pairwise(seen)] == [25, 25]


def _through_tail(beats: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """(data, last, last_be) of what comes out for (data, last) of what goes in."""
    tail = FrameTail()
    out = []

    def bench() -> Generator:
        yield tail.source.ready.eq(1)
        for data, last in beats:
            yield tail.sink.valid.eq(1)
            yield tail.sink.data.eq(data)
            yield tail.sink.last.eq(last)
            yield
            if (yield tail.source.valid):
                beat = []
                for signal in (tail.source.data, tail.source.last, tail.source.last_be):
                    beat.append((yield signal))
                out.append(tuple(beat))

    run_simulation(tail, bench())
    return out


def test_the_last_byte_of_a_frame_is_marked_as_valid_and_its_echo_left_out():
    beats = [(1, 0), (2, 0), (3, 1), (99, 1), (4, 0), (5, 1), (99, 1)]
    assert _through_tail(beats) == [(1, 0, 0), (2, 0, 0), (3, 1, 1), (4, 0, 0), (5, 1, 1)]
