"""The whole SoC under cocotb, with independent models of the wires: cocotbext-eth and -uart."""

from __future__ import annotations

from pathlib import Path

import pytest
from cocotb_run import build_model, report, run_tests
from soc_firmware import build_firmware

from tierv.sim.design import Design, elaborate
from tierv.sim.elf import jump_to
from tierv.sim.model import simulation_params
from tierv.sim.paths import build_root, locked, step
from tierv.sim.top import TOP_MODULE
from tierv.soc.map import ORIGINS

#: Only the console, because cocotbext-uart drives a whole signal.
PARAMS = simulation_params(cpu="vexriscv", uarts=0)


@pytest.fixture(scope="module")
def soc() -> tuple[Path, Design]:
    """Folder of the Verilated SoC for cocotb, and its Verilog."""
    folder = build_root() / "cocotb-soc"
    with locked(folder):
        design = elaborate(PARAMS, folder / "soc")
        stamp = folder / "stamp"
        if not stamp.exists() or stamp.read_text() != design.digest:
            stamp.unlink(missing_ok=True)
            with step("the SoC for cocotb"):
                build_model(design.sources, TOP_MODULE, folder / "model")
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
    report(run_tests("cocotb_soc", folder / "model", TOP_MODULE, [test]), "cocotb_soc", test)
