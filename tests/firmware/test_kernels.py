"""The kernels of the bench of cores: what they find, on the host under the sanitizers."""

from __future__ import annotations

import subprocess

from host_build import ROOT, TESTS, build
from kernel_reference import KERNELS

from tierv.sim.cores.kernels import EXPECTED


def test_what_the_kernels_must_find_has_been_computed_another_way():
    assert dict(EXPECTED) == KERNELS


def test_they_find_it_twice_and_touch_nothing_else():
    kernels = sorted((ROOT / "firmware/kernels").glob("*.c"))
    sources = [path for path in kernels if path.name != "main.c"]
    program = build("kernels_driver", [TESTS / "kernels_driver.c", *sources])
    done = subprocess.run([program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = [line.split() for line in done.stdout.splitlines()]
    assert found == [[name, str(value)] for name, value in KERNELS.items()] * 2
