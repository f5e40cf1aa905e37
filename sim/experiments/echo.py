"""E13: how long an interrupt line waits for its handler, measured in hardware and by software."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tierv.soc.params import SocParams

from ..cyclictest import to_text
from ..file_arguments import write_text
from .bench import Bench
from .echo_trial import (
    FLOOD,
    LOADS,
    MOST_SHARED,
    STEADY,
    TAKE,
    TEST,
    Case,
    Measured,
    all_cases,
    make_setup,
    run_trial,
)
from .experiment import Experiment, Outcome, Progress, Settings
from .plots import figure
from .report import results_folder

#: What is later than the mean by so much is an outlier: the s.d. of the published card.
_OUTLIER_S = 0.5e-6
#: The published card's mean, and a tenth of its s.d.
_WORST_S, _DEVIATION_S = 4.8e-6, 0.05e-6


class Echo(Experiment):
    """The echo instrument raises its line at pseudo-random moments while the services run.

    A latency is counted from the first cycle in which the line is high to the cycle in which the
    access that answers is on the bus. "take" is one read that tests and lowers the line, "test and
    clear" a read and then a write. In a tier of its own the access is the first instruction
    behind the ``wfi``; what it can have to wait for is one access of another tier that has begun.
    A "steady" handler takes every slot until no such access can be left. Software sees what
    hardware does and its own instructions, of which there are always as many; the wait of a store,
    or of a load with one context, may be hidden for a cycle. Loads: nothing else; datagrams of 64
    bytes at line rate; 16 serial ports of the terminal server, with FIFOs of 256 characters, both
    ways, with the bytes of 115,200 bit/s.
    """

    id = "E13"
    title = "Interrupt echo"
    reference = "PCIe 4.8 us mean, 6.4 worst, s.d. 0.5, outliers of 1e-5; LPT 5.7, 8.1, 0.8 us"
    pass_line = (
        "B with the line in a tier of its own: worst below 4.8 us, s.d. below 0.05 us, no outlier,"
        " no moment missed, with one read software's histogram is the hardware's, shifted;"
        " elsewhere they differ by a constant within a cycle"
    )
    length_unit = (
        "samples in the third of three tiers by one read, a tenth of it elsewhere,"
        f" {MOST_SHARED:,} at most where the tier has other work"
    )
    short_length = 4_000
    full_length = 1_000_000

    def run(self, bench: Bench, settings: Settings, progress: Progress) -> Outcome:
        """Every place and answer under every load."""
        cases = list(all_cases())
        setups = {case: make_setup(bench, case) for case in cases}

        def measure(case: Case) -> Measured:
            measured = run_trial(setups[case], case, settings)
            progress(f"{case.place.name}, {case.answer.name}, {case.load}")
            return measured

        measured = dict(zip(cases, bench.map(measure, cases), strict=True))
        rows = [_row(case, found, settings.clock_hz) for case, found in measured.items()]
        _write_texts(measured, settings.clock_hz)
        own = [row for case, row in zip(cases, rows, strict=True) if case.place.own]
        passed = all(
            row["max (us)"] < _WORST_S * 1e6
            and row["s.d. (us)"] < _DEVIATION_S * 1e6
            and not row["outliers"]
            and not row["missed"]
            for row in own
        ) and all(_explained(case, found) for case, found in measured.items())
        return Outcome(
            rows=rows,
            headline=_headline(cases, rows),
            passed=passed,
            config={"histograms": _counts(measured)},
        )

    def plot(self, outcome: Outcome, path: Path) -> None:
        """The hardware's histograms under each load; that of the flood is the experiment's own."""
        for load in LOADS:
            name = path if load == FLOOD else path.with_stem(f"{path.stem}-{load.split()[-1]}")
            chosen = [row for row in outcome.rows if row["load"] == load]
            _plot_load(name, f"{self.title}, {load}", chosen, outcome.config["histograms"])


def _explained(case: Case, found: Measured) -> bool:
    """The difference between both histograms is what the instructions behind the access take."""
    if case.place.own and not case.answer.tests:
        return found.difference_spread == 0 and found.histograms_agree
    return found.difference_spread <= 1


def _row(case: Case, found: Measured, clock_hz: int) -> dict[str, Any]:
    hardware = found.hardware
    us = 1e6 / clock_hz
    limit = hardware.mean + _OUTLIER_S * clock_hz
    late = sum(count for cycles, count in hardware.counts.items() if cycles > limit)
    if limit < SocParams().echo_bins:
        late += hardware.overflow
    return {
        "load": case.load,
        "served in": case.place.name,
        "answer": case.answer.name,
        "samples": hardware.total,
        "min (cycles)": hardware.minimum,
        "max (cycles)": hardware.maximum,
        "mean (us)": round(hardware.mean * us, 4),
        "max (us)": round(hardware.maximum * us, 3),
        "s.d. (us)": round(hardware.deviation * us, 5),
        "outliers": late,
        "missed": found.missed,
        "software sees later by (cycles)": found.least_difference,
        "which varies by": found.difference_spread,
        "saturated": bool(found.saturated),
    }


def _headline(cases: Sequence[Case], rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    def found(figure_name: str, place: str, answer: str) -> list[float]:
        return [
            row[figure_name]
            for case, row in zip(cases, rows, strict=True)
            if (case.place.name, case.answer.name) == (place, answer)
        ]

    headline: dict[str, float] = {}
    for place, answer in (
        ("B own tier", TAKE),
        ("B own tier", TEST),
        ("B own tier", STEADY),
        ("B own tier of 4", TAKE),
        ("B", TAKE),
        ("S", TAKE),
        ("polled", TAKE),
    ):
        name = f"{place}, {answer.name}"
        headline[f"{name}: worst (us)"] = max(found("max (us)", place, answer.name))
        headline[f"{name}: worst s.d. (us)"] = max(found("s.d. (us)", place, answer.name))
        headline[f"{name}: moments missed"] = sum(found("missed", place, answer.name))
    return headline


def _counts(measured: Mapping[Case, Measured]) -> dict[str, dict[str, dict[int, int]]]:
    return {
        f"{case.place.name}, {case.answer.name}, {case.load}": {
            "hardware": dict(found.hardware.counts),
            "software": dict(found.software.counts),
        }
        for case, found in measured.items()
    }


def _write_texts(measured: Mapping[Case, Measured], clock_hz: int) -> None:
    folder = results_folder() / "E13"
    folder.mkdir(parents=True, exist_ok=True)
    for case, found in measured.items():
        title = f"cycles of {clock_hz} Hz: hardware, software"
        text = to_text([found.hardware, found.software], title)
        write_text(folder / f"{case.file_name}.txt", text)


def _plot_load(
    path: Path,
    title: str,
    rows: Sequence[Mapping[str, Any]],
    histograms: Mapping[str, Mapping[str, Mapping[int, int]]],
) -> None:
    """Counts against latency, both logarithmic; dashed lines at the least and the greatest."""
    with figure(path, title, xlabel="line to answer (cycles)", ylabel="samples") as axes:
        for index, row in enumerate(rows):
            colour = f"C{index % 10}"
            name = f"{row['served in']}, {row['answer']}"
            counts = histograms[f"{name}, {row['load']}"]["hardware"]
            points = sorted((int(cycles), count) for cycles, count in counts.items())
            axes.plot(*zip(*points, strict=True), ".-", color=colour, label=name, linewidth=0.5)
            for extreme in (row["min (cycles)"], row["max (cycles)"]):
                axes.axvline(extreme, linestyle="--", color=colour, linewidth=0.7)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.legend(fontsize="x-small")
