"""Compiles the test programs in ``firmware/`` for a simulated SoC."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from tierv.sim.elf import Program
from tierv.sim.paths import build_root

FOLDER = Path(__file__).resolve().parent / "firmware"
_FLAGS = (
    *("-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-Os", "-std=c11", "-ffreestanding"),
    *("-nostdlib", "-Wall", "-Wextra", "-Wconversion", "-Werror"),
)


def _call(*words: str | Path) -> str:
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{words[0]} failed:\n{done.stderr}"
    return done.stdout


def build_firmware(name: str, include: Path, layout: str = "probe") -> Program:
    """Program ``firmware/<name>.c`` for the SoC whose headers are in ``include``.

    It lies where ``firmware/<layout>.ld`` says.
    """
    target = build_root() / "test-firmware" / hashlib.sha256(str(include).encode()).hexdigest()[:8]
    target.mkdir(parents=True, exist_ok=True)
    script = target / f"{name}.ld"
    gcc = ("riscv64-unknown-elf-gcc", *_FLAGS, "-I", include, "-I", FOLDER)
    script.write_text(_call(*gcc, "-E", "-P", "-x", "c", FOLDER / f"{layout}.ld"))
    elf = target / f"{name}.elf"
    _call(*gcc, "-T", script, FOLDER / "start.S", FOLDER / f"{name}.c", "-lgcc", "-o", elf)
    return Program(elf)
