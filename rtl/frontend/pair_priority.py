"""How urgent a pair of words is that comes slowly: as whoever waits for its end."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from ..layouts import tier_event_layout
from ..params import CoreParams


class PairPriority(wiring.Component):
    """The priority of the one pair that is read for a tier from the bus, or from a cached line.

    Other tiers' pairs from there wait until it has been read and used. Without this, tiers between
    the two would come before it, on the bus and in stage P, and so before a more urgent one.
    """

    def __init__(self, params: CoreParams) -> None:
        self._tiers = params.tiers
        super().__init__(
            {
                #: Stage F: the pair comes from here and is not there yet.
                "asks": In(tier_event_layout(params)),
                #: A pair is being read, or has been; whose it is.
                "busy": In(1),
                "done": In(1),
                "tier": In(params.tier_bits),
                #: Of the pair that is being read: the most urgent tier that waits for it.
                "priority": Out(params.tier_bits),
                #: Tiers between the two, while the pair is there but has not been used.
                "outranked": Out(params.tiers),
            }
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        with m.If(~self.busy | (self.asks.valid & (self.asks.tier > self.priority))):
            m.d.sync += self.priority.eq(self.asks.tier)
        for tier in range(1, self._tiers - 1):
            between = (self.tier < tier) & (self.priority > tier)
            m.d.sync += self.outranked[tier].eq(self.done & between)
        return m
