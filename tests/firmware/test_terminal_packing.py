"""Packing rules of the terminal server against their definition, and watermarks that serve them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from host_build import Program, examples, hex_bytes
from hypothesis import given
from hypothesis import strategies as st
from terminal_rules import Rules, packets

MAX_LENGTH = 1472


@pytest.fixture(scope="module")
def program(terminal_program: Path) -> Iterator[Program]:
    running = Program(terminal_program, end=".")
    yield running
    running.close()


def closed(lines: list[str]) -> list[tuple[str, bytes]]:
    assert "wrong sum" not in lines
    words = [line.split() for line in lines]
    return [(word[1], hex_bytes(word[2])) for word in words if word[0] == "closed"]


def run(program: Program, rules: Rules, arrivals: list[tuple[int, int]]) -> list[tuple[str, bytes]]:
    program.command(f"rules {rules}")
    found = []
    for byte, time in arrivals:
        found += closed(program.command(f"take {byte:02x} {time & 0xFFFFFFFF}"))
    return found


RULES = st.builds(
    Rules,
    time=st.one_of(st.just(0), st.integers(1, 60), st.just(1 << 30)),
    idle=st.one_of(st.just(0), st.integers(1, 20)),
    length=st.one_of(st.integers(1, 9), st.just(MAX_LENGTH)),
    delimiter=st.sampled_from([b"", b"a", b"ab", b"aa"]),
)
BYTES = st.sampled_from(b"aabc\x00\xff")
#: Characters come no nearer than a fixed time, but that is the line's affair.
ARRIVALS = st.lists(st.tuples(BYTES, st.integers(0, 25)), max_size=40)


@given(rules=RULES, steps=ARRIVALS, start=st.sampled_from([0, (1 << 32) - 30]))
@examples(400)
def test_packets_are_those_of_the_definition(program, rules, steps, start):
    arrivals, time = [], start
    for byte, step in steps:
        time += step
        arrivals.append((byte, time))
    expected = packets(rules, arrivals)
    if expected and expected[-1][0] == "open":
        expected.pop()
    assert run(program, rules, arrivals) == expected


@pytest.mark.parametrize(
    ("delimiter", "data", "expected"),
    [
        (b"ab", b"aabab", [b"aab", b"ab"]),
        (b"ab", b"acbab", [b"acbab"]),
        (b"aa", b"aaaabaa", [b"aa", b"aa", b"baa"]),
    ],
)
def test_a_delimiter_begins_anew_with_the_byte_that_breaks_it(program, delimiter, data, expected):
    rules = Rules(0, 0, MAX_LENGTH, delimiter)
    found = run(program, rules, [(byte, 0) for byte in data])
    assert found == [("delimiter", packet) for packet in expected]


@given(sizes=st.lists(st.integers(1, 3), min_size=1, max_size=40), data=st.randoms())
@examples(200)
def test_bursts_make_the_same_packet_as_single_bytes(program, sizes, data):
    """Whatever the alignment, and summed right."""
    payload = [data.randbytes(size) for size in sizes]
    whole = b"".join(payload)
    program.command(f"rules {Rules(0, 0, len(whole), b'')}")
    found = []
    for part in payload:
        found += closed(program.command(f"burst {part.hex()} 0"))
    assert found == [("length", whole)]


@given(rules=RULES, age=st.integers(0, 100), gap=st.integers(-5, 100))
@examples(300)
def test_the_next_moment_is_that_of_the_first_rule(program, rules, age, gap):
    """``age`` since the first byte, ``gap`` since the last, which may be seen before its time."""
    if rules.length < 2 or rules.delimiter == b"a" or gap > age:
        return
    program.command(f"rules {rules}")
    first, now = 1000, 1000 + age
    if (rules.time and age - gap >= rules.time) or (rules.idle and age - gap >= rules.idle):
        return
    program.command(f"take 62 {first}")
    lines = program.command(f"take 63 {now - gap}")
    if rules.length == 2:
        assert closed(lines) == [("length", b"bc")]
        return
    lines = program.command(f"now {now}")
    moments = [first + rules.time] * bool(rules.time) + [now - gap + rules.idle] * bool(rules.idle)
    if moments and min(moments) <= now:
        assert [data for _, data in closed(lines)] == [b"bc"]
    elif moments:
        assert lines == [f"left {min(moments) - now}"]
    else:
        assert lines == []


@given(
    waited=st.one_of(st.integers(0, 2000), st.integers(0, (1 << 32) - 1)),
    now=st.integers(0, (1 << 32) - 1),
    by_idle=st.booleans(),
)
@examples(300)
def test_what_has_waited_for_however_long_is_due_no_later_than_by_its_rule(
    program, waited, now, by_idle
):
    time, idle = (0, 1000) if by_idle else (1000, 0)
    program.command(f"rules {Rules(time, idle, MAX_LENGTH, b'')}")
    program.command(f"take 62 {(now - waited) & 0xFFFFFFFF}")
    program.command(f"limit {now}")
    lines = program.command(f"now {now}")
    if waited < 1000:
        assert lines == [f"left {1000 - waited}"]
    else:
        assert closed(lines) == [("idle" if by_idle else "time", b"b")]


LINES = st.tuples(
    st.integers(7, 12), st.integers(8, 5000), st.sampled_from([1, 2, 12, 48, 192])
)  # bits of a character, cycles of a bit, usable depth


@given(rules=RULES, bytes_=st.integers(0, 8), line=LINES, scale=st.sampled_from([1, 100, 10000]))
@examples(400)
def test_a_port_calls_in_time_for_every_rule(program, rules, bytes_, line, scale):
    bits, bit, usable = line
    rules = Rules(
        min(rules.time * scale, 1 << 30), rules.idle * scale, rules.length, rules.delimiter
    )
    if bytes_ >= rules.length:
        return
    character = bits * bit
    program.command(f"rules {rules}")
    answer = program.command(f"levels {bytes_} {character} {bit} {usable}")[0].split()
    watermark, timeout = int(answer[1]), int(answer[2])
    assert 1 <= watermark <= usable
    assert 0 <= timeout <= 4095
    # Never more than the packet takes, so that a full one is sent at once.
    assert watermark <= rules.length - bytes_
    if rules.time and not bytes_ and rules.time >= character + 10 * bit:
        # Every character comes just before the timeout.
        assert timeout or watermark == 1
        assert watermark * (character + timeout * bit) <= rules.time
    if rules.idle:
        # Any gap that ends the packet is noticed before it is over, or each character is.
        if rules.idle >= character + bit:
            assert timeout
            assert timeout * bit + character <= rules.idle
        else:
            assert watermark == 1
    if rules.delimiter:
        assert watermark <= 16
        assert timeout or watermark == 1
    if rules.time and bytes_ and not rules.idle and not rules.delimiter:
        # The first byte is known, and the timer does the rest.
        assert timeout == 0
        assert watermark == min(usable, rules.length - bytes_)


CHARACTER = 800


@given(
    level=st.integers(1, 256),
    late=st.integers(-3 * CHARACTER, 200 * CHARACTER),
    early=st.integers(0, CHARACTER // 10),
    gaps=st.lists(st.integers(CHARACTER * 81 // 100, CHARACTER), min_size=256, max_size=256),
)
@examples(400)
def test_what_is_taken_without_a_look_at_its_time_had_come_in_time(
    program, level, late, early, gaps
):
    """``late`` cycles after the packet was due; the newest character's time is ``early`` later."""
    due = 1_000_000
    rules = Rules(1000, 0, MAX_LENGTH, b"")
    program.command(f"rules {rules}")
    program.command(f"take 61 {due - rules.time}")
    answer = program.command(f"haste {CHARACTER} {level} {due + late}")[0].split()
    doubted, is_early = int(answer[1]), int(answer[2])
    assert not is_early
    times = [due + late + early]
    for gap in gaps:
        times.append(times[-1] - gap)
    assert all(time < due for time in times[doubted:level])
    # A full FIFO that is served late is still emptied several characters at once.
    assert doubted <= 3 + max(late, 0) * 5 // (4 * CHARACTER)


def test_a_packet_that_is_not_due_for_long_takes_whatever_comes(program):
    program.command(f"rules {Rules(100_000, 0, MAX_LENGTH, b'')}")
    program.command("take 61 0")
    assert program.command(f"haste {CHARACTER} 16 50000") == ["haste 0 1"]
    program.command(f"rules {Rules(100_000, 5_000, MAX_LENGTH, b'')}")
    program.command("take 61 0")
    assert program.command(f"haste {CHARACTER} 16 50000") == ["haste 16 0"]
