"""Whatever happens on a LIN bus, the node does what its definition says."""

from __future__ import annotations

from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from lin_bus import BYTE, MS, schedule
from lin_host import (
    BIT_CYCLES,
    OK,
    Echo,
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
    Tick,
)
from lin_reference import checksum as reference_checksum

IDENTIFIERS = st.integers(0, 5) | st.sampled_from([REQUEST, 0x3D])
FRAMES = st.builds(
    Frame,
    st.booleans(),
    st.integers(1, 3),
    classic=st.booleans(),
    once=st.booleans(),
)


KINDS = ["header", "data", "late", "echo", "echoes", "noise", "ticks", "sleep"]


@st.composite
def pieces(draw) -> list[tuple]:
    """Part of what happens on a bus: (kind, ...); echoes read back what is sent."""
    kind = draw(st.sampled_from(KINDS))
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
    if kind == "late":
        # A response whose second byte is overdue.
        header = [("c", 0, BREAK), ("c", SYNC, 0), ("c", PROTECTED[draw(IDENTIFIERS)], 0)]
        rest = draw(
            st.lists(st.tuples(st.integers(0, 255), st.sampled_from([0, 0, BAD])), max_size=2)
        )
        return [*header, ("c", 1, 0), *[("t",)] * 3, *(("c", *character) for character in rest)]
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
    wanted=st.none() | IDENTIFIERS,
    wake=st.booleans(),
    script=st.lists(pieces(), max_size=40),
    start=st.sampled_from([0, 2**32 - 3_000_000]),
)
def test_whatever_happens_is_what_the_definition_says(
    lin, commander, frames, error_bit, data, slots, wanted, wake, script, start
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
        if wanted is not None:
            assert lin.result("header", wanted) == OK
            node.wanted = wanted
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
