"""E6: the highest load without loss, and what interrupts take, with more and more devices."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tierv.soc.params import SocParams

from ..records import RunEnd
from ..stimulus import Frame, UartBytes, UartFormat
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .frames import datagram
from .plots import COLOURS, figure
from .search import highest
from .serial_link import SERIAL_SOC

#: Load 1: speed of every serial port, and frames a second.
_BAUD = 115_200
_FRAMES_PER_S = 1_000
_TICK_HZ = 10_000
#: Firmware is ready by then.
_START = 250_000
#: Bits of a character.
_BITS = 10
#: The shortest IPv4 packet with UDP in it; its frame is padded to 64 bytes.
_DATAGRAM_BYTES = 28
#: Bits a clock cycle on the Ethernet's wire, so that it is not the limit.
_WIRE_BITS_PER_CYCLE = 4
#: Characters for each in a FIFO, at the least, so that an overload shows.
_CHARACTERS_PER_DEPTH = 20
#: Frames at loads that are searched for, at the least; the MAC has room for eight.
_MIN_FRAMES = 60
#: The search begins here and ends when it knows the load to this factor; at the highest there is a
#: bit of a serial port lasts eight cycles.
_FIRST_LOAD = 8.0
_PRECISION = 1.05
_MOST_LOAD = 108.0
_BUILDS = (Build.BANKED, Build.SINGLE)
#: Ratio of the shares of interrupts that is aimed at.
_AIM = 5

_SHORT = {"uarts": (0, 1, 4, 16), "depths": (1, 16)}
_FULL = {"uarts": (0, 1, 2, 4, 8, 16), "depths": (1, 2, 16, 128)}


@dataclass(frozen=True)
class _Case:
    build: Build
    uarts: int
    depth: int

    @property
    def soc(self) -> Mapping[str, Any]:
        """Changes of the usual SoC, where that has not enough; it is faster to simulate."""
        usual = SocParams()
        fits = self.uarts <= usual.uarts and self.depth <= usual.uart_receive_bytes
        return {} if fits else SERIAL_SOC

    @property
    def watermark(self) -> int:
        """Characters for which a port calls."""
        return (self.depth + 1) // 2


@dataclass(frozen=True)
class _Trial:
    """What a run gave that lost nothing."""

    #: Part of the processor that interrupts took from the application.
    share: float
    interrupts_per_s: float


class ManySources(Experiment):
    """Serial ports and Ethernet, all at the same load, and a timer at 10 kHz.

    At load k every serial port receives without pause at k times 115,200 bit/s, and Ethernet brings
    1,000 k frames of 64 bytes a second. Nothing stands behind the interrupt services but a ring
    (``firmware/apps/sources.c``), so that what is taken from the application is the interrupts'.
    Firmware uses some of the ports that there are, and a part of their FIFOs. The watermark is half
    of that part. The load without loss is searched to 5 %; a trial has 20
    characters for each place in a FIFO, and at least as many as its length says. In the search all
    ports begin within a character, so that their FIFOs call together, which is the worst; at load 1
    they begin at any moment of the time from one call to the next, as sources do that know nothing
    of each other.

    A load of 108 is the highest that is tried; where a build loses nothing there, its ratio to the
    other is not known.

    Two gains are reported. "Saved" is the part of the processor that S gives to interrupts more
    than B, at load 1. The ratio of the loads without loss is another matter: a handler with
    more to do than it can finish is entered once for everything, and its entry costs S nothing.
    """

    id = "E6"
    title = "Many sources"
    reference = "the question that Pattery et al. leave open"
    pass_line = (
        "What B saves of the processor at load 1 grows with every step in the number of ports,"
        " at every FIFO depth; B takes 16 x 115,200 bit/s without loss"
    )
    length_unit = "characters to each port in a trial"
    short_length = 160
    full_length = 1_000

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every number of ports with every depth, on both builds."""
        grid = _SHORT if self.is_short(settings) else _FULL
        pairs = list(itertools.product(grid["uarts"], grid["depths"]))
        # The longest first, so that no processor waits for the last.
        cases = [_Case(b, *pair) for pair in reversed(pairs) for b in _BUILDS]
        setups = {item: bench.setup(item.build, "sources", **item.soc) for item in cases}

        def case(item: _Case) -> tuple[float, _Trial | None]:
            setup = setups[item]
            usual = _trial(setup, item, 1, settings, item.watermark)
            load = _highest_load(setup, item, settings) if usual else 0.0
            progress(f"{item.build}, {item.uarts} ports, FIFO {item.depth}: load {load:.1f}")
            return load, usual

        found = dict(zip(cases, bench.map(case, cases), strict=True))
        rows = [self._row(pair, {b: found[_Case(b, *pair)] for b in _BUILDS}) for pair in pairs]
        return Outcome(
            rows=rows,
            headline=_headline(rows, grid),
            passed=_holds(rows, grid),
            config={
                "precision": _PRECISION,
                "highest_load": _MOST_LOAD,
                "timer_hz": _TICK_HZ,
                **grid,
            },
        )

    def _row(
        self, pair: tuple[int, int], found: Mapping[Build, tuple[float, _Trial | None]]
    ) -> dict[str, Any]:
        uarts, depth = pair
        row: dict[str, Any] = {"ports": uarts, "FIFO": depth}
        loads = {build: load for build, (load, _) in found.items()}
        row |= {f"k({build})": round(load, 2) for build, load in loads.items()}
        if loads[Build.SINGLE] and max(loads.values()) < _MOST_LOAD:
            row["k(B)/k(S)"] = round(loads[Build.BANKED] / loads[Build.SINGLE], 3)
        trials = {build: trial for build, (_, trial) in found.items() if trial}
        for build, trial in trials.items():
            row[f"share of {build} at k = 1 (%)"] = round(100 * trial.share, 3)
            row[f"interrupts/s of {build}"] = round(trial.interrupts_per_s)
        if len(trials) == len(found):
            single, banked = trials[Build.SINGLE].share, trials[Build.BANKED].share
            row["saved (%)"] = round(100 * (single - banked), 3)
            row["share S/B"] = round(single / banked, 2) if banked else math.inf
        return row

    def plot(self, outcome: Outcome, path: Path) -> None:
        """The load without loss against the number of ports."""
        depths = sorted({row["FIFO"] for row in outcome.rows})
        markers = dict(zip(depths, "osD^", strict=False))
        label = "load k without loss (1: 115,200 bit/s, 1,000 frames/s)"
        with figure(path, self.title, xlabel="serial ports", ylabel=label) as axes:
            for depth, build in itertools.product(depths, _BUILDS):
                rows = [row for row in outcome.rows if row["FIFO"] == depth]
                axes.plot(
                    [row["ports"] for row in rows],
                    [row[f"k({build})"] for row in rows],
                    marker=markers[depth],
                    color=COLOURS[build],
                    label=f"{build}, FIFO {depth}",
                )
            axes.set_yscale("log")
            axes.legend()


def _by(rows: list[dict[str, Any]], uarts: int, depth: int) -> dict[str, Any]:
    return next(row for row in rows if (row["ports"], row["FIFO"]) == (uarts, depth))


def _headline(rows: list[dict[str, Any]], grid: Mapping[str, tuple[int, ...]]) -> dict[str, float]:
    headline: dict[str, float] = {}
    most, least = max(grid["uarts"]), min(grid["uarts"])
    for depth in grid["depths"]:
        for uarts in (least, most):
            row = _by(rows, uarts, depth)
            if "k(B)/k(S)" in row:
                headline[f"k(B)/k(S), {uarts} ports, FIFO {depth}"] = row["k(B)/k(S)"]
            if "saved (%)" in row:
                headline[f"saved (%), {uarts} ports, FIFO {depth}"] = row["saved (%)"]
        row = _by(rows, most, depth)
        headline[f"k(B), {most} ports, FIFO {depth}"] = row["k(B)"]
        if "share S/B" in row:
            name = f"share of interrupts S/B, {most} ports, FIFO {depth} (aim {_AIM})"
            headline[name] = row["share S/B"]
    return headline


def _holds(rows: list[dict[str, Any]], grid: Mapping[str, tuple[int, ...]]) -> bool:
    for depth in grid["depths"]:
        by_uarts = [_by(rows, uarts, depth) for uarts in sorted(grid["uarts"])]
        if any(row["k(B)"] < 1 for row in by_uarts):
            return False
        # Where S loses something at load 1, nothing can be compared any more.
        saved = [row["saved (%)"] for row in by_uarts if row["k(S)"]]
        if any(after <= before for before, after in itertools.pairwise(saved)):
            return False
    return True


def _highest_load(setup: Setup, case: _Case, settings: Settings) -> float:
    """0 if something is lost at load 1, too."""

    def survives(load: float) -> bool:
        return _trial(setup, case, load, settings, 1) is not None

    load = highest(
        survives, first=_FIRST_LOAD, step=2, precision=_PRECISION, least=1, most=_MOST_LOAD
    )
    return load or 0.0


def _trial(
    setup: Setup, case: _Case, load: float, settings: Settings, spread: int
) -> _Trial | None:
    """A run at a load, whose ports begin within so many characters; None if something was lost."""
    clock = settings.clock_hz
    baud = round(load * _BAUD)
    characters = max(settings.length, _CHARACTERS_PER_DEPTH * case.depth)
    frames = round(characters * _BITS * _FRAMES_PER_S / _BAUD)
    if load >= _FIRST_LOAD:
        frames = max(frames, _MIN_FRAMES)
    # Ports and Ethernet end about together.
    characters = round(frames * _BAUD / (_FRAMES_PER_S * _BITS))
    random_ = random.Random(settings.seed)
    start = _START + clock // 1_000
    frame_cycles = clock / (_FRAMES_PER_S * load)
    form = UartFormat(baud)
    uart = [
        UartBytes(
            port + 1,
            bytes(random_.randrange(256) for _ in range(characters)),
            cycle=start + random_.randrange(round(spread * _BITS * clock / baud)),
            format=form,
        )
        for port in range(case.uarts)
    ]
    first = start + random_.random() * frame_cycles
    duration = frames * frame_cycles
    data = datagram(_DATAGRAM_BYTES)
    result = setup.run(
        cycles=round(start + 1.2 * duration + clock // 500),
        uart=uart,
        frames=[Frame(data, cycle=round(first + n * frame_cycles)) for n in range(frames)],
        mii_hz=clock * _WIRE_BITS_PER_CYCLE // 4,
        set={
            "ports": case.uarts,
            "baud": baud,
            "fifo_characters": case.depth,
            "watermark": case.watermark,
            "characters": characters,
            "frames": frames,
            "tick_cycles": clock // _TICK_HZ,
            "start_cycle": start,
        },
        limit_is_error=False,
    )
    if result.end is not RunEnd.EXIT:
        return None
    cycles, idle, flagged, interrupts = (result.results[number] for number in range(4))
    if result.exit_code or flagged:
        return None
    return _Trial((cycles - idle) / cycles, interrupts * clock / cycles)
