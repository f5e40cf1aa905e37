"""Serial ports: see ``SerialPorts`` for the block, and ``registers`` for what software sees."""

from .block import SerialPorts
from .params import SerialParams
from .port import SOURCE

__all__ = ["SOURCE", "SerialParams", "SerialPorts"]
