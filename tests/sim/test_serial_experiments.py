"""The experiments of the terminal server: what they compute from a run."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tierv.sim.experiments import serial_link, sixteen_ports, terminal
from tierv.sim.experiments.bench import Build
from tierv.sim.experiments.experiment import Settings
from tierv.sim.experiments.serial_link import Packet
from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command

CLOCK_HZ = 100_000_000


def row(packets: list[Packet], end: int = 10**9) -> dict:
    """Eight bytes, one each 1,000 cycles, at 19,200 baud: real time is 16 times as slow."""
    case = terminal._Case(Build.BANKED, 19_200, (terminal._BY_TIME,))
    times = 1_000 * np.arange(1, 9)
    data = bytes(range(8))
    return terminal._row(case, terminal._BY_TIME, data, packets, times, end, CLOCK_HZ)


def test_latency_is_that_of_the_oldest_byte_and_the_rate_that_of_packets():
    packets = [Packet(5_000, b"\0\1\2"), Packet(8_500, b"\3\4\5"), Packet(12_500, b"\6\7")]
    found = row(packets)
    assert found["exact"]
    assert found["packets"] == 3
    # The oldest bytes came at 1,000, 4,000 and 7,000.
    assert found["worst latency (ms)"] == pytest.approx(5_500 * 16 / CLOCK_HZ * 1e3, abs=1e-3)
    # The last packet was not followed by others.
    assert found["packets/s"] == pytest.approx(CLOCK_HZ / 16 / 3_500, rel=1e-6)


def test_what_no_rule_has_sent_counts_for_the_bytes_alone():
    found = row([Packet(5_000, b"\0\1\2"), Packet(20_000, b"\3\4\5\6\7")], end=15_000)
    assert found["exact"]
    assert found["worst latency (ms)"] == pytest.approx(4_000 * 16 / CLOCK_HZ * 1e3, abs=1e-3)
    assert not row([Packet(5_000, b"\0\1\3")])["exact"]


def test_services_and_packets_are_those_from_the_first_byte_to_the_last(monkeypatch):
    case = terminal._Case(Build.BANKED, 19_200, (terminal._BY_TIME,), measures=True)
    asked = {}

    def run(*, frames, set, **_):
        asked["last"] = set["start_cycle"] + set["run_cycles"]
        asked["cycles"] = [frame.cycle for frame in frames]
        # Half of the time is idle; then services of timers, Ethernet and ports.
        return SimpleNamespace(results=dict(enumerate([500, 1_000, 4, 0, 6])))

    def packets(*_) -> list[Packet]:
        # One comes by the rule, one with what is left.
        return [Packet(asked["last"] - 10, bytes(4)), Packet(asked["last"] + 9_999_999, bytes(4))]

    told = [{"SERVICES": services, "OVERRUNS": services % 7} for services in (2, 12, 19)]
    monkeypatch.setattr(serial_link, "all_counters_of", lambda *_: told)
    monkeypatch.setattr(serial_link, "packets_of", packets)
    settings = Settings(seed=1, clock_hz=CLOCK_HZ, length=1_000)
    setup = SimpleNamespace(run=run)
    (found,) = terminal._run(setup, case, bytes(8), settings)
    assert asked["cycles"] == sorted(asked["cycles"])
    # Eight characters of ten bits.
    assert found["interrupts/s"] == pytest.approx(10 * 19_200 / 80, rel=1e-3)
    assert found["overruns"] == 19 % 7
    assert (found["cycles/interrupt"], found["cycles/packet"]) == (50, 500)


def test_no_line_is_simulated_faster_than_the_fastest():
    rates = [baud * terminal.compression_of(baud) for baud in terminal._BAUDS]
    assert max(rates) == 921_600
    assert terminal.compression_of(terminal.REFERENCE_BAUD) == 16
    # Rules are whole microseconds after that.
    assert all(us % 16 == 0 for us in terminal._LATENCIES_US)
    assert terminal.compression_of(9600) == 64
    assert terminal._LATENCY_US % 64 == 0


def test_the_file_is_the_reference_s_and_repeats_by_its_seed():
    text = terminal._text(3)
    assert len(text) == 48_890
    assert text == terminal._text(3)
    assert text != terminal._text(4)
    assert max(map(len, text.split(b"\n"))) < 80


def test_sixteen_ports_get_datagrams_as_fast_as_their_lines():
    data = sixteen_ports._Data.make(1, 1_024)
    frames = sixteen_ports._down_frames(data, 1_000, 100.0)
    assert len(frames) == 32
    cycles = [frame.cycle for frame in frames]
    assert cycles == sorted(cycles)
    # A datagram of 512 characters for each port, the ports one after the other.
    assert np.diff(cycles).tolist() == [3_200] * 31


@pytest.mark.parametrize(
    ("way", "changed", "lost"),
    [
        (None, b"", (0, 0)),
        ("up", b"\0", (3, 0)),
        ("down", b"\0", (0, 3)),
        ("down", b"last", (0, 0)),
    ],
)
def test_sixteen_ports_are_exact_both_ways_or_not(monkeypatch, way, changed, lost):
    data = sixteen_ports._Data([b"down"] * 16, [b"up_s"] * 16)
    last = sixteen_ports._PORTS - 1

    def came(direction: str, port: int, usual: bytes) -> bytes:
        return changed if (direction, port) == (way, last) else usual

    def run(*, set, **_):
        # Idle half of the time; then interrupts of timers, Ethernet and ports.
        results = dict(enumerate([set["run_cycles"] // 2, set["run_cycles"], 1, 2, 3]))
        return SimpleNamespace(results=results, uart=lambda pin: came("down", pin - 1, b"down"))

    def packets(_result, port: int) -> list[Packet]:
        return [Packet(0, came("up", port, b"up_s"))]

    counters = {"OVERRUNS": 1, "REFUSED_BYTES": 2}
    monkeypatch.setattr(serial_link, "counters_of", lambda *_: counters)
    monkeypatch.setattr(serial_link, "packets_of", packets)
    setup = SimpleNamespace(run=run)
    found = sixteen_ports._run(setup, Build.BANKED, 115_200, data, CLOCK_HZ)
    assert found["exact"] is (way is None)
    assert (found["lost up"], found["lost down"]) == lost
    assert (found["overruns"], found["refused"], found["CPU (%)"]) == (16, 32, 50)


def test_control_frames_say_what_the_protocol_says():
    items = [protocol.number(Command.PACK_TIME, 5)]
    frame = serial_link.control_frame(3, items)
    assert frame[36:38] == protocol.CONTROL_PORT.to_bytes(2, "big")
    assert protocol.decode(frame[42:]) == (3, 1, items)
