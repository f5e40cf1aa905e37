"""Memory that takes whole words only, for want of pins that mask bytes."""

from __future__ import annotations

from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import FSM, Cat, If, Mux, NextState, NextValue, Signal

_BYTE_BITS = 8


class WholeWords(LiteXModule):
    """In front of such a memory: a store of some bytes of a word reads the others before.

    ``memory`` is the way to it, ``bus`` what takes its place. Of two ways to one memory the second
    names the first: their stores wait for each other, so that none is undone by what the other has
    read before, and the first goes first. A store of a whole word takes a cycle more than without
    this, one of bytes as much as a load and a store; a load takes what it did. A store that its
    master gives up is made all the same, and nobody is told that it has been.
    """

    def __init__(self, memory: wishbone.Interface, first: WholeWords | None = None) -> None:
        self.bus = bus = wishbone.Interface.like(memory)
        #: Whether there is a store to be made, and whether it is being made.
        self.stores = Signal()
        self.busy = Signal()
        #: Whether the other way's store is to be waited for.
        self.held = Signal()
        if first is not None:
            self.comb += [self.held.eq(first.busy | first.stores), first.held.eq(self.busy)]

        every = 2 ** len(bus.sel) - 1
        # Of the store that is being made; whether its master still asks for it.
        merged = Signal.like(bus.dat_w)
        address = Signal.like(bus.adr)
        chosen = Signal.like(bus.sel)
        given_up = Signal()
        asks = Signal()
        lanes = []
        for lane, mine in enumerate(chosen):
            byte = slice(_BYTE_BITS * lane, _BYTE_BITS * (lane + 1))
            lanes.append(Mux(mine, merged[byte], memory.dat_r[byte]))
        self.comb += [
            self.stores.eq(bus.cyc & bus.stb & bus.we),
            asks.eq(self.stores & (bus.adr == address) & ~given_up),
            memory.adr.eq(Mux(self.busy, address, bus.adr)),
            memory.dat_w.eq(merged),
            memory.sel.eq(every),
            bus.dat_r.eq(memory.dat_r),
        ]
        self.fsm = fsm = FSM(reset_state="IDLE")
        fsm.act(
            "IDLE",
            NextValue(merged, bus.dat_w),
            NextValue(address, bus.adr),
            NextValue(chosen, bus.sel),
            NextValue(given_up, 0),
            If(
                self.stores,
                If(~self.held & (bus.sel == every), NextState("STORE")),
                If(~self.held & (bus.sel != every), NextState("LOAD")),
            ).Else(
                memory.cyc.eq(bus.cyc),
                memory.stb.eq(bus.stb),
                memory.cti.eq(bus.cti),
                memory.bte.eq(bus.bte),
                bus.ack.eq(memory.ack),
                bus.err.eq(memory.err),
            ),
        )
        fsm.act(
            "LOAD",
            self.busy.eq(1),
            memory.cyc.eq(1),
            memory.stb.eq(1),
            NextValue(given_up, ~asks),
            NextValue(merged, Cat(*lanes)),
            If(memory.ack, NextState("STORE")),
        )
        fsm.act(
            "STORE",
            self.busy.eq(1),
            memory.cyc.eq(1),
            memory.stb.eq(1),
            memory.we.eq(1),
            NextValue(given_up, ~asks),
            bus.ack.eq(memory.ack & asks),
            If(memory.ack, NextState("IDLE")),
        )
