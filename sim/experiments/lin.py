"""E14: how soon a LIN responder answers, and what load does to that."""

from __future__ import annotations

import enum
import random
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .. import lin
from ..host.commands import COMMAND_PORT
from ..host.lin import HOST_PORT, Record, Request, encode
from ..host.protocol import DATA_PORT
from ..model import SIMULATION_BAUD
from ..result import RunResult
from ..stimulus import Frame, UartBytes, UartFormat, bit_q8
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .frames import (
    FCS_BYTES,
    HEADER_BYTES,
    SINK_PORT,
    arp_request,
    datagram,
    udp_frame,
    wire_cycles,
)
from .plots import COLOURS, figure

BAUD = 19_200
#: What the reference added without load.
MOST_ADDED_US = 52
#: Serial ports that are LIN nodes, and those that the terminal server has.
_NODES = (0, 1)
_TERMINALS = (2, 3)
_FIRST_IDENTIFIER = 0x10
LENGTHS = range(1, 9)
#: Firmware is ready; between commands; when headers begin.
_READY, _BETWEEN = 600_000, 40_000
_START = 2_500_000
#: What a user of LIN sets: the nodes' lines first, and where there are tiers the MAC's below them.
_PRIORITIES = " ".join(f"uart{port}=15" for port in _NODES)
_IRQTUNE = {
    Build.BANKED: f"irqtune {_PRIORITIES} ethmac=tier1",
    Build.SINGLE: f"irqtune {_PRIORITIES}",
}
#: Headers of one run; more are several runs.
_RUN_HEADERS = 300
_FLOOD_BYTES = 64
#: A datagram for the terminal server's ports, in bytes; each port sends it as fast as it can.
_TERMINAL_BYTES = 1024


class Load(enum.StrEnum):
    """What else the board does."""

    IDLE = "idle"
    BUSY = "busy"
    FLOOD = "busy, flood"


#: Round trips that the reference found.
PUBLISHED_US = {Load.IDLE: 572, Load.BUSY: 1_318, Load.FLOOD: 6_924}


@dataclass(frozen=True)
class _Header:
    """A header of the commander, and the answer that is due; cycles."""

    port: int
    begin: int
    identifier: int
    data: bytes


@dataclass(frozen=True)
class _Answers:
    """What became of headers: cycles from the header's end, of those that were answered."""

    spaces: list[int]
    #: Whole responses, in parts of the nominal time.
    lengths: list[float]
    dropped: int


@dataclass(frozen=True)
class _Case:
    build: Build
    load: Load
    #: The port waits for the end of the identifier's stop bit.
    waits: bool = True


class Lin(Experiment):
    """A responder on two ports gets headers for responses of one to eight bytes.

    The response space runs from the end of the identifier's stop bit to the fall of the first
    response byte's start bit; a round trip, as the reference counts it, has that byte besides.
    Loads are those of the reference: nothing else; an application that computes; and with that a
    flood of Ethernet frames of 64 bytes at line rate and two more serial ports that receive
    without a pause and send. A header is dropped if its response is not whole and right.

    The lines of the nodes have the highest priority: in S their services interrupt others. In B the
    network's line is moved to the protocol's tier, so that they do there too.

    The port gets the identifier in the middle of its stop bit and waits for the end, so that a
    handler may be half a bit late before anybody sees it. "Written" is when the answer is there,
    from the middle of the stop bit, as runs show in which the port does not wait.
    """

    id = "E14"
    title = "LIN responder"
    reference = "round trips of 572, 1,318 and 6,924 us at 19,200 bit/s: 52, 798 and 6,404 us added"
    pass_line = (
        "B adds 52 us or less under every load, responses take 1.4 times the nominal time or"
        " less, none is dropped"
    )
    #: 10,000 in the six cases.
    length_unit = f"headers in each case, and up to {_RUN_HEADERS} without the port's wait"
    short_length = 24
    full_length = 1_700

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Both builds under each load, with the port's wait and without."""
        setups = bench.setups("services", (Build.BANKED, Build.SINGLE))
        cases = [
            _Case(build, load, waits)
            for build in setups
            for load in Load
            for waits in (True, False)
        ]
        lengths = {
            case: settings.length if case.waits else min(_RUN_HEADERS, settings.length)
            for case in cases
        }
        runs = [
            (case, number, min(_RUN_HEADERS, length - first))
            for case, length in lengths.items()
            for number, first in enumerate(range(0, length, _RUN_HEADERS))
        ]

        def one(item: tuple[_Case, int, int]) -> _Answers:
            case, number, count = item
            answers = _run(setups[case.build], case, count, settings, settings.seed + number)
            progress(f"{case.build}, {case.load}{'' if case.waits else ', without the wait'}")
            return answers

        found: dict[_Case, list[_Answers]] = {case: [] for case in cases}
        for (case, *_), answers in zip(runs, bench.map(one, runs), strict=True):
            found[case].append(answers)
        rows = [_row(case, found, settings) for case in cases if case.waits]
        headline = {
            name: value for build in setups for name, value in _headline(build, rows).items()
        }
        passed = (
            headline["B added, worst (us)"] <= MOST_ADDED_US
            and headline["B longest response (of nominal)"] <= lin.MOST_TIMES
            and headline["B dropped"] == 0
        )
        round_trips = {
            f"{case.build}, {case.load}": _round_trips(found[case], settings)
            for case in cases
            if case.waits
        }
        config = {"baud": BAUD, "irqtune": _IRQTUNE, "round_trips_us": round_trips}
        return Outcome(rows=rows, headline=headline, passed=passed, config=config)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Every round trip, beside the published ones."""
        cases = list(outcome.config["round_trips_us"].items())
        with figure(path, self.title, xlabel="round trip (us); dashed: published") as axes:
            for place, (case, counts) in enumerate(cases):
                values = [float(value) for value in counts]
                sizes = [10 + 20 * np.log10(count) for count in counts.values()]
                colour = COLOURS[case.partition(",")[0]]
                axes.scatter(values, [place] * len(values), sizes, color=colour, alpha=0.6)
            for load, value in PUBLISHED_US.items():
                axes.axvline(value, linestyle="--", color="gray")
                axes.text(value, len(cases) - 0.3, f"{load} ", ha="right", fontsize="small")
            axes.set_xscale("log")
            axes.set_xlim(450, 10_000)
            axes.set_xticks(list(PUBLISHED_US.values()), [f"{v:,}" for v in PUBLISHED_US.values()])
            axes.minorticks_off()
            axes.set_yticks(range(len(cases)), [case for case, _ in cases])
            axes.set_ylim(-0.5, len(cases) + 0.6)


def _headline(build: Build, rows: list[dict[str, Any]]) -> dict[str, float]:
    mine = [row for row in rows if row["build"] == build]
    least = min(row["space min (us)"] for row in mine)
    worst = max(row["space max (us)"] for row in mine)
    return {
        f"{build} added, worst (us)": worst,
        f"{build} added, spread (us)": worst - least,
        f"{build} answer written, worst (us)": max(row["written max (us)"] for row in mine),
        f"{build} longest response (of nominal)": max(
            row["response max (of nominal)"] for row in mine
        ),
        f"{build} dropped": sum(row["dropped"] for row in mine),
    }


def _spaces_us(found: list[_Answers], settings: Settings) -> np.ndarray:
    spaces = np.array([space for answers in found for space in answers.spaces])
    return spaces * 1e6 / settings.clock_hz


def _row(case: _Case, found: dict[_Case, list[_Answers]], settings: Settings) -> dict[str, Any]:
    for one in (case, replace(case, waits=False)):
        if not any(answers.spaces for answers in found[one]):
            raise ValueError(f"{one.build}, {one.load}: a header must be answered, and none was")
    spaces = _spaces_us(found[case], settings)
    written = _spaces_us(found[replace(case, waits=False)], settings) + 0.5e6 / BAUD
    row: dict[str, Any] = {
        "build": case.build,
        "load": case.load,
        "headers": settings.length,
        "dropped": sum(answers.dropped for answers in found[case]),
    }
    for name, values in {"space": spaces, "written": written}.items():
        for kind in ("min", "mean", "max"):
            row[f"{name} {kind} (us)"] = round(float(getattr(values, kind)()), 3)
    row["round trip max (us)"] = round(float(spaces.max()) + 1e6 * lin.CHARACTER_BITS / BAUD, 2)
    row["published (us)"] = PUBLISHED_US[case.load]
    longest = max(length for answers in found[case] for length in answers.lengths)
    row["response max (of nominal)"] = round(longest, 4)
    return row


def _round_trips(found: list[_Answers], settings: Settings) -> dict[str, int]:
    """How often each round trip was seen, in us to a hundredth."""
    byte_us = 1e6 * lin.CHARACTER_BITS / BAUD
    return dict(Counter(f"{space + byte_us:.2f}" for space in _spaces_us(found, settings)))


def _run(setup: Setup, case: _Case, count: int, settings: Settings, seed: int) -> _Answers:
    rng = random.Random(seed)
    data = {(port, length): rng.randbytes(length) for port in _NODES for length in LENGTHS}
    headers, end = _headers(count, data, settings, rng)
    form = UartFormat(BAUD)
    uart = [
        item
        for one in headers
        for item in lin.header(1 + one.port, one.identifier, one.begin, form)
    ]
    frames = _set_up(case.build, data)
    if case.load is Load.FLOOD:
        uart += _busy_ports(end, settings, rng)
        frames += _flood(end, settings, rng)
    result = setup.run(
        cycles=end + 1,
        frames=frames,
        uart=uart,
        uart_formats={1 + port: form for port in _NODES},
        wires=[(1 + port,) for port in _NODES],
        set={"services_compute": case.load is not Load.IDLE, "lin_turns": case.waits},
        limit_is_error=False,
    )
    return _evaluate(result, headers, settings)


def _headers(
    count: int, data: dict[tuple[int, int], bytes], settings: Settings, rng: random.Random
) -> tuple[list[_Header], int]:
    """Headers for both ports at random lengths, and when the last response must be over."""
    bit = settings.clock_hz / BAUD
    headers = []
    begins = dict.fromkeys(_NODES, _START)
    for number in range(count):
        port = _NODES[number % len(_NODES)]
        length = rng.choice(LENGTHS)
        begin = begins[port] + rng.randrange(round(4 * bit))
        headers.append(_Header(port, begin, _FIRST_IDENTIFIER + length, data[port, length]))
        slot_bits = lin.HEADER_BITS + lin.MOST_TIMES * lin.CHARACTER_BITS * (length + 1)
        begins[port] = begin + round(slot_bits * bit)
    return headers, max(begins.values()) + round(2 * bit)


def _set_up(build: Build, data: dict[tuple[int, int], bytes]) -> list[Frame]:
    """Commands that make the nodes, and the data that they answer with."""
    commands = [_IRQTUNE[build]]
    for port in _NODES:
        commands.append(f"lin {port} on {BAUD}")
        commands += [
            f"lin {port} publish {_FIRST_IDENTIFIER + length} {length}" for length in LENGTHS
        ]
    frames = [Frame(arp_request(), cycle=_READY)]
    frames += [
        Frame(udp_frame(f"{number} {command}".encode(), COMMAND_PORT), _READY + number * _BETWEEN)
        for number, command in enumerate(commands, 1)
    ]
    records = [
        Record(Request.SET, port, _FIRST_IDENTIFIER + length, content)
        for (port, length), content in data.items()
    ]
    cycle = _READY + (len(commands) + 1) * _BETWEEN
    return [*frames, Frame(udp_frame(encode(records), HOST_PORT), cycle)]


def _busy_ports(end: int, settings: Settings, rng: random.Random) -> list[UartBytes]:
    """Characters without a pause for the terminal server's ports, at the speed of reset."""
    count = (end - _START) * SIMULATION_BAUD // (lin.CHARACTER_BITS * settings.clock_hz)
    return [UartBytes(1 + port, rng.randbytes(count), cycle=_START) for port in _TERMINALS]


def _flood(end: int, settings: Settings, rng: random.Random) -> list[Frame]:
    """Frames at line rate, among them datagrams that keep the ports of the terminal server busy."""
    small = Frame(datagram(_FLOOD_BYTES - FCS_BYTES - HEADER_BYTES, SINK_PORT), cycle=_START)
    interval = wire_cycles(_FLOOD_BYTES, settings.clock_hz)
    frames = [small] * int((end - _START) / interval)
    # In the time that a port needs for one.
    every = int(
        _TERMINAL_BYTES * lin.CHARACTER_BITS * settings.clock_hz / SIMULATION_BAUD / interval
    )
    for port in _TERMINALS:
        content = udp_frame(rng.randbytes(_TERMINAL_BYTES), DATA_PORT + port)
        frames[port::every] = [Frame(content, cycle=_START)] * len(frames[port::every])
    return frames


def _evaluate(result: RunResult, headers: list[_Header], settings: Settings) -> _Answers:
    bit = bit_q8(BAUD, settings.clock_hz) / 256
    header_cycles = lin.header_cycles(BAUD, settings.clock_hz)
    spaces: list[int] = []
    lengths: list[float] = []
    dropped = 0
    for port in _NODES:
        own = result.characters[result.characters["port"] == 1 + port]
        cycles = own["cycle"].astype(np.int64)
        mine = [one for one in headers if one.port == port]
        limits = [*(one.begin for one in mine[1:]), result.cycles]
        for one, limit in zip(mine, limits, strict=False):
            window = slice(*np.searchsorted(cycles, [one.begin, limit]))
            content = bytes(own["data"][window].astype(np.uint8))
            right = one.data + bytes([lin.checksum(one.data, one.identifier)])
            if content != right or own["errors"][window].any():
                dropped += 1
            if not len(content):
                continue
            end = one.begin + header_cycles
            spaces.append(int(cycles[window][0]) - end)
            whole = int(cycles[window][-1]) + lin.CHARACTER_BITS * bit - end
            lengths.append(whole / (lin.CHARACTER_BITS * len(right) * bit))
    return _Answers(spaces, lengths, dropped)
