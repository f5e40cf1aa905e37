"""Frames of every kind for a long time: all are answered or counted, and no buffer is lost."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import soak
from system_builds import OWN_BUILDS


def check_kinds(account: soak.Account, made: Mapping[str, int]) -> None:
    """What is made to be counted in a certain counter is; others may be counted there too."""
    assert 0 < account.bad_preamble <= made["headless"]
    bad = made["headless"] + made["bad_fcs"] + made["fragment"]
    assert account.bad_preamble + account.bad_fcs >= bad
    assert account.stack["ETHERNET_DROP_LONG"] >= made["oversize"]
    assert account.stack["UDP_TAKEN"] >= made["discard"]
    assert account.stack["UDP_ECHOED"] >= made["fast_echo"]
    assert account.stack["ICMP_ECHOED"] >= made["ping"]


def soak_for(system, cycles: int, seed: int) -> soak.Account:
    mix = soak.Mix(seed)
    account = soak.run(system, mix.frames(cycles))
    soak.check(account)
    if not account.overruns:
        check_kinds(account, mix.made)
    return account


@pytest.mark.parametrize("build", ["tiers", "tiers, DMA"])
def test_frames_of_every_kind_are_answered_or_counted_and_all_buffers_come_back(systems, build):
    assert soak_for(systems(build), 1_000_000, seed=1).overruns == 0


@pytest.mark.slow
@pytest.mark.parametrize("build", OWN_BUILDS)
def test_ten_million_cycles_of_such_frames_are_accounted_for(systems, build):
    account = soak_for(systems(build), 10_000_000, seed=2)
    print(f"{build}: {len(account.result.frames_sent)} frames, {len(account.result.frames)} back")
