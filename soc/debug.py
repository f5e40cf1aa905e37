"""External debug in the SoC: the debug module, and where its JTAG comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from amaranth.lib.wiring import In
from litex.gen import LiteXModule
from litex.soc.interconnect import wishbone
from migen import ClockSignal, Instance, Record, Signal

from tierv.rtl.debug.layout import debug_members
from tierv.rtl.debug.top import DEBUG_MODULE, debug_verilog
from tierv.rtl.params import CoreParams

from .instance_ports import wishbone_ports

#: Pins of JTAG.
JTAG_PINS = ("tck", "tms", "tdi", "tdo")


@dataclass(frozen=True)
class Jtag:
    """Signals for the ports ``jtag_..`` of ``rtl.debug.top.ExternalDebug``, by the rest of the
    name."""

    signals: Mapping[str, Signal]
    #: They are of a TAP that the FPGA has, not of pins.
    fpga_tap: bool
    #: What belongs to it.
    parts: tuple = ()


def jtag_pins(pads: Record) -> Jtag:
    """A TAP of its own on the pins ``JTAG_PINS``."""
    return Jtag({name: getattr(pads, name) for name in JTAG_PINS}, fpga_tap=False)


class ExternalDebug(LiteXModule):
    """The debug module: between JTAG, the core, and the bus, of which it is a master.

    A reset of the SoC does not reach it. ``ndmreset`` is for all of the SoC but this, whose clock
    must go on.
    """

    def __init__(self, params: CoreParams, jtag: Jtag) -> None:
        self.ndmreset = Signal()
        self.bus = wishbone.Interface(data_width=32, address_width=32, addressing="word")
        self._params, self._jtag = params, jtag
        self._members = debug_members(params)
        self._wires = {
            name: Signal(member.shape, name=name) for name, member in self._members.items()
        }
        self.specials += jtag.parts
        ports = {
            "i_clk": ClockSignal("sys"),
            "i_rst": 0,
            "o_ndmreset": self.ndmreset,
            **wishbone_ports("wb_", self.bus),
        }
        for name, member in self._members.items():
            direction = "o" if member.flow is In else "i"
            ports[f"{direction}_{name.removeprefix('debug_')}"] = self._wires[name]
        for name, signal in jtag.signals.items():
            ports[f"{'o' if name == 'tdo' else 'i'}_jtag_{name}"] = signal
        self.specials += Instance(DEBUG_MODULE, **ports)

    def core_ports(self) -> dict[str, Signal]:
        """Ports of the core's instance."""
        return {
            f"{'i' if member.flow is In else 'o'}_{name}": self._wires[name]
            for name, member in self._members.items()
        }

    def write_verilog(self, platform, folder: Path) -> None:
        """Write the module into the folder, and add it to the platform's sources."""
        source = folder / f"{DEBUG_MODULE}.v"
        source.write_text(debug_verilog(self._params, fpga_tap=self._jtag.fpga_tap))
        platform.add_source(str(source))
