"""Pieces of random programs by which tiers act on each other."""

from __future__ import annotations

import random
from dataclasses import dataclass

import encoding as rv
from random_code import (
    COUNTER,
    CSR,
    FREE,
    LOCAL,
    RESUME_OFFSET,
    SLED,
    TARGET,
    Mix,
    StraightLine,
)

from tierv.rtl.params import CoreParams


@dataclass(frozen=True)
class Subject:
    """A tier that another one may stop and start again, or, if it has no other master, move."""

    tier: int
    #: Where its program begins.
    base: int
    #: What its mscratch holds outside of its handler.
    frame: int
    #: Where it says how far it has come.
    progress: int
    movable: bool


@dataclass(frozen=True)
class Powers:
    """What a tier may do to others.

    Who may stop whom has no cycle, and all but tier 0 may stop themselves; so tier 0 goes on until
    it has done its part, and then starts the others.
    """

    #: Those that it may stop.
    subjects: tuple[Subject, ...]
    #: Those that it may start at any time: no other tier moves them.
    startable: tuple[int, ...]
    #: All tiers, those that may stop one ahead of it.
    ranking: tuple[int, ...]


class TierPieces(StraightLine):
    """Emits them for one tier."""

    def __init__(
        self,
        rng: random.Random,
        params: CoreParams,
        tier: int,
        mix: Mix,
        powers: Powers,
    ) -> None:
        super().__init__(rng, params, mix)
        self._tier = tier
        self._powers = powers
        self._subjects = powers.subjects
        self._buffered = False

    def _emit_ceiling(self) -> None:
        """A critical section; a tier that stops in it holds nobody back meanwhile."""
        self._emit(rv.csr("csrrwi", 0, CSR["mceiling"], self._rng.randrange(self._params.tiers)))
        self._emit_some(5)
        if self._tier and self._rng.random() < 0.3:
            self._emit_self_stop()
            self._emit_some(5)
        self._emit(rv.csr("csrrwi", 0, CSR["mceiling"], 0))

    def _emit_stop(self) -> None:
        """Stop other tiers for a while, or let them go on elsewhere."""
        subjects = [subject for subject in self._subjects if self._rng.random() < 0.5]
        movable = [subject for subject in subjects if subject.movable and self._mix.moves]
        value = self._rng.choice(FREE)
        tiers = sum(1 << subject.tier for subject in subjects)
        moves = movable and self._rng.random() < 0.7
        reads = self._rng.random() < 0.5
        self._emit_run("csrrc", value if reads else 0, tiers)
        if moves:
            self._emit_wait_for_stop(value, tiers)
            # Not all have stopped.
            place = len(self.words)
            self._emit(rv.NOP)
            for subject in movable:
                self._emit_move(subject)
            self.words[place] = rv.branch("bne", value, 0, 4 * (len(self.words) - place))
        self._emit_some(6)
        self._emit_run("csrrs", self._destination(), tiers)

    def _emit_run(self, operation: str, destination: int, tiers: int) -> None:
        """Write to ``mtierrun``, from TARGET or, if it can be, from the instruction itself."""
        if tiers < 32 and self._rng.random() < 0.5:
            self._emit(rv.csr(f"{operation}i", destination, CSR["mtierrun"], tiers))
        else:
            self._li(TARGET, tiers)
            self._emit(rv.csr(operation, destination, CSR["mtierrun"], TARGET))

    def _emit_self_stop(self) -> None:
        """Stop, until another tier starts this one again; start all others in the same cycle."""
        own = 1 << self._tier
        if len(self._powers.startable) == self._params.tiers and self._rng.random() < 0.3:
            self._emit_run("csrrw", self._destination(), (1 << self._params.tiers) - 1 - own)
        else:
            self._emit_run("csrrc", self._destination(), own)

    def _emit_start_others(self) -> None:
        startable = self._powers.startable
        tiers = sum(1 << tier for tier in startable if self._rng.random() < 0.7)
        self._emit_run("csrrs", self._destination(), tiers)

    def _emit_wait_for_stop(self, value: int, tiers: int) -> None:
        """Until the tiers have stopped, or for some time.

        At the end, those still to stop are in the register. Less urgent ones may get no slot to
        stop in, and another write to ``mtierrun`` calls a stop off. A write to mceiling leaves
        slots.
        """
        pause = [rv.csr("csrrwi", 0, CSR["mceiling"], 0)]
        rounds = self._rng.randrange(10, 100)
        # Then a tier's own code comes slowly.
        if self._rng.random() < 0.3:
            pause, rounds = [rv.FENCE_I], self._rng.randrange(5, 20)
        self._li(TARGET, tiers)
        self._emit(
            rv.addi(COUNTER, 0, rounds),
            rv.csr("csrrs", value, CSR["mtierrun"], 0),
            rv.r_type("and", value, value, TARGET),
            rv.branch("beq", value, 0, 16),
            *pause,
            rv.addi(COUNTER, COUNTER, -1),
            rv.branch("bne", COUNTER, 0, -20),
        )

    def _emit_move(self, subject: Subject) -> None:
        rng = self._rng
        writes = [
            (f"mtierarg{subject.tier}", subject.frame),
            # Bits 1:0 do not count.
            (f"mtierpc{subject.tier}", subject.base + 4 * rng.choice(SLED) + rng.randrange(4)),
        ]
        rng.shuffle(writes)
        for name, value in writes:
            self._li(COUNTER, value)
            operation = rng.choice(("csrrw", "csrrw", "csrrs"))
            self._emit(rv.csr(operation, self._destination(), CSR[name], COUNTER))
        # It is to say so again.
        self._li(COUNTER, subject.progress)
        self._emit(rv.store("sw", 0, COUNTER, 0))

    def _emit_resume(self) -> None:
        """Here the tier goes on if it is moved, whatever its registers are then."""
        self._emit(
            rv.auipc(TARGET, 0),
            rv.addi(TARGET, TARGET, 12),
            rv.store("sw", TARGET, LOCAL, RESUME_OFFSET),
            rv.csr("csrrwi", 0, CSR["mbusmode"], int(self._buffered)),
        )

    def _emit_ignored_start(self) -> None:
        """PC and argument of a tier that is started, this one, can't be set."""
        name = self._rng.choice((f"mtierpc{self._tier}", f"mtierarg{self._tier}"))
        self._emit(rv.csr("csrrw", self._destination(), CSR[name], self._any()))
