"""The cores that are compared, each in the memory that suits it."""

from __future__ import annotations

from collections.abc import Sequence

from . import model
from .program import Context
from .run import Bus, Core

#: LiteX's SRAM acknowledges a cycle after the request, its bridge to CSRs two cycles.
LITEX_BUS = Bus(ram_cycles=2, device_cycles=3, shared=True)
#: Tier counts of the core that are measured.
TIER_COUNTS = (1, 3, 8)
#: The build whose tiers are compared with the traps of the others.
USUAL_TIERS = 3


def tierv(tiers: int, extensions: Sequence[str] = ()) -> Core:
    """The core with local memories; with one tier interrupts are ordinary traps."""
    return Core(
        name=f"TierV N={tiers}",
        hardware=model.tierv(tiers, tuple(extensions)),
        context=Context.TRAP if tiers == 1 else Context.TIERS,
        tiers=tiers,
        own=True,
    )


def vexriscv(variant: str, *, litex_bus: bool = False) -> Core:
    """VexRiscv as LiteX ships it: on a bus that never waits, or on LiteX's."""
    name = f"VexRiscv {variant}" + (", LiteX bus" if litex_bus else "")
    bus = LITEX_BUS if litex_bus else Bus()
    return Core(name=name, hardware=model.vexriscv(variant), context=Context.TRAP, bus=bus)


def picorv32() -> Core:
    """PicoRV32 as LiteX configures it, on memory that answers at once.

    It latches a rising line, so a level that its handler lowers would run the handler twice: its
    lines are pulses.
    """
    return Core(
        name="PicoRV32", hardware=model.picorv32(), context=Context.PICORV32, latches_lines=True
    )


def ibex() -> Core:
    """Ibex without a cache, on memory that answers in the cycle after the request."""
    return Core(name="Ibex maxperf", hardware=model.ibex(), context=Context.IBEX)


def everyone() -> Sequence[Core]:
    """All columns of the results."""
    return (
        *(tierv(tiers) for tiers in TIER_COUNTS),
        vexriscv("standard"),
        vexriscv("standard", litex_bus=True),
        vexriscv("full"),
        picorv32(),
        ibex(),
    )
