"""E12: SLIP at 28,800 baud beside services that block."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..stimulus import LineLevel, UartBytes, UartFormat
from .bench import Bench, Build, Setup
from .contention import ALL_LINES, BLOCKING_US, CALIBRATION, ORDER_NAMES, START, Order
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import COLOURS, figure
from .transfer import Transfer, goodput

#: The line's speed, and how many bytes each second that is.
BAUD = 28_800
LINE_RATE = BAUD / 10
#: The clock at which the SoC is simulated: everything that takes time has so many cycles.
_CLOCK_HZ = 5_000_000
#: The port calls with so many bytes in its FIFO of 16, as a 16550A does at its highest setting.
_WATERMARK = 14
_FIFO_BYTES = 16
#: Bytes of an IP packet, and of its payload behind 40 bytes of IP and TCP headers.
_PACKET_BYTES = 576
_PAYLOAD_BYTES = _PACKET_BYTES - 40
#: Packets of a port of which the firmware keeps whether they arrived
#: (``firmware/apps/goodput.c``); on the line they have an END on either side.
MOST_PACKETS = 2_048
_LEAST_LINE_BYTES = _PACKET_BYTES + 2
#: All services at once, so many times a second, at random: how often is not published.
_LOCK_OUTS_PER_S = (10, 20, 100)
#: The published goodput before and after.
_PUBLISHED = (700, 2_500)
_GAIN = 3.57

_END, _ESC = 0xC0, 0xDB
_ESCAPED = {_END: 0xDC, _ESC: 0xDD}


@dataclass(frozen=True)
class _Case:
    build: Build
    order: Order
    lock_outs: int


_CASES = (
    *(
        _Case(build, order, lock_outs)
        for build in (Build.SINGLE, Build.BANKED)
        for order in (Order.USUAL, Order.TUNED)
        for lock_outs in _LOCK_OUTS_PER_S
    ),
    _Case(Build.BANKED, Order.OWN_TIER, _LOCK_OUTS_PER_S[-1]),
)


class Goodput(Experiment):
    """Packets of 576 bytes over SLIP at 28,800 baud on all ports, with lock-outs of 1,310 us.

    Ports call with 14 of 16 bytes used, so a byte is lost if nobody has come within 1,042 us. The
    ports' line is never idle; a packet with a lost byte fails its checksum. From which packets
    arrived follows what a TCP transfer makes of such a line (``transfer.py``). The SoC is simulated
    at 5 MHz, so that a second of the line is 5 million cycles; the services' times are the same.
    """

    id = "E12"
    title = "SLIP goodput"
    reference = "28,800 baud: 700 bytes/s before, 2,500 bytes/s after irqtune"
    pass_line = (
        "S and B with the ports first: over 2,500 bytes/s at every rate of lock-outs, and 3.57"
        " times that of the usual order at the lowest rate at which that is 700 bytes/s or less"
    )
    length_unit = "seconds of the line"
    short_length = 3
    full_length = 10
    most_length = int(MOST_PACKETS * _LEAST_LINE_BYTES / LINE_RATE)

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """All rates of lock-outs, in the usual order and tuned, on S and B."""
        setups = bench.setups("goodput", (Build.BANKED, Build.SINGLE))

        def case(item: _Case) -> dict[str, Any]:
            row = _measure(setups[item.build], item, settings)
            progress(
                f"{item.build}, {ORDER_NAMES[item.order]}, {item.lock_outs} lock-outs a second"
            )
            return row

        rows = bench.map(case, _CASES)
        by_case = dict(zip(_CASES, rows, strict=True))
        headline: dict[str, float] = {}
        passed = True
        for build in (Build.SINGLE, Build.BANKED):
            found = {
                order: {
                    n: by_case[_Case(build, order, n)]["goodput (bytes/s)"]
                    for n in _LOCK_OUTS_PER_S
                }
                for order in (Order.USUAL, Order.TUNED)
            }
            usual, tuned = found[Order.USUAL], found[Order.TUNED]
            # As bad as published; the worst if none is.
            bad = [n for n in _LOCK_OUTS_PER_S if usual[n] <= _PUBLISHED[0]]
            rate = min(bad, default=_LOCK_OUTS_PER_S[-1])
            gain = tuned[rate] / max(usual[rate], 1)
            headline |= {
                f"{build} lock-outs a second": rate,
                f"{build} {ORDER_NAMES[Order.USUAL]} (bytes/s)": usual[rate],
                f"{build} {ORDER_NAMES[Order.TUNED]} (bytes/s)": tuned[rate],
                f"{build} gain": round(gain, 2),
            }
            passed &= min(tuned.values()) > _PUBLISHED[1] and gain > _GAIN
        own = by_case[_CASES[-1]]
        headline[f"B {ORDER_NAMES[Order.OWN_TIER]} (bytes/s)"] = own["goodput (bytes/s)"]
        headline["of what the line can carry (%)"] = own["of the line (%)"]
        config = {
            "clock_hz": _CLOCK_HZ,
            "blocking_us": BLOCKING_US,
            "packet_bytes": _PACKET_BYTES,
            "watermark": _WATERMARK,
            "line_rate_bytes_per_s": LINE_RATE,
            "transfer": Transfer.__doc__,
        }
        return Outcome(rows=rows, headline=headline, passed=passed, config=config)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Goodput against the rate of lock-outs, the published figures dashed."""
        styles = {ORDER_NAMES[Order.USUAL]: "dotted", ORDER_NAMES[Order.TUNED]: "solid"}
        with figure(path, self.title, ylabel="goodput (bytes/s)") as axes:
            for build in (Build.SINGLE, Build.BANKED):
                for order, style in styles.items():
                    own = [r for r in outcome.rows if (r["build"], r["order"]) == (build, order)]
                    axes.plot(
                        [row["lock-outs a second"] for row in own],
                        [row["goodput (bytes/s)"] for row in own],
                        color=COLOURS[build],
                        linestyle=style,
                        marker="o",
                        label=f"{build}, {order}",
                    )
            for value in _PUBLISHED:
                axes.axhline(value, color="gray", linestyle="dashed")
            axes.set_xscale("log")
            axes.set_xlabel("lock-outs of 1,310 us a second")
            axes.legend(title="dashed: published")


def encode_slip(packet: bytes) -> bytes:
    """A packet as it is on the line (RFC 1055), an END on either side."""
    body = b"".join(
        bytes((_ESC, _ESCAPED[byte])) if byte in _ESCAPED else bytes((byte,)) for byte in packet
    )
    return bytes((_END,)) + body + bytes((_END,))


def _packet(number: int, chance: random.Random) -> bytes:
    """Bytes at random behind a number, with an Internet checksum (RFC 1071) at the end."""
    data = number.to_bytes(2, "big") + chance.randbytes(_PACKET_BYTES - 4)
    total = sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return data + (total ^ 0xFFFF).to_bytes(2, "big")


def _stimulus(
    ports: int, case: _Case, settings: Settings
) -> tuple[list[LineLevel], list[UartBytes], list[int], int]:
    """Lines, characters, packets of each port, and the last cycle."""
    chance = random.Random(f"{settings.seed} {case.lock_outs}")
    bit = _CLOCK_HZ / BAUD
    # The same cycles at the clock of the SoC's headers, for which the stimulus is made.
    form = UartFormat(BAUD * settings.clock_hz / _CLOCK_HZ)
    end = START + settings.length * _CLOCK_HZ
    items, counts = [], []
    for port in range(ports):
        start = START + chance.randrange(round(10 * bit))
        data, count = bytearray(), 0
        while True:
            encoded = encode_slip(_packet(count, chance))
            if start + (len(data) + len(encoded)) * 10 * bit > end:
                break
            data += encoded
            count += 1
        items.append(UartBytes(1 + port, bytes(data), cycle=start, format=form))
        counts.append(count)
    lines = [LineLevel(CALIBRATION, raise_mask=ALL_LINES)]
    longest = round(sum(BLOCKING_US) * 1e-6 * _CLOCK_HZ)
    at = START
    while True:
        # Never one in the other.
        at += longest + round(max(0.0, chance.expovariate(case.lock_outs) * _CLOCK_HZ - longest))
        if at > end:
            break
        lines.append(LineLevel(at, raise_mask=ALL_LINES))
    return lines, items, counts, end + 100_000


def _arrivals(table: bytes, counts: Sequence[int]) -> list[np.ndarray]:
    """Which packets of each port arrived."""
    rows = np.frombuffer(table, np.uint8).reshape(len(counts), -1)
    return [row[:count] != 0 for row, count in zip(rows, counts, strict=True)]


def _measure(setup: Setup, case: _Case, settings: Settings) -> dict[str, Any]:
    ports = setup.simulation.model.params.soc.uarts
    lines, items, counts, last = _stimulus(ports, case, settings)
    per_us = _CLOCK_HZ / 1e6
    blocking = np.array([us * per_us for us in BLOCKING_US], "<u4")
    result = setup.run(
        cycles=last,
        uart=items,
        lines=lines,
        limit_is_error=False,
        set={
            "order": case.order,
            "baud": round(BAUD * settings.clock_hz / _CLOCK_HZ),
            "watermark": _WATERMARK,
            "blocker_cycles": blocking.tobytes(),
        },
        get=["arrived", "overruns"],
    )
    if result.results[1]:
        raise ValueError(
            f"the firmware must be able to set up, not end with {result.results[1]:#x}"
        )
    arrivals = _arrivals(result.values["arrived"], counts)
    line_bytes = sum(len(item.data) for item in items)
    sent = sum(counts)
    packet_s = line_bytes / sent / LINE_RATE
    transfer = Transfer(payload_bytes=_PAYLOAD_BYTES, packet_s=packet_s)
    rate = goodput(transfer, np.concatenate(arrivals), settings.seed)
    most = _PAYLOAD_BYTES / packet_s
    arrived = sum(int(row.sum()) for row in arrivals)
    return {
        "build": case.build,
        "order": ORDER_NAMES[case.order],
        "lock-outs a second": case.lock_outs,
        "packets": sent,
        "arrived (%)": round(100 * arrived / sent, 1),
        "bytes lost": int(np.frombuffer(result.values["overruns"], "<u4").sum()),
        "goodput (bytes/s)": round(rate, 1),
        "of the line (%)": round(100 * rate / most, 1),
    }
