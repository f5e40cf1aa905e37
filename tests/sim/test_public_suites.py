"""riscv-tests and riscv-arch-test, which lie beside Ibex's sources, on the core."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from suite_programs import SOURCES, compile_source

from tierv.rtl.params import EXTENSIONS
from tierv.sim.__main__ import main
from tierv.sim.cores.model import IBEX_SOURCES
from tierv.sim.run_elf import Status

_VENDOR = IBEX_SOURCES / "vendor"
_TESTS = _VENDOR / "riscv-tests/isa"
_ARCH = _VENDOR / "riscv-arch-tests/riscv-test-suite"
#: It wants triggers, which the core has with external debug; the others are Zbc's.
_NOT_OURS = {"breakpoint", "clmul-01", "clmulh-01", "clmulr-01"}
#: CSRs by names that they had before version 1.10, which later assemblers do not know.
_RENAMED = ("-Dmbadaddr=mtval", "-Dsptbr=satp")


def sources(root: Path, folders: tuple[str, ...]) -> list:
    """All tests of these folders, each with a name for it."""
    found = [path for folder in folders for path in sorted((root / folder).glob("*.S"))]
    names = (path.relative_to(root).with_suffix("").as_posix() for path in found)
    return [
        pytest.param(path, id=name)
        for path, name in zip(found, names, strict=True)
        if path.stem not in _NOT_OURS
    ]


RISCV_TESTS = sources(_TESTS, ("rv32ui", "rv32um", "rv32mi"))
ARCH_TESTS = sources(_ARCH / "rv32i_m", ("I/src", "M/src", "Zifencei/src", "privilege/src"))
BIT_TESTS = sources(_ARCH / "rv32i_m", ("B/src",))


def run_elf(*words: str | Path) -> None:
    done = CliRunner().invoke(main, ["run-elf", *map(str, words)])
    assert done.exit_code == Status.PASSED, done.output


def check_signature(
    source: Path, folder: Path, flags: Sequence[str], extensions: Sequence[str] = ()
) -> None:
    """Our signature is Spike's, word by word."""
    options = [f"-I{SOURCES}", f"-I{_ARCH / 'env'}", "-DXLEN=32", "-DTEST_CASE_1=True"]
    elf = compile_source(source, folder, [*options, *flags])
    ours, spikes = folder / "ours", folder / "spike's"
    run_elf("--signature", ours, *(f"--extension={name}" for name in extensions), elf)
    subprocess.run(
        ["spike", f"--isa={'_'.join(('rv32im_zicsr_zifencei', *extensions))}",
         "-m0x80000000:0x200000", f"+signature={spikes}", "+signature-granularity=4", elf],
        check=True,
        timeout=60,
    )  # fmt: skip
    found = ours.read_text().split()
    assert len(found) >= 4
    assert found == spikes.read_text().split()


def test_all_tests_are_there():
    assert len(RISCV_TESTS) == 39 + 8 + 13
    assert len(ARCH_TESTS) == 39 + 8 + 1 + 15
    assert len(BIT_TESTS) == 29


@pytest.mark.parametrize("source", RISCV_TESTS)
def test_riscv_tests_pass(source, tmp_path):
    places = (SOURCES, _VENDOR / "riscv-test-env", _TESTS / "macros/scalar")
    options = [*_RENAMED, *(f"-I{place}" for place in places)]
    run_elf(compile_source(source, tmp_path, options))


@pytest.mark.usefixtures("spike")
@pytest.mark.parametrize("source", ARCH_TESTS)
def test_signatures_of_riscv_arch_test_are_spike_s(source, tmp_path):
    flags = ["-Drvtest_mtrap_routine=True"] if "privilege" in source.parts else []
    check_signature(source, tmp_path, flags)


@pytest.mark.slow
@pytest.mark.usefixtures("spike")
@pytest.mark.parametrize("source", BIT_TESTS)
def test_signatures_of_bit_manipulation_are_spike_s(source, tmp_path):
    check_signature(source, tmp_path, [f"-march=rv32im_{'_'.join(EXTENSIONS)}"], EXTENSIONS)
