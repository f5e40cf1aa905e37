"""Commands of the host for the serial ports of a board."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tierv.soc import map as soc_map
from tierv.soc.params import SocParams

from ..signals import left_in_order
from . import protocol
from .client import SerialClient
from .protocol import Command, Control, Item, Parity
from .pty_bridge import PtyBridge, check_link, linked

_FLOWS = {
    "none": Control.FLOW_NONE,
    "xon-xoff": Control.FLOW_XON_XOFF,
    "rts-cts": Control.FLOW_HARDWARE,
}
_PARITIES = {parity.name.lower(): parity for parity in Parity}


def _board(command: Callable) -> Callable:
    for option in (
        click.option(
            "--port",
            type=click.IntRange(0, soc_map.MAX_UARTS - 1),
            default=0,
            show_default=True,
            help="Serial port.",
        ),
        click.option("--ip", default=SocParams().local_ip, show_default=True, help="The board."),
    ):
        command = option(command)
    return command


@click.command()
@_board
@click.option("--link", type=click.Path(path_type=Path), help="A symbolic link to the terminal.")
def serial(ip: str, port: int, link: Path | None) -> None:
    """Make a pseudo terminal of a serial port, until Ctrl-C or until another host takes the port.

    Its speed, stop bits and flow control go to the board as programs set them.
    """
    # Another bridge of this name would lose its port to this one, which fails then.
    check_link(link)
    with SerialClient(ip, port) as client:
        bridge = PtyBridge(client, lambda text: click.echo(text, err=True))
        try:
            ends = [signal.SIGINT, signal.SIGTERM]
            # Under nohup it goes on when its terminal is gone.
            if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
                ends.append(signal.SIGHUP)
            for number in ends:
                signal.signal(number, lambda *_: bridge.stop())
            bridge.begin()
            with linked(bridge.path, link) as shown:
                click.echo(f"port {port} of {ip} is {shown}")
                bridge.run()
        finally:
            bridge.close()


def _delimiter(text: str) -> bytes:
    try:
        return text.encode().decode("unicode_escape").encode("latin-1")
    except ValueError:
        raise click.BadParameter(
            f"must be up to two characters or \\-escapes, not {text!r}"
        ) from None


def _asked_for(options: dict) -> list[Item]:
    """Commands for the options that were given."""
    numbers = {
        "baud": Command.SET_BAUDRATE,
        "data_bits": Command.SET_DATASIZE,
        "stop_bits": Command.SET_STOPSIZE,
        "pack_time": Command.PACK_TIME,
        "pack_idle": Command.PACK_IDLE,
        "pack_length": Command.PACK_LENGTH,
    }
    items = [
        protocol.number(command, options[name])
        for name, command in numbers.items()
        if options[name] is not None
    ]
    if options["parity"] is not None:
        items.append(protocol.number(Command.SET_PARITY, _PARITIES[options["parity"]]))
    if options["flow"] is not None:
        items.append(protocol.number(Command.SET_CONTROL, _FLOWS[options["flow"]]))
    if options["pack_delimiter"] is not None:
        items.append(protocol.delimiter(_delimiter(options["pack_delimiter"])))
    return items


def _send_break(client: SerialClient, milliseconds: int) -> None:
    with left_in_order():
        try:
            client.set_numbers([(Command.SET_CONTROL, Control.BREAK_ON)])
            time.sleep(milliseconds / 1000)
        finally:
            client.set_numbers([(Command.SET_CONTROL, Control.BREAK_OFF)])


def _show_settings(client: SerialClient) -> None:
    asked = (
        *(Command.SIGNATURE, Command.SET_BAUDRATE, Command.SET_DATASIZE, Command.SET_PARITY),
        *(Command.SET_STOPSIZE, Command.SET_CONTROL, Command.PACK_TIME, Command.PACK_IDLE),
        *(Command.PACK_LENGTH, Command.PACK_DELIMITER, Command.PEER),
    )
    answers = {item.code: item for item in client.ask(*asked)}
    flows = {value: name for name, value in _FLOWS.items()}
    delimiter = answers[Command.PACK_DELIMITER].value[1:]
    rows = {
        "server": answers[Command.SIGNATURE].value.decode(errors="replace"),
        "baud": answers[Command.SET_BAUDRATE].number,
        "data bits": answers[Command.SET_DATASIZE].number,
        "parity": Parity(answers[Command.SET_PARITY].number).name.lower(),
        "stop bits": answers[Command.SET_STOPSIZE].number,
        "flow control": flows[Control(answers[Command.SET_CONTROL].number)],
        "pack: us since first byte": answers[Command.PACK_TIME].number or "-",
        "pack: us since last byte": answers[Command.PACK_IDLE].number or "-",
        "pack: bytes": answers[Command.PACK_LENGTH].number,
        "pack: delimiter": repr(delimiter)[1:] if delimiter else "-",
        "peer": protocol.peer_text(answers[Command.PEER].value) or "whoever sends next",
    }
    _print(f"serial port {client.port}", rows)


def _print(title: str, rows: dict[str, object]) -> None:
    table = Table(title=title, title_justify="left", show_header=False)
    table.add_column(overflow="fold")
    table.add_column(justify="right", overflow="fold")
    for name, value in rows.items():
        table.add_row(name, str(value))
    Console().print(table)


@click.command()
@_board
@click.option("--baud", type=click.IntRange(1), help="Bit/s.")
@click.option("--data-bits", type=click.IntRange(5, 8))
@click.option("--parity", type=click.Choice(list(_PARITIES)))
@click.option("--stop-bits", type=click.IntRange(1, 2))
@click.option("--flow", type=click.Choice(list(_FLOWS)))
@click.option(
    "--pack-time",
    type=click.IntRange(0, protocol.MAX_RULE_US),
    help="Send so many us after a packet's first byte; 0: no such rule.",
)
@click.option(
    "--pack-idle",
    type=click.IntRange(0, protocol.MAX_RULE_US),
    help="Send so many us after the last byte; 0: no such rule.",
)
@click.option(
    "--pack-length", type=click.IntRange(1, protocol.MAX_DATA_BYTES), help="Send so many bytes."
)
@click.option("--pack-delimiter", metavar="TEXT", help=r"Send behind it, like '\r\n'; '': never.")
@click.option("--break-ms", type=click.IntRange(1, 10_000), help="Send a break so long.")
@click.option("--forget-peer", is_flag=True, help="The next sender gets the data.")
def serial_config(ip: str, port: int, break_ms: int | None, forget_peer: bool, **options) -> None:
    """Make and show the settings of a serial port."""
    items = _asked_for(options)
    if forget_peer:
        items.append(protocol.peer(bytes(4), 0))
    with SerialClient(ip, port) as client:
        if items:
            client.request(*items)
        if break_ms is not None:
            _send_break(client, break_ms)
        _show_settings(client)


@click.command()
@_board
def serial_counters(ip: str, port: int) -> None:
    """Show the counters of a serial port."""
    with SerialClient(ip, port) as client:
        rows = {name.lower().replace("_", " "): count for name, count in client.counters().items()}
        _print(f"serial port {port}", rows)
