"""The registers of a serial port."""

from __future__ import annotations

from litex.gen import LiteXModule
from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage
from litex.soc.interconnect.csr_eventmanager import (
    EventManager,
    EventSourceLevel,
    EventSourcePulse,
)

from .params import TUNING_BITS, SerialParams, tuning_word

#: Bits of a level.
_LEVEL_BITS = 9
#: Bits of the receive timeout, in bit times.
TIMEOUT_BITS = 12
#: Bit times after which the receive timeout is over after reset: four characters.
_TIMEOUT = 40

#: Counters: bits, and what they count.
_COUNTERS = {
    "received": (32, "Characters put into the receive FIFO"),
    "transmitted": (32, "Characters begun to be sent, those of flow control among them,"),
    "overruns": (16, "Characters lost in a full receive FIFO"),
    "framing": (16, "Characters with a low stop bit"),
    "parity": (16, "Characters with a wrong parity bit"),
    "breaks": (16, "Breaks"),
    "lost": (16, "Characters written to a full transmit FIFO"),
    "xoffs": (16, "XOFFs obeyed"),
}


def _flags(offset: int) -> list[CSRField]:
    """Fields for the flags of a character."""
    return [
        CSRField(
            "is_break",
            offset=offset,
            description="No character: the line was low for more than 10.5 bit times. Data is 0.",
        ),
        CSRField("framing", description="The stop bit was low."),
        CSRField("parity", description="The parity bit was wrong."),
        CSRField("overrun", description="Characters before this one were lost in a full FIFO."),
    ]


class PortRegisters(LiteXModule):
    """What the processor sees of a port; each register's description says what it means."""

    def __init__(self, params: SerialParams) -> None:
        self.receive = CSRStatus(
            fields=[
                CSRField("data", 8, description="The oldest character."),
                CSRField("valid", offset=24, description="There was one."),
                *_flags(26),
            ],
            description="Takes a character out of the receive FIFO.",
        )
        self.receive_burst = CSRStatus(
            fields=[
                CSRField("data", 24, description="Characters, the oldest in bits 7:0."),
                CSRField("count", 2, description="How many."),
                *_flags(26),
            ],
            description="Takes up to three characters without flags out of the receive FIFO, or"
            " one with flags.",
        )
        self.transmit = CSRStorage(
            fields=[
                CSRField("data", 24, description="Characters, the first in bits 7:0."),
                CSRField("more", 2, description="How many behind the first: 0 to 2."),
                CSRField(
                    "is_break",
                    offset=31,
                    description="Bits 7:0 are the length of a break in bit times, 1 to 255.",
                ),
            ],
            description="Puts characters, or a break, into the transmit FIFO. What it has no space"
            " for is lost, and counted.",
        )
        self.level = CSRStatus(
            fields=[
                CSRField("receive", _LEVEL_BITS, description="Characters in the receive FIFO."),
                CSRField(
                    "space",
                    _LEVEL_BITS,
                    offset=16,
                    description="Characters that the transmit FIFO has space for.",
                ),
            ],
            description="How full the FIFOs are.",
        )
        self.status = CSRStatus(
            fields=[
                CSRField("idle", description="Nothing to be sent, and the last stop bit is over."),
                CSRField("receiving", description="A character or a break is being received."),
                CSRField("line", description="Level of the receive pin."),
                CSRField("cts", description="CTS is asserted."),
                CSRField("rts", description="RTS is asserted."),
                CSRField("stopped", description="XOFF from the peer is in force."),
                CSRField("holding", description="The peer is held back, as far as set."),
                CSRField("overrun", description="Lost characters since the last one in the FIFO."),
            ],
            description="What the port is doing.",
        )
        self.stamp = CSRStatus(
            32,
            description="Cycle in which the start bit began of the character most recently taken"
            " (the last of several), or in which the line fell for a break; by the count of the"
            " register cycle. 0 if the block was built without stamps.",
        )
        self.ev = EventManager()
        self.ev.receive = EventSourceLevel(
            description="The receive FIFO holds the watermark; or less, but with a flag among them"
            " that came since the FIFO was last empty; or less, but nothing came for the timeout."
        )
        self.ev.transmit = EventSourceLevel(
            description="The transmit FIFO holds the watermark or less."
        )
        self.ev.idle = EventSourceLevel(
            description="Nothing to be sent, and the last stop bit is over."
        )
        self.ev.cts = EventSourcePulse(description="CTS has changed.")
        self.ev.finalize()
        self.tuning = CSRStorage(
            TUNING_BITS,
            reset=tuning_word(params.baud, params.sys_clk_hz),
            description="Speed: baud * 2**32 / frequency of the clock, rounded.",
        )
        self.format = CSRStorage(
            fields=[
                CSRField("data_bits", 2, reset=3, description="Data bits less 5."),
                CSRField(
                    "parity",
                    3,
                    values=[
                        ("0", "NONE", "No parity bit."),
                        ("1", "EVEN", "Even parity."),
                        ("2", "ODD", "Odd parity."),
                        ("3", "MARK", "Always high."),
                        ("4", "SPACE", "Always low."),
                    ],
                    description="The parity bit.",
                ),
                CSRField("two_stop_bits", description="Two stop bits are sent."),
                CSRField(
                    "loop_back",
                    description="The receiver listens to the transmitter; the"
                    " pin stays high, and CTS is RTS.",
                ),
                CSRField("hold_break", description="The line is held low, from at once."),
            ],
            description="Form of the characters.",
        )
        self.flow = CSRStorage(
            fields=[
                CSRField("cts", description="Characters begin only while CTS is asserted."),
                CSRField("rts", description="RTS follows the receive level."),
                CSRField("obey_xoff", description="XON and XOFF are taken out and obeyed."),
                CSRField("send_xoff", description="XOFF and XON follow the receive level."),
                CSRField("assert_rts", reset=1, description="RTS, if not by the receive level."),
            ],
            description="Flow control.",
        )
        half = max(1, params.receive_depth // 2)
        self.watermarks = CSRStorage(
            fields=[
                CSRField(
                    "receive",
                    _LEVEL_BITS,
                    reset=half,
                    description="Characters for the receive event, 1 or more.",
                ),
                CSRField(
                    "transmit",
                    _LEVEL_BITS,
                    offset=16,
                    reset=params.transmit_depth // 2,
                    description="Characters left for the transmit event.",
                ),
            ],
            description="Levels of the events.",
        )
        self.flow_levels = CSRStorage(
            fields=[
                CSRField(
                    "stop",
                    _LEVEL_BITS,
                    reset=max(1, params.receive_depth * 3 // 4),
                    description="Characters from which on the peer is held back, 1 or more.",
                ),
                CSRField(
                    "resume",
                    _LEVEL_BITS,
                    offset=16,
                    reset=params.receive_depth // 4,
                    description="Characters at which it goes on, less than stop.",
                ),
            ],
            description="Levels of flow control, in the receive FIFO.",
        )
        self.timeout = CSRStorage(
            TIMEOUT_BITS,
            reset=_TIMEOUT,
            description="Bit times from the middle of a character's stop bit to the receive event,"
            " if nothing else comes; 0: never.",
        )
        self.purge = CSRStorage(
            fields=[
                CSRField("receive", pulse=True, description="Empties the receive FIFO."),
                CSRField("transmit", pulse=True, description="Empties the transmit FIFO."),
            ],
            description="Throws away what waits.",
        )
        self.counters = counters = {
            name: CSRStatus(
                bits,
                name=f"count_{name}",
                description=f"{what} since this register was last read, which makes it 0; all"
                " ones: or more.",
            )
            for name, (bits, what) in _COUNTERS.items()
        }
        for name, counter in counters.items():
            setattr(self, f"count_{name}", counter)
