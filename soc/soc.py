"""The SoC around the core, the same for every CPU, board and simulation."""

from __future__ import annotations

import dataclasses
import importlib
import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from litedram.modules import SDRAMModule
from litex.gen import LiteXModule
from litex.soc.cores import cpu as litex_cpu
from litex.soc.cores.led import LedChaser
from litex.soc.integration.soc import SoCRegion
from litex.soc.integration.soc_core import SoCCore
from litex.soc.interconnect import wishbone
from migen import If, Memory, Record, Signal

from tierv.rtl.params import CoreParams

from . import map as soc_map
from .crc_checker import in_place_of_liteeths
from .debug import Jtag, jtag_pins
from .dma import add_ethernet_dma
from .echo_instrument import EchoInstrument
from .ethernet import GmiiPhy, MiiPhy
from .mailbox import Mailbox, mailbox_constants
from .params import CONSOLE_FIFO_BYTES, GIGABIT_ETHERNET, SocParams
from .serial import SOURCES as SERIAL_SOURCES
from .serial import SerialParams, SerialPorts
from .whole_words import WholeWords

#: The most that the SPI flash's clock may have, and its clocks for a word: command, address, dummy
#: bits and data, all by one pin.
_FLASH_CLOCK_HZ = 20_000_000
_FLASH_BITS = 8 + 24 + 8 + 32
#: Memories on the bus whose origin a CPU class may not move.
_FIXED_ORIGINS = ("rom", "sram", "main_ram")


def register_cpus() -> Mapping[str, type]:
    """LiteX's CPUs by name, this package's own among them."""
    plugin = f"{__package__}.cpu"
    try:
        importlib.import_module(plugin)
    except ModuleNotFoundError as error:
        if error.name != plugin:
            raise
    for cpu in litex_cpu.CPUS.values():
        # LiteX adds a CPU's reserved lines to what is otherwise the same for all of them.
        if cpu.interrupts is litex_cpu.CPU.interrupts:
            cpu.interrupts = {}
    return litex_cpu.CPUS


def check_cpu(name: str, variant: str) -> None:
    """Raises ``ValueError`` naming the value for a CPU or variant that LiteX doesn't know."""
    cpus = register_cpus()
    if name not in cpus or cpus[name] is litex_cpu.CPUNone:
        known = ", ".join(sorted(set(cpus) - {"None"}))
        raise ValueError(f"cpu must be one of {known}, not {name!r}")
    if variant not in cpus[name].variants:
        known = ", ".join(sorted(cpus[name].variants))
        raise ValueError(f"cpu_variant of {name} must be one of {known}, not {variant!r}")


class BusErrors(LiteXModule):
    """Answers an access that timed out with ``err`` beside LiteX's ``ack`` and all-ones data.

    LiteX acknowledges it, which is all that a CPU without an error input can understand.
    """

    def __init__(self, interconnect, masters: Iterable[wishbone.Interface]) -> None:
        grant = interconnect.arbiter.rr.grant
        for index, master in enumerate(masters):
            failed = interconnect.timeout.error & (grant == index)
            self.comb += If(failed, master.err.eq(1))


class TierVSoC(SoCCore):
    """Memories, serial ports, timer, LEDs, Ethernet and lines around one CPU.

    The platform gives the pins: ``serial`` by number (``tx``, ``rx``), ``user_led``, ``lines``
    (optional; in step with ``sys``, as the CPU takes them), ``echo`` (optional; of
    ``echo_layout``), ``eth_clocks`` and ``eth`` with Ethernet, and ``mailbox`` with the mailbox; a
    subclass can give them otherwise by overriding
    ``uart_pads``, ``led_pads`` and ``ethernet_phy``. ``crg`` makes the clock domain ``sys``, and
    resets it, but goes on with its clock, while its ``debug_reset`` is 1.
    Raises ``ValueError`` naming the value for a CPU or variant that LiteX doesn't know.
    """

    def __init__(
        self,
        platform,
        params: SocParams,
        crg: LiteXModule,
        *,
        timing_constraints: bool = True,
        phy_hw_reset: bool = True,
    ) -> None:
        check_cpu(params.cpu, params.cpu_variant)
        self.params = params
        self.local_memory_bytes = {"itcm": params.itcm_bytes, "dtcm": params.dtcm_bytes}
        self.mem_map = dict(soc_map.ORIGINS)
        self.csr_map = dict(soc_map.CSR_PAGES)
        self.interrupt_map = soc_map.lines(params.uarts)
        if not params.ethernet:
            del self.interrupt_map["ethmac"]
        if not params.echo_bins:
            del self.interrupt_map["echo"]
        SoCCore.__init__(
            self,
            platform,
            params.sys_clk_hz,
            cpu_type=params.cpu,
            cpu_variant=params.cpu_variant,
            bus_timeout=params.bus_timeout_cycles,
            csr_address_width=soc_map.CSR_WORDS_LOG2,
            csr_paging=soc_map.CSR_PAGE_BYTES,
            integrated_rom_size=params.rom_bytes,
            integrated_sram_size=params.sram_bytes,
            integrated_main_ram_size=params.main_ram_bytes,
            ident="TierV SoC",
            ident_version=False,
            with_uart=False,
        )
        for name in _FIXED_ORIGINS:
            if self.mem_map[name] != soc_map.ORIGINS[name]:
                raise ValueError(
                    f"cpu must leave {name} at {soc_map.ORIGINS[name]:#010x},"
                    f" not move it to {self.mem_map[name]:#010x} as {params.cpu!r} does"
                )
        if not hasattr(self.cpu, "interrupt"):
            raise ValueError(f"cpu must be one with interrupt lines, not {params.cpu!r}")
        self._fit_core()
        if params.sdram:
            self._add_sdram()
        if params.flash_boot_offset is not None:
            self._add_flash()
        self.crg = crg
        self._add_console()
        self.add_constant("UARTS", params.uarts)
        if params.uarts:
            self._add_serial_ports()
        self._add_external_lines()
        self.leds = LedChaser(self.led_pads(), params.sys_clk_hz)
        if params.ethernet:
            self._add_ethernet(timing_constraints, phy_hw_reset)
        if params.echo_bins:
            self._add_echo()
        if params.mailbox:
            self._add_mailbox()
        if params.debug:
            self._add_debug()

    def jtag(self) -> Jtag:
        """Where the debugger comes from."""
        return jtag_pins(self.platform.request("jtag"))

    def uart_pads(self, index: int) -> Record:
        """Pins of the console (0) or of serial port ``index - 1``.

        A record with ``tx`` and ``rx``, and ``rts_n`` and ``cts_n`` where there are such pins.
        """
        return self.platform.request("serial", index)

    def led_pads(self) -> Signal:
        """Pins of the LEDs; 1 is on."""
        return self.platform.request_all("user_led")

    def ethernet_phy(self, *, hw_reset: bool) -> LiteXModule:
        """The interface to the Ethernet PHY, as LiteEth's MAC wants it, and for DMA with the
        attribute ``bits_per_second``, as those of ``ethernet.py`` have it.

        With ``hw_reset`` it resets the PHY after configuration.
        """
        phy = GmiiPhy if self.params.eth_bits_per_second == GIGABIT_ETHERNET else MiiPhy
        return phy(
            self.platform.request("eth_clocks"),
            self.platform.request("eth"),
            with_hw_init_reset=hw_reset,
        )

    def sdram_phy(self) -> tuple[LiteXModule, SDRAMModule]:
        """LiteDRAM's PHY of the external memory, and the memory's geometry and timing."""
        raise NotImplementedError("this platform has no external memory")

    def spi_flash(self) -> dict[str, Any]:
        """What LiteX's ``add_spi_flash`` is to be called with."""
        raise NotImplementedError("this platform has no SPI flash")

    def backdoor_memories(self) -> dict[str, Sequence[Memory | tuple[str, str]]]:
        """The arrays behind the memory regions, by region name, for a simulation to load.

        A region has one array or several whose words take turns (word 0 in the first, word 1 in
        the second and so on). An array is a Migen memory, or the names of a Verilog module and of
        the array in it. A CPU with memories of its own has an attribute ``backdoor_memories`` of
        the same form.
        """
        names = (name for name in ("rom", "sram", "main_ram") if hasattr(self, name))
        memories: dict = {name: [getattr(self, name).mem] for name in names}
        return memories | dict(getattr(self.cpu, "backdoor_memories", {}))

    def _fit_core(self) -> None:
        """Build this project's core with no more lines than there are: each has its logic."""
        if self.params.filled_memories:
            self.cpu.filled_memories = True
            self.add_config("FILLED_MEMORIES")
            if not self.params.bios:
                # LiteX has every core start where a ROM is, or would be.
                self.cpu.set_reset_address(soc_map.ORIGINS["itcm"])
                self.add_config("CPU_RESET_ADDR", soc_map.ORIGINS["itcm"], check_duplicate=False)
        parameters = getattr(self.cpu, "parameters", None)
        if isinstance(parameters, CoreParams):
            lines = soc_map.line_count(self.params.uarts)
            self.cpu.parameters = dataclasses.replace(parameters, lines=lines, **self.params.caches)

    def _add_sdram(self) -> None:
        """Connect ``main_ram``: the bus without a cache of LiteX's, for one between the bus and
        the memory would not see what the core's own caches store."""
        phy, module = self.sdram_phy()
        # LiteX's software knows it by this name, if it has registers.
        self.ddrphy = phy
        self.cpu.whole_words = not self.params.sdram_masks
        self.add_sdram("sdram", phy=phy, module=module, l2_cache_size=0)
        if not self.params.sdram_masks:
            memory = self.bus.slaves["main_ram"]
            self.whole_words = WholeWords(memory, getattr(self.cpu, "cached_words", None))
            self.bus.slaves["main_ram"] = self.whole_words.bus
        if self.params.icache_bytes or self.params.dcache_bytes:
            self.cpu.cache(1 << (self.bus.regions["main_ram"].size - 1).bit_length())

    def _add_flash(self) -> None:
        """Connect the SPI flash, and tell a BIOS where in it a program is."""
        options = self.spi_flash()
        offset, size = self.params.flash_boot_offset, options["module"].total_size
        if offset >= size:
            raise ValueError(f"flash_boot_offset must be below {size}, the flash's, not {offset!r}")
        if "phy" not in options:
            # LiteSPI acknowledges a word also if the bus has given it up: another access then.
            bit_cycles = 2 * math.ceil(self.params.sys_clk_hz / (2 * _FLASH_CLOCK_HZ))
            least, cycles = _FLASH_BITS * bit_cycles + 64, self.params.bus_timeout_cycles
            if cycles < least:
                raise ValueError(
                    f"bus_timeout_cycles must be at least {least} with a flash, not {cycles!r}"
                )
        self.add_spi_flash(clk_freq=_FLASH_CLOCK_HZ, **options)
        address = soc_map.ORIGINS["spiflash"] + offset
        self.add_constant("FLASH_BOOT_ADDRESS", address)

    def _add_console(self) -> None:
        self.add_uart(
            name="uart",
            uart_pads=self.uart_pads(0),
            baudrate=self.params.uart_baud,
            fifo_depth=CONSOLE_FIFO_BYTES,
            with_dynamic_baudrate=True,
        )

    def _add_serial_ports(self) -> None:
        params = self.params
        for source in SERIAL_SOURCES:
            self.platform.add_source(str(source))
        self.serial = SerialPorts(
            [self.uart_pads(index + 1) for index in range(params.uarts)],
            SerialParams(
                sys_clk_hz=params.sys_clk_hz,
                baud=params.uart_baud,
                ports=params.uarts,
                receive_depth=params.uart_receive_bytes,
                transmit_depth=params.uart_transmit_bytes,
                stamps=params.uart_stamps,
            ),
        )
        for index, irq in enumerate(self.serial.irqs):
            self.comb += self.cpu.interrupt[soc_map.LINE_UART0 + index].eq(irq)
        for name, value in self.serial.constants().items():
            self.add_constant(name, value)

    def _add_external_lines(self) -> None:
        """External lines, but for those whose number the CPU has for itself."""
        pads = self.platform.request("lines", loose=True)
        own = set(getattr(self.cpu, "reserved_interrupts", {}).values())
        for index in range(soc_map.EXTERNAL_LINES):
            number = soc_map.LINE_EXTERNAL0 + index
            if number in own:
                continue
            self.irq.add(soc_map.external_line_name(index), number)
            if pads is not None:
                self.comb += self.cpu.interrupt[number].eq(pads[index])

    def _add_ethernet(self, timing_constraints: bool, phy_hw_reset: bool) -> None:
        self.ethphy = self.ethernet_phy(hw_reset=phy_hw_reset)
        with in_place_of_liteeths():
            self._add_mac(timing_constraints)

    def _add_mac(self, timing_constraints: bool) -> None:
        if self.params.eth_dma:
            add_ethernet_dma(self, self.ethphy, timing_constraints=timing_constraints)
            return
        self.add_ethernet(
            phy=self.ethphy,
            nrxslots=self.params.eth_rx_slots,
            ntxslots=self.params.eth_tx_slots,
            with_timing_constraints=timing_constraints,
            local_ip=self.params.local_ip,
            remote_ip=self.params.remote_ip,
            mac_address=int(self.params.mac_address.replace(":", ""), 16),
        )

    def _add_echo(self) -> None:
        pads = self.platform.request("echo", loose=True)
        self.echo = EchoInstrument(pads, bins=self.params.echo_bins)
        for name, value in self.echo.constants().items():
            self.add_constant(name, value)

    def _add_mailbox(self) -> None:
        self.mailbox = Mailbox(self.platform.request("mailbox"))
        region = SoCRegion(
            origin=soc_map.ORIGINS["mailbox"], size=soc_map.SIZES["mailbox"], cached=False
        )
        self.bus.add_slave("mailbox", self.mailbox.bus, region=region)
        for name, value in mailbox_constants().items():
            self.add_constant(name, value)

    def _add_debug(self) -> None:
        """Add the debug module, which can reset everything but itself."""
        self.debug = self.cpu.add_debug(self.jtag())
        self.bus.add_master(name="debug", master=self.debug.bus)
        self.comb += self.crg.debug_reset.eq(self.debug.ndmreset)
        if self.params.ethernet:
            # A part of the MAC has the PHY's clocks. Not before the PHY's own statement.
            crg = self.ethphy.crg
            crg.comb += If(self.debug.ndmreset, crg.reset.eq(1))

    def do_finalize(self) -> None:
        """Complete the timeout of the bus and the serial ports' registers.

        Bus and banks exist only now.
        """
        # A submodule's statements come after those of the interconnect that it completes.
        self.bus_errors = BusErrors(self.bus._interconnect, self.bus.masters.values())
        for name, _, address, bank in self.csr_bankarray.banks:
            if name == "serial":
                self.comb += self.serial.listen(bank, address, paging=self.csr.paging)


def quiet_litex_logs(level: int = logging.WARNING) -> None:
    """Hold back LiteX's log of how it puts the SoC together."""
    for name in ("SoC", "SoCBusHandler", "SoCCSRHandler", "SoCIRQHandler", "SoCRegion"):
        logging.getLogger(name).setLevel(level)
