"""LiteEth's MAC with rings of descriptors in local memory."""

from __future__ import annotations

from liteeth.mac.core import LiteEthMACCore
from litex.gen import LiteXModule
from litex.soc.interconnect.csr import CSRField, CSRStatus, CSRStorage
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourcePulse
from migen import If

from .descriptor import LENGTH_BITS
from .event import CYCLES_BITS, FRAMES_BITS, Coalescer
from .port import SharedPort
from .receiver import Receiver
from .ring import INDEX_BITS
from .transmitter import Transmitter

_COUNT_BITS = 32
#: Bytes of Ethernet's header and of the longest frame, without check sequence.
_HEADER_BYTES = 14
_FRAME_BYTES = 1514
#: The receiver writes a word a cycle, but has something else to do between two frames: one of 61
#: bytes, of 21.25 words with all that is on the wire, takes it 27 cycles if it has the memory to
#: itself.
_WORD_BITS, _RECEIVE_CYCLES = 32, 27 / 21.25
#: Cycles that a word on the wire must take for a frame to go before it is whole. On the average 7/3
#: would do, since of what the receiver leaves the transmitter gets three cycles of four; but words
#: that have waited for a descriptor are written in a row, and nothing is read meanwhile.
SEND_CYCLES = 5


class FrameRings(LiteXModule):
    """The rings and their registers, between a MAC's streams and a port of local memory.

    Frames are without preamble and check sequence, as ``LiteEthMACCore`` has them at 32 bits.
    ``whole_frames`` is the transmitter's.
    """

    def __init__(self, *, whole_frames: bool = False) -> None:
        #: To the memory, and for the SoC's bus.
        self.port = port = SharedPort(writers=2)
        self.receiver = receiver = Receiver(port.readers[0], port.writers[0])
        self.transmitter = transmitter = Transmitter(
            port.readers[1], port.writers[1], whole_frames=whole_frames
        )
        self.coalescer = coalescer = Coalescer()
        #: From the MAC, and to it.
        self.sink, self.source = receiver.sink, transmitter.source

        self.ev = EventManager()
        self.ev.received = EventSourcePulse(description="Frames were received.")
        self.ev.sent = EventSourcePulse(
            description="A frame was fetched from its buffer whose descriptor wants an event."
        )
        self.ev.finalize()
        self.comb += [
            coalescer.frame.eq(receiver.received),
            self.ev.received.trigger.eq(coalescer.event),
            self.ev.sent.trigger.eq(transmitter.sent),
        ]
        self._add_control(receiver, transmitter)
        self._add_rings(receiver, transmitter)
        self._add_counters(receiver)

    def _add_control(self, receiver: Receiver, transmitter: Transmitter) -> None:
        self.control = control = CSRStorage(
            fields=[
                CSRField("receive", description="Receive. A ring that is off is at its beginning."),
                CSRField("transmit", description="Transmit."),
                CSRField("keep_wrong", description="Give frames with a wrong check sequence too."),
                CSRField(
                    "keep_long", description="Give frames that are too long or truncated too."
                ),
            ],
            description="What is done; a ring's place and end are taken over when it is turned on."
            " One that was turned off goes on if it is turned on again while it is active.",
        )
        self.active = active = CSRStatus(
            fields=[
                CSRField(
                    "receive",
                    description="The receive ring is in use: also until the frame "
                    "is through that came when it was turned off.",
                ),
                CSRField("transmit", description="The transmit ring is in use."),
            ],
            description="What goes on.",
        )
        self.longest = longest = CSRStorage(
            LENGTH_BITS,
            reset=_FRAME_BYTES,
            description="Bytes, without check sequence, of the longest frame that is not too long.",
        )
        self.sum_from = sum_from = CSRStorage(
            LENGTH_BITS,
            reset=_HEADER_BYTES,
            description="Byte of a received frame, an even one, with which its sum begins.",
        )
        self.event_frames = event_frames = CSRStorage(
            FRAMES_BITS,
            reset=1,
            description="Frames for which there is an event: with 0 or 1 for each.",
        )
        self.event_cycles = event_cycles = CSRStorage(
            CYCLES_BITS,
            description="Cycles after a frame in which there is an event in any case; 0: no limit.",
        )
        self.comb += [
            receiver.enable.eq(control.fields.receive),
            receiver.keep_wrong.eq(control.fields.keep_wrong),
            receiver.keep_long.eq(control.fields.keep_long),
            receiver.most_bytes.eq(longest.storage),
            receiver.sum.start.eq(sum_from.storage[1:]),
            transmitter.enable.eq(control.fields.transmit),
            active.fields.receive.eq(receiver.active),
            active.fields.transmit.eq(transmitter.active),
            self.coalescer.frames.eq(event_frames.storage),
            self.coalescer.cycles.eq(event_cycles.storage),
        ]

    def _add_rings(self, receiver: Receiver, transmitter: Transmitter) -> None:
        for name, part in (("receive", receiver), ("transmit", transmitter)):
            base = CSRStorage(
                32,
                name=f"{name}_ring",
                description=f"Address of the {name} ring, in local memory, a multiple of 4.",
            )
            last = CSRStorage(
                INDEX_BITS,
                name=f"{name}_last",
                description=f"Number of the last descriptor of the {name} ring.",
            )
            index = CSRStatus(
                INDEX_BITS,
                name=f"{name}_index",
                description="Number of the descriptor that comes next, or is in use.",
            )
            for register in (base, last, index):
                setattr(self, register.name, register)
            self.comb += [
                part.ring.base.eq(base.storage[2:]),
                part.ring.last.eq(last.storage),
                index.status.eq(part.ring.index),
            ]

    def _add_counters(self, receiver: Receiver) -> None:
        events = {
            "missed": (receiver.missed, "that found no descriptor"),
            "wrong": (receiver.wrong, "with a wrong check sequence"),
            "long": (receiver.long, "that were too long or truncated, with a right one"),
        }
        for name, (event, what) in events.items():
            count = CSRStatus(
                _COUNT_BITS,
                name=f"receive_{name}",
                description=f"Frames {what}; all ones: so many or more.",
            )
            setattr(self, count.name, count)
            self.sync += If(
                event & (count.status != 2**_COUNT_BITS - 1),
                count.status.eq(count.status + 1),
            )


class EthernetDma(LiteXModule):
    """A MAC for a PHY's interface, and the rings. Registers are those of both.

    The interface says the rate of its wire, ``bits_per_second``, as those of ``soc/ethernet.py``
    do. Raises ``ValueError`` for one that doesn't, as LiteEth's own, and for a system clock in
    which the receive ring alone does not keep up with the wire: less than 39.7 MHz for 1 Gbit/s.
    With that it does while nothing is sent, also if the transmit ring is on and the bus in the
    memory all the time. That both rings do, with frames of 61 bytes at line rate, takes 47 MHz
    then.
    """

    def __init__(self, phy: LiteXModule, sys_clk_hz: int) -> None:
        if not hasattr(phy, "bits_per_second"):
            raise ValueError(
                "phy must say its bits_per_second, as those of soc/ethernet.py do, which"
                f" {type(phy).__name__} does not"
            )
        words_hz = phy.bits_per_second / _WORD_BITS
        if sys_clk_hz < words_hz * _RECEIVE_CYCLES:
            raise ValueError(
                f"sys_clk_hz must be {words_hz * _RECEIVE_CYCLES / 1e6:.1f} MHz or more for"
                f" {phy.bits_per_second / 1e6:g} Mbit/s by DMA, not {sys_clk_hz!r}"
            )
        self.core = LiteEthMACCore(phy=phy, dw=32)
        self.rings = FrameRings(whole_frames=sys_clk_hz < words_hz * SEND_CYCLES)
        self.ev = self.rings.ev
        self.comb += [
            self.rings.source.connect(self.core.sink),
            self.core.source.connect(self.rings.sink),
        ]

    def get_csrs(self) -> list:
        """Registers of the rings, and counters of the MAC, as LiteEth's MAC with slots has them."""
        return self.rings.get_csrs() + self.core.get_csrs()
