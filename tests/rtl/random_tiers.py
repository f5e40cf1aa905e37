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
    #: Where it says that it has finished.
    done: int
    movable: bool


class TierPieces(StraightLine):
    """Emits them for one tier.

    ``subjects``: who may stop whom has no cycle, so that no tier stays stopped.
    """

    def __init__(
        self,
        rng: random.Random,
        params: CoreParams,
        tier: int,
        mix: Mix,
        subjects: tuple[Subject, ...],
    ) -> None:
        super().__init__(rng, params, mix)
        self._tier = tier
        self._subjects = subjects
        self._buffered = False

    def _emit_ceiling(self) -> None:
        """A critical section."""
        self._emit(rv.csr("csrrwi", 0, CSR["mceiling"], self._rng.randrange(self._params.tiers)))
        self._emit_some(5)
        self._emit(rv.csr("csrrwi", 0, CSR["mceiling"], 0))

    def _emit_stop(self) -> None:
        """Stop other tiers for a while, or let them go on elsewhere."""
        subjects = [subject for subject in self._subjects if self._rng.random() < 0.5]
        movable = [subject for subject in subjects if subject.movable and self._mix.moves]
        value = self._rng.choice(FREE)
        self._li(TARGET, sum(1 << subject.tier for subject in subjects))
        self._emit(rv.csr("csrrc", value, CSR["mtierrun"], TARGET))
        if movable and self._rng.random() < 0.7:
            self._emit_wait_for_stop(value)
            # Not all have stopped.
            place = len(self.words)
            self._emit(rv.NOP)
            for subject in movable:
                self._emit_move(subject)
            self.words[place] = rv.branch("bne", value, 0, 4 * (len(self.words) - place))
        self._emit_some(6)
        self._li(TARGET, sum(1 << subject.tier for subject in subjects))
        self._emit(rv.csr("csrrs", self._rng.choice(FREE), CSR["mtierrun"], TARGET))

    def _emit_wait_for_stop(self, value: int) -> None:
        """Until the tiers in TARGET have stopped, or for some time.

        What has been read of ``mtierrun`` is in the register; at the end, those still to stop. Less
        urgent ones may get no slot to stop in, and another write to ``mtierrun`` calls a stop off.
        A write to mceiling leaves slots.
        """
        self._emit(
            rv.addi(COUNTER, 0, self._rng.randrange(10, 100)),
            rv.r_type("and", value, value, TARGET),
            rv.branch("beq", value, 0, 24),
            rv.csr("csrrwi", 0, CSR["mceiling"], 0),
            rv.csr("csrrs", value, CSR["mtierrun"], 0),
            rv.addi(COUNTER, COUNTER, -1),
            rv.branch("bne", COUNTER, 0, -20),
            rv.r_type("and", value, value, TARGET),
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
        self._li(COUNTER, subject.done)
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
