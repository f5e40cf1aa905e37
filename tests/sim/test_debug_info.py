"""Variables of a program by name, and their members and elements."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tierv.sim.debug_info import NotInProgramError
from tierv.sim.elf import Program
from tierv.sim.firmware import CC

FIRST = """
#include <stdint.h>
typedef struct { uint16_t kind; struct { uint8_t low, high; } halves[3]; uint32_t on : 1; } item_t;
item_t items[2] = {{1}};
uint32_t grid[4][8] = {{1}};
extern const uint16_t open[];
const uint16_t open[] = {1, 2, 3};
static volatile uint32_t twice = 1;
uint32_t _start(void) { return twice; }
"""
SECOND = """
static volatile unsigned char twice[3] = {1};
unsigned char second(void) { return twice[1]; }
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory) -> Program:
    folder: Path = tmp_path_factory.mktemp("variables")
    for name, text in (("first.c", FIRST), ("second.c", SECOND)):
        (folder / name).write_text(text)
    elf = folder / "program.elf"
    flags = ["-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32", "-g", "-nostdlib", "-ffreestanding"]
    subprocess.run([CC, *flags, "first.c", "second.c", "-o", elf], cwd=folder, check=True)
    return Program(elf)


@pytest.mark.parametrize(
    ("name", "variable", "offset", "size"),
    [
        ("items", "items", 0, 24),
        ("items.1", "items", 12, 12),
        ("items.1.kind", "items", 12, 2),
        ("items.0.halves", "items", 2, 6),
        ("items.1.halves.2.high", "items", 12 + 7, 1),
        ("grid", "grid", 0, 128),
        ("open.2", "open", 4, 2),
    ],
)
def test_members_and_elements_are_where_the_compiler_has_them(
    program, name, variable, offset, size
):
    found = program.symbol(name)
    assert found.address == program.symbol(variable).address + offset
    assert found.size == size


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing", "program.elf has no symbol 'nothing'"),
        ("items.2", "'items' of program.elf has no element '2'"),
        ("items.0.halves.3", "'items' of program.elf has no element '3'"),
        ("items.0.size", "'items' of program.elf has no member 'size'"),
        ("items.0.on", "'on' of 'items' is a bit field"),
        ("grid.1", "'grid' of program.elf has an array of 2 dimensions, which has no element '1'"),
        ("open.3", "'open' of program.elf has no element '3'"),
        ("twice", "program.elf has several variables 'twice'"),
        ("twice.1", "program.elf has several variables 'twice'"),
    ],
)
def test_what_a_program_does_not_have_is_named(program, name, message):
    with pytest.raises(NotInProgramError) as raised:
        program.symbol(name)
    assert str(raised.value) == message
