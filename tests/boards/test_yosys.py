"""What of the vendors' tools yosys can stand in for: every emitted design is read and mapped."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest
from emitted import VARIANTS, emitted
from yosys import run_yosys

from tierv.boards.board import Family, Phy, board_params, with_debug
from tierv.boards.ecp5 import Ecp5Flow
from tierv.boards.project import Project
from tierv.boards.registry import BOARDS
from tierv.sim.paths import BuildError

pytestmark = pytest.mark.slow
HERE = Path(__file__).resolve().parent
#: The families' own commands as far as they map cells; Cyclone IV has none that work.
MAPPING = {
    Family.ARTIX7: "synth_xilinx -flatten -abc9 -top {top} -run begin:map_cells",
    # Quartus has the memory with two ports that yosys lacks; mapping to LUTs is too much for yosys
    # as it is built for WebAssembly.
    Family.CYCLONE5: "blackbox tierv_byte_lane;"
    " synth_intel_alm -family cyclonev -top {top} -run begin:map_luts",
    Family.CYCLONE4: "hierarchy -check -top {top}; proc; check -assert",
    Family.ECP5: "hierarchy -check -top {top}; proc; check",
}


def run_to_the_end(folder: Path, script: str) -> None:
    end = folder / "end.txt"
    run_yosys(folder, "yosys.log", "-p", f"{script}; tee -q -o {end.name} stat")
    # It may stop halfway and say nothing.
    assert end.exists()


def check_with_yosys(project: Project, change=lambda text: text) -> None:
    board = project.board
    folder = project.folder / "yosys"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for path in project.gateware.iterdir():
        (folder / path.name).write_text(path.read_text())
    source = folder / f"{board.name}.v"
    source.write_text(change(source.read_text()))
    if board.family in (Family.CYCLONE4, Family.CYCLONE5):
        shutil.copy(HERE / "intel_primitives.v", folder)
    sources = sorted(path.name for path in folder.glob("*.v"))
    if board.family is Family.ECP5:
        sources.insert(0, "-lib -specify +/ecp5/cells_sim.v +/ecp5/cells_bb.v")
    reads = "; ".join(f"read_verilog {name}" for name in sources)
    run_to_the_end(folder, f"{reads}; {MAPPING[board.family].format(top=board.name)}")


@pytest.mark.parametrize("name", VARIANTS)
def test_yosys_reads_and_maps_the_design(name):
    check_with_yosys(emitted(VARIANTS[name]))


@pytest.mark.parametrize("name", ["arty", "ecpix5"])
def test_yosys_reads_and_maps_a_design_with_external_debug(name):
    project = emitted(with_debug(BOARDS[name]))
    check_with_yosys(project)
    primitive = {"arty": "BSCANE2", "ecpix5": "JTAGG"}[name]
    assert project.source(".v").read_text().count(f"\n{primitive} ") == (name == "arty") + 1


def test_external_debug_is_refused_where_no_debugger_could_reach_it():
    with pytest.raises(ValueError, match="debug must be off for de2_115: "):
        emitted(with_debug(BOARDS["de2_115"]))


def test_a_signal_with_two_drivers_is_noticed():
    project = emitted(BOARDS["de2_115"])
    with pytest.raises(BuildError, match="Drivers conflicting with a constant"):
        check_with_yosys(
            project, lambda text: text.replace("\nendmodule", "\nassign sys_clk = 1'd0;\nendmodule")
        )


def reduced():
    """The core with one tier in small memories: a few minutes of place and route."""
    return dataclasses.replace(
        BOARDS["colorlight_i9"],
        name="reduced",
        phy=Phy.NONE,
        serial=(),
        soc=board_params(
            cpu_variant="single",
            ethernet=False,
            uarts=0,
            echo_bins=0,
            itcm_bytes=16 << 10,
            dtcm_bytes=16 << 10,
            sys_clk_hz=40_000_000,
        ),
    )


def test_a_reduced_design_is_placed_and_routed_and_its_firmware_replaced():
    project = emitted(reduced())
    flow = Ecp5Flow(project)
    with pytest.raises(BuildError, match="there is no placed and routed design"):
        Ecp5Flow(Project(dataclasses.replace(reduced(), name="unrouted"))).pack({})
    routed = flow.route()
    # Whatever yosys calls it.
    assert [clock.wanted for clock in routed.clocks] == [40]
    assert routed.cells["EBR"][0] >= 16
    empty = flow.pack({}).read_bytes()
    nothing = ones(flow)
    full = flow.pack({"itcm": bytes(4099) + b"\xff", "dtcm": b"\x0f"}).read_bytes()
    assert ones(flow) == nothing + 12
    assert len(empty) > 50_000
    assert empty != full


def ones(flow: Ecp5Flow) -> int:
    """Bits that are set in the block RAMs of the bitstream that was packed last."""
    text = (flow.project.folder / "packed/to.config").read_text()
    blocks = [part.partition("\n\n")[0] for part in text.split(".bram_init ")[1:]]
    words = [word for block in blocks for word in block.split()[1:]]
    return sum(int(word, 16).bit_count() for word in words)


def test_a_clock_that_cannot_be_reached_is_noticed():
    project = emitted(reduced())
    flow = Ecp5Flow(project)
    flow.route()
    report = flow.folder / "report.json"
    kept = report.read_text()
    content = json.loads(kept)
    for clock in content["fmax"].values():
        clock["achieved"] = clock["constraint"] - 0.1
    report.write_text(json.dumps(content))
    try:
        with pytest.raises(BuildError, match=r"timing is not met: \w+ 39\.9 MHz of 40\.0"):
            flow.route()
    finally:
        report.write_text(kept)
