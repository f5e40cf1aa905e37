"""When a design for an ECP5 is routed anew."""

from __future__ import annotations

from tierv.boards.ecp5 import Ecp5Flow, Routed
from tierv.boards.project import Project
from tierv.boards.registry import BOARDS

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
