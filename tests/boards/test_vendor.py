"""A vendor's tool that fails or is killed, and what it leaves."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tierv.boards import vendor
from tierv.boards.project import Project
from tierv.boards.registry import BOARDS
from tierv.sim.paths import BuildError

MET = "All user specified timing constraints are met."


@pytest.fixture
def project(elsewhere, monkeypatch) -> Project:
    monkeypatch.setattr(vendor.shutil, "which", lambda program: program)
    project = Project(BOARDS["arty"])
    project.gateware.mkdir(parents=True)
    return project


@pytest.mark.parametrize(
    ("timing", "status", "error"),
    [
        (MET, 0, None),
        (MET, 1, r"bash failed \(1\)"),
        ("Timing constraints are not met.", 0, "timing is not met"),
    ],
)
def test_a_vendor_tool_that_fails_leaves_no_bitstream(project, timing, status, error):
    (project.gateware / "build_arty.sh").write_text(
        f"echo bits > arty.bit; echo '{timing}' > arty_timing.rpt; exit {status}\n"
    )
    if error is None:
        assert vendor.build(project).read_text() == "bits\n"
        vendor.check_as_made(project)
        return
    with pytest.raises(BuildError, match=error):
        vendor.build(project)
    assert not vendor.bitstream(project).exists()


def test_what_a_killed_vendor_tool_has_left_is_not_loaded(project, elsewhere):
    script = project.gateware / "build_arty.sh"
    script.write_text("echo bits > arty.bit; kill -9 $PPID\n")
    code = (
        "import pathlib, sys; from tierv.boards import project, registry, vendor;"
        "vendor.shutil.which = str; project.build_root = lambda: pathlib.Path(sys.argv[1]);"
        "vendor.build(project.Project(registry.BOARDS['arty']))"
    )
    killed = subprocess.run([sys.executable, "-c", code, elsewhere], check=False)
    assert killed.returncode == -9
    assert vendor.bitstream(project).exists()
    message = r"vivado has not come to its end, .*/building is there.*make bitstream BOARD=arty"
    with pytest.raises(BuildError, match=message):
        vendor.check_as_made(project)
    script.write_text(f"echo bits > arty.bit; echo '{MET}' > arty_timing.rpt\n")
    vendor.build(project)
    vendor.check_as_made(project)
