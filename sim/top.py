"""The SoC as it is simulated: pins for the harness, clocks and reset from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

from litedram.modules import M12L64322A, SDRAMModule
from litedram.phy import model as sdram_model
from litedram.phy.model import BankModel, SDRAMPHYModel
from litespi.modules import S25FL128L
from litespi.opcodes import SpiNorFlashOpCodes
from litespi.phy.model import LiteSPIPHYModel
from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.gen import LiteXModule
from migen import ClockDomain, Memory, Record, Signal

from tierv.soc import map as soc_map
from tierv.soc.debug import JTAG_PINS
from tierv.soc.mailbox import mailbox_layout
from tierv.soc.params import SocParams
from tierv.soc.soc import TierVSoC

#: LEDs on the pins.
LEDS = 8
#: Pins of a serial interface.
UART_PINS = ("tx", "rx", "rts_n", "cts_n")
#: Name of the Verilog module.
TOP_MODULE = "sim"
#: External memory that the BIOS tests; more takes long.
_MEMTEST_BYTES = 8 << 10


class _UnmaskedBank(BankModel):
    """A bank of a chip whose mask pins are tied: every byte of a word is written."""

    def __init__(self, *arguments, **options) -> None:
        BankModel.__init__(self, *arguments, **options)
        # What the PHY drives from now on; the bank has had its own, which stays 0.
        self.write_mask = Signal.like(self.write_mask)


def _record(layout: list[tuple[str, int]]) -> list[Subsignal]:
    return [Subsignal(name, Pins(width)) for name, width in layout]


def _io(params: SocParams) -> list[tuple]:
    bits = params.eth_bits_per_clock
    mii = [("rx_dv", 1), ("rx_er", 1), ("rx_data", bits), ("tx_en", 1), ("tx_data", bits)]
    uarts = params.uart_pins
    return [
        ("sys_clk", 0, Pins(1)),
        ("sys_rst", 0, Pins(1)),
        ("uarts", 0, *_record([(name, uarts) for name in UART_PINS])),
        ("lines", 0, Pins(soc_map.EXTERNAL_LINES)),
        *(("user_led", index, Pins(1)) for index in range(LEDS)),
        ("eth_clocks", 0, *_record([("tx", 1), ("rx", 1)])),
        ("eth", 0, *_record(mii)),
        ("mailbox", 0, *_record(mailbox_layout())),
        ("retire", 0, *_record([("valid", 1), ("tier", 3), ("pc", 32)])),
        *([("jtag", 0, *_record([(name, 1) for name in JTAG_PINS]))] if params.debug else []),
    ]


class SimulationPlatform(SimPlatform):
    """LiteX's simulation platform, without its harness."""

    def __init__(self, params: SocParams) -> None:
        SimPlatform.__init__(self, "SIM", _io(params))

    def build(self, *args, **kwargs) -> None:
        """Nothing: ``design`` writes the Verilog, and only software is built LiteX's way."""


class _ClocksAndReset(LiteXModule):
    def __init__(self, platform: SimulationPlatform) -> None:
        self.rst = Signal()
        self.debug_reset = Signal()
        self.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst") | self.rst | self.debug_reset),
        ]


class SimulationSoC(TierVSoC):
    """``TierVSoC`` with the pins of all serial interfaces in vectors, and with the mailbox."""

    def __init__(self, params: SocParams) -> None:
        platform = SimulationPlatform(params)
        self._uart_pins = platform.request("uarts")
        TierVSoC.__init__(
            self,
            platform,
            params,
            _ClocksAndReset(platform),
            timing_constraints=False,
            phy_hw_reset=False,
        )
        self._show_retirement(platform.request("retire"))
        # For the BIOS: main_ram may have been loaded and is not to be tested unless it is external
        # memory, and there is no PHY to be given 0.4 s of reset.
        if params.sdram:
            self.add_constant("MEMTEST_DATA_SIZE", _MEMTEST_BYTES)
            self.add_constant("MEMTEST_ADDR_SIZE", _MEMTEST_BYTES)
        else:
            self.add_config("MAIN_RAM_INIT", 1)
        self.add_constant("ETH_PHY_NO_RESET")

    def _show_retirement(self, pads: Record) -> None:
        """Connect what the CPU tells of its instructions, if it does."""
        if hasattr(self.cpu, "retire_valid"):
            self.comb += [
                pads.valid.eq(self.cpu.retire_valid),
                pads.tier.eq(self.cpu.retire_tier),
                pads.pc.eq(self.cpu.retire_pc),
            ]

    def sdram_phy(self) -> tuple[LiteXModule, SDRAMModule]:
        """LiteDRAM's model of an SDRAM of 8 MiB, as on a Colorlight i9: 32 bits, single rate."""
        module = M12L64322A(self.params.sys_clk_hz, "1:1")
        bank = BankModel if self.params.sdram_masks else _UnmaskedBank
        with patch.object(sdram_model, "BankModel", bank):
            phy = SDRAMPHYModel(module, data_width=32, clk_freq=self.params.sys_clk_hz)
        return phy, module

    def spi_flash(self) -> dict[str, Any]:
        """LiteSPI's model of a chip as on the Arty; its words are big-endian."""
        module = S25FL128L(SpiNorFlashOpCodes.READ_1_1_4)
        self.spiflash_phy = phy = LiteSPIPHYModel(module)
        specials = phy.phy._fragment.specials
        self._flash_memories = [one for one in specials if isinstance(one, Memory)]
        return {"mode": "4x", "module": module, "phy": phy}

    def backdoor_memories(self) -> dict[str, Sequence[Memory | tuple[str, str]]]:
        """Those of every SoC, and the flash."""
        memories = TierVSoC.backdoor_memories(self)
        if self.params.flash_boot_offset is not None:
            memories["spiflash"] = self._flash_memories
        return memories

    def uart_pads(self, index: int) -> Record:
        """A record with the wires of serial interface ``index`` in the vectors."""
        pads = Record([(name, 1) for name in UART_PINS])
        pins = self._uart_pins
        self.comb += [
            pins.tx[index].eq(pads.tx),
            pads.rx.eq(pins.rx[index]),
            pins.rts_n[index].eq(pads.rts_n),
            pads.cts_n.eq(pins.cts_n[index]),
        ]
        return pads
