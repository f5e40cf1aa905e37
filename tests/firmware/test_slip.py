"""SLIP: packets come out as they were, whatever else is on the line."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from host_build import ROOT, TESTS, Program, build, examples
from hypothesis import given
from hypothesis import strategies as st

from tierv.sim.experiments.goodput import encode_slip

END, ESC, ESC_END, ESC_ESC = b"\xc0", b"\xdb", b"\xdc", b"\xdd"
ROOM = 40
#: Bytes that mean something are as frequent as the others.
_BYTE = st.sampled_from([*END, *ESC, *ESC_END, *ESC_ESC]) | st.integers(0, 255)
_PACKET = st.lists(_BYTE, min_size=1, max_size=ROOM).map(bytes)


@pytest.fixture(scope="module")
def decoder() -> Iterator[Program]:
    slip = ROOT / "firmware" / "apps" / "slip" / "slip.c"
    sources = [TESTS / "slip_driver.c", TESTS / "text.c", slip]
    program = Program(build("slip_driver", sources), end=".")
    yield program
    program.close()


def decode(decoder: Program, line: bytes, room: int = ROOM) -> tuple[list[bytes], int]:
    """The packets, and how many were bad."""
    *packets, bad = decoder.command(f"{room} {line.hex() or '-'}")
    return [bytes.fromhex(packet) for packet in packets], int(bad)


def reference(line: bytes, room: int) -> tuple[list[bytes], int]:
    """RFC 1055 by regular expressions: what stands between two ENDs, if it is a packet at all."""
    packets, bad = [], 0
    for part in line.split(END)[:-1]:
        whole = re.fullmatch(rb"(?:[^\xdb]|\xdb[\xdc\xdd])*", part, re.DOTALL)
        body = part.replace(ESC + ESC_END, END).replace(ESC + ESC_ESC, ESC) if whole else b""
        if whole is None or len(body) > room:
            bad += 1
        elif body:
            packets.append(body)
    return packets, bad


@examples(300)
@given(st.lists(_PACKET, max_size=6))
def test_packets_come_back(decoder, packets):
    line = b"".join(map(encode_slip, packets))
    assert decode(decoder, line) == (packets, 0)


@examples(600)
@given(st.lists(_BYTE, max_size=200).map(bytes), st.integers(0, ROOM))
def test_any_bytes_are_packets_or_counted(decoder, line, room):
    assert decode(decoder, line, room) == reference(line, room)


def test_a_packet_longer_than_its_room_is_dropped_and_the_next_one_taken(decoder):
    line = encode_slip(bytes(ROOM + 1)) + encode_slip(b"next")
    assert decode(decoder, line) == ([b"next"], 1)


def test_the_example_of_the_rfc(decoder):
    assert encode_slip(END + b"a" + ESC) == END + ESC + ESC_END + b"a" + ESC + ESC_ESC + END
