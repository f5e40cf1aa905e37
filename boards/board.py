"""What a board is: the facts that a SoC, a project for its FPGA's tools and a user need."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from litedram.modules import SDRAMModule
from litespi.opcodes import SpiNorFlashOpCodes
from litespi.spi_nor_flash_module import SpiNorFlashModule
from litex.build.generic_platform import GenericPlatform

from tierv.soc.params import FAST_ETHERNET, GIGABIT_ETHERNET, SocParams, least_eth_clock_hz

MIN_GIGABIT_CLOCK_HZ = least_eth_clock_hz(GIGABIT_ETHERNET)
#: What the name of a board that is built another way ends in.
BIOS_SUFFIX, DEBUG_SUFFIX = "_bios", "_debug"
#: Memories of LiteX's BIOS.
BIOS_ROM_BYTES, BIOS_SRAM_BYTES = 64 << 10, 8 << 10
#: A word of a flash at its slowest, by one data pin, is some 300 cycles away.
FLASH_TIMEOUT_CYCLES = 1024
#: Of a board with little block RAM: the services with fewer packets, all in the local memories.
LITTLE_MEMORY = {"itcm_bytes": 96 << 10, "eth_rx_slots": 4, "eth_tx_slots": 2, "echo_bins": 256}
#: Sizes of ``firmware/config.h`` that go with it.
LITTLE_DEFINES = (
    "NET_RECEIVE_PACKETS=6",
    "NET_APPLICATION_HOLD=4",
    "NET_SERIAL_PACKETS=7",
    "TERMINAL_TRANSMIT_WORDS=512",
    "LIN_NODES=2",
)
#: What such a board with a BIOS, which takes much of it, has left for the local memories.
SMALL_LOCAL = {"itcm_bytes": 32 << 10, "dtcm_bytes": 16 << 10}
#: Caches of external memory; longer lines on Intel's FPGAs, because the tags are registers there.
CACHES = {"icache_bytes": 8 << 10, "dcache_bytes": 8 << 10}
CYCLONE_CACHES = {"icache_bytes": 4 << 10, "dcache_bytes": 4 << 10, "cache_line_bytes": 64}
#: Of an ECP5 with DDR3. Its system clock is half of the memory's; LiteX's own targets have 48 to
#: 75 MHz.
ECP5_DDR3 = {"sys_clk_hz": 62_500_000, **CACHES}
#: How a flash is read by so many data pins.
_FLASH_READS = {1: SpiNorFlashOpCodes.READ_1_1_1, 4: SpiNorFlashOpCodes.READ_1_1_4}


class Family(enum.Enum):
    """Families of FPGAs, each with tools and a PLL of its own."""

    ARTIX7 = "Xilinx Artix-7"
    CYCLONE4 = "Intel Cyclone IV E"
    CYCLONE5 = "Intel Cyclone V"
    ECP5 = "Lattice ECP5"


class Phy(enum.Enum):
    """How the FPGA is connected to its Ethernet PHY."""

    NONE = "none"
    #: 10 and 100 Mbit/s, clocks from the PHY.
    MII = "MII, 100 Mbit/s"
    #: 1 Gbit/s only.
    RGMII = "RGMII, 1 Gbit/s"

    @property
    def bits_per_second(self) -> int:
        """What the wire carries, or would carry."""
        return GIGABIT_ETHERNET if self is Phy.RGMII else FAST_ETHERNET


@dataclass(frozen=True)
class SerialPins:
    """Pins of a serial interface: sites, or ``connector:number``, and where a user finds them."""

    tx: str
    rx: str
    #: For people: connector and pin numbers.
    where: str


@dataclass(frozen=True, kw_only=True)
class ExternalMemory:
    """An SDRAM, and what the SoC in front of it is to be like."""

    #: LiteDRAM's description of the chip, and its data pins.
    module: type[SDRAMModule]
    data_bits: int = 16
    #: Resource of its pins, and of its clock if that is a pin apart (single data rate).
    pins: str
    clock: str | None = None
    #: Degrees by which that clock is behind the system's.
    clock_phase: int = 90
    #: Whether there are pins that mask bytes.
    masks: bool = True
    #: For people: where it is, if a user has to add it.
    where: str | None = None
    #: What differs in ``SocParams``: caches, and room in the block RAMs for them and for a BIOS.
    soc: Mapping[str, int] = field(hash=False)

    @property
    def total_bytes(self) -> int:
        """Size of the chip."""
        return self.module.nbanks * self.module.nrows * self.module.ncols * self.data_bits // 8


@dataclass(frozen=True, kw_only=True)
class SpiFlash:
    """The flash from which the FPGA starts, with room for a program that a BIOS boots."""

    #: LiteSPI's description of the chip, and the data pins by which it is read, 1 or 4.
    chip: type[SpiNorFlashModule]
    data_pins: int = 4
    #: Where the program begins, in bytes: behind the bitstream.
    program_offset: int

    def module(self) -> SpiNorFlashModule:
        """The chip, with the command by which it is read."""
        return self.chip(_FLASH_READS[self.data_pins])


@dataclass(frozen=True, kw_only=True)
class Board:
    """One board, and the SoC that fits it.

    Raises ``ValueError`` naming the board and the value for what contradicts itself.
    """

    #: Of the command line.
    name: str
    title: str
    family: Family
    #: Makes LiteX's platform: device and pins.
    platform: Callable[[], GenericPlatform]
    #: Resource of the oscillator, and its frequency.
    clock: str
    clock_hz: int
    #: Speed grade as LiteX's PLL of the family wants it.
    speed_grade: str | int | None = None
    #: Resource of the reset button, which is low when pressed.
    reset_n: str | None = None
    #: Resource of the LEDs, and whether they are on when low.
    leds: str = "user_led"
    leds_low: bool = False
    phy: Phy = Phy.NONE
    #: Number of the PHY among the platform's.
    phy_index: int = 0
    #: Delays that the FPGA adds in RGMII, in seconds; the PHY makes up the rest of 2 ns.
    rgmii_tx_delay: float = 0.0
    rgmii_rx_delay: float = 0.0
    #: Resource of a 25 MHz clock that the PHY wants from the FPGA.
    phy_clock: str | None = None
    #: The console's pins and where they are; None: the platform's ``serial``.
    console: SerialPins | None = None
    console_where: str = "USB"
    #: Pins of the serial ports.
    serial: tuple[SerialPins, ...]
    io_standard: str
    soc: SocParams
    #: Clock with external debug, if that is slower.
    debug_sys_clk_hz: int | None = None
    #: External memory, which the SoC uses if ``soc.sdram``.
    memory: ExternalMemory | None = None
    #: Flash of which a BIOS makes use.
    flash: SpiFlash | None = None
    #: Program of ``firmware/apps``, and sizes of ``firmware/config.h`` that differ here.
    app: str = "services"
    defines: tuple[str, ...] = ()
    #: Arguments of openFPGALoader that name the board or its cable.
    loader: tuple[str, ...]
    #: Configuration flash of an Intel board, as Quartus calls it, and the FPGA likewise.
    jic: tuple[str, str] | None = None
    #: What a user has to set on the board.
    jumpers: str = "none"
    notes: tuple[str, ...] = field(default=())

    @property
    def has_ecp5_ddr3(self) -> bool:
        """Whether the SoC uses DDR3 at an ECP5, whose PHY takes part in making the clocks."""
        memory = self.memory
        uses = self.soc.sdram and memory is not None and memory.clock is None
        return uses and self.family is Family.ECP5

    @property
    def make_arguments(self) -> str:
        """What tells ``make`` that it is this board."""
        return " ".join((f"BOARD={self.base_name}", *self._variant_arguments()))

    @property
    def base_name(self) -> str:
        """The board's name, however it is built."""
        return self.name.removesuffix(DEBUG_SUFFIX).removesuffix(BIOS_SUFFIX)

    def _variant_arguments(self) -> list[str]:
        options = [("--with-bios", self.soc.bios), ("--debug", self.soc.debug)]
        given = " ".join(option for option, has in options if has)
        return [f'ARGS="{given}"' if " " in given else f"ARGS={given}"] if given else []

    def __post_init__(self) -> None:
        if len(self.serial) != self.soc.uarts:
            raise ValueError(
                f"serial of {self.name} must be for {self.soc.uarts} ports, not {len(self.serial)}"
            )
        if self.soc.ethernet != (self.phy is not Phy.NONE):
            raise ValueError(f"ethernet of {self.name} must fit phy, not {self.soc.ethernet}")
        if self.phy is Phy.RGMII and self.soc.sys_clk_hz < MIN_GIGABIT_CLOCK_HZ:
            raise ValueError(
                f"sys_clk_hz of {self.name} must be at least {MIN_GIGABIT_CLOCK_HZ} for RGMII,"
                f" not {self.soc.sys_clk_hz}"
            )
        if self.soc.sdram and self.memory is None:
            raise ValueError(f"sdram of {self.name} must be False: it has no external memory")
        if not self.soc.filled_memories:
            raise ValueError(
                f"filled_memories of {self.name} must be True: it has no other program"
            )


def with_bios(board: Board) -> Board:
    """The board with its external memory as ``main_ram``, and LiteX's BIOS, which tests it and
    loads programs into it. It may have fewer serial ports, the first ones.

    Raises ``ValueError`` for a board without such memory.
    """
    if board.memory is None:
        raise ValueError(f"board must have external memory for a BIOS, which {board.name} has not")
    changes = {
        "sdram": True,
        "sdram_masks": board.memory.masks,
        "bios": True,
        # The only MAC that LiteX's BIOS knows has slots.
        "eth_dma": False,
        "main_ram_bytes": 0,
        "rom_bytes": BIOS_ROM_BYTES,
        "sram_bytes": BIOS_SRAM_BYTES,
        **board.memory.soc,
    }
    if board.flash is not None:
        changes["flash_boot_offset"] = board.flash.program_offset
        changes["bus_timeout_cycles"] = FLASH_TIMEOUT_CYCLES
    soc = replace(board.soc, **changes)
    serial = board.serial[: soc.uarts]
    return replace(board, name=f"{board.name}{BIOS_SUFFIX}", soc=soc, serial=serial)


def with_debug(board: Board) -> Board:
    """The board with external debug, through the JTAG of its FPGA."""
    clock = board.debug_sys_clk_hz or board.soc.sys_clk_hz
    soc = replace(board.soc, debug=True, sys_clk_hz=clock)
    return replace(board, name=f"{board.name}{DEBUG_SUFFIX}", soc=soc)


def board_params(**changes) -> SocParams:
    """``SocParams`` as boards use them: the program is in the local memories from the start, and
    frames go to and from there by DMA.
    """
    usual = {
        "filled_memories": True,
        "eth_dma": changes.get("ethernet", True),
        "itcm_bytes": 128 << 10,
        "dtcm_bytes": 64 << 10,
        "rom_bytes": 0,
        "sram_bytes": 0,
        "main_ram_bytes": 0,
    }
    return SocParams(**usual | changes)
