"""Fixtures for several folders of tests."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest


@pytest.fixture
def namespace() -> Iterator[tuple[str, ...]]:
    """Words before a command that is to run in a network namespace of its own."""
    # Not at the top: cocotb imports this file too, inside a simulation.
    import board

    problem = board.tap_problem()
    if problem:
        pytest.skip(f"no TAP device in a network namespace here: {problem}")
    with board.network_namespace() as words:
        yield words


@pytest.fixture(scope="session")
def pseudo_terminals() -> None:
    """There are pseudo terminals, which a container or a chroot may be without."""
    try:
        ends = os.openpty()
    except OSError as error:
        pytest.skip(f"no pseudo terminals here (mount devpts at /dev/pts): {error}")
    for end in ends:
        os.close(end)


@pytest.fixture(scope="session")
def spike() -> None:
    """Spike is installed."""
    # Not at the top: a simulation of cocotb has no such path.
    from spike_package import spike_problem

    if problem := spike_problem():
        pytest.skip(problem)
