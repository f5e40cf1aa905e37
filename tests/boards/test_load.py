"""What is run to load a bitstream, or to keep it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tierv.boards.load import flash_commands, load_commands
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
