"""Pieces of machine code that the cocotb tests share, and running them in a tier."""

from __future__ import annotations

import encoding as rv
from bench import EXIT, Bench

from tierv.rtl.isa import csr_addresses

CSR = csr_addresses()
MIE = 8
#: Bits of mie and mip.
MSI, MTI, MEI = 1 << 3, 1 << 7, 1 << 11
#: x31 is the exit register's address in `finish`.
EXIT_REGISTER = 31
#: Where the programs of the tiers begin, from the start of local memory.
TIER_BYTES = 0x800
#: Where `run_in` puts a program, from the reset address on.
PROGRAM = 0x1000


def bits(*tiers: int) -> int:
    """The mask that names these tiers."""
    return sum(1 << tier for tier in tiers)


def finish(result: int = 0) -> list[int]:
    """End the run with the register's value as the result."""
    return [*rv.li(EXIT_REGISTER, EXIT), rv.store("sw", result, EXIT_REGISTER, 0), rv.jal(0, 0)]


def write(name: str, value: int, scratch: int = 31) -> list[int]:
    """Write a constant to a CSR."""
    if 0 <= value < 32:
        return [rv.csr("csrrwi", 0, CSR[name], value)]
    return [*rv.li(scratch, value), rv.csr("csrrw", 0, CSR[name], scratch)]


def read(name: str, register: int) -> int:
    """Read a CSR."""
    return rv.csr("csrrs", register, CSR[name], 0)


def start(tiers: dict[int, int], scratch: int = 31) -> list[int]:
    """Start tiers at their addresses."""
    code = []
    for tier, pc in tiers.items():
        code += write(f"mtierpc{tier}", pc, scratch)
    return [*code, *rv.li(scratch, bits(*tiers)), rv.csr("csrrs", 0, CSR["mtierrun"], scratch)]


def waiting_loop(body: list[int], *, lines: int, prologue: list[int] = ()) -> list[int]:
    """A handler: waits with MIE = 0 for lines, runs the body, waits again."""
    code = [*prologue, *write("mlinemask", lines), *write("mie", MEI)]
    return [*code, rv.WFI, *body, rv.jal(0, -4 * (len(body) + 1))]


def place(bench: Bench, tier: int) -> int:
    """Where a tier's program begins."""
    return bench.params.reset_address + tier * TIER_BYTES


def jump_at_line(bench: Bench, tier: int, target: int) -> int:
    """Have a tier wait for line 0 and go on at the target; returns the address of its jump."""
    scratch = 31
    handler = waiting_loop([*rv.li(scratch, target), rv.jalr(0, scratch, 0)], lines=1)
    bench.load(place(bench, tier), handler)
    return place(bench, tier) + 4 * (len(handler) - 2)


async def run_in(
    bench: Bench, tier: int, code: list[int], cycles: int = 20_000, result: int = 0
) -> int:
    """Run code in one tier, started by tier 0 unless it is that; returns its base address.

    The tiers' programs all lie behind tier 0's. ``bench.result`` is the register ``result``.
    """
    base = bench.params.reset_address + PROGRAM
    bench.load(base, [*code, *finish(result)])
    if tier:
        bench.load(place(bench, 0), [*start({tier: base}), rv.WFI, rv.jal(0, -4)])
    else:
        bench.load(place(bench, 0), [rv.jal(0, PROGRAM)])
    await bench.reset()
    await bench.run(cycles)
    return base
