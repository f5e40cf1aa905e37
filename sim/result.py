"""What a run of the simulation gave."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tierv.soc.mailbox import RESULTS, MailboxOffset

from .records import DTYPES, FrameError, RunEnd


@dataclass(frozen=True)
class FrameOut:
    """A frame from the SoC, without preamble and FCS.

    ``cycle`` is that of the first nibble of the preamble, ``end_cycle`` the first one after the
    last nibble; ``gap_nibbles`` is the idle time before it.
    """

    cycle: int
    end_cycle: int
    gap_nibbles: int
    errors: FrameError
    data: bytes


def read_records(path: Path, name: str) -> np.ndarray:
    """Records of one kind in a file, as a structured array."""
    return np.fromfile(path, DTYPES[name]) if path.exists() else np.empty(0, DTYPES[name])


def read_frames(path: Path) -> list[FrameOut]:
    """Frames in a log of the harness."""
    data = path.read_bytes() if path.exists() else b""
    dtype = DTYPES["FrameOut"]
    frames, position = [], 0
    while position < len(data):
        header = np.frombuffer(data, dtype, 1, position)[0]
        position += dtype.itemsize
        length = int(header["length"])
        frames.append(
            FrameOut(
                cycle=int(header["cycle"]),
                end_cycle=int(header["end_cycle"]),
                gap_nibbles=int(header["gap_nibbles"]),
                errors=FrameError(int(header["errors"])),
                data=data[position : position + length],
            )
        )
        position += length
    return frames


@dataclass(frozen=True)
class RunResult:
    """A run that ended: why, and everything that came out of the SoC."""

    end: RunEnd
    #: What firmware wrote to EXIT; 0 if something else ended the run.
    exit_code: int
    cycles: int
    wall_seconds: float
    #: Frames from the SoC, in order; those with errors too.
    frames: list[FrameOut]
    #: Cycle in which each frame for the SoC began; shorter than the stimulus if the run ended.
    frames_sent: np.ndarray
    #: Records ``UartOut`` of all ports: cycle, duration_cycles, data, port, errors.
    characters: np.ndarray
    #: Records ``MailboxOut``: cycle, offset, data.
    mailbox: np.ndarray
    #: Records ``LineOut``: cycle, line, level.
    lines: np.ndarray
    #: Records ``RetireOut`` near rises of external lines: cycle, pc, tier.
    retired: np.ndarray
    #: Variables that were asked for: a number for 4 bytes, otherwise the bytes.
    values: Mapping[str, int | bytes]

    @property
    def cycles_per_second(self) -> float:
        """Speed of the simulation."""
        return self.cycles / self.wall_seconds

    @property
    def results(self) -> dict[int, int]:
        """The last number written to each RESULT, by its index."""
        first = MailboxOffset.RESULT0
        return {
            int(record["offset"]) - first: int(record["data"])
            for record in self.mailbox
            if first <= record["offset"] < first + RESULTS
        }

    @property
    def marks(self) -> list[tuple[int, int]]:
        """(cycle, value) of every write to MARK."""
        marks = self.mailbox[self.mailbox["offset"] == MailboxOffset.MARK]
        return [(int(record["cycle"]), int(record["data"])) for record in marks]

    @property
    def text(self) -> str:
        """Debug text that firmware wrote to PUTC."""
        records = self.mailbox[self.mailbox["offset"] == MailboxOffset.PUTC]
        return bytes(records["data"].astype(np.uint8)).decode(errors="replace")

    def uart(self, port: int) -> bytes:
        """Characters of one port, those with errors too."""
        own = self.characters[self.characters["port"] == port]
        return bytes(own["data"].astype(np.uint8))


def read_result(folder: Path, values: Mapping[str, int | bytes]) -> RunResult:
    """The result in the files that ``run`` had the harness write."""
    summary = json.loads((folder / "summary.json").read_text())
    return RunResult(
        end=RunEnd(summary["end"]),
        exit_code=summary["exit_code"],
        cycles=summary["cycles"],
        wall_seconds=summary["wall_seconds"],
        frames=read_frames(folder / "frames_out.bin"),
        frames_sent=read_records(folder / "frames_sent.bin", "FrameSent")["cycle"],
        characters=read_records(folder / "uart_out.bin", "UartOut"),
        mailbox=read_records(folder / "mailbox.bin", "MailboxOut"),
        lines=read_records(folder / "lines_out.bin", "LineOut"),
        retired=read_records(folder / "retired.bin", "RetireOut"),
        values=values,
    )
