"""The logic of commands and of irqtune in a host process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from host_build import ROOT, TESTS, Program, build

_NAMES = ("command", "irqtune/request", "irqtune/rotation", "irqtune/suggest")


@contextlib.contextmanager
def command_host() -> Iterator[Program]:
    """``command_driver.c`` under the sanitizers."""
    sources = [ROOT / "firmware" / "apps" / f"{name}.c" for name in _NAMES]
    program = Program(build("command_driver", [TESTS / "command_driver.c", *sources]), end=".")
    yield program
    program.close()
