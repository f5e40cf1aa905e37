"""E8: a terminal server that packs bytes by four rules, at all speeds of a serial line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..host import protocol
from ..host.protocol import Command, Item
from ..stimulus import Frame, UartBytes, UartFormat
from . import serial_link
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import figure

#: What the reference sent, and at which speed.
FILE_BYTES = 48_890
REFERENCE_BAUD = 19_200
_BAUDS = (300, 1200, 2400, 4800, 9600, REFERENCE_BAUD, 38_400, 57_600, 115_200, 230_400)
_BAUDS += (460_800, 921_600)
_LATENCY_US = 200_000
_LATENCIES_US = (2_000, 4_000, 10_000, 20_000, 40_000, 50_000, 100_000, _LATENCY_US)
#: Time is compressed: everything is so many times as fast, but the processor and its network. That
#: is a system clock so many times as slow. No line is faster than the fastest real one.
_COMPRESSION = 16
#: Of lines slower than the reference's.
_SLOW_COMPRESSION = 64
#: With a packet for each byte the processor needs more of the time.
_EACH_BYTE_COMPRESSION, _EACH_BYTE_SECONDS = 4, 0.3
#: Ports are used four at a time.
_PORTS = 4
#: Of slow lines so many seconds, at the short length and at the full one.
_SECONDS, _FULL_SECONDS = 1.3, 26.0
#: Simulated time after the last byte until all has been sent, in characters and cycles.
_TAIL_CYCLES = 200_000


@dataclass(frozen=True)
class _Rule:
    """A packing rule: the one that is meant, and others off."""

    name: str
    time_us: int = 0
    idle_characters: float = 0
    length: int = protocol.MAX_DATA_BYTES
    delimiter: bytes = b""

    def items(self, baud: int, compression: int) -> list[Item]:
        """Commands that set it."""
        idle_us = 1e6 * self.idle_characters * serial_link.CHARACTER_BITS / baud
        return [
            protocol.number(Command.SET_BAUDRATE, baud * compression),
            protocol.number(Command.PACK_TIME, round(self.time_us / compression)),
            protocol.number(Command.PACK_IDLE, round(idle_us / compression)),
            protocol.number(Command.PACK_LENGTH, self.length),
            protocol.delimiter(self.delimiter),
        ]


_EACH_BYTE = _Rule("each byte", length=1)
_BY_TIME = _Rule("time 200 ms", time_us=_LATENCY_US)
_RULES = (
    _BY_TIME,
    _Rule("idle 3 characters", idle_characters=3),
    _Rule("length 256", length=256),
    _Rule("delimiter", delimiter=b"\n"),
)


@dataclass(frozen=True)
class _Case:
    build: Build
    baud: int
    rules: tuple[_Rule, ...]
    #: What the processor does is measured; then there is one rule.
    measures: bool = False

    @property
    def compression(self) -> int:
        """How many times as fast it is simulated."""
        if self.rules == (_EACH_BYTE,):
            return _EACH_BYTE_COMPRESSION
        return compression_of(self.baud)

    def bytes(self, length: int) -> int:
        """How much of the file is sent, of ``length`` bytes at the most."""
        seconds = max(_SECONDS, _FULL_SECONDS * length / FILE_BYTES)
        if self.rules == (_EACH_BYTE,):
            seconds = _EACH_BYTE_SECONDS
        return min(length, round(seconds * self.baud / serial_link.CHARACTER_BITS))


def _text(seed: int) -> bytes:
    """Lines of text, as long as the reference's file."""
    rng = np.random.default_rng(seed)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz      ", np.uint8)
    lines = []
    while sum(map(len, lines)) < FILE_BYTES:
        lines.append(bytes(rng.choice(letters, rng.integers(1, 79))) + b"\n")
    return b"".join(lines)[:FILE_BYTES]


def compression_of(baud: int) -> int:
    """How many times as fast a line of this speed is simulated."""
    most = _COMPRESSION if baud >= REFERENCE_BAUD else _SLOW_COMPRESSION
    return max(1, min(most, _BAUDS[-1] // baud))


def _stimulus(
    rule: _Rule, port: int, data: bytes, start: int, form: UartFormat, character: float
) -> Iterator[tuple[UartBytes, np.ndarray]]:
    """Characters for a port, and the cycles in which each has come.

    With the rule for a gap there is one of six characters behind each line, else none.
    """
    pieces = data.splitlines(keepends=True) if rule.idle_characters else [data]
    at = float(start)
    for piece in pieces:
        first = round(at)
        yield (
            UartBytes(serial_link.FIRST_PIN + port, piece, first, form),
            first + character * np.arange(1, len(piece) + 1),
        )
        at = first + character * (len(piece) + 6)


def _run(setup: Setup, case: _Case, data: bytes, settings: Settings) -> list[dict[str, Any]]:
    """A row for each rule, each on a port of its own."""
    compression = case.compression
    form = UartFormat(case.baud * compression)
    character = serial_link.character_cycles(form.baud, settings.clock_hz)
    frames, ready = serial_link.set_up(
        {port: rule.items(case.baud, compression) for port, rule in enumerate(case.rules)}
    )
    ports = range(len(case.rules))
    frames += serial_link.ask_counters(ports, ready)
    start = ready + (len(ports) + 1) * serial_link.CONTROL_CYCLES
    uart, arrivals = [], []
    for port, rule in enumerate(case.rules):
        pieces = list(_stimulus(rule, port, data, start, form, character))
        uart += [piece for piece, _ in pieces]
        arrivals.append(np.concatenate([times for _, times in pieces]))
    # What no rule sends goes by that for the time, of which all is older by then.
    end = int(max(times[-1] for times in arrivals))
    end += _LATENCY_US * settings.clock_hz // 1_000_000 // compression + _TAIL_CYCLES
    flush = [protocol.number(Command.PACK_TIME, _LATENCY_US // compression)]
    for port in sorted(ports, key=lambda port: arrivals[port][-1]):
        frames += serial_link.ask_counters([port], int(arrivals[port][-1]))
    frames += [Frame(serial_link.control_frame(port, flush), end) for port in ports]
    frames += serial_link.ask_counters(ports, end + _TAIL_CYCLES)
    result = setup.run(
        cycles=end + 3 * _TAIL_CYCLES,
        frames=frames,
        uart=uart,
        set={"start_cycle": start, "run_cycles": int(arrivals[0][-1]) - start},
        limit_is_error=False,
    )
    rows = []
    for port, (rule, times) in enumerate(zip(case.rules, arrivals, strict=True)):
        packets = serial_link.packets_of(result, port)
        row = _row(case, rule, data, packets, times, end, settings.clock_hz)
        before, behind, last = serial_link.all_counters_of(result, port)
        seconds = (times[-1] - start) / settings.clock_hz * compression
        services = behind["SERVICES"] - before["SERVICES"]
        row["interrupts/s"] = round(float(services / seconds), 2)
        row["overruns"] = last["OVERRUNS"]
        if case.measures:
            cycles, idle = result.results[1], result.results[0]
            sent = sum(packet.end_cycle <= times[-1] for packet in packets)
            row |= _shares(result.results, cycles - idle, cycles * compression, sent)
        rows.append(row)
    return rows


def _row(
    case: _Case,
    rule: _Rule,
    data: bytes,
    packets: Sequence[serial_link.Packet],
    times: np.ndarray,
    end: int,
    clock_hz: int,
) -> dict[str, Any]:
    compression = case.compression
    by_rule = [packet for packet in packets if packet.end_cycle < end]
    oldest = times[np.cumsum([0, *(len(packet.data) for packet in by_rule)])[:-1]]
    ends = np.array([packet.end_cycle for packet in by_rule])
    scale = compression / clock_hz
    row: dict[str, Any] = {
        "build": case.build,
        "baud": case.baud,
        "rule": rule.name,
        "bytes": len(data),
        "exact": b"".join(packet.data for packet in packets) == data,
        "packets": len(packets),
    }
    if len(ends) > 2:
        # The last one was not followed by others.
        seconds = scale * (ends[-2] - ends[0])
        row["packets/s"] = round(float((len(ends) - 2) / seconds), 4)
    if len(ends):
        row["worst latency (ms)"] = round(float(1e3 * scale * (ends - oldest).max()), 3)
    return row


def _shares(results: dict[int, int], busy: int, cycles: int, packets: int) -> dict[str, Any]:
    """What the processor did; ``cycles`` as long as it would have taken without compression."""
    _, _, timers, frames, serials = (results[number] for number in range(5))
    served = timers + frames + serials
    return {
        "CPU (%)": round(100 * busy / cycles, 5),
        "cycles/interrupt": round(busy / max(1, served), 1),
        "cycles/packet": round(busy / max(1, packets), 1),
    }


class TerminalServer(Experiment):
    """The reference's file through a serial port to the network, by each packing rule.

    Time is compressed up to 16 times, that of slow lines 64 times, as if the system clock were so
    many times slower; rates, latencies and the share of the processor are those without. A byte's
    latency runs from its stop bit to the end of its frame. The processor's share is what it could
    not spend in rounds of known length. Interrupts are those of the port and of its timer, from the
    first byte to the last.
    """

    id = "E8"
    title = "Terminal server"
    reference = (
        "1,920 to 5.02 interrupts/s, 0.521 to 200 ms, 19.2 to 0.05 % CPU at 19,200 baud and 100 us"
        " an interrupt (Velleca)"
    )
    pass_line = "every byte exact; at 200 ms 5.02 packets/s and 0.05 % CPU or less"
    length_unit = "bytes of the file at the most, 1.3 s of slow lines"
    short_length = 2_500
    full_length = FILE_BYTES
    #: A rate needs more than two packets by time.
    least_length = 2 * _LATENCY_US * REFERENCE_BAUD // (1_000_000 * serial_link.CHARACTER_BITS) + 1

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """All speeds by four rules, the reference's by many latencies, and its share of the CPU."""
        setups = bench.setups("serial", (Build.BANKED, Build.SINGLE), **serial_link.SERIAL_SOC)
        text = _text(settings.seed)
        by_latency = [_Rule(f"time {us / 1000:g} ms", time_us=us) for us in _LATENCIES_US]
        cases = [_Case(Build.BANKED, baud, _RULES) for baud in _BAUDS]
        cases += [
            _Case(Build.BANKED, REFERENCE_BAUD, tuple(by_latency[index : index + _PORTS]))
            for index in range(0, len(by_latency), _PORTS)
        ]
        measured = [
            _Case(build, REFERENCE_BAUD, (rule,), measures=True)
            for build in setups
            for rule in (_EACH_BYTE, _BY_TIME)
        ]

        def case(item: _Case) -> list[dict[str, Any]]:
            data = text[: item.bytes(settings.length)]
            rows = _run(setups[item.build], item, data, settings)
            progress(f"{item.build}, {item.baud} baud, {', '.join(r.name for r in item.rules)}")
            return rows

        rows = [row for rows in bench.map(case, [*measured, *cases]) for row in rows]
        headline = self._headline(rows)
        passed = (
            all(row["exact"] and row["overruns"] == 0 for row in rows)
            and headline["B packets/s at 200 ms"] <= 5.02
            and headline["B CPU at 200 ms (%)"] <= 0.05
        )
        config = {"compression": {baud: compression_of(baud) for baud in _BAUDS}}
        return Outcome(rows=rows, headline=headline, passed=passed, config=config)

    @staticmethod
    def _headline(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
        def find(build: Build, rule: _Rule) -> dict[str, Any]:
            return next(
                row
                for row in rows
                if (row["build"], row["rule"]) == (build, rule.name) and "CPU (%)" in row
            )

        headline: dict[str, float] = {}
        for build in (Build.BANKED, Build.SINGLE):
            each, packed = find(build, _EACH_BYTE), find(build, _BY_TIME)
            if build is Build.BANKED:
                headline["B packets/s at 200 ms"] = packed["packets/s"]
                headline["B interrupts/s at 200 ms"] = packed["interrupts/s"]
                headline["B worst latency at 200 ms (ms)"] = packed["worst latency (ms)"]
                headline["B worst latency of each byte (ms)"] = each["worst latency (ms)"]
            headline[f"{build} CPU at 200 ms (%)"] = packed["CPU (%)"]
            headline[f"{build} CPU, each byte (%)"] = each["CPU (%)"]
        return headline

    def plot(self, outcome: Outcome, path: Path) -> None:
        """Packets and interrupts a second against the worst latency, at the reference's speed."""
        rows = [
            row
            for row in outcome.rows
            if row["baud"] == REFERENCE_BAUD
            and row["build"] == Build.BANKED
            and row["rule"].startswith(("time", "each"))
            and "packets/s" in row
        ]
        rows = sorted(rows, key=lambda row: row["worst latency (ms)"])
        latencies = [row["worst latency (ms)"] for row in rows]
        with figure(path, self.title, xlabel="worst latency (ms)", ylabel="1/s") as axes:
            for name, marker in (("interrupts/s", "s"), ("packets/s", "o")):
                axes.plot(latencies, [row[name] for row in rows], marker=marker, label=name)
            bound = np.array([latencies[0], latencies[-1]])
            axes.plot(bound, 1e3 / bound, "--", color="gray", label="1 / latency")
            published = ([0.521, 200], [1920, 5.02])
            axes.plot(*published, "k*", markersize=12, linestyle="none", label="published")
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.legend()
