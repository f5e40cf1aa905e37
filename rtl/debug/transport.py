"""The JTAG debug transport module (RISC-V External Debug Support 0.13.2, chapter 6)."""

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from .module import DMI_ADDRESS_BITS

#: IDCODE: version 1, part 0x7E7, no manufacturer's number (bank 1, 0x7F is not used by JEP106).
IDCODE = 1 << 28 | 0x07E7 << 12 | 0x7F << 1 | 1
INSTRUCTION_BITS = 5
#: dtmcs: idle cycles that a debugger should leave after a scan of dmi; version 0.13.
_DTMCS = 1 << 12 | DMI_ADDRESS_BITS << 4 | 1
_DMI_BITS = DMI_ADDRESS_BITS + 34


class Instruction(enum.IntEnum):
    """Instructions of the TAP; any other one is BYPASS."""

    IDCODE = 0x01
    DTMCS = 0x10
    DMI = 0x11


class TapState(enum.Enum, shape=4):
    """States of IEEE 1149.1, figure 6-1."""

    RESET = 0
    IDLE = 1
    SELECT_DR = 2
    CAPTURE_DR = 3
    SHIFT_DR = 4
    EXIT1_DR = 5
    PAUSE_DR = 6
    EXIT2_DR = 7
    UPDATE_DR = 8
    SELECT_IR = 9
    CAPTURE_IR = 10
    SHIFT_IR = 11
    EXIT1_IR = 12
    PAUSE_IR = 13
    EXIT2_IR = 14
    UPDATE_IR = 15


#: Where a rising edge of TCK leads: with TMS 0, with TMS 1.
_NEXT = {
    TapState.RESET: (TapState.IDLE, TapState.RESET),
    TapState.IDLE: (TapState.IDLE, TapState.SELECT_DR),
    TapState.SELECT_DR: (TapState.CAPTURE_DR, TapState.SELECT_IR),
    TapState.CAPTURE_DR: (TapState.SHIFT_DR, TapState.EXIT1_DR),
    TapState.SHIFT_DR: (TapState.SHIFT_DR, TapState.EXIT1_DR),
    TapState.EXIT1_DR: (TapState.PAUSE_DR, TapState.UPDATE_DR),
    TapState.PAUSE_DR: (TapState.PAUSE_DR, TapState.EXIT2_DR),
    TapState.EXIT2_DR: (TapState.SHIFT_DR, TapState.UPDATE_DR),
    TapState.UPDATE_DR: (TapState.IDLE, TapState.SELECT_DR),
    TapState.SELECT_IR: (TapState.CAPTURE_IR, TapState.RESET),
    TapState.CAPTURE_IR: (TapState.SHIFT_IR, TapState.EXIT1_IR),
    TapState.SHIFT_IR: (TapState.SHIFT_IR, TapState.EXIT1_IR),
    TapState.EXIT1_IR: (TapState.PAUSE_IR, TapState.UPDATE_IR),
    TapState.PAUSE_IR: (TapState.PAUSE_IR, TapState.EXIT2_IR),
    TapState.EXIT2_IR: (TapState.SHIFT_IR, TapState.UPDATE_IR),
    TapState.UPDATE_IR: (TapState.IDLE, TapState.SELECT_DR),
}


class DebugTransport(wiring.Component):
    """dtmcs and dmi, as data registers of whatever TAP selects them.

    All inputs are synchronous to the clock. A request goes to the debug module as dmi is updated,
    and its answer is there in the same cycle: dmi is never busy, no operation fails, and dmistat is
    always 0.
    """

    #: Pulses in the states Capture-DR, Shift-DR and Update-DR of the register that is selected.
    capture: In(1)
    shift: In(1)
    update: In(1)
    #: dmi is selected, else dtmcs.
    selects_dmi: In(1)
    tdi: In(1)
    tdo: Out(1)
    #: A pulse, and what the debug module answers to it.
    dmi_valid: Out(1)
    dmi_write: Out(1)
    dmi_address: Out(DMI_ADDRESS_BITS)
    dmi_write_data: Out(32)
    dmi_read_data: In(32)

    def elaborate(self, platform) -> Module:
        m = Module()
        # Both registers shift in this one.
        shifter = Signal(_DMI_BITS)
        address = Signal(DMI_ADDRESS_BITS)
        answer = Signal(32)
        operation = shifter[:2]
        m.d.comb += [
            self.tdo.eq(shifter[0]),
            self.dmi_valid.eq(
                self.update & self.selects_dmi & ((operation == 1) | (operation == 2))
            ),
            self.dmi_write.eq(operation == 2),
            self.dmi_address.eq(shifter[34:]),
            self.dmi_write_data.eq(shifter[2:34]),
        ]
        with m.If(self.dmi_valid):
            m.d.sync += [
                address.eq(self.dmi_address),
                answer.eq(Mux(self.dmi_write, self.dmi_write_data, self.dmi_read_data)),
            ]
        with m.If(self.capture):
            m.d.sync += shifter.eq(Mux(self.selects_dmi, Cat(C(0, 2), answer, address), _DTMCS))
        with m.Elif(self.shift):
            m.d.sync += shifter.eq(
                Mux(
                    self.selects_dmi,
                    Cat(shifter[1:], self.tdi),
                    Cat(shifter[1:32], self.tdi),
                )
            )
        return m


class JtagTap(wiring.Component):
    """A TAP on four pins: IDCODE, BYPASS, and the data registers of the debug transport.

    The pins are sampled by the clock, of which a cycle of TCK must have eight at the least. TDO
    changes within three cycles after TCK has fallen.
    """

    tck: In(1)
    tms: In(1)
    tdi: In(1)
    tdo: Out(1)
    # To the debug transport.
    capture: Out(1)
    shift: Out(1)
    update: Out(1)
    selects_dmi: Out(1)
    register_tdi: Out(1)
    register_tdo: In(1)

    def elaborate(self, platform) -> Module:
        m = Module()
        pins = Signal(3)
        tms, tdi = pins[1], pins[2]
        m.submodules.pins = FFSynchronizer(Cat(self.tck, self.tms, self.tdi), pins)
        before = Signal()
        rises = Signal()
        falls = Signal()
        m.d.sync += before.eq(pins[0])
        m.d.comb += [rises.eq(pins[0] & ~before), falls.eq(~pins[0] & before)]

        state = Signal(TapState)
        instruction = Signal(INSTRUCTION_BITS, init=Instruction.IDCODE)
        shifted = Signal(INSTRUCTION_BITS)
        # IDCODE; its bit 0 is also that of BYPASS.
        identity = Signal(32)
        in_transport = (instruction == Instruction.DTMCS) | (instruction == Instruction.DMI)
        own: Value = instruction == Instruction.IDCODE

        with m.If(rises):
            with m.Switch(state):
                for here, (on_0, on_1) in _NEXT.items():
                    with m.Case(here):
                        m.d.sync += state.eq(Mux(tms, on_1, on_0))
            with m.Switch(state):
                with m.Case(TapState.RESET):
                    m.d.sync += instruction.eq(Instruction.IDCODE)
                with m.Case(TapState.CAPTURE_IR):
                    m.d.sync += shifted.eq(1)
                with m.Case(TapState.SHIFT_IR):
                    m.d.sync += shifted.eq(Cat(shifted[1:], tdi))
                with m.Case(TapState.CAPTURE_DR):
                    m.d.sync += identity.eq(Mux(own, IDCODE, 0))
                with m.Case(TapState.SHIFT_DR):
                    m.d.sync += identity.eq(Mux(own, Cat(identity[1:], tdi), tdi))
        with m.If(falls):
            with m.If(state == TapState.UPDATE_IR):
                m.d.sync += instruction.eq(shifted)
            m.d.sync += self.tdo.eq(
                Mux(
                    state == TapState.SHIFT_IR,
                    shifted[0],
                    Mux(in_transport, self.register_tdo, identity[0]),
                )
            )
        m.d.comb += [
            self.capture.eq(rises & in_transport & (state == TapState.CAPTURE_DR)),
            self.shift.eq(rises & in_transport & (state == TapState.SHIFT_DR)),
            self.update.eq(falls & in_transport & (state == TapState.UPDATE_DR)),
            self.selects_dmi.eq(instruction == Instruction.DMI),
            self.register_tdi.eq(tdi),
        ]
        return m
