"""What travels between the stages of the pipeline.

Stages: P next fetch address, F instruction memory, I issue (with predecode of what has just
arrived), D registers and bypass, X execute, M memory and commit, A align and write back.
PCs are word addresses of 30 bits.
"""

from __future__ import annotations

from amaranth.hdl import unsigned
from amaranth.lib import data, enum

from .history_layouts import KEPT_HISTORY, OWN_HISTORY, PAIR_HISTORY
from .params import CoreParams

#: An instruction is in stage M, where it retires, so many cycles after stage I.
ISSUE_TO_M_CYCLES = 3
#: Width of a PC: bits 31:2 of the address.
PC_BITS = 30
#: Width of the number of pairs of words in a short loop.
LOOP_BITS = 4


def target_bits(params: CoreParams) -> int:
    """Width of the target of a jump that is followed before it executes: a word address within
    local memory, or a whole one if there is an instruction cache."""
    return PC_BITS if params.icache_bytes else params.imem.size_log2 - 2


def tier_event_layout(params: CoreParams) -> data.StructLayout:
    """Something that happens to one tier in a cycle."""
    return data.StructLayout({"valid": 1, "tier": params.tier_bits})


def redirect_layout(params: CoreParams) -> data.StructLayout:
    """Stage M sends a tier to another PC and drops what it has in the earlier stages."""
    return data.StructLayout(
        {
            "valid": 1,
            "tier": params.tier_bits,
            "pc": PC_BITS,
            # What it is: the tier in M leaves its path, or a tier gets its first PC. Each compares
            # its tier for itself, because `valid` is known late.
            "leaves": tier_event_layout(params),
            "begins": tier_event_layout(params),
            # Known early in the cycle: `early_pc` of `early_tier` may be fetched from at once.
            "early": 1,
            "early_tier": params.tier_bits,
            "early_pc": PC_BITS,
            # `early_pc` is indeed where the tier goes.
            "confirmed": 1,
        }
    )


#: What an instruction that is issued soon after this one must know of it.
PRODUCER = data.StructLayout(
    {
        "rd": 5,
        # A load that writes rd, which is not x0.
        "load": 1,
        # The result comes from stage A on: two bubbles.
        "late": 1,
        # It comes in stage M: one bubble. A load from local memory, or a product's lower half.
        "in_m": 1,
        "csr": 1,
    }
)

#: For which of its predecessors in the tier's program an instruction waits in stage I.
WAITS = data.StructLayout(
    {
        # The last one, while it is in D.
        "last_in_d": 1,
        # The last one, while it is in X.
        "last_in_x": 1,
        # The last but one, while it is in X and the last one in D.
        "second_in_x": 1,
    }
)

#: Which of its fields name a register that an instruction writes or reads.
USES = data.StructLayout({"rd": 1, "rs1": 1, "rs2": 1})

#: What the predecoder found in a pair of instruction words.
PAIR_FLAGS = data.StructLayout(
    {
        # The first word is the last that counts.
        "ends_first": 1,
        # The last word that counts is a jump or branch that has been followed.
        "predicted": 1,
        # What comes behind it begins with the second word of its pair.
        "next_odd": 1,
        # Each word: it is a wfi; a load or store.
        "wfi": 2,
        "memory": 2,
        "uses": data.ArrayLayout(USES, 2),
        "waits": data.ArrayLayout(WAITS, 2),
    }
)

#: An aligned pair of instruction words in a tier's buffer.
PAIR = data.StructLayout(
    {
        "words": data.ArrayLayout(32, 2),
        "pc": PC_BITS - 1,
        # Each word: its fetch ended in a bus error.
        "faults": 2,
        "history": PAIR_HISTORY,
    }
)


def arrival_layout(params: CoreParams) -> data.StructLayout:
    """A pair as it arrives from memory, before it is predecoded; bit 0 of `pc`: the first word is
    not wanted."""
    return data.StructLayout(
        {
            "valid": 1,
            "tier": params.tier_bits,
            "pc": PC_BITS,
            "words": data.ArrayLayout(32, 2),
            "history": KEPT_HISTORY,
            "faults": 2,
        }
    )


def issued_layout(params: CoreParams) -> data.StructLayout:
    """An instruction as it goes from I to D."""
    return data.StructLayout(
        {
            "valid": 1,
            "tier": params.tier_bits,
            "pc": PC_BITS,
            "instruction": 32,
            "predicted": 1,
            "history": OWN_HISTORY,
            "fault": 1,
        }
    )


def trap_layout(params: CoreParams) -> data.StructLayout:
    """A trap that is taken in stage M."""
    return data.StructLayout(
        {
            "valid": 1,
            "tier": params.tier_bits,
            "pc": PC_BITS,
            "cause": 5,
            "interrupt": 1,
        }
    )


def csr_access_layout(params: CoreParams) -> data.StructLayout:
    """A CSR instruction in stage M; the register changes at the end of the cycle if `write`.

    `operation` is bits 1:0 of funct3. What it makes of a register `util.applied` says.
    """
    return data.StructLayout(
        {
            "write": 1,
            "tier": params.tier_bits,
            "address": 12,
            "operation": 2,
            "source": 32,
        }
    )


def csr_write_layout(params: CoreParams) -> data.StructLayout:
    """A CSR write in stage A: for registers whose next reader comes later than the next cycle."""
    return data.StructLayout(
        {
            "write": 1,
            "tier": params.tier_bits,
            "address": 12,
            "data": 32,
        }
    )


def writer_layout(params: CoreParams) -> data.StructLayout:
    """An instruction in D, X, M or A as one behind it must know it."""
    return data.StructLayout(
        {
            # It writes register `rd` of `tier`; not x0.
            "valid": 1,
            "tier": params.tier_bits,
            "rd": 5,
            "load": 1,
        }
    )


class Operation(enum.Enum, shape=unsigned(2)):
    """What the logic unit does."""

    NONE = 0
    XOR = 1
    OR = 2
    AND = 3


class Source(enum.Enum, shape=unsigned(3)):
    """What else of the first operand makes up the result."""

    NONE = 0
    # Its low byte or half-word extended, its bytes in reverse order, each byte all ones unless it
    # is zero.
    SIGN_BYTE = 1
    SIGN_HALF = 2
    ZERO_HALF = 3
    SWAPPED = 4
    FILLED = 5


class SlowBits(enum.Enum, shape=unsigned(3)):
    """Bit manipulation whose result comes as late as a product."""

    NONE = 0
    LEADING = 1
    TRAILING = 2
    ONES = 3
    MIN = 4
    MINU = 5
    MAX = 6
    MAXU = 7


#: What an instruction does, as the decoder finds it.
CONTROL = data.StructLayout(
    {
        "funct3": 3,
        "operation": Operation,
        # The result is the adder's; the adder subtracts; a shift fills with the sign.
        "add": 1,
        "subtract": 1,
        "fill": 1,
        # Zba: the first operand of the adder is shifted left by so many places.
        "shift_add": 2,
        # Of the second operand of the logic unit: one bit, at this place; then inverted.
        "single": 1,
        "invert": 1,
        "source": Source,
        # The shifter rotates; only bit 0 of its result counts.
        "rotate": 1,
        "extract": 1,
        # Not a multiplication, though it goes the same way.
        "slow": SlowBits,
        # Where else the result comes from.
        "shift": 1,
        "compare": 1,
        "multiply": 1,
        "divide": 1,
        "csr": 1,
        "load": 1,
        # What else it does.
        "store": 1,
        "branch": 1,
        "jump": 1,
        "jump_register": 1,
        "fence": 1,
        "fence_i": 1,
        "mret": 1,
        "wfi": 1,
        # It raises this exception whatever its operands are.
        "exception": 1,
        "cause": unsigned(4),
        # It writes register rd, which is not x0.
        "writes": 1,
        "rd": 5,
        # The CSR instruction writes its CSR.
        "csr_writes": 1,
    }
)


def decoded_layout(params: CoreParams) -> data.StructLayout:
    """An instruction from D to X."""
    return data.StructLayout(
        {
            "valid": 1,
            "tier": params.tier_bits,
            "pc": PC_BITS,
            "control": CONTROL,
            # Register rs1; register rs2 or the immediate.
            "first": 32,
            "second": 32,
            # Offset of a load, store or jalr; address of a CSR.
            "offset": 12,
            # pc + imm of a jump, auipc or branch predicted not taken; pc of a store or ebreak; else
            # pc + 4.
            "alternative": PC_BITS,
            # The same where the result is this, of a load where it may go on; else 0.
            "given": PC_BITS,
            "misaligned_target": 1,
            "predicted": 1,
            # Where a return was predicted to go.
            "predicted_pc": PC_BITS,
            "history": OWN_HISTORY,
            # The registers that it names.
            "rs1": 5,
            "rs2": 5,
        }
    )


def executed_layout(params: CoreParams) -> data.StructLayout:
    """An instruction from X to M."""
    return data.StructLayout(
        {
            "valid": 1,
            "tier": params.tier_bits,
            "pc": PC_BITS,
            "control": CONTROL,
            # Result, or the source operand of a CSR instruction; pc + 4 of a load; 0 of what
            # the multiplier gives.
            "result": 32,
            # Address of a load or store, target of a jump or branch, pc of an exception.
            "address": 32,
            # It traps, if at all, so that mtval shows this.
            "shows_address": 1,
            "store_data": 32,
            "store_mask": 4,
            # A load or store that goes to the bus, and whether the tier's mode is buffered.
            "remote": 1,
            "buffered": 1,
            # It waits until the bus slot of its tier is free: one bit for each tier.
            "needs_idle": params.tiers,
            # A precise access: it has not been made yet, or it has been made.
            "waits_for_access": 1,
            "collects": 1,
            # It is not the precise access that its tier has begun, if there is one.
            "abandons": 1,
            # It uses its slot in stage A; it is a load that will write its register later.
            "uses_slot": 1,
            "loads_later": 1,
            "csr_address": 12,
            "rs1": 5,
            "rs2": 5,
            # Where the tier goes on if it does not go on with what was fetched.
            "alternative": PC_BITS,
            # mtvec; mepc for mret.
            "vector": PC_BITS,
            # `alternative` is next: a mispredicted branch, a jump, a trap known before M, an
            # access that has to come again.
            "redirects": 1,
            # The jalr was predicted as a return.
            "predicted_return": 1,
            # The CSR instruction names the first PC of a tier.
            "names_tier_pc": 1,
            "taken": 1,
            "history": OWN_HISTORY,
            # Found in X: the instruction does not execute, because ...
            "interrupted": 1,
            "stopped": 1,
            "bus_failed": 1,
            # It traps, whatever becomes of an interrupt.
            "traps": 1,
            # Of an exception in this instruction.
            "cause": 4,
            "divide_waits": 1,
            # None of these but the last: it executes, and traps only for an error on the bus.
            "certain": 1,
            # It retires unless its tier's bus slot is not free.
            "completes": 1,
            # It writes a CSR.
            "writes_csr": 1,
            # Found in X: the tier will not go on with what was fetched.
            "departs": 1,
        }
        | (
            {
                # Its address is cached.
                "cached": 1,
                # It waits for stores to cached memory.
                "waits_for_stores": 1,
            }
            if params.dcache_bytes
            else {}
        )
    )
