"""What each instruction computes, compared with ``arithmetic.py``."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable

import cocotb
import encoding as rv
from arithmetic import CORNERS, MASK, compute, loaded, stored, takes
from bench import EXIT, RAM, Bench

#: Address registers of the programs.
DATA, DEVICE = 30, 31
FIRST, SECOND, RESULT = 10, 11, 12
#: Patterns for loads: every byte and half-word of a different sign.
WORDS = (0x8F7E_6D5C, 0x0123_F4E5, 0x7FFF_8000, 0x00FF_FF00)


def ending(code: list[int]) -> list[int]:
    """The program, then its end."""
    return [*code, *rv.li(DEVICE, EXIT), rv.store("sw", 0, DEVICE, 0), rv.jal(0, 0)]


async def results(bench: Bench, pieces: list[list[int]]) -> list[int]:
    """Run pieces of code one after another; what each left in RESULT."""
    answers: list[int] = []
    base = bench.params.dmem.base
    # As many at once as the offset of a store reaches.
    for begin in range(0, len(pieces), 500):
        some = pieces[begin : begin + 500]
        code = rv.li(DATA, base)
        for number, piece in enumerate(some):
            code += [*piece, rv.store("sw", RESULT, DATA, 4 * number)]
        await bench.execute(ending(code), cycles=100 * len(code))
        answers += [bench.peek(base + 4 * n) for n in range(len(some))]
    return answers


async def check_operations(bench: Bench, names: Iterable[str], operands: list) -> None:
    cases = list(itertools.product(names, operands))
    pieces = [
        [*rv.li(FIRST, a), *rv.li(SECOND, b), rv.r_type(name, RESULT, FIRST, SECOND)]
        for name, (a, b) in cases
    ]
    for (name, (a, b)), result in zip(cases, await results(bench, pieces), strict=True):
        expected = compute(name, a, b)
        assert result == expected, f"{name} {a:#x} {b:#x} gives {result:#x}, not {expected:#x}"


def random_pairs(count: int) -> list[tuple[int, int]]:
    rng = random.Random(1)
    return [(rng.getrandbits(32), rng.getrandbits(32)) for _ in range(count)]


PAIRS = [*itertools.product(CORNERS, CORNERS), *random_pairs(30)]


@cocotb.test()
async def integer_operations_give_the_manuals_results(dut):
    await check_operations(Bench(dut), rv.INTEGER_R_TYPE, PAIRS)


@cocotb.test()
async def multiplications_give_the_manuals_results(dut):
    await check_operations(Bench(dut), rv.MULTIPLICATIONS, PAIRS)


@cocotb.test()
async def divisions_give_the_manuals_results(dut):
    corners = (0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF)
    pairs = [*itertools.product(corners, corners), (7, 3), (7, 0xFFFF_FFFD), *random_pairs(6)]
    await check_operations(Bench(dut), rv.DIVISIONS, pairs)


@cocotb.test()
async def immediate_operations_give_the_manuals_results(dut):
    bench = Bench(dut)
    cases, pieces = [], []
    for name, first, immediate in itertools.product(
        rv.I_TYPE, CORNERS, (0, 1, -1, 2047, -2048, 0x555)
    ):
        # sltiu is the one whose i is not at the end.
        cases.append(("sltu" if name == "sltiu" else name[:-1], first, immediate & MASK))
        pieces.append([*rv.li(FIRST, first), rv.i_type(name, RESULT, FIRST, immediate)])
    for name, first, amount in itertools.product(rv.SHIFTS, CORNERS, (0, 1, 15, 16, 31)):
        cases.append((name[:-1], first, amount))
        pieces.append([*rv.li(FIRST, first), rv.shift(name, RESULT, FIRST, amount)])
    for (name, a, b), result in zip(cases, await results(bench, pieces), strict=True):
        expected = compute(name, a, b)
        assert result == expected, f"{name}i {a:#x} {b:#x} gives {result:#x}, not {expected:#x}"


@cocotb.test()
async def shifts_move_every_bit_by_every_distance(dut):
    bench = Bench(dut)
    cases, pieces = [], []
    for name, value, distance in itertools.product(
        ("sll", "srl", "sra"), (MASK, 0x7FFF_FFFF, 0x9D2C_5A63, 0x62D3_A59C), range(32)
    ):
        cases += [(name, value, distance)] * 2
        first = rv.li(FIRST, value)
        by_register = [*rv.li(SECOND, distance), rv.r_type(name, RESULT, FIRST, SECOND)]
        pieces.append([*first, *by_register])
        pieces.append([*first, rv.shift(name + "i", RESULT, FIRST, distance)])
    for (name, a, b), result in zip(cases, await results(bench, pieces), strict=True):
        expected = compute(name, a, b)
        assert result == expected, f"{name} {a:#x} {b} gives {result:#x}, not {expected:#x}"


@cocotb.test()
async def lui_and_auipc_build_addresses(dut):
    bench = Bench(dut)
    uppers = (0, 1, 0x7FFFF, 0x80000, 0xFFFFF)
    code = rv.li(DATA, bench.params.dmem.base)
    expected = []
    for upper in uppers:
        code += [rv.lui(RESULT, upper), rv.store("sw", RESULT, DATA, 4 * len(expected))]
        expected.append(upper << 12)
        pc = bench.params.reset_address + 4 * len(code)
        code += [rv.auipc(RESULT, upper), rv.store("sw", RESULT, DATA, 4 * len(expected))]
        expected.append((pc + (upper << 12)) & MASK)
    await bench.execute(ending(code))
    base = bench.params.dmem.base
    assert [bench.peek(base + 4 * n) for n in range(len(expected))] == expected


@cocotb.test()
async def writes_to_x0_are_dropped(dut):
    bench = Bench(dut)
    base = bench.params.dmem.base
    bench.poke(base, 0x1234_5678)
    writers = [
        [rv.addi(0, 0, 5)],
        [rv.load("lw", 0, DATA, 0)],
        [rv.r_type("mul", 0, DATA, DATA)],
        [rv.r_type("div", 0, DATA, DATA)],
        [rv.csr("csrrs", 0, 0xB00, 0)],
        [rv.jal(0, 4)],
    ]
    pieces = [[*writer, *[rv.NOP] * gap, rv.addi(RESULT, 0, 0)] for writer in writers
              for gap in range(5)]  # fmt: skip
    code = rv.li(DATA, base)
    for number, piece in enumerate(pieces, 1):
        code += [*piece, rv.store("sw", RESULT, DATA, 4 * number)]
    await bench.execute(ending(code))
    assert {bench.peek(base + 4 * n) for n in range(1, len(pieces) + 1)} == {0}


@cocotb.test()
async def branches_are_taken_as_their_condition_says(dut):
    bench = Bench(dut)
    cases = [
        (name, a, b)
        for name in rv.BRANCHES
        for a, b in itertools.product((0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF), repeat=2)
    ]
    pieces = [
        [
            *rv.li(FIRST, a),
            *rv.li(SECOND, b),
            rv.addi(RESULT, 0, 1),
            rv.branch(name, FIRST, SECOND, 8),
            rv.addi(RESULT, 0, 0),
        ]
        for name, a, b in cases
    ]
    for (name, a, b), result in zip(cases, await results(bench, pieces), strict=True):
        assert result == takes(name, a, b), f"{name} {a:#x} {b:#x}"


@cocotb.test()
async def branches_reach_both_ends_of_their_range(dut):
    bench = Bench(dut)
    base = bench.params.reset_address
    for distance in (-4096, 4092, -4, 4):
        place = base + 0x1800
        bench.imem = [rv.NOP | rv.NOP << 32] * len(bench.imem)
        bench.load(base, [rv.jal(0, place - base)])
        bench.load(place, [rv.branch("beq", 0, 0, distance)])
        if distance == -4:
            # No room for a program before the branch.
            bench.load(place - 4, [rv.jal(0, 0x100)])
            bench.load(place + 0xFC, ending([]))
        else:
            bench.load(place + distance, ending([]))
        await bench.reset()
        await bench.run()
        assert bench.seen.at(place + distance), f"no instruction at {distance} from the branch"
        assert len(bench.seen.at(place)) == 1


@cocotb.test()
async def a_branch_out_of_local_memory_that_is_not_taken_goes_on(dut):
    bench = Bench(dut)
    base = bench.params.reset_address
    for place in range(4):
        # Backward, so that it is predicted taken.
        leaves = rv.branch("bne", 0, 0, -4 * (place + 1))
        await bench.execute(ending([*[rv.NOP] * place, leaves, rv.NOP]))
        for word in (place, place + 1):
            assert len(bench.seen.at(base + 4 * word)) == 1


@cocotb.test()
async def jumps_link_and_reach_both_ends_of_their_range(dut):
    bench = Bench(dut)
    base = bench.params.reset_address
    dmem = bench.params.dmem.base
    last = base + bench.params.imem.size_bytes - 64
    # Forward to the end of the memory, back by register, back again by jal.
    code = ending([*rv.li(DATA, dmem), rv.store("sw", 1, DATA, 0), rv.store("sw", 5, DATA, 4)])
    end = base + 0x100
    bench.load(end, code)
    bench.load(base, [rv.jal(1, last - base)])
    bench.load(last, [*rv.li(6, base + 0x80 - 2000), rv.jalr(5, 6, 2000)])
    bench.load(base + 0x80, [rv.jal(0, end - base - 0x80)])
    await bench.reset()
    await bench.run()
    assert (bench.peek(dmem), bench.peek(dmem + 4)) == (base + 4, last + 12)


@cocotb.test()
async def jalr_clears_bit_0_and_reads_rs1_before_it_writes_the_link(dut):
    bench = Bench(dut)
    base = bench.params.reset_address
    code = [*rv.li(FIRST, base + 17), rv.jalr(FIRST, FIRST, 4), rv.jal(0, 0), rv.jal(0, 0)]
    code += [*rv.li(DATA, bench.params.dmem.base), rv.store("sw", FIRST, DATA, 0)]
    await bench.execute(ending(code))
    assert bench.peek(bench.params.dmem.base) == base + 12


@cocotb.test()
async def loads_extend_every_width_at_every_alignment(dut):
    bench = Bench(dut)
    for memory in (bench.params.dmem.base + 0x1000, RAM):
        for number, word in enumerate(WORDS):
            bench.poke(memory + 4 * number, word)
        cases, pieces = [], []
        for name, number in itertools.product(rv.LOADS, range(len(WORDS))):
            size = {"b": 1, "h": 2, "w": 4}[name[1]]
            for place in range(0, 4, size):
                cases.append((name, 4 * number + place))
                pieces.append([*rv.li(FIRST, memory), rv.load(name, RESULT, FIRST, cases[-1][1])])
        for (name, offset), result in zip(cases, await results(bench, pieces), strict=True):
            expected = loaded(name, WORDS[offset // 4], memory + offset)
            assert result == expected, f"{name} at {memory + offset:#x}: {result:#x}"


@cocotb.test()
async def stores_change_only_their_bytes(dut):
    bench = Bench(dut)
    old, value = 0x1122_3344, 0xA1B2_C3D4
    cases = [
        (name, place)
        for name in rv.STORES
        for place in range(0, 4, {"b": 1, "h": 2, "w": 4}[name[1]])
    ]
    for memory in (bench.params.dmem.base, RAM):
        bench.load(memory, [old] * len(cases))
        code = [*rv.li(DATA, memory + 2048), *rv.li(FIRST, value)]
        for number, (name, place) in enumerate(cases):
            code.append(rv.store(name, FIRST, DATA, 4 * number + place - 2048))
        await bench.execute(ending(code))
        for number, (name, place) in enumerate(cases):
            expected = stored(name, old, place, value)
            word = bench.peek(memory + 4 * number)
            assert word == expected, f"{name} at {memory:#x} + {place}: {word:#x}"


@cocotb.test()
async def a_load_sees_the_store_right_before_it(dut):
    bench = Bench(dut)
    for memory in (bench.params.dmem.base + 0x1000, RAM):
        pieces = [
            [
                *rv.li(FIRST, memory),
                *rv.li(SECOND, 0xC0DE_0000 + gap),
                rv.store("sw", SECOND, FIRST, 0),
                *[rv.NOP] * gap,
                rv.load("lw", RESULT, FIRST, 0),
            ]
            for gap in range(4)
        ]
        assert await results(bench, pieces) == [0xC0DE_0000 + gap for gap in range(4)]


@cocotb.test()
async def fence_i_shows_what_was_stored_to_code_on_the_bus(dut):
    bench = Bench(dut)
    program = RAM + 0x100
    new = rv.addi(RESULT, 0, 77)
    code = [
        *rv.li(FIRST, new),
        *rv.li(DATA, bench.params.dmem.base),
        rv.auipc(SECOND, 0),
        rv.store("sw", FIRST, SECOND, 12),
        rv.FENCE_I,
        rv.addi(RESULT, 0, 1),
        rv.store("sw", RESULT, DATA, 0),
    ]
    bench.load(program, ending(code))
    await bench.execute([*rv.li(1, program), rv.jalr(0, 1, 0)])
    assert bench.peek(bench.params.dmem.base) == 77
