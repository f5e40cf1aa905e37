"""A LIN node by its definition (LIN 2.2A, chapter 2), as a coroutine.

It is written apart from ``firmware/apps/lin``. Characters and ticks go in; what the node does
comes out.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

from tierv.sim.host.lin import Outcome

SYNC, REQUEST, RESPONSE = 0x55, 0x3C, 0x3D
BREAK, BAD = 1, 2
#: Dominant time that wakes a node, and the signal that wakes the others.
WAKE_US, WAKE_UP = 150, 0xF0
IDLE_SLEEP_MS = 4000
#: Nodes need so long behind a wake-up signal, which lasts up to 5 ms, to be ready for headers.
READY_MS, SIGNAL_MOST_MS = 100, 5
#: Pauses after the wake-up signals that nobody answers.
WAKE_PAUSES_MS = [200, 200, 1500, 200, 200, None]
HEADER_MOST_BITS = int(34 * 1.4)

#: Protected identifiers, LIN 2.1, table 2.4.
PROTECTED = bytes.fromhex(
    "80c14203c48506470849ca8b4c0d8ecf501192d31455d697d8991a5b9cdd5e1f"
    + "2061e2a36425a6e7a8e96a2becad2e6ff0b13273b4f576377839bafb3c7dfebf"
)


def checksum(data: bytes, protected: int | None = None) -> int:
    """Classic, or enhanced with a protected identifier: the inverted sum with end-around carry."""
    total = 0
    for byte in [*data, *([] if protected is None else [protected])]:
        total += byte
        if total > 0xFF:
            total -= 0xFF
    return 0xFF - total


@dataclass
class Frame:
    """A frame that the node knows."""

    publishes: bool
    length: int
    classic: bool = False
    once: bool = False
    error_bit: int | None = None
    data: bytes | None = None
    pending: bool = False
    written: int = 0

    def checksum(self, identifier: int, data: bytes) -> int:
        return checksum(data, None if self.classic else PROTECTED[identifier])


@dataclass(frozen=True)
class Character:
    byte: int
    flags: int
    cycle: int


@dataclass(frozen=True)
class Tick:
    cycle: int


@dataclass
class Did:
    """What one event led to."""

    send: int | None = None
    header: int | None = None
    stop: bool = False
    #: Outcome, identifier if it has one, data.
    report: tuple[Outcome, int | None, bytes] | None = None


class _BreakError(Exception):
    """A break has come."""


@dataclass
class Node:
    """One node, awake and without signals."""

    commander: bool
    bit_cycles: int
    us_cycles: int
    frames: dict[int, Frame] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.frames[REQUEST] = Frame(self.commander, 8, classic=True, once=True)
        self.frames[RESPONSE] = Frame(not self.commander, 8, classic=True, once=True)
        self.response_error = self.asleep = self._woken = False
        self.idle_ms = self.ready_ms = 0
        self.wake_left: list[int | None] = []
        self.wake_wait = 0
        self.waking = False
        self.schedule: list[tuple[int, int]] = []
        self.place = self.slot_left = 0
        self.wanted: int | None = None
        self.unseen_header = False
        self._did = Did()
        self._begin()

    def _begin(self) -> None:
        self.busy = False
        self._life = self._live()
        next(self._life)

    def write(self, identifier: int, data: bytes) -> None:
        frame = self.frames[identifier]
        frame.data, frame.pending = data, True
        frame.written += 1

    def start(self, schedule: list[tuple[int, int]]) -> None:
        self.schedule, self.place, self.slot_left = schedule, 0, 0

    def feed(self, event: Character | Tick) -> Did:
        """What the node does in answer to an event."""
        self._did = Did()
        if isinstance(event, Character):
            self.idle_ms = 0
        if not (self.asleep and isinstance(event, Tick)):
            self._life.send(event)
        if isinstance(event, Tick):
            self._tick()
        return self._did

    def count(self, name: str) -> None:
        self.counts[name] = self.counts.get(name, 0) + 1

    def _report(self, outcome: Outcome, identifier: int | None = None, data: bytes = b"") -> None:
        self.count(outcome.name)
        self._did.report = (outcome, identifier, data)

    def _fall_asleep(self, identifier: int | None = None, data: bytes = b"") -> None:
        self._report(Outcome.ASLEEP, identifier, data)
        self.asleep = True
        self.unseen_header = False
        self.wanted = None

    def _error(self, outcome: Outcome, identifier: int, data: bytes) -> None:
        self.response_error = True
        self._report(outcome, identifier, data)

    # --- the time between headers ---

    def _tick(self) -> None:
        if self.asleep:
            self._wake_tick()
            return
        self.idle_ms = 0 if self.schedule else self.idle_ms + 1
        if self.idle_ms > IDLE_SLEEP_MS and self.wanted is None:
            self._fall_asleep()
            self._begin()
            return
        held, self.ready_ms = self.ready_ms > 0, max(0, self.ready_ms - 1)
        header = None if held else self._next_header()
        if header is None:
            self._wake_tick()
            return
        if self.unseen_header:
            if self._did.report is None:
                self._report(Outcome.BAD_HEADER)
            self._did.stop = True
        self.unseen_header = True
        self._did.header = PROTECTED[header]

    def _next_header(self) -> int | None:
        self.slot_left = max(0, self.slot_left - 1)
        if self.slot_left:
            return None
        if self.wanted is not None:
            if not self.schedule and self.busy:
                return None
            header, self.wanted = self.wanted, None
            self.slot_left = self.schedule[self.place][1] if self.schedule else 0
            return header
        if not self.schedule:
            return None
        header, self.slot_left = self.schedule[self.place]
        self.place = (self.place + 1) % len(self.schedule)
        return header

    def _wake_tick(self) -> None:
        if not self.asleep and (self.busy or self.unseen_header):
            return
        if self.waking:
            self.waking = False
            self.wake_left, self.wake_wait = list(WAKE_PAUSES_MS), 0
        if not self.wake_left:
            return
        self.wake_wait = max(0, self.wake_wait - 1)
        if self.wake_wait:
            return
        self._did.send = WAKE_UP
        self.wake_wait = self.wake_left.pop(0) or 0

    # --- headers and responses ---

    def _event(self) -> Generator[None, Character | Tick, Character | Tick]:
        event = yield
        if isinstance(event, Character) and event.flags & BREAK:
            self._break_cycle = event.cycle
            raise _BreakError
        return event

    def _live(self) -> Generator[None, Character | Tick, None]:
        broken = False
        while True:
            try:
                if not broken:
                    yield from self._rest()
                broken = False
                self.busy = True
                yield from self._frame()
                self.busy = False
            except _BreakError:
                broken = True

    def _rest(self) -> Generator[None, Character | Tick, None]:
        try:
            while True:
                event = yield from self._event()
                if self.asleep and isinstance(event, Character):
                    zeros = f"{event.byte:08b}"[::-1].find("1")
                    dominant = 1 + (8 if zeros < 0 else zeros)
                    if dominant * self.bit_cycles >= WAKE_US * self.us_cycles:
                        self._wake(READY_MS)
        except _BreakError:
            self._woken = self.asleep
            if self.asleep:
                self._wake(READY_MS + SIGNAL_MOST_MS)
            raise

    def _wake(self, ready_ms: int) -> None:
        self.asleep, self.ready_ms = False, ready_ms
        self._report(Outcome.AWAKE)

    def _frame(self) -> Generator[None, Character | Tick, None]:
        begun, woken = self._break_cycle, self._woken
        # The next one does not wake, unless the bus sleeps again.
        self._woken = False
        identifier = yield from self._header(begun, woken)
        if identifier is None:
            return
        self.count("headers")
        self.unseen_header = False
        self.wake_left = []
        frame = self.frames.get(identifier)
        if frame is None:
            return
        if not frame.publishes:
            yield from self._listen(identifier, frame)
        elif frame.data is None or (frame.once and not frame.pending):
            self.count("unanswered")
        else:
            yield from self._answer(identifier, frame)

    def _header(self, begun: int, woken: bool) -> Generator[None, Character | Tick, int | None]:
        fields: list[int] = []
        while True:
            try:
                event = yield from self._event()
            except _BreakError:
                self._end_header(fields, woken)
                raise
            if isinstance(event, Tick):
                if event.cycle - begun > HEADER_MOST_BITS * self.bit_cycles:
                    self._end_header(fields, woken)
                    return None
                continue
            self._header_cycle = event.cycle
            fields.append(event.byte)
            if len(fields) == 1:
                if event.flags or event.byte != SYNC:
                    self._report(Outcome.BAD_SYNC, event.byte % 64, bytes(fields))
                    return None
                continue
            if event.flags or event.byte not in PROTECTED:
                self._report(Outcome.BAD_PARITY, event.byte % 64, bytes(fields[1:]))
                return None
            return PROTECTED.index(event.byte)

    def _end_header(self, fields: list[int], woken: bool) -> None:
        # A break that wakes may be a wake-up signal, with nothing behind it.
        if fields or not woken:
            self._report(Outcome.BAD_HEADER)

    def _is_late(self, cycle: int, length: int) -> bool:
        return cycle - self._response_cycle > 14 * (length + 1) * self.bit_cycles

    def _answer(self, identifier: int, frame: Frame) -> Generator[None, Character | Tick, None]:
        data = frame.data
        assert data is not None
        if frame.error_bit is not None:
            image = int.from_bytes(data, "little") & ~(1 << frame.error_bit)
            image |= self.response_error << frame.error_bit
            data = image.to_bytes(frame.length, "little")
        written = frame.written
        self._response_cycle = self._header_cycle
        response = data + bytes([frame.checksum(identifier, data)])
        for index, byte in enumerate(response):
            self._did.send = byte
            try:
                event = yield from self._event()
                while isinstance(event, Tick) and not self._is_late(event.cycle, frame.length):
                    event = yield from self._event()
            except _BreakError:
                self._fail_to_send(identifier, data[:index])
                raise
            if isinstance(event, Tick) or (event.byte, event.flags) != (byte, 0):
                self._fail_to_send(identifier, data[:index])
                return
        if frame.written == written:
            frame.pending = False
        if frame.error_bit is not None:
            self.response_error = False
        self._report(Outcome.SENT, identifier, data)
        self._sleep_if_told(identifier, data)

    def _fail_to_send(self, identifier: int, sent: bytes) -> None:
        self._error(Outcome.BIT_ERROR, identifier, sent)
        self._did.stop = True

    def _sleep_if_told(self, identifier: int, data: bytes) -> None:
        if identifier == REQUEST and data[0] == 0:
            self._fall_asleep(identifier, data)

    def _listen(self, identifier: int, frame: Frame) -> Generator[None, Character | Tick, None]:
        self._response_cycle = self._header_cycle
        got: list[int] = []
        reported = False
        while len(got) <= frame.length:
            try:
                event = yield from self._event()
            except _BreakError:
                if not got:
                    self._report(Outcome.NO_RESPONSE, identifier)
                elif not reported:
                    self._error(Outcome.INCOMPLETE, identifier, bytes(got[: frame.length]))
                raise
            if isinstance(event, Character):
                if event.flags:
                    if not reported:
                        self._error(Outcome.BAD_CHARACTER, identifier, bytes(got))
                    return
                got.append(event.byte)
            elif self._is_late(event.cycle, frame.length) and not reported:
                if not got:
                    self._report(Outcome.NO_RESPONSE, identifier)
                    return
                self._error(Outcome.INCOMPLETE, identifier, bytes(got))
                reported = True
                # Nobody waits for it any more.
                self.busy = False
        data = bytes(got[:-1])
        if frame.checksum(identifier, data) != got[-1]:
            if not reported:
                self._error(Outcome.BAD_CHECKSUM, identifier, data)
            return
        if self._is_late(event.cycle, frame.length):
            self.count("late")
        self.write(identifier, data)
        self._report(Outcome.RECEIVED, identifier, data)
        self._sleep_if_told(identifier, data)
