"""The pieces of random programs: straight-line code, branches, CSRs, traps, tiers."""

from __future__ import annotations

import random
from dataclasses import dataclass

import encoding as rv

from tierv.rtl.isa import LINES_PER_PRIORITY_CSR, csr_addresses
from tierv.rtl.params import CoreParams

CSR = csr_addresses()
#: RAM on the bus: each tier has its own part, so that the order of tiers does not matter there.
BUS_BASE = 0x4000_0000
BUS_BYTES = 0x1_0000
#: Nothing answers from one address to the other, neither here nor in Spike.
UNMAPPED = ((0x5000_0000, 0x9000_0000), (0xA000_0000, 0xF000_0000))
#: Where a tier puts code on the bus, from its BUS register on; no other store goes there.
BUS_CODE = 0x300
SHARED_BYTES = 256
#: Values of funct3 that the opcodes of loads, stores, branches, jalr and CSRs leave unused.
UNUSED_FUNCT3 = {
    0x03: (3, 6, 7),
    0x23: (3, 4, 5, 6, 7),
    0x63: (2, 3),
    0x67: (1, 2, 3, 4, 5, 6, 7),
    0x73: (4,),
}

# Registers with a fixed use; the others are random.
RETURN, LOCAL, BUS, SHARED, TARGET, COUNTER, FRAME = 1, 2, 3, 4, 5, 30, 31
FREE = [*range(6, 30)]
INTERESTING = (0, 1, 2, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFFE, 0x1234_5678)
MSTATUS_MIE = 8


@dataclass(frozen=True, kw_only=True)
class Mix:
    """What the programs contain."""

    #: Random pieces per tier.
    pieces: int = 200
    #: Exceptions, and traps within the trap handler.
    traps: bool = True
    csrs: bool = True
    #: Loads, stores and instructions on the bus.
    bus: bool = True
    #: Lines and posts, wfi.
    interrupts: bool = True
    #: Tiers that stop each other and hold each other back.
    tiers: bool = True
    #: Multiply and divide.
    muldiv: bool = True
    #: Branches, jumps and calls.
    jumps: bool = True

    @classmethod
    def kinds(cls) -> list[str]:
        """The fields that switch something on or off."""
        return [name for name, value in vars(cls()).items() if isinstance(value, bool)]


class Pieces:
    """Emits pieces of one tier's program into ``words``.

    ``stoppable``: tiers that this one may stop and start again. Who may stop whom has no cycle, so
    that no tier stays stopped.
    """

    def __init__(
        self,
        rng: random.Random,
        params: CoreParams,
        tier: int,
        mix: Mix,
        stoppable: tuple[int, ...] = (),
    ) -> None:
        self._rng = rng
        self._params = params
        self._tier = tier
        self._mix = mix
        self._stoppable = stoppable
        self._buffered = False
        self._bits = [name for name in params.extensions for name in rv.BITS[name]]
        self._missing = [name for names in rv.BITS.values() for name in names]
        self._missing = [name for name in self._missing if name not in self._bits]
        self.words: list[int] = []
        self._functions: list[int] = []

    # Helpers.

    def _emit(self, *words: int) -> None:
        self.words.extend(words)

    def _li(self, register: int, value: int) -> None:
        self._emit(*rv.li(register, value & 0xFFFF_FFFF))

    def _any(self) -> int:
        """A register to read."""
        return self._rng.choice((0, RETURN, LOCAL, BUS, SHARED, TARGET, COUNTER, *FREE, *FREE))

    def _destination(self) -> int:
        return self._rng.choice((0, *FREE, *FREE))

    def _lines(self) -> int:
        return self._rng.getrandbits(self._params.lines)

    def _illegal(self) -> int:
        """A word that is no instruction, most often nearly one."""
        rng = self._rng
        rest = rng.choice((0, 0xFFFF_FFFF, 0x0000_0057, 0x3020_0173, 0x0200_1013))
        opcode, functions = rng.choice([*UNUSED_FUNCT3.items()])
        # Of a store, an address and a value that would do damage.
        word = rv.i_type("addi", rng.choice(FREE), LOCAL, 4 * rng.randrange(32)) & ~0x707F
        choices = [rest, word | rng.choice(functions) << 12 | opcode]
        if self._missing:
            choices.append(self._bits_word(rng.choice(self._missing)))
        return rng.choice(choices)

    def _unmapped(self) -> int:
        """The address of a word that is nowhere."""
        first, last = self._rng.choice(UNMAPPED)
        return self._rng.randrange(first, last, 4)

    def _emit_some(self, most: int) -> int:
        before = len(self.words)
        for _ in range(self._rng.randrange(most)):
            self._rng.choice((self._emit_compute, self._emit_memory))()
        return len(self.words) - before

    # Pieces.

    def _emit_piece(self) -> None:
        mix = self._mix
        choices = [(30, self._emit_compute), (20, self._emit_memory), (1, self._emit_fence)]
        if mix.jumps:
            choices += [
                (8, self._emit_branch),
                (4, self._emit_loop),
                (4, self._emit_call),
                (3, self._emit_indirect),
            ]
        if mix.csrs:
            choices += [(8, self._emit_csr), (1, self._emit_scratch), (1, self._emit_count)]
        if mix.traps:
            choices += [(5, self._emit_exception)]
        if mix.bus:
            choices += [(2, self._emit_bus_mode), (1, self._emit_self_modification)]
            choices += [(1, self._emit_bus_code)]
        if mix.bus and mix.traps:
            choices += [(1, self._emit_late_error)]
        if mix.interrupts:
            choices += [(2, self._emit_wfi), (2, self._emit_post), (2, self._emit_lines)]
        if mix.tiers:
            choices += [(1, self._emit_ceiling), (1, self._emit_ignored_start)]
            if self._stoppable:
                choices += [(1, self._emit_stop)]
        weights = [weight for weight, _ in choices]
        self._rng.choices([emit for _, emit in choices], weights)[0]()

    def _emit_compute(self) -> None:
        rng = self._rng
        kind = rng.randrange(10)
        if self._bits and rng.random() < 0.4:
            self._emit_bits()
        elif kind < 4:
            names = [n for n, (_, funct7) in rv.R_TYPE.items() if self._mix.muldiv or funct7 != 1]
            self._emit(rv.r_type(rng.choice(names), self._destination(), self._any(), self._any()))
        elif kind < 7:
            name = rng.choice([*rv.I_TYPE])
            self._emit(
                rv.i_type(name, self._destination(), self._any(), rng.randrange(-2048, 2048))
            )
        elif kind < 8:
            name = rng.choice([*rv.SHIFTS])
            self._emit(rv.shift(name, self._destination(), self._any(), rng.randrange(32)))
        elif kind < 9:
            self._emit(rng.choice((rv.lui, rv.auipc))(self._destination(), rng.getrandbits(20)))
        else:
            self._li(rng.choice(FREE), rng.choice(INTERESTING))

    def _emit_bits(self) -> None:
        self._emit(self._bits_word(self._rng.choice(self._bits)))

    def _bits_word(self, name: str) -> int:
        rng = self._rng
        rd, rs1 = self._destination(), self._any()
        if name in rv.BITS_UNARY:
            return rv.unary(name, rd, rs1)
        if name in rv.BITS_SHIFTS:
            return rv.shift(name, rd, rs1, rng.randrange(32))
        return rv.r_type(name, rd, rs1, self._any())

    def _emit_memory(self) -> None:
        rng = self._rng
        base = rng.choice((LOCAL, LOCAL, SHARED, BUS if self._mix.bus else LOCAL))
        loads = rng.random() < 0.6
        name = rng.choice([*(rv.LOADS if loads else rv.STORES)])
        size = {"b": 1, "h": 2, "w": 4}[name[1]]
        if base == SHARED:
            offset = rng.randrange(0, SHARED_BYTES, size)
        else:
            offset = rng.randrange(-0x400, 0x300, size)
        if loads:
            self._emit(rv.load(name, self._destination(), base, offset))
        else:
            self._emit(rv.store(name, self._any(), base, offset))

    def _emit_fence(self) -> None:
        self._emit(self._rng.choice((rv.FENCE, rv.FENCE_I)))

    def _emit_branch(self) -> None:
        name = self._rng.choice([*rv.BRANCHES])
        first, second = self._any(), self._any()
        place = len(self.words)
        self._emit(rv.NOP)
        skipped = self._emit_some(5)
        self.words[place] = rv.branch(name, first, second, 4 * (skipped + 1))

    def _emit_loop(self) -> None:
        self._emit(rv.addi(COUNTER, 0, self._rng.randrange(1, 6)))
        body = self._emit_some(6)
        self._emit(rv.addi(COUNTER, COUNTER, -1), rv.branch("bne", COUNTER, 0, -4 * (body + 1)))

    def _emit_call(self) -> None:
        place = len(self.words)
        self._emit(rv.jal(RETURN, 4 * (self._rng.choice(self._functions) - place)))

    def _emit_indirect(self) -> None:
        """A jump through a register, with or without a link, or one that links anywhere."""
        link = self._rng.choice((0, RETURN, FREE[0]))
        skipped = self._rng.randrange(3)
        if self._rng.random() < 0.3:
            self._emit(rv.jal(self._destination(), 4 + 4 * skipped))
        else:
            self._emit(rv.auipc(TARGET, 0), rv.jalr(link, TARGET, 8 + 4 * skipped))
        for _ in range(skipped):
            self._emit(rv.NOP)

    def _emit_csr(self) -> None:
        rng = self._rng
        groups = -(-self._params.lines // LINES_PER_PRIORITY_CSR)
        priorities = [f"mlineprio{group}" for group in range(groups)]
        counters = [f"mhpmcounter{n}{half}" for n in range(3, 7) for half in ("", "h")]
        readable = [
            "mstatus", "mie", "mip", "mtvec", "mepc", "mcause", "mtval", "misa", "mhartid",
            "mcycle", "mcycleh", "minstret", "minstreth", "time", "instret", "instreth",
            "mlinemask", "mlinepend", "mlineclaim", "mlineraw", "mlineedge", "mlineack",
            "mceiling", "mbusmode", "mpost", "mtierrun", "mimpid", "mvendorid", "marchid",
            "mstatush", "mconfigptr", "mhpmevent3", "mhpmevent31", "mtierpc0", "mtierarg0",
            *counters, *priorities,
        ]  # fmt: skip
        if self._params.counters:
            readable.append("mtierlatency")
        if self._params.line_stamps:
            readable += [f"mlinestamp{line}" for line in range(self._params.lines)]
        writable = ["mepc", "mtval", "mstatush", "mcycle", "mcycleh", *priorities, *counters]
        if rng.random() < 0.6:
            name = rng.choice(readable)
            self._emit(rv.csr("csrrs", self._destination(), CSR[name], 0))
        else:
            operation = rng.choice([*rv.CSR_OPS])
            source = rng.randrange(32) if operation.endswith("i") else self._any()
            self._emit(rv.csr(operation, self._destination(), CSR[rng.choice(writable)], source))

    def _emit_scratch(self) -> None:
        """Use mscratch, which belongs to the trap handler, while there can be no trap."""
        rng = self._rng
        self._emit(
            rv.csr("csrrci", TARGET, CSR["mstatus"], MSTATUS_MIE),
            rv.csr("csrrw", COUNTER, CSR["mscratch"], rng.choice(FREE)),
        )
        for _ in range(rng.randrange(3)):
            self._emit_compute()
            operation = rng.choice([*rv.CSR_OPS])
            source = rng.randrange(32) if operation.endswith("i") else rng.choice(FREE)
            self._emit(rv.csr(operation, self._destination(), CSR["mscratch"], source))
        self._emit(
            rv.csr("csrrw", rng.choice(FREE), CSR["mscratch"], COUNTER),
            rv.csr("csrrw", 0, CSR["mstatus"], TARGET),
        )

    def _emit_count(self) -> None:
        """Set the instruction counter, often so that it soon overflows."""
        rng = self._rng
        self._li(TARGET, rng.choice((rng.getrandbits(32), 0xFFFF_FFFC)))
        name = rng.choice(("minstret", "minstret", "minstreth"))
        operation = rng.choice(("csrrw", "csrrw", "csrrs", "csrrc"))
        self._emit(
            rv.csr(operation, self._destination(), CSR[name], TARGET),
            rv.csr("csrrs", rng.choice(FREE), CSR[name], 0),
        )

    def _emit_exception(self) -> None:
        rng = self._rng
        kind = rng.randrange(8)
        scratch = rng.choice(FREE)
        if kind == 0:
            self._emit(rng.choice((rv.ECALL, rv.EBREAK)))
        elif kind == 1:
            self._emit(self._illegal())
        elif kind == 2:
            # A CSR that does not exist, or a write to a read-only one.
            self._emit(
                rng.choice(
                    (
                        rv.csr("csrrs", scratch, 0x5C0, 0),
                        rv.csr("csrrw", scratch, CSR["mhartid"], scratch),
                        rv.csr("csrrsi", 0, CSR["mlinepend"], 1),
                    )
                )
            )
        elif kind == 3:
            name = rng.choice(("lh", "lhu", "lw"))
            self._emit(rv.load(name, scratch, rng.choice((LOCAL, BUS)), 4 * rng.randrange(8) + 1))
        elif kind == 4:
            name = rng.choice(("sh", "sw"))
            self._emit(rv.store(name, scratch, rng.choice((LOCAL, BUS)), 4 * rng.randrange(8) + 3))
        elif kind == 5 and not self._buffered and self._mix.bus:
            self._li(scratch, self._unmapped())
            self._emit(
                rng.choice((rv.load("lw", scratch, scratch, 0), rv.store("sw", 0, scratch, 0)))
            )
        elif kind == 6:
            # Jump to an odd half-word, directly and indirectly.
            self._li(TARGET, self._unmapped())
            self._emit(
                rng.choice(
                    (
                        rv.jal(0, 6),
                        rv.branch("beq", 0, 0, 6),
                        rv.branch("bne", 0, 0, 6),
                        rv.jalr(0, LOCAL, 2),
                        rv.jalr(0, TARGET, 2),
                    )
                )
            )
        elif self._mix.bus:
            self._li(TARGET, self._unmapped())
            self._emit(rv.jalr(RETURN, TARGET, 0))

    def _emit_bus_mode(self) -> None:
        self._buffered = not self._buffered
        mode = int(self._buffered) | self._rng.choice((0, 2))
        self._emit(rv.csr("csrrwi", 0, CSR["mbusmode"], mode))

    def _emit_self_modification(self) -> None:
        """Overwrite the instruction behind a fence.i."""
        register = self._rng.choice(FREE)
        self._li(TARGET, rv.addi(register, register, self._rng.randrange(-2048, 2048)))
        self._emit(rv.auipc(COUNTER, 0), rv.store("sw", TARGET, COUNTER, 12), rv.FENCE_I, rv.NOP)

    def _emit_late_error(self) -> None:
        """Let a buffered access fail while there can be no interrupt; its trap comes later."""
        rng = self._rng
        address, other = rng.sample(FREE, 2)
        self._li(address, self._unmapped())
        self._emit(
            rv.csr("csrrci", TARGET, CSR["mstatus"], MSTATUS_MIE),
            rv.csr("csrrwi", 0, CSR["mbusmode"], 1 | rng.choice((0, 2))),
            rng.choice(
                (
                    rv.load(rng.choice([*rv.LOADS]), other, address, 0),
                    rv.store(rng.choice([*rv.STORES]), other, address, 0),
                )
            ),
        )
        for _ in range(rng.randrange(5)):
            self._emit_compute()
        self._emit(
            rv.FENCE,
            rv.csr("csrrwi", 0, CSR["mbusmode"], int(self._buffered)),
            rv.csr("csrrw", 0, CSR["mstatus"], TARGET),
        )

    def _emit_bus_code(self) -> None:
        """Write a function to memory on the bus and call it."""
        before = len(self.words)
        for _ in range(self._rng.randrange(4)):
            self._emit_compute()
        function = [*self.words[before:], rv.jalr(0, RETURN, 0)]
        del self.words[before:]
        for index, word in enumerate(function):
            self._li(TARGET, word)
            self._emit(rv.store("sw", TARGET, BUS, BUS_CODE + 4 * index))
        self._emit(rv.FENCE_I, rv.addi(TARGET, BUS, BUS_CODE), rv.jalr(RETURN, TARGET, 0))

    def _emit_wfi(self) -> None:
        """Wait for a line or a post that surely comes."""
        rng = self._rng
        own_post = 1 << self._tier
        enabled = rng.random() < 0.5
        operation = "csrrsi" if enabled else "csrrci"
        self._emit(rv.csr(operation, 0, CSR["mstatus"], MSTATUS_MIE))
        self._li(TARGET, self._lines() | 1 << rng.randrange(self._params.lines))
        self._emit(rv.csr("csrrw", 0, CSR["mlinemask"], TARGET))
        if rng.random() < 0.3:
            self._emit(rv.addi(TARGET, 0, own_post), rv.csr("csrrs", 0, CSR["mpost"], TARGET))
        self._emit(rv.WFI)
        if not enabled:
            self._emit(
                rv.csr("csrrs", TARGET, CSR["mlinepend"], 0),
                rv.csr("csrrw", 0, CSR["mlineack"], TARGET),
                rv.addi(TARGET, 0, own_post),
                rv.csr("csrrc", 0, CSR["mpost"], TARGET),
                rv.csr("csrrsi", 0, CSR["mstatus"], MSTATUS_MIE),
            )

    def _emit_post(self) -> None:
        target = 1 << self._rng.randrange(self._params.tiers)
        self._emit(rv.addi(TARGET, 0, target), rv.csr("csrrs", 0, CSR["mpost"], TARGET))

    def _emit_lines(self) -> None:
        """Take lines from other tiers or leave them, make them edges or levels, acknowledge."""
        name = self._rng.choice(("mlinemask", "mlinemask", "mlineedge", "mlineack"))
        operation = "csrrw" if name == "mlineack" else self._rng.choice(("csrrw", "csrrs", "csrrc"))
        self._li(TARGET, self._lines())
        self._emit(rv.csr(operation, self._destination(), CSR[name], TARGET))

    def _emit_ceiling(self) -> None:
        """A critical section."""
        self._emit(rv.csr("csrrwi", 0, CSR["mceiling"], self._rng.randrange(self._params.tiers)))
        self._emit_some(5)
        self._emit(rv.csr("csrrwi", 0, CSR["mceiling"], 0))

    def _emit_stop(self) -> None:
        """Stop another tier for a while."""
        others = sum(1 << tier for tier in self._stoppable if self._rng.random() < 0.5)
        self._li(TARGET, others)
        self._emit(rv.csr("csrrc", self._destination(), CSR["mtierrun"], TARGET))
        self._emit_some(6)
        self._li(TARGET, others)
        self._emit(rv.csr("csrrs", self._destination(), CSR["mtierrun"], TARGET))

    def _emit_ignored_start(self) -> None:
        """PC and argument of a tier that is started, this one, can't be set."""
        name = self._rng.choice((f"mtierpc{self._tier}", f"mtierarg{self._tier}"))
        self._emit(rv.csr("csrrw", self._destination(), CSR[name], self._any()))
