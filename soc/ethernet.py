"""The Ethernet PHY interfaces."""

from __future__ import annotations

from liteeth.common import eth_interpacket_gap, eth_phy_description
from liteeth.mac.core import LiteEthMACCore
from liteeth.mac.crc import LiteEthMACCRC32Inserter
from liteeth.mac.padding import LiteEthMACPaddingInserter
from liteeth.phy.common import LiteEthPHYMDIO
from liteeth.phy.ecp5rgmii import LiteEthPHYRGMII
from liteeth.phy.gmii import LiteEthPHYGMIIRX, LiteEthPHYGMIITX
from liteeth.phy.mii import LiteEthPHYMIICRG, LiteEthPHYMIITX
from liteeth.phy.rmii import LiteEthPHYRMII
from litex.gen import LiteXModule
from litex.soc.interconnect import stream
from migen import FSM, Cat, ClockDomainsRenamer, If, NextState, NextValue, Replicate, Signal

from .crc_checker import CrcChecker
from .params import FAST_ETHERNET, GIGABIT_ETHERNET

#: Clock cycles in a byte.
_MII_BYTE_CYCLES, _RMII_BYTE_CYCLES = 2, 4
_GMII_BYTE_CYCLES = 1
#: The byte that ends the preamble.
_MII_DELIMITER = 0xD5
#: A crossing of clocks that is one row of LUT RAM deep.
_CROSSING_WORDS = 16


class InterFrameGap(LiteXModule):
    """Keeps 96 bit times free after each frame: IEEE 802.3, clause 4.4.2.

    Passes a stream of bytes on without delay. LiteEth's own gap counts clock cycles as if each
    were a byte, which makes it too short where a byte takes ``byte_cycles``.
    """

    def __init__(self, byte_cycles: int) -> None:
        self.sink = sink = stream.Endpoint(eth_phy_description(8))
        self.source = source = stream.Endpoint(eth_phy_description(8))

        gap_cycles = eth_interpacket_gap * byte_cycles
        count = Signal(max=gap_cycles)
        self.fsm = fsm = FSM(reset_state="COPY")
        fsm.act(
            "COPY",
            sink.connect(source),
            NextValue(count, 0),
            If(sink.valid & sink.last & sink.ready, NextState("GAP")),
        )
        fsm.act(
            "GAP",
            NextValue(count, count + 1),
            If(count == gap_cycles - 1, NextState("COPY")),
        )


class FrameTail(LiteXModule):
    """Passes a stream of bytes on without delay, and mends the ends of frames.

    A frame of one byte, which some of LiteEth's receivers make of a second ``last``, is left out:
    the MAC would count it as one without a preamble. None of the receivers sets ``last_be``,
    without which the MAC takes every check sequence for a good one.
    """

    def __init__(self) -> None:
        self.sink = sink = stream.Endpoint(eth_phy_description(8))
        self.source = source = stream.Endpoint(eth_phy_description(8))

        within = Signal()
        self.sync += If(sink.valid & sink.ready, within.eq(~sink.last))
        self.comb += [
            sink.connect(source, omit={"valid", "ready", "last_be"}),
            source.last_be.eq(sink.last),
            source.valid.eq(sink.valid & (within | ~sink.last)),
            sink.ready.eq(source.ready),
        ]


def _mend_streams(phy, byte_cycles: int) -> None:
    """Proper ends of the frames that a PHY interface receives, and gaps between those it sends.

    With a byte in each clock cycle LiteEth's own gap is right and stays.
    """
    phy.tail = tail = ClockDomainsRenamer("eth_rx")(FrameTail())
    phy.comb += phy.rx.source.connect(tail.sink)
    phy.sink, phy.source = phy.tx.sink, tail.source
    if byte_cycles > 1:
        # Tells LiteEth's MAC to leave the gap to us.
        phy.integrated_ifg_inserter = True
        phy.gap = gap = ClockDomainsRenamer("eth_tx")(InterFrameGap(byte_cycles))
        phy.comb += gap.source.connect(phy.tx.sink)
        phy.sink = gap.sink


class MiiReceiver(LiteXModule):
    """Bytes of the frames that come by MII: IEEE 802.3, clause 22.2.3.

    A byte begins where the start-of-frame delimiter says, whatever the PHY has left of the preamble
    before it; LiteEth's own receiver takes the first nibble for the first half of one. The last
    byte of a frame in which the PHY saw an error (RX_ER) is inverted, so that the check sequence is
    wrong. Half a byte at the end is a byte of its own.
    """

    def __init__(self, pads) -> None:
        self.source = source = stream.Endpoint(eth_phy_description(8))

        nibble, before = Signal(4), Signal(4)
        valid, second, started, delimits, error, failed = (Signal() for _ in range(6))
        byte = Signal(8)
        self.sync += [
            valid.eq(pads.rx_dv),
            nibble.eq(pads.rx_data),
            before.eq(nibble),
            second.eq(valid & ~source.valid),
            started.eq(valid & (started | delimits)),
            error.eq(getattr(pads, "rx_er", 0)),
            failed.eq(valid & (failed | error)),
        ]
        self.comb += [
            byte.eq(Cat(before, nibble)),
            delimits.eq(valid & ~started & (byte == _MII_DELIMITER)),
            source.valid.eq(valid & (second | delimits | source.last)),
            source.last.eq(~pads.rx_dv),
            source.data.eq(byte ^ Replicate((failed | error) & source.last, 8)),
        ]


class MiiPhy(LiteXModule):
    """MII PHY interface: LiteEth's but for the receiver, with gaps between frames."""

    bits_per_second = FAST_ETHERNET
    dw = 8
    tx_clk_freq = rx_clk_freq = FAST_ETHERNET / 4

    def __init__(self, clock_pads, pads, *, with_hw_init_reset: bool) -> None:
        self.crg = LiteEthPHYMIICRG(clock_pads, pads, with_hw_init_reset)
        self.tx = ClockDomainsRenamer("eth_tx")(LiteEthPHYMIITX(pads))
        self.rx = ClockDomainsRenamer("eth_rx")(MiiReceiver(pads))
        if hasattr(pads, "mdc"):
            self.mdio = LiteEthPHYMDIO(pads)
        _mend_streams(self, _MII_BYTE_CYCLES)


class RmiiPhy(LiteEthPHYRMII):
    """LiteEth's RMII PHY interface at 100 Mbit/s, with proper ends of frames and gaps between them.

    ``clock_pads.ref_clk`` is the clock of 50 MHz for both directions.
    """

    bits_per_second = FAST_ETHERNET

    def __init__(self, clock_pads, pads, *, with_hw_init_reset: bool) -> None:
        LiteEthPHYRMII.__init__(
            self, clock_pads, pads, refclk_cd=None, with_hw_init_reset=with_hw_init_reset
        )
        _mend_streams(self, _RMII_BYTE_CYCLES)


class GmiiPhy(LiteXModule):
    """LiteEth's GMII PHY interface at 1 Gbit/s, with proper ends of frames.

    Both clocks, of 125 MHz, come from outside as those of MII do. On an FPGA the one to send by is
    given to the PHY instead, by an output register that is the FPGA's own: this is for simulations.
    A byte takes one clock cycle, so that LiteEth's own gap between frames is right.
    """

    bits_per_second = GIGABIT_ETHERNET
    dw = 8
    tx_clk_freq = rx_clk_freq = GIGABIT_ETHERNET / 8

    def __init__(self, clock_pads, pads, *, with_hw_init_reset: bool) -> None:
        self.crg = LiteEthPHYMIICRG(clock_pads, pads, with_hw_init_reset)
        self.tx = ClockDomainsRenamer("eth_tx")(LiteEthPHYGMIITX(pads))
        self.rx = ClockDomainsRenamer("eth_rx")(LiteEthPHYGMIIRX(pads))
        _mend_streams(self, _GMII_BYTE_CYCLES)


class RgmiiPhy(LiteEthPHYRGMII):
    """LiteEth's RGMII PHY interface of the ECP5 at 1 Gbit/s, with proper ends of frames.

    A byte takes one clock cycle, so that LiteEth's own gap between frames is right. The delays are
    those that the FPGA adds to the clock it sends and to what it receives, in seconds; together
    with the PHY's they have to be about 2 ns.
    """

    bits_per_second = GIGABIT_ETHERNET

    def __init__(
        self, clock_pads, pads, *, with_hw_init_reset: bool, tx_delay: float, rx_delay: float
    ) -> None:
        LiteEthPHYRGMII.__init__(
            self, clock_pads, pads, with_hw_init_reset, tx_delay=tx_delay, rx_delay=rx_delay
        )
        _mend_streams(self, _GMII_BYTE_CYCLES)


def shorten_paths(core: LiteEthMACCore) -> None:
    """Registers between the stages of a MAC, for 125 MHz in an FPGA that is full.

    To be called before the MAC is finalized. Without them, what the wire takes decides in the same
    cycle which word of the crossing's memory is read next. That memory has words enough for the
    time in which the two sides hear of each other, and no more than LUT RAM has in a row.
    """

    def place_of(path, stage: type) -> int:
        return next(i for i, one in enumerate(path.pipeline) if isinstance(one, stage))

    def buffer_behind(path, stage: type, domain: str, width: int) -> None:
        buffer = ClockDomainsRenamer(domain)(
            stream.Buffer(eth_phy_description(width), pipe_ready=True)
        )
        path.submodules += buffer
        path.pipeline.insert(place_of(path, stage) + 1, buffer)

    width, path = len(core.sink.data), core.tx_datapath
    index = place_of(path, stream.ClockDomainCrossing)
    path._submodules.remove((None, path.pipeline[index]))
    path.pipeline[index] = crossing = stream.ClockDomainCrossing(
        eth_phy_description(width), cd_from="sys", cd_to="eth_tx", depth=_CROSSING_WORDS
    )
    path.submodules += crossing
    buffer_behind(path, stream.ClockDomainCrossing, "eth_tx", width)
    buffer_behind(path, LiteEthMACPaddingInserter, "eth_tx", 8)
    buffer_behind(path, LiteEthMACCRC32Inserter, "eth_tx", 8)
    buffer_behind(core.rx_datapath, CrcChecker, "eth_rx", 8)
