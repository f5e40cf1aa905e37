"""Kernels and CoreMark: cycles, instructions per cycle, and the figures that others publish."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..firmware import FIRMWARE
from .model import IBEX_SOURCES
from .program import FLAGS, Program, build_program
from .run import Core, Run, RunError, run

#: What each kernel must find (``tests/firmware/kernel_reference.py``), in the order of their marks.
EXPECTED: Mapping[str, int] = {
    "list": 0xC7CD5E8D,
    "matrix": 0xE80FB2AB,
    "state": 0xED154B57,
    "crc": 0xC7D0617A,
    "copy": 0xA72D5EC2,
    "checksum": 0x9FC00929,
    "dhrystone": 0xAF92387D,
}
#: Compiled further: Dhrystone's procedures are calls, and the compiler knows what ``strcpy()`` is,
#: as in a hosted program; copies are ours, not the library's.
KERNEL_FLAGS = {
    "dhrystone.c": ("-fno-inline", "-fbuiltin"),
    "dhrystone_parts.c": ("-fno-inline", "-fbuiltin"),
    "copy.c": ("-fno-tree-loop-distribute-patterns",),
}
#: Dhrystones a second of the VAX 11/780, which is one MIPS.
VAX_DHRYSTONES = 1757
_CYCLES = 40_000_000

_KERNELS = FIRMWARE / "kernels"
_PASSES = re.compile(r"DHRYSTONE_PASSES = (\d+)")

#: Files of CoreMark.
COREMARK_SOURCES = (
    "core_list_join.c",
    "core_main.c",
    "core_matrix.c",
    "core_state.c",
    "core_util.c",
)
#: Results of the performance run for 2,000 bytes of data, from CoreMark's own tables.
COREMARK_CRCS = {"seedcrc": 0xE9F5, "crclist": 0xE714, "crcmatrix": 0x1FD7, "crcstate": 0x8E3A}
#: Those are of the first iteration; ``crcfinal`` is of all, here by their number.
COREMARK_FINAL_CRCS = {1: 0xE714, 2: 0x72BE, 10: 0xFCAF}
_COREMARK_CYCLES_PER_ITERATION = 4_000_000
#: What Hazard3's port (``test/sim/coremark/dist/core_portme.mak``) gives the compiler besides.
COREMARK_TUNED_FLAGS = (
    "-mbranch-cost=1",
    "-funroll-all-loops",
    *("--param", "max-inline-insns-auto=200"),
    "-finline-limit=10000",
    "-fno-code-hoisting",
    "-fno-if-conversion2",
)
#: CoreMark's rows, and what each is compiled with besides the flags of all kernels.
COREMARKS: Mapping[str, Sequence[str]] = {"coremark": (), "coremark tuned": COREMARK_TUNED_FLAGS}
#: The figures that others publish, by kernel.
SPEEDS: Mapping[str, str] = {
    "dhrystone": "DMIPS/MHz",
    "coremark": "CoreMark/MHz",
    "coremark tuned": "tuned CoreMark/MHz",
}


@dataclass(frozen=True)
class KernelTime:
    """One run of a kernel."""

    cycles: int
    instructions: int

    @property
    def ipc(self) -> float:
        """Instructions per cycle."""
        return self.instructions / self.cycles


@dataclass(frozen=True)
class CoreMarkTime(KernelTime):
    """One run of CoreMark."""

    #: CRC of all iterations, as CoreMark writes it.
    crcfinal: str


def dhrystone_passes() -> int:
    """Passes through its main loop, from the program's text."""
    return int(_PASSES.search((_KERNELS / "kernels.h").read_text())[1])


def dmips_per_mhz(cycles: int) -> float:
    """Of a run of the Dhrystone-style kernel that took so many cycles."""
    return 1e6 * dhrystone_passes() / cycles / VAX_DHRYSTONES


def march_flags(extensions: Sequence[str]) -> tuple[str, ...]:
    """The compiler may use these beside what every core has."""
    return (f"{FLAGS[0]}_{'_'.join(extensions)}",) if extensions else ()


def kernel_program(extensions: Sequence[str] = ()) -> Program:
    """All kernels in one program, which checks what they find; the same for every core.

    ``extensions`` are names like ``zba`` of what the compiler may use besides.
    """
    sources = sorted(_KERNELS.glob("*.c"))
    defines = [f"EXPECTED_{name.upper()}={value:#x}u" for name, value in EXPECTED.items()]
    march = march_flags(extensions)
    flags = {path.name: (*KERNEL_FLAGS.get(path.name, ()), *march) for path in sources}
    return build_program("kernels", sources, defines=defines, flags=flags)


def run_kernels(core: Core, extensions: Sequence[str] = ()) -> dict[str, KernelTime]:
    """Times of all kernels. Raises ``RunError`` naming one that found something else."""
    try:
        result = run(core, kernel_program(extensions), cycles=_CYCLES)
    except RunError as error:
        failed = re.search(r"ended with (\d+) ", str(error))
        if failed and 1 <= int(failed[1]) <= len(EXPECTED):
            name = list(EXPECTED)[int(failed[1]) - 1]
            raise RunError(f"the kernel {name} found something else on {core.name}") from None
        raise
    return dict(zip(EXPECTED, intervals(result), strict=True))


def intervals(result: Run) -> list[KernelTime]:
    """Times from the first to the second mark, from the third to the fourth, and so on."""
    marks = result.marks
    pairs = zip(marks[::2], marks[1::2], strict=True)
    return [KernelTime(end[0] - begin[0], end[1] - begin[1]) for begin, end in pairs]


def packaged_coremark() -> Path:
    """The folder of CoreMark beside Ibex's sources."""
    return IBEX_SOURCES / "vendor/eembc_coremark"


def check_coremark(folder: Path) -> None:
    """Raises ``ValueError`` naming the folder if CoreMark is not in it."""
    for name in (*COREMARK_SOURCES, "coremark.h"):
        if not (folder / name).is_file():
            raise ValueError(
                f"COREMARK must be a checkout of CoreMark with {name} in it, not {folder}"
            )


def coremark_program(folder: Path, iterations: int, flags: Sequence[str] = ()) -> Program:
    """CoreMark's sources in the folder with our port, for every core the same.

    ``flags`` are the compiler's besides those of all kernels.
    """
    check_coremark(folder)
    port = _KERNELS / "coremark"
    text = " ".join((*FLAGS, *flags))
    return build_program(
        "coremark",
        [port / "core_portme.c", *(folder / name for name in COREMARK_SOURCES)],
        defines=[f"ITERATIONS={iterations}", "PERFORMANCE_RUN=1", f'COMPILER_FLAGS="{text}"'],
        include=[port, folder],
        # Its sources are not written for our warnings.
        flags=dict.fromkeys(COREMARK_SOURCES, ("-w", *flags)),
    )


def run_coremark(
    core: Core, folder: Path, iterations: int, flags: Sequence[str] = ()
) -> CoreMarkTime:
    """The timed part of CoreMark's performance run.

    Raises ``RunError`` with what CoreMark wrote if one of its CRCs is not the one it must be; the
    last one is known for the numbers of ``COREMARK_FINAL_CRCS`` only.
    """
    program = coremark_program(folder, iterations, flags)
    cycles = (iterations + 1) * _COREMARK_CYCLES_PER_ITERATION
    result = run(core, program, cycles=cycles)
    found = dict(re.findall(r"(?m)^(?:\[0\])?(\w+)\s*: (0x[0-9a-f]{4})$", result.output))
    known = dict(COREMARK_CRCS)
    if iterations in COREMARK_FINAL_CRCS:
        known["crcfinal"] = COREMARK_FINAL_CRCS[iterations]
    for name, value in known.items():
        if int(found.get(name, "0"), 16) != value:
            raise RunError(
                f"CoreMark's {name} on {core.name} is {found.get(name)}, not {value:#06x};"
                f" it wrote:\n{result.output}"
            )
    time = intervals(result)[0]
    return CoreMarkTime(time.cycles, time.instructions, found.get("crcfinal", ""))


def coremark_per_mhz(time: KernelTime, iterations: int) -> float:
    """Iterations a second for each megahertz."""
    return 1e6 * iterations / time.cycles
