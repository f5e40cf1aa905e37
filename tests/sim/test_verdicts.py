"""The verdicts of experiments, on figures that just pass and on those that just do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tierv.sim import lin as lin_frames
from tierv.sim.cyclictest import Histogram
from tierv.sim.experiments import (
    EXPERIMENTS,
    busy_ports,
    driver,
    echo,
    echo_trial,
    lin,
    overload,
    overload_trial,
    rfc2544,
    rotation,
    saturation,
    shares,
    sixteen_ports,
    switch,
    terminal,
    trace,
)
from tierv.sim.experiments.bench import Build
from tierv.sim.experiments.experiment import Outcome, Settings
from tierv.sim.experiments.search import Survival
from tierv.sim.experiments.traffic import Delivery

CLOCK_HZ = 100_000_000
SETTINGS = Settings(seed=1, clock_hz=CLOCK_HZ, length=1_000)
BUILDS = (Build.BANKED, Build.SINGLE)


class OneByOne:
    """A bench without models, one trial after the other."""

    def setups(self, _app: str, builds=Build, **_soc) -> dict[Build, Any]:
        setup = SimpleNamespace(run=lambda **_: SimpleNamespace(), program=None)
        return dict.fromkeys(builds, setup)

    def map(self, function: Callable, items) -> list:
        return [function(item) for item in items]


def run(identity: str, settings: Settings = SETTINGS) -> Outcome:
    return EXPERIMENTS[identity].run(OneByOne(), settings, lambda _: None)


@pytest.mark.parametrize(
    ("computes", "waits", "passed"), [(12, 7, True), (13, 7, False), (7, 13, False)]
)
def test_a_switch_of_b_takes_twelve_cycles(monkeypatch, computes, waits, passed):
    def examine(_result, _code, is_busy: bool) -> switch._Interrupts:
        some = np.array([1, 1, 1])
        own = np.array([30, 30, 30])
        # In and out beside thirty instructions of the service, seldom more than nothing.
        taken = np.array([30, 30 + computes]) if is_busy else None
        return switch._Interrupts(some, some, np.array([0, 0, waits - 1]), own, own, taken)

    monkeypatch.setattr(switch, "_examine", examine)
    monkeypatch.setattr(switch._Code, "of", lambda *_: None)
    outcome = run("E1")
    assert outcome.passed is passed
    assert outcome.headline["B in and out, worst (cycles)"] == max(computes, waits)


#: Cycles of a datagram of S and of B: the gains, and the rates at 200 MHz, that just do.
RECEIVE, SEND = (2_400.0, 2_210.0), (3_600.0, 3_415.0)


@pytest.mark.parametrize(
    ("receive", "send", "elapsed", "passed"),
    [
        (RECEIVE, SEND, {}, True),
        # 8.4 and 5.3 %.
        ((2_400, 2_214), SEND, {}, False),
        (RECEIVE, (3_600, 3_419), {}, False),
        # 1,077 and 687 Mbit/s.
        ((2_600, 2_228), SEND, {}, False),
        (RECEIVE, (3_900, 3_494), {}, False),
        (RECEIVE, SEND, {"receive": 2_228}, False),
        (RECEIVE, SEND, {"send": 3_494}, False),
    ],
)
def test_the_driver_gains_both_ways_and_is_faster_than_published(
    monkeypatch, receive, send, elapsed, passed
):
    def measure(_setup, case: driver._Case, _settings) -> dict[str, float]:
        single, banked = receive if case.direction == "receive" else send
        cycles = banked if case.build is Build.BANKED else single
        # The sum costs more; what is elapsed is of a wire that is never waited for.
        cycles *= 2 if case.sums else 1
        if case.fast_wire:
            return {"taken": 9_999, "elapsed": elapsed.get(case.direction, cycles)}
        return {"taken": cycles, "elapsed": 9_999}

    monkeypatch.setattr(driver, "_measure", measure)
    outcome = run("E2")
    assert outcome.passed is passed
    assert outcome.headline["B send, of cycles taken (Mbit/s at 200 MHz)"] == pytest.approx(
        12_000 * 200 / send[1]
    )
    assert outcome.headline["B send, elapsed (Mbit/s at 200 MHz)"] == pytest.approx(
        12_000 * 200 / elapsed.get("send", send[1])
    )


@pytest.mark.parametrize(
    ("mac", "build", "size", "load", "passed"),
    [
        ("dma", Build.BANKED, 64, "line rate", False),
        ("dma", Build.BANKED, 64, "alone", False),
        ("dma", Build.BANKED, 512, "line rate", True),
        ("dma", Build.SINGLE, 64, "line rate", True),
        ("slots", Build.BANKED, 64, "line rate", True),
    ],
)
def test_b_with_dma_loses_no_small_frame(monkeypatch, mac, build, size, load, passed):
    lossy = shares._Case(mac, build, "echo in the stack", size, load)

    def measure(_setup, case: shares._Case, _settings) -> dict[str, Any]:
        tiers = {f"tier {tier}": 100.0 * tier for tier in range(3)}
        # With DMA in the stack there is time left at line rate.
        idle = 72.0 if (case.mac, case.service) == ("dma", "echo in the stack") else 0.0
        total = {"sum": 672.0 - idle, "idle": idle, "offered": 1_000}
        return {**tiers, **total, "lost": int(case == lossy)}

    monkeypatch.setattr(shares, "_measure", measure)
    outcome = run("E3")
    assert outcome.passed is passed
    # The time from frame to frame is no figure of a build's.
    cycles = {name for name in outcome.headline if name.endswith("line rate (cycles)")}
    assert cycles == {
        f"{one} dma, echo in the stack of 64 bytes at line rate (cycles)" for one in BUILDS
    }
    assert outcome.headline["S slots, echo of 1518 bytes alone (cycles)"] == 672
    assert outcome.headline["B dma, echo of 64 bytes alone, tier 2 (%)"] == 100 * 200 / 672


def delivery(delivered: int = 10, sent: int = 20) -> Delivery:
    return Delivery(
        packets=10, delivered=delivered, sends=20, sent=sent, cycles=1_000, idle_cycles=900
    )


def test_what_comes_twice_makes_up_for_nothing_that_is_lost():
    assert delivery().lost == 0
    assert delivery(delivered=9).lost == 1
    assert delivery(sent=18).lost == 2
    assert delivery(delivered=9, sent=21).lost == 1
    assert delivery(delivered=11, sent=18).lost == 2


@pytest.mark.parametrize(
    ("lossy", "passed"), [(Build.BANKED, False), (Build.SINGLE, True), (Build.POLLED, True)]
)
def test_b_loses_nothing_of_the_trace(monkeypatch, lossy, passed):
    monkeypatch.setattr(OneByOne, "setups", lambda *_: {build: build for build in Build})
    monkeypatch.setattr(
        trace, "replay", lambda build, _: delivery(sent=19 if build is lossy else 20)
    )
    assert run("E4").passed is passed


@pytest.mark.parametrize(("single", "passed"), [(40.0, True), (40.1, False)])
def test_b_saturates_five_per_cent_later_in_the_mean(monkeypatch, single, passed):
    monkeypatch.setattr(OneByOne, "setups", lambda *_: {build: build for build in Build})
    # Trace by trace: the one that gains less is made up for by the one that gains more.
    gains = {build: iter([2, -2] * 5) for build in Build}

    def survival(build: Build, *_) -> Survival:
        if build is not Build.BANKED:
            return Survival(single)
        return Survival(42 + next(gains[build]))

    monkeypatch.setattr(saturation, "_survival", survival)
    outcome = run("E5", dataclasses.replace(SETTINGS, length=2_000_000))
    assert outcome.passed is passed
    assert outcome.headline["k(B)/k(S), worst"] == pytest.approx(40 / single, abs=1e-4)


@pytest.mark.parametrize(
    ("slow", "rate", "passed"),
    [
        ((Build.BANKED, "slots", 1518), 50.0, False),
        ((Build.BANKED, "dma", 1518), 50.0, False),
        ((Build.BANKED, "dma", 1518), 50.01, True),
        ((Build.BANKED, "slots", 64), 1.0, True),
        ((Build.SINGLE, "dma", 1518), 1.0, True),
    ],
)
def test_b_echoes_long_frames_at_more_than_published_by_both_macs(monkeypatch, slow, rate, passed):
    def setups(_self, _app: str, *, eth_dma: bool) -> dict[Build, Any]:
        return {build: (build, "dma" if eth_dma else "slots") for build in Build}

    def measure(target, service: str, size: int, _settings) -> dict[str, Any]:
        found = rate if (*target.setup, size) == slow and service == "echo" else 98.7
        return {"throughput (Mbit/s)": found, "of line rate (%)": 100}

    monkeypatch.setattr(OneByOne, "setups", setups)
    monkeypatch.setattr(rfc2544, "measure", measure)
    assert run("E7").passed is passed


GOOD_ROW = {"exact": True, "overruns": 0, "packets/s": 5.02, "CPU (%)": 0.05}


@pytest.mark.parametrize(
    ("baud", "rule", "changes", "passed"),
    [
        (19_200, "time 200 ms", {}, True),
        (19_200, "time 200 ms", {"packets/s": 5.03}, False),
        (19_200, "time 200 ms", {"CPU (%)": 0.051}, False),
        (19_200, "each byte", {"packets/s": 1_920, "CPU (%)": 20}, True),
        (300, "delimiter", {"exact": False}, False),
        (921_600, "length 256", {"overruns": 1}, False),
    ],
)
def test_the_terminal_server_is_exact_at_every_speed_and_cheap(
    monkeypatch, baud, rule, changes, passed
):
    def trial(_setup, case: terminal._Case, _data, _settings) -> list[dict[str, Any]]:
        rows = []
        for one in case.rules:
            row = {"build": case.build, "baud": case.baud, "rule": one.name, **GOOD_ROW}
            row |= {"interrupts/s": 6, "worst latency (ms)": 200}
            row |= changes if (case.baud, one.name) == (baud, rule) else {}
            rows.append(row)
            if not case.measures:
                del row["CPU (%)"]
        return rows

    monkeypatch.setattr(terminal, "_run", trial)
    assert run("E8").passed is passed


@pytest.mark.parametrize(
    ("build", "baud", "passed", "fastest"),
    [
        (Build.BANKED, 115_200, False, 921_600),
        (Build.SINGLE, 115_200, False, 921_600),
        (Build.BANKED, 921_600, True, 460_800),
    ],
)
def test_sixteen_ports_lose_nothing_at_the_usual_speed(monkeypatch, build, baud, passed, fastest):
    def trial(_setup, one: Build, speed: int, *_) -> dict[str, Any]:
        exact = (one, speed) != (build, baud)
        row = {"build": one, "baud": speed, "exact": exact, "CPU (%)": 10}
        return row | {"lost up": 0, "lost down": 0}

    monkeypatch.setattr(sixteen_ports, "_run", trial)
    outcome = run("E9")
    assert outcome.passed is passed
    assert outcome.headline[f"{build} fastest tried without loss (baud)"] == fastest


@pytest.mark.parametrize(
    ("lines", "wrong", "passed"), [(4, False, True), (4, True, False), (0, False, False)]
)
def test_every_priority_of_every_form_is_right_and_some_lines_are_compared(
    monkeypatch, lines, wrong, passed
):
    def ask(_setup, forms) -> Mapping[str, rotation._Answer]:
        answers = {}
        for form in forms:
            master, *slave = map(int, form.split())
            table = rotation.rotated(master, *(slave or [14]))
            priorities = {line: 15 - table[line] for line in range(lines)}
            if wrong and form == "7 15":
                table = (*table[:14], table[15], table[14])
            answers[form] = rotation._Answer(table, priorities)
        return answers

    monkeypatch.setattr(rotation, "_ask", ask)
    assert run("E11", dataclasses.replace(SETTINGS, length=64)).passed is passed


@pytest.mark.parametrize(
    ("own", "changes", "passed"),
    [
        (True, {}, True),
        (True, {"deviation": 5.0}, False),
        (True, {"missed": 1}, False),
        (True, {"outlier": 56}, False),
        (True, {"outlier": 55}, True),
        (False, {"deviation": 5.0, "missed": 1, "outlier": 56}, True),
        # A sample that software sees elsewhere.
        (True, {"spread": 1}, False),
        (False, {"spread": 2}, False),
    ],
)
def test_a_tier_of_its_own_is_steady_and_misses_no_moment(
    monkeypatch, tmp_path, own, changes, passed
):
    def trial(_setup, case: echo_trial.Case, _settings) -> echo_trial.Measured:
        has = changes if case.place.own is own and case.load == echo_trial.FLOOD else {}
        late = has.get("outlier", 6)
        hardware = Histogram({5: 90, late: 10}, 100, 5, late, 5.1, has.get("deviation", 4.9))
        software = dataclasses.replace(hardware, counts=hardware.shifted(15))
        spread = has.get("spread", 0)
        return echo_trial.Measured(hardware, software, has.get("missed", 0), 15, 15 + spread, 0)

    monkeypatch.setattr(echo, "make_setup", lambda *_: None)
    monkeypatch.setattr(echo, "run_trial", trial)
    monkeypatch.setattr(echo, "results_folder", lambda: tmp_path)
    outcome = run("E13")
    assert outcome.passed is passed
    missed = 0 if own else changes.get("missed", 0)
    assert outcome.headline["polled, take: moments missed"] == missed


@pytest.mark.parametrize(
    ("build", "changes", "passed"),
    [
        (Build.BANKED, {"spaces": [5_200]}, True),
        (Build.BANKED, {"spaces": [100, 5_201]}, False),
        (Build.BANKED, {"lengths": [lin_frames.MOST_TIMES]}, True),
        (Build.BANKED, {"lengths": [1.0, lin_frames.MOST_TIMES + 1e-4]}, False),
        (Build.BANKED, {"dropped": 1}, False),
        (Build.SINGLE, {"spaces": [10**6], "lengths": [2.0], "dropped": 1}, True),
    ],
)
def test_a_responder_of_b_is_early_whole_and_never_silent(monkeypatch, build, changes, passed):
    def trial(_setup, case: lin._Case, *_) -> lin._Answers:
        usual: dict[str, Any] = {"spaces": [100], "lengths": [1.0], "dropped": 0}
        if (case.build, case.load, case.waits) == (build, lin.Load.FLOOD, True):
            usual |= changes
        return lin._Answers(**usual)

    monkeypatch.setattr(lin, "_run", trial)
    assert run("E14").passed is passed


def test_a_responder_that_never_answers_is_said(monkeypatch):
    monkeypatch.setattr(lin, "_run", lambda *_: lin._Answers([], [], 300))
    with pytest.raises(ValueError, match="B, idle: a header must be answered, and none was"):
        run("E14")


def test_a_build_that_echoes_nothing_beside_busy_ports_is_said():
    silent = SimpleNamespace(run=lambda **_: SimpleNamespace(frames=[]))
    settings = dataclasses.replace(SETTINGS, length=1)
    with pytest.raises(ValueError, match="one of 8 frames of 1518 bytes must be echoed, not none"):
        busy_ports.run_trial(silent, 1518, settings)


def test_a_flood_that_no_lin_node_answers_in_is_refused():
    at_clock = dataclasses.replace(SETTINGS, clock_hz=50_000_000, length=416_667)
    for settings, least in ((SETTINGS, 833_334), (at_clock, 416_668)):
        with pytest.raises(ValueError, match=f"length must be at least {least} cycles"):
            run("E15", settings)
        assert overload_trial.least_cycles(settings.clock_hz) == least


def test_nearly_the_share_is_not_the_share():
    case = overload._Case(Build.BANKED, "sink", 20, 10.0)
    quiet = overload_trial.Quiet(during=10_000, outside=500)

    def left(busy_rounds: int) -> float:
        trial = overload_trial.Trial(100, 50, busy_rounds, 0, 0)
        return overload._row(case, trial, quiet, SETTINGS)["computation left (%)"]

    assert left(500 + 2_000) == 20.0
    assert left(500 + 1_999) < 20.0
    assert left(0) == 0.0
