"""The bench of cores: verdicts, command line, and the README's figures."""

from __future__ import annotations

import copy
import json

import pytest
from click.testing import CliRunner

from tierv.sim.cores import kernels, report, verdict
from tierv.sim.cores.__main__ import main
from tierv.sim.pages import README, fill


@pytest.fixture
def golden() -> dict:
    return json.loads(report.GOLDEN.read_text())


def failed(rows) -> set[str]:
    return {target.name for target in verdict.targets(rows) if not target.passed}


def row_of(rows, part: str, **wanted) -> dict:
    return verdict.of_part(rows, part, **wanted)[0]


def test_the_readme_has_the_golden_figures(golden):
    text = README.read_text()
    assert fill(text, report.readme_table(golden), report.MARKER) == text


def test_the_golden_verdicts_follow_from_its_rows(golden):
    found = [(target.name, target.passed) for target in verdict.targets(golden["rows"])]
    assert found == [(target["name"], target["passed"]) for target in golden["targets"]]
    assert golden["passed"] == all(passed for _, passed in found)


@pytest.mark.parametrize(
    ("part", "wanted", "change", "named"),
    [
        (
            "kernels",
            {"core": "VexRiscv standard", "kernel": "crc"},
            {"instructions": 30_000},
            "instructions of a kernel by which two cores differ",
        ),
        (
            "interrupts",
            {"core": "TierV N=8"},
            {"first max": 4},
            "first handler instruction issues, cycles after the line",
        ),
        (
            "interrupts",
            {"core": "TierV N=3", "background": "bus"},
            {"first max": 4},
            "jitter of the first handler instruction, cycles",
        ),
        (
            "interrupts",
            {"core": "TierV N=3", "handler": "leaf", "background": "local"},
            {"lost max": 9},
            "slots lost to a program in local memory beyond a leaf handler's own instructions",
        ),
        (
            "interrupts",
            {"core": "TierV N=8", "handler": "calls", "background": "local"},
            {"lost max": 12},
            "slots lost to a program in local memory beyond a calling handler's own instructions",
        ),
        (
            "interrupts",
            {"core": "TierV N=3", "handler": "leaf", "background": "local"},
            {"pin max": 7},
            "line pin to output pin, leaf handler in C, cycles",
        ),
        (
            "interrupts",
            {"core": "TierV N=3", "handler": "leaf", "background": "bus"},
            {"pin max": 11},
            "the same if accesses to the bus take 3 cycles, a program's and the handler's",
        ),
        (
            "nested",
            {"core": "TierV N=8", "levels": "2 to 7"},
            {"first max": 4},
            "nested eight deep: each level issues, cycles after its line",
        ),
        (
            "kernels",
            {"core": "TierV N=8", "kernel": "state"},
            {"cycles": 1},
            "state: cycles of TierV N=8 less those of TierV N=1",
        ),
        (
            "kernels",
            {"core": "TierV N=8", "kernel": "dhrystone"},
            {"DMIPS/MHz": 0.5},
            "DMIPS/MHz of TierV N=8",
        ),
        (
            "slots",
            {"core": "TierV N=1"},
            {"total IPC": 0.99},
            "driver and application, with SHARING or without, instructions over S (%)",
        ),
        (
            "kernels",
            {"core": "PicoRV32", "kernel": "dhrystone"},
            {"DMIPS/MHz": 0.4},
            "PicoRV32: DMIPS/MHz, reference 0.342",
        ),
        (
            "kernels",
            {"core": "Ibex maxperf", "kernel": "coremark tuned"},
            {"tuned CoreMark/MHz": 3.33},
            "Ibex maxperf: tuned CoreMark/MHz, reference 3.507",
        ),
        (
            "interrupts",
            {"core": "VexRiscv standard", "handler": "calls"},
            {"taken min": 66},
            "VexRiscv standard: taken of a handler (calls), min, reference 60",
        ),
        (
            "interrupts",
            {"core": "Ibex maxperf", "handler": "leaf", "background": "local"},
            {"first max": 47},
            "Ibex maxperf: first of a handler (leaf), max, reference 42",
        ),
        (
            "interrupts",
            {"core": "PicoRV32", "handler": "calls", "background": "local"},
            {"store median": 118},
            "PicoRV32: store of a handler (calls), median, reference 107",
        ),
        (
            "interrupts",
            {"core": "VexRiscv standard, LiteX bus", "handler": "calls", "background": "misses"},
            {"store min": 47},
            "VexRiscv standard, LiteX bus: store of a handler (calls), min, reference 50",
        ),
    ],
)
def test_a_target_that_is_missed_is_named(golden, part, wanted, change, named):
    rows = copy.deepcopy(golden["rows"])
    row_of(rows, part, **wanted).update(change)
    assert named in failed(rows)


def test_coremark_is_judged_if_it_was_run(golden):
    rows = [row for row in golden["rows"] if row.get("kernel") not in kernels.COREMARKS]
    assert not [target for target in verdict.targets(rows) if "CoreMark" in target.name]
    names = dict.fromkeys(row["core"] for row in verdict.of_part(rows, "kernels"))
    for name in names:
        rows.append(
            {
                "part": "kernels",
                "core": name,
                "kernel": "coremark",
                "cycles": 4_000_000,
                "instructions": 3_000_000,
                "IPC": 0.75,
                "CoreMark/MHz": 2.5 if name.startswith("TierV") else 2.275,
            }
        )
    verdicts = {target.name: target.passed for target in verdict.targets(rows)}
    assert verdicts["CoreMark/MHz of TierV N=8"]
    assert verdicts["VexRiscv full: CoreMark/MHz, reference 2.275"]
    assert not verdicts["PicoRV32: CoreMark/MHz, reference 0.648"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--interrupts", "3"], "interrupts must be 20 to 2147483647, not 3"),
        (["--interrupts", str(1 << 31)], "20 to 2147483647, not 2147483648"),
        (["--seed", "-1"], "seed must be 0 to 2147483647, not -1"),
        (["--iterations", "0"], "iterations must be 1 to 2147483647, not 0"),
        (["--coremark", "/nowhere"], "core_list_join.c in it, not /nowhere"),
    ],
)
def test_a_wrong_command_line_is_refused(words, message):
    done = CliRunner().invoke(main, ["bench", *words])
    assert done.exit_code != 0
    assert message in " ".join(done.output.split())


def test_results_tell_where_coremark_is_from(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "packaged_coremark", lambda: tmp_path)
    monkeypatch.setattr(report, "version", lambda name: f"1.0 of {name}")
    assert report.coremark_source(None) is None
    assert report.coremark_source(tmp_path / "other") == "a checkout"
    assert report.coremark_source(tmp_path) == "pythondata-cpu-ibex 1.0 of pythondata-cpu-ibex"


def test_results_are_written_as_json_and_as_a_plot(golden, monkeypatch, tmp_path):
    monkeypatch.setattr(report, "results_folder", lambda: tmp_path)
    assert json.loads(report.write(golden).read_text()) == golden
    assert {"experiment", "title", "reference", "config", "rows", "headline", "passed"} <= set(
        golden
    )
    assert (tmp_path / "core.png").read_bytes().startswith(b"\x89PNG")


def test_tables_show_every_part(golden, capsys):
    from rich.console import Console

    report.show(golden, Console(width=200, force_terminal=False))
    text = capsys.readouterr().out
    for words in ("list, cycles (IPC)", "PicoRV32", "misses", "a line that stays high", "SHARING"):
        assert words.lower() in text.lower()
    assert text.count("PASS") + text.count("FAIL") == len(golden["targets"])
