"""Exceptions and interrupts in every tier: cause, address, value, and nothing done too much."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import cocotb
import encoding as rv
from bench import NOWHERE, RAM, Bench
from programs import CSR, MEI, MIE, MSI, MTI, PROGRAM, finish, read, run_in, write

A, B, C, TARGET, RETURN = 6, 7, 8, 9, 1
LOCAL, LOG, AFTER = 10, 12, 13
INTERRUPT = 1 << 31
MPIE = 1 << 7


@dataclass(frozen=True)
class Trap:
    """Code whose last instruction traps."""

    name: str
    code: list[int]
    cause: int
    #: mtval; None: the address of the instruction.
    value: int | None
    #: mepc, if it is not the address of the last instruction.
    pc: int | None = None


def exceptions(base: int) -> list[Trap]:
    """Every exception; TARGET is loaded before."""

    def at(address: int, *code: int) -> list[int]:
        return [*rv.li(TARGET, address), *code]

    traps = [
        Trap("ecall", [rv.ECALL], 11, 0),
        Trap("ebreak", [rv.EBREAK], 3, None),
        Trap("all zeros", [0], 2, 0),
        Trap("all ones", [0xFFFF_FFFF], 2, 0),
        Trap("compressed", [0x0000_4501], 2, 0),
        Trap("no CSR", [rv.csr("csrrw", A, 0x5C0, A)], 2, 0),
        Trap("read-only CSR", [rv.csr("csrrw", A, CSR["mhartid"], A)], 2, 0),
        Trap("sret", [0x1020_0073], 2, 0),
        Trap("jump to an odd half-word", [rv.jal(A, 6)], 0, -2),
        Trap("taken branch to an odd half-word", [rv.branch("beq", 0, 0, 10)], 0, -3),
        Trap("jalr to an odd half-word", at(RAM, rv.jalr(A, TARGET, 6)), 0, RAM + 6),
        Trap("fetch from nowhere", at(NOWHERE, rv.jalr(RETURN, TARGET, 0)), 1, NOWHERE, NOWHERE),
    ]
    for memory, where in ((base, "local"), (RAM, "bus")):
        for name, offset in (("lh", 1), ("lhu", 3), ("lw", 1), ("lw", 2)):
            traps.append(Trap(f"{name} {where}", at(memory, rv.load(name, A, TARGET, offset)), 4,
                              memory + offset))  # fmt: skip
        for name, offset in (("sh", 1), ("sw", 2), ("sw", 3)):
            traps.append(Trap(f"{name} {where}", at(memory, rv.store(name, A, TARGET, offset)), 6,
                              memory + offset))  # fmt: skip
    for name in rv.LOADS:
        traps.append(Trap(f"{name} nowhere", at(NOWHERE, rv.load(name, A, TARGET, 4)), 5,
                          NOWHERE + 4))  # fmt: skip
    for name in rv.STORES:
        traps.append(Trap(f"{name} nowhere", at(NOWHERE, rv.store(name, A, TARGET, 8)), 7,
                          NOWHERE + 8))  # fmt: skip
    return traps


def logging_handler(bench: Bench) -> list[int]:
    """Loads a handler that logs mcause, mepc, mtval, and goes on behind the instruction."""
    address = bench.params.reset_address + 0x7000
    code = []
    for number, name in enumerate(("mcause", "mepc", "mtval")):
        code += [read(name, 30), rv.store("sw", 30, LOG, 4 * number)]
    code += [
        rv.addi(LOG, LOG, 12),
        read("mcause", 29),
        # A fetch fault: back to where the jump came from.
        rv.addi(29, 29, -1),
        read("mepc", 30),
        rv.addi(30, 30, 4),
        rv.branch("bne", 29, 0, 8),
        rv.addi(30, RETURN, 0),
        rv.csr("csrrw", 0, CSR["mepc"], 30),
        rv.MRET,
    ]
    bench.load(address, code)
    return write("mtvec", address)


@cocotb.test()
async def every_exception_has_its_cause_address_and_value_in_every_tier(dut):
    bench = Bench(dut)
    dmem = bench.params.dmem.base
    for tier in range(bench.params.tiers):
        code = [*logging_handler(bench), *rv.li(LOG, dmem + 0x1000), *rv.li(AFTER, 0)]
        base = bench.params.reset_address + PROGRAM
        expected = []
        for trap in exceptions(dmem):
            code += [*rv.li(A, 0x5A), *trap.code]
            pc = base + 4 * (len(code) - 1)
            value = pc if trap.value is None else trap.value
            if value < 0:
                # Relative to the instruction: -2 for 6 behind it, -3 for 10.
                value = pc + {-2: 6, -3: 10}[value]
            expected.append((trap.name, trap.cause, trap.pc or pc, value))
            # What the instruction would have written is as before.
            code += [rv.r_type("add", AFTER, AFTER, A)]
        await run_in(bench, tier, [*code, rv.store("sw", AFTER, LOG, 0)])
        for number, (name, cause, pc, value) in enumerate(expected):
            log = dmem + 0x1000 + 12 * number
            found = tuple(bench.peek(log + 4 * n) for n in range(3))
            assert found == (cause, pc, value), f"{name}: {[hex(word) for word in found]}"
        total = bench.peek(dmem + 0x1000 + 12 * len(expected))
        assert total == 0x5A * len(expected), "an instruction that trapped wrote its register"
        made = [t.address for t in bench.bus.transfers if RAM <= t.address < RAM + 8]
        assert not made, f"a misaligned access was made at {made[0]:#x}"


@cocotb.test()
async def nothing_behind_a_trap_has_an_effect(dut):
    bench = Bench(dut)
    dmem = bench.params.dmem.base
    bench.poke(dmem, 1)
    bench.poke(RAM, 1)
    before = [0x0101_0101] * 4
    bench.load(dmem + 0x100, before)
    handler = bench.params.reset_address + 0x7000
    bench.load(handler, finish(A))
    for trap in exceptions(dmem + 0x100):
        code = [*write("mtvec", handler), *rv.li(LOCAL, dmem), *rv.li(B, RAM), rv.addi(A, 0, 1),
                *write("mscratch", 1), *trap.code]  # fmt: skip
        code += [
            rv.store("sw", 0, LOCAL, 0), rv.addi(A, 0, 2), rv.csr("csrrwi", 0, CSR["mscratch"], 2),
            rv.store("sw", 0, B, 0), rv.r_type("mul", A, B, B),
        ]  # fmt: skip
        await bench.execute([*code, *finish()])
        assert bench.result == 1, trap.name
        assert (bench.peek(dmem), bench.peek(RAM)) == (1, 1), trap.name
        assert [bench.peek(dmem + 0x100 + 4 * n) for n in range(4)] == before, trap.name


@cocotb.test()
async def a_branch_that_is_not_taken_does_not_care_for_its_target(dut):
    bench = Bench(dut)
    await bench.execute([rv.branch("bne", 0, 0, 6), rv.addi(A, 0, 9), *finish(A)])
    assert bench.result == 9


@cocotb.test()
async def a_precise_bus_error_traps_at_its_own_instruction(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    bench.load(handler, [read("mepc", A), *finish(A)])
    for instruction in (rv.load("lw", C, B, 0), rv.store("sw", C, B, 0)):
        for wait_states in range(4):
            bench.bus.wait_states = lambda address, n=wait_states: n
            code = [*write("mtvec", handler), *rv.li(B, NOWHERE), instruction, *[rv.NOP] * 8]
            await bench.execute([*code, *finish()])
            assert bench.result == bench.params.reset_address + 4 * code.index(instruction)
            assert sum(t.error for t in bench.bus.transfers) == 1


@cocotb.test()
async def a_buffered_bus_error_traps_at_a_later_instruction(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    log = bench.params.dmem.base
    code = [*rv.li(LOG, log), read("mcause", A), rv.store("sw", A, LOG, 0), read("mepc", A)]
    bench.load(handler, [*code, rv.store("sw", A, LOG, 4), rv.addi(TARGET, TARGET, 1), rv.MRET])
    for instruction, cause in ((rv.load("lw", C, B, 0), 5), (rv.store("sw", C, B, 0), 7)):
        for wait_states in range(4):
            bench.bus.wait_states = lambda address, n=wait_states: n
            code = [*write("mtvec", handler), *write("mbusmode", 1), *rv.li(B, NOWHERE),
                    rv.addi(TARGET, 0, 0), rv.addi(A, 0, 0), instruction]  # fmt: skip
            place_of = bench.params.reset_address + 4 * len(code)
            # Every one of these is executed once, the trapped one after the handler.
            code += [rv.addi(A, A, 1)] * 20
            code += [rv.store("sw", TARGET, LOG, 8)]
            # The handler overwrites A: count in another register.
            code = [rv.addi(20, 20, 1) if word == rv.addi(A, A, 1) else word for word in code]
            await bench.execute([rv.addi(20, 0, 0), *code, *finish(20)])
            assert bench.result == 20
            assert bench.peek(log) == cause
            assert bench.peek(log + 8) == 1
            epc = bench.peek(log + 4)
            assert place_of < epc < place_of + 80 + 4, hex(epc)


@cocotb.test()
async def a_buffered_bus_error_is_not_lost_by_an_interrupt_in_any_cycle(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    # An interrupt is disabled as it is taken. The error ends the run, for it may trap at the
    # handler's first instruction, which mepc then names.
    code = [read("mcause", A), rv.branch("bge", A, 0, 12),
            rv.csr("csrrc", 0, CSR["mie"], TARGET), rv.MRET, *finish(A)]  # fmt: skip
    bench.load(handler, code)
    rise = 0

    def pin() -> None:
        bench.timer = int(bench.cycle >= rise)

    bench.each_cycle.append(pin)
    for instruction, cause in ((rv.load("lw", C, B, 0), 5), (rv.store("sw", C, B, 0), 7)):
        code = [*write("mtvec", handler), *write("mbusmode", 1), *rv.li(B, NOWHERE),
                *rv.li(TARGET, MTI), rv.csr("csrrw", 0, CSR["mie"], TARGET),
                rv.csr("csrrsi", 0, CSR["mstatus"], MIE), rv.NOP, instruction]  # fmt: skip
        access = bench.params.reset_address + 4 * (len(code) - 1)
        code += [*[rv.NOP] * 40, *finish()]
        rise = 1_000
        assert await bench.execute(code) == cause
        (issued,) = bench.seen.at(access)
        taken = 0
        for rise in range(issued - 10, issued + 10):
            assert await bench.execute(code) == cause, f"interrupt {rise - issued} behind it"
            taken += len(bench.seen.at(handler + 8))
        assert taken > 5


@cocotb.test()
async def interrupts_are_taken_in_the_order_external_software_timer(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    # Log the cause, disable it, return.
    code = [read("mcause", A), rv.store("sw", A, LOG, 0), rv.addi(LOG, LOG, 4),
            rv.addi(B, 0, 1), rv.r_type("sll", B, B, A), rv.csr("csrrc", 0, CSR["mie"], B),
            rv.MRET]  # fmt: skip
    bench.load(handler, code)
    tiers = bench.params.tiers
    for tier in range(tiers):
        program = [
            *write("mtvec", handler), *rv.li(LOG, bench.params.dmem.base), *write("mlinemask", 4),
            *rv.li(B, 1 << tier), rv.csr("csrrs", 0, CSR["mpost"], B),
            *[rv.NOP] * 20, *write("mie", MSI | MTI | MEI), read("mip", C),
            rv.csr("csrrsi", 0, CSR["mstatus"], MIE), *[rv.NOP] * 30,
            rv.csr("csrrc", 0, CSR["mpost"], B), rv.csr("csrrci", 0, CSR["mstatus"], MIE),
        ]  # fmt: skip

        def pins(tier=tier) -> None:
            bench.lines = 4
            bench.timer = 1 << tier

        bench.each_cycle[:] = [pins]
        await run_in(bench, tier, program)
        log = [bench.peek(bench.params.dmem.base + 4 * n) for n in range(3)]
        assert log == [INTERRUPT | 11, INTERRUPT | 3, INTERRUPT | 7], f"tier {tier}: {log}"


@cocotb.test()
async def an_interrupt_comes_between_two_instructions_wherever_the_line_rises(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    log = bench.params.dmem.base
    bench.load(
        handler,
        [
            read("mepc", 28), rv.store("sw", 28, LOG, 0), rv.addi(LOG, LOG, 4),
            rv.csr("csrrw", 0, CSR["mlineack"], 27), rv.MRET,
        ],
    )  # fmt: skip
    body = [
        rv.addi(A, A, 1), rv.load("lw", B, LOCAL, 0), rv.addi(B, B, 1), rv.store("sw", B, LOCAL, 0),
        rv.r_type("mul", C, B, B), rv.r_type("div", C, C, B), rv.branch("beq", 0, 0, 8), rv.NOP,
        rv.load("lw", C, 26, 0), rv.addi(C, C, 1), rv.store("sw", C, 26, 0),
        rv.csr("csrrs", C, CSR["mscratch"], 0), rv.addi(C, C, 1),
        rv.csr("csrrw", 0, CSR["mscratch"], C), rv.addi(25, 25, -1),
    ]  # fmt: skip
    rounds = 60
    code = [
        *write("mtvec", handler), *rv.li(LOG, log + 0x100), *rv.li(LOCAL, log), *rv.li(26, RAM),
        rv.addi(27, 0, 1), *write("mlineedge", 1), *write("mlinemask", 1), *write("mie", MEI),
        *rv.li(25, rounds), *rv.li(A, 0), *write("mscratch", 0),
        rv.csr("csrrsi", 0, CSR["mstatus"], MIE),
    ]  # fmt: skip
    code += [*body, rv.branch("bne", 25, 0, -4 * len(body))]
    code += [rv.csr("csrrci", 0, CSR["mstatus"], MIE), read("mscratch", C),
             rv.store("sw", C, LOCAL, 4), rv.store("sw", A, LOCAL, 8)]  # fmt: skip

    # Longer than a division and the handler: an interrupted division begins again.
    for period in (83, 89, 97):

        def lines(period: int = period) -> None:
            bench.lines = int(bench.cycle % period == 0)

        bench.each_cycle[:] = [lines]
        bench.load(log, [0] * 64)
        bench.poke(RAM, 0)
        await bench.execute([*code, *finish()], cycles=60_000)
        assert bench.peek(log) == rounds, "local memory"
        assert bench.peek(RAM) == rounds, "bus"
        assert (bench.peek(log + 4), bench.peek(log + 8)) == (rounds, rounds)
        interrupts = len(bench.seen.at(handler))
        assert interrupts > 30
        # mepc is the next instruction of the program in the order of its retirement.
        program = [r.pc for r in bench.seen.of(0)]
        nexts = [program[n + 5] for n, pc in enumerate(program[:-5]) if pc == handler]
        assert [bench.peek(log + 0x100 + 4 * n) for n in range(len(nexts))] == nexts


@cocotb.test()
async def an_enable_lets_a_pending_interrupt_in_ahead_of_the_next_instruction(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    log = bench.params.dmem.base
    rounds = 12
    # What lets the interrupt in, and what the handler clears lest it comes again.
    enables = {"mstatus": (MIE, MPIE), "mie": (MSI, MSI)}
    cases = itertools.product(range(bench.params.tiers), enables, range(3), range(2))
    for tier, name, between, padding in cases:
        enable, cleared = enables[name]
        bench.load(handler, [read("mepc", C), rv.store("sw", C, LOG, 0), rv.addi(LOG, LOG, 4),
                             rv.csr("csrrc", 0, CSR[name], B), rv.MRET])  # fmt: skip
        loop = [rv.csr("csrrsi", 0, CSR[name], enable), *[rv.NOP] * between,
                rv.csr("csrrci", 0, CSR[name], enable), rv.addi(25, 25, -1)]  # fmt: skip
        code = [
            *write("mtvec", handler), *rv.li(LOG, log), *rv.li(25, rounds), *rv.li(B, cleared),
            *rv.li(A, 1 << tier), rv.csr("csrrs", 0, CSR["mpost"], A),
            *write("mie", MSI * (name == "mstatus")), *write("mstatus", MIE * (name == "mie")),
            *[rv.NOP] * padding,
        ]  # fmt: skip
        behind_enable = 4 * len(code) + 4
        code += [*loop, rv.branch("bne", 25, 0, -4 * len(loop)), *write("mstatus", 0)]
        bench.load(log, [0] * (rounds + 1))
        base = await run_in(bench, tier, code)
        taken = [bench.peek(log + 4 * n) for n in range(rounds + 1)]
        where = f"tier {tier}, {name}, {between} instructions between: {taken}"
        assert set(taken[:-1]) == {base + behind_enable}, where
        assert taken[-1] == 0, where


@cocotb.test()
async def mret_restores_the_interrupt_enable(dut):
    bench = Bench(dut)
    handler = bench.params.reset_address + 0x7000
    dmem = bench.params.dmem.base
    bench.load(handler, [read("mstatus", 28), rv.store("sw", 28, LOG, 0), rv.addi(LOG, LOG, 4),
                         read("mepc", 28), rv.addi(28, 28, 4), rv.csr("csrrw", 0, CSR["mepc"], 28),
                         rv.MRET])  # fmt: skip
    code = [*write("mtvec", handler), *rv.li(LOG, dmem)]
    for enabled in (0, MIE):
        code += [*write("mstatus", enabled), rv.ECALL, read("mstatus", A)]
        code += [rv.store("sw", A, LOG, 0), rv.addi(LOG, LOG, 4)]
    await bench.execute([*code, *finish()])
    values = [bench.peek(dmem + 4 * n) for n in range(4)]
    # In the handler MIE is 0 and MPIE what it was; afterwards MPIE is 1.
    assert values == [0x1800, 0x1880, 0x1880, 0x1888]
