"""How many cycles loads and stores on the bus take: the figures of the manual, exactly."""

from __future__ import annotations

import itertools
import re

import cocotb
import encoding as rv
from bench import RAM, Bench
from programs import CSR, finish, place, start
from timing import DEVICE, LOCAL, A, B, Timing

from tierv.rtl.document import MANUAL

#: From the issue of a buffered load without wait states to that of its first use right behind it.
BUFFERED_USE_CYCLES = 7


def manual_rows() -> tuple[list[int], dict[tuple[str, str], list[float]]]:
    """The manual's table of rows of accesses: wait states, and cycles by what and mode."""
    lines = iter(MANUAL.read_text().splitlines())
    head = next(line for line in lines if line.startswith("| in a row |"))
    next(lines)
    rows = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in itertools.takewhile(lambda line: line.startswith("|"), lines)
    )
    cycles = {(what, mode): [float(cell) for cell in cells] for what, mode, *cells in rows}
    return [int(word) for word in re.findall(r"\d+", head)], cycles


def precise_access_cycles(last: int, wait_states: int) -> int:
    """What a precise access costs behind one of so many wait states, as the manual says it."""
    behind_its_end = wait_states + 7
    expected = min(max(last, 2), 15)
    if wait_states <= expected:
        return min(behind_its_end, expected + 4)
    return max(behind_its_end, expected + 9)


@cocotb.test()
async def bus_accesses_take_their_wait_states(dut):
    timing = Timing(dut)
    for name, instruction in (("load", rv.load("lw", A, DEVICE, 0)),
                              ("store", rv.store("sw", A, DEVICE, 0))):  # fmt: skip
        for wait_states in range(6):
            timing.bench.bus.wait_states = lambda address, n=wait_states: n
            issues = await timing.issues([rv.NOP, rv.NOP, instruction, rv.NOP, rv.NOP])
            cycles = issues[3][0] - issues[1][0] - 1
            # As if the one before it, which is none, had been short.
            assert cycles == precise_access_cycles(0, wait_states), f"{name}, {wait_states}"


@cocotb.test()
async def a_bus_access_is_expected_to_take_what_the_last_one_took(dut):
    timing = Timing(dut)
    code = [rv.load("lw", A, DEVICE, 0), rv.NOP, rv.NOP, rv.load("lw", B, DEVICE, 4), rv.NOP]
    some = (0, 2, 3, 4, 5, 8, 14, 15, 16, 20)
    for last, this in itertools.product(some, repeat=2):
        timing.bench.bus.wait_states = lambda address, n=(last, this): n[address == RAM + 4]
        issues = await timing.issues(code)
        cycles = issues[4][0] - issues[2][0] - 1
        expected = precise_access_cycles(last, this)
        assert cycles == expected, f"{this} wait states behind {last}: {cycles}, not {expected}"


@cocotb.test()
async def what_a_bus_access_is_expected_to_take_does_not_depend_on_other_tiers(dut):
    bench = Bench(dut)
    access = [*rv.li(DEVICE, RAM), rv.load("lw", A, DEVICE, 4)]
    ahead = [*rv.li(DEVICE, RAM), rv.NOP]
    row = [rv.store("sw", A, DEVICE, 0)] * 8
    waiting = [rv.WFI, rv.jal(0, -4)]
    for tier, other in itertools.permutations(range(bench.params.tiers), 2):
        # Tier 0 lets the other one make its access, and then that tier its row.
        bench.load(place(bench, other), [*access, *waiting])
        code = start({other: place(bench, other)}) if other else list(access)
        code += [rv.NOP] * 80
        base = place(bench, tier)
        if tier:
            code += [*start({tier: base}), *waiting]
        else:
            base += 4 * len(code)
        bench.load(place(bench, 0), code)
        bench.load(base, [*ahead, *row, rv.NOP, *finish()])
        for wait_states in (0, 12):
            bench.bus.wait_states = lambda address, n=wait_states: n if address == RAM + 4 else 0
            await bench.reset()
            await bench.run()
            first = base + 4 * len(ahead)
            starts = [bench.seen.at(first + 4 * n, tier)[0] for n in range(len(row))]
            gaps = {after - before for before, after in itertools.pairwise(starts)}
            what = f"tier {tier}, {wait_states} wait states in tier {other} before"
            assert gaps == {precise_access_cycles(0, 0)}, what


@cocotb.test()
async def rows_of_bus_accesses_take_what_the_manual_says(dut):
    timing = Timing(dut)
    head, told = manual_rows()
    registers = range(12, 24)
    load = {n: rv.load("lw", n, DEVICE, 4 * n) for n in registers}
    bodies = {
        "loads": lambda n: [load[n]],
        "stores": lambda n: [rv.store("sw", n, DEVICE, 4 * n)],
        "loads, each used at once": lambda n: [load[n], rv.addi(A, n, 1)],
        "copies from the bus": lambda n: [load[n], rv.store("sw", n, LOCAL, 4 * n)],
        "copies to the bus": lambda n: [
            rv.load("lw", n, LOCAL, 4 * n),
            rv.store("sw", n, DEVICE, 4 * n),
        ],
        "copies on the bus": lambda n: [load[n], rv.store("sw", n, DEVICE, 0x80)],
    }
    found = {}
    for mode, name in enumerate(("precise", "buffered")):
        prologue = [rv.csr("csrrwi", 0, CSR["mbusmode"], mode)]
        for what, body in bodies.items():
            code = [word for n in registers for word in body(n)]
            found[what, name] = []
            for wait_states in head:
                timing.bench.bus.wait_states = lambda address, n=wait_states: n
                issues = await timing.issues([*code, rv.FENCE, rv.NOP], prologue)
                starts = [cycles[0] for cycles in issues[: len(code) : len(code) // 12]]
                # Without the first ones, which nothing precedes.
                found[what, name].append((starts[11] - starts[3]) / 8)
    assert found == told, "\n".join(str(row) for row in found.items() if told[row[0]] != row[1])


@cocotb.test()
async def a_buffered_store_costs_one_cycle(dut):
    timing = Timing(dut)
    code = [rv.NOP, rv.store("sw", A, DEVICE, 0), rv.NOP, rv.NOP, rv.NOP]
    assert set(await timing.gaps(code, [rv.csr("csrrwi", 0, CSR["mbusmode"], 1)])) == {1}


@cocotb.test()
async def a_buffered_load_costs_one_cycle_until_its_result_is_used(dut):
    timing = Timing(dut)
    code = [rv.NOP, rv.load("lw", A, DEVICE, 0), *[rv.NOP] * 8, rv.addi(B, A, 1)]
    mode = [rv.csr("csrrwi", 0, CSR["mbusmode"], 1)]
    assert set(await timing.gaps(code, mode)) == {1}
    code = [rv.NOP, rv.load("lw", A, DEVICE, 0), rv.addi(B, A, 1), rv.NOP]
    gaps = await timing.gaps(code, mode)
    dut._log.info("buffered load-use: %s", gaps)
    assert gaps[1] == BUFFERED_USE_CYCLES
