"""LiteX's BIOS for a simulated SoC, built once per configuration.

Run as a program, with the parameters as JSON and a folder, it does LiteX's part, which talks a lot
and may not return after an error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import shutil
import sys
from importlib.metadata import version
from pathlib import Path

from tierv.soc.params import SocParams
from tierv.soc.soc import quiet_litex_logs

from .elf import Program
from .firmware import compiler
from .model import config_name, generator_digest
from .paths import BuildError, build_root, locked, run_logged, step

#: What LiteX calls while it builds the BIOS, and the Debian package of each.
_TOOLS = {
    "riscv64-unknown-elf-gcc": "gcc-riscv64-unknown-elf",
    "make": "make",
    "meson": "meson",
    "ninja": "ninja-build",
}
#: With the sources of the libraries that LiteX links to it.
_PACKAGES = ("pythondata-software-picolibc", "pythondata-software-compiler-rt")

#: Of the date that a BIOS shows: the same sources are to give the same BIOS, for what has it in its
#: block RAMs need not be placed and routed again then.
_BUILT_SECONDS = "0"


def build_bios(params: SocParams) -> Program:
    """The BIOS, to be run from reset.

    Raises ``BuildError`` if a tool is missing or fails.
    """
    folder = build_root() / "bios" / config_name(params)
    stamp = folder / "stamp"
    image = folder / "software/bios/bios.bin"
    with locked(folder):
        versions = [f"{name} {version(name)}" for name in _PACKAGES]
        made_of = (params, compiler(), *versions)
        # Another process makes it, of the sources as they are by then.
        digest = generator_digest(made_of, parts=("rtl", "soc", "sim/top.py"), imported={})
        if not (image.exists() and stamp.exists() and stamp.read_text() == digest):
            check_tools()
            stamp.unlink(missing_ok=True)
            shutil.rmtree(folder / "software", ignore_errors=True)
            with step(f"LiteX BIOS for {config_name(params)}"):
                run_litex(__name__, json.dumps(dataclasses.asdict(params)), folder)
            stamp.write_text(digest)
    return Program(image, address=0)


def check_tools() -> None:
    """Raises ``BuildError`` if a program is missing that LiteX calls while it builds a BIOS."""
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            raise BuildError(f"cannot find {tool}; install {package}")


def run_litex(module: str, what: str, folder: Path) -> None:
    """Run a module of this package, which has LiteX build software of ``what`` in the folder.

    Raises ``BuildError`` if that fails.
    """
    log = folder / "build.log"
    log.unlink(missing_ok=True)
    # LiteX's make files call python3.
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {"PATH": path, "SOURCE_DATE_EPOCH": _BUILT_SECONDS}
    run_logged([sys.executable, "-m", module, what, folder], log, env=environment)


def _build_here(params: SocParams, folder: Path) -> None:
    from litex.soc.integration.builder import Builder

    from .top import SimulationSoC

    quiet_litex_logs()
    builder = Builder(SimulationSoC(params), output_dir=str(folder), compile_gateware=False)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder / "gateware")
    builder.build(run=False)


if __name__ == "__main__":
    _build_here(SocParams(**json.loads(sys.argv[1])), Path(sys.argv[2]))
