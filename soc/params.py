"""The parameters of the SoC: one frozen object that everything built from it reads."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, fields

from tierv.rtl.params import MAX_LOCAL_BYTES, MIN_LOCAL_BYTES, CoreParams

from . import map as soc_map
from .echo_instrument import MAX_BINS
from .serial.params import MAX_DEPTH, baud_range

#: Slots of the MAC in one direction.
MIN_ETH_SLOTS = 2
MAX_ETH_SLOTS = 64
#: More than an access to external memory takes beside a refresh and a line of a cache.
MIN_SDRAM_TIMEOUT_CYCLES = 128
#: Rates of the wire, in bits a second.
FAST_ETHERNET, GIGABIT_ETHERNET = 100_000_000, 1_000_000_000
#: Bytes that the console buffers in each direction.
CONSOLE_FIFO_BYTES = 16

#: A local memory that is filled consists of whole block RAMs: eight for each byte of two words.
FILLED_STEP_BYTES = 16 << 10
#: Memories that there may be; Migen's have two words at the least.
_OPTIONAL_MEMORIES = ("rom", "sram", "main_ram")
_LEAST_BYTES = 8
_LOCAL_MEMORIES = ("itcm", "dtcm")

#: Of the network that firmware takes its address for until DHCP says another
#: (``firmware/apps/network.c``).
PREFIX_BITS = 24
_MAC_ADDRESS = re.compile(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}")
#: In the first byte of a MAC address: it is a group's.
_GROUP = 1


def least_eth_clock_hz(bits_per_second: int) -> int:
    """The slowest clock with which a MAC takes every word of frames before the next one comes."""
    return bits_per_second * 32 // 1000


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True, kw_only=True)
class SocParams:
    """What the SoC is built with. ``dataclasses.replace`` derives variants.

    Raises ``ValueError`` naming the parameter and the value for one that can't be built. Whether
    LiteX knows the CPU is checked when the SoC is made.
    """

    #: LiteX's name of the CPU, and the variant of it.
    cpu: str = "tierv"
    cpu_variant: str = "standard"
    #: Frequency of the clock of everything but the Ethernet pins.
    sys_clk_hz: int = 100_000_000
    #: Serial ports beside the console, 0 to 16.
    uarts: int = soc_map.DEFAULT_UARTS
    #: Speed of the console and the serial ports after reset; firmware may change it.
    uart_baud: int = 115_200
    #: Characters that a serial port buffers, 1 to 256.
    uart_receive_bytes: int = 16
    uart_transmit_bytes: int = 16
    #: Whether a serial port keeps the cycle of each start bit.
    uart_stamps: bool = True
    #: Ethernet MAC with a PHY.
    ethernet: bool = True
    #: Rate of the wire, 100 Mbit/s by MII or 1 Gbit/s by GMII; a board's PHY has its own.
    eth_bits_per_second: int = FAST_ETHERNET
    #: Frames go to and from the local data memory by themselves, not through slots on the bus.
    eth_dma: bool = False
    #: Frames that a MAC with slots buffers; powers of two, and no more to send than received ones.
    eth_rx_slots: int = soc_map.ETH_RX_SLOTS
    eth_tx_slots: int = soc_map.ETH_TX_SLOTS
    #: Bins of the echo instrument's histogram, a power of two; 0: no instrument.
    echo_bins: int = 1024
    #: Addresses that the headers tell to firmware.
    mac_address: str = "10:e2:d5:00:00:01"
    local_ip: str = "192.168.1.50"
    remote_ip: str = "192.168.1.100"
    #: Bytes of the memories, powers of two from 8 on; 0: there is none.
    rom_bytes: int = soc_map.SIZES["rom"]
    sram_bytes: int = soc_map.SIZES["sram"]
    main_ram_bytes: int = soc_map.SIZES["main_ram"]
    #: ``main_ram`` is external memory, which the platform gives, behind LiteDRAM.
    sdram: bool = False
    #: It has pins that mask bytes; otherwise a store of some bytes reads the word before.
    sdram_masks: bool = True
    #: Caches of it, which this project's core has, and their lines; 0: there is none.
    icache_bytes: int = 0
    dcache_bytes: int = 0
    cache_line_bytes: int = CoreParams.cache_line_bytes
    #: Of the local memories, which this project's core has, 1 KiB to 16 MiB: powers of two, or
    #: multiples of 16 KiB if they are filled with a program.
    itcm_bytes: int = soc_map.SIZES["itcm"]
    dtcm_bytes: int = soc_map.SIZES["dtcm"]
    #: The local memories hold a program when the FPGA has been configured; the core starts in it,
    #: also if there is a ROM.
    filled_memories: bool = False
    #: The core starts in ``rom`` all the same: there is a BIOS in it.
    bios: bool = False
    #: The platform's SPI flash is on the bus, and a BIOS looks for a program here in it, a multiple
    #: of four bytes; None: it is not used.
    flash_boot_offset: int | None = None
    #: Cycles after which an access that nobody answers ends in a bus error.
    bus_timeout_cycles: int = 256
    #: External debug of this project's core through JTAG.
    debug: bool = False
    #: The port through which firmware reports to a simulation.
    mailbox: bool = False

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(one.default, bool) and not isinstance(value, bool):
                raise ValueError(f"{one.name} must be True or False, not {value!r}")
        self._check("uarts", 0, soc_map.MAX_UARTS)
        self._check("sys_clk_hz", 1_000_000, 1_000_000_000)
        self._check("uart_baud", *baud_range(self.sys_clk_hz))
        self._check("uart_receive_bytes", 1, MAX_DEPTH)
        self._check("uart_transmit_bytes", 1, MAX_DEPTH)
        self._check("bus_timeout_cycles", 16, 1_000_000)
        if self.flash_boot_offset is not None:
            offset = self._check("flash_boot_offset", 0, soc_map.room("spiflash") - 1)
            if offset % 4:
                raise ValueError(f"flash_boot_offset must be a multiple of 4, not {offset!r}")
        rate = self.eth_bits_per_second
        if not _is_integer(rate) or rate not in (FAST_ETHERNET, GIGABIT_ETHERNET):
            raise ValueError(
                f"eth_bits_per_second must be {FAST_ETHERNET} or {GIGABIT_ETHERNET}, not {rate!r}"
            )
        least = least_eth_clock_hz(rate)
        if self.ethernet and not self.eth_dma and self.sys_clk_hz < least:
            # LiteEth's slots lose a word that comes while they are busy, and tell nobody.
            raise ValueError(
                f"sys_clk_hz must be at least {least} for Ethernet with {rate} bits per second"
                f" without eth_dma, not {self.sys_clk_hz!r}"
            )
        for name in ("eth_rx_slots", "eth_tx_slots"):
            slots = self._check(name, MIN_ETH_SLOTS, MAX_ETH_SLOTS)
            if slots & (slots - 1):
                raise ValueError(f"{name} must be a power of two, not {slots!r}")
        if self.ethernet and not self.eth_dma and self.eth_tx_slots > self.eth_rx_slots:
            # LiteX has the one's memory behind the other's, where its size must be aligned.
            raise ValueError(
                f"eth_tx_slots must be at most eth_rx_slots, {self.eth_rx_slots}, not"
                f" {self.eth_tx_slots!r}"
            )
        self._check_memories()
        if self.debug and self.cpu != "tierv":
            raise ValueError(f"debug must be False with the CPU {self.cpu!r}, not {self.debug!r}")
        if not self.sdram and not self.sdram_masks:
            raise ValueError("sdram_masks must be True without sdram, not False")
        if self.sdram and self.bus_timeout_cycles < MIN_SDRAM_TIMEOUT_CYCLES:
            # LiteDRAM's bridge may give the next store's word to one that has been given up.
            raise ValueError(
                f"bus_timeout_cycles must be at least {MIN_SDRAM_TIMEOUT_CYCLES} with sdram, not"
                f" {self.bus_timeout_cycles!r}"
            )
        if self.sdram and self.main_ram_bytes:
            raise ValueError(f"main_ram_bytes must be 0 with sdram, not {self.main_ram_bytes!r}")
        for name in ("icache_bytes", "dcache_bytes"):
            size = getattr(self, name)
            if size and (self.cpu != "tierv" or not self.sdram):
                reason = f"for {self.cpu!r}" if self.cpu != "tierv" else "without sdram"
                raise ValueError(f"{name} must be 0 {reason}, not {size!r}")
        CoreParams(**self.caches, debug=self.debug)
        if self.bios and not self.rom_bytes:
            raise ValueError("rom_bytes must not be 0 with bios: it is where the BIOS is")
        if self.bios and not self.sram_bytes:
            raise ValueError("sram_bytes must not be 0 with bios: it has its variables there")
        if not self.rom_bytes and not self.filled_memories:
            raise ValueError("rom_bytes must not be 0 without filled_memories: nothing to start in")
        if self.filled_memories and self.cpu != "tierv":
            raise ValueError(f"filled_memories must be False for {self.cpu!r}: it has none")
        if self.eth_dma and self.cpu != "tierv":
            raise ValueError(f"eth_dma must be False for {self.cpu!r}: it has no local memory")
        if self.eth_dma and not self.ethernet:
            raise ValueError("eth_dma must be False without ethernet, not True")
        bins = self._check("echo_bins", 0, MAX_BINS)
        if bins & (bins - 1) or bins == 1:
            raise ValueError(f"echo_bins must be 0 or a power of two from 2 on, not {bins!r}")
        self._check_mac()
        for name in ("local_ip", "remote_ip"):
            self._check_ip(name)

    @property
    def caches(self) -> dict[str, int]:
        """The core's parameters of this name."""
        names = ("icache_bytes", "dcache_bytes", "cache_line_bytes")
        return {name: getattr(self, name) for name in names}

    @property
    def eth_bits_per_clock(self) -> int:
        """Bits of a frame on the PHY's pins: a nibble by MII, a byte by GMII."""
        return 8 if self.eth_bits_per_second == GIGABIT_ETHERNET else 4

    @property
    def eth_clock_hz(self) -> int:
        """Rate of the PHY's clocks."""
        return self.eth_bits_per_second // self.eth_bits_per_clock

    @property
    def uart_pins(self) -> int:
        """Serial interfaces on the pins: 0 is the console's, ``k + 1`` that of port ``k``."""
        return 1 + self.uarts

    @property
    def address_constants(self) -> dict[str, int]:
        """What headers call the bytes of the firmware's own addresses, and their values."""
        mac = bytes.fromhex(self.mac_address.replace(":", ""))
        ip = ipaddress.IPv4Address(self.local_ip).packed
        named = (("MACADDR", mac), ("LOCALIP", ip))
        return {
            f"{name}{number}": byte for name, data in named for number, byte in enumerate(data, 1)
        }

    def _check_memories(self) -> None:
        for name in _OPTIONAL_MEMORIES:
            size = self._check(f"{name}_bytes", 0, soc_map.room(name))
            if size & (size - 1) or 0 < size < _LEAST_BYTES:
                raise ValueError(
                    f"{name}_bytes must be 0 or a power of two from {_LEAST_BYTES} on, not {size!r}"
                )
        for name in _LOCAL_MEMORIES:
            size = self._check(f"{name}_bytes", MIN_LOCAL_BYTES, MAX_LOCAL_BYTES)
            if self.filled_memories and not self.bios:
                if size % FILLED_STEP_BYTES:
                    step = FILLED_STEP_BYTES
                    raise ValueError(f"{name}_bytes must be a multiple of {step}, not {size!r}")
            elif size & (size - 1):
                raise ValueError(f"{name}_bytes must be a power of two, not {size!r}")

    def _check_mac(self) -> None:
        mac = self.mac_address
        if not isinstance(mac, str) or not _MAC_ADDRESS.fullmatch(mac):
            raise ValueError(f"mac_address must be like 10:e2:d5:00:00:01, not {mac!r}")
        data = bytes.fromhex(mac.replace(":", ""))
        if data[0] & _GROUP or not any(data):
            raise ValueError(f"mac_address must be a station's (not 0, no group's), not {mac!r}")

    def _check_ip(self, name: str) -> None:
        text = getattr(self, name)
        try:
            # An integer or an object would be an address, too, but not to LiteX.
            address = ipaddress.IPv4Address(text if isinstance(text, str) else repr(text))
        except ValueError:
            raise ValueError(f"{name} must be an IPv4 address, not {text!r}") from None
        network = ipaddress.IPv4Network((text, PREFIX_BITS), strict=False)
        first = address.packed[0]
        # firmware/net/wire/ipv4.h, ipv4_is_host()
        is_host = 0 < first < 224 and not address.is_loopback
        if not is_host or address in (network.network_address, network.broadcast_address):
            raise ValueError(
                f"{name} must be a host's in {network} (no group's, loopback or broadcast address),"
                f" not {text!r}"
            )

    def _check(self, name: str, low: int, high: int) -> int:
        value = getattr(self, name)
        if not _is_integer(value) or not low <= value <= high:
            raise ValueError(f"{name} must be an integer from {low} to {high}, not {value!r}")
        return value
