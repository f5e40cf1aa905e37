"""Test programs, compiled for any place: those of ``suite/``, and other people's."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "suite"
PROGRAMS = ("arithmetic", "memory", "traps")
_FLAGS = ("-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-mcmodel=medany", "-static")
_LINK = ("-nostdlib", "-nostartfiles", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments")


def compile_source(
    source: Path, folder: Path, options: Sequence[str | Path] = (), base: int = 0x8000_0000
) -> Path:
    """The ELF file of a program that begins at ``base``."""
    elf = folder / f"{source.stem}.elf"
    place = (f"-Wl,--defsym=BASE={base:#x}", "-T", SOURCES / "link.ld")
    done = subprocess.run(
        ["riscv64-unknown-elf-gcc", *_FLAGS, *_LINK, *options, *place, "-o", elf, source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return elf


def compile_program(name: str, folder: Path, base: int = 0x8000_0000) -> Path:
    """The ELF file of a program of ``suite/``."""
    return compile_source(SOURCES / f"{name}.S", folder, base=base)
