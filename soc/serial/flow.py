"""Flow control of a serial port: RTS and CTS, XON and XOFF."""

from __future__ import annotations

from litex.gen import LiteXModule
from migen import If, Mux, Record, Signal

#: ASCII DC1 and DC3.
XON = 0x11
XOFF = 0x13


class FlowControl(LiteXModule):
    """Says when to hold back the peer, and when the peer holds us back.

    The peer is held back from ``stop_level`` characters on until there are ``resume_level`` again.
    """

    def __init__(self, level: Signal) -> None:
        #: Which means are used.
        self.options = options = Record(
            [("cts", 1), ("rts", 1), ("obey_xoff", 1), ("send_xoff", 1)]
        )
        self.stop_level = stop_level = Signal(len(level))
        self.resume_level = resume_level = Signal(len(level))

        #: A character without faults has come; it is taken out if ``takes``.
        self.arrives = arrives = Signal()
        self.character = character = Signal(8)
        self.takes = takes = Signal()
        #: The peer has just stopped us.
        self.xoff = xoff = Signal()

        #: CTS of the pin; characters may begin by CTS and XOFF.
        self.cts = Signal()
        self.may_send = Signal()
        #: The peer has stopped us by XOFF.
        self.stopped = stopped = Signal()
        #: The peer is to be held back.
        self.holds = holds = Signal()
        #: XON or XOFF waits to be sent, ahead of everything; ``sent`` when it is.
        self.waits = waits = Signal()
        self.to_send = Signal(8)
        self.sent = Signal()

        # What the peer was last told.
        told = Signal()
        wanted = Signal()
        is_xoff = Signal()
        self.comb += [
            self.may_send.eq(~stopped & (self.cts | ~options.cts)),
            is_xoff.eq(character == XOFF),
            takes.eq(options.obey_xoff & (is_xoff | (character == XON))),
            xoff.eq(arrives & options.obey_xoff & is_xoff),
            wanted.eq(holds & options.send_xoff),
            waits.eq(wanted != told),
            self.to_send.eq(Mux(wanted, XOFF, XON)),
        ]
        self.sync += [
            If(level >= stop_level, holds.eq(1)).Elif(level <= resume_level, holds.eq(0)),
            If(~options.obey_xoff, stopped.eq(0)).Elif(arrives & takes, stopped.eq(is_xoff)),
            If(self.sent, told.eq(wanted)),
        ]
