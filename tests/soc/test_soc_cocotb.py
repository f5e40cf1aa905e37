"""The whole SoC under cocotb, with independent models of the wires: cocotbext-eth and -uart."""

from __future__ import annotations

import contextlib
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from cocotb_tools.runner import get_runner
from soc_firmware import build_firmware

from tierv.sim.design import Design, elaborate
from tierv.sim.elf import jump_to
from tierv.sim.model import simulation_params
from tierv.sim.paths import build_root, locked, step
from tierv.sim.top import TOP_MODULE
from tierv.sim.verilator import verilator_env
from tierv.soc.map import ORIGINS

HERE = Path(__file__).resolve().parent
#: Only the console, because cocotbext-uart drives a whole signal.
PARAMS = simulation_params(cpu="vexriscv", uarts=0)
_FLAGS = (
    *("--no-public-flat-rw", "--public-depth", "1", "-O3", "--x-assign", "fast"),
    *("--x-initial", "fast", "--noassert", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
    *("-CFLAGS", "-O1"),
)


@pytest.fixture(scope="module")
def soc() -> tuple[Path, Design]:
    """Folder of the Verilated SoC for cocotb, and its Verilog."""
    folder = build_root() / "cocotb-soc"
    os.environ |= verilator_env()
    with locked(folder):
        design = elaborate(PARAMS, folder / "soc")
        stamp = folder / "stamp"
        if not stamp.exists() or stamp.read_text() != design.digest:
            stamp.unlink(missing_ok=True)
            with step("the SoC for cocotb"):
                get_runner("verilator").build(
                    sources=design.sources,
                    hdl_toplevel=TOP_MODULE,
                    build_dir=folder / "model",
                    build_args=_FLAGS,
                    log_file=folder / "build.log",
                    always=True,
                )
            stamp.write_text(design.digest)
    return folder, design


def load(folder: Path, program) -> None:
    """Write the files from which the simulated memories get their contents at the start."""
    memories = {"rom": {ORIGINS["rom"]: jump_to(program.entry)}, "main_ram": {}}
    memories["main_ram"] = {part.load_address: part.data for part in program.segments}
    for name, parts in memories.items():
        lines = []
        for address, data in parts.items():
            offset = address - ORIGINS[name]
            assert offset % 4 == 0
            lines.append(f"@{offset // 4:x}")
            padded = data + bytes(-len(data) % 4)
            for index in range(0, len(padded), 4):
                lines.append(f"{int.from_bytes(padded[index : index + 4], 'little'):08x}")
        (folder / "soc" / f"{TOP_MODULE}_{name}.init").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("firmware", "test"),
    [
        ("echo", "echo_sends_frames_back_through_mii"),
        ("uart_loop", "uart_loop_sends_characters_back_plus_one"),
        ("report", "report_writes_to_the_mailbox"),
    ],
)
def test_soc(soc, firmware, test):
    folder, _ = soc
    load(folder, build_firmware(firmware, folder / "soc/include"))
    results = folder / f"{test}.xml"
    results.unlink(missing_ok=True)
    # Whether it failed, and why, the results say.
    with contextlib.suppress(SystemExit, RuntimeError):
        get_runner("verilator").test(
            test_module="cocotb_soc",
            testcase=test,
            hdl_toplevel=TOP_MODULE,
            hdl_toplevel_lang="verilog",
            build_dir=folder / "model",
            test_dir=HERE,
            results_xml=str(results),
            extra_env={"COCOTB_ANSI_OUTPUT": "0"},
            log_file=folder / f"{test}.log",
        )
    log = (folder / f"{test}.log").read_text()
    assert results.exists(), log[-3000:]
    cases = list(ElementTree.parse(results).iter("testcase"))
    assert [case.get("name") for case in cases] == [test]
    failed = [child for case in cases for child in case if child.tag in ("failure", "error")]
    assert not failed, log[-3000:]
