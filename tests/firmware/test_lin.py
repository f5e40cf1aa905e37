"""The LIN node: checksums, every path of a frame, schedule, sleep, wake; and its definition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from lin_host import (
    BAD_BIT,
    BAD_IDENTIFIER,
    BAD_LENGTH,
    BAD_SLOT,
    BIT_CYCLES,
    FULL,
    IN_USE,
    NO_SUCH_FRAME,
    NOT_COMMANDER,
    OK,
    Echo,
    LinHost,
    build_lin,
    comparable,
    feed_reference,
)
from lin_reference import (
    BAD,
    BREAK,
    PROTECTED,
    REQUEST,
    SYNC,
    Character,
    Frame,
    Node,
    Outcome,
    Tick,
)
from lin_reference import checksum as reference_checksum
from net_host import config

BYTE = 10 * BIT_CYCLES
MS = 100_000


@pytest.fixture(scope="module")
def lin() -> Iterator[LinHost]:
    host = LinHost(build_lin())
    yield host
    host.close()


class Bus:
    """Events one after the other, a byte time apart."""

    def __init__(self, lin: LinHost) -> None:
        self.lin = lin
        self.cycle = 0

    def do(self, *events):
        """What the last event led to."""
        return self.lin.feed(*events)[-1]

    def byte(self, value: int, flags: int = 0):
        self.cycle += BYTE
        return self.do(Character(value, flags, self.cycle))

    def header(self, identifier: int):
        self.byte(0, BREAK)
        self.byte(SYNC)
        return self.byte(PROTECTED[identifier])

    def bytes(self, data: bytes):
        for value in data:
            did = self.byte(value)
        return did

    def echo(self, mask: int = 0, flags: int = 0):
        self.cycle += BYTE
        return self.do(Echo(mask, flags, self.cycle))

    def ticks(self, count: int):
        """What each of so many milliseconds led to."""
        events = [Tick(self.cycle + (index + 1) * MS) for index in range(count)]
        self.cycle += count * MS
        return self.lin.feed(*events)


@pytest.fixture
def bus(lin: LinHost) -> Bus:
    lin.init()
    return Bus(lin)


def answer(bus: Bus, identifier: int) -> tuple[bytes, tuple]:
    """The whole response to a header, read back as it was sent, and the report."""
    did = bus.header(identifier)
    sent = []
    while did.send is not None:
        sent.append(did.send)
        did = bus.echo()
    return bytes(sent), did.report


# --- identifiers and checksums ---


def test_protected_identifiers_are_those_of_the_specification(lin):
    found = [int(lin.command("protect", identifier)[0], 16) for identifier in range(64)]
    assert bytes(found) == PROTECTED


@pytest.mark.parametrize(
    ("data", "protected", "expected"),
    [
        # LIN 2.1, section 2.8.3.
        ("4a5593e5", None, 0xE6),
        ("1122334455667788", 0x50, 0x49),
        ("00ffffffffffffff", None, 0x00),
        ("00", None, 0xFF),
        ("ff", 0xFF, 0x00),
    ],
)
def test_known_checksums(lin, data, protected, expected):
    answer = lin.command("checksum", int(protected is None), protected or 0, data)
    assert int(answer[0], 16) == expected


@examples(300)
@given(data=st.binary(min_size=1, max_size=8), identifier=st.integers(0, 63))
def test_checksums_are_those_of_the_definition(lin, data, identifier):
    protected = PROTECTED[identifier]
    classic = lin.command("checksum", 1, protected, data.hex())[0]
    enhanced = lin.command("checksum", 0, protected, data.hex())[0]
    assert int(classic, 16) == reference_checksum(data)
    assert int(enhanced, 16) == reference_checksum(data, protected)
    # And by the receiver's rule: everything with the checksum sums up to 0xff.
    assert (sum(data) + protected + int(enhanced, 16)) % 255 == 0


# --- responses of ours ---


@pytest.mark.parametrize("length", range(1, 9))
@pytest.mark.parametrize("classic", [False, True])
def test_a_header_is_answered_at_once_and_byte_by_byte(bus, length, classic):
    data = bytes(range(0xF0, 0xF0 + length))
    frame = Frame(True, length, classic=classic)
    assert bus.lin.add(0x12, frame) == OK
    assert bus.lin.write(0x12, data) == OK
    for _ in range(2):
        sent, report = answer(bus, 0x12)
        assert sent == data + bytes([frame.checksum(0x12, data)])
        assert report == (Outcome.SENT, 0x12, data)


def test_without_data_nothing_is_answered(bus):
    bus.lin.add(0x12, Frame(True, 2))
    assert bus.header(0x12).send is None
    assert bus.lin.counts() == {"headers": 1, "unanswered": 1}


def test_other_identifiers_and_wrong_parity_are_not_answered(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    assert bus.header(0x13).send is None
    bus.byte(0, BREAK)
    bus.byte(SYNC)
    assert bus.byte(PROTECTED[0x12] ^ 0x80).report == (Outcome.BAD_PARITY, 0x12, b"\x12")
    assert bus.header(0x12).send == ord("x")


def test_one_shot_data_are_sent_once_and_again_after_an_error(bus):
    bus.lin.add(0x12, Frame(True, 1, once=True))
    bus.lin.write(0x12, b"x")
    bus.header(0x12)
    did = bus.echo(mask=1)
    assert did.stop
    assert did.send is None
    assert did.report == (Outcome.BIT_ERROR, 0x12, b"")
    assert answer(bus, 0x12)[1] == (Outcome.SENT, 0x12, b"x")
    assert bus.header(0x12).send is None
    bus.lin.write(0x12, b"y")
    assert answer(bus, 0x12)[1] == (Outcome.SENT, 0x12, b"y")


def test_one_shot_data_written_while_the_old_are_sent_are_sent_next(bus):
    bus.lin.add(0x12, Frame(True, 1, once=True))
    bus.lin.write(0x12, b"x")
    bus.header(0x12)
    bus.lin.write(0x12, b"y")
    assert bus.echo().send == reference_checksum(b"x", PROTECTED[0x12])
    assert bus.echo().report == (Outcome.SENT, 0x12, b"x")
    assert answer(bus, 0x12)[1] == (Outcome.SENT, 0x12, b"y")


@pytest.mark.parametrize("fault", [{"mask": 0x80}, {"flags": BAD}, {"flags": BREAK}])
def test_sending_stops_where_the_wire_differs(bus, fault):
    bus.lin.add(0x12, Frame(True, 4))
    bus.lin.write(0x12, b"abcd")
    bus.header(0x12)
    assert bus.echo().send == ord("b")
    did = bus.echo(**fault)
    assert did.stop
    assert did.send is None
    assert did.report == (Outcome.BIT_ERROR, 0x12, b"a")
    assert answer(bus, 0x12)[1] == (Outcome.SENT, 0x12, b"abcd")


def test_response_error_is_shown_until_it_has_been_sent(bus):
    status = Frame(True, 2, error_bit=9)
    bus.lin.add(0x20, status)
    bus.lin.add(0x21, Frame(False, 1))
    bus.lin.write(0x20, b"\x01\xff")
    clear = b"\x01\xfd"
    assert answer(bus, 0x20)[0][:2] == clear
    bus.header(0x21)
    assert bus.bytes(b"\x55\x00").report == (Outcome.BAD_CHECKSUM, 0x21, b"\x55")
    # The status itself fails, so it is still to be told.
    assert bus.header(0x20).send == 0x01
    bus.echo(mask=1)
    sent, _ = answer(bus, 0x20)
    assert sent == b"\x01\xff" + bytes([reference_checksum(b"\x01\xff", PROTECTED[0x20])])
    assert answer(bus, 0x20)[0][:2] == clear


def test_a_response_that_does_not_come_back_is_given_up(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    bus.header(0x12)
    did = bus.ticks(2)[-1]
    assert did.report == (Outcome.BIT_ERROR, 0x12, b"")
    assert did.stop


# --- responses of others ---


def test_a_response_is_taken_and_can_be_read(bus):
    bus.lin.add(0x21, Frame(False, 3))
    assert bus.lin.read(0x21)[0] == 0
    for count, data in enumerate((b"abc", b"xyz"), 1):
        bus.header(0x21)
        response = data + bytes([reference_checksum(data, PROTECTED[0x21])])
        assert bus.bytes(response).report == (Outcome.RECEIVED, 0x21, data)
        assert bus.lin.read(0x21) == (count, data)


def test_a_wrong_checksum_is_reported_and_the_old_data_stay(bus):
    bus.lin.add(0x21, Frame(False, 1))
    bus.header(0x21)
    bus.bytes(bytes([7, reference_checksum(b"\x07", PROTECTED[0x21])]))
    bus.header(0x21)
    # The classic one where the enhanced is due.
    assert bus.bytes(bytes([8, reference_checksum(b"\x08")])).report == (
        Outcome.BAD_CHECKSUM,
        0x21,
        b"\x08",
    )
    assert bus.lin.read(0x21) == (1, b"\x07")


def test_no_response_and_half_a_response_are_told_apart(bus):
    bus.lin.add(0x21, Frame(False, 2))
    bus.header(0x21)
    assert bus.ticks(3)[-1].report == (Outcome.NO_RESPONSE, 0x21, b"")
    bus.header(0x21)
    assert bus.byte(0, BREAK).report == (Outcome.NO_RESPONSE, 0x21, b"")
    bus.header(0x21)
    bus.byte(1)
    assert bus.byte(0, BREAK).report == (Outcome.INCOMPLETE, 0x21, b"\x01")
    bus.byte(SYNC)
    bus.byte(PROTECTED[0x21])
    assert bus.byte(3, BAD).report == (Outcome.BAD_CHARACTER, 0x21, b"")


def test_a_late_response_is_reported_at_once_and_still_taken(bus):
    bus.lin.add(0x21, Frame(False, 2))
    bus.header(0x21)
    bus.byte(1)
    assert [did.report for did in bus.ticks(4) if did.report] == [
        (Outcome.INCOMPLETE, 0x21, b"\x01")
    ]
    rest = bytes([2, reference_checksum(b"\x01\x02", PROTECTED[0x21])])
    assert bus.bytes(rest).report == (Outcome.RECEIVED, 0x21, b"\x01\x02")
    assert bus.lin.counts()["late"] == 1


def test_broken_headers_are_reported(bus):
    bus.byte(0, BREAK)
    assert bus.byte(0x54).report == (Outcome.BAD_SYNC, 0x14, b"\x54")
    bus.byte(0, BREAK)
    assert bus.byte(0, BREAK).report == (Outcome.BAD_HEADER, None, b"")
    bus.byte(SYNC)
    assert [did.report for did in bus.ticks(3) if did.report] == [(Outcome.BAD_HEADER, None, b"")]


@pytest.mark.parametrize(("length", "bits"), [(1, 28), (8, 126)])
def test_a_response_may_take_1_4_times_its_nominal_time_to_the_cycle(bus, length, bits):
    bus.lin.add(0x21, Frame(False, length))
    bus.header(0x21)
    limit = bus.cycle + bits * BIT_CYCLES
    assert bus.do(Tick(limit)).report is None
    assert bus.do(Tick(limit + 1)).report == (Outcome.NO_RESPONSE, 0x21, b"")


def test_a_header_may_take_1_4_times_its_nominal_time_to_the_cycle(bus):
    bus.byte(0, BREAK)
    # 34 bits; the bit begun last is not counted.
    limit = bus.cycle + 47 * BIT_CYCLES
    assert bus.do(Tick(limit)).report is None
    assert bus.do(Tick(limit + 1)).report == (Outcome.BAD_HEADER, None, b"")


# --- sleep and wake ---


def go_to_sleep(bus: Bus) -> None:
    command = bytes([0, *[0xFF] * 7])
    bus.header(REQUEST)
    did = bus.bytes(command + bytes([reference_checksum(command)]))
    assert did.report == (Outcome.ASLEEP, None, command)


def test_go_to_sleep_puts_to_sleep_and_a_wake_up_signal_wakes(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    go_to_sleep(bus)
    # Two dominant bits are 104 us, three 156.
    assert bus.byte(0xFE).report is None
    assert bus.byte(0xFC).report == (Outcome.AWAKE, None, b"")
    assert answer(bus, 0x12)[0][0] == ord("x")


def test_a_break_wakes_and_begins_a_header(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    go_to_sleep(bus)
    assert bus.byte(0, BREAK).report == (Outcome.AWAKE, None, b"")
    bus.byte(SYNC)
    assert bus.byte(PROTECTED[0x12]).send == ord("x")


def test_four_seconds_without_anything_put_to_sleep(bus):
    bus.byte(1)
    reports = [did.report for did in bus.ticks(5000)]
    assert [i for i, report in enumerate(reports) if report] == [3999]
    assert reports[3999][0] is Outcome.ASLEEP


def test_wake_up_signals_are_repeated_until_a_header_comes(bus):
    go_to_sleep(bus)
    bus.lin.command("wake")
    sent = [i for i, did in enumerate(bus.ticks(4000)) if did.send == 0xF0]
    assert sent == [0, 200, 400, 1900, 2100, 2300]
    bus.lin.command("wake")
    assert bus.ticks(1)[0].send == 0xF0
    assert bus.byte(0xF0).report[0] is Outcome.AWAKE
    bus.header(0x3F)
    assert not any(did.send for did in bus.ticks(1000))


# --- commander ---


def schedule(*slots: tuple[int, int]) -> str:
    return bytes(
        byte for identifier, ms in slots for byte in (identifier, ms >> 8, ms & 0xFF)
    ).hex()


def test_a_schedule_sends_headers_in_their_slots_again_and_again(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    assert lin.result("schedule", schedule((0x10, 5), (0x11, 3), (0x3D, 10))) == OK
    headers = [(i, did.header) for i, did in enumerate(bus.ticks(30)) if did.header is not None]
    expected = [(0, 0x10), (5, 0x11), (8, 0x3D), (18, 0x10), (23, 0x11), (26, 0x3D)]
    assert headers == [(place, PROTECTED[identifier]) for place, identifier in expected]
    assert lin.result("schedule", "-") == OK
    assert not any(did.header for did in bus.ticks(30))


def test_a_header_out_of_turn_takes_a_slot_and_the_schedule_goes_on(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 4), (0x11, 4)))
    bus.ticks(2)
    assert lin.result("header", 0x3C) == OK
    assert lin.result("header", 0x3D) == FULL
    headers = [(i, did.header) for i, did in enumerate(bus.ticks(12)) if did.header is not None]
    expected = [(2, 0x3C), (6, 0x11), (10, 0x10)]
    assert headers == [(place, PROTECTED[identifier]) for place, identifier in expected]


def test_a_commander_publishes_behind_its_own_header(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.add(0x10, Frame(True, 1))
    lin.write(0x10, b"z")
    lin.result("header", 0x10)
    assert bus.ticks(1)[0].header == PROTECTED[0x10]
    assert answer(bus, 0x10)[1] == (Outcome.SENT, 0x10, b"z")


def test_a_header_that_nobody_sees_is_reported_at_the_next(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 2)))
    reports = [did.report for did in bus.ticks(4)]
    assert reports == [None, None, (Outcome.BAD_HEADER, None, b""), None]


def test_the_commander_sends_the_bus_to_sleep_and_its_schedule_with_it(lin):
    lin.init(commander=True)
    bus = Bus(lin)
    lin.result("schedule", schedule((0x10, 2)))
    assert lin.result("sleep") == OK
    assert bus.ticks(1)[0].header == PROTECTED[REQUEST]
    sent, report = answer(bus, REQUEST)
    command = bytes([0, *[0xFF] * 7])
    assert sent == command + b"\0"
    assert report == (Outcome.ASLEEP, None, command)
    assert not any(did.header for did in bus.ticks(10))
    bus.byte(0xF0)
    assert any(did.header for did in bus.ticks(2))


# --- what is refused ---


def test_bad_frames_and_data_are_refused(bus):
    lin = bus.lin
    assert lin.add(0x3C, Frame(True, 1)) == BAD_IDENTIFIER
    assert lin.add(0x40, Frame(True, 1)) == BAD_IDENTIFIER
    assert lin.add(0x10, Frame(True, 0)) == BAD_LENGTH
    assert lin.add(0x10, Frame(True, 9)) == BAD_LENGTH
    assert lin.add(0x10, Frame(True, 1, error_bit=8)) == BAD_BIT
    assert lin.add(0x10, Frame(False, 1, error_bit=0)) == BAD_BIT
    assert lin.add(0x10, Frame(True, 2)) == OK
    assert lin.add(0x10, Frame(False, 2)) == IN_USE
    assert lin.write(0x10, b"a") == BAD_LENGTH
    assert lin.write(0x11, b"a") == NO_SUCH_FRAME
    assert lin.result("remove", 0x11) == NO_SUCH_FRAME
    assert lin.result("remove", 0x3D) == BAD_IDENTIFIER
    assert lin.result("schedule", schedule((1, 1))) == NOT_COMMANDER
    assert lin.result("sleep") == NOT_COMMANDER
    for identifier in range(config("LIN_FRAMES") - 3):
        assert lin.add(identifier, Frame(False, 1)) == OK
    assert lin.add(0x30, Frame(False, 1)) == FULL
    assert lin.result("remove", 0x10) == OK
    assert lin.add(0x30, Frame(False, 1)) == OK


def test_bad_schedules_are_refused(lin):
    lin.init(commander=True)
    assert lin.result("schedule", schedule((0x3E, 1))) == BAD_IDENTIFIER
    assert lin.result("schedule", schedule((0x10, 0))) == BAD_SLOT
    assert lin.result("schedule", schedule(*[(1, 1)] * (config("LIN_SLOTS") + 1))) == FULL
    assert lin.result("header", 0x3E) == BAD_IDENTIFIER


def test_another_identifier_has_another_checksum(bus):
    bus.lin.add(0x12, Frame(True, 1))
    bus.lin.write(0x12, b"x")
    assert bus.lin.result("assign", 2, 0x13) == OK
    assert bus.header(0x12).send is None
    assert answer(bus, 0x13)[0] == bytes([0x78, reference_checksum(b"x", PROTECTED[0x13])])
    assert bus.lin.result("assign", 2, 0xFF) == OK
    assert bus.header(0x13).send is None


# --- anything ---

IDENTIFIERS = st.integers(0, 5) | st.sampled_from([REQUEST, 0x3D])
FRAMES = st.builds(
    Frame,
    st.booleans(),
    st.integers(1, 3),
    classic=st.booleans(),
    once=st.booleans(),
)


@st.composite
def pieces(draw) -> list[tuple]:
    """Part of what happens on a bus: (kind, ...); echoes read back what is sent."""
    kind = draw(st.sampled_from(["header", "data", "echo", "echoes", "noise", "ticks", "sleep"]))
    if kind == "header":
        return [
            ("c", 0, BREAK),
            ("c", SYNC, 0),
            ("c", PROTECTED[draw(IDENTIFIERS)], 0),
        ]
    if kind == "data":
        data = draw(st.binary(min_size=1, max_size=3))
        identifier = draw(st.none() | IDENTIFIERS)
        sum_byte = reference_checksum(data, None if identifier is None else PROTECTED[identifier])
        return [("c", byte, 0) for byte in [*data, sum_byte]]
    if kind == "echo":
        mask = draw(st.sampled_from([0, 0, 1, 0x80]))
        return [("e", mask, draw(st.sampled_from([0, 0, 0, BAD, BREAK])))]
    if kind == "echoes":
        return [("e", 0, 0)] * draw(st.integers(1, 9))
    if kind == "noise":
        flags = draw(st.sampled_from([0, 0, BAD, BREAK]))
        return [("c", draw(st.integers(0, 255)), flags)]
    if kind == "sleep":
        command = bytes([0, *[0xFF] * 7])
        header = [("c", 0, BREAK), ("c", SYNC, 0), ("c", PROTECTED[REQUEST], 0)]
        return [*header, *(("c", byte, 0) for byte in [*command, 0])]
    return [("t",)] * draw(st.sampled_from([1, 2, 3, 20, 250]))


@examples(400)
@given(
    commander=st.booleans(),
    frames=st.dictionaries(st.integers(0, 5), FRAMES, max_size=5),
    error_bit=st.none() | st.integers(0, 7),
    data=st.dictionaries(st.integers(0, 5), st.binary(min_size=3, max_size=3)),
    slots=st.lists(st.tuples(IDENTIFIERS, st.integers(1, 6)), max_size=3),
    wake=st.booleans(),
    script=st.lists(pieces(), max_size=40),
    start=st.sampled_from([0, 2**32 - 3_000_000]),
)
def test_whatever_happens_is_what_the_definition_says(
    lin, commander, frames, error_bit, data, slots, wake, script, start
):
    node = Node(commander, BIT_CYCLES, 100)
    lin.init(commander=commander)
    for identifier, frame in frames.items():
        if frame.publishes and error_bit is not None:
            frame.error_bit = error_bit
        assert lin.add(identifier, frame) == OK
        node.frames[identifier] = frame
        if frame.publishes and identifier in data:
            content = data[identifier][: frame.length]
            assert lin.write(identifier, content) == OK
            node.write(identifier, content)
    if commander:
        assert lin.result("schedule", schedule(*slots) or "-") == OK
        node.start(slots)
    if wake:
        lin.command("wake")
        node.waking = True
    events, cycle = [], start
    for piece in script:
        for kind, *values in piece:
            cycle += MS if kind == "t" else BYTE
            event = {"c": Character, "e": Echo, "t": Tick}[kind](*values, cycle)
            events.append(event)
    expected = [comparable(did) for did in feed_reference(node, events)]
    found = lin.feed(*events)
    for place, (event, did, wanted) in enumerate(zip(events, found, expected, strict=True)):
        assert did == wanted, (place, event)
    assert lin.counts() == node.counts
