"""E17's verdict, and how long its trials are."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tierv.sim.experiments import busy_ports
from tierv.sim.experiments.bench import Build
from tierv.sim.experiments.experiment import Settings
from tierv.sim.experiments.frames import FCS_BYTES, UDP_OFFSET, wire_cycles
from tierv.sim.experiments.rfc2544_trial import SIZES


@pytest.mark.parametrize(
    ("build", "changes", "passes"),
    [
        (Build.BANKED, {}, True),
        (Build.BANKED, {"frames lost": 1}, False),
        (Build.BANKED, {"serial bytes lost": 1}, False),
        (Build.SINGLE, {"frames lost": 1}, True),
    ],
)
def test_the_verdict_is_that_of_the_banked_build(build, changes, passes):
    rows = [
        {"build": one, "bytes": size, "frames lost": 0, "serial bytes lost": 0}
        for one in (Build.BANKED, Build.SINGLE)
        for size in SIZES
    ]
    next(row for row in rows if row["build"] == build).update(changes)
    assert busy_ports.passes(rows) is passes


def test_frames_of_all_sizes_come_for_the_same_time_so_that_buffers_hide_little_loss():
    sent = {}

    class Recorder:
        def run(self, *, frames, **_):
            echoes = [frame for frame in frames if frame.data[UDP_OFFSET + 2 :][:2] == b"\0\7"]
            sent[len(echoes[0].data) + FCS_BYTES] = [frame.cycle for frame in echoes]
            raise StopIteration

    settings = Settings(seed=1, clock_hz=100_000_000, length=busy_ports.BusyPorts.short_length)
    for size in SIZES:
        with pytest.raises(StopIteration):
            busy_ports.run_trial(Recorder(), size, settings)
    assert set(sent) == set(SIZES)
    for size, cycles in sent.items():
        assert cycles[-1] - cycles[0] == pytest.approx(6_000_000, abs=2 * wire_cycles(size, 10**8))
    assert len(sent[64]) > 8_900


@pytest.mark.parametrize(
    ("came", "went", "lost"),
    [(b"down", b"up", 0), (b"don", b"up", 1), (b"down", b"", 2), (b"", b"p", 5)],
)
def test_bytes_that_are_lost_either_way_are_counted(monkeypatch, came, went, lost):
    packets = [SimpleNamespace(data=bytes([byte])) for byte in went]
    monkeypatch.setattr(busy_ports.serial_link, "packets_of", lambda *_: packets)
    result = SimpleNamespace(uart=lambda _pin: came)
    assert busy_ports._lost(result, 2, b"down", b"up") == lost


@pytest.mark.parametrize(("came", "went"), [(b"dwon", b"up"), (b"down", b"upp")])
def test_bytes_that_were_not_sent_are_an_error(monkeypatch, came, went):
    packets = [SimpleNamespace(data=went)]
    monkeypatch.setattr(busy_ports.serial_link, "packets_of", lambda *_: packets)
    with pytest.raises(ValueError, match="serial port 2 gave bytes that it did not get"):
        busy_ports._lost(SimpleNamespace(uart=lambda _pin: came), 2, b"down", b"up")


def test_a_trial_longer_than_a_datagram_holds_is_refused():
    settings = Settings(seed=1, clock_hz=100_000_000, length=81)
    with pytest.raises(ValueError, match="length must be 80 ms at the most, not 81"):
        busy_ports.run_trial(None, 64, settings)
