"""Serial ports: see ``SerialPorts`` for the block, and ``registers`` for what software sees."""

from .block import SerialPorts
from .params import SerialParams
from .port import SOURCES

__all__ = ["SOURCES", "SerialParams", "SerialPorts"]
