"""E15's trials: a flood of small frames, and what becomes of it and of the rest meanwhile."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .. import lin
from ..host import protocol
from ..host.commands import COMMAND_PORT
from ..host.lin import HOST_PORT, Record, Request, encode
from ..host.protocol import Command
from ..model import SIMULATION_BAUD
from ..result import RunResult
from ..stimulus import Frame, UartBytes, UartFormat
from . import serial_link
from .bench import Setup
from .experiment import Settings
from .frames import (
    ECHO_PORT,
    FCS_BYTES,
    HEADER_BYTES,
    SINK_PORT,
    UDP_OFFSET,
    datagram,
    ipv4_frames,
    udp_frame,
    wire_cycles,
)
from .search import highest

FRAME_BYTES = 64
#: What the firmware does with the frames.
SERVICES = {"sink": SINK_PORT, "echo": ECHO_PORT}
#: Fast Ethernet, and the doublings of it that a wire can have.
_MII_HZ, _MOST_DOUBLINGS = 25_000_000, 5
#: The search for the sustained rate: intervals in cycles, in the shortest of which ten frames could
#: come, and how well it knows the result.
_SHORTEST, _LONGEST, _PRECISION = 336.0, 6_400.0, 1.05
#: A flood must have a frame at any interval.
LEAST_FLOOD_CYCLES = math.ceil(_LONGEST) + 1
#: Most builds sustain about so much.
_USUAL, _STEP = 1_200.0, 1.3
#: LIN nodes, and the ports that the terminal server has; each of these gets bytes without a pause.
_NODES, _TERMINALS = (0, 1), (2, 3)
LIN_BAUD = 19_200
_IDENTIFIER, _LIN_BYTES = 0x18, 8
_PACK_US = 1_000
_BETWEEN_CYCLES = 40_000
#: After the last frame all has been sent by then.
_TAIL_CYCLES = 500_000


@dataclass(frozen=True)
class Trial:
    """What became of a flood, and of the rest meanwhile."""

    offered: int
    delivered: int
    #: Rounds of the application's computation, from reset to the end.
    busy_rounds: int
    uart_lost: int
    lin_lost: int


@dataclass(frozen=True)
class Quiet:
    """Rounds of the application's computation without frames."""

    #: In the time of the flood, with everything else that is going on, and in all other time.
    during: int
    outside: int


def _flood(service: str, start: int, cycles: int, interval: float) -> list[Frame]:
    content = datagram(FRAME_BYTES - FCS_BYTES - HEADER_BYTES, SERVICES[service])
    return [Frame(content, start + int(n * interval)) for n in range(int(cycles / interval))]


def _mii_hz(interval: float, clock_hz: int) -> int:
    """Of the slowest wire that has room for a frame in each interval; faster ones cost time."""
    wires = [_MII_HZ << doublings for doublings in range(_MOST_DOUBLINGS + 1)]
    fast = [hz for hz in wires if wire_cycles(FRAME_BYTES, clock_hz, 4 * hz) <= interval]
    if not fast:
        raise ValueError(f"no wire has room for a frame in {interval:.0f} cycles")
    return fast[0]


def _delivered(result: RunResult, service: str) -> int:
    if service == "sink":
        return int(result.values["discarded_datagrams"])
    source = ECHO_PORT.to_bytes(2, "big")
    return sum(frame.data[UDP_OFFSET : UDP_OFFSET + 2] == source for frame in ipv4_frames(result))


def sustained_interval(setup: Setup, service: str, settings: Settings) -> float:
    """Cycles between frames of which a trial loses none, to 5 %.

    Raises ``ValueError`` if some are lost at every rate that is tried.
    """

    def survives(rate: float) -> bool:
        trial = run_trial(setup, service, 1 / rate, 0, settings)
        return trial.delivered == trial.offered

    rate = highest(
        survives,
        first=1 / _USUAL,
        step=_STEP,
        precision=_PRECISION,
        least=1 / _LONGEST,
        most=1 / _SHORTEST,
    )
    if rate is None:
        raise ValueError(f"{service}: a frame in {_LONGEST:.0f} cycles is too many")
    return 1 / rate


def _set_up(rng: np.random.Generator) -> tuple[list[Frame], int, dict[int, bytes]]:
    """Frames that make the ports what they are to be, when that is done, and LIN answers."""
    items = [protocol.number(Command.PACK_TIME, _PACK_US)]
    frames, cycle = serial_link.set_up(dict.fromkeys(_TERMINALS, items))
    answers = {node: rng.bytes(_LIN_BYTES) for node in _NODES}
    commands = [
        f"lin {node} {command}"
        for node in _NODES
        for command in (f"on {LIN_BAUD}", f"publish {_IDENTIFIER} {_LIN_BYTES}")
    ]
    for number, command in enumerate(commands):
        content = udp_frame(f"{number} {command}".encode(), COMMAND_PORT)
        frames.append(Frame(content, cycle + number * _BETWEEN_CYCLES))
    records = [Record(Request.SET, node, _IDENTIFIER, data) for node, data in answers.items()]
    cycle += len(commands) * _BETWEEN_CYCLES
    frames.append(Frame(udp_frame(encode(records), HOST_PORT), cycle))
    return frames, cycle + _BETWEEN_CYCLES, answers


def _lin_slot_cycles(clock_hz: int) -> int:
    bits = lin.HEADER_BITS + lin.MOST_TIMES * lin.CHARACTER_BITS * (_LIN_BYTES + 1)
    return round(bits * clock_hz / LIN_BAUD)


def least_cycles(clock_hz: int) -> int:
    """Of the shortest flood in which each LIN node gets a header."""
    return _lin_slot_cycles(clock_hz) + 1


def _lin_lost(result: RunResult, answers: dict[int, bytes], begins: range, clock_hz: int) -> int:
    """Responses that were not whole, right, and over in time."""
    lost = 0
    for node, data in answers.items():
        own = result.characters[result.characters["port"] == serial_link.FIRST_PIN + node]
        cycles = own["cycle"].astype(np.int64) + own["duration_cycles"]
        right = data + bytes([lin.checksum(data, _IDENTIFIER)])
        for begin in begins:
            window = slice(*np.searchsorted(cycles, [begin, begin + _lin_slot_cycles(clock_hz)]))
            content = bytes(own["data"][window].astype(np.uint8))
            lost += content != right or bool(own["errors"][window].any())
    return lost


def is_part(some: bytes, whole: bytes) -> bool:
    """True if ``some`` is ``whole``, perhaps with bytes left out."""
    rest = iter(whole)
    return all(byte in rest for byte in some)


def run_quiet(setup: Setup, settings: Settings) -> Quiet:
    """What the application computes in a trial without frames."""

    def rounds(length: int) -> int:
        shorter = replace(settings, length=length)
        return run_trial(setup, "sink", math.inf, 0, shorter).busy_rounds

    outside = rounds(1)
    return Quiet(during=rounds(settings.length) - outside, outside=outside)


def run_trial(setup: Setup, service: str, interval: float, share: int, settings: Settings) -> Trial:
    rng = np.random.default_rng(settings.seed)
    clock_hz, length = settings.clock_hz, settings.length
    frames, start, answers = _set_up(rng)
    flood = _flood(service, start, length, interval)
    character = serial_link.character_cycles(SIMULATION_BAUD, clock_hz)
    up = {port: rng.bytes(int(length / character)) for port in _TERMINALS}
    uart = [UartBytes(serial_link.FIRST_PIN + port, data, start) for port, data in up.items()]
    form = UartFormat(LIN_BAUD)
    slot = _lin_slot_cycles(clock_hz)
    begins = range(start, start + length - slot, slot)
    for node in _NODES:
        for begin in begins:
            uart += lin.header(serial_link.FIRST_PIN + node, _IDENTIFIER, begin, form)
    result = setup.run(
        cycles=start + length + _TAIL_CYCLES,
        frames=[*frames, *flood],
        uart=uart,
        uart_formats={serial_link.FIRST_PIN + node: form for node in _NODES},
        wires=[(serial_link.FIRST_PIN + node,) for node in _NODES],
        get=["discarded_datagrams", "busy_rounds"],
        set={"services_compute": 1, "application_share_percent": share},
        mii_hz=_mii_hz(interval, settings.clock_hz),
        limit_is_error=False,
    )
    came = {
        port: b"".join(packet.data for packet in serial_link.packets_of(result, port))
        for port in _TERMINALS
    }
    wrong = [port for port, data in up.items() if not is_part(came[port], data)]
    if wrong:
        raise ValueError(f"serial ports {wrong} gave bytes that they did not get")
    return Trial(
        offered=len(flood),
        delivered=_delivered(result, service),
        busy_rounds=int(result.values["busy_rounds"]),
        uart_lost=sum(len(data) - len(came[port]) for port, data in up.items()),
        lin_lost=_lin_lost(result, answers, begins, clock_hz),
    )
