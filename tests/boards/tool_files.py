"""Files as the tools for an ECP5 write them, as far as it is seen whether they are whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

#: nextpnr's routed design.
CONFIG = ".device LFE5U-25F\n\n.tile R1C1:PLC2\narc: S3_V06S0003 N3_V06S0003\n\n"
#: ecppack's last command to the FPGA, and what fills up the bitstream behind it.
BITSTREAM_END = b"\x5e\0\0\0\xff\xff\xff\xff"


def make_netlist(_words: Sequence[str], folder: Path, made: str, _log: Path) -> None:
    """What yosys makes."""
    (folder / made).write_text("{}")
