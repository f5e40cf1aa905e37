"""What tests of the boards' commands share."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tierv.sim.paths import build_root


@pytest.fixture(scope="session", autouse=True)
def own_folder() -> Iterator[None]:
    """What tests emit stands apart from what a user has built, and from other processes' tests."""
    folder = build_root() / "test-boards" / os.environ.get("PYTEST_XDIST_WORKER", "alone")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tierv.boards.project.build_root", lambda: folder)
        yield


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Another folder for everything that is built."""
    monkeypatch.setattr("tierv.boards.project.build_root", lambda: tmp_path / "build")
    return tmp_path / "build"
