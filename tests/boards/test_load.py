"""What is run to load a bitstream, or to keep it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tierv.boards.__main__ import main
from tierv.boards.load import flash_commands, load_commands
from tierv.boards.project import Project
from tierv.boards.registry import find_board


@pytest.mark.parametrize(
    # The hard processor of a Cyclone V comes first in the chain.
    ("name", "place", "flash", "device"),
    [("de10_nano", "@2", "EPCS128", "5CSEBA6"), ("de2_115", "", "EPCS64", "EP4CE115")],
)
def test_quartus_is_told_where_in_the_chain_the_fpga_is(name, place, flash, device):
    board = find_board(name)
    (load,) = load_commands(board, Path("x.sof"))
    assert load == ["quartus_pgm", "-m", "jtag", "-o", f"p;x.sof{place}"]
    convert, program = flash_commands(board, Path("x.sof"))
    assert convert == ["quartus_cpf", "-c", "-d", flash, "-s", device, "x.sof", "x.jic"]
    assert program == ["quartus_pgm", "-m", "jtag", "-o", f"ipv;x.jic{place}"]


@pytest.fixture
def loaders(monkeypatch, tmp_path):
    """Programs that do nothing in place of those that reach a board."""
    for name in ("openFPGALoader", "quartus_pgm", "quartus_cpf"):
        program = tmp_path / "programs" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/programs:/bin")


MISSED = {"arty": "Timing constraints are not met.\n", "de2_115": "Type : Setup\nSlack : -0.1\n"}
MET = {
    "arty": "All user specified timing constraints are met.\n",
    "de2_115": "Type : Setup\nSlack : 0.1\n",
}
MADE = {"arty": (".bit", "_timing.rpt"), "de2_115": (".sof", ".sta.summary")}


@pytest.mark.parametrize("command", ["load", "flash"])
@pytest.mark.parametrize("name", MADE)
def test_what_a_projects_script_has_made_is_loaded_unless_a_clock_is_missed(
    elsewhere, loaders, name, command
):
    # By hand, as is offered where the tool is not found.
    project = Project(find_board(name))
    bitstream, report = MADE[name]
    project.gateware.mkdir(parents=True)
    project.source(bitstream).touch()
    for text, status in ((None, 0), (MET[name], 0), (MISSED[name], 1)):
        if text is not None:
            project.source(report).write_text(text)
        done = CliRunner().invoke(main, [command, name])
        assert done.exit_code == status, done.output
        assert ("timing is not met" in done.output) == (text == MISSED[name])
