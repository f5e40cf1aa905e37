"""Which cases of a test take their turn with the slow tests."""

from __future__ import annotations

from collections.abc import Container, Iterable

import pytest


def turns(cases: Iterable, slow: Container) -> list:
    """For ``parametrize``: each of the cases, those in ``slow`` with the slow tests."""
    mark = pytest.mark.slow
    return [pytest.param(case, marks=[mark] if case in slow else []) for case in cases]
