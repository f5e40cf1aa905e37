"""E6: its search, and what it says of what it found."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tierv.sim.experiments import many_sources
from tierv.sim.experiments.bench import Build
from tierv.sim.experiments.experiment import Outcome, Settings
from tierv.sim.experiments.many_sources import ManySources
from tierv.sim.experiments.serial_link import SERIAL_SOC
from tierv.sim.records import RunEnd

GRID = {"uarts": (0, 16), "depths": (1, 16)}


def rows(gains: dict[tuple[int, int], float], banked: float = 2.0) -> list[dict]:
    """Rows in which B saves so much of the processor."""
    return [
        {"ports": ports, "FIFO": depth, "k(B)": banked, "k(S)": 1.5, "saved (%)": gain}
        for (ports, depth), gain in gains.items()
    ]


@pytest.mark.parametrize("limit", [1.5, 7.0, 40.0, 200.0])
def test_the_search_finds_the_highest_load(monkeypatch, limit):
    trial = many_sources._Trial(0.1, 1000)
    monkeypatch.setattr(
        many_sources,
        "_trial",
        lambda setup, case, load, settings, spread: trial if load <= limit else None,
    )
    found = many_sources._highest_load(None, None, None)
    possible = min(limit, many_sources._MOST_LOAD)
    assert possible / many_sources._PRECISION < found <= possible


def test_what_is_lost_at_load_1_too_is_no_load(monkeypatch):
    monkeypatch.setattr(many_sources, "_trial", lambda *_: None)
    assert many_sources._highest_load(None, None, None) == 0


class Listening:
    """Takes the place of a setup: keeps what a run gets, which then does not end."""

    def run(self, *, uart, set, **arguments):
        self.uart, self.set = uart, set
        return SimpleNamespace(end=RunEnd.LIMIT)


def beginnings(case: many_sources._Case, spread: int) -> list[float]:
    """When ports begin in a trial at load 1, in characters after the first that may."""
    setup = Listening()
    settings = Settings(seed=1, clock_hz=100_000_000, length=160)
    assert many_sources._trial(setup, case, 1, settings, spread) is None
    assert setup.set["watermark"] == case.watermark
    start = setup.set["start_cycle"]
    return [(port.cycle - start) / (10 * settings.clock_hz / 115_200) for port in setup.uart]


def test_ports_begin_within_a_character_or_at_any_moment_from_call_to_call():
    case = many_sources._Case(Build.BANKED, 16, 128)
    together = beginnings(case, 1)
    assert len(together) == 16
    assert all(0 <= character <= 1 for character in together)
    apart = beginnings(case, case.watermark)
    assert all(0 <= character <= 64 for character in apart)
    assert max(apart) - min(apart) > 32


@pytest.mark.parametrize(
    ("gains", "holds"),
    [
        ({(0, 1): 1.1, (16, 1): 2.0, (0, 16): 1.0, (16, 16): 1.2}, True),
        ({(0, 1): 1.1, (16, 1): 2.0, (0, 16): 1.2, (16, 16): 1.2}, False),
        ({(0, 1): 2.1, (16, 1): 2.0, (0, 16): 1.0, (16, 16): 1.2}, False),
    ],
)
def test_the_gain_must_grow_at_every_depth(gains, holds):
    assert many_sources._holds(rows(gains), GRID) is holds


def test_sixteen_ports_must_lose_nothing_in_b():
    gains = {(0, 1): 1.1, (16, 1): 2.0, (0, 16): 1.0, (16, 16): 1.2}
    assert not many_sources._holds(rows(gains, banked=0.9), GRID)


def test_b_must_lose_nothing_at_fewer_ports_either():
    found = rows({(0, 1): 1.1, (16, 1): 2.0, (0, 16): 1.0, (16, 16): 1.2})
    found[0]["k(B)"] = 0.0
    del found[0]["saved (%)"]
    assert not many_sources._holds(found, GRID)


def test_where_s_loses_at_once_nothing_is_compared():
    found = rows({(0, 1): 1.1, (16, 1): 2.0, (0, 16): 1.0, (16, 16): 1.2})
    found[1]["k(S)"] = 0.0
    del found[1]["saved (%)"]
    assert many_sources._holds(found, GRID)


def test_few_ports_are_those_of_the_usual_soc():
    def case(uarts: int, depth: int) -> many_sources._Case:
        return many_sources._Case(Build.BANKED, uarts, depth)

    assert not case(4, 16).soc
    assert case(8, 1).soc == case(0, 128).soc == SERIAL_SOC


def test_a_row_says_what_both_builds_took():
    trials = {
        Build.BANKED: (20.0, many_sources._Trial(0.01, 5000)),
        Build.SINGLE: (10.0, many_sources._Trial(0.06, 4000)),
    }
    row = ManySources()._row((16, 1), trials)
    assert row["k(B)/k(S)"] == 2
    assert (row["share S/B"], row["saved (%)"]) == (6, 5)
    lost = ManySources()._row((16, 1), trials | {Build.SINGLE: (0.0, None)})
    assert not {"k(B)/k(S)", "share S/B"} & set(lost)


def test_the_highest_load_that_is_tried_is_no_limit_of_a_build():
    trial = many_sources._Trial(0.01, 5000)
    most = many_sources._MOST_LOAD
    found = {Build.BANKED: (most, trial), Build.SINGLE: (10.0, trial)}
    row = ManySources()._row((1, 16), found)
    assert (row["k(B)"], row["k(S)"]) == (most, 10)
    assert "k(B)/k(S)" not in row
    assert "k(B)/k(S)" not in ManySources()._row((0, 1), dict.fromkeys(found, (most, trial)))


def test_the_plot_has_a_line_for_each_build_and_depth(tmp_path: Path):
    outcome = Outcome(
        rows=rows({(0, 1): 1.1, (16, 1): 2.0, (0, 16): 1.0, (16, 16): 1.2}),
        headline={},
        passed=True,
    )
    ManySources().plot(outcome, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
