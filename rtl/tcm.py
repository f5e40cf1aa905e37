"""Tightly coupled memory: a local port for the core, a Wishbone port for everyone else."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .util import pick


class TightlyCoupledMemory(wiring.Component):
    """True dual-port memory of 32-bit words in ``columns`` columns side by side.

    The local port reads a whole row (all columns) and writes bytes of it; data follows a cycle
    after the address. The Wishbone port (B4 classic, or pipelined and never stalled; word
    addresses) acknowledges in the cycle after the request and never delays the local port. Reading
    a word on one port in the cycle in which the other one writes it gives either value.
    """

    def __init__(self, *, size_bytes: int, columns: int = 1, pipelined: bool = False) -> None:
        self._columns = columns
        self._pipelined = pipelined
        self._rows = size_bytes // (4 * columns)
        row_bits = (self._rows - 1).bit_length()
        super().__init__(
            {
                "address": In(row_bits),
                "write_mask": In(4 * columns),
                "write_data": In(32 * columns),
                "read_data": Out(32 * columns),
                "wb_cyc": In(1),
                "wb_stb": In(1),
                "wb_we": In(1),
                "wb_adr": In(30),
                "wb_sel": In(4),
                "wb_dat_w": In(32),
                "wb_dat_r": Out(32),
                "wb_ack": Out(1),
            }
        )

    def bus_selects(self) -> Value:
        """Whether an access of the Wishbone port begins."""
        begins = self.wb_cyc & self.wb_stb
        return begins if self._pipelined else begins & ~self.wb_ack

    def elaborate(self, platform) -> Module:
        m = Module()
        columns = self._columns
        column_bits = (columns - 1).bit_length()
        selected = self.bus_selects()
        column = Signal(range(max(columns, 2)))
        column_read = Signal.like(column)
        m.d.comb += column.eq(self.wb_adr[:column_bits])
        m.d.sync += [self.wb_ack.eq(selected), column_read.eq(column)]

        words = []
        for index in range(columns):
            memory = Memory(shape=32, depth=self._rows, init=[], attrs={"no_rw_check": 1})
            m.submodules[f"column{index}"] = memory
            local_read = memory.read_port()
            local_write = memory.write_port(granularity=8)
            bus_read = memory.read_port()
            bus_write = memory.write_port(granularity=8)
            here = selected & self.wb_we & (column == index)
            m.d.comb += [
                local_read.addr.eq(self.address),
                local_write.addr.eq(self.address),
                local_write.data.eq(self.write_data.word_select(index, 32)),
                local_write.en.eq(self.write_mask.word_select(index, 4)),
                bus_read.addr.eq(self.wb_adr[column_bits:]),
                bus_write.addr.eq(self.wb_adr[column_bits:]),
                bus_write.data.eq(self.wb_dat_w),
                bus_write.en.eq(here.replicate(4) & self.wb_sel),
            ]
            m.d.comb += self.read_data.word_select(index, 32).eq(local_read.data)
            words.append(bus_read.data)
        m.d.comb += self.wb_dat_r.eq(pick(words, column_read))
        return m
