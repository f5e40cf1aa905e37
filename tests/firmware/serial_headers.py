"""What LiteX generates for a SoC with serial ports, as far as their firmware needs it."""

from __future__ import annotations

from host_build import register_definitions
from migen import Record

from tierv.soc.serial.block import SerialPorts
from tierv.soc.serial.params import SerialParams


def serial_headers(
    params: SerialParams, *, first_line: int, mac_line: int
) -> dict[str, dict[str, object]]:
    """Definitions of ``csr.h`` and ``soc.h``: the first port's interrupt line, the MAC's."""
    block = SerialPorts([Record([("tx", 1), ("rx", 1)]) for _ in range(params.ports)], params)
    soc = {
        "CONFIG_CLOCK_FREQUENCY": params.sys_clk_hz,
        "CONFIG_CPU_TIERS": 1,
        "UARTS": params.ports,
        "SERIAL0_INTERRUPT": first_line,
        "ETHMAC_INTERRUPT": mac_line,
    }
    csr = register_definitions("CSR_SERIAL", block.get_csrs(sort=True))
    return {"csr": csr, "soc": soc | block.constants()}
