"""E14: headers on the wire, what is made of answers, and a short run."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from tierv.sim import lin
from tierv.sim.experiments import EXPERIMENTS
from tierv.sim.experiments import lin as experiment
from tierv.sim.experiments.bench import Bench, Build
from tierv.sim.experiments.experiment import Settings
from tierv.sim.records import DTYPES, UartError
from tierv.sim.stimulus import UartFormat, encode_uart

CLOCK_HZ = 100_000_000
SETTINGS = Settings(seed=1, clock_hz=CLOCK_HZ, length=4)
BIT = CLOCK_HZ / experiment.BAUD


@pytest.mark.parametrize(
    ("identifier", "protected"), [(0, 0x80), (0x21, 0x61), (0x3C, 0x3C), (0x3D, 0x7D), (63, 0xBF)]
)
def test_identifiers_are_protected_as_the_specification_says(identifier, protected):
    assert lin.protect(identifier) == protected


def test_an_identifier_out_of_range_is_named():
    with pytest.raises(ValueError, match="identifier must be from 0 to 63, not 64"):
        lin.protect(64)


@pytest.mark.parametrize(
    ("data", "identifier", "expected"),
    [("4a5593e5", None, 0xE6), ("1122334455667788", 0x10, 0x49), ("00", None, 0xFF)],
)
def test_checksums_are_those_of_known_frames(data, identifier, expected):
    assert lin.checksum(bytes.fromhex(data), identifier) == expected


def test_a_header_is_a_break_of_thirteen_bits_a_sync_field_and_the_identifier():
    form = UartFormat(experiment.BAUD)
    items = lin.header(1, 0x21, 1000, form)
    records = np.frombuffer(encode_uart(items, [form] * 2, CLOCK_HZ), DTYPES["UartIn"])
    assert records["bits"].tolist() == [14, 10, 10]
    assert records["pattern"].tolist() == [1 << 13, 0x200 | 0x55 << 1, 0x200 | 0x61 << 1]
    assert abs(lin.header_cycles(experiment.BAUD, CLOCK_HZ) - 34 * BIT) <= 1


def evaluate(*answers: tuple[float, bytes, int]):
    """Space in bits, bytes and errors of answers to headers on port 0, which are due ``ab``."""
    headers, records = [], []
    for number, (space, content, errors) in enumerate(answers):
        begin = 1_000_000 * (number + 1)
        headers.append(experiment._Header(0, begin, 0x11, b"ab"))
        end = begin + lin.header_cycles(experiment.BAUD, CLOCK_HZ)
        for index, byte in enumerate(content):
            cycle = round(end + (space + 10 * index) * BIT)
            records.append((cycle, round(10 * BIT), byte, 1, errors))
    characters = np.array(records, DTYPES["UartOut"])
    result = SimpleNamespace(characters=characters, cycles=10**8)
    return experiment._evaluate(result, headers, SETTINGS)


RIGHT = b"ab" + bytes([lin.checksum(b"ab", 0x11)])


def test_the_response_space_begins_behind_the_header():
    answers = evaluate((0, RIGHT, 0), (2, RIGHT, 0), (-0.5, RIGHT, 0))
    assert [round(space / BIT, 3) for space in answers.spaces] == [0, 2, -0.5]
    assert [round(length, 3) for length in answers.lengths] == [1, 1.067, 0.983]
    assert answers.dropped == 0


@pytest.mark.parametrize(
    ("content", "errors"),
    [
        (b"", 0),
        (RIGHT[:2], 0),
        (b"ac" + RIGHT[2:], 0),
        (RIGHT + b"x", 0),
        (RIGHT, UartError.FRAMING),
    ],
)
def test_what_is_not_whole_and_right_is_dropped(content, errors):
    assert evaluate((0, content, errors), (0, RIGHT, 0)).dropped == 1


def test_headers_leave_room_for_the_longest_response():
    data = {(port, length): bytes(length) for port in (0, 1) for length in experiment.LENGTHS}
    headers, end = experiment._headers(200, data, SETTINGS, random.Random(1))
    for port in (0, 1):
        mine = [one for one in headers if one.port == port]
        assert len(mine) == 100
        assert {len(one.data) for one in mine} == set(experiment.LENGTHS)
        for one, after in zip(mine, [one.begin for one in mine[1:]] + [end], strict=True):
            assert after - one.begin >= (34 + 14 * (len(one.data) + 1)) * BIT - 1


@pytest.mark.slow
def test_a_responder_answers_behind_the_stop_bit_under_every_load(tmp_path):
    outcome = EXPERIMENTS["E14"].run(Bench(CLOCK_HZ), SETTINGS, lambda _: None)
    assert outcome.passed
    assert len(outcome.rows) == 6
    for row in outcome.rows:
        assert row["headers"] == 4
        assert row["space min (us)"] >= 0
        assert row["written min (us)"] > 0
        if row["build"] == Build.BANKED:
            assert row["dropped"] == 0
            assert row["space max (us)"] < 1
    path = tmp_path / "plot.png"
    EXPERIMENTS["E14"].plot(outcome, path)
    assert path.stat().st_size > 1000
