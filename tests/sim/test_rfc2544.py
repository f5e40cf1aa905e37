"""E7 and E16: throughput, loss, latency and bursts of a device that is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from checksums import check_checksums
from scapy.layers.l2 import Ether

from tierv.sim.experiments import peers
from tierv.sim.experiments.experiment import Settings
from tierv.sim.experiments.frames import FCS_BYTES, WIRE_OVERHEAD_BYTES, wire_cycles
from tierv.sim.experiments.rfc2544_trial import Target, _frame, _number_of, _numbered, measure

CLOCK_HZ = 100_000_000
SETTINGS = Settings(seed=1, clock_hz=CLOCK_HZ, length=400)
#: Cycles of a frame of 64 bytes at line rate.
LINE_CYCLES = 672


@dataclass
class Device:
    """Serves a frame in so many cycles and holds a few meanwhile; answers 100 cycles later."""

    service_cycles: int
    room: int
    trials: int = 0

    def run(self, *, frames, **_):
        self.trials += 1
        free_at, answers = 0, []
        for frame in frames[1:]:
            end = frame.cycle + int(wire_cycles(len(frame.data) + FCS_BYTES, CLOCK_HZ))
            if free_at - end > self.room * self.service_cycles:
                continue
            free_at = max(free_at, end) + self.service_cycles
            answers.append((free_at, frame.data))
        return SimpleNamespace(
            frames=[
                SimpleNamespace(errors=0, data=data, cycle=cycle, end_cycle=cycle + 500)
                for cycle, data in answers
            ],
            frames_sent=np.array([frame.cycle for frame in frames]),
            values={"discarded_datagrams": len(answers)},
        )


def test_numbered_frames_have_good_checksums():
    for size in (64, 1518):
        for number in (0, 1, 0xFFFF):
            frame = _numbered(_frame(size, 7), number)
            assert len(frame) == size - FCS_BYTES
            assert _number_of(frame) == number
            check_checksums(Ether(frame))


@pytest.mark.parametrize("service", ["echo", "sink"])
def test_a_device_at_a_third_of_the_line_rate_is_found_there(service):
    device = Device(service_cycles=3 * LINE_CYCLES, room=4)
    row = measure(Target(setup=device), service, 64, SETTINGS)
    # What the room holds at the end counts too.
    assert row["of line rate (%)"] == pytest.approx(100 / 3, rel=0.04)
    assert row["overload lost (%)"] == pytest.approx(66, abs=2)
    assert row["cycles a frame at overload"] == pytest.approx(3 * LINE_CYCLES, rel=0.04)
    assert device.trials < 6
    if service == "echo":
        # Each frame of a burst leaves two thirds of its service to the room.
        assert 5 <= row["back-to-back (frames)"] <= 8
    else:
        assert "back-to-back (frames)" not in row


def test_a_device_that_keeps_up_needs_one_trial():
    device = Device(service_cycles=LINE_CYCLES, room=4)
    row = measure(Target(setup=device), "echo", 64, SETTINGS)
    assert device.trials == 1
    assert row["of line rate (%)"] == 100
    assert row["throughput (Mbit/s)"] == pytest.approx(76.19, abs=0.01)
    assert row["back-to-back (frames)"] == SETTINGS.length
    # From the last bit, without the gap, to the first bit behind the answer's preamble.
    gap = (WIRE_OVERHEAD_BYTES - 8) * 8
    assert row["latency mean (us)"] == pytest.approx((LINE_CYCLES + gap + 64) / 100, abs=0.02)


def test_a_device_that_loses_one_frame_at_line_rate_only_is_not_at_line_rate():
    class Nearly(Device):
        def run(self, *, frames, **rest):
            spacing = (frames[-1].cycle - frames[1].cycle) / (len(frames) - 2)
            return super().run(frames=frames[spacing <= LINE_CYCLES :], **rest)

    device = Nearly(service_cycles=LINE_CYCLES, room=4)
    settings = replace(SETTINGS, length=5_000)
    row = measure(Target(setup=device), "sink", 64, settings)
    assert row["of line rate (%)"] == 99.9
    assert row["overload lost (%)"] == 0


def test_a_frame_that_is_echoed_twice_makes_up_for_no_other():
    class Stutters(Device):
        def run(self, *, frames, **rest):
            found = super().run(frames=frames, **rest)
            spacing = (frames[-1].cycle - frames[1].cycle) / (len(frames) - 2)
            if spacing <= LINE_CYCLES:
                found.frames[7] = found.frames[6]
            return found

    row = measure(Target(setup=Stutters(LINE_CYCLES, room=4)), "echo", 64, SETTINGS)
    assert row["of line rate (%)"] < 100
    assert row["overload lost (%)"] > 0
    assert row["back-to-back (frames)"] == 7


def test_a_device_that_always_loses_is_an_error():
    class Deaf(Device):
        def run(self, *, frames, **rest):
            return super().run(frames=frames[:-1], **rest)

    device = Deaf(service_cycles=LINE_CYCLES, room=4)
    with pytest.raises(ValueError, match="echo: frames of 64 bytes are lost at any load tried"):
        measure(Target(setup=device), "echo", 64, SETTINGS)
    assert device.trials < 16


def test_b_must_be_twice_as_fast_or_at_line_rate():
    def row(rate: float, share: float) -> dict[str, float]:
        return {"throughput (Mbit/s)": rate, "of line rate (%)": share}

    assert peers._is_ahead(row(20, 30), row(10, 15))
    assert not peers._is_ahead(row(19.9, 30), row(10, 15))
    assert peers._is_ahead(row(98, 100), row(60, 61))
