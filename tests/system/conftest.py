"""The fixtures of the tests of the whole system."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from system_builds import BUILDS, System, make_system

pytest.register_assert_rewrite("soak")

#: The slow one only where a test asks for it; the other CPU's takes its turn with the slow tests.
_USUAL = [
    pytest.param(build, marks=[pytest.mark.slow] if build == "vexriscv" else [])
    for build in BUILDS
    if build != "picorv32"
]


@pytest.fixture(scope="session")
def systems() -> Callable[[str], System]:
    """Makes a build by its name in ``BUILDS`` or ``DMA_BUILDS``."""
    return make_system


@pytest.fixture(scope="session", params=_USUAL)
def system(request: pytest.FixtureRequest) -> System:
    """Each build in turn."""
    return make_system(request.param)
