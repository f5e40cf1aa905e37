"""Every CSR: whether it exists, its reset value, what can be written, and how."""

from __future__ import annotations

import cocotb
import encoding as rv
from bench import Bench
from programs import CSR, PROGRAM, finish, read, run_in, write

from tierv.rtl import __version__
from tierv.rtl.params import CoreParams

A, B, C = 6, 7, 8
LOG = 10
ALL = 0xFFFF_FFFF
ILLEGAL = 2
#: Patterns that the tests write.
PATTERN = 0xA5C3_96F0


def writable(params: CoreParams) -> dict[str, tuple[int, int]]:
    """Reset value and writable bits of the CSRs that keep what is written."""
    lines = (1 << params.lines) - 1
    table = {
        "mstatus": (0x1800, 0x88),
        "mie": (0, 0x888),
        "mtvec": (0, ALL & ~3),
        "mscratch": (0, ALL),
        "mepc": (0, ALL & ~3),
        "mcause": (0, 0x8000_001F),
        "mtval": (0, ALL),
        "mpost": (0, (1 << params.tiers) - 1),
        "mceiling": (0, (1 << max(1, (params.tiers - 1).bit_length())) - 1),
        "mbusmode": (0, 3 if params.tiers > 1 else 1),
        "mlinemask": (0, lines),
        "mlineedge": (0, lines),
    }
    for group in range((params.lines + 7) // 8):
        count = min(8, params.lines - 8 * group)
        table[f"mlineprio{group}"] = (0, (1 << 4 * count) - 1)
    return table


def constant(params: CoreParams) -> dict[str, int]:
    """CSRs that may be written and always read the same."""
    table = {"misa": 0x4000_1100, "mstatush": 0, "mip": 0, "mlineack": 0}
    for number in range(3, 32):
        event = number - 2 if params.counters and number < 6 else 0
        table[f"mhpmevent{number}"] = event
        if not event:
            table |= {f"mhpmcounter{number}": 0, f"mhpmcounter{number}h": 0}
    if params.counters:
        table["mtierlatency"] = 0
    return table


def read_only(params: CoreParams) -> dict[str, int | None]:
    """CSRs that must not be written, and what they read while nothing happens."""
    major, minor, patch = (int(part) for part in __version__.split("."))
    table: dict[str, int | None] = {
        "mvendorid": 0,
        "marchid": 0,
        "mimpid": major << 16 | minor << 8 | patch,
        "mhartid": 0,
        "mconfigptr": 0,
        "mlinepend": 0,
        "mlineclaim": 0,
        "mlineraw": 0,
    }
    for name in ("cycle", "time", "instret"):
        table |= {name: None, f"{name}h": 0}
    if params.line_stamps:
        table |= {f"mlinestamp{line}": None for line in range(params.lines)}
    return table


def others(params: CoreParams) -> set[str]:
    """CSRs with tests of their own."""
    names = {"mcycle", "mcycleh", "minstret", "minstreth", "mtierrun"}
    for tier in range(params.tiers):
        names |= {f"mtierpc{tier}", f"mtierarg{tier}"}
    if params.counters:
        names |= {f"mhpmcounter{n}{half}" for n in (3, 4, 5) for half in ("", "h")}
    return names


def logging_handler(bench: Bench) -> list[int]:
    """A trap handler that stores mcause and mepc at LOG and goes on; what installs it."""
    address = bench.params.reset_address + bench.params.imem.size_bytes - 0x100
    bench.load(
        address,
        [
            rv.csr("csrrs", 30, CSR["mcause"], 0),
            rv.store("sw", 30, LOG, 0),
            rv.csr("csrrs", 30, CSR["mepc"], 0),
            rv.store("sw", 30, LOG, 4),
            rv.addi(LOG, LOG, 8),
            rv.addi(30, 30, 4),
            rv.csr("csrrw", 0, CSR["mepc"], 30),
            rv.MRET,
        ],
    )
    return write("mtvec", address)


class Logger:
    """Builds a program that stores registers one after another in local memory."""

    def __init__(self, bench: Bench, code: list[int] = ()) -> None:
        self.bench = bench
        self.code = [*code, *rv.li(LOG, bench.params.dmem.base)]
        self.count = 0

    def emit(self, *words: int) -> None:
        self.code += words

    def log(self, register: int) -> None:
        """Store a register; the trap handler stores in between."""
        self.emit(rv.store("sw", register, LOG, 0), rv.addi(LOG, LOG, 4))
        self.count += 1

    @property
    def pc(self) -> int:
        """Address of the next word."""
        return self.bench.params.reset_address + PROGRAM + 4 * len(self.code)

    async def run(self, cycles: int = 20_000, tier: int = 0) -> list[int]:
        await run_in(self.bench, tier, self.code, cycles)
        base = self.bench.params.dmem.base
        return [self.bench.peek(base + 4 * n) for n in range(self.count)]


@cocotb.test()
async def the_tables_of_these_tests_name_every_csr(dut):
    params = Bench(dut).params
    tested = {*writable(params), *constant(params), *read_only(params), *others(params)}
    missing = {
        *(f"mtierpc{n}" for n in range(params.tiers, 8)),
        *(f"mtierarg{n}" for n in range(params.tiers, 8)),
        *(f"mlineprio{n}" for n in range((params.lines + 7) // 8, 4)),
        *(f"mlinestamp{n}" for n in range(params.lines if params.line_stamps else 0, 32)),
        *([] if params.counters else ["mtierlatency"]),
    }
    assert tested | missing == set(CSR)
    assert not tested & missing


@cocotb.test()
async def only_the_csrs_of_the_table_exist(dut):
    bench = Bench(dut)
    params = bench.params
    tables = (writable(params), constant(params), read_only(params), others(params))
    known = {CSR[name] for names in tables for name in names}
    setup = [*logging_handler(bench), *rv.li(LOG, params.dmem.base)]
    setup += [rv.NOP] * (16 - len(setup))
    code = [rv.csr("csrrs", A, address, 0) for address in range(4096)]
    # Twice as many traps as there is room for in the log: 2 KiB after 2 KiB.
    for half in range(2):
        some = code[2048 * half : 2048 * (half + 1)]
        bench.dmem = [0] * len(bench.dmem)
        await bench.execute([*setup, *some, *finish()], cycles=200_000)
        begin = params.reset_address + 4 * len(setup)
        base = params.dmem.base
        words = [bench.peek(base + 4 * n) for n in range(2 * len(some))]
        trapped = {(pc - begin) // 4 + 2048 * half
                   for cause, pc in zip(words[::2], words[1::2], strict=True)
                   if cause == ILLEGAL}  # fmt: skip
        expected = set(range(2048 * half, 2048 * (half + 1))) - known
        assert trapped == expected, [hex(address) for address in trapped ^ expected]


async def check_writable_bits(bench: Bench, tier: int) -> None:
    log = Logger(bench)
    expected = []
    for name, (reset, mask) in writable(bench.params).items():
        value = reset
        if name in ("mtvec", "mepc", "mscratch", "mcause", "mtval"):
            # Not reset.
            log.emit(rv.csr("csrrw", 0, CSR[name], 0))
        for operation, source in (
            ("csrrs", 0), ("csrrw", ALL), ("csrrc", PATTERN), ("csrrs", PATTERN >> 1),
            ("csrrw", PATTERN), ("csrrsi", 31), ("csrrci", 10), ("csrrwi", 21), ("csrrci", 0),
            ("csrrw", 0), ("csrrs", 0), ("csrrs", PATTERN), ("csrrs", ~PATTERN & ALL),
            ("csrrs", PATTERN), ("csrrc", ~PATTERN & ALL), ("csrrc", PATTERN),
            ("csrrs", ~PATTERN & ALL), ("csrrc", PATTERN), ("csrrw", 0),
        ):  # fmt: skip
            if operation.endswith("i"):
                field = source
            elif source == 0 and operation != "csrrw":
                field = 0
            else:
                log.emit(*rv.li(B, source))
                field = B
            log.emit(rv.csr(operation, C, CSR[name], field))
            log.log(C)
            expected.append((name, operation, value))
            wanted = {"w": source, "s": value | source, "c": value & ~source}[operation[4]]
            value = value & ~mask | wanted & mask
            if name == "mstatus":
                # Interrupts stay possible, but none is enabled in mie.
                value |= 0x1800
        log.emit(read(name, C))
        log.log(C)
        expected.append((name, "csrrs", value))
    found = await log.run(tier=tier)
    for (name, operation, value), word in zip(expected, found, strict=True):
        where = f"{operation} {name} in tier {tier}"
        assert word == value, f"{where} reads {word:#x}, not {value:#x}"


@cocotb.test()
async def csrs_keep_their_writable_bits_in_every_form_of_access_and_tier(dut):
    bench = Bench(dut)
    for tier in range(bench.params.tiers):
        await check_writable_bits(bench, tier)


@cocotb.test()
async def writes_to_constant_csrs_are_ignored(dut):
    bench = Bench(dut)
    log = Logger(bench, rv.li(B, ALL))
    table = constant(bench.params)
    for name in table:
        log.emit(rv.csr("csrrs", C, CSR[name], 0))
        log.log(C)
        log.emit(rv.csr("csrrw", 0, CSR[name], B), rv.csr("csrrsi", C, CSR[name], 31))
        log.log(C)
    values = iter(await log.run(60_000))
    for name, value in table.items():
        assert (next(values), next(values)) == (value, value), name


@cocotb.test()
async def read_only_csrs_can_be_read_and_trap_when_written(dut):
    bench = Bench(dut)
    table = read_only(bench.params)
    log = Logger(bench, [*logging_handler(bench), *rv.li(B, 1)])
    expected: list[tuple[str, int | None]] = []
    for name, value in table.items():
        for operation in ("csrrs", "csrrc", "csrrsi", "csrrci"):
            log.emit(rv.csr(operation, C, CSR[name], 0))
            log.log(C)
            expected.append((name, value))
        for operation, source in (("csrrw", 0), ("csrrwi", 0), ("csrrs", B), ("csrrci", 1)):
            expected += [(name, ILLEGAL), (name, log.pc)]
            log.count += 2
            log.emit(rv.csr(operation, C, CSR[name], source))
    for (name, value), word in zip(expected, await log.run(60_000), strict=True):
        assert value is None or word == value, f"{name}: {word:#x} instead of {value:#x}"


@cocotb.test()
async def a_trapping_csr_instruction_does_not_write_its_register(dut):
    bench = Bench(dut)
    log = Logger(bench, logging_handler(bench))
    log.emit(rv.addi(C, 0, 99), rv.csr("csrrw", C, CSR["mhartid"], B), rv.addi(C, C, 1))
    log.count += 2
    log.log(C)
    assert (await log.run())[-1] == 100


@cocotb.test()
async def counters_carry_into_their_high_word(dut):
    bench = Bench(dut)
    log = Logger(bench)
    for name in ("mcycle", "minstret"):
        for high in (0, 7, ALL):
            log.emit(*write(f"{name}h", high, B), *write(name, ALL - 20, B))
            log.emit(rv.csr("csrrs", C, CSR[f"{name}h"], 0))
            log.log(C)
            log.emit(*[rv.NOP] * 30, rv.csr("csrrs", C, CSR[f"{name}h"], 0))
            log.log(C)
            log.emit(rv.csr("csrrs", C, CSR[name], 0))
            log.log(C)
            log.emit(rv.csr("csrrs", C, CSR[name.removeprefix("m") + "h"], 0))
            log.log(C)
    values = await log.run()
    for number, high in enumerate((0, 7, ALL) * 2):
        before, after, low, shown = values[4 * number : 4 * number + 4]
        carried = (high + 1) & ALL
        assert (before, after, shown) == (high, carried, carried)
        assert low < 60


@cocotb.test()
async def mcycle_counts_every_cycle_and_a_write_replaces_the_next_cycles_count(dut):
    bench = Bench(dut)
    log = Logger(bench)
    log.emit(*[rv.NOP] * 4)
    write_pc = log.pc + 8
    log.emit(*rv.li(B, 1000), rv.csr("csrrw", 0, CSR["mcycle"], B), rv.r_type("div", A, B, B))
    reads = []
    for name in ("mcycle", "cycle", "time"):
        log.emit(rv.NOP, rv.NOP)
        reads.append(log.pc)
        log.emit(rv.csr("csrrs", C, CSR[name], 0))
        log.log(C)
    values = await log.run()
    retired = {r.pc: r.cycle for r in bench.seen.retirements}
    written = retired[write_pc]
    assert values == [1000 + retired[pc] - written - 2 for pc in reads]


@cocotb.test()
async def minstret_counts_what_retires_in_its_tier_only(dut):
    bench = Bench(dut)
    log = Logger(bench, logging_handler(bench))
    log.emit(*rv.li(B, 500), rv.csr("csrrw", 0, CSR["minstret"], B))
    log.emit(rv.csr("csrrs", C, CSR["minstret"], 0))
    log.log(C)
    # 2 stores and a mret are among the handler's 8; the ecall does not retire.
    log.emit(rv.ECALL, rv.r_type("div", A, B, B), rv.csr("csrrs", C, CSR["instret"], 0))
    log.count += 2
    log.log(C)
    values = await log.run()
    # Behind the first read: itself, 2 to log, the handler's 8, the division.
    assert (values[0], values[-1]) == (500, 500 + 3 + 8 + 1)
