"""Stage D by itself: which words are instructions, of all that there are."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence

import encoding as rv
import pytest
from amaranth.sim import Simulator
from decoding import OP, OP_IMM, SYSTEM

from tierv.rtl.backend.decode import Decoder
from tierv.rtl.isa import Cause
from tierv.rtl.params import EXTENSIONS, CoreParams

#: Fields that tell instructions apart: the opcode; that and funct3, and funct7, and rs2.
OPCODE, FUNCT3, FUNCT7, UNARY, WHOLE = 0x7F, 0x707F, 0xFE00707F, 0xFFF0707F, 0xFFFFFFFF
WHOLE_WORDS = (rv.ECALL, rv.EBREAK, rv.MRET, rv.WFI)


def instructions(extensions: Sequence[str]) -> set[tuple[int, int]]:
    """Of every instruction the mask of what tells it from others, and what is there."""
    names = [name for extension in extensions for name in rv.BITS[extension]]
    r_type = [*rv.R_TYPE, *(name for name in names if name in rv.BITS_R_TYPE)]
    shifts = [*rv.SHIFTS, *(name for name in names if name in rv.BITS_SHIFTS)]
    return {
        *((OPCODE, word) for word in (rv.lui(0, 0), rv.auipc(0, 0), rv.jal(0, 0))),
        *((FUNCT3, word) for word in (rv.jalr(0, 0, 0), rv.FENCE & FUNCT3, rv.FENCE_I)),
        *((FUNCT3, rv.branch(name, 0, 0, 0)) for name in rv.BRANCHES),
        *((FUNCT3, rv.load(name, 0, 0, 0)) for name in rv.LOADS),
        *((FUNCT3, rv.store(name, 0, 0, 0)) for name in rv.STORES),
        *((FUNCT3, rv.i_type(name, 0, 0, 0)) for name in rv.I_TYPE),
        *((FUNCT3, rv.csr(name, 0, 0, 0)) for name in rv.CSR_OPS),
        *((FUNCT7, rv.r_type(name, 0, 0, 0)) for name in r_type),
        *((FUNCT7, rv.shift(name, 0, 0, 0)) for name in shifts),
        *((UNARY, rv.unary(name, 0, 0)) for name in names if name in rv.BITS_UNARY),
        *((WHOLE, word) for word in WHOLE_WORDS),
    }


def words() -> Iterator[int]:
    """Every opcode, funct3 and funct7, rs2 where it counts, and what is nearly an instruction."""
    rng = random.Random(1)
    registers = 0xFFFFFFFF & ~FUNCT7
    for opcode, funct3, funct7 in itertools.product(range(128), range(8), range(128)):
        # There are no compressed instructions: a few words will do.
        if opcode & 3 != 3 and funct7 % 43:
            continue
        yield opcode | funct3 << 12 | funct7 << 25 | (rng.getrandbits(32) & registers)
    unary_funct7 = {word >> 25 for word in rv.BITS_UNARY.values()}
    for opcode, funct3, funct7 in itertools.product((OP_IMM, OP), range(8), unary_funct7):
        for rs2 in range(32):
            yield opcode | funct3 << 12 | funct7 << 25 | rs2 << 20 | rng.getrandbits(5) << 15
    for immediate in range(1 << 12):
        yield immediate << 20 | SYSTEM
    for word in WHOLE_WORDS:
        yield word
        yield from (word ^ 1 << place for place in range(32))


@pytest.mark.parametrize(
    "extensions",
    [(), *((name,) for name in EXTENSIONS), EXTENSIONS],
    ids=lambda names: "-".join(names) or "none",
)
def test_what_is_no_instruction_is_illegal_and_nothing_else(extensions):
    decoder = Decoder(CoreParams(**dict.fromkeys(extensions, True)))
    known = instructions(extensions)
    masks = {mask for mask, _ in known}
    wrong = []

    async def compare(ctx) -> None:
        for word in words():
            ctx.set(decoder.instruction, word)
            control = ctx.get(decoder.control)
            illegal = bool(control.exception) and control.cause == Cause.ILLEGAL
            if illegal == any((mask, word & mask) in known for mask in masks):
                wrong.append(f"{word:#010x}")

    simulator = Simulator(decoder)
    simulator.add_testbench(compare)
    simulator.run()
    assert not wrong, f"{len(wrong)} words, the first of them {wrong[:10]}"
