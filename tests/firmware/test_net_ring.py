"""Rings: order, limits, wrap-around, and the other side running between any two instructions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from host_build import TESTS, build

#: The exit status by which ring_driver says that this host can't run a case.
NOT_HERE = 77

CASES = {
    "order": "entries come out in the order in which they went in",
    "full": "a full ring refuses and loses nothing",
    "wrap": "the counters run through 2 to the 32",
    "model": "random pushes and pops agree with an array",
    "producer_preempted": "the consumer may run after any instruction of the producer",
    "consumer_preempted": "the producer may run after any instruction of the consumer",
}


@pytest.fixture(scope="module")
def ring_driver() -> Path:
    # Without sanitizers and optimised: it is the compiler's order of stores that is on trial.
    return build("ring_driver", [TESTS / "ring_driver.c"], sanitize=False)


@pytest.mark.parametrize("case", CASES, ids=list(CASES.values()))
def test_ring(ring_driver: Path, case: str) -> None:
    done = subprocess.run(
        [ring_driver, case], capture_output=True, text=True, check=False, timeout=120
    )
    if done.returncode == NOT_HERE:
        pytest.skip(done.stderr)
    assert done.returncode == 0, done.stderr
