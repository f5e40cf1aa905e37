"""Results that can't be written, or have been damaged, are named; what was there before stays."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from tierv.sim.cores import __main__ as cores
from tierv.sim.experiments import EXPERIMENTS, plots, readme, report
from tierv.sim.experiments.__main__ import main as experiments
from tierv.sim.experiments.experiment import Outcome
from tierv.sim.synthesis import __main__ as synthesis
from tierv.sim.synthesis import results

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    path = tmp_path / "results"
    for module in (report, readme, results):
        monkeypatch.setattr(module, "results_folder", lambda: path)
    return path


@pytest.fixture
def quick(monkeypatch) -> list[str]:
    """E1 takes no time; how often it has run."""
    runs: list[str] = []

    def run(*_) -> Outcome:
        runs.append("E1")
        return Outcome(rows=[{"build": "B"}], headline={"figure": 12345}, passed=True)

    monkeypatch.setattr(type(EXPERIMENTS["E1"]), "run", run)
    monkeypatch.setattr(type(EXPERIMENTS["E1"]), "plot", lambda *_: None)
    return runs


def fill_disk(monkeypatch) -> None:
    """From now on a file takes a few characters and no more."""

    def write(path: Path, text: str, **_) -> int:
        with path.open("w") as file:
            file.write(text[:10])
        raise FULL

    monkeypatch.setattr(Path, "write_text", write)


def test_figures_are_shown_and_those_before_stay_when_the_disk_is_full(folder, quick, monkeypatch):
    folder.mkdir()
    (folder / "E1.json").write_text('{"before": 1}')
    fill_disk(monkeypatch)
    done = CliRunner().invoke(experiments, ["E1"])
    assert done.exit_code == 1
    assert "figure: 12345" in done.output
    assert f"No space left on device: '{folder / 'E1.json'}'" in done.output
    assert json.loads((folder / "E1.json").read_bytes()) == {"before": 1}
    assert [path.name for path in folder.iterdir()] == ["E1.json"]


@pytest.mark.parametrize(
    ("main", "words"), [(experiments, ["E1"]), (cores.main, ["bench"]), (synthesis.main, ["run"])]
)
@pytest.mark.parametrize("is_file", [True, False])
def test_results_that_can_t_be_written_are_told_before_anything_is_measured(
    folder, quick, monkeypatch, main, words, is_file
):
    if is_file:
        folder.write_text("no folder")
        message = f"File exists: '{folder}'"
    else:
        monkeypatch.setattr(report.os, "access", lambda *_: False)
        message = f"Permission denied: '{folder}'"
    monkeypatch.setattr(cores, "measure_all", lambda *_: pytest.fail("has begun"))
    monkeypatch.setattr(synthesis, "_subjects", lambda *_, **__: pytest.fail("has begun"))
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert message in done.output
    assert not quick


@pytest.mark.parametrize("damage", [b"", b'{"rows": [', b"\xff\xfe"])
def test_a_damaged_result_is_named(folder, monkeypatch, damage):
    folder.mkdir()
    for name in ("E1.json", "core.json"):
        (folder / name).write_bytes(damage)
    done = CliRunner().invoke(experiments, ["update-readme", "stack"])
    assert done.exit_code == 1
    assert f"{folder / 'E1.json'} is no JSON file" in done.output
    # Of the core's figures the clock's are made, at the end of an hour.
    monkeypatch.setattr(synthesis, "_subjects", lambda *_, **__: pytest.fail("has begun"))
    done = CliRunner().invoke(synthesis.main, ["run"])
    assert done.exit_code == 1
    assert f"{folder / 'core.json'} is no JSON file" in done.output


def test_a_plot_that_can_t_be_written_is_named(tmp_path):
    with (
        pytest.raises(NotADirectoryError, match=r"Not a directory: '.*plain/plot.svg'"),
        plots.figure(tmp_path / "plain" / "plot.svg", "Title"),
    ):
        (tmp_path / "plain").write_text("no folder")
    full = Path("/dev/full")
    if full.exists():
        (tmp_path / "plot.svg").symlink_to(full)
        with (
            pytest.raises(OSError, match=r"No space left on device: '.*plot.svg'"),
            plots.figure(tmp_path / "plot.svg", "Title"),
        ):
            pass
