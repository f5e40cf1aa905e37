"""Recorded traces: what a CSV file means, its busiest second, and E4 and E5 with it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from tierv.sim.capture import Packet
from tierv.sim.experiments import report
from tierv.sim.experiments.__main__ import main
from tierv.sim.experiments.trace_file import read_trace, write_trace
from tierv.sim.experiments.traffic import CYCLES
from tierv.sim.pcap import write_pcap
from tierv.sim.replay import Address
from tierv.sim.stimulus import Frame

TRACE = """\
time,direction,length
100.0,in,1000
102.5,in,60
102.75,out,1514
103.25,in,42
104.0,out,100
"""


def trace(folder, text: str):
    path = folder / "site.csv"
    path.write_text(text)
    return path


def test_the_busiest_second_is_taken(tmp_path):
    traffic = read_trace(trace(tmp_path, TRACE))
    assert list(traffic.packet_cycles) == [0, CYCLES * 3 // 4]
    assert list(traffic.packet_bytes) == [64, 64]
    assert list(traffic.send_cycles) == [CYCLES // 4]
    assert list(traffic.send_bytes) == [1518]
    assert traffic.cycles == CYCLES


def test_lines_in_any_order_and_without_a_heading_are_the_same_trace(tmp_path):
    lines = TRACE.splitlines()[1:]
    mixed = read_trace(trace(tmp_path, "\n".join(lines[::-1])))
    assert mixed.bits == read_trace(trace(tmp_path, TRACE)).bits


def test_a_time_next_to_nothing_is_read_at_once(tmp_path):
    traffic = read_trace(trace(tmp_path, "1e-999999999,in,60\n0.5,in,60\n"))
    assert list(traffic.packet_cycles) == [0, CYCLES // 2]


def test_less_than_a_second_is_the_beginning_of_it(tmp_path):
    traffic = read_trace(trace(tmp_path, TRACE), CYCLES // 2)
    assert (len(traffic.packet_cycles), len(traffic.send_cycles)) == (1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no frames"),
        ("time,direction,length\n", "has no frames"),
        ("1,in\n", "line 1: must have 3 columns, not 2"),
        ("1,in,60\nx,in,60\n", "line 2: time must be seconds, less than 2\\*\\*63, not 'x'"),
        ("nan,in,60\n", "line 1: time must be seconds"),
        ("1,up,60\n", "line 1: 'up' is not a valid Direction"),
        ("1,in,0\n", "line 1: length must be from 1 to 1514, not 0"),
        ("1,in,1515\n", "line 1: length must be from 1 to 1514, not 1515"),
        ("1,in,1e3\n", "line 1: length must be a whole number of bytes, not '1e3'"),
        ("1,in,60\n1e400,in,60\n", "line 2: time must be seconds, .* not '1e400'"),
        ("1,in,60\n-1e308,in,60\n1e308,in,60\n", "line 2: time must be seconds, .* not '-1e308'"),
        ("1,in,60\n1,in," + "6" * 140_000, "line 2: field larger than field limit"),
        ("1,out,60\n" * 16_385, "at most 16384 sends in a second, not 16385"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    path = trace(tmp_path, text)
    with pytest.raises(ValueError, match=message) as caught:
        read_trace(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (Fraction(-3, 2), "-1.500000000"),
        (Fraction(-1, 10), "-0.100000000"),
        (Fraction(-2), "-2.000000000"),
        (Fraction(0), "0.000000000"),
        (Fraction(-1, 10**10), "0.000000000"),
        (Fraction(5, 4), "1.250000000"),
    ],
)
def test_times_before_the_epoch_keep_their_value(tmp_path, seconds, written):
    frame = bytes(Ether(dst="02:00:00:00:00:01") / IP(src="10.0.0.2", dst="10.0.0.1") / UDP())
    path = tmp_path / "site.csv"
    write_trace(path, [Packet(1, seconds, frame, len(frame))], Address.parse("10.0.0.1"))
    assert path.read_text().splitlines()[1].split(",")[0] == written


def test_a_trace_that_cannot_be_written_is_named():
    frame = bytes(Ether(dst="02:00:00:00:00:01") / IP(src="10.0.0.2", dst="10.0.0.1") / UDP())
    packets = [Packet(1, Fraction(0), frame, len(frame))]
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_trace(Path("/dev/full"), packets, Address.parse("10.0.0.1"))


def test_a_file_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "site.csv"
    path.write_bytes(b"1,in,60\n\xff")
    with pytest.raises(ValueError, match=r"site\.csv must be text: 'utf-8' codec"):
        read_trace(path)


def test_a_run_can_t_be_longer_than_the_second(tmp_path):
    with pytest.raises(ValueError, match="length must be at most 200000000 with a trace"):
        read_trace(trace(tmp_path, TRACE), CYCLES + 1)


def test_a_capture_becomes_a_trace_that_e4_replays(monkeypatch, tmp_path):
    monkeypatch.setattr(report, "results_folder", lambda: tmp_path)
    board, peer = "10.0.0.1", "10.0.0.2"
    ends = [(peer, board), (board, peer), (peer, "10.0.0.9"), (peer, board)]
    frames = [
        Frame(bytes(Ether(dst="02:00:00:00:00:01") / IP(src=a, dst=b) / UDP()), cycle=10_000 * n)
        for n, (a, b) in enumerate(ends)
    ]
    write_pcap(tmp_path / "site.pcap", frames, 100_000_000)
    path = tmp_path / "site.csv"
    words = ["trace-csv", str(tmp_path / "site.pcap"), board, str(path)]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "2 in, 1 out" in done.output
    assert path.read_text().splitlines()[2] == "0.000100000,out,42"

    done = CliRunner().invoke(main, ["E4", "--trace", str(path), "--length", "200000"])
    assert done.exit_code == 0, done.output
    content = json.loads((tmp_path / "E4-site.json").read_text())
    assert content["config"]["trace"] == "site.csv"
    assert [(row["packets"], row["sends"], row["lost"]) for row in content["rows"]] == [
        (2, 1, 0)
    ] * 3
    assert not (tmp_path / "E4.json").exists()


def test_a_capture_without_the_board_is_refused(tmp_path):
    write_pcap(tmp_path / "site.pcap", [Frame(bytes(60))], 100_000_000)
    words = ["trace-csv", str(tmp_path / "site.pcap"), "10.0.0.1", str(tmp_path / "site.csv")]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert "has no frame to or from 10.0.0.1" in done.output
    assert not (tmp_path / "site.csv").exists()


def test_a_capture_is_not_written_over_by_its_trace(tmp_path):
    path = tmp_path / "site.pcap"
    write_pcap(path, [Frame(bytes(60))], 100_000_000)
    data = path.read_bytes()
    assert CliRunner().invoke(main, ["trace-csv", str(path), "0.0.0.0", str(path)]).exit_code == 2
    assert path.read_bytes() == data


@pytest.mark.parametrize("name", ["E4", "E5"])
def test_a_file_that_is_no_trace_is_refused_before_a_model_is_built(monkeypatch, name):
    built = []
    monkeypatch.setattr("tierv.sim.experiments.bench.Bench.setups", lambda *_: built.append(name))
    done = CliRunner().invoke(main, [name, "--trace", __file__])
    assert done.exit_code == 1
    assert "test_trace_file.py" in done.output
    assert not built
