"""System bus access of the debug module: memory and devices, while the tiers run on."""

from amaranth.hdl import C, Cat, Module, Mux, Signal
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from ..wishbone import master_ports

#: sbversion 1; sbasize 32; accesses of 8, 16 and 32 bits.
_SBCS_FIXED = 1 << 29 | 32 << 5 | 0b111
_RESET_ACCESS = 2


class BusError(enum.Enum, shape=3):
    """sberror of sbcs."""

    NONE = 0
    TIMEOUT = 1
    ADDRESS = 2
    ALIGNMENT = 3
    SIZE = 4


class SystemBus(wiring.Component):
    """sbcs, sbaddress0 and sbdata0 (Debug Support 0.13.2, sections 3.14.18, 19 and 23).

    One Wishbone B4 classic cycle for each access, word addresses, bytes in their lanes. An error
    on the bus is a bad address.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                #: 0: all registers are as after reset, once what is on the bus has ended.
                "active": In(1),
                #: Pulses: the register is written with `write_data`, or has been read.
                "writes_sbcs": In(1),
                "writes_sbaddress0": In(1),
                "writes_sbdata0": In(1),
                "reads_sbdata0": In(1),
                "write_data": In(32),
                "sbcs": Out(32),
                "sbaddress0": Out(32),
                "sbdata0": Out(32),
                **master_ports("wb_"),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        data = self.write_data
        busy_error = Signal()
        busy = Signal()
        writes = Signal()
        read_on_address = Signal()
        size = Signal(3, init=_RESET_ACCESS)
        increment = Signal()
        read_on_data = Signal()
        error = Signal(BusError)
        address = self.sbaddress0
        value = self.sbdata0

        m.d.comb += self.sbcs.eq(
            Cat(C(0, 12), error, read_on_data, increment, size, read_on_address, busy, busy_error)
            | _SBCS_FIXED
        )
        able = ~busy_error & (error == BusError.NONE)
        touches = self.writes_sbaddress0 | self.writes_sbdata0 | self.reads_sbdata0
        begins = Signal()
        m.d.comb += begins.eq(
            ~busy
            & able
            & (
                (self.writes_sbaddress0 & read_on_address)
                | self.writes_sbdata0
                | (self.reads_sbdata0 & read_on_data)
            )
        )
        target = Mux(self.writes_sbaddress0, data, address)
        misaligned = ((size == 1) & target[0]) | ((size == 2) & (target[:2] != 0))

        with m.If(busy & touches):
            m.d.sync += busy_error.eq(1)
        with m.If(self.writes_sbcs):
            m.d.sync += [
                busy_error.eq(busy_error & ~data[22]),
                read_on_address.eq(data[20]),
                size.eq(data[17:20]),
                increment.eq(data[16]),
                read_on_data.eq(data[15]),
                error.eq(error.as_value() & ~data[12:15]),
            ]
        with m.If(~busy & self.writes_sbaddress0):
            m.d.sync += address.eq(data)
        with m.If(~busy & able & self.writes_sbdata0):
            m.d.sync += value.eq(data)
        with m.If(begins):
            with m.If(size > 2):
                m.d.sync += error.eq(BusError.SIZE)
            with m.Elif(misaligned):
                m.d.sync += error.eq(BusError.ALIGNMENT)
            with m.Else():
                m.d.sync += [busy.eq(1), writes.eq(self.writes_sbdata0)]

        lanes = Mux(size == 0, 0b0001, Mux(size == 1, 0b0011, 0b1111))
        m.d.comb += [
            self.wb_cyc.eq(busy),
            self.wb_stb.eq(busy),
            self.wb_we.eq(writes),
            self.wb_adr.eq(address[2:]),
            self.wb_sel.eq(lanes << address[:2]),
        ]
        with m.Switch(size):
            with m.Case(0):
                m.d.comb += self.wb_dat_w.eq(value[:8].replicate(4))
            with m.Case(1):
                m.d.comb += self.wb_dat_w.eq(value[:16].replicate(2))
            with m.Default():
                m.d.comb += self.wb_dat_w.eq(value)
        ends = busy & (self.wb_ack | self.wb_err)
        with m.If(ends):
            m.d.sync += busy.eq(0)
            with m.If(self.wb_err):
                m.d.sync += error.eq(BusError.ADDRESS)
            with m.Else():
                with m.If(~writes):
                    m.d.sync += value.eq(self.wb_dat_r >> (address[:2] << 3))
                with m.If(increment):
                    m.d.sync += address.eq(address + (C(1, 3) << size[:2]))
        # What is on the bus must not change, and needs the registers.
        reset_due = Signal()
        m.d.sync += reset_due.eq((~self.active | reset_due) & busy & ~ends)
        with m.If((~self.active | reset_due) & (~busy | ends)):
            m.d.sync += [
                busy_error.eq(0),
                read_on_address.eq(0),
                size.eq(_RESET_ACCESS),
                increment.eq(0),
                read_on_data.eq(0),
                error.eq(BusError.NONE),
                address.eq(0),
                value.eq(0),
            ]
        return m
