"""Zba, Zbb and Zbs: what each instruction computes, compared with ``arithmetic.py``."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from arithmetic import CORNERS, MASK, compute, unary
from bench import Bench
from cocotb_instructions import (
    FIRST,
    PAIRS,
    RESULT,
    SECOND,
    check_operations,
    random_pairs,
    results,
)

#: Words in which bytes, half-words and single bits stand out.
WORDS = (
    *CORNERS,
    *(1 << place for place in range(0, 32, 5)),
    *(MASK >> places for places in range(1, 32, 5)),
    *(0xFF00_0000, 0x0080_0000, 0x0000_8000, 0x0000_0080, 0x7F00_0001, 0x1234_5678),
    *(first for first, _ in random_pairs(20)),
)


@cocotb.test()
async def operations_on_two_registers_give_the_manuals_results(dut):
    bench = Bench(dut)
    for name in rv.BITS_R_TYPE:
        await check_operations(bench, [name], PAIRS)


@cocotb.test()
async def operations_on_one_register_give_the_manuals_results(dut):
    bench = Bench(dut)
    cases = [*itertools.product(rv.BITS_UNARY, WORDS)]
    pieces = [[*rv.li(FIRST, word), rv.unary(name, RESULT, FIRST)] for name, word in cases]
    for (name, word), result in zip(cases, await results(bench, pieces), strict=True):
        expected = unary(name, word)
        assert result == expected, f"{name} {word:#x} gives {result:#x}, not {expected:#x}"


@cocotb.test()
async def operations_with_a_place_give_the_manuals_results(dut):
    bench = Bench(dut)
    cases = [*itertools.product(rv.BITS_SHIFTS, CORNERS, (0, 1, 7, 16, 30, 31))]
    pieces = [
        [*rv.li(FIRST, word), rv.shift(name, RESULT, FIRST, place)] for name, word, place in cases
    ]
    for (name, word, place), result in zip(cases, await results(bench, pieces), strict=True):
        expected = compute(name[:-1], word, place)
        assert result == expected, f"{name} {word:#x} {place} gives {result:#x}, not {expected:#x}"


@cocotb.test()
async def a_result_goes_to_the_instructions_right_behind(dut):
    bench = Bench(dut)
    cases, pieces = [], []
    for name, gap in itertools.product(("clz", "cpop", "rev8", "sext.b"), range(5)):
        cases.append((name, gap))
        pieces.append(
            [
                *rv.li(SECOND, 0x0012_3480),
                *rv.li(RESULT, 99),
                rv.unary(name, FIRST, SECOND),
                *[rv.NOP] * gap,
                rv.addi(RESULT, FIRST, 1),
            ]
        )
    for (name, gap), result in zip(cases, await results(bench, pieces), strict=True):
        assert result == (unary(name, 0x0012_3480) + 1) & MASK, f"{name}, {gap} between"


@cocotb.test()
async def misa_has_b(dut):
    bench = Bench(dut)
    assert await results(bench, [[rv.csr("csrrs", RESULT, 0x301, 0)]]) == [0x4000_1102]
