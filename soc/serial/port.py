"""One serial port."""

from __future__ import annotations

from pathlib import Path

from migen import ClockSignal, Instance, ResetSignal, Signal

from .params import SerialParams, tuning_word
from .registers import COUNTERS, TIMEOUT_RESET_BITS, PortRegisters

#: The Verilog of a port: its registers, which join its parts, and the parts.
SOURCES = tuple(
    Path(__file__).with_name(f"{name}.v")
    for name in ("port", "receiver", "transmitter", "counters")
)
#: What the Verilog takes for the order of the registers.
_ORDER = (
    *("receive", "receive_burst", "transmit", "level", "status", "stamp"),
    *("ev_status", "ev_pending", "ev_enable", "tuning", "format", "flow", "watermarks"),
    *("flow_levels", "timeout", "limit", "purge", *(f"count_{name}" for name in COUNTERS)),
)
#: Bits of the number of a register.
ADDRESS_BITS = 5
#: The longest break that can be sent, in bit times.
BREAK_MAX_BITS = 255


def _memory_log2(depth: int) -> int:
    """Words of the memory behind a FIFO, log2."""
    return max(1, (depth - 1).bit_length())


class SerialPort(PortRegisters):
    """Transmitter, receiver, FIFOs, flow control and registers between the pins and the bus.

    The pins are in step with the clock. ``line_cycle`` counts cycles, as late as ``line`` is. A
    character can be read, and the events tell of it, two cycles after its stop bit was decided.
    The registers must not be accessed more often than every second cycle.

    **Receiver**: each bit is what two of three looks at the line say, 3/8, 4/8 and 5/8 of a bit
    time after its begin; the first two are enough if they agree. A low level that is not a start
    bit by this rule is forgotten. A character is given the cycle after its stop bit was decided,
    which is in the middle of it on a clean line.

    **Break**: the line is low for 10.5 bit times (10.375 if it falls within a character), whatever
    was being received. It is given once, when it has lasted that long. A character of zeros whose
    stop bit is low is given, with its framing error, only when the line rises before that.
    Behind a low stop bit or a break the line must be high at two ticks for the next start bit to
    count: 3/8 of a bit are enough.

    **Transmitter**: it sends characters and breaks, back to back as long as there are any. The line
    falls the cycle after a character was taken from the FIFO. Stop bits follow a break like a
    character.

    **Speed**: a tick ends an eighth of a bit. Tick k is in cycle ceil(k * 2^29 / tuning) after the
    one in which the line fell; none is early, and none is late by a cycle or more, however many
    there are.
    """

    def __init__(self, params: SerialParams, read_data: Signal) -> None:
        PortRegisters.__init__(self, params, read_data)
        #: Pins, with CTS and RTS high if asserted; ``sent`` is for the receiver if ``loop_back``.
        self.line = Signal()
        self.cts = Signal()
        self.sent = Signal()
        self.loop_back = Signal()
        self.rts = Signal()
        self.line_cycle = Signal(32)
        #: An access to register ``address``; ``read_data`` is valid in that cycle, or else 0.
        self.read = Signal()
        self.write = Signal()
        self.address = Signal(ADDRESS_BITS)
        self.write_data = Signal(32)
        self.read_data = Signal(32)
        #: Events that are pending and enabled.
        self.receive_pending = Signal()
        self.transmit_pending = Signal()
        self.irq = Signal()
        names = tuple(register.name for register in self.get_csrs())
        if names != _ORDER:
            raise ValueError(f"registers must be in the order of port.v, not {names}")
        inputs = ("line", "line_cycle", "read", "write", "address", "write_data")
        outputs = ("sent", "loop_back", "rts", "read_data", "irq")
        outputs += ("receive_pending", "transmit_pending")
        self.specials += Instance(
            "tierv_serial_port",
            p_RECEIVE_DEPTH=params.receive_depth,
            p_TRANSMIT_DEPTH=params.transmit_depth,
            p_RECEIVE_LOG2=_memory_log2(params.receive_depth),
            p_TRANSMIT_LOG2=_memory_log2(params.transmit_depth),
            p_STAMPS=int(params.stamps),
            p_TUNING=tuning_word(params.baud, params.sys_clk_hz),
            p_TIMEOUT=TIMEOUT_RESET_BITS,
            p_WIDE=COUNTERS["received"][0],
            p_NARROW=COUNTERS["lost"][0],
            i_clk=ClockSignal(),
            i_rst=ResetSignal(),
            i_cts_pin=self.cts,
            **{f"i_{name}": getattr(self, name) for name in inputs},
            **{f"o_{name}": getattr(self, name) for name in outputs},
        )
