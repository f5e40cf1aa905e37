"""From the core's memory port to a port of LiteDRAM."""

from __future__ import annotations

from litedram.common import LiteDRAMNativePort
from litex.gen import LiteXModule
from litex.soc.interconnect import stream, wishbone
from migen import FSM, If, Mux, NextState, NextValue, Replicate, Signal

from tierv.rtl.cache.port import Cycle

WORD_BITS = 32


class LineReader(LiteXModule):
    """Answer a Wishbone bus of 32 bits from memory whose words may be wider.

    A burst from the beginning of a line on (``Cycle.INCREMENTING``) is asked for at once, and
    acknowledged as its words come; other accesses are made one by one. ``base`` is the address of
    the memory in bytes. Raises ``ValueError`` for a port of fewer than 32 bits or wider than a
    line.
    """

    def __init__(
        self, bus: wishbone.Interface, port: LiteDRAMNativePort, *, base: int, line_bytes: int
    ) -> None:
        width = port.data_width
        if not WORD_BITS <= width <= 8 * line_bytes:
            raise ValueError(
                f"data_width of the memory must be from {WORD_BITS} to {8 * line_bytes} bits for"
                f" lines of {line_bytes} bytes, not {width!r}"
            )
        lanes = width // WORD_BITS
        lane_bits = lanes.bit_length() - 1
        beats = 8 * line_bytes // width

        lane = bus.adr[:lane_bits] if lane_bits else 0
        burst = Signal()
        begins = Signal()
        asked = Signal(max=beats + 1)
        self.words = words = stream.SyncFIFO([("data", width)], depth=max(beats, 2))
        self.comb += [
            begins.eq(bus.cyc & bus.stb),
            port.cmd.addr.eq((bus.adr - base // 4)[lane_bits:]),
            port.cmd.last.eq(~bus.we),
            port.wdata.data.eq(Replicate(bus.dat_w, lanes)),
            port.wdata.we.eq(bus.sel << (4 * lane)),
            port.rdata.ready.eq(1),
            words.sink.valid.eq(port.rdata.valid),
            words.sink.data.eq(port.rdata.data),
            bus.dat_r.eq(words.source.data >> (WORD_BITS * lane)),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act(
            "IDLE",
            NextValue(asked, 0),
            NextValue(burst, bus.cti == Cycle.INCREMENTING),
            If(begins & bus.we, NextState("WRITE")).Elif(begins, NextState("READ")),
        )
        fsm.act(
            "WRITE",
            port.cmd.valid.eq(1),
            port.cmd.we.eq(1),
            If(port.cmd.ready, NextState("DATA")),
        )
        fsm.act(
            "DATA",
            port.wdata.valid.eq(1),
            If(port.wdata.ready, bus.ack.eq(1), NextState("IDLE")),
        )
        # The address moves on with the words that are acknowledged.
        first = Signal.like(port.cmd.addr)
        last_lane = 1 if lane_bits == 0 else lane == lanes - 1
        fsm.act(
            "READ",
            port.cmd.valid.eq(asked != Mux(burst, beats, 1)),
            If(asked == 0, NextValue(first, port.cmd.addr)).Else(port.cmd.addr.eq(first + asked)),
            If(port.cmd.valid & port.cmd.ready, NextValue(asked, asked + 1)),
            bus.ack.eq(words.source.valid),
            words.source.ready.eq(~burst | last_lane),
            If(bus.ack & (~burst | (bus.cti != Cycle.INCREMENTING)), NextState("IDLE")),
        )
