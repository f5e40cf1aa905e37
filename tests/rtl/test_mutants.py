"""The tests find faults that are planted anywhere in the core."""

from __future__ import annotations

import pytest
from fault_verdicts import unused_explanations
from lockstep import CORES
from mutants import judge_all
from mutants_explained import EXPLANATIONS
from mutated_core import mutated_core

#: Fewer would say little.
LEAST = 60


@pytest.mark.slow
def test_no_fault_is_explained_that_this_core_does_not_have():
    faults = mutated_core(CORES["3"]).faults
    assert not unused_explanations(EXPLANATIONS, faults.mutants)


@pytest.mark.slow
@pytest.mark.usefixtures("spike")
def test_every_planted_fault_is_found_or_explained():
    verdicts = [*judge_all(CORES["3"])]
    assert len(verdicts) >= LEAST
    survivors = [verdict.mutant for verdict in verdicts if verdict.survives]
    assert not survivors, "\n".join(f"{mutant.number}: {mutant}" for mutant in survivors)
