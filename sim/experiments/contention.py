"""E10: a serial port that waits behind other devices' services."""

from __future__ import annotations

import enum
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tierv.soc import map as soc_map

from ..run import Until
from ..stimulus import LineLevel, UartBytes, UartFormat
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import COLOURS, figure

#: Microseconds for which the services of lines 0 to 3 block, and what they are together.
BLOCKING_US = (320, 300, 190, 500)
SUM_US = sum(BLOCKING_US)
#: The line whose service begins a collision: the longest.
_FIRST = 3
#: Bytes each second; a byte has ten bits.
_RATE = 6_700
_BAUD = 10 * _RATE
ALL_LINES = (1 << soc_map.EXTERNAL_LINES) - 1
#: The port's FIFO, and with how many bytes in it the port calls for service.
_FIFO_BYTES = 16
_WATERMARK = 9
#: The byte behind the watermark that finds no place, and when it has come.
_SLACK_BYTES = _FIFO_BYTES - _WATERMARK + 1
LIMIT_US = 1e6 * _SLACK_BYTES / _RATE
#: Bytes of a collision: up to the watermark, and what comes while the sum of all services lasts.
_BURST_BYTES = _WATERMARK + 10
_PIN = 1
#: When the firmware's lines rise for calibration, and when it has set everything up.
CALIBRATION, START = 200_000, 500_000
#: Cycles before the port calls in which the lines rise; that of a service which has begun by then.
_LEAD, _FIRST_LEAD = 30, (150, 300)
#: Bits of a byte until it is in the FIFO: to the middle of its stop bit.
_RECEIVED_BITS = 9.5
_PERIOD_US = 3_600
#: Of which the firmware keeps the waits (``firmware/apps/contention.c``).
MOST_COLLISIONS = 4_096


class Order(enum.IntEnum):
    """Who is served first; the numbers are those of ``firmware/apps/contention.c``."""

    USUAL = 0
    TUNED = 1
    OWN_TIER = 2


ORDER_NAMES = {
    Order.USUAL: "as the lines are numbered",
    Order.TUNED: "port first",
    Order.OWN_TIER: "port in its own tier",
}


@dataclass(frozen=True)
class _Case:
    build: Build
    order: Order


_CASES = (
    _Case(Build.SINGLE, Order.USUAL),
    _Case(Build.SINGLE, Order.TUNED),
    _Case(Build.BANKED, Order.USUAL),
    _Case(Build.BANKED, Order.TUNED),
    _Case(Build.BANKED, Order.OWN_TIER),
)


class Contention(Experiment):
    """Collisions of a serial port at 6,700 bytes/s with four devices whose services block.

    In each all four wait when the port calls; unless the lines are served as they are numbered,
    the longest service has then just begun. A service takes its time from its beginning to that of
    the next, what lies between services included. The port calls with nine of its sixteen bytes
    used, so that the eighth byte from then on is lost if nobody has come within 1,194 us. With the
    port first S interrupts the service that has begun; in B a tier finishes it.
    """

    id = "E10"
    title = "Contention"
    reference = "320 + 300 + 190 + 500 = 1,310 us against 500 us; a byte is lost after 1,194 us"
    pass_line = (
        "S and B: 1,310 +- 1 us with loss as the lines are numbered, at most 500 us without loss"
        " with the port first"
    )
    length_unit = "collisions"
    short_length = 40
    full_length = 1_000
    most_length = MOST_COLLISIONS

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Each order on S and B; only B has tiers to give away."""
        setups = bench.setups("contention", (Build.BANKED, Build.SINGLE))

        def case(item: _Case) -> dict[str, Any]:
            row = _measure(setups[item.build], item, settings)
            progress(f"{item.build}, {ORDER_NAMES[item.order]}")
            return row

        rows = bench.map(case, _CASES)
        by_case = dict(zip(_CASES, rows, strict=True))
        headline = {
            f"{item.build} {ORDER_NAMES[item.order]}, worst (us)": row["wait max (us)"]
            for item, row in by_case.items()
        }
        lost = {
            f"{i.build} {ORDER_NAMES[i.order]}, bytes lost": r["lost"] for i, r in by_case.items()
        }
        passed = all(_holds(item, row) for item, row in by_case.items())
        config = {
            "blocking_us": BLOCKING_US,
            "bytes_per_s": _RATE,
            "limit_us": round(LIMIT_US, 1),
            "burst_bytes": _BURST_BYTES,
        }
        return Outcome(rows=rows, headline=headline | lost, passed=passed, config=config)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Bars of the longest waits, the limit dashed."""
        with figure(path, self.title, ylabel="longest wait of the port (us)") as axes:
            labels = [f"{row['build']}\n{row['order']}" for row in outcome.rows]
            waits = [row["wait max (us)"] for row in outcome.rows]
            colours = [COLOURS[Build(row["build"])] for row in outcome.rows]
            bars = axes.bar(range(len(waits)), waits, color=colours)
            axes.bar_label(
                bars,
                [
                    f"{wait:,.2f}\n{r['lost']:,} lost"
                    for wait, r in zip(waits, outcome.rows, strict=True)
                ],
            )
            axes.set_yscale("log")
            axes.set_ylim(top=10 * SUM_US)
            axes.axhline(LIMIT_US, color="gray", linestyle="dashed")
            axes.set_xticks(range(len(labels)), labels, fontsize="x-small")


def _holds(case: _Case, row: dict[str, Any]) -> bool:
    if case.order is Order.USUAL:
        near = all(abs(row[f"wait {which} (us)"] - SUM_US) <= 1 for which in ("min", "max"))
        return near and row["lost"] > 0
    most = 1 if case.order is Order.OWN_TIER else max(BLOCKING_US)
    return row["wait max (us)"] <= most and row["lost"] == 0


def _stimulus(settings: Settings, order: Order) -> tuple[list[LineLevel], list[UartBytes], int]:
    """Lines and characters of all collisions, and the cycle in which they are over."""
    bit = settings.clock_hz / _BAUD
    period = round(_PERIOD_US * 1e-6 * settings.clock_hz)
    called_after = round(bit * (10 * (_WATERMARK - 1) + _RECEIVED_BITS))
    form = UartFormat(_BAUD)
    chance = random.Random(settings.seed)
    lines = [LineLevel(CALIBRATION, raise_mask=ALL_LINES)]
    items = []
    start = START
    for _ in range(settings.length):
        # Any phase of the bits against whatever else there is.
        start += chance.randrange(round(bit))
        data = bytes(chance.randrange(256) for _ in range(_BURST_BYTES))
        items.append(UartBytes(_PIN, data, cycle=start, format=form))
        called = start + called_after
        first_lead = _LEAD if order is Order.USUAL else chance.randint(*_FIRST_LEAD)
        lines.append(LineLevel(called - first_lead, raise_mask=1 << _FIRST))
        lines.append(LineLevel(called - _LEAD, raise_mask=ALL_LINES & ~(1 << _FIRST)))
        start += period
    return lines, items, start


def _measure(setup: Setup, case: _Case, settings: Settings) -> dict[str, Any]:
    lines, items, end = _stimulus(settings, case.order)
    per_us = settings.clock_hz / 1e6
    blocking = np.array([us * per_us for us in BLOCKING_US], "<u4")
    result = setup.run(
        cycles=end + 10_000,
        uart=items,
        lines=lines,
        limit_is_error=False,
        until=Until(),
        set={
            "order": case.order,
            "baud": _BAUD,
            "watermark": _WATERMARK,
            "burst_bytes": _BURST_BYTES,
            "blocker_cycles": blocking.tobytes(),
        },
        get=["waits", "received", "overruns"],
    )
    if result.results[1]:
        raise ValueError(
            f"the firmware must be able to set up, not end with {result.results[1]:#x}"
        )
    waits = np.frombuffer(result.values["waits"], "<u4")[: settings.length] / per_us
    sent = settings.length * _BURST_BYTES
    lost = sent - int(result.values["received"])
    if lost != result.values["overruns"]:
        raise ValueError(f"{lost} bytes are missing, and {result.values['overruns']} were counted")
    return {
        "build": case.build,
        "order": ORDER_NAMES[case.order],
        "wait min (us)": round(float(waits.min()), 2),
        "wait mean (us)": round(float(waits.mean()), 2),
        "wait max (us)": round(float(waits.max()), 2),
        "sent": sent,
        "lost": lost,
        "between services (cycles)": result.results[0],
    }
