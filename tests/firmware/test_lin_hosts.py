"""What hosts ask of LIN nodes over UDP: every request, every refusal, and anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from host_build import ROOT, examples
from hypothesis import given
from hypothesis import strategies as st
from lin_bus import Bus, answer
from lin_host import UARTS, LinHost, build_lin
from lin_reference import BREAK, PROTECTED, Frame, Tick
from net_host import config

from tierv.sim.host import lin as host
from tierv.sim.host.lin import Counter, Failure, Outcome, Record, Request, decode, encode

ANSWER, FAILED = 0x80, 0xC0
LIN = ROOT / "firmware/apps/lin"


@pytest.fixture(scope="module")
def program() -> Iterator[LinHost]:
    node = LinHost(build_lin())
    yield node
    node.close()


@pytest.fixture
def lin(program: LinHost) -> LinHost:
    return begin(program)


def begin(lin: LinHost) -> LinHost:
    """A commander that publishes 0x10 and subscribes to 0x11."""
    lin.init(commander=True)
    lin.add(0x10, Frame(True, 2))
    lin.add(0x11, Frame(False, 3))
    return lin


def ask(lin: LinHost, *requests: Record, peer: int = 1) -> list[Record]:
    payload = encode(requests).hex() or "-"
    return decode(bytes.fromhex(lin.command("request", peer, payload)[0]))


def failures(lin: LinHost, *requests: Record) -> list[Failure | None]:
    return [answer.failure for answer in ask(lin, *requests)]


def test_data_are_set_and_read(lin):
    (answer,) = ask(lin, Record(Request.SET, 0, 0x10, b"ab"))
    assert answer == Record(Request.SET | ANSWER, 0, 0x10, b"ab")
    assert lin.read(0x10) == (1, b"ab")
    (answer,) = ask(lin, Record(Request.READ, 0, 0x10))
    assert (answer.data, answer.number) == (b"ab", 1)


def test_a_schedule_is_the_slots_before_it(lin):
    slots = [Record(Request.SLOT, 0, 0x10, number=3), Record(Request.SLOT, 0, 0x11, number=2)]
    assert failures(lin, *slots, Record(Request.SCHEDULE, 0)) == [None] * 3
    headers = [did.header for did in lin.feed(*ticks(5))]
    assert headers == [PROTECTED[0x10], None, None, PROTECTED[0x11], None]
    assert failures(lin, Record(Request.SCHEDULE, 0)) == [None]
    assert not any(did.header for did in lin.feed(*ticks(5)))


def ticks(count: int) -> list:
    return [Tick(index * 100_000) for index in range(count)]


def test_headers_sleep_and_wake_are_asked_for(lin):
    assert failures(lin, Record(Request.WAKE, 0)) == [None]
    assert lin.feed(*ticks(1))[0].send == 0xF0
    assert failures(lin, Record(Request.HEADER, 0, 0x11)) == [None]
    assert lin.feed(*ticks(1))[0].header == PROTECTED[0x11]
    assert failures(lin, Record(Request.SLEEP, 0)) == [None]
    assert lin.feed(*ticks(1))[0].header == PROTECTED[0x3C]


@pytest.mark.parametrize(
    ("request_", "failure"),
    [
        (Record(Request.SET, 0, 0x12, b"a"), Failure.NO_SUCH_FRAME),
        (Record(Request.SET, 0, 0x11, b"abc"), Failure.NO_SUCH_FRAME),
        (Record(Request.SET, 0, 0x10, b"a"), Failure.BAD_LENGTH),
        (Record(Request.SET, 0, 0xFF, b"a"), Failure.NO_SUCH_FRAME),
        (Record(Request.SET, 1, 0x10, b"ab"), Failure.NO_NODE),
        (Record(Request.READ, 0, 0x12), Failure.NO_SUCH_FRAME),
        (Record(Request.HEADER, 0, 0x3E), Failure.BAD_IDENTIFIER),
        (Record(Request.SLOT, 0, 0x10), Failure.BAD_SLOT),
        (Record(Request.SLOT, 0, 0x10, number=65536 + 1), Failure.BAD_SLOT),
        (Record(Request.SLOT, 0, 0x10, number=(1 << 24) + 1), Failure.BAD_SLOT),
        (Record(Request.COUNT, 0, 15), Failure.NO_COUNTER),
        (Record(Request.COUNT, 0, 16 + len(Outcome)), Failure.NO_COUNTER),
        (Record(Request.WATCH, UARTS), Failure.NO_NODE),
        (Record(Request.WATCH, 32), Failure.NO_NODE),
    ],
)
def test_what_can_not_be_done_is_refused(lin, request_, failure):
    good = Record(Request.SET, 0, 0x10, b"ok")
    assert failures(lin, request_, good) == [failure, None]
    assert lin.read(0x10)[1] == b"ok"


def test_counters_are_told_by_their_numbers(lin):
    bus = Bus(lin)
    bus.header(0x10)
    lin.write(0x10, b"ab")
    for _ in range(2):
        answer(bus, 0x10)
    bus.byte(0, BREAK)
    bus.byte(0)
    counts = lin.counts()
    assert counts == {"headers": 3, "unanswered": 1, "SENT": 2, "BAD_SYNC": 1}
    names = [Counter.HEADERS, Counter.UNANSWERED, Counter.LATE]
    numbers = {each.name.lower(): each for each in names}
    numbers |= {each.name: Counter.FIRST_OUTCOME + each for each in Outcome}
    answers = ask(lin, *(Record(Request.COUNT, 0, number) for number in numbers.values()))
    told = {name: each.number for name, each in zip(numbers, answers, strict=True)}
    assert {name: number for name, number in told.items() if number} == counts


def test_more_slots_than_a_schedule_has_are_refused(lin):
    slots = [Record(Request.SLOT, 0, 0x10, number=1)] * (config("LIN_SLOTS") + 1)
    taken = [None] * config("LIN_SLOTS")
    assert failures(lin, *slots) == [*taken, Failure.MANY_SLOTS]
    assert failures(lin, *slots, Record(Request.SCHEDULE, 0)) == [*taken, *[Failure.MANY_SLOTS] * 2]
    assert not any(did.header for did in lin.feed(*ticks(5)))


#: What is refused as a slot, and why.
BAD_SLOTS = [
    (Record(Request.SLOT, 0, 0x10), Failure.BAD_SLOT),
    (Record(Request.SLOT, 1, 0x10, number=1), Failure.NO_NODE),
]


@pytest.mark.parametrize(("bad", "failure"), BAD_SLOTS)
def test_a_schedule_with_a_slot_that_was_refused_changes_nothing(lin, bad, failure):
    old, new = (Record(Request.SLOT, 0, identifier, number=1) for identifier in (0x11, 0x10))
    schedule = Record(Request.SCHEDULE, 0)
    assert failures(lin, old, schedule) == [None] * 2
    for slots in [(bad, new), (new, bad), (bad,)]:
        told = [failure if slot is bad else None for slot in slots]
        assert failures(lin, *slots, schedule) == [*told, failure]
        assert [did.header for did in lin.feed(*ticks(3))] == [PROTECTED[0x11]] * 3
    # The first reason is told, and holds for one schedule.
    other = next(each for each, _ in BAD_SLOTS if each is not bad)
    assert failures(lin, bad, other, schedule, new, schedule)[2:] == [failure, None, None]
    assert lin.feed(*ticks(2))[-1].header == PROTECTED[0x10]


def test_the_slots_before_a_schedule_of_another_port_are_not_those_of_the_next(lin):
    slot = Record(Request.SLOT, 0, 0x10, number=1)
    asked = (slot, Record(Request.SCHEDULE, 1), Record(Request.SCHEDULE, 0))
    assert failures(lin, *asked) == [None, Failure.NO_NODE, None]
    assert not any(did.header for did in lin.feed(*ticks(3)))


@pytest.mark.parametrize("payload", ["", "00" * 15, "00" * 17, "00" * 16, "0b" + "00" * 15])
def test_a_malformed_datagram_does_nothing(lin, payload):
    good = encode([Record(Request.SET, 0, 0x10, b"no")]).hex()
    answer = decode(
        bytes.fromhex(lin.command("request", 1, (good + payload) if payload else "-")[0])
    )
    assert answer == [Record(FAILED, 0, number=Failure.MALFORMED)]
    assert lin.read(0x10)[0] == 0


def test_watchers_are_remembered_by_port(lin):
    peers = range(10, 10 + config("LIN_WATCHERS"))
    for peer in peers:
        assert ask(lin, Record(Request.WATCH, 3), peer=peer)[0].failure is None
    assert int(lin.command("watchers", 3)[0], 16) == (1 << len(peers)) - 1
    assert int(lin.command("watchers", 2)[0], 16) == 0
    ask(lin, Record(Request.UNWATCH, host.ALL_PORTS), peer=11)
    assert ask(lin, Record(Request.WATCH, host.ALL_PORTS), peer=99)[0].failure is None
    assert int(lin.command("watchers", 2)[0], 16) == 0b10
    for peer in [*peers, 99]:
        ask(lin, Record(Request.UNWATCH, host.ALL_PORTS), peer=peer)


def test_one_watcher_too_many_takes_the_place_of_who_asked_longest_ago(lin):
    peers = list(range(10, 10 + config("LIN_WATCHERS")))
    for peer in [*peers, peers[0]]:
        ask(lin, Record(Request.WATCH, 3), peer=peer)
    for turn, peer in enumerate([90, 91]):
        assert ask(lin, Record(Request.WATCH, 2), peer=peer)[0].failure is None
        taken = 0b110 & (1 << turn + 2) - 1
        assert int(lin.command("watchers", 2)[0], 16) == taken
        assert int(lin.command("watchers", 3)[0], 16) == (1 << len(peers)) - 1 - taken
    for peer in [*peers, 90, 91]:
        ask(lin, Record(Request.UNWATCH, host.ALL_PORTS), peer=peer)


def test_what_does_nothing_is_answered_with_its_number(lin):
    ask(lin, Record(Request.WATCH, host.ALL_PORTS), peer=7)
    mark = Record(Request.UNWATCH, host.NO_PORT, number=0xFEDC_BA98)
    *_, answer = ask(lin, Record(Request.READ, 0, 0x12), mark, peer=7)
    assert answer == replace(mark, what=Request.UNWATCH | ANSWER)
    assert int(lin.command("watchers", 3)[0], 16) == 1
    ask(lin, Record(Request.UNWATCH, host.ALL_PORTS), peer=7)


@examples(400)
@given(
    payload=st.binary(max_size=80)
    | st.lists(
        st.builds(
            Record,
            st.integers(0, 12),
            st.sampled_from([0, 0, 0, 1, 31, 32, 255]),
            st.integers(0, 255),
            st.binary(max_size=8),
            st.integers(0, 3) | st.integers(0, 2**32 - 1),
        ),
        max_size=20,
    ).map(encode)
)
def test_any_datagram_is_answered_without_harm(program, payload):
    lin = begin(program)
    answer = bytes.fromhex(lin.command("request", 1, payload.hex() or "-")[0])
    assert len(answer) % 16 == 0
    assert len(answer) == len(payload) or decode(answer)[0].failure is Failure.MALFORMED
    assert all(what & ANSWER for what in answer[::16])


def numbers_of(text: str, prefix: str) -> dict[str, int]:
    """Members of an enumeration, without the prefix, and their numbers."""
    found, value = {}, -1
    for name, number in re.findall(rf"^    {prefix}(\w+)(?: = (\d+))?,?", text, re.MULTILINE):
        value = int(number) if number else value + 1
        found[name] = value
    return found


def test_both_sides_have_the_same_numbers():
    node, udp = (LIN / "node.h").read_text(), (LIN / "host.h").read_text()
    part = re.search(r"typedef enum \{\n(    LIN_SENT.*?)\} lin_outcome_t", node, re.DOTALL)
    assert numbers_of(part[1], "LIN_") == {each.name: each for each in Outcome} | {"OUTCOMES": 12}
    part = re.search(r"typedef enum \{\n(    LIN_HOST_SET.*?)\} lin_host_request_t", udp, re.DOTALL)
    requests = {each.name: each for each in Request}
    assert numbers_of(part[1], "LIN_HOST_") == requests | {"REQUESTS": len(Request) + 1}
    results = re.search(r"typedef enum \{\n(    LIN_OK.*?)\} lin_result_t", node, re.DOTALL)
    refusals = re.search(r"enum \{\n(    LIN_HOST_NO_NODE.*?)\};", udp, re.DOTALL)
    failed = numbers_of(results[1], "LIN_") | numbers_of(refusals[1], "LIN_HOST_")
    assert failed == {each.name: each for each in Failure} | {"OK": 0}
    assert f"LIN_HOST_PORT = {host.HOST_PORT}," in udp
    assert f"LIN_HOST_MOST_RECORDS = {host.MOST_RECORDS}," in udp
    assert f"LIN_HOST_ALL_PORTS = {host.ALL_PORTS:#x}," in udp
    assert f"LIN_HOST_NO_PORT = {host.NO_PORT:#x}," in udp
    assert Counter.FIRST_OUTCOME == 16
