"""The instruction set as this core implements it: CSRs, causes, opcodes.

This table is the one home of these facts. The C header, the assembler header and the tables of
``MANUAL.md`` are generated from it (``python -m tierv.rtl.document``).

Sources: RISC-V ISA manual, volume I 20240411 (unprivileged) and volume II 20240411 (privileged),
machine level only. Everything in the custom address ranges is ``Xtier``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

#: Most tiers a core may have; fixes the width of the tier bitmaps in the CSRs.
MAX_TIERS = 8
#: Most external interrupt lines.
MAX_LINES = 32
#: Width of a line's priority in bits; 0 is least urgent.
LINE_PRIORITY_BITS = 4
#: Lines that one ``mlineprio`` CSR covers.
LINES_PER_PRIORITY_CSR = 32 // LINE_PRIORITY_BITS
#: The names of these CSRs.
LINE_PRIORITY_CSRS = tuple(f"mlineprio{n}" for n in range(MAX_LINES // LINES_PER_PRIORITY_CSR))


class Opcode(enum.IntEnum):
    """Major opcodes, bits 6:2 of a 32-bit instruction (volume I, table 70)."""

    LOAD = 0b00000
    MISC_MEM = 0b00011
    OP_IMM = 0b00100
    AUIPC = 0b00101
    STORE = 0b01000
    OP = 0b01100
    LUI = 0b01101
    BRANCH = 0b11000
    JALR = 0b11001
    JAL = 0b11011
    SYSTEM = 0b11100


class Funct12(enum.IntEnum):
    """Bits 31:20 of the SYSTEM instructions with funct3 = 0."""

    ECALL = 0x000
    EBREAK = 0x001
    WFI = 0x105
    MRET = 0x302


#: The instruction ebreak. What could not be fetched is one too, and marked.
EBREAK = 0x0010_0073


class Cause(enum.IntEnum):
    """Exception codes of ``mcause`` (volume II, table 14)."""

    INSTRUCTION_MISALIGNED = 0
    INSTRUCTION_ACCESS = 1
    ILLEGAL = 2
    BREAKPOINT = 3
    LOAD_MISALIGNED = 4
    LOAD_ACCESS = 5
    STORE_MISALIGNED = 6
    STORE_ACCESS = 7
    ECALL_M = 11


class Interrupt(enum.IntEnum):
    """Interrupt codes of ``mcause``, bit numbers of ``mip`` and ``mie``."""

    MSI = 3
    MTI = 7
    MEI = 11


class DebugCause(enum.IntEnum):
    """Why a tier is in debug mode, as ``dcsr`` tells it (Debug Support 0.13.2, section 4.8.1)."""

    NONE = 0
    EBREAK = 1
    TRIGGER = 2
    HALT = 3
    STEP = 4
    RESET_HALT = 5


class Access(enum.Enum):
    """How software may use a CSR."""

    READ_WRITE = "RW"
    READ_ONLY = "RO"


class Scope(enum.Enum):
    """Whose copy of a CSR an instruction reaches."""

    TIER = "tier"
    CORE = "core"


@dataclass(frozen=True, kw_only=True)
class Field:
    """Bits ``lsb + width - 1 : lsb`` of a CSR."""

    name: str
    lsb: int
    width: int
    description: str


@dataclass(frozen=True, kw_only=True)
class Csr:
    """One CSR, or ``count`` consecutive ones with ``{}`` in the name for the index."""

    name: str
    address: int
    scope: Scope
    description: str
    fields: tuple[Field, ...] = ()
    count: int = 1
    #: Index of the one at ``address``.
    first: int = 0

    @property
    def access(self) -> Access:
        """What bits 11:10 of the address say (privileged architecture 1.12, section 2.1)."""
        return Access.READ_ONLY if self.address >> 10 == 0b11 else Access.READ_WRITE

    def names(self) -> list[tuple[str, int]]:
        """Every (name, address) of this entry."""
        return [(self.name.format(self.first + i), self.address + i) for i in range(self.count)]


def _csr(name: str, address: int, scope: Scope, description: str, **more) -> Csr:
    return Csr(name=name, address=address, scope=scope, description=description, **more)


STANDARD_CSRS = (
    _csr("mstatus", 0x300, Scope.TIER, "MIE and MPIE; MPP reads 3."),
    _csr(
        "misa",
        0x301,
        Scope.CORE,
        "Reads RV32IM, and B in a core with Zba, Zbb and Zbs; writes are ignored.",
    ),
    _csr("mie", 0x304, Scope.TIER, "Enables MSI, MTI and MEI."),
    _csr("mtvec", 0x305, Scope.TIER, "Trap handler, direct mode; bits 1:0 read 0."),
    _csr("mstatush", 0x310, Scope.TIER, "Reads 0."),
    _csr("mscratch", 0x340, Scope.TIER, "For software; holds the start argument of a tier."),
    _csr("mepc", 0x341, Scope.TIER, "PC of the trap; bits 1:0 read 0."),
    _csr("mcause", 0x342, Scope.TIER, "Cause of the trap; bits 30:5 read 0."),
    _csr("mtval", 0x343, Scope.TIER, "Faulting address; 0 where there is none."),
    _csr("mip", 0x344, Scope.TIER, "MSIP (posted), MTIP (timer input), MEIP (a line is pending)."),
    _csr("mcycle", 0xB00, Scope.CORE, "Clock cycles since reset, bits 31:0."),
    _csr("minstret", 0xB02, Scope.TIER, "Instructions this tier retired, bits 31:0."),
    _csr("mcycleh", 0xB80, Scope.CORE, "Clock cycles since reset, bits 63:32."),
    _csr("minstreth", 0xB82, Scope.TIER, "Instructions this tier retired, bits 63:32."),
    _csr("cycle", 0xC00, Scope.CORE, "mcycle."),
    _csr("time", 0xC01, Scope.CORE, "mcycle; the time base is the core's clock."),
    _csr("instret", 0xC02, Scope.TIER, "minstret."),
    _csr("cycleh", 0xC80, Scope.CORE, "mcycleh."),
    _csr("timeh", 0xC81, Scope.CORE, "mcycleh."),
    _csr("instreth", 0xC82, Scope.TIER, "minstreth."),
    _csr("mvendorid", 0xF11, Scope.CORE, "0: not commercial."),
    _csr("marchid", 0xF12, Scope.CORE, "0: not registered."),
    _csr("mimpid", 0xF13, Scope.CORE, "Version: major, minor, patch in bits 23:16, 15:8, 7:0."),
    _csr("mhartid", 0xF14, Scope.TIER, "The tier's number."),
    _csr("mconfigptr", 0xF15, Scope.CORE, "0: no configuration structure."),
)

#: The hardware performance monitors: fixed events, counted per tier.
COUNTER_CSRS = (
    _csr(
        "mhpmevent{}", 0x323, Scope.TIER, "Event n - 2 for n = 3 to 5, else 0.", first=3, count=29
    ),
    _csr(
        "mhpmcounter{}", 0xB03, Scope.TIER, "Counts the event; 6 to 31 read 0.", first=3, count=29
    ),
    _csr("mhpmcounter{}h", 0xB83, Scope.TIER, "Bits 63:32 of it.", first=3, count=29),
)


class Event(enum.IntEnum):
    """What the performance monitors count; the value is the monitor's ``mhpmevent``."""

    #: Cycles in which this was the most urgent tier awake.
    OWNED = 1
    #: Instructions issued in slots that a more urgent tier, awake, could not use.
    FILLED = 2
    #: Times that the issue stage changed to this tier from another one.
    SWITCHES = 3


CUSTOM_CSRS = (
    _csr(
        "mtierpc{}",
        0x7D0,
        Scope.CORE,
        "Write: the PC at which tier n goes on, its MIE cleared. Ignored while the tier is started."
        " Reads 0.",
        count=MAX_TIERS,
    ),
    _csr(
        "mtierarg{}",
        0x7D8,
        Scope.CORE,
        "Write: sets mscratch of tier n. Ignored while the tier is started. Reads 0.",
        count=MAX_TIERS,
    ),
    _csr(
        "mtierrun",
        0x7E0,
        Scope.CORE,
        "Bit n: tier n is started. Clearing a bit stops the tier between two instructions; it keeps"
        " its state and goes on when the bit is set again.",
    ),
    _csr(
        "mpost",
        0x7E1,
        Scope.CORE,
        "Bit n: mip.MSIP of tier n. Set it with csrrs to post to the tier; the receiver clears its"
        " own with csrrc.",
    ),
    _csr(
        "mceiling",
        0x7E2,
        Scope.TIER,
        "Tiers above the writer and up to this one are held back until it writes a lower value,"
        " waits in wfi or is stopped. 0 holds none. Bits above a tier number's are ignored.",
    ),
    _csr(
        "mbusmode",
        0x7E3,
        Scope.TIER,
        "How loads and stores on the bus complete.",
        fields=(
            Field(
                name="BUFFERED",
                lsb=0,
                width=1,
                description="0: precise; the tier waits for each access. 1: buffered; it goes on"
                " until it needs the result, and a bus error traps at a later instruction.",
            ),
            Field(
                name="SHARING",
                lsb=1,
                width=1,
                description="1: the slot behind each load or store of this tier is left to less"
                " urgent tiers, for loops that the bus slows down anyway. 0 in a core with one"
                " tier.",
            ),
        ),
    ),
    _csr(
        "mlinemask",
        0xBC0,
        Scope.TIER,
        "Bit n: line n interrupts this tier.",
    ),
    _csr(
        "mlineedge",
        0xBC1,
        Scope.CORE,
        "Bit n: 0, line n is a level; 1, its rising edge is latched until acknowledged.",
    ),
    _csr(
        "mlineack",
        0xBC2,
        Scope.CORE,
        "Write 1 to bit n to clear the latch of edge line n. Reads 0.",
    ),
    _csr(
        "mlineprio{}",
        0xBC4,
        Scope.CORE,
        "Priorities of eight lines each, four bits a line, 15 is most urgent.",
        count=MAX_LINES // LINES_PER_PRIORITY_CSR,
    ),
    _csr(
        "mtierlatency",
        0xBC8,
        Scope.TIER,
        "Most cycles from the cycle in which this tier was due to wake to the one in which its"
        " first instruction issued, by mcycle; saturates at 65,535. Any write clears it.",
    ),
    _csr("mlinepend", 0xFC0, Scope.TIER, "Pending lines of this tier: pending and in its mask."),
    _csr(
        "mlineclaim",
        0xFC1,
        Scope.TIER,
        "Number plus one of the most urgent pending line of this tier, 0 if there is none; of equal"
        " priorities the lower number.",
    ),
    _csr("mlineraw", 0xFC2, Scope.CORE, "Pending lines before any mask."),
    _csr(
        "mlinestamp{}",
        0xFE0,
        Scope.CORE,
        "mcycle bits 31:0 when line n last became pending.",
        count=MAX_LINES,
    ),
)

#: Of a core with external debug. Those from ``dcsr`` on exist in debug mode only.
DEBUG_CSRS = (
    _csr("tselect", 0x7A0, Scope.TIER, "The trigger that the others are of."),
    _csr(
        "tdata1",
        0x7A1,
        Scope.TIER,
        "mcontrol: type 2, dmode 1, action 1; m, execute, store and load can be set.",
    ),
    _csr("tdata2", 0x7A2, Scope.TIER, "The address, of an instruction or of an access."),
    _csr("tinfo", 0x7A4, Scope.TIER, "Reads 4: type 2 only. Writes are ignored."),
    _csr("dcsr", 0x7B0, Scope.TIER, "ebreakm, cause and step; prv reads 3."),
    _csr("dpc", 0x7B1, Scope.TIER, "Where the tier goes on when it is resumed."),
    _csr("mdebugdata", 0x7B4, Scope.CORE, "data0 of the debug module."),
)

ALL_CSRS = STANDARD_CSRS + COUNTER_CSRS + CUSTOM_CSRS


def csr_addresses() -> dict[str, int]:
    """Address of every CSR by its name, indexed ones as ``mlineprio0``."""
    return {name: address for csr in ALL_CSRS for name, address in csr.names()}


def debug_csr_addresses() -> dict[str, int]:
    """The same of those that only a core with external debug has."""
    return {name: address for csr in DEBUG_CSRS for name, address in csr.names()}
