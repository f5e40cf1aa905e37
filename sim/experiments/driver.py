"""E2: what moving a datagram between the MAC and memory takes from the processor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tierv.soc.map import ETH_TX_SLOTS

from ..result import RunResult
from ..stimulus import Frame
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings, megabits_per_second
from .frames import DATAGRAM_BYTES, HEADER_BYTES, datagram
from .plots import COLOURS, figure

#: Firmware is ready by then.
_START = 150_000
#: Cycles for a datagram, at the most, for the limit of a run.
_MOST_CYCLES = 20_000
#: A wire that the driver never waits for, in bits a clock cycle. It brings more frames than the
#: driver can take.
_FAST_WIRE_BITS = 10
_FAST_WIRE_FRAMES = 5


@dataclass(frozen=True)
class _Case:
    build: Build
    direction: str
    #: The driver sums what it copies, as the stack wants it.
    sums: bool = False
    fast_wire: bool = False


#: By direction: the published gain of B over S in per cent, and the rates of S and B in Mbit/s.
_PUBLISHED = {"receive": (8.5, 994, 1078), "send": (5.4, 653, 688)}
_CASES = (("receive", False), ("receive", True), ("send", False))


class DriverLayer(Experiment):
    """Datagrams of 1500 bytes one way; nothing but the driver handles them.

    "Taken" is what the application lost for each datagram: it spends its time in rounds of known
    length and counts them. "Elapsed" is the time for each datagram if the wire is fast enough
    never to be waited for: S copies a word in three cycles, B in four, of which it leaves some to
    the application.
    """

    id = "E2"
    title = "Driver layer"
    reference = "653 to 688 Mbit/s sending, 994 to 1,078 Mbit/s receiving, at 200 MHz"
    pass_line = (
        "B over S by 5.4 % sending, 8.5 % receiving, of what is taken; B over 688 and 1,078 Mbit/s,"
        " both of what is taken and elapsed"
    )
    length_unit = "datagrams each way"
    short_length = 500
    full_length = 10_000
    # When the driver has handed over the last one, the MAC's slots may be full; the time between
    # two that are on the wire is wanted.
    least_length = ETH_TX_SLOTS + 2

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """All builds both ways; receiving also with the sum that the stack wants."""
        setups = bench.setups("driver")
        cases = [
            _Case(build, direction, sums, fast)
            for direction, sums in _CASES
            for build in Build
            for fast in (False, True)
        ]

        def case(item: _Case) -> dict[str, float]:
            measured = _measure(setups[item.build], item, settings)
            progress(f"{item.build} {item.direction}{', summing' if item.sums else ''}")
            return measured

        measured = dict(zip(cases, bench.map(case, cases), strict=True))
        rows = [
            self._row(build, direction, sums, measured)
            for direction, sums in _CASES
            for build in Build
        ]
        headline: dict[str, float] = {}
        passed = True
        for direction, (least_gain, _, published) in _PUBLISHED.items():
            taken, elapsed = (
                {
                    build: _rate(measured[_Case(build, direction, fast_wire=fast)][name])
                    for build in (Build.BANKED, Build.SINGLE)
                }
                for name, fast in (("taken", False), ("elapsed", True))
            )
            gain = 100 * (taken[Build.BANKED] / taken[Build.SINGLE] - 1)
            headline[f"{direction} gain, of cycles taken (%)"] = gain
            for build in taken:
                name = f"{build} {direction}"
                headline[f"{name}, of cycles taken (Mbit/s at 200 MHz)"] = taken[build]
                headline[f"{name}, elapsed (Mbit/s at 200 MHz)"] = elapsed[build]
            slower = min(taken[Build.BANKED], elapsed[Build.BANKED])
            passed &= gain > least_gain and slower > published
        return Outcome(rows=rows, headline=headline, passed=passed)

    def _row(
        self, build: Build, direction: str, sums: bool, measured: dict[_Case, dict[str, float]]
    ) -> dict[str, Any]:
        alone = measured[_Case(build, direction, sums)]
        pressed = measured[_Case(build, direction, sums, True)]
        return {
            "build": build,
            "direction": direction,
            "summing": sums,
            "taken (cycles a datagram)": round(alone["taken"], 1),
            "taken (Mbit/s at 200 MHz)": round(_rate(alone["taken"])),
            "elapsed (cycles a datagram)": round(pressed["elapsed"], 1),
            "elapsed (Mbit/s at 200 MHz)": round(_rate(pressed["elapsed"])),
        }

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Bars of the rates, with the published ones."""
        with figure(path, self.title, ylabel="Mbit/s at 200 MHz, of what is taken") as axes:
            positions = np.arange(len(_PUBLISHED))
            for index, build in enumerate(Build):
                values = [
                    row["taken (Mbit/s at 200 MHz)"]
                    for direction in _PUBLISHED
                    for row in outcome.rows
                    if (row["build"], row["direction"], row["summing"]) == (build, direction, False)
                ]
                place = positions + (index - 1) * 0.25
                bars = axes.bar(place, values, 0.25, label=build, color=COLOURS[build])
                axes.bar_label(bars)
            for position, (_, *rates) in zip(positions, _PUBLISHED.values(), strict=True):
                for value in rates:
                    axes.hlines(value, position - 0.4, position + 0.4, "gray", "dashed")
            axes.set_xticks(positions, list(_PUBLISHED))
            axes.legend(title="dashed: published")


def _rate(cycles: float) -> float:
    """Mbit/s at the reference's clock, for a datagram in so many cycles."""
    return megabits_per_second(DATAGRAM_BYTES * 8, cycles)


def _measure(setup: Setup, case: _Case, settings: Settings) -> dict[str, float]:
    receives = case.direction == "receive"
    count = settings.length
    wire = settings.clock_hz * _FAST_WIRE_BITS // 4 if case.fast_wire else None
    offered = count * _FAST_WIRE_FRAMES if case.fast_wire else count
    frame = Frame(datagram(DATAGRAM_BYTES), cycle=_START)
    most = _MOST_CYCLES * max(1, settings.clock_hz // 100_000_000)
    result = setup.run(
        cycles=_START + count * most,
        frames=[frame] * offered if receives else [],
        mii_hz=wire,
        set={
            "frames_to_receive": count if receives else 0,
            "frames_to_send": 0 if receives else count,
            "frame_bytes": HEADER_BYTES + DATAGRAM_BYTES,
            "sum_received": case.sums,
        },
    )
    received, transmitted, idle, cycles = (result.results[number] for number in range(4))
    return {
        "taken": (cycles - idle) / max(received, transmitted),
        "elapsed": _elapsed(result, received),
    }


def _elapsed(result: RunResult, received: int) -> float:
    """Cycles a datagram at the wire, from the first to the last."""
    if received:
        return (result.cycles - int(result.frames_sent[0])) / received
    starts = [frame.cycle for frame in result.frames]
    return (starts[-1] - starts[0]) / (len(starts) - 1)
