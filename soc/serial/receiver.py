"""The receiver of a serial port: from the pin to characters."""

from __future__ import annotations

import enum

from litex.gen import LiteXModule
from migen import Case, If, Mux, Signal
from migen.genlib.cdc import MultiReg

from .form import Form
from .params import BREAK_TICKS, TICKS
from .ticks import Ticks

#: Cycles from a change of the pin to that of ``Receiver.line``.
LINE_LATENCY_CYCLES = 3
#: Ticks of a bit that are over before the one in its middle.
_MIDDLE = TICKS // 2 - 1


class _State(enum.IntEnum):
    #: The line is high.
    IDLE = 0
    START = 1
    DATA = 2
    PARITY = 3
    STOP = 4
    #: The stop bit was low, and the line is not high yet.
    LOW = 5


class Receiver(LiteXModule):
    """Receives characters and breaks.

    A change of the pin that lasts one cycle is not seen. Each bit is what two of three looks at the
    line say, 3/8, 4/8 and 5/8 of a bit time after its begin; the first two are enough if they
    agree. A low level that is not a start bit by this rule is forgotten. A character is given
    the cycle after its stop bit was decided, which is in the middle of it on a clean line.

    **Break**: the line is low for 10.5 bit times (10.375 if it falls within a character), whatever
    was being received. It is given once, when it has lasted that long. A character of zeros whose
    stop bit is low is given, with its framing error, only when the line rises before that.
    Behind a low stop bit or a break the line must be high at two ticks for the next start bit to
    count: 3/8 of a bit are enough.
    """

    def __init__(self, *, stamps: bool) -> None:
        #: The pin, not in step with the clock.
        self.pin = Signal(reset=1)
        self.form = Form()
        self.ticks = ticks = Ticks()
        #: A count of cycles, ``LINE_LATENCY_CYCLES`` ago.
        self.line_cycle = Signal(32)

        #: The pin without spikes of a cycle.
        self.line = line = Signal()
        #: Between characters, and the line high.
        self.idle = idle = Signal()
        #: A character or a break, for one cycle.
        self.valid = Signal()
        self.data = Signal(8)
        self.is_break = Signal()
        self.framing = Signal()
        self.parity = Signal()
        #: Cycle in which the start bit, or the break, began on the pin; 0 without stamps.
        self.stamp = Signal(32)

        self._add_filter()
        self._state = state = Signal(max=len(_State))
        # Ticks of this bit that are over.
        position = Signal(max=TICKS)
        first = Signal()
        differs = Signal()
        # The bit is `line`.
        decided = Signal()
        self.comb += [
            idle.eq(state == _State.IDLE),
            ticks.restart.eq(idle & ~line),
            decided.eq(
                ((position == _MIDDLE) & (line == first)) | ((position == _MIDDLE + 1) & differs)
            ),
        ]
        self._begin_character, decide, on_tick = self._statements()
        self.sync += [
            self.valid.eq(0),
            If(ticks.restart, position.eq(0), *self._begin_character),
            If(
                ticks.tick,
                If(
                    ~idle,
                    position.eq(position + 1),
                    If(position == _MIDDLE - 1, first.eq(line)),
                    If(position == _MIDDLE, differs.eq(line != first)),
                    If(decided, decide),
                ),
                *on_tick,
            ),
        ]
        if stamps:
            self._add_stamps(ticks.restart)

    def _add_filter(self) -> None:
        synchronised = Signal(reset=1)
        self.specials += MultiReg(self.pin, synchronised, reset=1)
        history = Signal(2, reset=0b11)
        self.sync += history.eq((history << 1) | synchronised)
        self.comb += self.line.eq(
            (synchronised & history[0]) | (history[0] & history[1]) | (synchronised & history[1])
        )

    def _statements(self):
        """What happens when a start bit begins, when a bit is decided, and at every tick."""
        state, line, form = self._state, self.line, self.form
        mask = Signal(8)
        odd_ones = Signal()
        any_one = Signal()
        # The framing error of a character of zeros, which may still become a break.
        held = Signal()
        was_high = Signal(reset=1)
        low_ticks = Signal(max=BREAK_TICKS + 1)
        begin = [
            state.eq(_State.START),
            self.data.eq(0),
            mask.eq(1),
            odd_ones.eq(0),
            any_one.eq(0),
            self.is_break.eq(0),
            self.parity.eq(0),
        ]
        decide = Case(
            state,
            {
                _State.START: state.eq(Mux(line, _State.IDLE, _State.DATA)),
                _State.DATA: [
                    If(line, self.data.eq(self.data | mask), any_one.eq(1)),
                    odd_ones.eq(odd_ones ^ line),
                    mask.eq(mask << 1),
                    If(
                        mask == form.last_bit,
                        state.eq(Mux(form.has_parity, _State.PARITY, _State.STOP)),
                    ),
                ],
                _State.PARITY: [
                    If(line, any_one.eq(1)),
                    self.parity.eq(line != form.parity_bit(odd_ones)),
                    state.eq(_State.STOP),
                ],
                _State.STOP: [
                    self.framing.eq(~line),
                    held.eq(~line & ~any_one),
                    self.valid.eq(line | any_one),
                    state.eq(Mux(line, _State.IDLE, _State.LOW)),
                ],
            },
        )
        on_tick = [
            was_high.eq(line),
            If(
                (state == _State.LOW) & line & was_high,
                state.eq(_State.IDLE),
                self.valid.eq(held),
                held.eq(0),
            ),
            If(line & was_high, low_ticks.eq(0)),
            If(
                ~line & (low_ticks != BREAK_TICKS),
                low_ticks.eq(low_ticks + 1),
                If(
                    low_ticks == BREAK_TICKS - 1,
                    self.valid.eq(1),
                    self.data.eq(0),
                    self.is_break.eq(1),
                    self.framing.eq(0),
                    self.parity.eq(0),
                    held.eq(0),
                ),
            ),
        ]
        return begin, decide, on_tick

    def _add_stamps(self, begins: Signal) -> None:
        line_q = Signal(reset=1)
        start = Signal(32)
        fall = Signal(32)
        self.sync += [
            line_q.eq(self.line),
            If(begins, start.eq(self.line_cycle)),
            If(line_q & ~self.line, fall.eq(self.line_cycle)),
        ]
        self.comb += self.stamp.eq(Mux(self.is_break, fall, start))
