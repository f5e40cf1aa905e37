"""One serial port."""

from __future__ import annotations

from migen import Cat, If, Mux, Record, ResetInserter, Signal
from migen.genlib.cdc import MultiReg

from .fifo import BURST, ReceiveFifo, TransmitFifo
from .flow import FlowControl
from .params import TICKS, SerialParams
from .receiver import Receiver
from .registers import TIMEOUT_BITS, PortRegisters
from .transmitter import Transmitter

#: Ticks in a bit time, log2.
_TICKS_LOG2 = TICKS.bit_length() - 1


class SerialPort(PortRegisters):
    """Transmitter, receiver, FIFOs, flow control and registers between ``pads`` and the bus.

    ``pads`` has ``tx`` and ``rx``, and ``rts_n`` and ``cts_n`` where there are such pins; otherwise
    CTS counts as asserted. ``line_cycle`` counts cycles, ``LINE_LATENCY_CYCLES`` late. A
    character can be read, and the events tell of it, two cycles after its stop bit was decided.
    The registers must not be accessed more often than every third cycle.
    """

    def __init__(self, pads: Record, params: SerialParams, line_cycle: Signal) -> None:
        PortRegisters.__init__(self, params)
        self.receiver = Receiver(stamps=params.stamps)
        self.transmitter = Transmitter()
        self.receive_fifo = ResetInserter()(ReceiveFifo(params.receive_depth, stamps=params.stamps))
        self.transmit_fifo = ResetInserter()(TransmitFifo(params.transmit_depth))
        self.control = FlowControl(self.receive_fifo.level)
        # A character without faults that flow control does not take, or any other.
        self._stores = Signal()
        # Lost characters since the last one in the FIFO.
        self._overrun = Signal()
        self.comb += self.receiver.line_cycle.eq(line_cycle)
        self._add_pins(pads)
        self._add_settings()
        self._add_receive_path()
        self._add_transmit_path(params.transmit_depth)
        self._add_events()
        self._add_counters()

    def _add_pins(self, pads: Record) -> None:
        receiver, transmitter, control = self.receiver, self.transmitter, self.control
        form, flow, status = self.format.fields, self.flow.fields, self.status.fields
        cts = Signal()
        if hasattr(pads, "cts_n"):
            cts_n = Signal()
            self.specials += MultiReg(pads.cts_n, cts_n)
            self.comb += cts.eq(~cts_n)
        else:
            self.comb += cts.eq(1)
        rts = Signal()
        sent = Signal()
        self.comb += [
            rts.eq(Mux(flow.rts, ~control.holds, flow.assert_rts)),
            sent.eq(transmitter.line & ~form.hold_break),
            pads.tx.eq(sent | form.loop_back),
            receiver.pin.eq(Mux(form.loop_back, sent, pads.rx)),
            control.cts.eq(Mux(form.loop_back, rts, cts)),
            status.line.eq(receiver.line),
            status.cts.eq(control.cts),
            status.rts.eq(rts),
        ]
        if hasattr(pads, "rts_n"):
            self.comb += pads.rts_n.eq(~rts)

    def _add_settings(self) -> None:
        form, flow, control = self.format.fields, self.flow.fields, self.control
        for user in (self.receiver, self.transmitter):
            self.comb += [
                user.ticks.tuning.eq(self.tuning.storage),
                user.form.data_bits.eq(form.data_bits),
                user.form.parity.eq(form.parity),
                user.form.two_stop_bits.eq(form.two_stop_bits),
            ]
        self.comb += [
            *(
                getattr(control.options, name).eq(getattr(flow, name))
                for name in ("cts", "rts", "obey_xoff", "send_xoff")
            ),
            control.stop_level.eq(self.flow_levels.fields.stop),
            control.resume_level.eq(self.flow_levels.fields.resume),
            self.receive_fifo.reset.eq(self.purge.fields.receive),
            self.transmit_fifo.reset.eq(self.purge.fields.transmit),
        ]

    def _add_receive_path(self) -> None:
        receiver, fifo, control = self.receiver, self.receive_fifo, self.control
        flags = Cat(receiver.is_break, receiver.framing, receiver.parity)
        self.comb += [
            control.arrives.eq(receiver.valid & (flags == 0)),
            control.character.eq(receiver.data),
            self._stores.eq(receiver.valid & ~(control.arrives & control.takes)),
            fifo.put.eq(self._stores),
            fifo.entry.eq(Cat(receiver.data, flags, self._overrun)),
            fifo.stamp.eq(receiver.stamp),
        ]
        self.sync += [
            If(self._stores, self._overrun.eq(fifo.full)),
            If(self.purge.fields.receive, self._overrun.eq(0)),
        ]
        one, burst = self.receive.fields, self.receive_burst.fields
        oldest = fifo.window[0]
        read_flags = Signal(4)
        self.comb += [
            read_flags.eq(Mux(fifo.burst != 0, oldest[8:], 0)),
            one.data.eq(oldest[:8]),
            one.valid.eq(fifo.burst != 0),
            burst.data.eq(Cat(*(entry[:8] for entry in fifo.window))),
            burst.count.eq(fifo.burst),
            *(
                Cat(fields.is_break, fields.framing, fields.parity, fields.overrun).eq(read_flags)
                for fields in (one, burst)
            ),
            If(self.receive_burst.we, fifo.take.eq(fifo.burst)).Elif(
                self.receive.we, fifo.take.eq(fifo.burst != 0)
            ),
            self.level.fields.receive.eq(fifo.level),
            self.stamp.status.eq(fifo.taken_stamp),
        ]

    def _add_transmit_path(self, depth: int) -> None:
        transmitter, fifo, control = self.transmitter, self.transmit_fifo, self.control
        data = self.transmit.fields.data
        from_fifo = Signal()
        self.comb += [
            If(self.transmit.re, fifo.put.eq(1 + self.transmit.fields.more)),
            *(
                fifo.entries[index].eq(
                    Cat(data[8 * index : 8 * index + 8], self.transmit.fields.is_break)
                )
                for index in range(BURST)
            ),
            from_fifo.eq(fifo.readable & control.may_send & ~control.waits),
            transmitter.valid.eq(from_fifo | control.waits),
            transmitter.data.eq(Mux(control.waits, control.to_send, fifo.entry[:8])),
            transmitter.is_break.eq(fifo.entry[8] & ~control.waits),
            fifo.take.eq(transmitter.ready & from_fifo),
            control.sent.eq(transmitter.ready & control.waits),
            self.level.fields.space.eq(depth - fifo.level),
        ]

    def _add_events(self) -> None:
        receiver, fifo, status = self.receiver, self.receive_fifo, self.status.fields
        marks = self.watermarks.fields
        quiet_ticks = Signal(TIMEOUT_BITS + _TICKS_LOG2)
        end = Signal(TIMEOUT_BITS + _TICKS_LOG2)
        # What is in the FIFO can't wait for the watermark.
        due = Signal()
        cts_q = Signal()
        idle = Signal()
        flagged = fifo.entry[8:] != 0
        self.comb += [
            end.eq(self.timeout.storage << _TICKS_LOG2),
            idle.eq(self.transmitter.idle & ~self.transmit_fifo.readable & ~self.transmit.re),
            self.ev.receive.trigger.eq((fifo.level >= marks.receive) | due),
            self.ev.transmit.trigger.eq(self.transmit_fifo.level <= marks.transmit),
            self.ev.idle.trigger.eq(idle),
            self.ev.cts.trigger.eq(self.control.cts != cts_q),
            status.idle.eq(idle),
            status.receiving.eq(~receiver.idle),
            status.stopped.eq(self.control.stopped),
            status.holding.eq(self.control.holds),
            status.overrun.eq(self._overrun),
        ]
        self.sync += [
            cts_q.eq(self.control.cts),
            If(receiver.ticks.tick & (quiet_ticks != end), quiet_ticks.eq(quiet_ticks + 1)),
            If(~receiver.idle, quiet_ticks.eq(0)),
            If(
                (fifo.level == 0) & ~self._stores,
                due.eq(0),
            ).Elif(
                (self._stores & flagged)
                | (receiver.ticks.tick & (end != 0) & (quiet_ticks + 1 == end)),
                due.eq(1),
            ),
        ]

    def _add_counters(self) -> None:
        """Count events up to all ones; one in the cycle of a read is for the next read."""
        receiver, full = self.receiver, self.receive_fifo.full
        character = receiver.valid & ~receiver.is_break
        events = {
            "received": self._stores & character & ~full,
            "transmitted": self.transmitter.ready & ~self.transmitter.is_break,
            "overruns": self._stores & full,
            "framing": character & receiver.framing,
            "parity": character & receiver.parity,
            "breaks": receiver.valid & receiver.is_break,
            "lost": self.transmit_fifo.lost,
            "xoffs": self.control.xoff,
        }
        for name, counter in self.counters.items():
            event, count = events[name], counter.status
            most = (1 << counter.size) - 1
            self.sync += If(counter.we, count.eq(event)).Elif(
                event & (count != most), count.eq(count + 1)
            )
