"""E13: what trials send and conclude, and a short trial of each place on the usual models."""

from __future__ import annotations

import dataclasses

import pytest
from slow_turns import turns

from tierv.sim.cyclictest import Histogram, from_text
from tierv.sim.experiments import echo, echo_trial
from tierv.sim.experiments.bench import Bench
from tierv.sim.experiments.echo_trial import FLOOD, IDLE, SERIAL, STEADY, TAKE, TEST, Case, Measured
from tierv.sim.experiments.experiment import Outcome, Settings

CLOCK_HZ = 100_000_000
PLACES = {place.name: place for place in echo_trial.PLACES}


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(CLOCK_HZ)


def measured(shift: int, spread: int = 0, **changes) -> Measured:
    """What a trial finds whose software sees everything later by ``shift`` cycles."""
    hardware = Histogram({5: 90, 6: 10}, 100, 5, 6, 5.1, 0.3)
    software = dataclasses.replace(hardware, counts=dict(hardware.shifted(shift)), **changes)
    return Measured(hardware, software, 0, shift, shift + spread, 0)


def trial(bench: Bench, place: str, answer, load: str, samples: int) -> Measured:
    case = Case(PLACES[place], answer, load)
    settings = Settings(seed=3, clock_hz=CLOCK_HZ, length=samples)
    return echo_trial.run_trial(echo_trial.make_setup(bench, case), case, settings)


@pytest.mark.parametrize("answer", [TAKE, STEADY])
def test_a_tier_of_its_own_answers_at_once_whatever_comes_over_ethernet(bench, answer):
    found = trial(bench, "B own tier", answer, FLOOD, 400)
    hardware = found.hardware
    # The first instruction is in stage M three cycles after it issues, and then on the bus.
    expected = {5, 6} if answer is TAKE else {7}
    assert set(hardware.counts) <= expected
    assert (hardware.total, found.missed, found.saturated) == (400, 0, 0)
    assert echo._explained(Case(PLACES["B own tier"], answer, FLOOD), found)


@pytest.mark.parametrize("place", turns(["S", "polled", "B"], ["S"]))
def test_elsewhere_every_moment_is_answered_and_counted_on_both_sides(bench, place):
    found = trial(bench, place, TEST, IDLE, 300)
    assert found.hardware.total == found.software.total == 30
    assert sum(found.hardware.counts.values()) == 30
    assert found.difference_spread <= 1
    assert found.hardware.minimum > 20


def test_the_flood_is_line_rate_and_begins_with_the_trial():
    frames = echo_trial._frames(FLOOD, 7_520_000, CLOCK_HZ)
    assert len(frames) == 10_000
    assert {frame.cycle for frame in frames} == {800_000}
    assert {len(frame.data) for frame in frames} == {60}


def test_sixteen_ports_are_as_busy_as_115_200_bits_a_second_make_them_both_ways():
    cycles = 800_000 + 10_000_000
    characters = echo_trial._characters(SERIAL, cycles, CLOCK_HZ)
    # A tenth of a second.
    assert [len(item.data) for item in characters] == [1_152] * 16
    assert sorted(item.port for item in characters) == list(range(1, 17))
    frames = echo_trial._frames(SERIAL, cycles, CLOCK_HZ)
    first, *others = frames
    assert first.data[12:14] == b"\x08\x06"
    later = [frame for frame in others if frame.cycle >= 800_000]
    # Headers take 42 bytes.
    sent = sum(len(frame.data) - 42 for frame in later)
    assert sent == pytest.approx(16 * 1_152, rel=0.11)
    # One for each port goes ahead, so that the board knows where to answer.
    assert len(others) - len(later) == 16


def test_no_load_is_nothing():
    assert echo_trial._frames(IDLE, 10**7, CLOCK_HZ) == []
    assert echo_trial._characters(IDLE, 10**7, CLOCK_HZ) == []


def test_a_difference_that_varies_is_not_explained():
    own, shared = PLACES["B own tier"], PLACES["B"]
    assert echo._explained(Case(own, TAKE, IDLE), measured(15))
    assert not echo._explained(Case(own, TAKE, IDLE), measured(15, spread=1))
    assert echo._explained(Case(shared, TAKE, IDLE), measured(15, spread=1))
    assert echo._explained(Case(own, TEST, IDLE), measured(8, spread=1))
    assert not echo._explained(Case(shared, TEST, IDLE), measured(8, spread=2))


def test_a_sample_that_software_sees_elsewhere_is_not_explained():
    found = measured(15)
    moved = dataclasses.replace(found.software, counts={20: 89, 21: 11})
    changed = dataclasses.replace(found, software=moved)
    assert not echo._explained(Case(PLACES["B own tier"], TAKE, IDLE), changed)


def test_a_sample_that_software_misses_is_not_explained():
    found = measured(15, total=99)
    assert not echo._explained(Case(PLACES["B own tier"], TAKE, IDLE), found)


@pytest.mark.parametrize(("mean", "outliers"), [(5.1, 3), (5_000.0, 0)])
def test_what_is_beyond_the_bins_is_an_outlier_if_the_bins_go_beyond_the_limit(mean, outliers):
    hardware = Histogram({5: 97}, 100, 5, 6_000, mean, 0.3, overflow=3)
    found = dataclasses.replace(measured(15), hardware=hardware)
    row = echo._row(Case(PLACES["B own tier"], TAKE, IDLE), found, CLOCK_HZ)
    assert row["outliers"] == outliers


def test_outliers_are_what_is_half_a_microsecond_later_than_the_mean():
    counts = {5: 999_998, 54: 1, 56: 1}
    hardware = Histogram(counts, 1_000_000, 5, 56, 5.0001, 0.07)
    found = dataclasses.replace(measured(15), hardware=hardware)
    row = echo._row(Case(PLACES["B own tier"], TAKE, IDLE), found, CLOCK_HZ)
    assert row["outliers"] == 1
    assert (row["max (us)"], row["mean (us)"]) == (0.56, 0.05)


def test_histograms_are_written_as_text_and_drawn(monkeypatch, tmp_path):
    monkeypatch.setattr(echo, "results_folder", lambda: tmp_path)
    cases = [case for case in echo_trial.all_cases() if case.answer is TAKE]
    found = {case: measured(15) for case in cases}
    echo._write_texts(found, CLOCK_HZ)
    text = (tmp_path / "E13" / "B_own_tier-take-flood.txt").read_text()
    hardware, software = from_text(text)
    assert hardware.counts == {5: 90, 6: 10}
    assert software.counts == {20: 90, 21: 10}
    rows = [echo._row(case, one, CLOCK_HZ) for case, one in found.items()]
    config = {"histograms": echo._counts(found)}
    outcome = Outcome(rows=rows, headline={}, passed=True, config=config)
    echo.Echo().plot(outcome, tmp_path / "E13.png")
    for name in ("E13.png", "E13-idle.png", "E13-UARTs.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("worst", "passed"), [(6, True), (479, True), (480, False)])
def test_the_verdict_is_that_of_the_worst_in_a_tier_of_its_own(
    monkeypatch, tmp_path, worst, passed
):
    def stand_in(_, case: Case, settings: Settings) -> Measured:
        # Elsewhere it may take as long as it likes. With such a mean nothing is an outlier.
        late = worst if case.place.own and case.load == SERIAL else 6
        late = 4_000 if not case.place.own else late
        mean = late if late > 400 else 5.1
        hardware = Histogram({5: 90, late: 10}, 100, 5, late, mean, 0.3)
        software = dataclasses.replace(hardware, counts=hardware.shifted(15))
        return Measured(hardware, software, 0, 15, 15, 0)

    monkeypatch.setattr(echo, "make_setup", lambda *_: None)
    monkeypatch.setattr(echo, "run_trial", stand_in)
    monkeypatch.setattr(echo, "results_folder", lambda: tmp_path)
    settings = Settings(seed=1, clock_hz=CLOCK_HZ, length=100)
    told: list[str] = []
    outcome = echo.Echo().run(Bench(CLOCK_HZ), settings, told.append)
    assert outcome.passed is passed
    assert len(outcome.rows) == len(told) == 33
    assert outcome.headline["B own tier, take: worst (us)"] == worst / 100
    assert outcome.headline["S, take: worst (us)"] == 40
    assert len(list((tmp_path / "E13").iterdir())) == 33
