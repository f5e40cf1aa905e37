"""Random programs for all tiers at once, from a seed."""

from __future__ import annotations

import random
import struct

import encoding as rv
from random_code import (
    BUS,
    BUS_BASE,
    BUS_BYTES,
    BUS_MEMORY_BYTES,
    CONSOLE,
    COUNTER,
    CSR,
    FRAME,
    FREE,
    INTERESTING,
    LOCAL,
    MSTATUS_MIE,
    RESUME_OFFSET,
    RETURN,
    SHARED,
    SHARED_BYTES,
    SLED,
    TARGET,
    Mix,
)
from random_pieces import Pieces
from random_tiers import Powers, Subject

from tierv.rtl.isa import MAX_TIERS, Cause, Interrupt
from tierv.rtl.params import CoreParams

#: Code in memory on the bus, behind the tiers' data there.
BUS_PROGRAMS = BUS_BASE + MAX_TIERS * BUS_BYTES
#: Offsets in a tier's own data: the trap handler's frames, and how far the tier has come.
FRAME_OFFSET = 0x700
#: Where LOCAL points.
LOCAL_OFFSET = 0x400
FRAME_BYTES = 0x40
PROGRESS_OFFSET = 0x7F0
#: So many computations and accesses ahead of its end a tier is nearly done.
LAST = 25
NEARLY_DONE, DONE = 1, 2
# Words of a frame.
SAVED_COUNTER, SAVED_TARGET, CHECKSUM, SAVED_FRAME = 0, 4, 8, 12
LOAD_FAULT, STORE_FAULT = Cause.LOAD_ACCESS, Cause.STORE_ACCESS
SAVED_CSRS = {"mepc": 16, "mcause": 20, "mtval": 24, "mstatus": 28}


def code_bytes(params: CoreParams) -> int:
    """Room for each tier's code."""
    return params.imem.size_bytes // params.tiers & ~7


def code_base(params: CoreParams, tier: int) -> int:
    """Where the tier begins: if there is an instruction cache, all but tier 0 in memory on the
    bus."""
    cached = params.icache_bytes and tier
    return (BUS_PROGRAMS if cached else params.imem.base) + tier * code_bytes(params)


def local_data(params: CoreParams, tier: int) -> int:
    """Address of the tier's own part of local data memory."""
    stride = (params.dmem.size_bytes - SHARED_BYTES) // params.tiers & ~0x7FF
    return params.dmem.base + tier * stride


class TierProgram(Pieces):
    """The code of one tier."""

    def generate(self) -> list[int]:
        """The words from the tier's base address on: a jump, the trap handler, functions, the
        program."""
        base = code_base(self._params, self._tier)
        self._emit(rv.NOP, *(rv.NOP for _ in SLED))
        resuming = len(self.words)
        self._emit(rv.NOP)
        handler = len(self.words)
        self._emit_handler()
        self._emit_functions()
        self._patch_jump(resuming, len(self.words))
        self._emit_resuming(base + 4 * handler)
        self.words[0] = rv.jal(0, 4 * len(self.words))
        self._emit_setup(base + 4 * handler)
        #: Address at which the tier goes on if it is moved before it says where else.
        self.resume = base + 4 * len(self.words)
        room = code_bytes(self._params) // 4
        limit = room - 120 - (2 * LAST if self._tier else 18 * self._params.tiers)
        for _ in range(self._mix.pieces):
            if len(self.words) > limit:
                break
            self._emit_piece()
        self._emit_epilogue()
        assert len(self.words) <= room
        return self.words

    def _emit_resuming(self, handler: int) -> None:
        """Go on after a move: mscratch is set, all else may be anything."""
        self._emit(
            rv.FENCE,
            rv.csr("csrrwi", 0, CSR["mceiling"], 0),
            # As where the program begins.
            rv.csr("csrrwi", 0, CSR["mbusmode"], 0),
        )
        self._li(TARGET, handler)
        self._emit(rv.csr("csrrw", 0, CSR["mtvec"], TARGET))
        self._emit_bases()
        # Those that it had stopped.
        self._emit_run(
            "csrrs", self._destination(), sum(1 << subject.tier for subject in self._subjects)
        )
        self._emit_enables()
        self._emit(rv.load("lw", TARGET, LOCAL, RESUME_OFFSET), rv.jalr(0, TARGET, 0))

    def _patch_jump(self, place: int, target: int) -> None:
        self.words[place] = rv.jal(0, 4 * (target - place))

    def _emit_handler(self) -> None:
        self._emit(
            rv.csr("csrrw", FRAME, CSR["mscratch"], FRAME),
            rv.store("sw", COUNTER, FRAME, SAVED_COUNTER),
            rv.store("sw", TARGET, FRAME, SAVED_TARGET),
        )
        if self._mix.traps:
            self._emit_nested_trap()
        self._emit(rv.csr("csrrs", COUNTER, CSR["mcause"], 0))
        interrupt = len(self.words)
        self._emit(rv.NOP)
        # An exception: go on behind the instruction, or return from a jump to nowhere. The error of
        # a buffered access, which has no address, is not the instruction's.
        self._emit(
            rv.csr("csrrs", TARGET, CSR["mepc"], 0),
            rv.addi(COUNTER, COUNTER, -1),
            rv.branch("bne", COUNTER, 0, 12),
            rv.addi(TARGET, RETURN, 0),
            rv.jal(0, 28),
            rv.i_type("ori", COUNTER, COUNTER, STORE_FAULT - LOAD_FAULT),
            rv.addi(COUNTER, COUNTER, 1 - STORE_FAULT),
            rv.branch("bne", COUNTER, 0, 12),
            rv.csr("csrrs", COUNTER, CSR["mtval"], 0),
            rv.branch("beq", COUNTER, 0, 8),
            rv.addi(TARGET, TARGET, 4),
            rv.csr("csrrw", 0, CSR["mepc"], TARGET),
            rv.csr("csrrs", COUNTER, CSR["mtval"], 0),
            rv.load("lw", TARGET, FRAME, CHECKSUM),
            rv.r_type("add", TARGET, TARGET, COUNTER),
            rv.store("sw", TARGET, FRAME, CHECKSUM),
        )
        leave = len(self.words)
        self._emit(rv.NOP)
        self.words[interrupt] = rv.branch("blt", COUNTER, 0, 4 * (len(self.words) - interrupt))
        self._emit_interrupt()
        self._patch_jump(leave, len(self.words))
        self._emit(
            rv.load("lw", TARGET, FRAME, SAVED_TARGET),
            rv.load("lw", COUNTER, FRAME, SAVED_COUNTER),
            rv.csr("csrrw", FRAME, CSR["mscratch"], FRAME),
            rv.MRET,
        )

    def _emit_interrupt(self) -> None:
        """Clear the post and the edges: all of them, or the most urgent one."""
        self._emit(
            rv.csr("csrrs", COUNTER, CSR["mip"], 0),
            rv.addi(TARGET, 0, 1 << self._tier),
            rv.csr("csrrc", 0, CSR["mpost"], TARGET),
            rv.csr("csrrs", COUNTER, CSR["mlineclaim"], 0),
        )
        if self._rng.random() < 0.5:
            self._emit(
                rv.addi(COUNTER, COUNTER, -1),
                rv.addi(TARGET, 0, 1),
                rv.r_type("sll", COUNTER, TARGET, COUNTER),
            )
        else:
            self._emit(rv.csr("csrrs", COUNTER, CSR["mlinepend"], 0))
        self._emit(rv.csr("csrrw", 0, CSR["mlineack"], COUNTER))

    def _emit_nested_trap(self) -> None:
        """Now and then, trap again, on a second frame; not from there."""
        place = len(self.words)
        self._emit(
            rv.i_type("andi", COUNTER, FRAME, FRAME_BYTES),
            rv.NOP,
            rv.csr("csrrs", COUNTER, CSR["mcycle"], 0),
            rv.i_type("andi", COUNTER, COUNTER, 3),
            rv.NOP,
        )
        for name, offset in SAVED_CSRS.items():
            self._emit(rv.csr("csrrs", TARGET, CSR[name], 0), rv.store("sw", TARGET, FRAME, offset))
        self._emit(
            rv.addi(TARGET, FRAME, FRAME_BYTES),
            rv.csr("csrrw", TARGET, CSR["mscratch"], TARGET),
            rv.store("sw", TARGET, FRAME, SAVED_FRAME),
        )
        if self._rng.random() < 0.7:
            self._emit(rv.ECALL)
        if self._mix.interrupts and self._rng.random() < 0.7:
            self._emit(
                rv.csr("csrrsi", 0, CSR["mstatus"], MSTATUS_MIE),
                rv.NOP,
                rv.csr("csrrci", 0, CSR["mstatus"], MSTATUS_MIE),
            )
        self._emit(
            rv.load("lw", TARGET, FRAME, SAVED_FRAME), rv.csr("csrrw", 0, CSR["mscratch"], TARGET)
        )
        for name, offset in SAVED_CSRS.items():
            self._emit(rv.load("lw", TARGET, FRAME, offset), rv.csr("csrrw", 0, CSR[name], TARGET))
        for branch in (place + 1, place + 4):
            self.words[branch] = rv.branch("bne", COUNTER, 0, 4 * (len(self.words) - branch))

    def _emit_functions(self) -> None:
        for _ in range(4):
            self._functions.append(len(self.words))
            for _ in range(self._rng.randrange(6)):
                self._emit_compute()
            self._emit(rv.jalr(0, RETURN, 0))

    def _emit_setup(self, handler: int) -> None:
        rng = self._rng
        params = self._params
        # What the tier was given as it was started.
        self._emit(rv.csr("csrrs", FREE[0], CSR["mscratch"], 0))
        self._li(FRAME, local_data(params, self._tier) + FRAME_OFFSET)
        self._emit(rv.csr("csrrw", 0 if self._tier == 0 else FREE[1], CSR["mscratch"], FRAME))
        self._li(FRAME, handler)
        self._emit(rv.csr("csrrw", 0, CSR["mtvec"], FRAME))
        self._emit_bases()
        for register in (RETURN, TARGET, COUNTER, FRAME, *FREE):
            self._li(register, rng.choice((rng.getrandbits(32), rng.choice(INTERESTING))))
        if self._tier == 0:
            self._emit_start()
        self._emit_enables()

    def _emit_bases(self) -> None:
        params = self._params
        self._li(LOCAL, local_data(params, self._tier) + LOCAL_OFFSET)
        self._li(BUS, BUS_BASE + self._tier * BUS_BYTES + 0x400)
        self._li(SHARED, params.dmem.base + params.dmem.size_bytes - SHARED_BYTES)

    def _emit_enables(self) -> None:
        if self._mix.interrupts:
            self._li(TARGET, self._lines())
            self._emit(rv.csr("csrrw", 0, CSR["mlinemask"], TARGET))
            self._li(TARGET, sum(1 << code for code in Interrupt))
            self._emit(
                rv.csr("csrrw", 0, CSR["mie"], TARGET),
                rv.csr("csrrsi", 0, CSR["mstatus"], MSTATUS_MIE),
            )

    def _emit_start(self) -> None:
        """Set up what the tiers share, and start all."""
        params = self._params
        self._li(TARGET, self._lines())
        self._emit(rv.csr("csrrw", 0, CSR["mlineedge"], TARGET))
        for tier in range(1, params.tiers):
            self._li(TARGET, code_base(params, tier))
            self._emit(rv.csr("csrrw", 0, CSR[f"mtierpc{tier}"], TARGET))
            self._li(TARGET, self._rng.getrandbits(32))
            self._emit(rv.csr("csrrw", 0, CSR[f"mtierarg{tier}"], TARGET))
        self._emit(
            rv.addi(TARGET, 0, (1 << params.tiers) - 1),
            rv.csr("csrrs", 0, CSR["mtierrun"], TARGET),
        )

    def _emit_epilogue(self) -> None:
        """Say that the tier has finished; tier 0 waits for all and ends the run."""
        self._emit(rv.csr("csrrwi", 0, CSR["mstatus"], 0), rv.csr("csrrwi", 0, CSR["mie"], 0))
        if self._tier:
            self._emit_progress(NEARLY_DONE)
            for _ in range(LAST):
                self._rng.choice((self._emit_compute, self._emit_memory))()
        # No load is to be reported behind the end of the run.
        self._emit(rv.FENCE)
        self._emit_progress(DONE)
        if self._tier == 0:
            for tier in self._powers.ranking:
                if tier:
                    self._emit_wait_for_finish(tier)
            self._li(LOCAL, CONSOLE)
            self._emit(rv.store("sw", 0, LOCAL, 0))
        self._emit(rv.WFI, rv.jal(0, -4))

    def _emit_progress(self, progress: int) -> None:
        self._emit(
            rv.addi(TARGET, 0, progress),
            rv.store("sw", TARGET, LOCAL, PROGRESS_OFFSET - LOCAL_OFFSET),
        )

    def _emit_wait_for_finish(self, tier: int) -> None:
        """Start the tier, which may have stopped itself, until it has finished.

        No other tier stops or moves it any more. If fence.i is repeated, others may take some fifty
        cycles an instruction: too long for handlers.
        """
        # Few instructions.
        pause = [rv.r_type("div", 0, LOCAL, LOCAL)] if self._mix.muldiv else []
        self._li(LOCAL, local_data(self._params, tier))
        if self._rng.random() < 0.7:
            self._emit_wait_for_progress(tier, NEARLY_DONE, pause)
            pause = self._rng.choice(([rv.FENCE_I], [rv.FENCE_I, *pause]))
        self._emit_wait_for_progress(tier, DONE, pause)

    def _emit_wait_for_progress(self, tier: int, progress: int, pause: list[int]) -> None:
        begin = len(self.words)
        self._emit_run("csrrs", self._destination(), 1 << tier)
        self._emit(
            rv.addi(COUNTER, 0, self._rng.randrange(5, 50)),
            rv.load("lw", TARGET, LOCAL, PROGRESS_OFFSET),
            rv.addi(TARGET, TARGET, -progress),
            rv.branch("bge", TARGET, 0, 16 + 4 * len(pause)),
            rv.addi(COUNTER, COUNTER, -1),
            *pause,
            rv.branch("bne", COUNTER, 0, -16 - 4 * len(pause)),
        )
        self._emit(rv.jal(0, 4 * (begin - len(self.words))))


def random_segments(seed: int, params: CoreParams, mix: Mix) -> dict[int, bytes]:
    """What to load where: a program for each tier, and local data.

    With fewer pieces, a tier's program is the beginning of the longer one.
    """
    powers = _powers(random.Random(seed), params)
    segments = {}
    data = bytearray(random.Random(f"{seed} data").randbytes(params.dmem.size_bytes))
    for tier in range(params.tiers):
        own = random.Random(f"{seed} {tier}")
        program = TierProgram(own, params, tier, mix, powers[tier])
        words = program.generate()
        segments[code_base(params, tier)] = struct.pack(f"<{len(words)}I", *words)
        place = local_data(params, tier) - params.dmem.base
        struct.pack_into("<I", data, place + PROGRESS_OFFSET, 0)
        struct.pack_into("<I", data, place + LOCAL_OFFSET + RESUME_OFFSET, program.resume)
    segments[params.dmem.base] = bytes(data)
    # What is ahead of the end of a memory.
    for end in (params.imem.base + params.imem.size_bytes, BUS_BASE + BUS_MEMORY_BYTES):
        segments[end - 8] = struct.pack("<2I", rv.NOP, rv.NOP)
    return segments


def _powers(rng: random.Random, params: CoreParams) -> list[Powers]:
    """For each tier. It may stop the ones of higher rank; or, so that they can also be moved, ones
    that nobody else stops."""
    tiers = range(params.tiers)
    ranks = rng.sample(tiers, params.tiers)
    movable = rng.random() < 0.7
    masters = [rng.randrange(rank) if rank else None for rank in ranks]

    def subject(tier: int) -> Subject:
        data = local_data(params, tier)
        places = (code_base(params, tier), data + FRAME_OFFSET, data + PROGRESS_OFFSET)
        return Subject(tier, *places, movable)

    def is_subject(tier: int, master: int) -> bool:
        return masters[tier] == ranks[master] if movable else ranks[tier] > ranks[master]

    def powers(master: int) -> Powers:
        subjects = tuple(subject(tier) for tier in tiers if is_subject(tier, master))
        own = {subject.tier for subject in subjects}
        startable = (tier for tier in tiers if not movable or not ranks[tier] or tier in own)
        return Powers(subjects, tuple(startable), tuple(sorted(tiers, key=ranks.__getitem__)))

    return [powers(tier) for tier in tiers]
