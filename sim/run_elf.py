"""Other people's programs on the core alone: an ELF file in, pass or fail out.

For test suites with the ``tohost`` convention of riscv-tests, and signatures as riscv-arch-test
compares them.
"""

from __future__ import annotations

import enum
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from tierv.rtl.params import CoreParams, Region

from .core_model import BenchError, CoreModel, CoreRun, RunEnd, read_trace
from .elf import Program
from .file_arguments import write_text
from .paths import BuildError

#: Zeros behind the program in the RAM that is made for it, for its stack.
SPARE_BYTES = 1 << 20
_PAGE_BYTES = 1 << 12
#: Page of the bench's console (``core/bench.h``).
CONSOLE_BASE = 0xF000_0000
SIGNATURE_SYMBOLS = ("begin_signature", "end_signature")


class Status(enum.IntEnum):
    """Exit status of ``run-elf``."""

    PASSED = 0
    FAILED = 1
    #: Options that can't be.
    USAGE = 2
    NO_PROGRAM = 3
    OUTSIDE_MEMORY = 4
    TIMEOUT = 5
    #: The model could not be built, a file not be written, the bench gave up, or the user did.
    BROKEN = 6


class RunElfError(click.ClickException):
    """What keeps a program from being run, or from ending."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(message)
        self.exit_code = int(status)


@dataclass(frozen=True)
class Ram:
    """Memory on the bus, in bytes."""

    base: int
    size_bytes: int

    overlaps = Region.overlaps

    def __str__(self) -> str:
        return f"{self.base:#x}:{self.size_bytes:#x}"


def read_program(path: Path) -> Program:
    """The program of an ELF file. Raises ``RunElfError`` if the core can't run such a file."""
    try:
        return Program(path)
    except (ValueError, OSError) as error:
        raise RunElfError(
            Status.NO_PROGRAM,
            f"{path} is no RV32 executable: {str(error).removeprefix('firmware ')}",
        ) from None


def _within(part: range, whole: Region | Ram) -> bool:
    return whole.base <= part.start and part.stop <= whole.base + whole.size_bytes


def ram_for(program: Program, params: CoreParams) -> list[Ram]:
    """RAM on the bus around the segments that are not in local memories.

    Whole pages, and ``SPARE_BYTES`` behind the last of them, for a stack, as far as the console
    lets them; segments closer to each other than that share one RAM. Raises ``RunElfError`` for a
    segment in the console.
    """
    outside = [
        extent
        for extent in sorted(program.extents, key=lambda extent: extent.start)
        if not any(_within(extent, local) for local in (params.imem, params.dmem))
    ]
    spans: list[tuple[int, int]] = []
    for extent in outside:
        start = extent.start & -_PAGE_BYTES
        end = -(-extent.stop // _PAGE_BYTES) * _PAGE_BYTES
        if start <= CONSOLE_BASE < end:
            raise RunElfError(
                Status.OUTSIDE_MEMORY,
                f"the segment from {extent.start:#x} to {extent.stop - 1:#x} is in the console at"
                f" {CONSOLE_BASE:#x}",
            )
        stop = min(CONSOLE_BASE if end <= CONSOLE_BASE else 1 << 32, end + SPARE_BYTES)
        if spans and start <= spans[-1][1]:
            spans[-1] = spans[-1][0], max(stop, spans[-1][1])
        else:
            spans.append((start, stop))
    # The bench's numbers of bytes have 32 bits.
    return [Ram(start, min(stop - start, (1 << 32) - _PAGE_BYTES)) for start, stop in spans]


def _local_memories(params: CoreParams) -> list[tuple[str, Region | Ram]]:
    return [("imem", params.imem), ("dmem", params.dmem)]


def check_overlaps(params: CoreParams, rams: Sequence[Ram]) -> None:
    """Raises ``ValueError`` for RAM at addresses that are something else's, too."""
    taken = [*_local_memories(params), ("the console", Ram(CONSOLE_BASE, _PAGE_BYTES))]
    for ram in rams:
        for name, other in taken:
            if ram.overlaps(other):
                raise ValueError(f"{ram} must not overlap {name} at {other.base:#x}")
        taken.append(("other RAM", ram))


def check_memories(program: Program, params: CoreParams, rams: Sequence[Ram]) -> None:
    """Raises ``RunElfError`` naming the first segment that is not in one of the memories."""
    memories = [*_local_memories(params), *(("ram", ram) for ram in rams)]
    for extent in program.extents:
        if not any(_within(extent, memory) for _, memory in memories):
            there = ", ".join(f"{name} {m.base:#x}:{m.size_bytes:#x}" for name, m in memories)
            raise RunElfError(
                Status.OUTSIDE_MEMORY,
                f"the segment from {extent.start:#x} to {extent.stop - 1:#x} is in no memory"
                f" (there are {there})",
            )


def signature_lines(words: Sequence[int], granularity_bytes: int) -> list[str]:
    """Words in lines of so many bytes, the most significant first; the last is filled with 0."""
    data = b"".join(word.to_bytes(4, "little") for word in words)
    return [
        f"{int.from_bytes(data[at : at + granularity_bytes], 'little'):0{2 * granularity_bytes}x}"
        for at in range(0, len(data), granularity_bytes)
    ]


def commit_log(trace: np.ndarray) -> list[str]:
    """Retired instructions in the form of Spike's commit log, without what CSRs become."""
    lines = []
    for step in trace:
        if step["trap"]:
            continue
        line = f"core {step['tier']:3d}: 3 0x{step['pc']:08x} (0x{step['instruction']:08x})"
        if step["rd"]:
            line += f" x{step['rd']:<2d} 0x{step['rd_value']:08x}"
        if step["read_mask"]:
            line += f" mem 0x{_first_byte(step['memory_address'], step['read_mask']):08x}"
        mask = int(step["write_mask"])
        if mask:
            first = _first_byte(step["memory_address"], mask)
            size = mask.bit_count()
            value = int(step["memory_written"]) >> 8 * (first & 3) & (1 << 8 * size) - 1
            line += f" mem 0x{first:08x} 0x{value:0{2 * size}x}"
        lines.append(line)
    return lines


def _first_byte(address: int, mask: int) -> int:
    mask = int(mask)
    return int(address) + (mask & -mask).bit_length() - 1


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """What is written besides the verdict."""

    signature: Path | None = None
    signature_granularity_bytes: int = 4
    trace: Path | None = None
    wave: Path | None = None


def run_program(
    program: Program,
    params: CoreParams,
    rams: Sequence[Ram],
    *,
    max_cycles: int,
    wait_states: int = 0,
    tohost: int | None = None,
    outputs: Outputs | None = None,
) -> CoreRun:
    """Run a program until it ends, what it prints to the terminal.

    Raises ``RunElfError`` if a segment is in no memory, a symbol is missing or the bench gives up.
    """
    outputs = outputs or Outputs()
    check_memories(program, params, rams)
    if outputs.signature:
        for name in SIGNATURE_SYMBOLS:
            if name not in program.symbols:
                raise RunElfError(Status.USAGE, f"{program.path} has no symbol {name}")
    options: list[str] = ["--cycles", str(max_cycles), "--wait-states", str(wait_states)]
    # Without any, the bench would take its usual ones.
    for ram in rams or [Ram(0, 0)]:
        options += ["--memory", str(ram)]
    if tohost is not None:
        options += ["--tohost", str(tohost)]
    with tempfile.TemporaryDirectory() as folder:
        words, records = Path(folder) / "signature", Path(folder) / "trace"
        options += ["--signature", str(words)] if outputs.signature else []
        options += ["--trace", str(records)] if outputs.trace else []
        options += ["--wave", str(outputs.wave)] if outputs.wave else []
        try:
            model = CoreModel(params, waves=outputs.wave is not None)
            run = model.run(program.path, *options, timeout_s=None, show_output=True)
        except (BuildError, BenchError) as error:
            raise RunElfError(Status.BROKEN, str(error)) from None
        if outputs.signature:
            values = [int(line, 16) for line in words.read_text().split()]
            lines = signature_lines(values, outputs.signature_granularity_bytes)
            write_text(outputs.signature, "".join(f"{line}\n" for line in lines))
        if outputs.trace:
            lines = commit_log(read_trace(records))
            write_text(outputs.trace, "".join(f"{line}\n" for line in lines))
    return run


def verdict(run: CoreRun, max_cycles: int) -> tuple[Status, str]:
    """Exit status and what to say."""
    done = f"{run.cycles:,} cycles, {run.instructions:,} instructions"
    if run.end is RunEnd.LIMIT:
        return Status.TIMEOUT, f"timeout: no end within {max_cycles:,} cycles; {done}"
    if run.code == 0:
        return Status.PASSED, f"passed; {done}"
    what = "test" if run.end is RunEnd.TOHOST else "exit code"
    return Status.FAILED, f"failed: {what} {run.code}; {done}"
