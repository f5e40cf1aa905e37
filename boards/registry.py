"""The boards by name."""

from __future__ import annotations

from .arty import ARTY, ARTY_A7_100
from .board import Board, with_bios, with_debug
from .colorlight_i9 import COLORLIGHT_I9
from .de0_nano import DE0_NANO
from .de2_115 import DE2_115
from .de10_nano import DE10_NANO
from .ecpix5 import ECPIX5
from .jtag import has_fpga_jtag
from .versa_ecp5 import VERSA_ECP5

_ALL = (
    *(ARTY, ARTY_A7_100, DE2_115, DE10_NANO, DE0_NANO),
    *(COLORLIGHT_I9, ECPIX5, VERSA_ECP5),
)
BOARDS = {board.name: board for board in _ALL}


def find_board(name: str) -> Board:
    """Raises ``ValueError`` with the names there are for another one."""
    if name not in BOARDS:
        raise ValueError(f"board must be one of {', '.join(BOARDS)}, not {name!r}")
    return BOARDS[name]


def variants(board: Board) -> list[Board]:
    """The board as it is, and every other way in which it can be built."""
    ways = [board, *([with_bios(board)] if board.memory is not None else [])]
    debuggable = has_fpga_jtag(board)
    return [*ways, *(with_debug(way) for way in ways if debuggable)]


def find_variant(name: str) -> Board:
    """Raises ``ValueError`` for a name that no board has, whichever way it is built."""
    for board in BOARDS.values():
        for variant in variants(board):
            if variant.name == name:
                return variant
    return find_board(name)
