"""What the command lines of this package have in common."""

from __future__ import annotations

import click

from .interactive import NetworkError
from .paths import BuildError
from .run import SimulationError


class Commands(click.Group):
    """Shows what a user can do something about without a trace of the stack."""

    def invoke(self, context: click.Context):
        try:
            return super().invoke(context)
        except (BuildError, NetworkError, SimulationError, ValueError, KeyError) as error:
            raise click.ClickException(str(error.args[0])) from error
