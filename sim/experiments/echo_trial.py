"""A trial of E13: the services on a build, a load, and the run of the echo instrument in them."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tierv.soc.map import MAX_UARTS
from tierv.soc.params import SocParams

from ..cyclictest import Histogram, from_sums
from ..result import RunResult
from ..stimulus import Frame, UartBytes
from .bench import Bench, Build, Setup
from .experiment import Settings
from .frames import FCS_BYTES, HEADER_BYTES, arp_request, datagram, wire_cycles
from .serial_link import SERIAL_SOC

#: The loads and the run begin here; firmware is ready before, and learns of the peer.
_BEGIN = 800_000
_INTRODUCTION = 500_000
#: Least cycles between moments, and random bits added: in a tier of its own, and elsewhere, where
#: an answer can take thousands of cycles.
_OWN_INTERVAL, _INTERVAL = (200, 8), (4_000, 12)
#: So many times fewer samples are taken of other cases than those that are counted in full.
_FEWER = 10
#: Where the line shares its tier, an answer can take thousands of cycles: so many are enough.
MOST_SHARED = 5_000
#: A run may take so many times the moments that it needs if none is missed, and then some.
_MOST_MOMENTS = 2
_MARGIN = 2_000_000
_FLOOD_BYTES = 64
#: A serial port brings a character every so many seconds: 115,200 bit/s without a pause.
_CHARACTER_S = 10 / 115_200
#: UDP port of serial port 0, and how much is sent to each at a time.
_SERIAL_UDP_PORT = 7001
_SERIAL_BYTES = 115
_BINS = SocParams().echo_bins
#: Totals in ``trial.c``: samples, missed, overflow, minimum, maximum, saturated, sum, squares.
_TOTALS = struct.Struct("<6I2Q")
#: And what software has seen: samples, overflow, minimum, maximum, the least and most difference
#: from the hardware, sum, squares.
_SEEN = struct.Struct("<4I2i2Q")


@dataclass(frozen=True)
class Place:
    """Who serves the instrument's line."""

    name: str
    build: Build
    #: Tier of the line, and of all others; 0: that of all interrupts.
    tier: int = 0
    others_tier: int = 0
    #: Tiers of the core, if not as usual.
    tiers: int = 0

    @property
    def own(self) -> bool:
        """The line has a tier of its own."""
        return self.tier != 0


@dataclass(frozen=True)
class Answer:
    """How the handler answers."""

    name: str
    tests: bool = False
    steady: bool = False


@dataclass(frozen=True)
class Case:
    place: Place
    answer: Answer
    load: str

    @property
    def in_full(self) -> bool:
        """It gets all samples: one read in the third tier of three."""
        return self.place.own and not self.place.tiers and not self.answer.tests

    @property
    def file_name(self) -> str:
        """Short and without blanks."""
        parts = (self.place.name, self.answer.name, self.load)
        return "-".join(part.replace(",", "").replace(" ", "_") for part in parts)


PLACES = (
    Place("S", Build.SINGLE),
    Place("polled", Build.POLLED),
    Place("B", Build.BANKED),
    Place("B own tier", Build.BANKED, tier=2, others_tier=1),
    Place("B own tier of 4", Build.BANKED, tier=3, tiers=4),
)
TAKE, TEST = Answer("take"), Answer("test and clear", tests=True)
STEADY = Answer("take, steady", steady=True)
IDLE, FLOOD, SERIAL = "idle", "flood", "16 UARTs"
LOADS = (IDLE, FLOOD, SERIAL)


def all_cases() -> Iterator[Case]:
    for load, place in itertools.product(LOADS, PLACES):
        # Models with so many serial ports are slow to build: the usual ones are enough.
        if load == SERIAL and place.tiers:
            continue
        for answer in (TAKE, TEST, *([STEADY] if place.own else [])):
            yield Case(place, answer, load)


@dataclass(frozen=True)
class Measured:
    """Both histograms of a case."""

    hardware: Histogram
    software: Histogram
    missed: int
    #: What software sees beyond the hardware, sample by sample.
    least_difference: int
    most_difference: int
    saturated: int

    @property
    def difference_spread(self) -> int:
        """Cycles by which the difference varies from sample to sample."""
        return self.most_difference - self.least_difference

    @property
    def histograms_agree(self) -> bool:
        """The software's is the hardware's, shifted, as far as both have room."""
        shifted = self.hardware.shifted(self.least_difference)
        inside = {cycles: count for cycles, count in shifted.items() if cycles < _BINS}
        return inside == dict(self.software.counts) and self.hardware.total == self.software.total


def make_setup(bench: Bench, case: Case) -> Setup:
    soc: dict[str, Any] = {}
    if case.place.tiers:
        soc["cpu_variant"] = f"tiers{case.place.tiers}"
    if case.load == SERIAL:
        soc |= SERIAL_SOC
    return bench.setup(case.place.build, "services", **soc)


def run_trial(setup: Setup, case: Case, settings: Settings) -> Measured:
    samples = settings.length if case.in_full else max(1, settings.length // _FEWER)
    if not case.place.own:
        samples = min(samples, MOST_SHARED)
    shortest, spread_log2 = _OWN_INTERVAL if case.place.own else _INTERVAL
    mean_interval = shortest + (1 << spread_log2) // 2
    # A moment that is missed brings no sample.
    cycles = _BEGIN + _MARGIN + samples * mean_interval * _MOST_MOMENTS
    result = setup.run(
        cycles=cycles,
        frames=_frames(case.load, cycles, settings.clock_hz),
        uart=_characters(case.load, cycles, settings.clock_hz),
        set={
            "trial_samples": samples,
            "trial_start_cycle": _BEGIN,
            "trial_interval_cycles": shortest,
            "trial_spread_log2": spread_log2,
            "trial_seed": settings.seed,
            "trial_tests": case.answer.tests,
            "trial_is_steady": case.answer.steady,
            "trial_tier": case.place.tier,
            "trial_others_tier": case.place.others_tier,
        },
        get=["trial_totals", "trial_bins", "trial_seen", "seen_bins"],
    )
    if result.exit_code:
        raise ValueError(f"the trial of {case} ended with exit code {result.exit_code}")
    return _histograms(result)


def _frames(load: str, cycles: int, clock_hz: int) -> list[Frame]:
    """What comes over Ethernet until the end of the run."""
    if load == IDLE:
        return []
    if load == FLOOD:
        count = int((cycles - _BEGIN) / wire_cycles(_FLOOD_BYTES, clock_hz))
        return [Frame(datagram(_FLOOD_BYTES - FCS_BYTES - HEADER_BYTES), cycle=_BEGIN)] * count
    # The terminal server learns from the first datagram where a port's characters go.
    hello = [Frame(datagram(29, _SERIAL_UDP_PORT + port)) for port in range(MAX_UARTS)]
    interval = _SERIAL_BYTES * _CHARACTER_S * clock_hz
    datagrams = [
        Frame(datagram(28 + _SERIAL_BYTES, _SERIAL_UDP_PORT + port), int(_BEGIN + turn * interval))
        for turn in range(int((cycles - _BEGIN) / interval) + 1)
        for port in range(MAX_UARTS)
    ]
    frames = [Frame(arp_request(), cycle=_INTRODUCTION), *hello, *datagrams]
    return [replace(frame, cycle=max(frame.cycle, _INTRODUCTION)) for frame in frames]


def _characters(load: str, cycles: int, clock_hz: int) -> list[UartBytes]:
    """What comes over the serial ports, which are behind the console's on the pins."""
    if load != SERIAL:
        return []
    interval = int(_CHARACTER_S * clock_hz)
    data = bytes(index & 0xFF for index in range((cycles - _BEGIN) // interval))
    return [
        UartBytes(
            1 + port, data, cycle=_BEGIN + port * interval // MAX_UARTS, interval_cycles=interval
        )
        for port in range(MAX_UARTS)
    ]


def _histograms(result: RunResult) -> Measured:
    def histogram(bins: str, total: int, overflow: int, *others: int) -> Histogram:
        minimum, maximum, sum_, squares = others
        data = result.values[bins]
        return from_sums(
            struct.unpack(f"<{len(data) // 4}I", data),
            total=total,
            minimum=minimum,
            maximum=maximum,
            sum=sum_,
            squares=squares,
            overflow=overflow,
        )

    samples, missed, overflow, *extremes, saturated, total, squares = _TOTALS.unpack(
        result.values["trial_totals"]
    )
    hardware = histogram("trial_bins", samples, overflow, *extremes, total, squares)
    samples, overflow, *extremes, least, most, total, squares = _SEEN.unpack(
        result.values["trial_seen"]
    )
    software = histogram("seen_bins", samples, overflow, *extremes, total, squares)
    return Measured(hardware, software, missed, least, most, saturated)
