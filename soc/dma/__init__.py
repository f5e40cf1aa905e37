"""Ethernet frames between LiteEth's MAC and local memory, without the processor."""

from .integrate import add_ethernet_dma

__all__ = ["add_ethernet_dma"]
