"""E17's verdict."""

from __future__ import annotations

import pytest

from tierv.sim.experiments import busy_ports
from tierv.sim.experiments.bench import Build
from tierv.sim.experiments.rfc2544_trial import SIZES


@pytest.mark.parametrize(
    ("build", "changes", "passes"),
    [
        (Build.BANKED, {}, True),
        (Build.BANKED, {"frames lost": 1}, False),
        (Build.BANKED, {"serial bytes lost": 1}, False),
        (Build.SINGLE, {"frames lost": 1}, True),
    ],
)
def test_the_verdict_is_that_of_the_banked_build(build, changes, passes):
    rows = [
        {"build": one, "bytes": size, "frames lost": 0, "serial bytes lost": 0}
        for one in (Build.BANKED, Build.SINGLE)
        for size in SIZES
    ]
    next(row for row in rows if row["build"] == build).update(changes)
    assert busy_ports.passes(rows) is passes
