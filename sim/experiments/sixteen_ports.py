"""E9: sixteen serial ports at once, both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..host import protocol
from ..host.protocol import Command
from ..stimulus import Frame, UartBytes, UartFormat
from . import serial_link
from .bench import Bench, Build, Setup
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import COLOURS, figure

_PORTS = 16
#: The speed that must hold, and faster ones.
_BAUD = 115_200
_BAUDS = (_BAUD, 230_400, 460_800, 921_600)
#: Bytes of a datagram to a port; packets from a port go by time.
_DATAGRAM_BYTES = 512
_PACK_US = 5_000
#: The ports are set up one by one.
_TAIL_CYCLES = 1_500_000
#: The part by which the firmware's measurement may be longer or shorter than the lines are busy.
_WRONG = 0.01


@dataclass(frozen=True)
class _Data:
    """What goes to each port, and what comes from it."""

    down: Sequence[bytes]
    up: Sequence[bytes]

    @classmethod
    def make(cls, seed: int, count: int) -> _Data:
        rng = np.random.default_rng(seed)
        return cls(*([rng.bytes(count) for _ in range(_PORTS)] for _ in range(2)))


def _down_frames(data: _Data, start: int, character: float) -> list[Frame]:
    """Datagrams to all ports, each as fast as its line takes them."""
    interval = _DATAGRAM_BYTES * character
    frames = []
    for port, payload in enumerate(data.down):
        for index in range(0, len(payload), _DATAGRAM_BYTES):
            cycle = start + (index / _DATAGRAM_BYTES + port / _PORTS) * interval
            part = payload[index : index + _DATAGRAM_BYTES]
            frames.append(Frame(serial_link.data_frame(part, port), round(cycle)))
    return sorted(frames, key=lambda frame: frame.cycle)


def _run(setup: Setup, build: Build, baud: int, data: _Data, clock_hz: int) -> dict[str, Any]:
    items = [
        protocol.number(Command.SET_BAUDRATE, baud),
        protocol.number(Command.PACK_TIME, _PACK_US),
    ]
    frames, start = serial_link.set_up(dict.fromkeys(range(_PORTS), items))
    character = serial_link.character_cycles(baud, clock_hz)
    down = _down_frames(data, start, character)
    end = start + round(len(data.up[0]) * character)
    # The last datagram to the last port is still to be sent.
    done = end + round((_DATAGRAM_BYTES + 16) * character) + _PACK_US * clock_hz // 1_000_000
    asks = serial_link.ask_counters(range(_PORTS), done)
    result = setup.run(
        cycles=done + _TAIL_CYCLES,
        frames=[*frames, *down, *asks],
        uart=[
            UartBytes(serial_link.FIRST_PIN + port, payload, start)
            for port, payload in enumerate(data.up)
        ],
        uart_formats={serial_link.FIRST_PIN + port: UartFormat(baud) for port in range(_PORTS)},
        set={"start_cycle": start, "run_cycles": end - start},
        limit_is_error=False,
    )
    counters = [serial_link.counters_of(result, port) for port in range(_PORTS)]
    up = [b"".join(p.data for p in serial_link.packets_of(result, port)) for port in range(_PORTS)]
    down_bytes = [result.uart(serial_link.FIRST_PIN + port) for port in range(_PORTS)]
    idle, cycles, timers, ethernet, serials = (result.results[number] for number in range(5))
    if abs(cycles - (end - start)) > _WRONG * (end - start):
        raise ValueError(f"the firmware must measure for {end - start} cycles, not {cycles}")
    return {
        "build": build,
        "baud": baud,
        "bytes each way": sum(map(len, data.up)),
        "lost up": _lost(data.up, up),
        "lost down": _lost(data.down, down_bytes),
        "overruns": _sum(counters, "OVERRUNS"),
        "refused": _sum(counters, "REFUSED_BYTES"),
        "exact": (up, down_bytes) == (list(data.up), list(data.down)),
        "CPU (%)": round(100 * (1 - idle / cycles), 2),
        "interrupts/s": round((timers + ethernet + serials) * clock_hz / cycles),
        "cycles/byte": round((cycles - idle) / (2 * sum(map(len, data.up))), 1),
    }


def _lost(sent: Sequence[bytes], received: Sequence[bytes]) -> int:
    return sum(map(len, sent)) - sum(map(len, received))


def _sum(counters: Sequence[Mapping[str, int]], name: str) -> int:
    return sum(each[name] for each in counters)


class SixteenPorts(Experiment):
    """Sixteen serial ports, all busy all the time in both directions, to and from the network.

    What comes from a port is packed for 5 ms; what goes to it comes in datagrams of 512 bytes.
    FIFOs have 256 characters. The processor's share is what it could not spend in rounds of known
    length.
    """

    id = "E9"
    title = "Sixteen ports"
    reference = "no figure published; 184,320 bytes/s each way are 543 cycles a byte at 100 MHz"
    pass_line = "no byte lost at 16 x 115,200 baud both ways"
    length_unit = "bytes each way of each port at 115,200 baud, and as long at other speeds"
    short_length = 1_024
    full_length = 8_192

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Both builds at all speeds."""
        setups = bench.setups("serial", (Build.BANKED, Build.SINGLE), **serial_link.SERIAL_SOC)

        def case(item: tuple[int, Build]) -> dict[str, Any]:
            baud, build = item
            data = _Data.make(settings.seed, settings.length * baud // _BAUD)
            row = _run(setups[build], build, baud, data, settings.clock_hz)
            progress(f"{build}, {baud} baud")
            return row

        cases = [(baud, build) for baud in _BAUDS for build in setups]
        rows = bench.map(case, cases)
        headline: dict[str, float] = {}
        for build in setups:
            own = [row for row in rows if row["build"] == build]
            headline[f"{build} lost at 115,200 baud"] = own[0]["lost up"] + own[0]["lost down"]
            headline[f"{build} CPU at 115,200 baud (%)"] = own[0]["CPU (%)"]
            headline[f"{build} fastest tried without loss (baud)"] = max(
                (row["baud"] for row in own if row["exact"]), default=0
            )
            headline[f"{build} CPU at 921,600 baud (%)"] = own[-1]["CPU (%)"]
        passed = all(row["exact"] for row in rows if row["baud"] == _BAUD)
        return Outcome(rows=rows, headline=headline, passed=passed)

    def plot(self, outcome: Outcome, path: Path) -> None:
        """What each build takes of the processor, and where it loses bytes."""
        with figure(path, self.title, xlabel="baud, 16 ports both ways", ylabel="CPU (%)") as axes:
            for build in (Build.BANKED, Build.SINGLE):
                own = [row for row in outcome.rows if row["build"] == build]
                bauds, shares = ([row[name] for row in own] for name in ("baud", "CPU (%)"))
                axes.plot(bauds, shares, marker="o", color=COLOURS[build], label=build)
                lossy = [(row["baud"], row["CPU (%)"]) for row in own if not row["exact"]]
                if lossy:
                    axes.plot(*zip(*lossy, strict=True), "rx", markersize=12, label="loses bytes")
            axes.set_xscale("log", base=2)
            axes.set_xticks(_BAUDS, [f"{baud:,}" for baud in _BAUDS])
            axes.legend()
