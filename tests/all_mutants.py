"""Faults planted in the core and in blocks of the SoC: ``python tests/all_mutants.py --help``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
from block_mutants import BLOCKS, judge_block
from fault_verdicts import show
from planted_faults import SEED
from worker_pool import WORKERS

CORE = "core"
_CORE_PROGRAM = Path(__file__).with_name("rtl") / "mutants.py"


def _core(workers: int) -> bool:
    """The core's, in a process of its own because of Spike; returns whether any survives."""
    command = [sys.executable, str(_CORE_PROGRAM), "--workers", str(workers)]
    return subprocess.run(command, check=False).returncode != 0


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice([CORE, *BLOCKS]))
@click.option("--workers", type=click.IntRange(1), default=WORKERS, show_default=True)
@click.option("--seed", default=SEED, show_default=True, help="Which faults, in blocks.")
def main(parts: tuple[str, ...], workers: int, seed: int) -> None:
    """Plant faults in the core and in blocks of the SoC, one at a time; show which test finds each.

    PARTS are those to do it with; by default, all.
    """
    survives = False
    for part in parts or (CORE, *BLOCKS):
        click.echo(f"-- {part}")
        if part == CORE:
            survives |= _core(workers)
        else:
            survives |= show(judge_block(part, seed, workers)) > 0
    sys.exit(survives)


if __name__ == "__main__":
    main()
