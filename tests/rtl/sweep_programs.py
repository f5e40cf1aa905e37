"""Short programs, one for each class of instructions, that a line may interrupt at any cycle.

Tier 0 runs the class's instructions between two marks at the console. The most urgent tier waits
for line 0 and tier 1 for line 1, both for posts too; in a core with one tier, a trap handler serves
line 0. Serving a line leaves all as it was but a count, which ends up in the exit code. At the end
every tier writes its registers, tier 0 also its CSRs and its local memory, to memory on the bus.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

import encoding as rv
from programs import CSR, MEI, MIE, MSI, read, start, write

from tierv.rtl.params import CoreParams

CONSOLE = 0xF000_0000
MARK = 20
#: Memory on the bus: what the tiers write at the end, code, data.
RAM = 0x4000_0000
RAM_BYTES = 0x2000
_DUMP_BYTES = 0x400
_RAM_CODE, _RAM_DATA = RAM + 0x1000, RAM + 0x1800
#: In local data memory: the class's words, the counts of lines, the flags of the end.
_DATA_BYTES = 0x100
_COUNTS, _ENDED = 0x200, 0x240
#: The exit code holds the count of line 0 and, this much higher, that of line 1.
SECOND_COUNT = 16
_HANDLER_VALUE = 0x1357_9BDF
#: Code of the tiers that wait for line 0 and line 1, in local instruction memory.
_HANDLERS = (0x1000, 0x1800)
_TRAP = 0x2000

# Registers of tier 0 with a fixed use, and those that the classes use. The trap handler has
# SCRATCH and OTHER to itself.
RETURN, LOCAL, FAR, A, B, C, D, COUNT, TARGET = 1, 8, 9, 10, 11, 12, 13, 14, 15
CHECKSUM, SCRATCH, OTHER = 29, 30, 31


def loop(body: list[int], times: int) -> list[int]:
    """Run the body so many times."""
    return [rv.addi(COUNT, 0, times), *body, rv.addi(COUNT, COUNT, -1),
            rv.branch("bne", COUNT, 0, -4 * (len(body) + 1))]  # fmt: skip


def r(name: str, rd: int, rs1: int, rs2: int) -> int:
    return rv.r_type(name, rd, rs1, rs2)


def jump_register(offset: int, link: int = 0) -> list[int]:
    """Jump through TARGET to ``offset`` words behind the jump."""
    return [rv.auipc(TARGET, 0), rv.jalr(link, TARGET, 4 + 4 * offset)]


def buffered(mode: int, body: list[int]) -> list[int]:
    """The body with another mbusmode."""
    return [*write("mbusmode", mode), *body, rv.FENCE, *write("mbusmode", 0)]


def in_ram(body: list[int]) -> list[int]:
    """Call code in memory on the bus, which `segments` puts there."""
    return [*rv.li(TARGET, _RAM_CODE), rv.jalr(RETURN, TARGET, 0), *body]


BRANCHES = [
    rv.branch("blt", A, B, 8), rv.addi(A, A, 3), rv.branch("bgeu", A, B, 8), rv.addi(B, B, 5),
    r("xor", A, A, B), rv.branch("beq", A, A, 8), rv.addi(C, C, 1),
]  # fmt: skip
#: For every class of instructions, code that is run as it is.
CLASSES: dict[str, list[int]] = {
    "add": loop([r("add", A, A, B), r("sub", B, A, C), rv.i_type("xori", C, B, 0x55)], 4),
    "shift": loop([rv.shift("slli", A, A, 3), r("sra", B, A, C), rv.shift("srli", A, B, 1)], 4),
    "compare": loop([r("slt", A, B, C), rv.i_type("sltiu", C, A, 1), r("sltu", B, A, C)], 4),
    "upper": loop([rv.lui(A, 0x12345), rv.auipc(B, 0), r("sub", C, B, A)], 4),
    "multiply": loop([r("mul", A, A, B), r("mulh", B, A, C), r("mulhu", C, C, A)], 3),
    "divide": [r("div", A, B, C), r("rem", D, A, C), r("divu", A, D, B)],
    "load": loop([rv.load("lw", A, LOCAL, 4), r("add", A, A, B), rv.load("lw", B, LOCAL, 8)], 3),
    "load-bytes": [rv.load("lb", A, LOCAL, 1), rv.load("lhu", B, LOCAL, 2), r("add", C, A, B),
                   rv.load("lbu", D, LOCAL, 7), rv.load("lh", A, LOCAL, 6), r("or", B, A, D)],
    "store": loop([rv.store("sw", A, LOCAL, 16), rv.load("lw", B, LOCAL, 16),
                   rv.addi(A, B, 1), rv.store("sw", B, LOCAL, 20)], 3),
    "store-bytes": [rv.store("sb", A, LOCAL, 33), rv.store("sh", B, LOCAL, 34),
                    rv.load("lw", C, LOCAL, 32), rv.store("sb", C, LOCAL, 32),
                    rv.load("lhu", D, LOCAL, 32)],
    "branch": loop(BRANCHES, 3),
    "jump": [rv.jal(0, 8), rv.NOP, rv.jal(RETURN, 8), rv.NOP, rv.addi(A, RETURN, 0),
             rv.jal(0, 12), rv.NOP, rv.NOP, rv.jal(0, 4), rv.addi(B, B, 1)],
    "call": loop([rv.jal(RETURN, 8), rv.jal(0, 12), rv.addi(A, A, 7), rv.jalr(0, RETURN, 0),
                  rv.addi(B, B, 1)], 3),
    "indirect": loop([*jump_register(2), rv.NOP, *jump_register(1, link=A)], 3),
    "bus-load": [rv.load("lw", A, FAR, 0), rv.load("lb", B, FAR, 5), r("add", C, A, B),
                 rv.load("lhu", D, FAR, 10)],
    "bus-store": [rv.store("sw", A, FAR, 16), rv.store("sb", B, FAR, 21),
                  rv.store("sh", C, FAR, 26), rv.load("lw", D, FAR, 24)],
    "buffered-load": buffered(1, [rv.load("lw", A, FAR, 0), rv.addi(D, D, 1), rv.NOP, rv.NOP,
                                  r("add", B, A, D), rv.load("lw", C, FAR, 4),
                                  rv.load("lw", A, FAR, 8), r("xor", B, B, C)]),
    "buffered-store": buffered(1, [rv.store("sw", A, FAR, 32), rv.addi(A, A, 1),
                                   rv.store("sw", A, FAR, 36), rv.load("lw", B, FAR, 32)]),
    "shared-copy": buffered(3, loop([rv.load("lw", A, FAR, 0), rv.load("lw", B, FAR, 4),
                                     rv.store("sw", A, FAR, 48), rv.store("sw", B, FAR, 52)], 2)),
    "csr": [read("mscratch", A), rv.csr("csrrw", B, CSR["mscratch"], C),
            rv.csr("csrrsi", D, CSR["mscratch"], 9), rv.csr("csrrc", A, CSR["mscratch"], D),
            rv.csr("csrrw", 0, CSR["mscratch"], A), read("mhartid", B)],
    "csr-redirect": [read("mtvec", A), rv.csr("csrrw", 0, CSR["mtvec"], A), rv.addi(B, B, 1),
                     rv.csr("csrrci", 0, CSR["mlinemask"], 0), rv.addi(B, B, 1)],
    "fence": [rv.store("sw", A, FAR, 60), rv.FENCE, rv.addi(A, A, 1), rv.FENCE, rv.addi(A, A, 1)],
    "fence-i": [rv.auipc(TARGET, 0), *rv.li(A, rv.addi(B, B, 77)), rv.store("sw", A, TARGET, 20),
                rv.FENCE_I, rv.addi(B, B, 1), rv.addi(B, B, 2)],
    "ecall": [rv.ECALL, rv.addi(A, A, 1), rv.EBREAK, rv.addi(A, A, 1)],
    "illegal": [0, rv.addi(A, A, 1), rv.csr("csrrw", A, CSR["mhartid"], A), rv.addi(B, B, 1)],
    "misaligned": [rv.load("lw", A, LOCAL, 2), rv.store("sh", A, FAR, 3), rv.addi(A, A, 1)],
    "bus-error": [*rv.li(TARGET, 0x5000_0000), rv.load("lw", A, TARGET, 0), rv.addi(A, A, 1),
                  rv.store("sw", A, TARGET, 4), rv.addi(A, A, 1)],
    "fetch-fault": [*rv.li(TARGET, 0x5000_0000), rv.jalr(RETURN, TARGET, 0), rv.addi(A, A, 1)],
    "code-on-the-bus": in_ram([rv.addi(B, B, 1)]),
}  # fmt: skip
#: The same with more than one tier.
TIER_CLASSES: dict[str, list[int]] = {
    "count": [read("minstret", A), rv.addi(B, B, 1), read("instret", C), read("minstreth", D)],
    "return": [rv.auipc(A, 0), rv.addi(A, A, 20), rv.csr("csrrw", 0, CSR["mepc"], A),
               rv.NOP, rv.MRET, rv.addi(B, B, 1)],
    "wfi": [rv.csr("csrrsi", 0, CSR["mpost"], 1), rv.WFI, rv.csr("csrrci", 0, CSR["mpost"], 1),
            rv.addi(A, A, 1)],
    "post": [rv.csr("csrrsi", 0, CSR["mpost"], 2), *[rv.addi(A, A, 1)] * 12,
             rv.csr("csrrsi", 0, CSR["mpost"], 2), *[rv.addi(A, A, 1)] * 12],
    "ceiling": [*write("mceiling", 1), rv.csr("csrrsi", 0, CSR["mpost"], 2),
                rv.load("lw", A, LOCAL, 0), r("div", B, B, A), rv.store("sw", B, FAR, 56),
                *write("mceiling", 0), rv.addi(C, C, 1)],
    "stop": [rv.csr("csrrci", 0, CSR["mtierrun"], 2), *[rv.addi(A, A, 1)] * 6,
             rv.csr("csrrsi", 0, CSR["mtierrun"], 2), rv.addi(B, B, 1)],
}  # fmt: skip
#: With caches: code in lines that drive each other out of a cache of 1 KiB, and so does its data.
CACHED_CLASSES: dict[str, list[int]] = {
    "cache-misses": [rv.addi(B, B, 1), *loop(in_ram([
        rv.load("lw", A, FAR, 0), rv.load("lw", C, FAR, 0x400), rv.store("sw", A, FAR, 0x404),
        r("add", A, A, C), rv.load("lbu", D, FAR, 0x405), rv.store("sh", D, FAR, 64)]), 3)],
}  # fmt: skip
#: Code in memory on the bus.
_IN_RAM = [*loop([r("add", A, A, B), rv.load("lw", C, FAR, 0)], 2), rv.jalr(0, RETURN, 0)]


@dataclass(frozen=True)
class SweepProgram:
    """A class's code, with what surrounds it in one core."""

    name: str
    params: CoreParams
    #: Handlers multiply, divide and use the bus too.
    thorough: bool = False

    @property
    def tiers(self) -> tuple[int, ...]:
        """Tiers that wait for line 0 and line 1; tier 0 itself if it is the only one."""
        return (self.params.tiers - 1, 1) if self.params.tiers > 2 else (0,)

    @property
    def _alone(self) -> bool:
        return len(self.tiers) == 1

    @property
    def _entries(self) -> dict[int, int]:
        """Where the waiting tiers begin."""
        places = zip(self.tiers, _HANDLERS, strict=True)
        return {tier: self.params.imem.base + offset for tier, offset in places}

    def elf(self) -> bytes:
        """The executable."""
        imem = self.params.imem.base
        code = {imem: self._application(), imem + _TRAP: self._trap_handler()}
        if not self._alone:
            for line, entry in enumerate(self._entries.values()):
                code[entry] = self._handler(line)
        code[_RAM_CODE] = _IN_RAM
        if self.params.icache_bytes:
            # There and back again.
            code[_RAM_CODE] = [rv.jal(0, 0x400), r("xor", D, D, A), rv.jalr(0, RETURN, 0)]
            code[_RAM_CODE + 0x400] = [r("sub", A, A, B), rv.jal(0, -0x400)]
        segments = {base: struct.pack(f"<{len(words)}I", *words) for base, words in code.items()}
        values = [0x9E37_79B9 * (n + 1) & 0xFFFF_FFFF for n in range(_DATA_BYTES // 4)]
        data = struct.pack(f"<{len(values)}I", *values)
        segments[self.params.dmem.base] = data + bytes(_ENDED + 0x40 - len(data))
        # Behind it, what the trap handler's work stores there, if it ever runs.
        stored = struct.pack("<I", _HANDLER_VALUE * B & 0xFFFF_FFFF)
        segments[_RAM_DATA] = data + bytes(0x80) + stored
        return rv.elf(segments, self.params.reset_address)

    def _application(self) -> list[int]:
        imem = self.params.imem.base
        body = (CLASSES | TIER_CLASSES | CACHED_CLASSES)[self.name]
        code = [*write("mtvec", imem + _TRAP)]
        if self._alone:
            code += [*write("mlineedge", 1), *write("mlinemask", 1), *write("mie", MEI)]
        else:
            code += [*write("mlineedge", 3), *write("mie", MSI)]
            code += start(self._entries)
        code += [*rv.li(LOCAL, self.params.dmem.base), *rv.li(FAR, _RAM_DATA)]
        for register in (*range(1, 8), *range(A, SCRATCH)):
            code += rv.li(register, 0x0123_4567 * register & 0xFFFF_FFFF)
        # Until the other tiers wait.
        code += [r("div", A, A, B)] * 3
        code += rv.li(TARGET, CONSOLE)
        if self._alone:
            code += write("mstatus", MIE)
        code += [rv.addi(COUNT, 0, 1), rv.store("sw", COUNT, TARGET, MARK)]
        code += body
        # A few cycles in which the last of it may still be under way.
        code += [rv.NOP] * 8
        code += [*rv.li(TARGET, CONSOLE), rv.addi(COUNT, 0, 2)]
        code += [rv.store("sw", COUNT, TARGET, MARK)]
        if self._alone:
            # Not the line that rises last.
            code += [*[rv.NOP] * 20, *write("mstatus", 0)]
        return [*code, *self._epilogue()]

    def _epilogue(self) -> list[int]:
        shown = ["mstatus", "mie", "mtvec", "mscratch", "mlinemask", "mbusmode", "mcycleh"]
        if not self._alone:
            # Interrupts of the tier itself change these.
            shown += ["minstret", "mepc", "mcause", "mtval", "mceiling", "mtierrun", "mip"]
        code = rv.li(SCRATCH, RAM)
        code += [rv.store("sw", n, SCRATCH, 4 * n) for n in range(SCRATCH)]
        for index, name in enumerate(shown):
            code += [read(name, A), rv.store("sw", A, SCRATCH, 0x80 + 4 * index)]
        for offset in range(0, _DATA_BYTES, 4):
            code += [rv.load("lw", A, LOCAL, offset), rv.store("sw", A, SCRATCH, 0x100 + offset)]
        if not self._alone:
            code += [rv.addi(A, 0, 1), rv.store("sw", A, LOCAL, _ENDED)]
            code += [rv.addi(A, 0, sum(1 << tier for tier in self.tiers))]
            code += [rv.csr("csrrs", 0, CSR["mpost"], A)]
            for place in (4, 8):
                code += [rv.load("lw", A, LOCAL, _ENDED + place), rv.branch("beq", A, 0, -4)]
        code += [rv.load("lw", A, LOCAL, _COUNTS), rv.load("lw", B, LOCAL, _COUNTS + 4)]
        code += [rv.addi(C, 0, SECOND_COUNT), r("mul", B, B, C), r("add", A, A, B)]
        # Its own stores have happened before it says so.
        code += [rv.FENCE, *rv.li(SCRATCH, CONSOLE), rv.store("sw", A, SCRATCH, 0)]
        return [*code, rv.jal(0, 0)]

    def _work(self) -> list[int]:
        """What a handler does beside counting; leaves its registers as they were."""
        if not self.thorough:
            return [r("mul", A, B, C), rv.load("lw", A, LOCAL, 0), r("add", A, A, B),
                    rv.addi(A, 0, 0)]  # fmt: skip
        return [rv.store("sw", B, FAR, 0x80), r("div", A, B, C), rv.load("lw", A, FAR, 0x80),
                r("mulhu", A, A, C), rv.branch("beq", A, A, 8), rv.NOP,
                rv.addi(A, 0, 0)]  # fmt: skip

    def _handler(self, line: int) -> list[int]:
        """A tier that waits for its line and for posts."""
        tier = self.tiers[line]
        code = [*write("mlinemask", 1 << line), *write("mie", MEI | MSI)]
        code += [*rv.li(LOCAL, self.params.dmem.base), *rv.li(FAR, _RAM_DATA + 0x100 * (line + 1))]
        for register in (*range(1, 8), *range(A, 32)):
            code += rv.li(register, _HANDLER_VALUE * (register + tier) & 0xFFFF_FFFF)
        code += [rv.addi(A, 0, 0), rv.addi(D, 0, 0)]
        begin = len(code)
        code += [rv.WFI, read("mlinepend", D), rv.csr("csrrw", 0, CSR["mlineack"], D)]
        code += [rv.addi(A, 0, 1 << tier), rv.csr("csrrc", 0, CSR["mpost"], A)]
        # The count grows by the pending bit, which is moved to bit 0.
        code += [rv.shift("srli", D, D, line), rv.load("lw", A, LOCAL, _COUNTS + 4 * line)]
        code += [r("add", A, A, D), rv.store("sw", A, LOCAL, _COUNTS + 4 * line), *self._work()]
        code += [rv.addi(D, 0, 0), rv.load("lw", A, LOCAL, _ENDED)]
        code += [rv.branch("beq", A, 0, -4 * (len(code) - begin))]
        code += rv.li(D, RAM + _DUMP_BYTES * (line + 1))
        code += [rv.store("sw", n, D, 4 * n) for n in range(32)]
        for index, name in enumerate(("mhartid", "mstatus", "mlinemask", "mie", "mscratch")):
            code += [read(name, A), rv.store("sw", A, D, 0x80 + 4 * index)]
        # Its stores have happened before it says so.
        code += [rv.FENCE, rv.addi(A, 0, 1), rv.store("sw", A, LOCAL, _ENDED + 4 * (line + 1))]
        return [*code, rv.csr("csrrwi", 0, CSR["mie"], 0), rv.WFI, rv.jal(0, -4)]

    def _trap_handler(self) -> list[int]:
        """Sums up exceptions and goes on behind them; with one tier, serves line 0 too."""
        exception: list[int] = [
            # From a jump to nowhere, back to behind the jump.
            rv.addi(OTHER, SCRATCH, -1),
            rv.branch("bne", OTHER, 0, 12),
            rv.csr("csrrw", 0, CSR["mepc"], RETURN),
            rv.jal(0, 16),
            read("mepc", OTHER),
            rv.addi(OTHER, OTHER, 4),
            rv.csr("csrrw", 0, CSR["mepc"], OTHER),
            r("add", CHECKSUM, CHECKSUM, SCRATCH),
            read("mtval", OTHER),
            r("add", CHECKSUM, CHECKSUM, OTHER),
            rv.MRET,
        ]
        # Registers that the classes use are saved where nobody looks.
        save = [rv.store("sw", n, OTHER, 4 * n) for n in (LOCAL, FAR, A, B, C, D)]
        restore = [rv.load("lw", n, OTHER, 4 * n) for n in (LOCAL, FAR, A, B, C, D)]
        interrupt = [
            *rv.li(OTHER, self.params.dmem.base + 0x300),
            *save,
            *rv.li(LOCAL, self.params.dmem.base),
            *rv.li(FAR, _RAM_DATA + 0x100),
            *[word for n in (B, C) for word in rv.li(n, _HANDLER_VALUE * n & 0xFFFF_FFFF)],
            read("mlinepend", D),
            rv.csr("csrrw", 0, CSR["mlineack"], D),
            rv.load("lw", A, LOCAL, _COUNTS),
            r("add", A, A, D),
            rv.store("sw", A, LOCAL, _COUNTS),
            *self._work(),
            *restore,
            rv.MRET,
        ]
        return [
            read("mcause", SCRATCH),
            rv.branch("blt", SCRATCH, 0, 4 * (len(exception) + 1)),
            *exception,
            *interrupt,
        ]


def classes(params: CoreParams) -> list[str]:
    """Names of the classes for a core."""
    names = [*CLASSES, *(TIER_CLASSES if params.tiers > 2 else ())]
    return [*names, *(CACHED_CLASSES if params.icache_bytes and params.dcache_bytes else ())]
