"""E18: what is measured, and the verdict, on devices that are known."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tierv.sim.experiments import gigabit, rfc2544_trial
from tierv.sim.experiments.bench import Build
from tierv.sim.experiments.experiment import Settings
from tierv.sim.experiments.gigabit import Gigabit, passes

CLOCK_HZ = 100_000_000
#: Of a frame of 512 bytes at 1 Gbit/s, in cycles.
LINE_CYCLES = 425.6


class Device:
    """Serves a frame in so many cycles and drops what comes meanwhile; answers when it has."""

    def __init__(self, service_cycles: float) -> None:
        self.service_cycles = service_cycles
        self.clocks: set[int | None] = set()

    def run(self, *, frames, mii_hz, **_):
        self.clocks.add(mii_hz)
        free_at, answers = 0.0, []
        for frame in frames[1:]:
            if frame.cycle + 1 < free_at:
                continue
            free_at = max(free_at, frame.cycle) + self.service_cycles
            answers.append(SimpleNamespace(errors=0, data=frame.data, cycle=int(free_at)))
        for answer in answers:
            answer.end_cycle = answer.cycle
        return SimpleNamespace(
            frames=answers,
            frames_sent=np.array([frame.cycle for frame in frames]),
            values={"discarded_datagrams": len(answers)},
        )


class OneDevice:
    """A bench on which all builds are one device."""

    def __init__(self, service_cycles: float) -> None:
        self.device = Device(service_cycles)

    def setups(self, *_, **__):
        return dict.fromkeys(Build, self.device)

    def map(self, function, items):
        return [function(item) for item in items]


def run(service_cycles: float, length: int = 200):
    bench = OneDevice(service_cycles)
    settings = Settings(seed=1, clock_hz=CLOCK_HZ, length=length)
    return Gigabit().run(bench, settings, lambda _: None), bench.device


def test_a_device_just_fast_enough_passes_and_is_saturated_by_a_faster_wire():
    outcome, device = run(LINE_CYCLES)
    assert outcome.passed
    # The answer to a frame that comes while one is served is lost: every other one.
    cycles = outcome.headline["B echo of 512 bytes at saturation (cycles a frame)"]
    assert cycles == pytest.approx(2 * LINE_CYCLES / 1.25, rel=0.02)
    # GMII's own clock, and one a quarter faster.
    assert device.clocks == {None, 156_250_000}


def test_a_device_a_little_too_slow_fails():
    outcome, _ = run(1.05 * LINE_CYCLES)
    assert not outcome.passed
    assert outcome.headline["B echo at line rate (of 3 sizes)"] == 1


def test_a_full_run_has_more_services_and_sizes(monkeypatch):
    monkeypatch.setattr(Gigabit, "full_length", 20)
    short, full = (run(2_000, length)[0] for length in (10, 20))
    assert len(short.rows) == 2 * 3 * len(Build)
    assert len(full.rows) == 3 * 7 * len(Build)


def test_the_frames_of_the_longest_trial_have_numbers_of_their_own(monkeypatch):
    lengths = []

    def saturate(_target, _service, _size, settings):
        lengths.append(settings.length)
        return {}

    monkeypatch.setattr(gigabit, "measure", lambda *_: {})
    monkeypatch.setattr(gigabit, "saturate", saturate)
    for length in (Gigabit.most_length, Gigabit.most_length + 1):
        settings = Settings(seed=1, clock_hz=CLOCK_HZ, length=length)
        gigabit._measure(None, "echo", 64, settings)
    assert lengths[0] <= rfc2544_trial.MOST_FRAMES < lengths[1]
    last = rfc2544_trial.MOST_FRAMES - 1
    frame = rfc2544_trial._numbered(bytes(60), last)
    assert rfc2544_trial._number_of(frame) == last
    with pytest.raises(OverflowError):
        rfc2544_trial._numbered(bytes(60), last + 1)


def test_only_long_frames_of_b_decide():
    def row(build: Build, size: int, share: float) -> dict:
        return {"build": build, "bytes": size, "of line rate (%)": share}

    assert passes(
        [row(Build.BANKED, 512, 100), row(Build.BANKED, 64, 10), row(Build.SINGLE, 512, 5)]
    )
    assert not passes([row(Build.BANKED, 512, 99.9)])
