"""All serial ports of a SoC in one block."""

from __future__ import annotations

from collections.abc import Sequence

from litex.gen import LiteXModule
from litex.soc.interconnect.csr import CSRField, CSRStatus
from migen import Cat, Record, Signal

from .params import MAX_PORTS, SerialParams, baud_range
from .port import SerialPort
from .receiver import LINE_LATENCY_CYCLES
from .registers import TIMEOUT_BITS
from .transmitter import BREAK_MAX_BITS


class SerialPorts(LiteXModule):
    """1 to 16 serial ports that know one clock and are asked with one read which of them call.

    ``pads`` is a record for each port, as ``SerialPort`` wants it. Each port has a line of its own
    in ``irqs``, the or of its events that are enabled. The registers of the ports follow each
    other at equal distances, behind those of the block.
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

        line_cycle = Signal(32, reset=-LINE_LATENCY_CYCLES & 0xFFFF_FFFF)
        self.sync += line_cycle.eq(line_cycle + 1)
        self.comb += self.cycle.status.eq(line_cycle + LINE_LATENCY_CYCLES)
        self.ports = ports = [SerialPort(each, params, line_cycle) for each in pads]
        for index, port in enumerate(ports):
            setattr(self, f"port{index}", port)
            self.comb += irqs[index].eq(port.ev.irq)
        self.comb += [
            self.pending.fields.receive.eq(
                Cat(*(port.ev.receive.pending & port.ev.enable.fields.receive for port in ports))
            ),
            self.pending.fields.transmit.eq(
                Cat(*(port.ev.transmit.pending & port.ev.enable.fields.transmit for port in ports))
            ),
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
