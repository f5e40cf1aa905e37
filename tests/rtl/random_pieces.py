"""The pieces of random programs: branches, CSRs, traps, tiers."""

from __future__ import annotations

import encoding as rv
from random_code import (
    BUS,
    BUS_BASE,
    BUS_CODE,
    BUS_MEMORY_BYTES,
    CONSOLE,
    CONSOLE_LOWER,
    CONSOLE_RAISE,
    CONSOLE_TIMER,
    COUNTER,
    CSR,
    FREE,
    LOCAL,
    MSTATUS_MIE,
    RETURN,
    TARGET,
    UNMAPPED_CACHED,
)
from random_tiers import TierPieces

from tierv.rtl.isa import LINES_PER_PRIORITY_CSR, Interrupt


class Pieces(TierPieces):
    """Emits pieces of one tier's program."""

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
            choices += [(1, self._emit_bus_code), (3, self._emit_bus_burst)]
        if mix.bus and mix.traps:
            choices += [(1, self._emit_late_error)]
        if mix.interrupts:
            choices += [(2, self._emit_wfi), (2, self._emit_post), (2, self._emit_lines)]
            choices += [(2, self._emit_pending)]
        if mix.interrupts and mix.bus:
            choices += [(2, self._emit_edges)]
        if mix.tiers:
            choices += [(1, self._emit_ceiling), (1, self._emit_ignored_start)]
            if self._subjects:
                choices += [(5, self._emit_stop)]
            if self._params.tiers > 1:
                choices += [(2, self._emit_start_others)]
            if self._tier:
                choices += [(1, self._emit_self_stop)]
        if mix.moves:
            choices += [(2, self._emit_resume)]
        weights = [weight for weight, _ in choices]
        self._rng.choices([emit for _, emit in choices], weights)[0]()

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
            self._emit_lost_jump()

    def _emit_lost_jump(self) -> None:
        """Go to where nothing is, at once or with the next word."""
        # Of two memories, the last two words are of no effect.
        imem = self._params.imem
        end = self._rng.choice((imem.base + imem.size_bytes, BUS_BASE + BUS_MEMORY_BYTES))
        address = self._rng.choice((self._unmapped(), end - 4, end - 8))
        self._li(TARGET, address)
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
        self._li(address, self._unmapped(UNMAPPED_CACHED))
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

    def _emit_pending(self) -> None:
        """Have a post and, if it comes soon, the timer pend while they are masked; then trap.

        Often the bench is asked to raise the timer.
        """
        rng = self._rng
        both = 1 << Interrupt.MSI | 1 << Interrupt.MTI
        everything = both | 1 << Interrupt.MEI
        self._emit(rv.csr("csrrci", 0, CSR["mstatus"], MSTATUS_MIE))
        self._li(TARGET, rng.choice((both, both, everything, rng.getrandbits(12) & everything)))
        self._emit(rv.csr("csrrw", 0, CSR["mie"], TARGET), rv.addi(TARGET, 0, 1 << self._tier))
        if self._mix.bus and rng.random() < 0.7:
            self._li(COUNTER, CONSOLE)
            self._emit(rv.store("sw", TARGET, COUNTER, CONSOLE_TIMER))
        self._emit(
            rv.csr("csrrs", 0, CSR["mpost"], TARGET),
            rv.addi(COUNTER, 0, rng.randrange(1, 12)),
            rv.csr("csrrs", TARGET, CSR["mip"], 0),
            rv.i_type("andi", TARGET, TARGET, 1 << Interrupt.MTI),
            rv.branch("bne", TARGET, 0, 12),
            rv.addi(COUNTER, COUNTER, -1),
            rv.branch("bne", COUNTER, 0, -16),
            rv.csr("csrrsi", 0, CSR["mstatus"], MSTATUS_MIE),
        )
        self._emit_compute()
        self._li(TARGET, everything)
        self._emit(rv.csr("csrrw", 0, CSR["mie"], TARGET))

    def _emit_edges(self) -> None:
        """Have the bench raise a line at about the time at which it is acknowledged."""
        rng = self._rng
        address, lines, status = rng.sample(FREE, 3)
        self._emit(rv.csr("csrrci", status, CSR["mstatus"], MSTATUS_MIE))
        self._li(address, CONSOLE)
        self._li(lines, 1 << rng.randrange(self._params.lines))
        self._emit(rv.csr("csrrwi", 0, CSR["mbusmode"], 1))
        for _ in range(2):
            self._emit(
                rv.store("sw", lines, address, CONSOLE_RAISE),
                *(rv.NOP for _ in range(rng.randrange(10))),
                rv.csr("csrrw", 0, CSR["mlineack"], lines),
                rv.csr("csrrs", TARGET, CSR["mlineraw"], 0),
                rv.store("sw", lines, address, CONSOLE_LOWER),
            )
        self._emit(
            rv.FENCE,
            rv.csr("csrrwi", 0, CSR["mbusmode"], int(self._buffered)),
            rv.csr("csrrw", 0, CSR["mstatus"], status),
        )

    def _emit_lines(self) -> None:
        """Take lines from other tiers or leave them, make them edges or levels, acknowledge."""
        name = self._rng.choice(("mlinemask", "mlinemask", "mlineedge", "mlineack"))
        operation = "csrrw" if name == "mlineack" else self._rng.choice(("csrrw", "csrrs", "csrrc"))
        self._li(TARGET, self._lines())
        self._emit(rv.csr(operation, self._destination(), CSR[name], TARGET))

    def _emit_bus_burst(self) -> None:
        """Accesses to the bus, one behind the other."""
        rng = self._rng
        for _ in range(rng.randrange(2, 8)):
            offset = 4 * rng.randrange(-0x100, 0xC0)
            if rng.random() < 0.5:
                self._emit(rv.load("lw", self._destination(), BUS, offset))
            else:
                self._emit(rv.store("sw", self._any(), BUS, offset))
