"""The latency instrument on the host: its request, its histogram and the driver of its device."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from host_build import (
    ROOT,
    TESTS,
    Program,
    build,
    examples,
    register_definitions,
    run_stepped,
    write_headers,
)
from hypothesis import given
from hypothesis import strategies as st

from tierv.soc.echo_instrument import EchoInstrument

FIRMWARE = ROOT / "firmware"
SOURCES = ("apps/command.c", "apps/echo/histogram.c", "apps/echo/request.c",
           "drivers/echo_instrument.c")  # fmt: skip
BINS = 16
BASE = 0x1_0000
ERASE, RUNNING, ERASING = 8, 1, 4


REGISTERS = register_definitions("CSR_ECHO", EchoInstrument().get_csrs(sort=True))


def headers() -> Path:
    """What LiteX would say of an instrument at ``BASE``."""
    soc = EchoInstrument().constants() | {"ECHO_INTERRUPT": 7}
    placed = {name: at + BASE * name.endswith("_ADDR") for name, at in REGISTERS.items()}
    return write_headers("latency", soc=soc, csr={"CSR_ECHO_BASE": BASE} | placed)


@pytest.fixture(scope="module")
def host() -> Iterator[Program]:
    folder = headers()
    sources = [TESTS / "latency_driver.c", TESTS / "text.c", *(FIRMWARE / name for name in SOURCES)]
    program = Program(build("latency_driver", sources, include=[folder]), end=".")
    yield program
    program.close()


def request(host: Program, words: str) -> str:
    (answer,) = host.command(f"request {f'start {words}'.encode().hex()}")
    return answer


def test_a_request_without_words_is_the_usual_one(host):
    assert request(host, "") == "4000 12 1 0 0 0 0"


def test_words_change_what_they_name_and_nothing_else(host):
    words = "test steady interval 100 spread 8 seed 0x12345678 bin 2 samples 1000"
    assert request(host, words) == f"100 8 {0x12345678} 2 1 1 1000"
    assert request(host, "test take") == "4000 12 1 0 0 0 0"
    assert request(host, "seed 4294967295") == "4000 12 4294967295 0 0 0 0"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("interval 63", "interval must be from 64 to 16777215, not '63'"),
        ("interval 16777216", "interval must be from 64 to 16777215, not '16777216'"),
        ("spread 21", "spread must be from 0 to 20, not '21'"),
        ("seed 0", "seed must be from 1 to 4294967295, not '0'"),
        ("bin 8", "bin must be from 0 to 7, not '8'"),
        ("bin x", "bin must be from 0 to 7, not 'x'"),
        ("take samples", "samples needs a number"),
        ("fast", "latency start: no 'fast'"),
    ],
)
def test_a_wrong_word_is_named(host, words, message):
    assert request(host, words) == f"error: {message}"


@examples(30)
@given(latencies=st.lists(st.integers(0, 100), min_size=1, max_size=12), width=st.integers(0, 3))
def test_a_histogram_counts_every_latency_once(host, latencies, width):
    host.command(f"empty {width}")
    for latency in latencies:
        (answer,) = host.command(f"add {latency}")
    samples, overflow, least, most, total, squares, *bins = map(int, answer.split())
    places = [latency >> width for latency in latencies]
    assert bins == [places.count(index) for index in range(BINS)]
    assert overflow == sum(place >= BINS for place in places)
    assert (samples, least, most) == (len(latencies), min(latencies), max(latencies))
    assert (total, squares) == (sum(latencies), sum(x * x for x in latencies))


def test_a_full_histogram_stays_as_it_is_and_says_so(host):
    host.command("full 1")
    most = 2**32 - 1
    full = f"{most} 0 5 5 {5 * most} {25 * most}"
    (answer,) = host.command("add 5")
    assert answer.startswith(full)
    assert host.command("saturated") == ["0"]
    # Less, more, and beyond the bins.
    for latency in (1, 9, 100):
        assert host.command(f"add {latency}") == [answer]
        assert host.command("saturated") == ["1"]
    host.command("empty 0")
    assert host.command("saturated") == ["0"]


@examples(200)
@given(
    latencies=st.lists(st.integers(0, 20_000), min_size=1, max_size=20),
    base=st.sampled_from([0, 240_000]),
    times=st.sampled_from([1, 1_000, 10_000_000]),
)
def test_mean_and_deviation_are_right_to_two_thousandths(host, latencies, base, times):
    latencies = [base + latency for latency in latencies]
    sums = (len(latencies), sum(latencies), sum(x * x for x in latencies))
    (answer,) = host.command("sums " + " ".join(str(value * times) for value in sums))
    mean, deviation = (int(word) for word in answer.split())
    assert mean == pytest.approx(1000 * statistics.mean(latencies), abs=0.51)
    assert deviation == pytest.approx(1000 * statistics.pstdev(latencies), abs=2)


def test_a_small_deviation_of_many_samples_is_not_lost(host):
    # One of a million is 5 later.
    count = 1_000_000
    total, squares = 5 * count + 5, 25 * count + 75
    (answer,) = host.command(f"sums {count} {total} {squares}")
    assert answer == "5000 5"


def test_sums_that_do_not_belong_together_have_no_deviation(host):
    # The sum of one sample more than the squares are of.
    assert host.command("sums 10 1100 100000")[0].split()[1] == "0"


def test_totals_belong_together_whenever_a_sample_comes():
    sources = [TESTS / "latency_step_driver.c", FIRMWARE / "apps/echo/histogram.c",
               FIRMWARE / "drivers/echo_instrument.c"]  # fmt: skip
    include = [headers(), TESTS]
    # Optimised, as it is the compiler's order of loads that is on trial.
    run_stepped(build("latency_step_driver", sources, sanitize=False, include=include))


def test_without_samples_mean_and_deviation_are_0(host):
    assert host.command("sums 0 0 0") == ["0 0"]


@pytest.mark.parametrize(
    ("settings", "result"),
    [
        ((64, 0, 1, 0), 0),
        (((1 << 24) - 1, 20, 0xFFFF_FFFF, 7), 0),
        ((63, 0, 1, 0), 1),
        ((1 << 24, 0, 1, 0), 1),
        ((64, 21, 1, 0), 2),
        ((64, 0, 0, 0), 3),
        ((64, 0, 1, 8), 4),
    ],
)
def test_the_driver_takes_what_is_possible_and_nothing_else(host, settings, result):
    (answer,) = host.command("configure " + " ".join(map(str, settings)))
    found, *values = map(int, answer.split())
    assert found == result
    assert tuple(values) == (settings if result == 0 else (0,) * 4)


def test_the_driver_reads_long_totals_high_word_first(host):
    (answer,) = host.command("totals")
    found = [int(word) for word in answer.split()]

    def place(name: str) -> int:
        return REGISTERS[f"CSR_ECHO_{name}_ADDR"] // 4

    names = ("SAMPLES", "MISSED", "OVERFLOW", "MINIMUM", "MAXIMUM", "SATURATED")
    assert found[:6] == [place(name) for name in names]
    for value, name in zip(found[6:], ("SUM", "SQUARES"), strict=True):
        assert value == place(name) << 32 | place(name) + 1


def test_an_erase_that_does_not_end_is_given_up(host):
    assert host.command("erase 0") == [f"1 {ERASE}"]
    assert host.command(f"erase {ERASING}") == [f"0 {ERASE}"]
    assert host.command(f"erase {RUNNING}") == [f"1 {ERASE}"]
