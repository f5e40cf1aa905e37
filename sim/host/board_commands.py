"""Commands of the host that a board carries out."""

from __future__ import annotations

from collections.abc import Sequence

import click

from tierv.soc.params import SocParams

from .commands import COMMAND_PORT, CommandClient

#: Words that begin with ``-`` are the board's.
_THEIRS = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def board_options(command):
    """Options that say which board a command is for: ``ip`` and ``udp_port``."""
    for option in (
        click.option("--ip", default=SocParams().local_ip, show_default=True, help="The board."),
        click.option(
            "--udp-port",
            type=click.IntRange(1, 65535),
            default=COMMAND_PORT,
            show_default=True,
            help="Its UDP port.",
        ),
    ):
        command = option(command)
    return command


def answer_of(ip: str, udp_port: int, words: Sequence[str]) -> str:
    """What a board's command prints. Raises ``ClickException`` if it fails."""
    with CommandClient(ip, udp_port) as client:
        answer = client.run(" ".join(words))
    if answer.failed:
        raise click.ClickException(answer.text.strip().removeprefix("error: "))
    return answer.text


@click.command(context_settings=_THEIRS)
@board_options
@click.argument("words", nargs=-1)
def irqtune(ip: str, udp_port: int, words: tuple[str, ...]) -> None:
    """Show or set who serves a board's interrupts first.

    WORDS are those of irqtune on the board's console: nothing to list the lines, LINE=tierN:P,
    MASTER [SLAVE], --suggest [--apply], -o, -c.
    """
    click.echo(answer_of(ip, udp_port, ("irqtune", *words)), nl=False)


@click.command(context_settings=_THEIRS)
@board_options
@click.argument("words", nargs=-1, required=True)
def ask(ip: str, udp_port: int, words: tuple[str, ...]) -> None:
    """Run a command of a board's console, for example help."""
    click.echo(answer_of(ip, udp_port, words), nl=False)
