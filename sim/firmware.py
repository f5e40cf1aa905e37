"""Building the firmware for a model, with ``firmware/Makefile``."""

from __future__ import annotations

import enum
import inspect
import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from tierv.rtl.params import CoreParams
from tierv.soc.cpu.tierv import VARIANTS
from tierv.soc.export import readdress
from tierv.soc.params import SocParams
from tierv.soc.soc import register_cpus

from .elf import Program
from .model import Model
from .paths import BuildError, build_root, locked, run_logged

#: Tiers that the firmware wants (``firmware/tier.h``).
_TIERS_USED = 3
#: CPUs with interrupts of their own kind, which the firmware can't take (``firmware/tier.h``).
_POLLED = ("picorv32",)
#: The folder of the firmware; only a checkout has it.
FIRMWARE = Path(__file__).resolve().parent.parent / "firmware"
#: The program around LiteX's own stack.
LITEETH = "liteeth"
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
    if soc.cpu in _POLLED:
        return Context.POLLED
    tiers = VARIANTS[soc.cpu_variant] if soc.cpu == "tierv" else 1
    return Context.TIERS if tiers >= _TIERS_USED else Context.SINGLE


def build_firmware(app: str, model: Model, context: Context) -> Program:
    """Compile a program of ``firmware/apps`` for the SoC of a model; only what has changed.

    Raises ``BuildError`` if the compiler is missing or fails, or without a checkout: the package
    has no firmware in it.
    """
    soc = model.params.soc
    folder = build_root() / "firmware" / model.params.name / f"{context}-{app}{_extensions(soc)}"
    return compile_firmware(app, soc, model.include, folder, context)


def _extensions(soc: SocParams) -> str:
    """Extensions that the compiler may use, as the firmware's make file wants them."""
    names = CoreParams().extensions if soc.cpu == "tierv" else ()
    return "".join(f"_{name}" for name in names)


def _litex_folders(soc: SocParams) -> dict[str, str]:
    """What a program with LiteX's software needs to know."""
    import litex.soc

    return {
        "LITEX": str(Path(inspect.getfile(litex.soc)).parent / "software"),
        "CPU_DIRECTORY": str(Path(inspect.getfile(register_cpus()[soc.cpu])).parent),
    }


def _addressed(include: Path, soc: SocParams, folder: Path) -> Path:
    """The headers in ``include``, or a copy in ``folder`` if the SoC's addresses differ there."""
    path = include / "generated/soc.h"
    header = path.read_text() if path.exists() else ""
    own = readdress(header, soc)
    shutil.rmtree(folder, ignore_errors=True)
    if own == header:
        return include
    shutil.copytree(include, folder)
    (folder / "generated/soc.h").write_text(own)
    return folder


def compile_firmware(
    app: str,
    soc: SocParams,
    include: Path,
    folder: Path,
    context: Context | None = None,
    *,
    defines: Sequence[str] = (),
) -> Program:
    """Compile a program for the SoC whose headers are in ``include``, into ``folder``.

    Its addresses are those of ``soc``: of all in the headers, no hardware depends on them.
    ``defines`` are NAME=VALUE for the preprocessor. Raises ``BuildError`` as ``build_firmware``.
    """
    if not (FIRMWARE / "Makefile").exists():
        raise BuildError(f"there is no firmware to build in {FIRMWARE}: use a checkout")
    arguments = {
        "APP": app,
        "CONTEXT": str(context or usual_context(soc)),
        "BUILD": str(folder),
        "EXTENSIONS": _extensions(soc),
        "DEFINES": " ".join(f"-D{define}" for define in defines),
    }
    if app == LITEETH:
        arguments |= _litex_folders(soc)
    with locked(folder):
        arguments["SOC"] = str(_addressed(include, soc, folder / "addressed"))
        (folder / "build.log").unlink(missing_ok=True)
        words = [f"{name}={value}" for name, value in arguments.items()]
        jobs = f"-j{os.cpu_count() or 1}"
        run_logged(["make", "-C", FIRMWARE, jobs, *words], folder / "build.log")
        return Program(folder / f"{app}.elf")
