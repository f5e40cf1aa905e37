"""The transmitter of a serial port: from characters to the pin."""

from __future__ import annotations

import enum

from litex.gen import LiteXModule
from migen import Case, If, Mux, Signal

from .form import Form
from .params import TICKS
from .ticks import Ticks

#: The longest break that can be sent, in bit times.
BREAK_MAX_BITS = 255


class _State(enum.IntEnum):
    IDLE = 0
    START = 1
    DATA = 2
    PARITY = 3
    STOP = 4
    BREAK = 5


class Transmitter(LiteXModule):
    """Sends characters and breaks, back to back as long as there are any.

    The line falls the cycle after a character was taken. A break is low for ``data`` bit times, and
    stop bits follow it like a character.
    """

    def __init__(self) -> None:
        self.form = form = Form()
        self.ticks = ticks = Ticks()
        #: There is a character; it is taken in a cycle with ``ready``.
        self.valid = valid = Signal()
        self.ready = ready = Signal()
        self.data = Signal(8)
        self.is_break = Signal()

        self.line = line = Signal(reset=1)
        #: The line is high for want of a character, and the last stop bit is over.
        self.idle = idle = Signal()

        state = Signal(max=len(_State))
        position = Signal(max=TICKS)
        # Data bits to come, or bit times of the break.
        rest = Signal(8)
        mask = Signal(8)
        odd_ones = Signal()
        second_stop_bit = Signal()
        bit_is_over = Signal()
        ends = Signal()
        self.comb += [
            idle.eq(state == _State.IDLE),
            bit_is_over.eq(ticks.tick & (position == TICKS - 1)),
            ends.eq((state == _State.STOP) & ~second_stop_bit & bit_is_over),
            ready.eq(valid & (idle | ends)),
            ticks.restart.eq(idle),
        ]
        stop = [line.eq(1), state.eq(_State.STOP), second_stop_bit.eq(form.two_stop_bits)]
        data_bit = [
            state.eq(_State.DATA),
            line.eq(rest[0]),
            odd_ones.eq(odd_ones ^ rest[0]),
            rest.eq(rest >> 1),
        ]
        next_bit = Case(
            state,
            {
                _State.START: data_bit,
                _State.DATA: [
                    mask.eq(mask << 1),
                    If(mask != form.last_bit, *data_bit)
                    .Elif(
                        form.has_parity,
                        state.eq(_State.PARITY),
                        line.eq(form.parity_bit(odd_ones)),
                    )
                    .Else(*stop),
                ],
                _State.PARITY: stop,
                _State.STOP: [second_stop_bit.eq(0), If(~second_stop_bit, state.eq(_State.IDLE))],
                _State.BREAK: [rest.eq(rest - 1), If(rest == 1, *stop)],
            },
        )
        self.sync += [
            If(ticks.tick & ~idle, position.eq(position + 1), If(bit_is_over, next_bit)),
            If(
                ready,
                position.eq(0),
                line.eq(0),
                rest.eq(self.data),
                mask.eq(1),
                odd_ones.eq(0),
                state.eq(Mux(self.is_break, _State.BREAK, _State.START)),
            ),
        ]
