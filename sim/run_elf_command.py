"""The command ``run-elf``."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from tierv.rtl.params import EXTENSIONS, CoreParams, Region
from tierv.rtl.verilog import NUMBER

from .elf import Program
from .file_arguments import NEW_FILE, OLD_FILE, check_outputs
from .paths import naming
from .run_elf import (
    Outputs,
    Ram,
    RunElfError,
    Status,
    check_overlaps,
    ram_for,
    read_program,
    run_program,
    verdict,
)


class _Range(click.ParamType):
    """A range of addresses as BASE:SIZE, in bytes, in any base that Python writes."""

    name = "BASE:SIZE"

    def convert(self, value, param, ctx) -> tuple[int, int]:
        if isinstance(value, tuple):
            return value
        base, colon, size = value.partition(":")
        try:
            numbers = int(base, 0), int(size, 0)
        except ValueError:
            numbers = None
        if not colon or numbers is None:
            self.fail(f"{value!r} is not BASE:SIZE", param, ctx)
        return numbers


_RANGE = _Range()


def _region(name: str, numbers: tuple[int, int] | None, usual: Region) -> Region:
    if numbers is None:
        return usual
    try:
        return Region(base=numbers[0], size_bytes=numbers[1])
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=f"--{name}") from None


def _ram(numbers: tuple[int, int]) -> Ram:
    base, size = numbers
    if base < 0 or size <= 0 or base + size > 1 << 32 or base % 4 or size % 4:
        text = f"must be multiples of 4 below 2**32, not {base:#x}:{size:#x}"
        raise click.BadParameter(text, param_hint="--ram")
    return Ram(base, size)


def _tohost(context, parameter, address: int | None) -> int | None:
    if address is not None and (not 0 <= address < 1 << 32 or address % 4):
        raise click.BadParameter(f"must be a multiple of 4 below 2**32, not {address:#x}")
    return address


def _params(program: Program, options: Mapping[str, Any]) -> CoreParams:
    """The core that the options tell."""
    usual = CoreParams()
    reset_address = options["reset_address"]
    try:
        return replace(
            usual,
            tiers=options["tiers"],
            lines=options["lines"],
            reset_address=program.entry if reset_address is None else reset_address,
            imem=_region("imem", options["imem"], usual.imem),
            dmem=_region("dmem", options["dmem"], usual.dmem),
            **dict.fromkeys(options["extensions"], True),
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None


@contextlib.contextmanager
def _no_verdict() -> Iterator[None]:
    """What goes wrong here is not said of the program by the exit status."""
    try:
        yield
    except KeyboardInterrupt:
        raise RunElfError(Status.BROKEN, "interrupted") from None
    except OSError as error:
        raise RunElfError(Status.BROKEN, str(error)) from error


def _tell(text: str) -> None:
    """Raises ``OSError`` that names the standard output if it does not take the text."""
    try:
        with naming("standard output"):
            click.echo(text)
    except OSError:
        # What is left of the text would be tried again at the end, with an exit status of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise


@click.command("run-elf")
@click.argument("file", type=OLD_FILE)
@click.option("--reset-address", type=NUMBER, help="Instead of the file's entry.")
@click.option("--imem", type=_RANGE, help="Local instruction memory; its size is a power of two.")
@click.option("--dmem", type=_RANGE, help="Local data memory; its size is a power of two.")
@click.option(
    "--ram",
    "rams",
    type=_RANGE,
    multiple=True,
    help="RAM on the bus, may be repeated; instead of what the file's segments need.",
)
@click.option("--tiers", type=int, default=CoreParams.tiers, show_default=True)
@click.option("--lines", type=int, default=CoreParams.lines, show_default=True)
@click.option(
    "--extension",
    "extensions",
    multiple=True,
    type=click.Choice(EXTENSIONS),
    help="Of the instruction set, may be repeated.",
)
@click.option(
    "--max-cycles",
    type=click.IntRange(1, (1 << 64) - 1),
    default=10_000_000,
    show_default=True,
    help="Limit.",
)
@click.option(
    "--wait-states",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Most wait states of a bus transfer, at random.",
)
@click.option("--tohost", type=NUMBER, callback=_tohost, help="Instead of the symbol tohost.")
@click.option("--signature", type=NEW_FILE, help="Write begin_signature to end_signature.")
@click.option(
    "--signature-granularity",
    type=click.Choice(["1", "2", "4", "8", "16"]),
    default="4",
    show_default=True,
    help="Bytes on a line of it.",
)
@click.option("--trace", type=NEW_FILE, help="Write a commit log in the form of Spike's.")
@click.option("--wave", type=NEW_FILE, help="Write a VCD; builds another model.")
@_no_verdict()
def run_elf(file: Path, rams, **options) -> None:
    """Run FILE, an RV32 executable, on the core alone; it ends by writing to tohost.

    Memory is derived from the file: what is not in local memories is RAM on the bus around the
    file's segments. Exit status: 0 the program passed, 1 it failed, 2 bad options, 3 FILE is no
    RV32 executable, 4 a segment is in no memory, 5 no end within the limit, 6 no model, a file that
    can't be written, or Ctrl-C.
    """
    check_outputs([file], [options[name] for name in ("signature", "trace", "wave")])
    program = read_program(file)
    params = _params(program, options)
    given = [_ram(numbers) for numbers in rams]
    try:
        check_overlaps(params, given)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--ram") from None
    memories = given or ram_for(program, params)
    if options["tohost"] is None and "tohost" not in program.symbols:
        click.echo(f"{file} has no symbol tohost: only the console can end it", err=True)
    run = run_program(
        program,
        params,
        memories,
        max_cycles=options["max_cycles"],
        wait_states=options["wait_states"],
        tohost=options["tohost"],
        outputs=Outputs(
            signature=options["signature"],
            signature_granularity_bytes=int(options["signature_granularity"]),
            trace=options["trace"],
            wave=options["wave"],
        ),
    )
    status, text = verdict(run, options["max_cycles"])
    _tell(f"{file.name} {text}")
    sys.exit(int(status))
