"""When a design for an ECP5 is routed anew, and what is packed and told of one that was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from tool_files import BITSTREAM_END, CONFIG, make_netlist

from tierv.boards import readme
from tierv.boards.__main__ import main
from tierv.boards.ecp5 import Clock, Ecp5Flow, Routed
from tierv.boards.project import Project
from tierv.boards.registry import BOARDS
from tierv.sim.paths import BuildError, CpuTimeError
from tierv.sim.synthesis.flow import UTILISATION

BLOCK = """\
always @(*) begin
    case (place)
        4'h1:
            value = 3'h5;
        4'h2:
            value = 3'h6;
    endcase
end
"""
EXCHANGED = BLOCK.replace("h5", "h7").replace("h6", "h5").replace("h7", "h6")
ASSIGNMENT = "assign one = two;\n\n"


def test_a_design_is_routed_anew_if_lines_change_places_but_not_if_blocks_do(monkeypatch, tmp_path):
    monkeypatch.setattr("tierv.boards.project.build_root", lambda: tmp_path)
    monkeypatch.setattr("tierv.boards.ecp5.tool_versions", lambda: {})
    monkeypatch.setattr("tierv.boards.ecp5.read_report", lambda text: Routed((), {}))
    project = Project(BOARDS["ecpix5"])
    project.gateware.mkdir(parents=True)
    routed = []

    def route_anew(self):
        self.folder.mkdir(exist_ok=True)
        self.report.touch()
        routed.append(self)

    monkeypatch.setattr(Ecp5Flow, "_route_anew", route_anew)
    for name, text, count in (
        ("ecpix5.v", f"// One time\n{ASSIGNMENT}{BLOCK}", 1),
        ("ecpix5.v", f"// Another time\n{BLOCK}{ASSIGNMENT}", 1),
        ("ecpix5.v", EXCHANGED + ASSIGNMENT, 2),
        ("tierv_cluster.v", BLOCK, 3),
        ("tierv_cluster.v", EXCHANGED, 4),
    ):
        (project.gateware / name).write_text(text)
        Ecp5Flow(project).route()
        assert len(routed) == count, text


@pytest.fixture
def routed(elsewhere, monkeypatch) -> Ecp5Flow:
    """A project that has been placed and routed, as far as packing sees it."""
    monkeypatch.setattr("tierv.boards.ecp5.tool_versions", lambda: {})
    monkeypatch.setattr("tierv.boards.ecp5.read_report", lambda text: Routed((), {}))
    monkeypatch.setattr("tierv.boards.ecp5.run_yosys", make_netlist)
    project = Project(BOARDS["ecpix5"])
    project.gateware.mkdir(parents=True)
    (project.gateware / "ecpix5.v").write_text(f"// One time\n{ASSIGNMENT}{BLOCK}")
    for name in ("port.v", "ecpix5.lpf", "ecpix5.ys", "itcm_0_0.init"):
        (project.gateware / name).write_text(f"{name}\n")
    flow = Ecp5Flow(project)
    shutil.copytree(project.gateware, flow.folder)
    (flow.folder / "routed.config").touch()
    flow.report.touch()
    return flow


def test_the_same_design_in_another_order_and_with_other_contents_is_packed(routed, monkeypatch):
    monkeypatch.setattr(Ecp5Flow, "_packed", lambda self, config: self.bitstream)
    (routed.project.gateware / "ecpix5.v").write_text(f"// Another time\n{BLOCK}{ASSIGNMENT}")
    (routed.project.gateware / "itcm_0_0.init").unlink()
    assert routed.pack_as_routed() == routed.bitstream


@pytest.mark.parametrize("name", ["ecpix5.v", "port.v", "added.v", "ecpix5.lpf"])
@pytest.mark.parametrize("text", ["assign one = three;\n", None])
def test_another_design_than_the_project_s_gets_no_firmware(routed, name, text):
    emitted, old = routed.project.gateware / name, routed.folder / name
    if text is None:
        old.touch()
        emitted.unlink(missing_ok=True)
    else:
        emitted.write_text(text)
    message = f"not the project's design, {old} not {emitted}: make bitstream BOARD=ecpix5"
    with pytest.raises(BuildError, match=message):
        routed.pack({})


@pytest.mark.parametrize("step", ["complete", "Ecp5Flow.route", "Ecp5Flow.pack"])
def test_a_bitstream_that_cannot_be_made_leaves_no_older_one(routed, monkeypatch, step):
    def fail(*_):
        raise BuildError(f"{step} failed")

    stand_ins = {
        "complete": lambda _board: routed.project,
        "Ecp5Flow.route": lambda _self: Routed((), {}),
        "Program": lambda _path: None,
        "memory_images": lambda *_: {},
    }
    for name, stand_in in (stand_ins | {step: fail}).items():
        monkeypatch.setattr(f"tierv.boards.__main__.{name}", stand_in)
    routed.bitstream.write_text("old")
    done = CliRunner().invoke(main, ["bitstream", "ecpix5"])
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, f"Error: {step} failed")
    assert not routed.bitstream.exists()


def test_a_project_alone_leaves_the_bitstream(routed, monkeypatch):
    monkeypatch.setattr("tierv.boards.__main__.complete", lambda _board: routed.project)
    routed.bitstream.write_text("old")
    assert CliRunner().invoke(main, ["bitstream", "ecpix5", "--project-only"]).exit_code == 0
    assert routed.bitstream.exists()


@pytest.mark.parametrize("seeds", [(1, 2), (1, 3)])
def test_a_seed_that_finds_no_end_is_given_up(routed, monkeypatch, capsys, seeds):
    def run(self, command, folder, most_cpu_s=None):
        assert most_cpu_s is not None
        if command[command.index("--seed") + 1] != "2":
            raise CpuTimeError("nextpnr has taken 7 s of CPU time")
        self._config.write_text(CONFIG)
        self.report.write_text("{}")

    monkeypatch.setattr("tierv.boards.ecp5._device", lambda _project: [])
    monkeypatch.setattr(Ecp5Flow, "_run", run)
    flow = Ecp5Flow(routed.project, seeds)
    if 2 in seeds:
        flow.route()
    else:
        with pytest.raises(BuildError, match="no seed is routed in time: 1, 3"):
            flow.route()
    assert "nextpnr has taken 7 s of CPU time: it is given up" in capsys.readouterr().err


def cut(made: bytes, whole: bool) -> bytes:
    return made if whole else made[:-1]


@pytest.mark.parametrize("cut_off", ["ecpix5.json", "report.json", "routed.config", None])
def test_what_a_tool_writes_to_a_full_disk_is_not_taken_for_a_routed_design(
    routed, monkeypatch, cut_off
):
    def write(folder: Path, name: str, text: bytes) -> None:
        (folder / name).write_bytes(cut(text, name != cut_off))

    def run(self, command, folder, most_cpu_s=None):
        write(folder, "report.json", b"{}")
        write(folder, "routed.config", CONFIG.encode())

    monkeypatch.setattr(
        "tierv.boards.ecp5.run_yosys", lambda _words, folder, made, _log: write(folder, made, b"{}")
    )
    monkeypatch.setattr("tierv.boards.ecp5._device", lambda _project: [])
    monkeypatch.setattr(Ecp5Flow, "_run", run)
    if cut_off is None:
        routed.route()
        return
    for _ in range(2):
        with pytest.raises(BuildError, match=rf"/{cut_off} is cut off; is the disk full\?"):
            routed.route()


@pytest.mark.parametrize("whole", [False, True])
def test_a_bitstream_that_ecppack_has_cut_off_leaves_the_older_one(routed, monkeypatch, whole):
    def run(self, command, folder):
        (folder / command[-1]).write_bytes(cut(b"bits" + BITSTREAM_END, whole))

    monkeypatch.setattr(Ecp5Flow, "_run", run)
    routed.bitstream.write_text("old")
    if whole:
        assert routed.pack_as_routed().read_bytes() == b"bits" + BITSTREAM_END
        return
    with pytest.raises(BuildError, match=r"/ecpix5\.bit is cut off; is the disk full\?"):
        routed.pack_as_routed()
    assert routed.bitstream.read_text() == "old"


def test_what_has_been_routed_is_kept_with_the_tools_of_then(routed, monkeypatch, tmp_path):
    golden, text = tmp_path / "golden.json", tmp_path / "README.md"
    text.write_text(readme.README.read_text())
    monkeypatch.setattr(readme, "GOLDEN", golden)
    monkeypatch.setattr(readme, "README", text)

    def read_report(text: str) -> Routed:
        clock = Clock("sys_clk", reached=float(text), wanted=50.0)
        return Routed((clock,), dict.fromkeys(UTILISATION, (3, 7)))

    def run(self, command, folder, most_cpu_s=None):
        self._config.write_text(CONFIG)
        self.report.write_text("51.0")

    for module in ("ecp5", "readme"):
        monkeypatch.setattr(f"tierv.boards.{module}.read_report", read_report)
    monkeypatch.setattr("tierv.boards.ecp5._device", lambda _project: [])
    monkeypatch.setattr(Ecp5Flow, "_run", run)
    monkeypatch.setattr("tierv.boards.ecp5.tool_versions", lambda: {"nextpnr": "1"})
    routed.route()
    monkeypatch.setattr("tierv.boards.ecp5.tool_versions", lambda: {"nextpnr": "2"})
    readme.update()
    assert json.loads(golden.read_text())["ecpix5"]["tools"] == ["nextpnr 1"]
    # Of what was routed with tools that nobody knows, nothing new is said.
    routed.tools.unlink()
    routed.report.write_text("52.0")
    kept = golden.read_text()
    readme.update()
    assert golden.read_text() == kept
