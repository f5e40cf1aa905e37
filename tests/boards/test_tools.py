"""What surrounds the FPGA's tools: verdicts on timing, memory contents, missing programs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner
from tool_files import BITSTREAM_END, CONFIG, make_netlist

from tierv.boards import load, readme, vendor
from tierv.boards.__main__ import main
from tierv.boards.board import Family, with_bios
from tierv.boards.ecp5 import Ecp5Flow, TimingError, changed_block_rams, check_timing, read_report
from tierv.boards.project import Project, memory_images, pattern_images
from tierv.boards.registry import BOARDS
from tierv.sim.elf import Segment
from tierv.sim.pages import README
from tierv.sim.paths import BuildError, locked
from tierv.sim.synthesis.flow import UTILISATION, AbcError

SIZES = {"itcm": 16 << 10, "dtcm": 16 << 10}


def report(**clocks: tuple[float, float]) -> str:
    fmax = {
        f"$glbnet${name}": {"achieved": reached, "constraint": wanted}
        for name, (reached, wanted) in clocks.items()
    }
    cells = {cell: {"used": 3, "available": 7} for cell in UTILISATION.values()}
    return json.dumps({"fmax": fmax, "utilization": cells})


def test_a_missed_clock_is_an_error_that_names_it():
    routed = read_report(report(sys_clk=(49.9, 50.0), eth_rx_clk=(140.0, 125.0)))
    with pytest.raises(TimingError, match=r"not met: sys_clk 49\.9 MHz of 50\.0; another --seed"):
        check_timing(routed)


def test_clocks_that_are_reached_are_no_error():
    routed = read_report(report(sys_clk=(50.0, 50.0)))
    check_timing(routed)
    assert routed.cells["EBR"] == (3, 7)


def test_a_report_without_clocks_is_refused():
    with pytest.raises(ValueError, match="must have a clock"):
        read_report(report())


SUMMARY = """\
Type  : Slow 1200mV 85C Model Setup 'sys_clk'
Slack : {}
TNS   : 0.000

Type  : Slow 1200mV 85C Model Hold 'sys_clk'
Slack : 0.402
TNS   : 0.000
"""


def test_negative_slack_of_quartus_is_an_error_that_names_it():
    vendor.check_quartus_timing(SUMMARY.format("1.234"))
    with pytest.raises(TimingError, match=r"85C Model Setup 'sys_clk' -0\.100 ns"):
        vendor.check_quartus_timing(SUMMARY.format("-0.100"))
    with pytest.raises(TimingError, match="no slack is reported"):
        vendor.check_quartus_timing("")


def test_vivado_must_say_that_timing_is_met():
    vendor.check_vivado_timing("...\nAll user specified timing constraints are met.\n")
    with pytest.raises(TimingError, match="not met"):
        vendor.check_vivado_timing("...\nTiming constraints are not met.\n")


class FakeProgram:
    """A program with segments of zeros, or of what is given."""

    def __init__(self, *segments: tuple[int, bytes], entry: int = 0x2000_0000) -> None:
        self.entry = entry
        self.segments = [Segment(address, address, data) for address, data in segments]


def test_segments_go_to_their_memories():
    program = FakeProgram((0x2000_0000, b"code"), (0x3000_0010, b"data"), (0x2000_0008, b"more"))
    images = memory_images(program, SIZES)
    assert images == {"itcm": b"code\0\0\0\0more", "dtcm": bytes(16) + b"data"}


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (FakeProgram(entry=0x4000_0000), "must start at 0x20000000.* not at 0x40000000"),
        (FakeProgram((0x4000_0000, b"x")), "local memories, not at 0x40000000 to 0x40000001"),
        (FakeProgram((0x2000_3FFF, b"xy")), "local memories, not at 0x20003fff to 0x20004001"),
    ],
)
def test_a_program_that_does_not_fit_is_refused(program, message):
    with pytest.raises(ValueError, match=message):
        memory_images(program, SIZES)


def test_no_part_of_the_pattern_comes_twice():
    images = pattern_images({"itcm": 96 << 10, "dtcm": 64 << 10})
    for first in range(4):
        parts = [
            bytes(image[start : start + 2048 : 4])
            for image in images.values()
            for start in range(first, len(image), 2048)
        ]
        assert len(set(parts)) == len(parts) == 80


def test_changed_block_rams_are_counted():
    before = ".bram_init 0\n1 2\n3 4\n\n.bram_init 1\n5 6\n\n.tile X\n"
    assert changed_block_rams(before, before) == 0
    assert changed_block_rams(before, before.replace("3 4", "3 5")) == 1
    assert changed_block_rams(before, before.replace(".tile X", ".tile Y")) == 0


#: From the project of the ECPIX-5.
NEXTPNR_LINE = "nextpnr-ecp5 --um5g-85k --package CABGA554 --speed 8"


def invoke(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, words)
    return done.exit_code, " ".join(done.output.split())


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_where_abc_dies_the_netlist_is_optimised_before(elsewhere, monkeypatch, failures):
    project = Project(BOARDS["ecpix5"])
    project.gateware.mkdir(parents=True)
    (project.gateware / "ecpix5.ys").write_text("read_verilog ecpix5.v\nsynth_ecp5 -top ecpix5\n")
    (project.gateware / "build_ecpix5.sh").write_text(NEXTPNR_LINE)
    scripts = []

    def run_yosys(words, folder, made, log):
        scripts.append((folder / words[-1]).read_text())
        if len(scripts) <= failures:
            raise AbcError("yosys failed")
        make_netlist(words, folder, made, log)

    def run(self, command, folder, most_cpu_s=None):
        self._config.write_text(CONFIG)
        self.report.write_text(report(sys_clk=(52.0, 51.0)))

    monkeypatch.setattr("tierv.boards.ecp5.run_yosys", run_yosys)
    monkeypatch.setattr(Ecp5Flow, "_run", run)
    monkeypatch.setattr("tierv.boards.ecp5.tool_versions", lambda: {})
    flow = Ecp5Flow(project)
    if failures > 1:
        with pytest.raises(BuildError, match="yosys failed"):
            flow.route()
    else:
        assert flow.route().clocks[0].reached == 52.0
        assert flow.optimised_before == (failures == 1)
    before = "read_verilog ecpix5.v\n"
    optimise = "hierarchy -top ecpix5; proc; flatten; opt -full; "
    behind = "synth_ecp5 -top ecpix5\n"
    assert scripts == [before + behind, before + optimise + behind][: failures + 1]


def test_a_project_that_yosys_does_not_read_is_an_error_with_its_words(elsewhere, monkeypatch):
    project = Project(BOARDS["ecpix5"])
    project.gateware.mkdir(parents=True)
    (project.gateware / "ecpix5.v").write_text("module ecpix5(")
    (project.gateware / "ecpix5.ys").write_text("read_verilog ecpix5.v\nsynth_ecp5 -top ecpix5\n")
    monkeypatch.setattr("tierv.boards.ecp5.tool_versions", lambda: {})
    flow = Ecp5Flow(project)
    with pytest.raises(BuildError, match=r"(?s)routed/yosys\.log:.*ecpix5\.v:1: ERROR: syntax"):
        flow.route()
    assert not flow.optimised_before


@pytest.mark.parametrize(("seeds", "tried"), [((1, 2, 3), [1, 2]), ((1,), [1])])
def test_the_next_seed_is_tried_if_a_clock_is_missed(elsewhere, monkeypatch, seeds, tried):
    project = Project(BOARDS["ecpix5"])
    project.gateware.mkdir(parents=True)
    (project.gateware / "ecpix5.ys").touch()
    (project.gateware / "build_ecpix5.sh").write_text(NEXTPNR_LINE)
    found = []

    def run(self, command, folder, most_cpu_s=None):
        found.append(int(command[command.index("--seed") + 1]))
        self._config.write_text(CONFIG)
        self.report.write_text(report(sys_clk=(48.0 + 2 * len(found), 51.0)))

    monkeypatch.setattr("tierv.boards.ecp5.run_yosys", make_netlist)
    monkeypatch.setattr(Ecp5Flow, "_run", run)
    monkeypatch.setattr("tierv.boards.ecp5.tool_versions", lambda: {})
    flow = Ecp5Flow(project, seeds)
    if len(seeds) == 1:
        with pytest.raises(TimingError, match=r"sys_clk 50\.0 MHz of 51\.0"):
            flow.route()
    else:
        assert flow.route().clocks[0].reached == 52.0
    assert found == tried


def test_a_missing_vendor_tool_is_told_with_where_the_project_lies(nothing_installed):
    for name, tool in (("arty", "vivado"), ("de2_115", "quartus_map")):
        project = Project(BOARDS[name])
        with pytest.raises(vendor.MissingToolError) as error:
            vendor.build(project)
        text = str(error.value)
        assert f"{tool} is not installed: install" in text
        assert str(project.gateware) in text
        assert f"build_{name}.sh" in text


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("command", ["load", "flash"])
def test_loading_says_what_is_missing(name, command, nothing_installed, elsewhere):
    status, text = invoke(command, name)
    assert status == 1
    assert f"make bitstream BOARD={name}" in text
    board = BOARDS[name]
    vendors = board.family in vendor.TOOLS
    path = vendor.bitstream(Project(board)) if vendors else Ecp5Flow(Project(board)).bitstream
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    status, text = invoke(command, name)
    assert status == 1
    program = "openFPGALoader"
    if board.family in (Family.CYCLONE4, Family.CYCLONE5):
        program = "quartus_pgm" if command == "load" else "quartus_cpf"
    assert f"{program} is not installed; install: " in text


def test_a_loader_that_fails_is_an_error(elsewhere, tmp_path):
    board = BOARDS["arty"]
    path = tmp_path / "arty.bit"
    path.touch()
    with pytest.raises(BuildError, match=r"false failed \(1\): is Digilent Arty A7-35T connected"):
        load.run([["false"]], board, path)
    load.run([["true"]], board, path)


def test_firmware_without_a_routed_design_is_refused(elsewhere):
    status, text = invoke("firmware", "ecpix5")
    assert status == 1
    assert "there is no project in" in text
    assert "make bitstream BOARD=ecpix5" in text
    status, text = invoke("firmware", "arty")
    assert status == 1
    assert "board must be one with an ECP5 for this, not arty" in text


@pytest.mark.parametrize(
    "command",
    [["firmware", "ecpix5"], ["bitstream", "de0_nano"], ["load", "arty"], ["flash", "arty"]],
    ids=" ".join,
)
def test_who_builds_or_loads_what_is_being_built_waits(elsewhere, command):
    folder = Project(BOARDS[command[1]]).folder
    code = (
        "import pathlib, sys; from tierv.boards import __main__, project;"
        "project.build_root = lambda: pathlib.Path(sys.argv[1]); __main__.main(sys.argv[2:])"
    )
    words = [sys.executable, "-c", code, str(elsewhere), *command]
    with locked(folder), subprocess.Popen(words, text=True, stderr=subprocess.PIPE) as process:
        said = process.stderr.readline()
        made = {path.name for path in folder.iterdir()}
        process.kill()
    assert said == f"waiting for another build in {folder}\n"
    assert made == {".lock"}


def test_a_design_that_misses_a_clock_gets_no_bitstream(elsewhere):
    flow = Ecp5Flow(Project(BOARDS["ecpix5"]))
    flow.folder.mkdir(parents=True)
    (flow.folder / "routed.config").touch()
    flow.report.write_text(report(eth_rx_clk=(94.6, 125.0)))
    with pytest.raises(TimingError, match=r"eth_rx_clk 94\.6 MHz of 125\.0"):
        flow.pack({})
    assert not flow.bitstream.exists()


def test_an_unknown_board_is_refused_with_those_there_are():
    status, text = invoke("bitstream", "artix")
    assert status == 2
    assert "board must be one of arty, " in text
    assert "not 'artix'" in text


def test_the_readme_has_the_boards_and_what_has_been_routed():
    text = README.read_text()
    assert readme.boards_table() in text
    assert readme.bios_table() in text
    assert readme.routed_table(json.loads(readme.GOLDEN.read_text())) in text


def test_only_designs_that_reach_their_clocks_are_kept(elsewhere, monkeypatch, tmp_path):
    golden, text = tmp_path / "golden.json", tmp_path / "README.md"
    text.write_text(README.read_text())
    monkeypatch.setattr(readme, "GOLDEN", golden)
    monkeypatch.setattr(readme, "README", text)
    for name, reached in (("ecpix5", 50.0), ("versa_ecp5", 49.9)):
        flow = Ecp5Flow(Project(BOARDS[name]))
        flow.folder.mkdir(parents=True)
        flow.report.write_text(report(sys_clk=(reached, 50.0)))
        flow.tools.write_text('{"nextpnr": "1"}')
        (flow.folder / f"{name}.ys").touch()
    readme.update()
    assert json.loads(golden.read_text()).keys() == {"ecpix5"}
    assert "| `BOARD=ecpix5` | sys_clk 50.0 of 50.0 |" in text.read_text()


def test_what_has_been_routed_stays_if_the_readme_has_no_place_for_it(
    elsewhere, monkeypatch, tmp_path
):
    golden, text = tmp_path / "golden.json", tmp_path / "README.md"
    golden.write_text("{}")
    text.write_text("no markers\n")
    monkeypatch.setattr(readme, "GOLDEN", golden)
    monkeypatch.setattr(readme, "README", text)
    with pytest.raises(ValueError, match="there is no place for a table of boards"):
        readme.update()
    assert golden.read_text() == "{}"


def test_what_has_been_routed_is_told_with_what_builds_it():
    clock = {"clocks": {"sys_clk": [63.0, 62.5]}, "tools": ["nextpnr 1"]}
    result = clock | {"cells": {name: [1, 2] for name in ("COMB", "RAMW", "FF", "EBR", "MULT")}}
    optimised = result | {"optimised before": True}
    table = readme.routed_table({"ecpix5_bios": result, "colorlight_i9_debug": optimised})
    assert "| `BOARD=ecpix5 ARGS=--with-bios` | sys_clk 63.0 of 62.5 | 1 of 2 |" in table
    assert "| `BOARD=colorlight_i9 ARGS=--debug`, optimised before |" in table


def test_a_bitstream_with_a_bios_is_packed_as_it_is_routed(elsewhere, monkeypatch):
    flow = Ecp5Flow(Project(with_bios(BOARDS["ecpix5"])))
    with pytest.raises(BuildError, match="make bitstream BOARD=ecpix5 ARGS=--with-bios"):
        flow.pack_as_routed()
    flow.folder.mkdir(parents=True)
    (flow.folder / "routed.config").write_text("routed")
    flow.report.write_text(report(sys_clk=(62.4, 62.5)))
    with pytest.raises(TimingError, match=r"sys_clk 62\.4 MHz of 62\.5"):
        flow.pack_as_routed()
    flow.report.write_text(report(sys_clk=(62.5, 62.5)))

    def pack(self, command, folder):
        program, option, source, target = command
        assert (program, option) == ("yowasp-ecppack", "--compress")
        (folder / target).write_bytes((folder / source).read_bytes() + BITSTREAM_END)

    monkeypatch.setattr(Ecp5Flow, "_run", pack)
    assert flow.pack_as_routed() == flow.bitstream
    assert flow.bitstream.read_bytes() == b"routed" + BITSTREAM_END
    # Who is reading it when the next one is made reads all of it.
    with flow.bitstream.open("rb") as loading:
        (flow.folder / "routed.config").write_text("routed again")
        flow.pack_as_routed()
        assert loading.read() == b"routed" + BITSTREAM_END
    assert flow.bitstream.read_bytes() == b"routed again" + BITSTREAM_END


@pytest.mark.parametrize("columns", ["80", "40"])
def test_boards_are_listed_by_their_whole_names(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    status, text = invoke("list")
    assert status == 0
    assert all(name in text for name in BOARDS)
    assert "…" not in text
