"""From the network to serial lines: a queue that holds clients up and loses nothing of theirs."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from host_build import examples
from hypothesis import given
from hypothesis import strategies as st
from slow_turns import turns
from terminal_host import (
    CLIENT,
    DATA_CLIENT,
    DEPTH,
    QUEUE_WORDS,
    WORD_BYTES,
    Client,
    TerminalHost,
)

from tierv.sim.host import protocol
from tierv.sim.host.protocol import Command, Item, Purge

SUSPEND, RESUME = (0, Command.FLOWCONTROL_SUSPEND, b""), (0, Command.FLOWCONTROL_RESUME, b"")
MOST = protocol.MAX_DATA_BYTES
#: From so much room on a client that was stopped goes on.
HALF = QUEUE_WORDS // 2


@pytest.fixture
def host() -> TerminalHost:
    with TerminalHost() as running:
        running.control(Item(Command.SIGNATURE))
        yield running


class Queue:
    """The definition: words of up to three bytes of a datagram, a FIFO, and what is told."""

    def __init__(self) -> None:
        self.words: list[bytes] = []
        self.fifo = self.line = b""
        self.stopped = False
        self.told: list[tuple[int, int, bytes]] = []
        self.counts: Counter[str] = Counter()

    @property
    def room(self) -> int:
        return QUEUE_WORDS - len(self.words)

    def _serve(self) -> None:
        while self.words and DEPTH - len(self.fifo) >= WORD_BYTES:
            self.fifo += self.words.pop(0)

    def _go_on(self) -> None:
        if self.stopped and self.room >= HALF:
            self.stopped = False
            self.told.append(RESUME)

    def _stop(self) -> None:
        if not self.stopped:
            self.stopped = True
            self.told.append(SUSPEND)

    def put(self, data: bytes) -> None:
        words = [data[at : at + WORD_BYTES] for at in range(0, len(data), WORD_BYTES)]
        taken = len(words) <= self.room
        name = "TRANSMIT" if taken else "REFUSED"
        self.counts += {f"{name}_BYTES": len(data), f"{name}_DATAGRAMS": 1}
        if taken:
            self.words += words
        if not taken or self.room * WORD_BYTES < MOST:
            self._stop()
        if taken:
            self._serve()
        self._go_on()

    def send(self, count: int) -> None:
        self.line += self.fifo[:count]
        self.fifo = self.fifo[count:]
        if len(self.fifo) <= DEPTH // 4:
            self._serve()
        self._go_on()

    def purge(self) -> None:
        self.counts["PURGED_BYTES"] += self.waiting + len(self.fifo)
        self.words.clear()
        self.fifo = b""
        self._go_on()

    @property
    def waiting(self) -> int:
        return sum(map(len, self.words))


@pytest.mark.parametrize("depth", turns([DEPTH, 2, 1], [2]))
def test_a_client_that_counts_what_its_datagrams_take_is_never_refused(depth):
    with TerminalHost(transmit_depth=depth) as host:
        whole = host.transmit_state().room
        for bytes_at_once in (1, 2, 3, 4, 5, 6, 7, 500):
            room = whole
            while (room := room - protocol.room_taken(bytes_at_once)) >= 0:
                host.data(payload=bytes(bytes_at_once))
                assert host.transmit_state().room >= room
            assert host.counters()["REFUSED_BYTES"] == 0
            host.control(protocol.number(Command.PURGE_DATA, Purge.TRANSMIT))
            host.told()


STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 12)),
    st.tuples(st.just("put"), st.integers(MOST - 9, MOST)),
    st.tuples(st.just("put"), st.integers(400, MOST)),
    st.tuples(st.just("send"), st.integers(1, DEPTH // 2)),
    st.tuples(st.just("drain"), st.integers(1, 50)),
    st.tuples(st.just("purge"), st.just(0)),
)


@given(steps=st.lists(STEPS, max_size=40))
@examples(120)
def test_the_queue_is_that_of_the_definition(steps):
    queue, number = Queue(), random.Random(1)
    with TerminalHost() as host:
        host.control(Item(Command.SIGNATURE))
        for what, count in steps:
            if what == "put":
                data = number.randbytes(count)
                queue.put(data)
                host.data(payload=data)
            elif what == "purge":
                queue.purge()
                host.control(protocol.number(Command.PURGE_DATA, Purge.TRANSMIT))
            else:
                for _ in range(count if what == "drain" else 1):
                    part = count if what == "send" else DEPTH // 2
                    queue.send(part)
                    host.command("send", 0, part)
            assert host.told() == queue.told
            queue.told.clear()
            state = host.transmit_state()
            assert (state.room, state.waiting) == (queue.room * WORD_BYTES, queue.waiting)
            assert state.taken == queue.counts["TRANSMIT_BYTES"]
            assert host.line[0] == queue.line
        counters = host.counters()
        assert {name: counters[name] for name in queue.counts} == queue.counts


def fill(host: TerminalHost, port: int = 0) -> None:
    """Sends until the client is stopped."""
    while not host.told():
        host.data(port, payload=bytes(MOST))


def test_a_client_is_told_to_stop_while_there_is_room_for_no_datagram(host):
    least = -(-MOST // WORD_BYTES)
    for left, told in ((least, []), (least - 1, [SUSPEND])):
        # The FIFO takes all of the first one.
        host.data(payload=bytes(DEPTH - 1))
        host.data(payload=bytes(600))
        host.data(payload=bytes(host.transmit_state().room - left * WORD_BYTES))
        assert host.transmit_state().room == left * WORD_BYTES
        assert host.told() == told
        host.control(protocol.number(Command.PURGE_DATA, Purge.TRANSMIT))
        assert host.told() == [RESUME] * len(told)


def test_a_client_goes_on_from_the_word_on_that_makes_half_the_queue_free(host):
    # The FIFO has 63 bytes, and is filled again with 16 words when 16 are left.
    host.data(payload=bytes(DEPTH - 1))
    host.data(payload=bytes(490 * WORD_BYTES))
    host.data(payload=bytes((HALF - 490 + 32) * WORD_BYTES))
    assert host.told() == [SUSPEND]
    host.command("send", 0, 47)
    assert (host.transmit_state().room, host.told()) == ((HALF - 16) * WORD_BYTES, [])
    host.command("send", 0, 48)
    assert host.told() == [RESUME]
    assert host.transmit_state().room == HALF * WORD_BYTES


def test_the_queue_takes_what_fits_to_the_word(host):
    host.data(payload=bytes(DEPTH - 1))
    for words in (490, 490, QUEUE_WORDS - 2 * 490):
        host.data(payload=bytes(words * WORD_BYTES))
    assert host.transmit_state().room == 0
    host.data(payload=b"")
    assert host.counters()["REFUSED_DATAGRAMS"] == 0
    host.data(payload=b"a")
    assert host.counters()["REFUSED_DATAGRAMS"] == 1


def test_bytes_on_the_line_are_neither_idle_nor_lost(host):
    def state() -> int:
        (answer,) = host.control(Item(Command.NOTIFY_LINESTATE))
        return answer.number

    both = protocol.LineState.TRANSMIT_EMPTY | protocol.LineState.SHIFTER_EMPTY
    assert state() == both
    host.data(payload=b"abcd")
    assert state() == 0
    host.send(3)
    assert state() == 0
    host.send(1)
    assert (state(), host.line[0]) == (both, b"abcd")
    host.command("shift", 0, 1)
    assert state() == protocol.LineState.TRANSMIT_EMPTY
    host.data(payload=bytes(100))
    assert state() == 0


def test_bytes_that_the_line_has_not_got_yet_are_not_sent(host):
    host.command("latency", 1000)
    host.data(payload=b"abcd")
    (answer,) = host.control(Item(Command.NOTIFY_LINESTATE))
    assert answer.number == 0
    host.advance(1000)
    host.send(4)
    (answer,) = host.control(Item(Command.NOTIFY_LINESTATE))
    assert answer.number != 0


def test_the_transmit_event_is_enabled_only_while_something_waits(host):
    def enabled() -> bool:
        return host.registers()["ev_enable"] & 2 != 0

    host.data(payload=bytes(DEPTH - 2))
    assert not enabled()
    host.data(payload=bytes(5))
    assert enabled()
    host.control(protocol.number(Command.PURGE_DATA, Purge.RECEIVED))
    assert enabled()
    host.control(protocol.number(Command.PURGE_DATA, Purge.TRANSMIT))
    assert not enabled()
    host.data(payload=bytes(DEPTH + 3))
    before = host.counters()["INTERRUPTS"]
    host.send(DEPTH)
    assert not enabled()
    assert host.counters()["INTERRUPTS"] == before + 1


def test_the_first_sender_becomes_the_peer_and_others_are_not_heard(host):
    host.data(payload=b"ab")
    host.data(client=Client(CLIENT.address, 9), payload=b"no")
    host.data(client=Client(CLIENT.address + 1, DATA_CLIENT.port), payload=b"no")
    host.data(payload=b"cd")
    host.send(4)
    assert host.line[0] == b"abcd"
    host.control(Item(Command.PEER, bytes(6)))
    host.data(client=Client(CLIENT.address, 9), payload=b"ef")
    (answer,) = host.control(Item(Command.PEER))
    assert answer.value == Client(CLIENT.address, 9).peer()


def test_who_can_not_be_answered_does_not_become_the_peer(host):
    host.data(client=Client(CLIENT.address, 0), payload=b"ab")
    (answer,) = host.control(Item(Command.PEER))
    assert answer.value == bytes(6)
    host.data(payload=b"cd")
    (answer,) = host.control(Item(Command.PEER))
    assert answer.value == DATA_CLIENT.peer()
    host.send(4)
    assert host.line[0] == b"abcd"


def test_a_client_is_told_by_nobody_else_of_its_port(host):
    host.control(Item(Command.SIGNATURE), port=1)
    fill(host, 1)
    fill(host, 0)
    for _ in range(50):
        host.send(DEPTH, 1)
    assert host.told() == [(1, Command.FLOWCONTROL_RESUME, b"")]
    for _ in range(50):
        host.send(DEPTH)
    assert host.told() == [RESUME]


def test_a_stop_without_a_free_packet_is_lost_and_the_client_is_told_to_go_on_nevertheless(host):
    host.command("hoard", "protocol", 4)
    for _ in range(4):
        host.data(payload=bytes(MOST))
    host.send(3000)
    assert host.told() == []
    host.command("hoard", "protocol", 0)
    assert host.told() == [RESUME]
    counters = host.counters()
    assert (counters["NOTIFICATIONS"], counters["LOST_NOTIFICATIONS"]) == (1, 1)


def test_nobody_is_told_before_a_client_has_given_a_command():
    with TerminalHost() as host:
        for _ in range(3):
            host.data(payload=bytes(MOST))
        host.send(4000)
        assert host.told() == []
        counters = host.counters()
        # Nobody is left to be told when the counters have been asked for.
        assert (counters["NOTIFICATIONS"], counters["LOST_NOTIFICATIONS"]) == (0, 2)


def test_a_client_that_takes_no_datagrams_is_told_to_send_none_and_to_go_on(host):
    host.control(Item(Command.FLOWCONTROL_SUSPEND))
    fill(host, 0)
    host.send(4000)
    assert host.told() == [RESUME]


def forget_neighbours(host: TerminalHost) -> None:
    """The client's Ethernet address is no longer known."""
    host.command("forget")
    host.others.clear()


def test_a_client_that_is_asked_for_is_told_to_go_on_whatever_else_there_is_to_tell(host):
    """Only the newest datagram waits for a neighbour: it must be no other one."""
    host.control(Item(Command.SIGNATURE), port=1)
    fill(host, 0)
    fill(host, 1)
    host.set(Command.SET_LINESTATE_MASK, 0xFF, 1)
    host.control(Item(Command.PEER, DATA_CLIENT.peer()), protocol.number(Command.PACK_LENGTH, 1))
    forget_neighbours(host)
    host.send(4000)
    host.send(4000, 1)
    host.come(b"ab")
    host.come(b"c", 1, flags=2)
    assert host.sent == []
    host.arp(2, CLIENT)
    host.control(Item(Command.SIGNATURE))
    told = host.told()
    assert told == [RESUME, (1, Command.FLOWCONTROL_RESUME, b"")]
    # What a line said meanwhile is lost, and counted.
    assert host.counters(1)["LOST_NOTIFICATIONS"] == 1
    assert [one.payload for one in host.received()] == [b"a", b"b"]
