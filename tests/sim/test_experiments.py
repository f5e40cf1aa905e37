"""The experiments: what they compute, and that short runs of them find what long ones do."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

from tierv.sim.experiments import (
    EXPERIMENTS,
    contention,
    goodput,
    report,
    saturation,
    shares,
    switch,
    traffic,
)
from tierv.sim.experiments import bench as bench_module
from tierv.sim.experiments.__main__ import main
from tierv.sim.experiments.bench import Bench, Build
from tierv.sim.experiments.experiment import Outcome, Settings
from tierv.sim.experiments.frames import datagram, wire_cycles
from tierv.sim.experiments.rfc2544_trial import Target, measure
from tierv.sim.experiments.shares import cycles_by_tier
from tierv.sim.records import DTYPES

CLOCK_HZ = 100_000_000
APPS = Path(__file__).resolve().parent.parent.parent / "firmware/apps"


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(CLOCK_HZ)


def run(bench: Bench, identity: str, length: int) -> Outcome:
    settings = Settings(seed=3, clock_hz=CLOCK_HZ, length=length)
    return EXPERIMENTS[identity].run(bench, settings, lambda _: None)


@pytest.mark.parametrize("length", [EXPERIMENTS["E1"].least_length, 40])
def test_a_handler_of_the_banked_build_issues_in_the_next_cycle_at_every_phase(bench, length):
    outcome = run(bench, "E1", length)
    banked = [row for row in outcome.rows if row["build"] == Build.BANKED]
    assert len(banked) == 2
    for row in banked:
        assert (row["first instruction min"], row["first instruction max"]) == (1, 1)
        assert row["service min"] == row["service max"]
    single = [row for row in outcome.rows if row["build"] == Build.SINGLE]
    assert min(row["in and out min"] for row in single) > 12
    assert outcome.passed


@pytest.mark.parametrize("length", [EXPERIMENTS["E2"].least_length, 12])
def test_the_driver_layer_counts_what_it_was_told_to(bench, length):
    outcome = run(bench, "E2", length)
    assert outcome.passed
    assert len(outcome.rows) == 3 * len(Build)
    for row in outcome.rows:
        # A word takes two instructions at the least, a summed one five.
        assert row["taken (cycles a datagram)"] > 1500 / 4 * (5 if row["summing"] else 2)


def test_the_trace_loses_nothing_and_every_event_is_counted(bench):
    outcome = run(bench, "E4", 2_000_000)
    for row in outcome.rows:
        assert (row["packets"], row["sends"]) == (11, 17)
        assert (row["delivered"], row["sent"], row["lost"]) == (11, 17, 0)
    assert outcome.passed


def test_a_datagram_of_1518_bytes_is_echoed_at_line_rate(bench):
    setup = bench.setup(Build.BANKED, "services")
    settings = Settings(seed=1, clock_hz=CLOCK_HZ, length=20)
    row = measure(Target(setup=setup), "echo", 1518, settings)
    assert row["of line rate (%)"] == 100
    assert row["overload lost (%)"] == 0
    assert row["latency max (us)"] < 100


def test_every_cycle_is_one_tier_s_or_nobody_s():
    wait, other = 0x100, 0x200
    program = SimpleNamespace(word=lambda pc: 0x1050_0073 if pc == wait else 0x13)
    steps = [(0, 95, other), (2, 103, other), (2, 104, wait), (0, 107, other), (0, 110, wait)]
    steps += [(1, 150, other), (1, 152, wait), (0, 170, other)]
    retired = np.array([(cycle, pc, tier) for tier, cycle, pc in steps], DTYPES["RetireOut"])
    found = cycles_by_tier(SimpleNamespace(retired=retired), program, 100, 60)
    assert found == {"tier 0": 6, "tier 1": 2, "tier 2": 4, "idle": 48}
    assert sum(found.values()) == 60


def test_the_headline_of_shares_tells_what_was_lost_beside_the_cycles():
    def row(lost: int, idle: float = 0.0) -> dict:
        return {"sum": 672.0 - idle, "idle": idle, "offered": 2_020, "lost": lost}

    def case(mac: str, size: int, load: str) -> shares._Case:
        return shares._Case(mac, Build.SINGLE, "echo", size, load)

    headline = shares._headline(
        {
            case("dma", 64, "line rate"): row(11, idle=2),
            case("slots", 64, "line rate"): row(930),
            case("dma", 64, "alone"): row(0, idle=100),
            case("dma", 512, "alone"): row(0, idle=90),
            case("slots", 1518, "line rate"): row(3),
        }
    )
    assert headline == {
        "S dma, echo of 64 bytes at line rate (cycles)": 670.0,
        "S dma, echo of 64 bytes at line rate, lost (of 2,020)": 11,
        "S dma, echo of 64 bytes alone (cycles)": 572.0,
        "S slots, echo of 64 bytes at line rate, lost (of 2,020)": 930,
        "other sizes and loads, lost in the worst trial": 3,
    }


def test_shares_at_line_rate_are_watched_long_enough_for_a_slow_loss():
    settings = Settings(seed=1, clock_hz=CLOCK_HZ, length=EXPERIMENTS["E3"].short_length)

    def frames(size: int, load: str) -> int:
        return shares._frames(shares._Case("dma", Build.BANKED, "echo", size, load), settings)

    # What 24 buffers hide is 1.5 % or less; all trials last as long.
    assert frames(64, "line rate") >= 24 / 0.015
    for size in shares.SIZES:
        lasts = frames(size, "line rate") * wire_cycles(size, CLOCK_HZ)
        assert lasts == pytest.approx(100 * wire_cycles(1518, CLOCK_HZ), rel=0.001)
        assert frames(size, "alone") == 100


def test_what_an_interrupt_takes_is_the_shift_of_the_rounds_after_it():
    period, costs = 400, [0, 13, 104, 1]
    starts, lasts, time = [], [], 0
    for cost in costs:
        time += cost
        for _ in range(4):
            starts.append(time)
            time += period
        lasts.append(starts[-1])
    taken = switch._taken(np.array(lasts), np.array(starts))
    assert list(taken) == costs[1:]


def serial_bench() -> SimpleNamespace:
    """A bench without models, one trial after the other."""
    return SimpleNamespace(
        setups=lambda _: dict.fromkeys(Build),
        map=lambda function, items: [function(item) for item in items],
    )


def lossy_replay(monkeypatch, survives) -> list[float]:
    """Replays lose something unless the compression survives; they are listed as they are tried."""
    tried = []

    def replay(_setup, _traffic, *, compression, mii_hz):
        tried.append(compression)
        return SimpleNamespace(lost=int(not survives(compression)))

    monkeypatch.setattr(saturation, "replay", replay)
    return tried


@pytest.mark.parametrize("limit", [1.0, 5.0, 25.0, 40.0, 171.0])
def test_the_search_finds_the_highest_compression(monkeypatch, limit):
    tried = lossy_replay(monkeypatch, lambda compression: compression <= limit)
    found = saturation._survival(None, SimpleNamespace(cycles=2_000), 1)
    assert limit / 1.011 < found.highest <= limit
    assert found.again is None
    assert len(tried) <= 4 * math.log2(2_000 / 25) + 10


@pytest.mark.parametrize(("lost", "again"), [((30, 37), 42.5), ((24, 26), 35.36), ((5, 26), 35.36)])
def test_a_loss_below_a_speed_that_survives_ends_k_and_is_told(monkeypatch, lost, again):
    tried = lossy_replay(monkeypatch, lambda one: one < 60 and not lost[0] <= one <= lost[1])
    found = saturation._survival(None, SimpleNamespace(cycles=2_000), 1)
    below = [one for one in tried if one < lost[0]]
    assert found.highest == max(below)
    assert lost[0] / 1.011 < found.highest < lost[0]
    assert found.again == pytest.approx(again, rel=1e-3)


def test_a_trace_that_loses_at_every_speed_is_said_and_not_searched_for_ever(monkeypatch):
    tried = lossy_replay(monkeypatch, lambda _: len(tried) > 1_000)
    with pytest.raises(ValueError, match="B loses some of trace 3 at every speed tried, from 0.78"):
        run(serial_bench(), "E5", 5_000)
    assert len(tried) == 10
    assert min(tried) == 25 / 32


def test_builds_are_searched_alike_and_their_second_survival_is_counted(monkeypatch):
    tried = lossy_replay(monkeypatch, lambda one: one < 60 and not 35 < one < 36)
    outcome = run(serial_bench(), "E5", 5_000)
    searches = len(tried) // (3 * 10)
    assert tried == tried[:searches] * 30
    assert outcome.headline["k(B)/k(polled), worst"] == 1
    for build in Build:
        name = f"{build}, traces without loss again above the first"
        assert outcome.headline[name] == 10
    row = outcome.rows[0]
    assert row["k(polled)"] < 36 < row["again(polled)"]


def test_a_trace_that_saturates_nothing_is_said_with_the_fastest_that_was_tried(monkeypatch):
    tried = lossy_replay(monkeypatch, lambda _: True)
    with pytest.raises(ValueError, match="trace 3 never saturates B: .* even 5,000 times as fast"):
        run(serial_bench(), "E5", 5_000)
    assert max(tried) == 5_000
    assert len(tried) <= 4 * math.log2(5_000 / 25) + 10


def test_the_interval_is_student_s():
    half = saturation._half_interval([1.0, 1.2] * 5)
    assert half == pytest.approx(2.262 * 0.105409 / math.sqrt(10), rel=1e-4)


def test_traffic_is_the_reference_s_and_repeats_by_its_seed():
    one, same, other = (traffic.make_traffic(seed) for seed in (1, 1, 2))
    assert (len(one.packet_cycles), len(one.send_cycles)) == (1080, 1652)
    assert one.bits == pytest.approx(traffic.OFFERED_BITS, rel=0.01)
    assert np.array_equal(one.packet_cycles, same.packet_cycles)
    assert not np.array_equal(one.packet_cycles, other.packet_cycles)
    for cycles, sizes in (
        (one.packet_cycles, one.packet_bytes),
        (one.send_cycles, one.send_bytes),
    ):
        assert (np.diff(cycles) >= 0).all()
        assert cycles.max() < one.cycles
        assert sizes.min() >= 64
        assert sizes.max() <= 1518


def test_line_rates_are_those_of_rfc_2544():
    cycles = [round(wire_cycles(size, CLOCK_HZ)) for size in (64, 512, 1518)]
    assert cycles == [672, 4256, 12304]
    assert len(datagram(1500)) == 1514


def test_results_are_written_as_json_and_as_a_plot(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(report, "results_folder", lambda: tmp_path)
    done = CliRunner().invoke(main, ["E1", "--length", "10", "--seed", "5"])
    assert done.exit_code == 0, done.output
    content = json.loads((tmp_path / "E1.json").read_text())
    assert content["experiment"] == "E1"
    assert content["passed"] is True
    assert {"reference", "pass_line", "rows", "headline"} <= set(content)
    config = content["config"]
    assert (config["seed"], config["clock_hz"], config["length"]) == (5, CLOCK_HZ, 10)
    assert [soc["cpu_variant"] for soc in config["socs"]] == ["standard", "single"]
    assert (tmp_path / "E1.png").read_bytes().startswith(b"\x89PNG")
    assert "passed" in done.output


def test_every_soc_that_is_measured_on_is_known(monkeypatch):
    for name in ("build_model", "build_firmware", "Simulation"):
        monkeypatch.setattr(bench_module, name, lambda *_: None)
    bench = Bench(CLOCK_HZ)
    bench.setups("services", (Build.BANKED, Build.SINGLE), eth_dma=True)
    bench.setup(Build.POLLED, "driver", eth_dma=True)
    bench.setup(Build.BANKED, "services", cpu="vexriscv", cpu_variant="full")
    assert [(soc.cpu, soc.cpu_variant, soc.eth_dma) for soc in bench.socs] == [
        ("tierv", "standard", True),
        ("tierv", "single", True),
        ("vexriscv", "full", False),
    ]


#: The last length that can be measured, the next that can't, and what is said of it.
LENGTHS = {
    "E7": (65_536, 65_537, "at most 65536 frames in a trial"),
    "E8": (769, 768, "at least 769 bytes of the file at the most, 1.3 s of slow lines"),
    "E10": (4_096, 4_097, "at most 4096 collisions"),
    "E12": (411, 412, "at most 411 seconds of the line"),
    "E15": (6_401, 6_400, "at least 6401 cycles of flood"),
    "E16": (65_536, 65_537, "at most 65536 frames in a trial"),
    "E18": (10_347, 10_348, "at most 10347 frames in a trial"),
}


@pytest.mark.parametrize("identity", LENGTHS)
def test_a_length_beyond_what_can_be_measured_is_refused_before_anything_runs(
    monkeypatch, identity
):
    def begin(*_arguments):
        raise ValueError("has begun")

    monkeypatch.setattr(type(EXPERIMENTS[identity]), "run", begin)
    last, beyond, limit = LENGTHS[identity]
    message = f"length of {identity} must be {limit}, not {beyond}"
    for length, said in ((last, "has begun"), (beyond, message)):
        done = CliRunner().invoke(main, [identity, "--length", str(length)])
        assert done.exit_code == 1
        assert said in done.output


@pytest.mark.parametrize("experiment", EXPERIMENTS.values(), ids=lambda one: one.id)
def test_the_short_and_the_full_length_can_be_measured(experiment):
    most = experiment.most_length or math.inf
    assert experiment.least_length <= experiment.short_length <= experiment.full_length <= most


@pytest.mark.parametrize(
    ("app", "name", "most"),
    [
        ("contention", "MOST_COLLISIONS", contention.MOST_COLLISIONS),
        ("goodput", "MOST_PACKETS", goodput.MOST_PACKETS),
        ("trace", "MOST_SENDS", traffic.MOST_SENDS),
    ],
)
def test_the_room_is_that_of_the_firmware(app, name, most):
    source = (APPS / f"{app}.c").read_text()
    assert re.search(rf"\b{name} = (\d+)\b", source)[1] == str(most)


def test_the_firmware_has_room_for_the_packets_of_the_longest_line(monkeypatch):
    monkeypatch.setattr(goodput, "_packet", lambda _number, _chance: bytes(576))
    longest = EXPERIMENTS["E12"].most_length

    def packets(length: int) -> int:
        settings = Settings(seed=1, clock_hz=CLOCK_HZ, length=length)
        return goodput._stimulus(1, goodput._CASES[0], settings)[2][0]

    assert packets(longest) <= goodput.MOST_PACKETS < packets(longest + 1)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["E99"], "No such command 'E99'"),
        (["E1", "--length", "0"], "length must be above 0, not 0"),
        (["E1", "--length", "1"], "length of E1 must be at least 2 interrupts in each case, not 1"),
        (["E2", "--length", "5"], "length of E2 must be at least 6 datagrams each way, not 5"),
        (["E1", "--clock-hz", "-1"], "clock_hz must be above 0, not -1"),
        (["E1", "--seed", "x"], "'x' is not a valid integer"),
    ],
)
def test_a_wrong_command_line_is_refused(words, message):
    done = CliRunner().invoke(main, words)
    assert done.exit_code != 0
    assert message in done.output
