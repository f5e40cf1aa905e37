"""What tests of the boards' commands share."""

from __future__ import annotations

import pytest


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """Another folder for everything that is built."""
    monkeypatch.setattr("tierv.boards.project.build_root", lambda: tmp_path / "build")
    return tmp_path / "build"
