"""Rules that hold for the whole tree."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: Of a file of sources; a file does one thing.
MOST_LINES = 400


def tracked_files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


@pytest.mark.parametrize(
    "command",
    [["ruff", "format", "--check", "."], ["ruff", "check", "."], ["codespell"]],
    ids=["format", "lint", "spelling"],
)
def test_the_tree_is_clean(command):
    program = Path(sys.executable).parent / command[0]
    done = subprocess.run(
        [program, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_no_source_file_is_longer_than_a_reader_wants():
    suffixes = {".py", ".c", ".h", ".S", ".cpp", ".v"}
    sources = [path for path in tracked_files() if path.suffix in suffixes]
    assert sources
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in sources}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_every_pinned_package_is_among_the_constraints():
    pinned = re.findall(r'"([\w.-]+)==([^"]+)"', (ROOT / "pyproject.toml").read_text())
    constraints = (ROOT / "constraints.txt").read_text().splitlines()
    known = {line.lower() for line in constraints} | {"setuptools==80.9.0"}
    missing = {f"{name}=={version}".lower() for name, version in pinned} - known
    assert missing == set()


def test_the_core_imports_nothing_from_the_soc_or_boards():
    for path in (ROOT / "rtl").rglob("*.py"):
        assert not re.search(r"tierv\.(soc|boards|sim)", path.read_text()), path
