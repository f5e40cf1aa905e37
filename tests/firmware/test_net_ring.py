"""Rings: order, limits, wrap-around, and the other side running between any two instructions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from host_build import ROOT, TESTS, build, run_stepped

CASES = {
    "order": "entries come out in the order in which they went in",
    "full": "a full ring refuses and loses nothing",
    "wrap": "the counters run through 2 to the 32",
    "model": "random pushes and pops agree with an array",
    "producer_preempted": "the consumer may run after any instruction of the producer",
    "consumer_preempted": "the producer may run after any instruction of the consumer",
}


@pytest.fixture(scope="module", params=[[], ["BYTE_RING"]], ids=["pointers", "bytes"])
def ring_driver(request: pytest.FixtureRequest) -> Path:
    # Without sanitizers and optimised: it is the compiler's order of stores that is on trial.
    sources = [TESTS / "ring_driver.c"]
    return build(
        "_".join(["ring_driver", *request.param]), sources, sanitize=False, defines=request.param
    )


@pytest.mark.parametrize("case", CASES, ids=list(CASES.values()))
def test_ring(ring_driver: Path, case: str) -> None:
    run_stepped(ring_driver, case)


def test_a_serial_ring_takes_what_fits_and_its_user_is_woken_whenever_it_makes_room() -> None:
    run_stepped(build("serial_ring_driver", [TESTS / "serial_ring_driver.c"], sanitize=False))


@pytest.mark.parametrize(("slots", "good"), [(1, True), (16, True), (0, False), (10, False)])
def test_slots_that_are_no_power_of_two_are_refused(slots: int, good: bool) -> None:
    source = f'#include "net/ring.h"\nextern RING({slots}) ring;\n'
    done = subprocess.run(
        ["gcc", "-std=gnu11", "-fsyntax-only", f"-I{ROOT / 'firmware'}", "-x", "c", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) == good
    assert good or "slots of a RING must be a power of two" in done.stderr
