"""Spike as the reference: one instance per tier, compared with the core step by step.

The trace says in which order the tiers' instructions took effect, and where a tier took an
interrupt or left wfi; everything else, Spike computes. CSRs of time, lines and events are those of
``csr_model``, started tiers those of ``tier_starts``; ``mimpid`` alone is taken from the trace.
"""

from __future__ import annotations

import numpy as np
from bus_model import lane_bits
from ceiling_model import Ceilings
from csr_model import CsrModel
from decoding import (
    LOAD,
    STORE,
    SYSTEM,
    modified,
    offset,
    reads_rs1,
    reads_rs2,
    written_from,
)
from encoding import FENCE, WFI
from input_model import History
from spike_tiers import MismatchError, SpikeTiers
from tier_starts import TierStarts

from tierv.rtl.isa import Cause, csr_addresses
from tierv.rtl.params import CoreParams

CSR = csr_addresses()
#: CSRs of which Spike has no value, or another one.
VOLATILE = {
    CSR[name]
    for name in (
        "mcycle", "mcycleh", "cycle", "cycleh", "time", "timeh", "mip", "mtierrun",
        "mlinepend", "mlineclaim", "mlineraw", "mtierlatency", "mimpid", "marchid", "mvendorid",
        *(f"mhpmcounter{n}" for n in range(3, 32)), *(f"mhpmcounter{n}h" for n in range(3, 32)),
        *(f"mhpmevent{n}" for n in range(3, 32)), *(f"mlinestamp{n}" for n in range(32)),
    )
}  # fmt: skip
#: Spike's instruction counters are not used: the trace itself is counted.
COUNTS = {CSR["minstret"]: 0, CSR["minstreth"]: 32, CSR["instret"]: 0, CSR["instreth"]: 32}


class Reference:
    """All tiers of a core in Spike, and how far the core's trace has brought each."""

    def __init__(
        self, params: CoreParams, spike: SpikeTiers, lines: History, timer: History
    ) -> None:
        """``lines`` and ``timer`` are the core's inputs of these names."""
        self._params = params
        self._spike = spike
        self._starts = TierStarts(params.tiers)
        self._ceilings = Ceilings(params.tiers)
        self._csrs = CsrModel(params, spike, lines, timer)
        # The last cycle in which an instruction surely was in stage M; of each tier, too.
        self._now = 0
        self._cycles = [0] * params.tiers
        # Of each tier, the cycle up to which a precise access may have kept interrupts waiting.
        self._held_until = [0] * params.tiers
        self._retired = [0] * params.tiers
        # Of each tier, the last instruction; None if it trapped.
        self._last: list[int | None] = [None] * params.tiers
        # Of each tier, the cause of a buffered access that has failed; loads among them that the
        # trace has left out.
        self._failed: list[int | None] = [None] * params.tiers
        self._unreported = 0

    def check(self, trace: np.ndarray) -> int:
        """Compare every record; returns their number.

        Raises ``MismatchError`` at the first difference.
        """
        fields = trace.dtype.names
        expected_order = 0
        causes, ends_badly = _exception_causes(trace), _access_fails(trace)
        for record, cause, fails in zip(trace.tolist(), causes, ends_badly, strict=True):
            step = dict(zip(fields, record, strict=True))
            # A buffered load that fails is never reported; _check_step sees whether it was one.
            self._unreported += step["order"] - expected_order
            if not 0 <= self._unreported <= self._params.tiers:
                raise MismatchError(f"order {step['order']} instead of {expected_order}")
            expected_order = step["order"] + 1
            self._check_step(step, cause, fails)
        return expected_order

    def _check_step(self, step: dict[str, int], cause: int | None, fails: bool) -> None:
        """``cause`` is that of the exception, if the instruction raises one.

        ``fails``: an access ahead of it has failed, if none ahead of the tier's next fence does.
        """
        tier, pc, word = step["tier"], step["pc"], step["instruction"]
        processor = self._spike.processors[tier]
        state = processor.state

        def fail(what: str, core: int, spike: int) -> None:
            raise MismatchError(
                f"cycle {step['cycle']}, tier {tier}, {word:#010x} at {pc:#010x}:"
                f" {what} is {core:#010x}, Spike has {spike:#010x}"
            )

        last, self._last[tier] = self._last[tier], None if step["trap"] else word
        if step["interrupt"] and step["cause"] == 0 and last not in (None, WFI):
            fail("the instruction before a wake", last, WFI)
        is_late = self._is_late(step)
        # In stage M, one behind the other; a late load is reported when it has its word.
        cycle = self._now + 1 if is_late else m_cycle(step)
        is_access = self._is_precise_access(step)
        self._starts.executes(tier, cycle, is_access=is_access)
        self._ceilings.executes(tier, cycle, stops=bool(self._starts.may_rest >> tier & 1))
        if not is_late:
            self._check_interrupts(step, cycle, last, is_access, fails)
        self._now = cycle
        self._go_elsewhere(tier, fails)
        if state.pc & 0xFFFF_FFFF != pc and self._unreported and self._fails_late(tier, state.pc):
            self._unreported -= 1
            self._go_on_without(tier, Cause.LOAD_ACCESS)
        if state.pc & 0xFFFF_FFFF != pc:
            fail("pc", pc, state.pc & 0xFFFF_FFFF)
        if step["trap"] and self._failed[tier] is not None:
            self._trap_late(tier, cause)
            self._csrs.enable(tier, cycle)
            if state.pc & 0xFFFF_FFFF != step["next_pc"]:
                fail("the next pc", step["next_pc"], state.pc & 0xFFFF_FFFF)
            return
        if step["write_mask"] and self._fails_late(tier, pc):
            self._go_on_without(tier, Cause.STORE_ACCESS)
            return

        if not step["trap"]:
            self._check_reads(step, state, fail)
        address = word >> 20
        is_csr = word & 0x7F == SYSTEM and word >> 12 & 7 and not step["trap"]
        source = written_from(word, state.XPR) if is_csr else None
        if word == WFI and not step["trap"]:
            state.pc = pc + 4
            self._ceilings.rest(1 << tier)
        else:
            processor.step(1)
        self._csrs.enable(tier, cycle)
        self._retired[tier] += not step["trap"]
        if is_csr:
            self._access_csr(step, state, address, source)
        if step["trap"]:
            cause = processor.get_csr(CSR["mcause"])
            if cause == Cause.ILLEGAL:
                processor.put_csr(CSR["mtval"], 0)

        if state.pc & 0xFFFF_FFFF != step["next_pc"]:
            fail("the next pc", step["next_pc"], state.pc & 0xFFFF_FFFF)
        if step["rd"]:
            value = state.XPR[step["rd"]] & 0xFFFF_FFFF
            if value != step["rd_value"]:
                fail(f"x{step['rd']}", step["rd_value"], value)
        if step["write_mask"]:
            self._check_store(step, fail)

    def _is_remote(self, step: dict[str, int]) -> bool:
        """Whether the instruction loads or stores, or would have, on the bus or in a cache."""
        word, local = step["instruction"], self._params.dmem
        address = step["rs1_value"] + offset(word) & 0xFFFF_FFFF
        return word & 0x7F in (LOAD, STORE) and not 0 <= address - local.base < local.size_bytes

    def _is_precise_access(self, step: dict[str, int]) -> bool:
        """Whether the instruction waits for the bus, or for room among the stores to a cache."""
        buffered = self._spike.buffers_accesses(step["tier"])
        return self._is_remote(step) and (not buffered or bool(self._params.dcache_bytes))

    def _is_late(self, step: dict[str, int]) -> bool:
        """Whether the instruction may be a load that was in stage M long before its report."""
        loads = bool(step["read_mask"]) and self._is_remote(step)
        return loads and self._spike.buffers_accesses(step["tier"])

    def _check_interrupts(
        self, step: dict[str, int], cycle: int, last: int | None, is_access: bool, fails: bool
    ) -> None:
        """Take an interrupt if the instruction is the first one of its handler.

        If not, none may be due. ``last`` is the tier's instruction before, if known.
        """
        tier = step["tier"]
        first = self._cycles[tier]
        self._cycles[tier] = cycle
        if step["interrupt"] and step["cause"] & 0x20:
            self._csrs.check_interrupt(tier, step["cause"] & 0x1F, first, cycle)
            self._go_on_if_unreported(tier, fails)
            self._spike.interrupt(tier, step["cause"] & 0x1F)
        # They wait for an access to end, and the instruction behind it has then begun.
        elif not is_access and cycle > self._held_until[tier]:
            self._csrs.check_none_due(tier, cycle)
        if last == WFI and not self._starts.is_moved(tier):
            self._csrs.check_wake(tier, first, cycle)
        if is_access:
            self._held_until[tier] = cycle + 1

    def _go_elsewhere(self, tier: int, fails: bool) -> None:
        """If ``mtierpc`` of the tier has been written, what it was about to do is not done.

        A buffered load there that is never reported shows only by its trap.
        """
        pc = self._starts.take_move(tier)
        if pc is None:
            return
        self._go_on_if_unreported(tier, fails)
        self._spike.move(tier, pc)

    def _go_on_if_unreported(self, tier: int, fails: bool) -> None:
        """Where the tier leaves its way, it may have begun a load that is never reported."""
        missing = self._unreported and fails and self._failed[tier] is None
        if missing and self._fails_late(tier, self._spike.processors[tier].state.pc):
            self._unreported -= 1
            self._go_on_without(tier, Cause.LOAD_ACCESS)

    def _fails_late(self, tier: int, pc: int) -> bool:
        """Whether the instruction there is a buffered access to nowhere."""
        word = self._spike.word(pc & 0xFFFF_FFFF)
        opcode = word & 0x7F
        if opcode not in (LOAD, STORE) or not self._spike.buffers_accesses(tier):
            return False
        base = self._spike.processors[tier].state.XPR[word >> 15 & 31]
        return not self._spike.has(base + offset(word) & 0xFFFF_FFFF)

    def _go_on_without(self, tier: int, cause: int) -> None:
        """The access retires and has no effect but a trap that is still to come."""
        state = self._spike.processors[tier].state
        state.pc = state.pc + 4
        self._retired[tier] += 1
        self._failed[tier] = cause

    def _trap_late(self, tier: int, cause: int | None) -> None:
        """The trap of a buffered access that failed, at an instruction that has not to do with it.

        Raises ``MismatchError`` for another cause; None is unknown.
        """
        expected = self._failed[tier]
        if cause not in (expected, None):
            raise MismatchError(f"tier {tier}: cause {cause} instead of {expected}")
        self._failed[tier] = None
        self._spike.trap(tier, expected)

    def _access_csr(self, step: dict[str, int], state, address: int, source: int | None) -> None:
        """What Spike does not know of CSRs; ``source`` is what the instruction writes from."""
        tier = step["tier"]
        if address in COUNTS:
            # An instruction counts itself at its end, unless it writes the counter.
            place = COUNTS[address]
            before = self._retired[tier] - 1
            old = before >> place & 0xFFFF_FFFF
            if step["rd"]:
                state.XPR.write(step["rd"], _extended(old))
            if source is not None:
                new = modified(step["instruction"], old, source)
                self._retired[tier] = before & ~(0xFFFF_FFFF << place) | new << place
            return
        cycle = m_cycle(step)
        value = step["rd_value"] if step["rd"] else None
        if address in VOLATILE and value is not None:
            if address == CSR["mtierrun"]:
                self._starts.read(value)
            else:
                self._csrs.check(tier, cycle, address, value)
            state.XPR.write(step["rd"], _extended(value))
        if source is not None:
            self._write_csr(step, address, source, value)

    def _write_csr(
        self, step: dict[str, int], address: int, source: int, value: int | None
    ) -> None:
        """``value`` is what the instruction has read, if it has."""
        tier, word = step["tier"], step["instruction"]
        if address == CSR["mtierrun"]:
            self._starts.write(tier, m_cycle(step), word, source, was_read=value is not None)
            self._ceilings.rest(self._starts.may_rest)
        elif CSR["mtierpc0"] <= address < CSR["mtierarg0"] + self._params.tiers:
            target = address - CSR["mtierpc0"] & 7
            if self._starts.is_stopped(target, tier):
                # Both read 0.
                new = modified(word, 0, source)
                if address < CSR["mtierarg0"]:
                    self._starts.move(target, new)
                    self._csrs.disable(target, m_cycle(step))
                else:
                    self._spike.processors[target].put_csr(CSR["mscratch"], new)
        elif address == CSR["mceiling"]:
            self._ceilings.set(tier, m_cycle(step), self._spike.ceiling(tier))
        else:
            self._csrs.wrote(tier, m_cycle(step), word, address, source, value)

    def _check_reads(self, step: dict[str, int], state, fail) -> None:
        """The instruction itself, the registers that it reads, what it loads from where, and the
        bytes that it stores."""
        pc, word = step["pc"], step["instruction"]
        if word != self._spike.word(pc):
            fail("the instruction", word, self._spike.word(pc))
        for name, place, reads in (("rs1", 15, reads_rs1(word)), ("rs2", 20, reads_rs2(word))):
            register = word >> place & 31 if reads else 0
            if step[name] != register:
                fail(name, step[name], register)
            value = state.XPR[register] & 0xFFFF_FFFF
            if step[f"{name}_value"] != value:
                fail(f"the value of {name}", step[f"{name}_value"], value)
        opcode = word & 0x7F
        address, bytes_ = step["rs1_value"] + offset(word) & 0xFFFF_FFFF, 0
        if opcode in (LOAD, STORE):
            bytes_ = (1 << (1 << (word >> 12 & 3))) - 1 << (address & 3)
            if step["memory_address"] != address & ~3:
                fail("the address", step["memory_address"], address & ~3)
        for name, kind in (("read_mask", LOAD), ("write_mask", STORE)):
            accessed = bytes_ if opcode == kind else 0
            if step[name] != accessed:
                fail(f"the {name}", step[name], accessed)
        if opcode == LOAD:
            lanes, stored = lane_bits(bytes_), self._spike.word(address & ~3)
            if (step["memory_read"] ^ stored) & lanes:
                fail("the word loaded", step["memory_read"] & lanes, stored & lanes)

    def _check_store(self, step: dict[str, int], fail) -> None:
        word, lanes = self._spike.word(step["memory_address"]), lane_bits(step["write_mask"])
        if (word ^ step["memory_written"]) & lanes:
            fail("the word stored", step["memory_written"] & lanes, word & lanes)


def _extended(value: int) -> int:
    """A register's value as Spike holds it, 64 bits with the sign extended."""
    return value | 0xFFFF_FFFF_0000_0000 if value >> 31 else value


def m_cycle(step: dict[str, int]) -> int:
    """The cycle in which an instruction was in stage M, where it accesses CSRs."""
    return step["cycle"] - 1


def _access_fails(trace: np.ndarray) -> list[bool]:
    """For each record, whether its tier traps from there on before a fence has retired."""
    traps: dict[int, bool] = {}
    found = []
    for tier, trap, word in reversed(trace[["tier", "trap", "instruction"]].tolist()):
        if trap or word == FENCE:
            traps[tier] = bool(trap)
        found.append(traps.get(tier, False))
    return found[::-1]


def _exception_causes(trace: np.ndarray) -> list[int | None]:
    """For each record that traps, the cause that the first one of its handler tells."""
    following: dict[int, int | None] = {}
    causes: list[int | None] = []
    for tier, trap, interrupt, cause in reversed(
        trace[["tier", "trap", "interrupt", "cause"]].tolist()
    ):
        causes.append(following.get(tier) if trap else None)
        following[tier] = cause if interrupt else None
    return causes[::-1]
