"""Block RAMs that a design takes in an FPGA for which no tool here maps memories, at the most."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from emitted import VARIANTS, emitted
from yosys import run_yosys

from tierv.boards.board import Family

pytestmark = pytest.mark.slow
PRIMITIVES = Path(__file__).with_name("intel_primitives.v")
#: Cyclone IV Device Handbook, volume 1 (CYIV-51001), table 1-1: M9K blocks of EP4CE22 and EP4CE115.
DEVICE_BLOCKS = {"de0_nano": 66, "de2_115": 432}
#: The same, chapter 3 (CYIV-51003): words and bits of an M9K; the last not where both ports write.
SHAPES = ((8192, 1), (4096, 2), (2048, 4), (1024, 9), (512, 18), (256, 36))
CYCLONE4 = [name for name, board in VARIANTS.items() if board.family is Family.CYCLONE4]


def blocks(words: int, bits: int, reads: int, writes: int) -> int:
    """M9Ks of a memory with so many clocked reads and writes, each M9K with two ports."""
    shapes = SHAPES[:-1] if writes > 1 else SHAPES
    one = min(math.ceil(words / deep) * math.ceil(bits / wide) for deep, wide in shapes)
    return one * (math.ceil(reads / 2) if writes != 1 else reads)


def _cells(modules: dict, name: str) -> Iterator[dict]:
    for cell in modules[name]["cells"].values():
        if cell["type"] in modules:
            yield from _cells(modules, cell["type"])
        elif cell["type"] == "$mem_v2":
            yield cell["parameters"]


def most_blocks(folder: Path, top: str) -> int:
    """M9Ks of a project if each memory that can be one is, however small.

    A read without a clock can't be: Quartus makes such a memory of registers.
    """
    reads = "; ".join(f"read_verilog {path.name}" for path in sorted(folder.glob("*.v")))
    steps = f"{reads}; read_verilog {PRIMITIVES}; hierarchy -check -top {top}; proc; opt_clean"
    end = folder / "memories.json"
    script = f"{steps}; memory_dff; memory_collect; write_json {end.name}"
    run_yosys(folder, "memories.log", "-p", script)
    total = 0
    for found in _cells(json.loads(end.read_text())["modules"], top):
        words, bits, ports, writes = (
            int(found[name], 2) for name in ("SIZE", "WIDTH", "RD_PORTS", "WR_PORTS")
        )
        clocked = found["RD_CLK_ENABLE"][-ports:].count("1")
        total += blocks(words, bits, clocked, writes)
    return total


def test_blocks_are_counted_by_shape_and_ports():
    assert blocks(4096, 8, reads=2, writes=2) == 4
    assert blocks(16, 10, reads=1, writes=1) == 1
    assert blocks(256, 32, reads=1, writes=1) == 1
    assert blocks(256, 32, reads=2, writes=2) == 2
    assert blocks(128, 32, reads=2, writes=1) == 2
    assert blocks(16, 32, reads=0, writes=1) == 0


@pytest.mark.parametrize("name", CYCLONE4)
def test_memories_fit_into_the_block_rams_of_the_fpga(name):
    board = VARIANTS[name]
    taken = most_blocks(emitted(board).gateware, board.name)
    memories = board.soc.itcm_bytes + board.soc.dtcm_bytes + board.soc.rom_bytes
    assert memories >> 10 <= taken <= DEVICE_BLOCKS[board.base_name]
