"""What a TCP transfer makes of lost packets, compared with times worked out by hand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest

from tierv.sim.experiments.transfer import Transfer, follow, goodput

SEGMENTS = 100
PACKET_S = 0.25


def transfer(window: int) -> Transfer:
    return Transfer(payload_bytes=100, packet_s=PACKET_S, window=window)


def seconds(window: int, fates: Sequence[bool]) -> float:
    """Time of a transfer whose packets arrive as ``fates`` says, in turns."""
    segments, time = follow(transfer(window), itertools.cycle(fates))
    assert segments >= SEGMENTS
    return time


@pytest.mark.parametrize("window", [1, 4])
def test_a_good_line_carries_what_it_can(window):
    assert goodput(transfer(window), [True], seed=1) == pytest.approx(100 / PACKET_S)


def test_every_other_packet_lost_costs_a_timeout_for_each_segment():
    each = 2 * PACKET_S + 1
    assert seconds(1, [False, True]) == pytest.approx(SEGMENTS * each)
    assert seconds(1, [True, False]) == pytest.approx(PACKET_S + (SEGMENTS - 1) * each)


def test_timeouts_double_until_something_arrives():
    # Waits of 1, 2 and 4 s; the next segment's begin with 1 s again.
    each = 4 * PACKET_S + 7
    assert seconds(1, [False, False, False, True]) == pytest.approx(SEGMENTS * each)


def test_a_hole_with_three_segments_behind_it_needs_no_timeout():
    # The window has grown to four by the tenth packet; it is sent once more, and that is all.
    fates = [index != 10 for index in range(1_000)]
    assert seconds(4, fates) == pytest.approx((SEGMENTS + 1) * PACKET_S)


def test_a_hole_at_the_end_of_the_window_needs_a_timeout():
    # A window of two has one segment behind the hole.
    fates = [index != 10 for index in range(1_000)]
    assert seconds(2, fates) > (SEGMENTS + 1) * PACKET_S + 0.7


def test_a_dead_line_ends_and_carries_nothing():
    assert goodput(transfer(4), [False], seed=1) == 0


def test_more_losses_never_help():
    records = [[index % every != 0 for index in range(60)] for every in (30, 10, 5, 3, 2)]
    rates = [goodput(transfer(4), record, seed=1) for record in records]
    assert rates == sorted(rates, reverse=True)


def test_an_empty_record_is_refused():
    with pytest.raises(ValueError, match="record must have a packet"):
        goodput(transfer(4), [], seed=1)
