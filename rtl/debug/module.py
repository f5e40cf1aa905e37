"""The debug module (RISC-V External Debug Support 0.13.2, chapter 3)."""

from __future__ import annotations

from amaranth.hdl import C, Cat, Module, Mux, Signal, Value
from amaranth.lib import enum, wiring
from amaranth.lib.wiring import In, Out

from ..isa import EBREAK, debug_csr_addresses
from ..params import CoreParams
from ..util import bit, join_ports, one_hot
from ..wishbone import master_ports
from .layout import PROGRAM_BUFFER_WORDS, debug_members
from .system_bus import SystemBus

DMI_ADDRESS_BITS = 7
NOP = 0x0000_0013
#: CSR instructions of the transfers, without registers.
_CSRRW = 0x0000_1073
_CSRRS = 0x0000_2073
#: The first register number of the abstract commands' general registers; there are 32.
_FIRST_REGISTER = 0x1000
#: Bits of hartsel that can be set: one more than the tiers need, so that some are nobody's.
HARTSEL_BITS = 4
_VERSION_0_13 = 2


class Dmi(enum.IntEnum):
    """Addresses of the registers (section 3.14; dmcs2 as in version 1.0, section 3.14.17)."""

    DATA0 = 0x04
    DMCONTROL = 0x10
    DMSTATUS = 0x11
    HARTINFO = 0x12
    ABSTRACTCS = 0x16
    COMMAND = 0x17
    ABSTRACTAUTO = 0x18
    PROGBUF0 = 0x20
    DMCS2 = 0x32
    SBCS = 0x38
    SBADDRESS0 = 0x39
    SBDATA0 = 0x3C
    HALTSUM0 = 0x40


class CommandError(enum.Enum, shape=3):
    """cmderr of abstractcs."""

    NONE = 0
    BUSY = 1
    NOT_SUPPORTED = 2
    EXCEPTION = 3
    HALT_RESUME = 4


#: The registers that the system bus unit has.
BUS_REGISTERS = (Dmi.SBCS, Dmi.SBADDRESS0, Dmi.SBDATA0)


class DebugModule(wiring.Component):
    """Halts, resumes and looks at the tiers, each a hart, and reaches the bus beside them.

    Abstract commands access general registers of a halted tier, which runs a transfer between the
    register and mdebugdata for it; anything else is the program buffer's. The answer on the DMI
    comes in the cycle of the request, so that the DMI is never busy.
    """

    def __init__(self, params: CoreParams) -> None:
        self._params = params
        members = {
            name.removeprefix("debug_"): member.flip()
            for name, member in debug_members(params).items()
        }
        super().__init__(
            members
            | {
                #: A pulse with address and, if it is a write, data; `dmi_read_data` in that cycle.
                "dmi_valid": In(1),
                "dmi_write": In(1),
                "dmi_address": In(DMI_ADDRESS_BITS),
                "dmi_write_data": In(32),
                "dmi_read_data": Out(32),
                #: Reset of everything else.
                "ndmreset": Out(1),
                **master_ports("wb_"),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        self._active = Signal()
        # Everything but dmactive is as after reset while it is 0.
        self._writes = Signal()
        self._reads = Signal()
        m.d.comb += [
            self._writes.eq(self.dmi_valid & self.dmi_write & self._active),
            self._reads.eq(self.dmi_valid & ~self.dmi_write & self._active),
        ]
        with m.If(self.dmi_valid & self.dmi_write & (self.dmi_address == Dmi.DMCONTROL)):
            m.d.sync += self._active.eq(self.dmi_write_data[0])

        readable: dict[Dmi, Value] = {}
        self._harts(m, readable)
        self._commands(m, readable)
        self._system_bus(m, readable)
        readable[Dmi.HALTSUM0] = self.halted
        with m.If(self._active):
            with m.Switch(self.dmi_address):
                for address, value in readable.items():
                    with m.Case(address):
                        m.d.comb += self.dmi_read_data.eq(value)
        return m

    def _written(self, address: Dmi) -> Value:
        return self._writes & (self.dmi_address == address)

    def _harts(self, m: Module, readable: dict[Dmi, Value]) -> None:
        """dmcontrol, dmstatus, hartinfo, dmcs2."""
        tiers = self._params.tiers
        data = self.dmi_write_data
        hartsel = Signal(HARTSEL_BITS)
        new_hartsel = data[16 : 16 + HARTSEL_BITS]
        ndmreset = Signal()
        wanted = Signal(tiers)
        grouped = Signal(tiers)
        halted_before = Signal(tiers)
        group_halt = Signal(tiers)
        have_reset = Signal(tiers, init=(1 << tiers) - 1)
        acknowledged = Signal(tiers)
        resuming = Signal(tiers)
        chosen = Signal(tiers)
        named = Signal(tiers)
        m.d.comb += [
            self.ndmreset.eq(ndmreset),
            named.eq(one_hot(hartsel, tiers)),
            chosen.eq(one_hot(new_hartsel, tiers)),
        ]
        with m.If(self.came_from_reset):
            m.d.sync += have_reset.eq((1 << tiers) - 1)
        m.d.sync += acknowledged.eq(acknowledged | self.resumed)
        with m.If(self._written(Dmi.DMCONTROL)):
            m.d.sync += [hartsel.eq(new_hartsel), ndmreset.eq(data[1])]
            with m.If(data[31]):
                m.d.sync += wanted.eq(wanted | chosen)
            with m.Else():
                m.d.sync += wanted.eq(wanted & ~chosen)
                with m.If(data[30]):
                    m.d.comb += resuming.eq(chosen & self.halted)
                    m.d.sync += acknowledged.eq((acknowledged | self.resumed) & ~chosen)
            with m.If(data[28]):
                m.d.sync += have_reset.eq(have_reset & ~chosen)
            with m.If(data[2]):
                m.d.sync += self.reset_halt.eq(self.reset_halt & ~chosen)
            with m.Elif(data[3]):
                m.d.sync += self.reset_halt.eq(self.reset_halt | chosen)
        m.d.comb += [self.resume.eq(resuming), self.halt.eq(wanted | group_halt)]

        # A group: when one of its tiers halts, so do the others. There is one, besides 0, and none
        # for resuming.
        known = (data[3:7] == 0) & ~data[11]
        with m.If(self._written(Dmi.DMCS2) & data[1] & ~data[0] & known):
            m.d.sync += grouped.eq(Mux(data[2], grouped | named, grouped & ~named))
        halts = Signal(tiers)
        # One that has been told to resume will run, though it is still halted.
        leaving = Signal(tiers)
        stays = Signal(tiers)
        m.d.comb += [
            halts.eq(self.halted & ~halted_before),
            stays.eq(self.halted & ~leaving & ~resuming),
        ]
        m.d.sync += [
            halted_before.eq(self.halted),
            leaving.eq((leaving | resuming) & ~self.resumed),
            group_halt.eq((group_halt | Mux((halts & grouped).any(), grouped, 0)) & ~stays),
        ]
        with m.If(self.came_from_reset):
            m.d.sync += leaving.eq(0)
        with m.If(~self._active):
            state = (hartsel, ndmreset, wanted, grouped, leaving, group_halt, self.reset_halt)
            m.d.sync += [signal.eq(0) for signal in (*state, acknowledged)]

        exists = hartsel < tiers

        def of_hart(vector: Value) -> Value:
            # The only hart that can be selected is both any and all.
            return bit(Cat(vector, C(0, (1 << HARTSEL_BITS) - tiers)), hartsel).replicate(2)

        readable[Dmi.DMCONTROL] = Cat(
            self._active, ndmreset, C(0, 14), hartsel, C(0, 32 - 16 - HARTSEL_BITS)
        )
        readable[Dmi.DMSTATUS] = Cat(
            C(_VERSION_0_13, 4),
            C(0, 1),
            # hasresethaltreq; authbusy; authenticated.
            C(0b101, 3),
            of_hart(self.halted),
            of_hart(~self.halted),
            C(0, 2),
            (~exists).replicate(2),
            of_hart(acknowledged),
            of_hart(have_reset),
            C(0, 2),
            # impebreak.
            C(1, 1),
        )
        # The data register is one CSR.
        readable[Dmi.HARTINFO] = C(1 << 12 | debug_csr_addresses()["mdebugdata"], 32)
        readable[Dmi.DMCS2] = Mux((grouped & named).any(), 1 << 2, 0)
        self._named, self._exists = named, exists

    def _commands(self, m: Module, readable: dict[Dmi, Value]) -> None:
        """abstractcs, command, abstractauto, data0, progbuf."""
        data = self.dmi_write_data
        address = self.dmi_address
        busy = Signal()
        error = Signal(CommandError)
        data0 = Signal(32)
        program = [Signal(32, name=f"progbuf{n}") for n in range(PROGRAM_BUFFER_WORDS)]
        auto_data = Signal()
        auto_program = Signal(PROGRAM_BUFFER_WORDS)
        command = Signal(32)
        buffers = range(Dmi.PROGBUF0, Dmi.PROGBUF0 + PROGRAM_BUFFER_WORDS)
        at_data0 = address == Dmi.DATA0
        at_program = Cat(address == buffer for buffer in buffers)

        touches = Signal()
        repeats = Signal()
        changes = Signal()
        m.d.comb += [
            touches.eq((self._reads | self._writes) & (at_data0 | at_program.any())),
            repeats.eq(touches & ((at_data0 & auto_data) | (at_program & auto_program).any())),
            changes.eq(
                self._writes
                & (
                    (address == Dmi.COMMAND)
                    | (address == Dmi.ABSTRACTCS)
                    | (address == Dmi.ABSTRACTAUTO)
                )
            ),
        ]
        # The command that begins, and what is wrong with it.
        starts = Signal()
        new = Signal(32)
        m.d.comb += [
            starts.eq(
                ~busy & (error == CommandError.NONE) & (self._written(Dmi.COMMAND) | repeats)
            ),
            new.eq(Mux(repeats, command, data)),
        ]
        transfer = new[17]
        is_register = new[5:16] == _FIRST_REGISTER >> 5
        # aarsize is 2; without a transfer it does not count.
        good = (new[24:] == 0) & ~new[19] & (~transfer | (is_register & (new[20:23] == 2)))
        runs = Signal()
        m.d.comb += [
            runs.eq(starts & good & (self._named & self.halted).any()),
            self.run.eq(Mux(runs, self._named, 0)),
        ]
        with m.If(self._written(Dmi.ABSTRACTCS) & ~busy):
            m.d.sync += error.eq(error.as_value() & ~data[8:11])
        with m.If(self._written(Dmi.ABSTRACTAUTO) & ~busy):
            m.d.sync += [auto_data.eq(data[0]), auto_program.eq(data[16:])]
        with m.If(self._written(Dmi.DATA0) & ~busy):
            m.d.sync += data0.eq(data)
        for place, word in enumerate(program):
            with m.If(self._writes & at_program[place] & ~busy):
                m.d.sync += word.eq(data)
        with m.If(self.data_write):
            m.d.sync += data0.eq(self.data)
        with m.If(starts):
            m.d.sync += command.eq(new)
            with m.If(~good):
                m.d.sync += error.eq(CommandError.NOT_SUPPORTED)
            with m.Elif(~runs):
                m.d.sync += error.eq(CommandError.HALT_RESUME)
            with m.Else():
                m.d.sync += busy.eq(1)
        with m.If(busy & (changes | touches) & (error == CommandError.NONE)):
            m.d.sync += error.eq(CommandError.BUSY)
        # A reset of the core ends what it was to do.
        with m.If(self.done | (busy & self.came_from_reset)):
            m.d.sync += busy.eq(0)
            with m.If((self.failed | self.came_from_reset) & (error == CommandError.NONE)):
                m.d.sync += error.eq(CommandError.EXCEPTION)
        with m.If(~self._active):
            m.d.sync += [error.eq(CommandError.NONE), busy.eq(0), command.eq(0)]
            m.d.sync += [auto_data.eq(0), auto_program.eq(0)]
            m.d.sync += [data0.eq(0), *(word.eq(0) for word in program)]

        csr = debug_csr_addresses()["mdebugdata"]
        transfer_word = Signal(32)
        m.d.comb += [
            transfer_word.eq(
                Mux(
                    command[16],
                    C(_CSRRS | csr << 20, 32) | (command[:5] << 7),
                    C(_CSRRW | csr << 20, 32) | (command[:5] << 15),
                )
            ),
            self.data_read.eq(data0),
        ]
        words = [Mux(command[17], transfer_word, NOP)]
        words += [Mux(command[18], word, EBREAK) for word in program]
        with m.Switch(self.program_index):
            for index, word in enumerate(words):
                with m.Case(index):
                    m.d.comb += self.program_word.eq(word)
            with m.Default():
                m.d.comb += self.program_word.eq(EBREAK)

        readable[Dmi.DATA0] = data0
        readable |= dict(zip(buffers, program, strict=True))
        readable[Dmi.ABSTRACTCS] = Cat(
            C(1, 8), error, C(0, 1), busy, C(0, 11), C(PROGRAM_BUFFER_WORDS, 5)
        )
        readable[Dmi.ABSTRACTAUTO] = Cat(auto_data, C(0, 15), auto_program)

    def _system_bus(self, m: Module, readable: dict[Dmi, Value]) -> None:
        """sbcs, sbaddress0, sbdata0."""
        bus = m.submodules.system_bus = SystemBus()
        m.d.comb += [
            bus.active.eq(self._active),
            bus.write_data.eq(self.dmi_write_data),
            *(
                getattr(bus, f"writes_{address.name.lower()}").eq(self._written(address))
                for address in BUS_REGISTERS
            ),
            bus.reads_sbdata0.eq(self._reads & (self.dmi_address == Dmi.SBDATA0)),
        ]
        join_ports(m, self, bus, {name: name for name in master_ports("wb_")})
        if self._params.has_caches:
            m.d.comb += self.wrote.eq(self.wb_cyc & self.wb_we & self.wb_ack)
        readable |= {
            Dmi.SBCS: bus.sbcs,
            Dmi.SBADDRESS0: bus.sbaddress0,
            Dmi.SBDATA0: bus.sbdata0,
        }
