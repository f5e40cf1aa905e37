"""What the command lines of this package have in common."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import click

from tierv.soc.params import SocParams

from .interactive import NetworkError
from .model import simulation_params
from .paths import BuildError
from .run import SimulationError


class Commands(click.Group):
    """Shows what a user can do something about without a trace of the stack."""

    def invoke(self, context: click.Context):
        try:
            return super().invoke(context)
        except BrokenPipeError:
            # Click's: who read the output has had enough.
            raise
        except KeyError as error:
            raise click.ClickException(str(error.args[0])) from error
        except (BuildError, NetworkError, SimulationError, OSError, ValueError) as error:
            raise click.ClickException(str(error)) from error


class _NewFile(click.Path):
    """A file that can be written when the time comes, which may be long after."""

    def convert(self, value, param, ctx) -> Path:
        path = super().convert(value, param, ctx)
        folder = path.parent
        if not path.exists() and not (folder.is_dir() and os.access(folder, os.W_OK)):
            self.fail(f"{path} can't be written: {folder} is no folder for that", param, ctx)
        return path


#: Types of arguments that are files: one that is there, and one to write.
OLD_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = _NewFile(dir_okay=False, writable=True, path_type=Path)


def check_outputs(inputs: Iterable[Path | None], outputs: Iterable[Path | None]) -> None:
    """Raises ``UsageError`` for an output that is an input or another output; None is no file."""
    taken = [path for path in inputs if path is not None]
    for path in outputs:
        # A device is many files.
        if path is None or (path.exists() and not path.is_file()):
            continue
        if any(_same(path, other) for other in taken):
            raise click.UsageError(f"{path} can't be written: it is given for something else, too")
        taken.append(path)


def _same(one: Path, other: Path) -> bool:
    if one.exists() and other.exists():
        return one.samefile(other)
    return one.resolve() == other.resolve()


_HARDWARE = (
    click.option("--cpu", default="tierv", show_default=True, help="LiteX's name of the CPU."),
    click.option("--cpu-variant", default="standard", show_default=True, help="Variant of it."),
    click.option("--uarts", type=int, help="Serial ports beside the console, 0 to 16."),
    click.option("--sys-clk-hz", type=int, help="Clock of the SoC."),
    click.option("--uart-baud", type=int, help="Speed of the serial ports after reset."),
    click.option("--eth-dma", is_flag=True, default=None, help="Ethernet by DMA, not by slots."),
    click.option("--eth-bits-per-second", type=int, help="Rate of the wire, 100 or 1,000 Mbit/s."),
)


#: External debug, for the commands that run until somebody ends them.
DEBUG = click.option("--debug", is_flag=True, help="External debug through JTAG.")


def hardware_options(command):
    """Give a command the options that ``chosen_soc`` takes."""
    for option in reversed(_HARDWARE):
        command = option(command)
    return command


def chosen_soc(cpu: str, cpu_variant: str, **changes) -> SocParams:
    """The SoC that the options ask for; those that are None stay as they usually are."""
    chosen = {name: value for name, value in changes.items() if value is not None}
    return simulation_params(cpu=cpu, cpu_variant=cpu_variant, **chosen)
