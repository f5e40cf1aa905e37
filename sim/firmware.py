"""Building the firmware for a model, with ``firmware/Makefile``."""

from __future__ import annotations

import enum
import os
import subprocess
from functools import cache
from pathlib import Path

from tierv.rtl.params import CoreParams
from tierv.soc.cpu.tierv import VARIANTS
from tierv.soc.params import SocParams

from .elf import Program
from .model import Model
from .paths import BuildError, build_root, locked, run_logged

#: Tiers that the firmware wants (``firmware/tier.h``).
_TIERS_USED = 3
#: The folder of the firmware; only a checkout has it.
FIRMWARE = Path(__file__).resolve().parent.parent / "firmware"
#: The C compiler, for this firmware and for the programs of other benches.
CC = "riscv64-unknown-elf-gcc"


class Context(enum.StrEnum):
    """How the firmware's services share the processor (``firmware/context.h``)."""

    TIERS = "tiers"
    SINGLE = "single"
    POLLED = "polled"


@cache
def compiler() -> str:
    """The compiler's name and version. Raises ``BuildError`` if it is missing."""
    try:
        done = subprocess.run([CC, "--version"], capture_output=True, text=True, check=True)
    except FileNotFoundError:
        raise BuildError(f"cannot find {CC}; is it installed?") from None
    return done.stdout.splitlines()[0]


def usual_context(soc: SocParams) -> Context:
    """The context that a CPU is for: tiers if it has them."""
    tiers = VARIANTS[soc.cpu_variant] if soc.cpu == "tierv" else 1
    return Context.TIERS if tiers >= _TIERS_USED else Context.SINGLE


def build_firmware(app: str, model: Model, context: Context) -> Program:
    """Compile a program of ``firmware/apps`` for the SoC of a model; only what has changed.

    Raises ``BuildError`` if the compiler is missing or fails, or without a checkout: the package
    has no firmware in it.
    """
    if not (FIRMWARE / "Makefile").exists():
        raise BuildError(f"there is no firmware to build in {FIRMWARE}: use a checkout")
    extensions = CoreParams().extensions if model.params.soc.cpu == "tierv" else ()
    allowed = "".join(f"_{name}" for name in extensions)
    folder = build_root() / "firmware" / model.params.name / f"{context}-{app}{allowed}"
    arguments = {
        "APP": app,
        "CONTEXT": str(context),
        "SOC": str(model.include),
        "BUILD": str(folder),
        "EXTENSIONS": allowed,
    }
    with locked(folder):
        words = [f"{name}={value}" for name, value in arguments.items()]
        jobs = f"-j{os.cpu_count() or 1}"
        run_logged(["make", "-C", FIRMWARE, jobs, *words], folder / "build.log")
    return Program(folder / f"{app}.elf")
