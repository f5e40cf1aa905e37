"""A LIN node's responses, its own and those of others: every path, good and bad."""

from __future__ import annotations

import pytest
from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from lin_bus import answer
from lin_host import (
    BIT_CYCLES,
    OK,
)
from lin_reference import (
    BAD,
    BREAK,
    PROTECTED,
    SYNC,
    Frame,
    Tick,
)
from lin_reference import checksum as reference_checksum

from tierv.sim.host.lin import Outcome


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


@pytest.mark.parametrize("publishes", [False, True])
def test_a_frame_that_is_removed_as_its_header_ends_is_not_answered(bus, publishes):
    bus.lin.add(0x12, Frame(publishes, 1))
    if publishes:
        bus.lin.write(0x12, b"x")
    else:
        bus.header(0x12)
        bus.bytes(bytes([0x55, reference_checksum(b"\x55", PROTECTED[0x12])]))
        assert bus.lin.read(0x12) == (1, b"\x55")
    assert bus.lin.result("vanish", 0x12) == OK
    assert bus.header(0x12).send is None
    # Nor is anything expected.
    assert bus.byte(0, BREAK).report is None


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


@pytest.mark.parametrize("new", [Frame(True, 2), Frame(True, 4), Frame(False, 4)])
def test_a_frame_that_replaces_another_within_a_response_does_not_take_it(bus, new):
    data = b"\x11\x22"
    bus.lin.add(0x21, Frame(False, 2))
    bus.header(0x21)
    bus.byte(data[0])
    assert bus.lin.result("remove", 0x21) == OK
    assert bus.lin.add(0x21, new) == OK
    rest = bytes([data[1], reference_checksum(data, PROTECTED[0x21])])
    assert bus.bytes(rest).report is None
    assert bus.lin.read(0x21)[0] == 0


def test_a_one_shot_frame_that_replaces_another_within_a_response_is_still_to_be_sent(bus):
    bus.lin.add(0x21, Frame(True, 1))
    bus.lin.write(0x21, b"a")
    bus.header(0x21)
    assert bus.lin.result("remove", 0x21) == OK
    assert bus.lin.add(0x21, Frame(True, 2, once=True)) == OK
    bus.echo()
    assert bus.echo().report == (Outcome.SENT, 0x21, b"a")
    bus.lin.write(0x21, b"bc")
    assert answer(bus, 0x21)[0][:2] == b"bc"


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


@pytest.mark.parametrize("rest", [[(2, 0), (0, 0)], [(2, BAD)], [(0, BREAK)]])
def test_a_late_response_that_then_fails_is_reported_once(bus, rest):
    bus.lin.add(0x21, Frame(False, 2))
    bus.header(0x21)
    bus.byte(1)
    assert [did.report for did in bus.ticks(4) if did.report] == [
        (Outcome.INCOMPLETE, 0x21, b"\x01")
    ]
    assert [bus.byte(*character).report for character in rest] == [None] * len(rest)
    assert bus.lin.counts() == {"headers": 1, "INCOMPLETE": 1}
    # It has ended.
    assert answer(bus, 0x21)[1] is None


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
