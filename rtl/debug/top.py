"""The debug module with a JTAG transport before it: what lies beside the core."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from ..emit import to_verilog
from ..params import CoreParams
from ..util import join_ports
from .module import DebugModule
from .transport import DebugTransport, JtagTap

#: Name of the Verilog module.
DEBUG_MODULE = "tierv_debug"
#: What a TAP of the FPGA tells of its user registers.
_FPGA_TAP = ("tck", "tdi", "capture", "shift", "update", "selects_dtmcs", "selects_dmi")


class ExternalDebug(wiring.Component):
    """JTAG on pins, or on the registers that the TAP of an FPGA leaves to its user; and the debug
    module. One clock; it has no reset but dmactive, for a reset of the core must not reach it.

    The ports are ``jtag_tck``, ``tms``, ``tdi`` and ``tdo``. With ``fpga_tap`` they are ``tck``,
    ``tdi``, ``tdo``; ``capture``, ``shift`` and ``update``, which are high in these states of the
    TAP; ``selects_dtmcs`` and ``selects_dmi``. TCK is at most a twelfth of the clock, on pins an
    eighth.
    """

    def __init__(self, params: CoreParams, *, fpga_tap: bool = False) -> None:
        self._fpga_tap = fpga_tap
        self._module = DebugModule(params)
        pins = _FPGA_TAP if fpga_tap else ("tck", "tms", "tdi")
        members: dict = {f"jtag_{name}": In(1) for name in pins} | {"jtag_tdo": Out(1)}
        self._shared = [
            name for name in self._module.signature.members if not name.startswith("dmi_")
        ]
        members |= {name: self._module.signature.members[name] for name in self._shared}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        m = Module()
        module = m.submodules.module = self._module
        transport = m.submodules.transport = DebugTransport()
        join_ports(m, self, module, {name: name for name in self._shared})
        m.d.comb += [
            module.dmi_valid.eq(transport.dmi_valid),
            module.dmi_write.eq(transport.dmi_write),
            module.dmi_address.eq(transport.dmi_address),
            module.dmi_write_data.eq(transport.dmi_write_data),
            transport.dmi_read_data.eq(module.dmi_read_data),
        ]
        if self._fpga_tap:
            self._join_fpga_tap(m, transport)
            return m
        tap = m.submodules.tap = JtagTap()
        m.d.comb += [
            tap.tck.eq(self.jtag_tck),
            tap.tms.eq(self.jtag_tms),
            tap.tdi.eq(self.jtag_tdi),
            self.jtag_tdo.eq(tap.tdo),
            transport.capture.eq(tap.capture),
            transport.shift.eq(tap.shift),
            transport.update.eq(tap.update),
            transport.selects_dmi.eq(tap.selects_dmi),
            transport.tdi.eq(tap.register_tdi),
            tap.register_tdo.eq(transport.tdo),
        ]
        return m

    def _join_fpga_tap(self, m: Module, transport: DebugTransport) -> None:
        """The state before a rising edge of TCK is what happens at the edge. TDI is taken a cycle
        later, for some TAPs tell what it was at the edge; TDO is for the falling edge."""
        levels = Signal(len(_FPGA_TAP))
        before = Signal(len(_FPGA_TAP))
        m.submodules.levels = FFSynchronizer(
            Cat(getattr(self, f"jtag_{name}") for name in _FPGA_TAP), levels
        )
        m.d.sync += before.eq(levels)
        state = {name: before[number] for number, name in enumerate(_FPGA_TAP)}
        rises = Signal()
        selected = Signal()
        # Update-DR is told of registers that are not ours, too.
        captured = Signal()
        m.d.comb += [
            rises.eq(levels[0] & ~before[0]),
            selected.eq(state["selects_dtmcs"] | state["selects_dmi"]),
            transport.tdi.eq(levels[_FPGA_TAP.index("tdi")]),
            self.jtag_tdo.eq(transport.tdo),
        ]
        m.d.sync += [
            transport.capture.eq(rises & selected & state["capture"]),
            transport.shift.eq(rises & selected & state["shift"]),
            transport.update.eq(rises & captured & state["update"]),
        ]
        with m.If(rises & selected & state["capture"]):
            m.d.sync += [transport.selects_dmi.eq(state["selects_dmi"]), captured.eq(1)]
        with m.Elif(rises & state["update"]):
            m.d.sync += captured.eq(0)


def debug_verilog(params: CoreParams, *, fpga_tap: bool = False) -> str:
    """``ExternalDebug`` as module ``tierv_debug``."""
    part = ExternalDebug(params, fpga_tap=fpga_tap)
    return to_verilog(part, DEBUG_MODULE)
