"""Memory map, line numbers and counts of the SoC: the one home of these facts.

LiteX exports them to ``csr.h``, ``mem.h``, ``soc.h`` and ``csr.json``; nothing else repeats them.
"""

from __future__ import annotations

from types import MappingProxyType

#: Origin of every memory and of every block that is not behind the CSR bus. From 0x8000_0000 on
#: accesses are uncached.
ORIGINS = MappingProxyType(
    {
        "rom": 0x0000_0000,
        "sram": 0x1000_0000,
        "itcm": 0x2000_0000,
        "dtcm": 0x3000_0000,
        "main_ram": 0x4000_0000,
        "spiflash": 0x7000_0000,
        "ethmac": 0x8000_0000,
        "mailbox": 0x8100_0000,
        "csr": 0xF000_0000,
    }
)

#: Bytes of the memories, if a board does not say otherwise (``SocParams``).
SIZES = MappingProxyType(
    {
        "rom": 64 << 10,
        "sram": 8 << 10,
        "itcm": 128 << 10,
        "dtcm": 64 << 10,
        "main_ram": 256 << 10,
        "spiflash": 16 << 20,
        "mailbox": 4 << 10,
    }
)

#: Serial ports beside the console: by default, and at the most.
DEFAULT_UARTS = 4
MAX_UARTS = 16
#: Receive and transmit slots of the Ethernet MAC; powers of two.
ETH_RX_SLOTS = 8
ETH_TX_SLOTS = 4
#: Lines that are pins of the SoC.
EXTERNAL_LINES = 4

#: CSR pages by LiteX's name, so that one firmware image fits any number of serial ports. They share
#: the page ``serial``; ``uart`` is the console.
CSR_PAGES = MappingProxyType(
    {
        "ctrl": 0,
        "identifier_mem": 1,
        "timer0": 2,
        "leds": 3,
        "ethphy": 4,
        "ethmac": 5,
        "echo": 6,
        "serial": 7,
        "uart": 8,
        "uart_phy": 9,
        "ethdma": 10,
        "sdram": 11,
        "ddrphy": 12,
        "spiflash_core": 13,
        "spiflash_phy": 14,
    }
)
#: Words of the CSR space, log2.
CSR_WORDS_LOG2 = 15
#: Bytes of a CSR page.
CSR_PAGE_BYTES = 2048

#: Line numbers; the external lines and serial ports count up from theirs.
LINE_EXTERNAL0 = 0
LINE_TIMER0 = 4
LINE_ETHMAC = 5
LINE_CONSOLE = 6
LINE_ECHO = 7
LINE_UART0 = 8


def room(name: str) -> int:
    """Bytes from the origin of ``name`` to that of the one behind it."""
    above = [origin for origin in ORIGINS.values() if origin > ORIGINS[name]]
    return min(above, default=1 << 32) - ORIGINS[name]


def uart_name(index: int) -> str:
    """Name of the line of serial port ``index``."""
    return f"serial{index}"


def external_line_name(index: int) -> str:
    """Name of external line ``index``; its number is ``LINE_EXTERNAL0 + index``."""
    return f"line{index}"


def lines(uarts: int) -> dict[str, int]:
    """Line number by LiteX's interrupt name, for ``uarts`` serial ports.

    Raises ``ValueError`` for a count out of range.
    """
    if not 0 <= uarts <= MAX_UARTS:
        raise ValueError(f"uarts must be from 0 to {MAX_UARTS}, not {uarts!r}")
    numbers = {
        "timer0": LINE_TIMER0,
        "ethmac": LINE_ETHMAC,
        "uart": LINE_CONSOLE,
        "echo": LINE_ECHO,
    }
    numbers |= {uart_name(index): LINE_UART0 + index for index in range(uarts)}
    return numbers


def line_count(uarts: int) -> int:
    """Lines that a core needs for ``uarts`` serial ports."""
    return 1 + max(lines(uarts).values())
