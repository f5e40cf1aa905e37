"""The UDP stack alone: cycles from a received frame to the one that goes back."""

from __future__ import annotations

from collections.abc import Sequence

from ..firmware import FIRMWARE
from .kernels import KernelTime, intervals, march_flags
from .program import Program, build_program
from .run import Core, run

#: Bytes of the echoed frames, without FCS.
FRAME_BYTES = (64, 512, 1514)
#: The firmware's own (``firmware/Makefile``), behind those of the bench.
_FLAGS = ("-O2", "-fsched-pressure")
_CYCLES = 1_000_000
_NET = FIRMWARE / "net"


def echo_program(extensions: Sequence[str] = ()) -> Program:
    """The stack with a socket that sends back what comes.

    ``extensions`` are names like ``zba`` of what the compiler may use besides.
    """
    sources = [*sorted(_NET.glob("*.c")), *sorted((_NET / "wire").glob("*.c"))]
    echo = FIRMWARE / "bench" / "echo.c"
    flags = (*_FLAGS, *march_flags(extensions))
    return build_program(
        "echo",
        [echo, *sources],
        defines=[f"ECHO_FRAME_BYTES={','.join(map(str, FRAME_BYTES))}"],
        include=[FIRMWARE, _NET / "wire"],
        flags={path.name: flags for path in (echo, *sources)},
    )


def run_echo(core: Core, extensions: Sequence[str] = ()) -> dict[str, KernelTime]:
    """Time of each frame, by its name in tables.

    Raises ``RunError`` if one does not come back as it should.
    """
    result = run(core, echo_program(extensions), cycles=_CYCLES)
    names = (f"echo of {size} bytes" for size in FRAME_BYTES)
    return dict(zip(names, intervals(result), strict=True))
