"""Everything that is measured, as rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import cores
from .interrupts import Background, Handler, Latencies, held_interval, measure
from .kernels import COREMARKS, SPEEDS, coremark_per_mhz, dmips_per_mhz, run_coremark, run_kernels
from .model import build
from .nested import LEVELS, measure_nested
from .program import Context
from .run import Core, RunError
from .slots import measure_slots

Row = dict[str, Any]
#: Copies for each interrupt of a case.
_COPIES = 0.2
#: Of anything that a user may choose.
_MOST = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user may choose.

    Raises ``ValueError`` naming a value that is out of range.
    """

    #: Arrivals of each case.
    interrupts: int = 2_000
    seed: int = 1
    #: CoreMark's folder, if it is to be measured, and its iterations.
    coremark: Path | None = None
    iterations: int = 10

    def __post_init__(self) -> None:
        for name, least in (("interrupts", 20), ("seed", 0), ("iterations", 1)):
            value = getattr(self, name)
            if not least <= value <= _MOST:
                raise ValueError(f"{name} must be {least} to {_MOST}, not {value!r}")


def _idiom(core: Core) -> str:
    return "tier" if core.context is Context.TIERS else "trap"


def _spread_columns(name: str, values: np.ndarray) -> Row:
    return {
        f"{name} min": int(values.min()),
        f"{name} median": float(np.median(values)),
        f"{name} max": int(values.max()),
    }


def _kernel_rows(core: Core, settings: Settings) -> list[Row]:
    rows = []
    times = run_kernels(core)
    if settings.coremark:
        for name, flags in COREMARKS.items():
            times[name] = run_coremark(core, settings.coremark, settings.iterations, flags)
    for name, time in times.items():
        row = {
            "part": "kernels",
            "core": core.name,
            "kernel": name,
            "cycles": time.cycles,
            "instructions": time.instructions,
            "IPC": time.ipc,
        }
        if name == "dhrystone":
            row[SPEEDS[name]] = dmips_per_mhz(time.cycles)
        if name in COREMARKS:
            row[SPEEDS[name]] = coremark_per_mhz(time, settings.iterations)
            row["crcfinal"] = time.crcfinal
        rows.append(row)
    return rows


def _interrupt_row(
    core: Core, handler: Handler, background: Background, settings: Settings
) -> list[Row]:
    found: Latencies = measure(
        core, handler, background, count=settings.interrupts, seed=settings.seed
    )
    row: Row = {
        "part": "interrupts",
        "core": core.name,
        "idiom": _idiom(core),
        "background": str(background),
        "handler": str(handler),
        "interrupts": len(found.first),
        "instructions": int(found.instructions.max()),
    }
    for name in ("first", "store", "pin", "back", "taken", "lost"):
        values = getattr(found, name)
        if values is not None:
            row |= _spread_columns(name, values)
    return [row]


def _nested_rows(core: Core, settings: Settings) -> list[Row]:
    found = measure_nested(core, count=settings.interrupts, seed=settings.seed)
    whole = {
        "back median": float(np.median(found.back)),
        "back max": int(found.back.max()),
        "instructions": int(np.median(found.instructions)),
    }
    return [
        {
            "part": "nested",
            "core": core.name,
            "idiom": _idiom(core),
            "levels": levels,
            "nests": settings.interrupts,
            **_spread_columns("first", first),
            **more,
        }
        for levels, first, more in (
            ("1", found.first[:, 0], whole),
            (f"2 to {LEVELS}", found.first[:, 1:], {}),
        )
    ]


def _held_row(core: Core) -> list[Row]:
    interval, between = held_interval(core)
    return [
        {
            "part": "back to back",
            "core": core.name,
            "idiom": _idiom(core),
            "cycles an interrupt": interval,
            "program's instructions between": between,
        }
    ]


def _slot_rows(core: Core, sharing: bool, settings: Settings) -> list[Row]:
    count = max(50, int(settings.interrupts * _COPIES))
    found = measure_slots(core, count=count, seed=settings.seed, sharing=sharing)
    return [
        {
            "part": "slots",
            "core": core.name,
            "idiom": _idiom(core) + (", SHARING" if sharing else ""),
            "copy (cycles)": found.copy_cycles,
            "application IPC during copies": found.during_copies,
            "application IPC": found.application,
            "total IPC": found.total,
            "saturated: copies in 1,000 cycles": found.saturated_copies,
            "saturated: application IPC": found.saturated_application,
        }
    ]


def _interrupt_cases() -> Iterator[tuple[Core, Background]]:
    both = (Background.LOCAL, Background.BUS)
    standard = cores.vexriscv("standard")
    for core, backgrounds in (
        (cores.tierv(1), both),
        (cores.tierv(cores.USUAL_TIERS), both),
        (cores.tierv(max(cores.TIER_COUNTS)), both),
        (standard, both),
        (cores.vexriscv("standard", litex_bus=True), (Background.BUS, Background.MISSES)),
        (cores.vexriscv("full"), both[:1]),
        (cores.picorv32(), both),
        (cores.ibex(), both),
    ):
        for background in backgrounds:
            yield core, background


def _jobs(settings: Settings) -> Iterator[tuple[str, Callable[[], list[Row]]]]:
    for core in cores.everyone():
        yield f"kernels on {core.name}", lambda core=core: _kernel_rows(core, settings)
    for core, background in _interrupt_cases():
        for handler in Handler:
            arguments = (core, handler, background, settings)
            yield (
                f"interrupts on {core.name}: {handler}, {background}",
                lambda arguments=arguments: _interrupt_row(*arguments),
            )
    single, usual, most = map(cores.tierv, cores.TIER_COUNTS)
    standard, ibex = cores.vexriscv("standard"), cores.ibex()
    for core in (most, single, standard, ibex):
        yield f"nested interrupts on {core.name}", lambda core=core: _nested_rows(core, settings)
    for core in (usual, single, standard, cores.picorv32(), ibex):
        yield f"back to back on {core.name}", lambda core=core: _held_row(core)
    slots = ((usual, False), (usual, True), (single, False), (standard, False), (ibex, False))
    for core, sharing in slots:
        yield (
            f"slots on {core.name}",
            lambda core=core, sharing=sharing: _slot_rows(core, sharing, settings),
        )


def check_coremarks(rows: Iterable[Row]) -> None:
    """Raises ``RunError`` if CoreMark's last CRC depends on the core or on the compiler's flags.

    What it must be is known for some numbers of iterations only.
    """
    ends = {row["crcfinal"]: row for row in rows if "crcfinal" in row}
    if len(ends) > 1:
        found = (f"{crc} ({row['kernel']} on {row['core']})" for crc, row in ends.items())
        raise RunError(f"CoreMark's crcfinal is not always the same: {', '.join(found)}")


def measure_all(settings: Settings, tell: Callable[[str], None]) -> list[Row]:
    """Rows of all parts, in the same order whatever ends first.

    Raises ``BuildError`` or ``RunError`` if something can't be built or ends as it should not.
    """
    # One after the other: each build uses all processors.
    for core in cores.everyone():
        build(core.hardware)

    def do(job: tuple[str, Callable[[], list[Row]]]) -> list[Row]:
        rows = job[1]()
        tell(job[0])
        return rows

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = [row for rows in pool.map(do, _jobs(settings)) for row in rows]
    check_coremarks(found)
    return found
