"""Pieces of machine code that the cocotb tests share."""

from __future__ import annotations

import encoding as rv
from bench import EXIT

from tierv.rtl.isa import csr_addresses

CSR = csr_addresses()
MIE = 8
#: Bits of mie and mip.
MSI, MTI, MEI = 1 << 3, 1 << 7, 1 << 11
#: x31 is the exit register's address in `finish`.
EXIT_REGISTER = 31


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
    mask = sum(1 << tier for tier in tiers)
    return [*code, *rv.li(scratch, mask), rv.csr("csrrs", 0, CSR["mtierrun"], scratch)]


def waiting_loop(body: list[int], *, lines: int, prologue: list[int] = ()) -> list[int]:
    """A handler: waits with MIE = 0 for lines, runs the body, waits again."""
    code = [*prologue, *write("mlinemask", lines), *write("mie", MEI)]
    return [*code, rv.WFI, *body, rv.jal(0, -4 * (len(body) + 1))]
