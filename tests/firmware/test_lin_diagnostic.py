"""LIN node configuration: single-frame requests, against a definition of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from lin_bus import Bus, answer
from lin_host import NO_SUCH_FRAME, LinHost, build_lin
from lin_reference import PROTECTED, Frame
from lin_reference import checksum as reference_checksum

SUPPLIER, FUNCTION, VARIANT, SERIAL = 0x1234, 0x5678, 0x9A, 0x01020304
INITIAL_NAD, NAD = 0x05, 0x11
IDS = bytes.fromhex("34127856")
ANY = bytes.fromhex("ff7fffff")
BROADCAST = 0x7F


@pytest.fixture(scope="module")
def program() -> Iterator[LinHost]:
    host = LinHost(build_lin())
    yield host
    host.close()


@pytest.fixture
def lin(program: LinHost) -> LinHost:
    return begin(program)


def begin(lin: LinHost) -> LinHost:
    lin.init()
    lin.command("identity", SUPPLIER, FUNCTION, VARIANT, INITIAL_NAD, NAD, SERIAL)
    for identifier in (0x10, 0x11, 0x12):
        lin.add(identifier, Frame(True, 1))
        lin.write(identifier, bytes([identifier]))
    return lin


def request(nad: int, service: int, data: bytes) -> bytes:
    return bytes([nad, 6, service]) + data


def response(nad: int, *content: int) -> bytes:
    return (bytes([nad, len(content), *content]) + b"\xff" * 8)[:8]


@pytest.mark.parametrize("ids", [IDS, ANY, IDS[:2] + ANY[2:], ANY[:2] + IDS[2:]])
@pytest.mark.parametrize("nad", [NAD, BROADCAST])
def test_product_identification_and_serial_number_are_read(lin, nad, ids):
    assert lin.diagnose(request(nad, 0xB2, b"\0" + ids))[0] == response(NAD, 0xF2, *IDS, VARIANT)
    assert lin.diagnose(request(nad, 0xB2, b"\1" + ids))[0] == response(NAD, 0xF2, 4, 3, 2, 1)


def test_an_identifier_that_is_not_there_is_denied(lin):
    assert lin.diagnose(request(NAD, 0xB2, b"\2" + ANY))[0] == response(NAD, 0x7F, 0xB2, 0x12)


@pytest.mark.parametrize(
    "nobody",
    [
        request(NAD + 1, 0xB2, b"\0" + ANY),
        request(NAD, 0xB2, b"\0" + b"\x35" + IDS[1:]),
        request(NAD, 0xB2, b"\0" + IDS[:3] + b"\0"),
        request(NAD, 0x22, b"\0" + ANY),
        bytes([NAD, 0x10, 0xB2, 0]) + ANY,
        bytes([NAD, 5, 0xB2, 0]) + ANY,
        request(0x7E, 0xB2, b"\0" + ANY),
    ],
)
def test_what_is_not_for_this_node_or_not_understood_has_no_response(lin, nobody):
    assert lin.diagnose(nobody) == (None, NAD)


def test_the_nad_is_assigned_by_the_initial_one(lin):
    assert lin.diagnose(request(NAD, 0xB0, IDS + b"\x22")) == (None, NAD)
    assert lin.diagnose(request(INITIAL_NAD, 0xB0, IDS + b"\x7e")) == (None, NAD)
    assert lin.diagnose(request(INITIAL_NAD, 0xB0, IDS + b"\x00")) == (None, NAD)
    assert lin.diagnose(request(INITIAL_NAD, 0xB0, IDS + b"\x22")) == (
        response(INITIAL_NAD, 0xF0),
        0x22,
    )
    assert lin.diagnose(request(0x22, 0xB2, b"\0" + ANY))[0] is not None


def test_the_nad_changes_if_a_byte_is_as_expected(lin):
    # The third byte of the serial number is 2.
    assert lin.diagnose(request(NAD, 0xB3, bytes([1, 3, 0xFF, 0x03, 0x22]))) == (None, NAD)
    assert lin.diagnose(request(NAD, 0xB3, bytes([1, 5, 0x00, 0x00, 0x22]))) == (None, NAD)
    assert lin.diagnose(request(NAD, 0xB3, bytes([9, 1, 0x00, 0x00, 0x22]))) == (None, NAD)
    assert lin.diagnose(request(NAD, 0xB3, bytes([1, 3, 0xFE, 0x03, 0x22]))) == (
        response(0x22, 0xF3),
        0x22,
    )


def test_a_frame_that_is_sent_once_is_not_sent_again_under_another_identifier(lin):
    lin.init()
    lin.command("identity", SUPPLIER, FUNCTION, VARIANT, INITIAL_NAD, NAD, SERIAL)
    for identifier in (0x20, 0x21):
        lin.add(identifier, Frame(True, 1, once=True))
        lin.write(identifier, b"x")
    bus = Bus(lin)
    assert answer(bus, 0x20)[0] != b""
    lin.diagnose(request(NAD, 0xB7, bytes([0, PROTECTED[0x22], PROTECTED[0x23], 0xFF, 0xFF])))
    assert answer(bus, 0x22)[0] == b""
    assert answer(bus, 0x23)[0] == bytes([ord("x"), reference_checksum(b"x", PROTECTED[0x23])])
    lin.write(0x22, b"y")
    assert answer(bus, 0x22)[0][:1] == b"y"


@dataclass
class Frames:
    """Which frame has which identifier: the definition of service 0xB7."""

    identifiers: list[int | None] = field(default_factory=lambda: [0x10, 0x11, 0x12])

    def assign(self, first: int, pids: bytes) -> bool:
        wanted = {first + i: pid for i, pid in enumerate(pids) if pid != 0xFF}
        if any(index >= len(self.identifiers) for index in wanted):
            return False
        new = {}
        for index, pid in wanted.items():
            if pid == 0:
                new[index] = None
                continue
            if pid not in PROTECTED[:0x3C]:
                return False
            new[index] = PROTECTED.index(pid)
        given = [identifier for identifier in new.values() if identifier is not None]
        taken = [
            (index, identifier)
            for index, identifier in enumerate(self.identifiers)
            if identifier in given and index not in new
        ]
        if taken or len(set(given)) < len(given):
            return False
        for index, identifier in new.items():
            self.identifiers[index] = identifier
        return True


@pytest.mark.parametrize(
    "identifiers", [(0x11, 0x10, None, None), (0x11, 0x12, 0x13, None), (0x11, 0x12, 0x10, None)]
)
def test_frames_of_one_request_change_places(lin, identifiers):
    pids = bytes(0xFF if each is None else PROTECTED[each] for each in identifiers)
    assert lin.diagnose(request(NAD, 0xB7, b"\0" + pids))[0] == response(NAD, 0xF7)
    for number, identifier in enumerate(identifiers):
        if identifier is not None:
            assert lin.read(identifier)[1] == bytes([0x10 + number])


def test_an_identifier_that_a_frame_of_the_request_gives_up_is_taken(lin):
    pids = bytes([0, PROTECTED[0x10], 0xFF, 0xFF])
    assert lin.diagnose(request(NAD, 0xB7, b"\0" + pids))[0] == response(NAD, 0xF7)
    assert lin.read(0x10)[1] == b"\x11"


def test_identifier_0_is_given_up_too(lin):
    for pid in (PROTECTED[0], 0):
        pids = bytes([pid, 0xFF, 0xFF, 0xFF])
        assert lin.diagnose(request(NAD, 0xB7, b"\0" + pids))[0] == response(NAD, 0xF7)
    assert lin.result("remove", 0) == NO_SUCH_FRAME


@pytest.mark.parametrize("pids", [(0x11, 0xFF), (0x13, 0x10), (0x11, 0x11)])
def test_an_identifier_that_a_frame_keeps_or_two_get_is_denied(lin, pids):
    # The second request begins behind the frame that keeps 0x10.
    first = 1 if pids[1] == 0x10 else 0
    data = bytes([first, *(each if each == 0xFF else PROTECTED[each] for each in pids), 0xFF, 0xFF])
    assert lin.diagnose(request(NAD, 0xB7, data))[0] == response(NAD, 0x7F, 0xB7, 0x12)
    assert [lin.read(each)[1] for each in (0x10, 0x11, 0x12)] == [b"\x10", b"\x11", b"\x12"]


PIDS = st.sampled_from([0, 0xFF, 0xFF, 0x41, *(PROTECTED[i] for i in (*range(0x10, 0x16), 0x3D))])


@examples(300)
@given(
    requests=st.lists(
        st.tuples(st.integers(0, 4), st.lists(PIDS, min_size=4, max_size=4)), max_size=6
    )
)
def test_frames_get_the_identifiers_that_the_range_says(program, requests):
    lin, frames = begin(program), Frames()
    for first, pids in requests:
        done = frames.assign(first, bytes(pids))
        wanted = response(NAD, 0xF7) if done else response(NAD, 0x7F, 0xB7, 0x12)
        assert lin.diagnose(request(NAD, 0xB7, bytes([first, *pids])))[0] == wanted
    for number, identifier in enumerate(frames.identifiers):
        if identifier is not None:
            assert lin.read(identifier)[1] == bytes([0x10 + number])


@examples(500)
@given(content=st.binary(min_size=8, max_size=8))
def test_any_request_is_taken_without_harm(program, content):
    lin = begin(program)
    answer, nad = lin.diagnose(content)
    assert answer is None or len(answer) == 8
    assert 1 <= nad <= 0x7D
