"""A tier that waits for a line over a program that runs below it."""

from __future__ import annotations

from collections.abc import Iterable

import encoding as rv
from bench import RAM, Bench
from programs import CSR, place, read, start, waiting_loop, write

A, B, C = 6, 7, 8
LOCAL, DEVICE = 10, 11


def lower_programs(bench: Bench) -> dict[str, list[int]]:
    """Endless loops for the lower tier, by what they do most."""
    return {
        "alu": [rv.addi(A, A, 1)] * 7,
        "taken branches": [rv.branch("beq", 0, 0, 8), rv.NOP, rv.branch("bne", A, A, 8)],
        "loads": [rv.load("lw", A, LOCAL, 0), rv.addi(A, A, 1), rv.load("lb", A, LOCAL, 4),
                  rv.store("sw", A, LOCAL, 8)],
        "multiply": [rv.r_type("mul", A, A, B), rv.r_type("mulh", A, A, A)],
        "divide": [rv.r_type("div", A, A, B), rv.r_type("remu", C, A, B)],
        "bus loads": [rv.load("lw", A, DEVICE, 0), rv.addi(A, A, 1)],
        "buffered bus loads": [*write("mbusmode", 1), rv.load("lw", A, DEVICE, 0),
                               rv.addi(A, A, 1)],
        "bus stores": [rv.store("sw", A, DEVICE, 0), rv.store("sb", A, DEVICE, 5)],
        "csrs": [read("mcycle", A), rv.csr("csrrw", A, CSR["mscratch"], A),
                 rv.csr("csrrwi", 0, CSR["mlinemask"], 0), rv.csr("csrrsi", 0, CSR["mie"], 0)],
        "fences": [rv.FENCE_I, rv.addi(A, A, 1), rv.FENCE],
        "exceptions": [rv.ECALL, rv.addi(A, A, 1)],
    }  # fmt: skip


def skipping_handler(bench: Bench, instructions: int = 1) -> list[int]:
    """Loads a trap handler that goes on behind so many, the first of which trapped.

    Returns the code that installs it.
    """
    address = bench.params.reset_address + 0x7C00
    code = [
        read("mepc", C),
        rv.addi(C, C, 4 * instructions),
        rv.csr("csrrw", 0, CSR["mepc"], C),
        rv.MRET,
    ]
    bench.load(address, code)
    return write("mtvec", address)


async def begin(
    bench: Bench, lower: list[int], handler: list[int], tier: int, ahead: int = 0
) -> int:
    """Tier 0 loops, `tier` waits for line 0; returns the address of the handler's body.

    So many instructions more are ahead of the handler. Ends as the handler waits.
    """
    registers = [*rv.li(LOCAL, bench.params.dmem.base), *rv.li(DEVICE, RAM)]
    code = [*skipping_handler(bench), *registers, *rv.li(B, 3)]
    code += start({tier: place(bench, tier)})
    code += [*lower, rv.jal(0, -4 * len(lower))]
    bench.load(place(bench, 0), code)
    waiting = waiting_loop(handler, lines=1, prologue=[*registers, *[rv.NOP] * ahead])
    bench.load(place(bench, tier), waiting)
    await bench.reset()
    await bench.step(150)
    return place(bench, tier) + 4 * (len(waiting) - len(handler) - 1)


async def raise_line(bench: Bench, wait: int, tier: int, cycles: int = 60) -> tuple[int, list[int]]:
    """After some cycles, raise line 0 for as long as the handler needs to see it.

    Returns the cycle of the rise and those in which the tier issued from then on.
    """
    await bench.step(wait)
    rise = bench.cycle
    bench.lines = 1
    await bench.step(2)
    bench.lines = 0
    await bench.step(cycles - 2)
    return rise, [cycle for cycle in bench.seen.issued(tier) if cycle >= rise]


async def issue_patterns(
    bench: Bench, waits: Iterable[int], tier: int, cycles: int = 60
) -> set[tuple[int, ...]]:
    """Raise line 0 after each of the waits; the cycles, counted from the rise, in which the tier
    issued."""
    patterns = set()
    for wait in waits:
        rise, issued = await raise_line(bench, wait, tier, cycles)
        patterns.add(tuple(cycle - rise for cycle in issued))
    return patterns
