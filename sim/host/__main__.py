"""Command line of the host: ``python -m tierv.sim.host``."""

from __future__ import annotations

import click

from .errors import HostError
from .serial_commands import serial, serial_config, serial_counters


class HostCommands(click.Group):
    """Shows what a user can do something about without a trace of the stack."""

    def invoke(self, context: click.Context):
        try:
            return super().invoke(context)
        except (HostError, OSError, ValueError) as error:
            raise click.ClickException(str(error)) from error


@click.group(cls=HostCommands)
def main() -> None:
    """Talk to a board over its network."""


main.add_command(serial)
main.add_command(serial_config)
main.add_command(serial_counters)

if __name__ == "__main__":
    main(prog_name="python -m tierv.sim.host")
