"""Command line of the boards: ``python -m tierv.boards``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from tierv.sim.commands import Commands, address_options, with_addresses
from tierv.sim.elf import Program
from tierv.sim.file_arguments import NEW_FILE, OLD_FILE
from tierv.sim.paths import BuildError, locked

from . import load, readme, selftest, vendor
from .board import Board, Family, Phy, with_debug
from .board import with_bios as with_bios_variant
from .ecp5 import SEEDS, SEEDS_TEXT, Ecp5Flow, Routed
from .flash_image import flash_image, read_program
from .project import Project, build_program, complete, memory_images
from .registry import BOARDS, find_board


class _BoardName(click.ParamType):
    name = "board"

    def convert(self, value, param, ctx) -> Board:
        try:
            return value if isinstance(value, Board) else find_board(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


_BOARD = click.argument("board", type=_BoardName())
_APP = click.option(
    "--app",
    type=click.Choice([selftest.APP]),
    help="This program instead of the board's own.",
)
_WITH_BIOS = click.option(
    "--with-bios",
    is_flag=True,
    help="External memory as main_ram, behind caches, and LiteX's BIOS to load programs into it.",
)
_DEBUG = click.option("--debug", is_flag=True, help="External debug through the FPGA's JTAG.")


@click.group(cls=Commands)
def main() -> None:
    """Bitstreams for FPGA boards: make them, load them, keep them in flash."""


@main.command("list")
def list_boards() -> None:
    """The boards there are."""
    table = Table()
    # What other commands take is on one line, also where the terminal is narrow.
    table.add_column("board", no_wrap=True, overflow="fold")
    for name in ("", "FPGA", "clock MHz", "Ethernet", "serial ports"):
        table.add_column(name, overflow="fold")
    for board in BOARDS.values():
        clock = f"{board.soc.sys_clk_hz / 1e6:g}"
        ports = str(board.soc.uarts)
        table.add_row(board.name, board.title, board.family.value, clock, board.phy.value, ports)
    Console().print(table)


def _with_app(board: Board, app: str | None) -> Board:
    return board if app is None else dataclasses.replace(board, app=app)


def _variant(board: Board, bios: bool, debug: bool) -> Board:
    board = with_bios_variant(board) if bios else board
    return with_debug(board) if debug else board


def _addressed(board: Board, mac: str | None, ip: str | None) -> Board:
    if mac is None and ip is None:
        return board
    if board.phy is Phy.NONE:
        raise ValueError(f"board must have Ethernet for --mac and --ip, which {board.name} has not")
    return dataclasses.replace(board, soc=with_addresses(board.soc, mac, ip))


def _bitstream(board: Board) -> Path:
    project = Project(board)
    if board.family is Family.ECP5:
        return Ecp5Flow(project).bitstream
    return vendor.bitstream(project)


def _make_bitstream(project: Project, seeds: Sequence[int]) -> Path:
    if project.board.family is not Family.ECP5:
        return vendor.build(project)
    flow = Ecp5Flow(project, seeds)
    _show(flow.route())
    if project.board.soc.bios:
        return flow.pack_as_routed()
    return flow.pack(memory_images(Program(project.program), project.memory_bytes))


def _show(routed: Routed) -> None:
    for clock in routed.clocks:
        click.echo(f"  {clock}")
    used = (f"{name} {one} of {all_}" for name, (one, all_) in routed.cells.items())
    click.echo(f"  {', '.join(used)}")


def _tell(board: Board, path: Path) -> None:
    click.echo(f"bitstream: {path}")
    arguments = board.make_arguments
    click.echo(f"make load {arguments} loads it, make flash {arguments} keeps it")
    if board.phy is not Phy.NONE:
        if board.soc.bios:
            click.echo(f"then: a console at {board.soc.uart_baud} baud shows the BIOS")
        else:
            click.echo(f"then: ping {board.soc.local_ip}")


@main.command()
@_BOARD
@click.option("--project-only", is_flag=True, help="Emit the project and stop.")
@click.option("--seed", type=click.IntRange(min=1), help=f"nextpnr's, in place of {SEEDS_TEXT}.")
@_APP
@address_options
@_WITH_BIOS
@_DEBUG
def bitstream(
    board: Board,
    project_only: bool,
    seed: int | None,
    app: str | None,
    mac: str | None,
    ip: str | None,
    with_bios: bool,
    debug: bool,
) -> None:
    """Emit the board's project with the firmware in it, and make its bitstream.

    A clock that is missed is an error.
    """
    if with_bios and app is not None:
        raise ValueError(f"either --with-bios or --app must be given, not both: {app}")
    board = _addressed(_variant(_with_app(board, app), with_bios, debug), mac, ip)
    with locked(Project(board).folder):
        if not project_only:
            # What fails is not to leave an older one to be loaded.
            _bitstream(board).unlink(missing_ok=True)
        project = complete(board)
        click.echo(f"project: {project.gateware}")
        if not project_only:
            _tell(board, _make_bitstream(project, SEEDS if seed is None else (seed,)))


@main.command()
@_BOARD
@click.option("--file", "path", type=OLD_FILE, help="ELF file instead of the board's own program.")
@_APP
@address_options
@_DEBUG
def firmware(
    board: Board,
    path: Path | None,
    app: str | None,
    mac: str | None,
    ip: str | None,
    debug: bool,
) -> None:
    """Replace the firmware in an existing bitstream, without placing and routing again.

    What it was built with before does not count: without options it has the usual addresses.
    """
    if path is not None and app is not None:
        raise ValueError(f"either --file or --app must be given, not both: {path} and {app}")
    if path is not None and not (mac is None and ip is None):
        raise ValueError(f"--file has addresses of its own: --mac and --ip exclude it, {path}")
    board = _addressed(_variant(_with_app(board, app), False, debug), mac, ip)
    if board.family is not Family.ECP5:
        raise ValueError(
            f"board must be one with an ECP5 for this, not {board.base_name}:"
            f" make bitstream {board.make_arguments} builds it with new firmware"
        )
    project = Project(board)
    with locked(project.folder):
        program = Program(path) if path else build_program(project)
        _tell(board, Ecp5Flow(project).pack(memory_images(program, project.memory_bytes)))


@main.command("load")
@_BOARD
@_WITH_BIOS
@_DEBUG
def load_board(board: Board, with_bios: bool, debug: bool) -> None:
    """Load the bitstream into the FPGA, until it loses power."""
    board = _variant(board, with_bios, debug)
    path = _bitstream(board)
    with locked(Project(board).folder):
        vendor.check_as_made(Project(board))
        load.run(load.load_commands(board, path), board, path)


@main.command()
@_BOARD
@_WITH_BIOS
@_DEBUG
@click.option(
    "--program", type=OLD_FILE, help="Write this instead: a raw binary that the BIOS boots."
)
def flash(board: Board, with_bios: bool, debug: bool, program: Path | None) -> None:
    """Write the bitstream to the flash from which the FPGA starts, or a program behind it."""
    if program is None:
        board = _variant(board, with_bios, debug)
    folder = Project(board).folder
    with locked(folder):
        if program is None:
            path = _bitstream(board)
            vendor.check_as_made(Project(board))
            commands = load.flash_commands(board, path)
        else:
            path = folder / "program.bin"
            path.write_bytes(flash_image(board, read_program(program)))
            commands = load.program_commands(board, path)
        load.run(commands, board, path)


@main.command("selftest")
@_BOARD
@click.option("--port", help="The board's console, for example /dev/ttyUSB1.")
@click.option(
    "--baud",
    type=click.IntRange(1, (1 << 31) - 1),
    default=115_200,
    show_default=True,
    help="Its speed.",
)
@click.option("--simulate", is_flag=True, help="Run the same program in simulation too, or alone.")
@click.option("--json", "path", type=NEW_FILE, help="Write what was told here.")
def self_test(board: Board, port: str | None, baud: int, simulate: bool, path: Path | None) -> None:
    """Collect a board's self-test, and what it takes for switches and kernels.

    The program must be in the bitstream: bitstream --app selftest, or firmware --app selftest.
    """
    if port is None and not simulate:
        raise ValueError("a board must be named by --port, or --simulate be given")
    found = selftest.collect(port, baud) if port is not None else None
    simulated = selftest.simulate(board) if simulate else None
    # What took long is shown even if there is no room for it on the disk.
    Console().print(selftest.table(board, found, simulated))
    if path is not None:
        selftest.write(path, board, found, simulated)
    failures = [failure for one in (found, simulated) if one for failure in one.failures]
    if failures:
        raise BuildError(f"{board.name} has failed its self-test: {'; '.join(failures)}")
    click.echo("all checks have passed")


@main.command()
def update_readme() -> None:
    """Write the boards, and what has been routed of them, into the README's tables."""
    readme.update()


if __name__ == "__main__":
    main(prog_name="python -m tierv.boards")
