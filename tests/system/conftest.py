"""The fixtures of the tests of the whole system."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from system_builds import System, make_system, turns

pytest.register_assert_rewrite("soak")

#: Slow here; the third with one context, which polls, differs most from the tiers and is quick.
_ONE_CONTEXT = ("single", "vexriscv")


@pytest.fixture(scope="session")
def systems() -> Callable[[str], System]:
    """Makes a build by its name in ``BUILDS`` or ``DMA_BUILDS``."""
    return make_system


@pytest.fixture(scope="session", params=turns("tiers", "polled", *_ONE_CONTEXT, slow=_ONE_CONTEXT))
def system(request: pytest.FixtureRequest) -> System:
    """Each build in turn; those with one context quickly only where a test asks for them."""
    return make_system(request.param)
