"""Rules that hold for the whole tree."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import click
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


def test_modules_of_tests_have_names_of_their_own():
    """pytest has one namespace for all, and stops at the second, but only where it reads both."""
    names = Counter(path.name for path in tracked_files() if path.match("test_*.py"))
    assert names
    assert {name: count for name, count in names.items() if count > 1} == {}


def test_every_pinned_package_is_among_the_constraints():
    pinned = re.findall(r'"([\w.-]+)==([^";]+)', (ROOT / "pyproject.toml").read_text())
    constraints = (ROOT / "constraints.txt").read_text().splitlines()
    known = {line.lower() for line in constraints} | {"setuptools==80.9.0"}
    missing = {f"{name}=={version}".lower() for name, version in pinned} - known
    assert missing == set()


def test_the_core_imports_nothing_from_the_soc_or_boards():
    for path in (ROOT / "rtl").rglob("*.py"):
        assert not re.search(r"tierv\.(soc|boards|sim)", path.read_text()), path


@pytest.mark.parametrize("target", ["formal", "coverage", "mutants", "fuzz"])
def test_the_makefile_can_start_the_programs_of_the_tests(target):
    dry = ["make", "-n", "--no-print-directory", target, f"BIN={Path(sys.executable).parent}"]
    lines = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    program = re.match(r".*python (-m formal|\S+\.py)", lines.splitlines()[-1])[0]
    done = subprocess.run(
        f"{program} --help", shell=True, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Usage:" in done.stdout


@pytest.mark.parametrize("document", ["README.md", "rtl/MANUAL.md", "CHANGELOG.md"])
def test_the_commands_that_documents_name_are_there(document):
    named = re.findall(r"python -m (tierv[\w.]+) (\w[\w-]*)", (ROOT / document).read_text())
    assert named
    for module, command in named:
        package = importlib.import_module(module)
        name = f"{module}.__main__" if hasattr(package, "__path__") else module
        main = importlib.import_module(name).main
        assert command in main.list_commands(click.Context(main)), f"{module} {command}"


def test_the_makefile_takes_an_output_with_a_space():
    dry = ["make", "-n", "--no-print-directory", "verilog", "OUTPUT=a b.v"]
    lines = subprocess.run(dry, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert '"a b.v"' in lines.splitlines()[-1]
