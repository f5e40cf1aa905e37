"""All serial ports of a SoC in one block."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from litex.gen import LiteXModule
from litex.soc.interconnect.csr import CSRField, CSRStatus
from litex.soc.interconnect.csr_bus import CSRBank
from migen import Cat, Mux, Record, Signal, log2_int
from migen.genlib.cdc import MultiReg

from ..map import CSR_PAGE_BYTES
from .params import MAX_PORTS, SerialParams, baud_range
from .port import BREAK_MAX_BITS, SerialPort
from .registers import TIMEOUT_BITS

#: Cycles from a change of a receive pin to that of the line that the receiver sees.
LINE_LATENCY_CYCLES = 3


class SerialPorts(LiteXModule):
    """1 to 16 serial ports that know one clock and are asked with one read which of them call.

    ``pads`` is a record for each port: ``tx`` and ``rx``, and ``rts_n`` and ``cts_n`` where there
    are such pins; otherwise CTS counts as asserted. A change of a receive pin that lasts one cycle
    is not seen. Each port has a line of its own in ``irqs``, the or of its events that are enabled.
    The registers of the ports follow each other at equal distances, behind those of the block.

    The ports decode their addresses themselves: whoever makes LiteX's bank of the block's registers
    adds the statements of ``listen``. Their Verilog is in the files ``port.SOURCES``.
    """

    def __init__(self, pads: Sequence[Record], params: SerialParams) -> None:
        if len(pads) != params.ports:
            raise ValueError(f"pads must be for {params.ports} ports, not for {len(pads)}")
        self.pending = CSRStatus(
            fields=[
                CSRField("receive", MAX_PORTS, description="Receive events, bit k of port k."),
                CSRField("transmit", MAX_PORTS, description="Transmit events, likewise."),
            ],
            description="The events receive and transmit of all ports that are pending and"
            " enabled.",
        )
        self.cycle = CSRStatus(
            32, description="Cycles since reset, modulo 2**32: what stamps count by."
        )
        self.params = params
        #: Lines of the ports.
        self.irqs = irqs = [Signal() for _ in range(params.ports)]
        self._read = Signal()
        self._write = Signal()
        self._address = Signal(9)
        self._write_data = Signal(32)

        line_cycle = Signal(32, reset=-LINE_LATENCY_CYCLES & 0xFFFF_FFFF)
        self.sync += line_cycle.eq(line_cycle + 1)
        self.comb += self.cycle.status.eq(line_cycle + LINE_LATENCY_CYCLES)
        read_data = Signal(32)
        self.ports = ports = [SerialPort(params, read_data) for _ in pads]
        for index, port in enumerate(ports):
            setattr(self, f"port{index}", port)
            self.comb += [irqs[index].eq(port.irq), port.line_cycle.eq(line_cycle)]
        self._add_pins(pads)
        self._add_access(read_data)
        self.comb += [
            self.pending.fields.receive.eq(Cat(*(port.receive_pending for port in ports))),
            self.pending.fields.transmit.eq(Cat(*(port.transmit_pending for port in ports))),
        ]

    def _add_pins(self, pads: Sequence[Record]) -> None:
        ports = self.ports
        count = len(ports)
        ones = (1 << count) - 1
        pins = Signal(count)
        synchronised = Signal(count)
        before = Signal(count, reset=ones)
        earlier = Signal(count, reset=ones)
        lines = Signal(count)
        self.specials += MultiReg(pins, synchronised, reset=ones)
        self.sync += [before.eq(synchronised), earlier.eq(before)]
        # Without spikes of a cycle.
        self.comb += lines.eq(
            (synchronised & before) | (before & earlier) | (synchronised & earlier)
        )
        for index, (port, pad) in enumerate(zip(ports, pads, strict=True)):
            self.comb += [
                pins[index].eq(Mux(port.loop_back, port.sent, pad.rx)),
                port.line.eq(lines[index]),
                pad.tx.eq(port.sent | port.loop_back),
            ]
            if hasattr(pad, "rts_n"):
                self.comb += pad.rts_n.eq(~port.rts)
            if hasattr(pad, "cts_n"):
                cts_n = Signal()
                self.specials += MultiReg(pad.cts_n, cts_n)
                self.comb += port.cts.eq(~cts_n)
            else:
                self.comb += port.cts.eq(1)

    def _add_access(self, read_data: Signal) -> None:
        first = len(self.get_csrs()) - sum(len(port.get_csrs()) for port in self.ports)
        stride = len(self.ports[0].get_csrs())
        for index, port in enumerate(self.ports):
            base = first + index * stride
            chosen = Signal()
            self.comb += [
                # Beside the subtraction, not behind it: the address comes late.
                chosen.eq((self._address >= base) & (self._address < base + stride)),
                port.read.eq(self._read & chosen),
                port.write.eq(self._write & chosen),
                port.address.eq(self._address - base),
                port.write_data.eq(self._write_data),
            ]
        self.comb += read_data.eq(reduce(or_, (port.read_data for port in self.ports)))

    def listen(self, bank: CSRBank, address: int, *, paging: int = CSR_PAGE_BYTES) -> list:
        """Statements that give the ports the accesses on the bus of the bank.

        ``address`` is the bank's: the number of its page, of so many bytes as LiteX calls the
        SoC's ``paging``. Raises ``ValueError`` for pages that are too small for the registers.
        """
        needed = 4 * len(self.get_csrs())
        if paging < needed:
            raise ValueError(
                f"paging must be at least {needed} bytes for {self.params.ports} ports,"
                f" not {paging!r}"
            )
        bus = bank.bus
        page_bits = log2_int(paging // 4)
        bits = min(page_bits, len(self._address))
        chosen = bus.adr[bits:] == address << (page_bits - bits)
        return [
            self._read.eq(bus.re & chosen),
            self._write.eq(bus.we & chosen),
            self._address.eq(bus.adr[:bits]),
            self._write_data.eq(bus.dat_w),
        ]

    def constants(self) -> dict[str, int]:
        """Name and value of the constants for C."""
        return {
            "SERIAL_STRIDE_BYTES": 4 * len(self.ports[0].get_csrs()),
            "SERIAL_BAUD": self.params.baud,
            "SERIAL_BAUD_MIN": baud_range(self.params.sys_clk_hz)[0],
            "SERIAL_BAUD_MAX": baud_range(self.params.sys_clk_hz)[1],
            "SERIAL_RECEIVE_DEPTH": self.params.receive_depth,
            "SERIAL_TRANSMIT_DEPTH": self.params.transmit_depth,
            "SERIAL_TIMEOUT_MAX_BITS": (1 << TIMEOUT_BITS) - 1,
            "SERIAL_BREAK_MAX_BITS": BREAK_MAX_BITS,
        }
