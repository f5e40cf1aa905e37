"""Compiling the programs of the bench: the same sources, compiler and flags for every core."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Sequence
from pathlib import Path

from tierv.rtl.document import c_header

from ..elf import Program
from ..firmware import CC, FIRMWARE, compiler
from ..paths import BuildError, build_root, locked, run_logged, whole_file
from .model import device_header, tierv_params

#: For every program and core; the long march string would pick the wrong libraries. Functions begin
#: at even words, for to a core that fetches pairs it matters what happens to lie ahead of them.
FLAGS = (
    "-march=rv32im",
    "-misa-spec=2.2",
    "-mabi=ilp32",
    "-O3",
    "-falign-functions=8",
    "-ffreestanding",
    "-fno-common",
)
_WARNINGS = ("-std=gnu11", "-Wall", "-Wextra", "-Wconversion", "-Werror")
_LIBRARY = ("--specs=picolibc.specs", "-nostartfiles")


class Context(enum.StrEnum):
    """How an interrupt reaches its handler (``firmware/bench/context.h``)."""

    TRAP = "trap"
    PICORV32 = "picorv32"
    IBEX = "ibex"
    TIERS = "tiers"


def _headers(tiers: int) -> dict[str, str]:
    """Generated headers by name. ``firmware/tier.h`` asks a SoC for what CPU it has."""
    return {
        "bench_device.h": device_header(),
        "generated/soc.h": "#define CONFIG_CPU_TYPE_TIERV 1\n",
        "generated/tierv.h": c_header(tierv_params(tiers)),
    }


def build_program(
    name: str,
    sources: Sequence[Path],
    *,
    context: Context = Context.TRAP,
    tiers: int = 1,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    flags: dict[str, Sequence[str]] | None = None,
) -> Program:
    """Compile and link a program; only if something of it has changed.

    ``tiers`` is the number that the core has, for ``Context.TIERS``. ``flags`` are further ones
    for sources by name. Raises ``BuildError`` if the compiler is missing or fails, or without a
    checkout: the package has no firmware in it.
    """
    bench = FIRMWARE / "bench"
    if not bench.exists():
        raise BuildError(f"there is no firmware to build in {FIRMWARE}: use a checkout")
    headers = _headers(tiers)
    own = [bench / "start.S", *([bench / "tiers.S"] if context is Context.TIERS else [])]
    includes = [bench, FIRMWARE, *include]
    defines = [f"-DCONTEXT_{context.upper()}", *(f"-D{word}" for word in defines)]
    flags = flags or {}
    digest = hashlib.sha256(repr((compiler(), FLAGS, _WARNINGS, headers, defines, flags)).encode())
    inputs = {*own, *sources, bench / "link.ld", FIRMWARE / "tier.h"}
    inputs |= {path for folder in (bench, *include) for path in folder.glob("*.h")}
    inputs |= {path for source in sources for path in source.parent.glob("*.h")}
    for path in sorted(inputs):
        digest.update(str(path).encode() + path.read_bytes())
    folder = build_root() / "cores" / "programs" / f"{name}-{digest.hexdigest()[:12]}"
    elf = folder / f"{name}.elf"
    with locked(folder):
        if not elf.exists():
            log = folder / "build.log"
            for header, text in headers.items():
                path = folder / "include" / header
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            search = [f"-I{path}" for path in (folder / "include", *includes)]
            common = [CC, *FLAGS, *_WARNINGS, *_LIBRARY[:1], *search, *defines]
            objects = []
            for source in (*own, *sources):
                objects.append(folder / f"{source.name}.o")
                more = flags.get(source.name, ())
                run_logged([*common, *more, "-c", source, "-o", objects[-1]], log)
            script = folder / "link.ld"
            run_logged([*common, "-E", "-P", "-x", "c", bench / "link.ld", "-o", script], log)
            with whole_file(elf) as partial:
                words = [CC, *FLAGS[:3], *_LIBRARY, "-T", script, *objects, "-o", partial]
                run_logged(words, log)
    return Program(elf)
