"""What the command lines of this package have in common."""

from __future__ import annotations

import dataclasses

import click

from tierv.soc.params import SocParams

from .debug_info import NotInProgramError
from .interactive import NetworkError
from .model import simulation_params
from .paths import BuildError
from .run import CycleLimitError, SimulationError

#: Exceptions whose message is all that a user needs.
_EXPLAINED = (
    BuildError,
    CycleLimitError,
    NetworkError,
    NotInProgramError,
    SimulationError,
    OSError,
    ValueError,
)


class Commands(click.Group):
    """Shows what a user can do something about without a trace of the stack."""

    def invoke(self, context: click.Context):
        try:
            return super().invoke(context)
        except BrokenPipeError:
            # Click's: who read the output has had enough.
            raise
        except _EXPLAINED as error:
            raise click.ClickException(str(error)) from error


_CPU_HELP = "LiteX's name of the CPU; vexriscv and picorv32 are installed, too."
_HARDWARE = (
    click.option("--cpu", default="tierv", show_default=True, help=_CPU_HELP),
    click.option("--cpu-variant", default="standard", show_default=True, help="Variant of it."),
    click.option("--uarts", type=int, help="Serial ports beside the console, 0 to 16."),
    click.option("--sys-clk-hz", type=int, help="Clock of the SoC."),
    click.option("--uart-baud", type=int, help="Speed of the serial ports after reset."),
    click.option("--main-ram-bytes", type=int, help="Main memory, a power of two."),
    click.option("--eth-dma", is_flag=True, default=None, help="Ethernet by DMA, not by slots."),
    click.option("--eth-bits-per-second", type=int, help="Rate of the wire, 100 or 1,000 Mbit/s."),
)

_ADDRESSES = (
    click.option("--mac", help=f"MAC address of the firmware, if not {SocParams.mac_address}."),
    click.option("--ip", help=f"IPv4 address until DHCP gives one, if not {SocParams.local_ip}."),
)

#: External debug, for the commands that run until somebody ends them.
DEBUG = click.option("--debug", is_flag=True, help="External debug through JTAG.")


def hardware_options(command):
    """Give a command the options that ``chosen_soc`` takes."""
    for option in reversed(_HARDWARE):
        command = option(command)
    return command


def address_options(command):
    """Give a command the options that ``with_addresses`` takes."""
    for option in reversed(_ADDRESSES):
        command = option(command)
    return command


def with_addresses(soc: SocParams, mac: str | None, ip: str | None) -> SocParams:
    """The SoC with the addresses that the options ask for; those that are None stay."""
    chosen = {"mac_address": mac, "local_ip": ip}
    changes = {name: value for name, value in chosen.items() if value is not None}
    return dataclasses.replace(soc, **changes)


def chosen_soc(cpu: str, cpu_variant: str, **changes) -> SocParams:
    """The SoC that the options ask for; those that are None stay as they usually are."""
    chosen = {name: value for name, value in changes.items() if value is not None}
    return simulation_params(cpu=cpu, cpu_variant=cpu_variant, **chosen)
