"""Test programs of ``suite/``, compiled for any place."""

from __future__ import annotations

import subprocess
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "suite"
PROGRAMS = ("arithmetic", "memory", "traps")
_FLAGS = ("-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-mcmodel=medany", "-static")
_LINK = ("-nostdlib", "-nostartfiles", "-Wl,--build-id=none", "-Wl,--no-warn-rwx-segments")


def compile_program(name: str, folder: Path, base: int = 0x8000_0000) -> Path:
    """The ELF file of a program that begins at ``base``."""
    elf = folder / f"{name}.elf"
    script = SOURCES / "link.ld"
    place = f"-Wl,--defsym=BASE={base:#x}"
    done = subprocess.run(
        ["riscv64-unknown-elf-gcc", *_FLAGS, *_LINK, place, "-T", script, "-o", elf,
         SOURCES / f"{name}.S"],
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return elf
