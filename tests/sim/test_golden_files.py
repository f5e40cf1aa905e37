"""Figures that are kept beside the page that shows them: both change, or none."""

from __future__ import annotations

import json

import pytest

from tierv.sim.cores import extensions, report
from tierv.sim.experiments import EXPERIMENTS
from tierv.sim.experiments.readme import results_table
from tierv.sim.synthesis import options, results

UPDATES = {
    "cores": (report, "README", report.update),
    "extensions": (extensions, "MANUAL", lambda _: extensions.update(extensions.read())),
    "synthesis": (results, "README", lambda _: results.update_readme()),
    "options": (options, "MANUAL", options.update),
}


@pytest.mark.parametrize("name", UPDATES)
def test_figures_stay_if_the_page_has_no_place_for_them(name, monkeypatch, tmp_path):
    module, page_name, update = UPDATES[name]
    kept = json.loads(module.GOLDEN.read_text())
    golden, page = tmp_path / "golden.json", tmp_path / "page.md"
    for path in (golden, tmp_path / "synth.json"):
        path.write_text(json.dumps(kept))
    before = golden.read_bytes()
    page.write_text("no markers\n")
    monkeypatch.setattr(module, "GOLDEN", golden)
    monkeypatch.setattr(module, page_name, page)
    monkeypatch.setattr(results, "results_folder", lambda: tmp_path)
    with pytest.raises(ValueError, match="there is no place for a table"):
        update(kept)
    assert golden.read_bytes() == before


@pytest.fixture
def two_results() -> list[dict]:
    config = {"length": 2, "length_unit": "frames", "seed": 1, "clock_hz": 10**8}
    config |= {"compiler": "gcc 12", "sources": "1234"}
    return [
        {
            "experiment": experiment,
            "title": "",
            "reference": "",
            "pass_line": "",
            "passed": True,
            "headline": {"figure": 1},
            "config": dict(config),
        }
        for experiment in ("E1", "E2")
    ]


EXPERIMENTS_OF_TWO = [EXPERIMENTS["E1"], EXPERIMENTS["E2"]]


def test_results_are_shown_with_what_they_were_made_with(two_results):
    first = "Seed 1, 100 MHz, gcc 12; E1 2 frames, E2 2 frames"
    assert f"{first}.\n" in results_table(two_results, EXPERIMENTS_OF_TWO)
    # Where the clock is part of the experiment.
    two_results[1]["config"]["clock_hz"] = 5_000_000
    assert f"{first} at 5 MHz.\n" in results_table(two_results, EXPERIMENTS_OF_TWO)


@pytest.mark.parametrize(
    ("name", "value"),
    [("seed", 7), ("compiler", "gcc 13"), ("sources", "5678"), ("sources", None)],
)
def test_results_that_were_made_otherwise_are_not_shown_together(two_results, name, value):
    before = two_results[0]["config"][name]
    two_results[1]["config"][name] = value
    message = f"E2 must have the {name} of E1, {before}, not {value}"
    with pytest.raises(ValueError, match=message):
        results_table(two_results, EXPERIMENTS_OF_TWO)
