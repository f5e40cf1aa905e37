"""The Ethernet DMA as part of the SoC: what ``add_ethernet`` of LiteX does for a MAC with slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from litex.gen import LiteXModule
from litex.soc.integration.soc import add_ip_address_constants

from ..map import LINE_ETHMAC
from .descriptor import constants
from .ethernet import EthernetDma

if TYPE_CHECKING:
    from ..soc import TierVSoC


def add_ethernet_dma(soc: TierVSoC, phy: LiteXModule, *, timing_constraints: bool) -> None:
    """Add the DMA as ``soc.ethdma`` between ``phy`` and the CPU's local data memory.

    The CPU is one whose ``share_dtcm`` gives a port of that memory.
    """
    params = soc.params
    soc.ethdma = dma = EthernetDma(phy, params.sys_clk_hz)
    soc.cpu.share_dtcm(dma.rings.port)
    soc.comb += soc.cpu.interrupt[LINE_ETHMAC].eq(dma.ev.irq)
    for name, value in (constants() | params.address_constants).items():
        soc.add_constant(name, value)
    add_ip_address_constants(soc, "REMOTEIP", params.remote_ip)
    if timing_constraints:
        _constrain(soc, getattr(phy, "crg", phy), phy)


def _constrain(soc: TierVSoC, clocks: LiteXModule, phy: LiteXModule) -> None:
    receive, transmit = clocks.cd_eth_rx.clk, clocks.cd_eth_tx.clk
    soc.platform.add_period_constraint(receive, 1e9 / phy.rx_clk_freq)
    others = [receive]
    if transmit is not receive:
        soc.platform.add_period_constraint(transmit, 1e9 / phy.tx_clk_freq)
        others.append(transmit)
    soc.platform.add_false_path_constraints(soc.crg.cd_sys.clk, *others)
