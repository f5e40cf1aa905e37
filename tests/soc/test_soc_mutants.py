"""The tests find faults that are planted anywhere in the SoC's own blocks."""

from __future__ import annotations

import pytest
from block_mutants import BLOCKS, judge_block
from csr_block import block_verilog
from migen import Signal

#: Fewer would say little.
LEAST = 60


@pytest.mark.slow
@pytest.mark.parametrize("name", BLOCKS)
def test_every_planted_fault_is_found_or_explained(name):
    verdicts = [*judge_block(name)]
    assert len(verdicts) >= LEAST
    survivors = [verdict.mutant for verdict in verdicts if verdict.survives]
    assert not survivors, "\n".join(f"{mutant.number}: {mutant}" for mutant in survivors)


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_has_the_same_verilog_whatever_was_made_before(name):
    first = block_verilog(BLOCKS[name].make).files
    for _ in range(77):
        Signal()
    assert block_verilog(BLOCKS[name].make).files == first
