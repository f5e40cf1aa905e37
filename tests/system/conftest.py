"""The fixtures of the tests of the whole system."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from system_builds import System, make_system, turns

pytest.register_assert_rewrite("soak")

#: Slow here; quick only where a test asks for them.
_ONE_CONTEXT = ("polled", "single", "vexriscv")


@pytest.fixture(scope="session")
def systems() -> Callable[[str], System]:
    """Makes a build by its name in ``BUILDS`` or ``DMA_BUILDS``."""
    return make_system


@pytest.fixture(scope="session", params=turns("tiers", *_ONE_CONTEXT, slow=_ONE_CONTEXT))
def system(request: pytest.FixtureRequest) -> System:
    """Each build in turn."""
    return make_system(request.param)
