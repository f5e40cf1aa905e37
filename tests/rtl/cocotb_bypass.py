"""Results reach the instructions that follow, and only those of the same tier."""

from __future__ import annotations

import itertools

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import CSR, finish, start, write

#: The register under test, and what it holds before.
A, OLD, NEW = 6, 0x1111_1111, 0x2222_2222
RESULT = 7
LOCAL, DEVICE, LOG, FIRST, SECOND, ONE = 10, 11, 12, 13, 14, 15
DISTANCES = range(1, 6)
#: A byte and a half-word that are negative.
BYTE, HALF = 0x80, 0x8001
#: Where words lie whose parts all differ, negative ones and others, and the words.
PARTS_AT, PARTS = 0x20, (0x8091_A2B3, 0x7213_5465)


def producers() -> dict[str, tuple[list[int], int | None]]:
    """Instructions that write A, and the value; None for one that depends on its address."""
    return {
        "alu": ([rv.r_type("or", A, SECOND, 0)], NEW),
        "shift": ([rv.shift("slli", A, FIRST, 1)], NEW),
        "compare": ([rv.r_type("sltu", A, FIRST, SECOND)], 1),
        "lui": ([rv.lui(A, 0x22222)], 0x2222_2000),
        "auipc": ([rv.auipc(A, 0)], None),
        "link": ([rv.jal(A, 4)], None),
        "load word": ([rv.load("lw", A, LOCAL, 0)], NEW),
        "load half": ([rv.load("lh", A, LOCAL, 4)], 0xFFFF_0000 | HALF),
        "load byte": ([rv.load("lbu", A, LOCAL, 8)], BYTE),
        "multiply": ([rv.r_type("mul", A, SECOND, ONE)], NEW),
        "multiply high": ([rv.r_type("mulhu", A, SECOND, FIRST)], NEW * 0x1111_1111 >> 32),
        "divide": ([rv.r_type("divu", A, SECOND, ONE)], NEW),
        "csr": ([rv.csr("csrrs", A, CSR["mscratch"], 0)], NEW),
        "bus load": ([rv.load("lw", A, DEVICE, 0)], NEW),
        "bus byte": ([rv.load("lb", A, DEVICE, 8)], 0xFFFF_FF00 | BYTE),
    }


def loads() -> dict[str, tuple[list[int], int]]:
    """The same of every load of every part of a word in local memory."""
    found = {}
    for (name, size, signed), (number, word) in itertools.product(
        (("lb", 1, True), ("lbu", 1, False), ("lh", 2, True), ("lhu", 2, False), ("lw", 4, False)),
        enumerate(PARTS),
    ):
        for place in range(0, 4, size):
            part = word.to_bytes(4, "little")[place : place + size]
            value = int.from_bytes(part, "little", signed=signed) & 0xFFFF_FFFF
            instruction = rv.load(name, A, LOCAL, PARTS_AT + 4 * number + place)
            found[f"{name} of {word:#x} at {place}"] = ([instruction], value)
    return found


def setup(bench: Bench, local: int, buffered: bool) -> list[int]:
    for base in (local, RAM):
        bench.load(base, [NEW, HALF, BYTE])
    bench.load(local + PARTS_AT, PARTS)
    return [
        *write("mscratch", NEW), *rv.li(LOCAL, local), *rv.li(DEVICE, RAM),
        *rv.li(LOG, local + 0x40), *rv.li(FIRST, 0x1111_1111), *rv.li(SECOND, NEW),
        rv.addi(ONE, 0, 1), *write("mbusmode", int(buffered)),
    ]  # fmt: skip


def consumers() -> dict[str, tuple[int, object]]:
    """Instructions that put something made of A into RESULT, and what."""
    return {
        "rs1": (rv.addi(RESULT, A, 3), lambda a: a + 3),
        "rs2": (rv.r_type("sub", RESULT, 0, A), lambda a: -a),
        "both": (rv.r_type("add", RESULT, A, A), lambda a: a + a),
        "multiply": (rv.r_type("mul", RESULT, A, A), lambda a: a * a),
        "divide": (rv.r_type("divu", RESULT, A, ONE), lambda a: a),
        "csr": (rv.csr("csrrw", 0, CSR["mtval"], A), lambda a: a),
        "overwriting": (rv.addi(A, A, 1), lambda a: a + 1),
    }


def strangers() -> dict[str, tuple[int, object]]:
    """The same of instructions with an immediate that lies where others name A."""
    return {
        "rs2": (rv.addi(RESULT, SECOND, A), lambda a: NEW + A),
        "rs1": (rv.lui(RESULT, A << 3), lambda a: A << 15),
        "csr": (rv.csr("csrrwi", 0, CSR["mtval"], A), lambda a: A),
    }


def program(
    bench: Bench,
    base: int,
    local: int,
    buffered: bool,
    *,
    over: int | None = None,
    results=producers,
    uses=consumers,
):
    """Code that tries every use of every result and logs it; the values to expect.

    With ``over``, what is right ahead of the use is a jump over so many instructions.
    """
    jump = [] if over is None else [rv.jal(0, 4 * (1 + over)), *[rv.addi(A, 0, 0)] * over]
    jumps = int(over is not None)
    code = setup(bench, local, buffered)
    expected = []
    for name, (instructions, value) in results().items():
        for use, (consumer, function) in uses().items():
            for distance in DISTANCES[jumps:]:
                code += rv.li(A, OLD)
                # So that what was there has reached the register file.
                code += [rv.NOP] * 4
                pc = base + 4 * len(code)
                produced = {"auipc": pc, "link": pc + 4}.get(name, value)
                code += [*instructions, *[rv.NOP] * (distance - 1 - jumps), *jump, consumer]
                if use == "csr":
                    code.append(rv.csr("csrrs", RESULT, CSR["mtval"], 0))
                source = A if use == "overwriting" else RESULT
                code.append(rv.store("sw", source, LOG, 0))
                code.append(rv.addi(LOG, LOG, 4))
                expected.append(
                    (f"{name}, {use}, {distance} behind", function(produced) & 0xFFFF_FFFF)
                )
    return code, expected


def check(bench: Bench, log: int, expected: list[tuple[str, int]]) -> None:
    for number, (name, value) in enumerate(expected):
        word = bench.peek(log + 4 * number)
        assert word == value, f"{name}: {word:#010x} instead of {value:#010x}"


@cocotb.test()
async def every_result_reaches_every_use_at_every_distance(dut):
    bench = Bench(dut)
    local = bench.params.dmem.base
    for buffered in (False, True):
        for wait_states in (0, 2):
            bench.bus.wait_states = lambda address, n=wait_states: n
            code, expected = program(bench, bench.params.reset_address, local, buffered)
            await bench.execute([*code, *finish()], cycles=60_000)
            check(bench, local + 0x40, expected)


@cocotb.test()
async def every_part_of_a_word_is_loaded_at_every_distance(dut):
    bench = Bench(dut)
    local = bench.params.dmem.base
    code, expected = program(
        bench,
        bench.params.reset_address,
        local,
        False,
        results=loads,
        uses=lambda: {name: consumers()[name] for name in ("rs1", "rs2")},
    )
    await bench.execute([*code, *finish()], cycles=60_000)
    check(bench, local + 0x40, expected)


@cocotb.test()
async def an_immediate_is_not_taken_for_a_register_that_has_a_new_result(dut):
    bench = Bench(dut)
    local = bench.params.dmem.base
    for results in (producers, loads):
        code, expected = program(
            bench, bench.params.reset_address, local, False, results=results, uses=strangers
        )
        await bench.execute([*code, *finish()], cycles=60_000)
        check(bench, local + 0x40, expected)


@cocotb.test()
async def every_result_reaches_every_use_behind_a_jump_to_either_word_of_a_pair(dut):
    bench = Bench(dut)
    local = bench.params.dmem.base
    for over in (1, 2):
        code, expected = program(bench, bench.params.reset_address, local, False, over=over)
        await bench.execute([*code, *finish()], cycles=60_000)
        check(bench, local + 0x40, expected)


@cocotb.test()
async def results_of_one_tier_do_not_reach_another_that_uses_the_same_registers(dut):
    bench = Bench(dut)
    top = bench.params.tiers - 1
    base = bench.params.reset_address + 0x7800
    # The handler writes the registers under test in all ways, in every phase of tier 0's program.
    kinds = [instruction for instructions, _ in producers().values()
             for instruction in instructions]  # fmt: skip
    waiting = [*setup(bench, bench.params.dmem.base + 0x6000, False), *write("mlinemask", 1),
               *write("mie", 1 << 11)]  # fmt: skip
    body = [*kinds, rv.addi(RESULT, 0, -1), rv.addi(A, 0, -1)]
    bench.load(base, [*waiting, rv.WFI, *body, rv.jal(0, -4 * (len(body) + 1))])
    local = bench.params.dmem.base
    head = start({top: base})
    code, expected = program(
        bench, bench.params.reset_address + 4 * (len(head)), local, buffered=True
    )
    wfi = base + 4 * len(waiting)
    period = 2

    def lines() -> None:
        # Whenever the handler has waited for a few cycles, one more each time.
        nonlocal period
        waited = bench.seen.retirements and bench.seen.retirements[-1]
        if waited and waited.tier == top and waited.pc == wfi:
            period = bench.cycle + 1 + bench.cycle % 11
        bench.lines = int(bench.cycle >= period + 2 and bench.cycle <= period + 4)

    bench.each_cycle.append(lines)
    await bench.execute([*head, *code, *finish()], cycles=200_000)
    check(bench, local + 0x40, expected)
    runs = bench.seen.at(base + 4 * (len(waiting) + 1))
    assert len(runs) > 100, f"the handler ran only {len(runs)} times"


@cocotb.test()
async def a_store_takes_the_youngest_value_of_its_data_and_of_its_address(dut):
    bench = Bench(dut)
    local = bench.params.dmem.base
    expected = []
    code = setup(bench, local, False)
    for name, (instructions, value) in producers().items():
        if value is None:
            continue
        for distance in DISTANCES:
            code += [*rv.li(A, OLD), *instructions, *[rv.NOP] * (distance - 1)]
            code += [rv.store("sw", A, LOG, 0), rv.addi(LOG, LOG, 4)]
            expected.append((f"{name}, {distance} behind", value & 0xFFFF_FFFF))
    # The address comes from a load.
    bench.poke(local + 12, local + 0x2000)
    for distance in DISTANCES:
        code += [rv.addi(A, 0, 0), rv.load("lw", A, LOCAL, 12), *[rv.NOP] * (distance - 1)]
        code.append(rv.store("sw", SECOND, A, 4 * distance))
    await bench.execute([*code, *finish()], cycles=20_000)
    check(bench, local + 0x40, expected)
    assert [bench.peek(local + 0x2000 + 4 * n) for n in DISTANCES] == [NEW] * 5


@cocotb.test()
async def a_buffered_load_does_not_overwrite_a_younger_result(dut):
    bench = Bench(dut)
    local = bench.params.dmem.base
    writers = {
        rv.addi(A, 0, 5): 5,
        rv.load("lw", A, LOCAL, 8): BYTE,
        rv.lui(A, 5): 5 << 12,
        rv.r_type("mul", A, ONE, ONE): 1,
    }
    ways = [*([rv.NOP] * n for n in range(4)), [rv.jal(0, 4)], [rv.jal(0, 8), rv.NOP]]
    cases = list(itertools.product(writers, ways, range(2)))
    for wait_states in range(5):
        bench.bus.wait_states = lambda address, n=wait_states: n
        code = setup(bench, local, True)
        for writer, way, odd in cases:
            # The writer is the first or the second word of its pair.
            code += [rv.NOP] * ((len(code) + 1 + len(way) + odd) % 2)
            code += [rv.load("lw", A, DEVICE, 0), *way, writer, *[rv.NOP] * 12]
            code += [rv.store("sw", A, LOG, 0), rv.addi(LOG, LOG, 4)]
        await bench.execute([*code, *finish()], cycles=20_000)
        for number, (writer, way, odd) in enumerate(cases):
            value = bench.peek(local + 0x40 + 4 * number)
            assert value == writers[writer], f"{writer:#x}, {way}, odd {odd}: {value:#x}"
