"""E3: how the cycles of a datagram's echo divide among the tiers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..elf import Program
from ..result import RunResult
from ..stimulus import Frame, LineLevel
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .frames import (
    ECHO_PORT,
    FAST_ECHO_PORT,
    FCS_BYTES,
    HEADER_BYTES,
    arp_request,
    datagram,
    ipv4_frames,
    wire_cycles,
)
from .plots import figure
from .rfc2544 import MACS

SIZES = (64, 512, 1518)
SERVICES = {"echo": ECHO_PORT, "echo in the stack": FAST_ECHO_PORT}
#: Times between the frames, in those of the line rate and in cycles at the least: alone, and as
#: close as they come.
_LINE_RATE = "line rate"
_LOADS = {"alone": (2.5, 7_000), _LINE_RATE: (1.0, 0)}
#: Builds that sleep when there is nothing to do, so that it can be told from work.
_BUILDS = (Build.BANKED, Build.SINGLE)
_TIERS = range(3)
_INTRODUCTION, _START = 200_000, 250_000
#: Frames before those that are watched.
_BEFORE = 20
_TAIL_CYCLES = 100_000
_WFI = 0x1050_0073
#: Cycles after a `wfi` in which another tier goes on.
_SWITCH_CYCLES = 8
_LIMIT_CYCLES = 672
#: Sizes of which the headline says what one takes that is alone.
_ALONE_SIZES = (64, 1518)


@dataclass(frozen=True)
class _Case:
    mac: str
    build: Build
    service: str
    size: int
    load: str


class Shares(Experiment):
    """Cycles that a datagram's echo takes in each tier, in the application or in the stack.

    Every cycle of some time belongs to the tier whose instruction leaves the pipeline next, or is
    idle if nothing does for a while after a `wfi`; together they are that time. "Alone" a frame is
    through before the next one comes; at line rate, where a frame of 64 bytes comes in 672 cycles,
    frames share what it takes to wake a tier as soon as there is no time to wake for each. Cycles
    are given for each frame that was offered, and beside them how many had no echo.

    Trials at line rate all last as long as that with the longest frames, so that buffers, which
    hold 24 frames, or 22 by DMA, hide no loss of 1.5 % or more of frames of 64 bytes (0.15 % with
    ``--full``).
    """

    id = "E3"
    title = "Shares of the tiers"
    reference = "the driver's part of the stack is 22 % sending, 13 % receiving"
    pass_line = "B with DMA loses no frame of 64 bytes, one in 672 cycles"
    length_unit = "frames of 1518 bytes in a trial, others as long at line rate"
    short_length = 100
    full_length = 1_000

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every MAC, build, service, size and load."""
        setups = {mac: bench.setups("services", _BUILDS, **soc) for mac, soc in MACS.items()}
        cases = [_Case(*item) for item in itertools.product(MACS, _BUILDS, SERVICES, SIZES, _LOADS)]

        def case(item: _Case) -> dict[str, Any]:
            row = _measure(setups[item.mac][item.build], item, settings)
            progress(f"{item.build}, {item.mac}, {item.service} of {item.size} bytes, {item.load}")
            return row

        rows = dict(zip(cases, bench.map(case, cases), strict=True))
        passed = all(
            row["lost"] == 0
            for case, row in rows.items()
            if (case.mac, case.build, case.size) == ("dma", Build.BANKED, 64)
        )
        return Outcome(rows=list(rows.values()), headline=_headline(rows), passed=passed)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Bars of the tiers, one on the other, for 64 bytes alone."""
        rows = [row for row in outcome.rows if (row["bytes"], row["load"]) == (64, "alone")]
        names = [f"{row['build']} {row['MAC']}\n{row['service']}" for row in rows]
        with figure(path, f"{self.title}: 64 bytes, alone", ylabel="cycles") as axes:
            below = np.zeros(len(rows))
            for tier in _TIERS:
                cycles = np.array([row[f"tier {tier}"] for row in rows])
                axes.bar(names, cycles, bottom=below, label=f"tier {tier}")
                below += cycles
            axes.axhline(_LIMIT_CYCLES, color="gray", linestyle="dashed")
            axes.tick_params(axis="x", labelsize="x-small")
            axes.legend(title="dashed: line rate")


def _headline(rows: Mapping[_Case, Mapping[str, Any]]) -> dict[str, float]:
    """What a frame alone takes, with the tiers' shares of the application's echo; what one takes at
    line rate if there is time left, which else is the wire's; and what was lost.
    """
    headline: dict[str, float] = {}
    others = 0
    for case, row in rows.items():
        name = f"{case.build} {case.mac}, {case.service} of {case.size} bytes"
        is_flood = (case.size, case.load) == (min(SIZES), _LINE_RATE)
        if case.load != _LINE_RATE and case.size in _ALONE_SIZES:
            headline[f"{name} alone (cycles)"] = row["sum"]
            if case.build is Build.BANKED and case.service == "echo":
                for tier in _TIERS:
                    share = 100 * row[f"tier {tier}"] / row["sum"]
                    headline[f"{name} alone, tier {tier} (%)"] = share
        if is_flood and row["idle"]:
            headline[f"{name} at {case.load} (cycles)"] = row["sum"]
        if is_flood:
            headline[f"{name} at {case.load}, lost (of {row['offered']:,})"] = row["lost"]
        else:
            others = max(others, row["lost"])
    return headline | {"other sizes and loads, lost in the worst trial": others}


def _frames(case: _Case, settings: Settings) -> int:
    """Frames that are watched."""
    if case.load != _LINE_RATE:
        return settings.length
    longest, own = (wire_cycles(size, settings.clock_hz) for size in (max(SIZES), case.size))
    return round(settings.length * longest / own)


def _measure(setup: Setup, case: _Case, settings: Settings) -> dict[str, Any]:
    times, least = _LOADS[case.load]
    interval = max(times * wire_cycles(case.size, settings.clock_hz), least)
    frames = _frames(case, settings)
    count = _BEFORE + frames
    content = datagram(case.size - FCS_BYTES - HEADER_BYTES, SERVICES[case.service])
    begin = _START + round(_BEFORE * interval)
    cycles = round(frames * interval)
    result = setup.run(
        cycles=begin + cycles + _TAIL_CYCLES,
        frames=[
            Frame(arp_request(), cycle=_INTRODUCTION),
            *(Frame(content, cycle=_START + int(index * interval)) for index in range(count)),
        ],
        lines=[LineLevel(begin, raise_mask=1)],
        watch_cycles=cycles,
        limit_is_error=False,
    )
    echoes = ipv4_frames(result)
    shares = cycles_by_tier(result, setup.program, begin, cycles)
    busy = {name: value / frames for name, value in shares.items()}
    idle = busy.pop("idle")
    return {
        "MAC": case.mac,
        "build": case.build,
        "service": case.service,
        "bytes": case.size,
        "load": case.load,
        **{name: round(value, 1) for name, value in busy.items()},
        "sum": round(sum(busy.values()), 1),
        "idle": round(idle, 1),
        "offered": count,
        "lost": count - len(echoes),
    }


def cycles_by_tier(
    result: RunResult, program: Program, begin: int, cycles: int
) -> dict[str, float]:
    """Whose the cycles of some time are: ``tier 0`` to ``tier 2``, and ``idle``.

    The time is one in which instructions were logged.
    """
    retired = result.retired
    retired = retired[(retired["cycle"] >= begin) & (retired["cycle"] < begin + cycles)]
    gaps = np.diff(retired["cycle"].astype(np.int64), prepend=begin)
    waits = [pc for pc in np.unique(retired["pc"]) if program.word(int(pc)) == _WFI]
    behind_wait = np.concatenate([[True], np.isin(retired["pc"], waits)])
    idle = behind_wait[:-1] & (gaps > _SWITCH_CYCLES)
    shares = {
        f"tier {tier}": float(gaps[(retired["tier"] == tier) & ~idle].sum()) for tier in _TIERS
    }
    # Behind the last instruction.
    rest = begin + cycles - (int(retired["cycle"][-1]) if len(retired) else begin)
    return shares | {"idle": float(gaps[idle].sum()) + rest}
