"""A recorded trace as CSV, time, direction and length of each frame, and its busiest second."""

from __future__ import annotations

import csv
import enum
import io
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np

from ..capture import Packet
from ..file_arguments import write_text
from ..replay import Address, Choice
from .frames import FCS_BYTES
from .traffic import CYCLES, MOST_SENDS, Traffic

#: The first line, which may be left out. Seconds; ``in`` or ``out``, seen from the board; bytes of
#: the frame without check sequence, as captures count them.
COLUMNS = ("time", "direction", "length")
#: Times are below it, so that floating-point numbers can be made of their distances.
_END_S = 1 << 63
_LEAST_BYTES, _MOST_BYTES = 60, 1514


class Direction(enum.StrEnum):
    """Of a frame, seen from the board."""

    RECEIVED = "in"
    SENT = "out"


def write_trace(path: Path, packets: Iterable[Packet], board: Address) -> dict[Direction, int]:
    """Write the packets to and from a board as a trace; returns how many of each there were.

    Without any, nothing is written.
    """
    counts = dict.fromkeys(Direction, 0)
    choices = {
        Direction.RECEIVED: Choice(to=frozenset({board})),
        Direction.SENT: Choice(source=frozenset({board})),
    }
    rows = []
    for packet in packets:
        nanoseconds = round(packet.seconds * 10**9)
        whole, rest = divmod(abs(nanoseconds), 10**9)
        seconds = f"{'-' if nanoseconds < 0 else ''}{whole}.{rest:09}"
        for direction, choice in choices.items():
            if choice.takes(packet.stored):
                rows.append((seconds, direction, packet.length))
                counts[direction] += 1
    if rows:
        text = io.StringIO(newline="")
        csv.writer(text).writerows([COLUMNS, *rows])
        write_text(path, text.getvalue())
    return counts


def _row(cells: list[str]) -> tuple[Fraction, Direction, int]:
    if len(cells) != len(COLUMNS):
        raise ValueError(f"must have {len(COLUMNS)} columns, not {len(cells)}")
    try:
        # The exact number of 1e999999999 or 1e-999999999 takes for ever.
        seconds = float(cells[0])
        if not abs(seconds) < _END_S:
            raise ValueError
        time = Fraction(cells[0].strip()) if seconds else Fraction(0)
    except ValueError:
        raise ValueError(f"time must be seconds, less than 2**63, not {cells[0]!r}") from None
    direction = Direction(cells[1].strip())
    try:
        length = int(cells[2])
    except ValueError:
        raise ValueError(f"length must be a whole number of bytes, not {cells[2]!r}") from None
    if not 0 < length <= _MOST_BYTES:
        raise ValueError(f"length must be from 1 to {_MOST_BYTES}, not {length}")
    return time, direction, max(length, _LEAST_BYTES)


def _rows(path: Path) -> list[tuple[Fraction, Direction, int]]:
    rows = []
    number = 0
    try:
        with path.open(newline="") as file:
            for number, cells in enumerate(csv.reader(file), 1):
                if not cells or (number == 1 and tuple(cell.strip() for cell in cells) == COLUMNS):
                    continue
                rows.append(_row(cells))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be text: {error}") from error
    except csv.Error as error:
        raise ValueError(f"{path}, line {number + 1}: {error}") from error
    except ValueError as error:
        raise ValueError(f"{path}, line {number}: {error}") from error
    if not rows:
        raise ValueError(f"{path} has no frames")
    return rows


def _busiest_second(times: np.ndarray, lengths: np.ndarray) -> slice:
    """The events of the second, which begins with one of them, that has the most bytes."""
    ends = np.searchsorted(times, times + 1)
    total = np.concatenate(([0], np.cumsum(lengths)))
    first = int(np.argmax(total[ends] - total[:-1]))
    return slice(first, int(ends[first]))


def read_trace(path: Path, cycles: int = CYCLES) -> Traffic:
    """The busiest second of a trace in the reference's clock, or the first ``cycles`` of it.

    Frames shorter than Ethernet's are padded. Raises ``ValueError`` naming file and line for what
    is no such trace, and for more sends than the firmware's schedule has room for.
    """
    if cycles > CYCLES:
        raise ValueError(f"length must be at most {CYCLES} with a trace, not {cycles}")
    rows = sorted(_rows(path), key=lambda row: row[0])
    times = np.array([float(row[0] - rows[0][0]) for row in rows])
    lengths = np.array([row[2] for row in rows]) + FCS_BYTES
    sent = np.array([row[1] is Direction.SENT for row in rows])
    second = _busiest_second(times, lengths)
    at = np.floor((times[second] - times[second.start]) * CYCLES).astype(int)
    lengths, sent, early = lengths[second], sent[second], at < cycles
    sends = int((sent & early).sum())
    if sends > MOST_SENDS:
        raise ValueError(f"{path} must have at most {MOST_SENDS} sends in a second, not {sends}")
    return Traffic(
        packet_cycles=at[~sent & early],
        packet_bytes=lengths[~sent & early],
        send_cycles=at[sent & early],
        send_bytes=lengths[sent & early],
        cycles=cycles,
    )
