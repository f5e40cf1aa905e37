"""Commands of the host that a board carries out."""

from __future__ import annotations

import click

from tierv.soc.params import SocParams

from .commands import COMMAND_PORT, CommandClient
from .errors import HostError

#: Words that begin with ``-`` are the board's.
_THEIRS = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def _board(command):
    for option in (
        click.option("--ip", default=SocParams().local_ip, show_default=True, help="The board."),
        click.option("--udp-port", default=COMMAND_PORT, show_default=True, help="Its UDP port."),
    ):
        command = option(command)
    return command


def _run(ip: str, udp_port: int, words: tuple[str, ...]) -> None:
    """Print the answer; the exit status is 1 if the command failed."""
    try:
        with CommandClient(ip, udp_port) as client:
            answer = client.run(" ".join(words))
    except (HostError, ValueError) as error:
        raise click.ClickException(str(error)) from None
    if answer.failed:
        raise click.ClickException(answer.text.strip().removeprefix("error: "))
    click.echo(answer.text, nl=False)


@click.command(context_settings=_THEIRS)
@_board
@click.argument("words", nargs=-1)
def irqtune(ip: str, udp_port: int, words: tuple[str, ...]) -> None:
    """Show or set who serves a board's interrupts first.

    WORDS are those of irqtune on the board's console: nothing to list the lines, LINE=tierN:P,
    MASTER [SLAVE], --suggest [--apply], -o, -c.
    """
    _run(ip, udp_port, ("irqtune", *words))


@click.command(context_settings=_THEIRS)
@_board
@click.argument("words", nargs=-1, required=True)
def ask(ip: str, udp_port: int, words: tuple[str, ...]) -> None:
    """Run a command of a board's console, for example help."""
    _run(ip, udp_port, words)
