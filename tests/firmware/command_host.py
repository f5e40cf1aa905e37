"""Commands and irqtune in a host process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from host_build import FAKE, ROOT, TESTS, Program, build, write_headers

from tierv.rtl.document import c_header
from tierv.rtl.params import CoreParams

CLOCK_HZ = 100_000_000
_SOURCES = (
    "apps/command.c",
    *(f"apps/irqtune/{name}.c" for name in ("irqtune", "request", "rotation", "suggest")),
    "irq/table.c",
)


def build_commands(*, tiers: bool = True) -> Path:
    """``command_driver.c`` under the sanitizers: with tiers, or polled on a CPU without lines."""
    soc = {"CONFIG_CLOCK_FREQUENCY": CLOCK_HZ}
    soc["CONFIG_CPU_TYPE_TIERV" if tiers else "CONFIG_CPU_TYPE_PICORV32"] = 1
    name = "command_driver" if tiers else "command_driver_polled"
    folder = write_headers(name, soc=soc)
    (folder / "generated" / "tierv.h").write_text(c_header(CoreParams()))
    sources = [TESTS / "command_driver.c", *(ROOT / "firmware" / source for source in _SOURCES)]
    context = "CONTEXT_TIERS" if tiers else "CONTEXT_POLLED"
    return build(name, sources, include=[FAKE, folder], defines=[context])


@contextlib.contextmanager
def command_host(path: Path | None = None) -> Iterator[Program]:
    """The driver, running; without ``path`` it is built."""
    program = Program(path or build_commands(), end=".")
    yield program
    program.close()
