"""The registers of a serial port."""

from __future__ import annotations

from litex.gen import LiteXModule
from litex.soc.interconnect import csr
from litex.soc.interconnect.csr import CSRField
from migen import Signal

from .params import TUNING_BITS, SerialParams, tuning_word

#: Bits of a level.
_LEVEL_BITS = 9
#: Bits of the receive timeout, in bit times.
TIMEOUT_BITS = 12
#: Bit times after which the receive timeout is over after reset: four characters.
TIMEOUT_RESET_BITS = 40

#: Counters: bits, and what they count. The first two are of one size, and so are the others.
COUNTERS = {
    "received": (32, "Characters put into the receive FIFO"),
    "transmitted": (32, "Characters begun to be sent, those of flow control among them,"),
    "overruns": (16, "Characters lost in a full receive FIFO"),
    "framing": (16, "Characters with a low stop bit"),
    "parity": (16, "Characters with a wrong parity bit"),
    "breaks": (16, "Breaks"),
    "lost": (16, "Characters written that did not get into the transmit FIFO"),
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


def _events() -> list[CSRField]:
    """Fields for the events."""
    return [
        CSRField(
            "receive",
            description="The receive FIFO holds the watermark; or less, but with a flag among them"
            " that came since the FIFO was last empty; or less, but nothing came for the timeout.",
        ),
        CSRField("transmit", description="The transmit FIFO holds the watermark or less."),
        CSRField("idle", description="Nothing to be sent, and the last stop bit is over."),
        CSRField("cts", description="CTS has changed."),
    ]


class _Described:
    """A register for LiteX's map and documents, without LiteX's logic: ``port.v`` has that.

    In the bank it gives what the port that is read says, ``PortRegisters.read_data``.
    """

    def do_finalize(self, busword: int, ordering: str) -> None:
        del ordering
        if self.size > busword:
            raise ValueError(f"{self.name} must have {busword} bits at the most, not {self.size}")
        self._fragment.comb.clear()
        register = csr.CSR(self.size, self.name)
        register.w = self.read_data
        self.simple_csrs.append(register)


class _Status(_Described, csr.CSRStatus):
    pass


class _Storage(_Described, csr.CSRStorage):
    pass


class PortRegisters(LiteXModule):
    """What the processor sees of a port; each register's description says what it means.

    ``read_data`` (32 bits) is what is read.
    """

    def __init__(self, params: SerialParams, read_data: Signal) -> None:
        self._add_data()
        self._add_events()
        self._add_settings(params)
        for name, (bits, what) in COUNTERS.items():
            counter = _Status(
                bits,
                name=f"count_{name}",
                description=f"{what} since this register was last read, which makes it 0; all"
                " ones: or more.",
            )
            setattr(self, f"count_{name}", counter)
        for register in self.get_csrs():
            register.read_data = read_data

    def _add_data(self) -> None:
        self.receive = _Status(
            fields=[
                CSRField("data", 8, description="The oldest character."),
                CSRField("valid", offset=24, description="There was one."),
                *_flags(26),
            ],
            description="Takes a character out of the receive FIFO.",
        )
        self.receive_burst = _Status(
            fields=[
                CSRField("data", 24, description="Characters, the oldest in bits 7:0."),
                CSRField("count", 2, description="How many."),
                *_flags(26),
            ],
            description="Takes up to three characters without flags out of the receive FIFO, or"
            " one with flags.",
        )
        self.transmit = _Storage(
            fields=[
                CSRField("data", 24, description="Characters, the first in bits 7:0."),
                CSRField("more", 2, description="How many behind the first: 0 to 2."),
                CSRField(
                    "is_break",
                    offset=31,
                    description="Bits 7:0 are the length of a break in bit times, 1 to 255.",
                ),
            ],
            description="Puts characters, or a break, into the transmit FIFO, one a cycle. What it"
            " has no space for, or the next write finds still outside, is lost, and counted."
            " It reads as 0.",
        )
        self.level = _Status(
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
        self.status = _Status(
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
        self.stamp = _Status(
            32,
            description="Cycle in which the start bit began of the character most recently taken"
            " (the last of several), or in which the line fell for a break; by the count of the"
            " register cycle. 0 if the block was built without stamps.",
        )

    def _add_events(self) -> None:
        self.ev_status = _Status(fields=_events(), description="Level of the events.")
        self.ev_pending = _Status(
            fields=_events(),
            read_only=False,
            description="Events that are pending. Writing a 1 clears CTS; the others are levels.",
        )
        self.ev_enable = _Storage(
            fields=_events(), description="Events for which the port's line is raised."
        )

    def _add_settings(self, params: SerialParams) -> None:
        self.tuning = _Storage(
            TUNING_BITS,
            reset=tuning_word(params.baud, params.sys_clk_hz),
            description="Speed: baud * 2**32 / frequency of the clock, rounded.",
        )
        self.format = _Storage(
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
        self.flow = _Storage(
            fields=[
                CSRField("cts", description="Characters begin only while CTS is asserted."),
                CSRField("rts", description="RTS follows the receive level."),
                CSRField("obey_xoff", description="XON and XOFF are taken out and obeyed."),
                CSRField(
                    "send_xoff",
                    description="XOFF and XON follow the receive level. They wait for the end of a"
                    " character that is being sent, and for neither CTS nor XON nor turn.",
                ),
                CSRField("assert_rts", reset=1, description="RTS, if not by the receive level."),
                CSRField(
                    "turn",
                    description="For a wire that both directions share: characters and breaks begin"
                    " only while nothing is received, and when the last received stop bit is over.",
                ),
            ],
            description="Flow control.",
        )
        half = max(1, params.receive_depth // 2)
        self.watermarks = _Storage(
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
        self.flow_levels = _Storage(
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
        self.timeout = _Storage(
            TIMEOUT_BITS,
            reset=TIMEOUT_RESET_BITS,
            description="Bit times from the middle of a character's stop bit to the receive event,"
            " if nothing else comes; 0: never.",
        )
        self.limit = _Storage(
            _LEVEL_BITS,
            reset=params.receive_depth,
            description="Characters that the receive FIFO takes, 1 to its depth: with fewer it is"
            " as if it had been built so.",
        )
        self.purge = _Storage(
            fields=[
                CSRField("receive", pulse=True, description="Empties the receive FIFO."),
                CSRField("transmit", pulse=True, description="Empties the transmit FIFO."),
            ],
            description="Throws away what waits.",
        )
