"""A board's self-test: collected over its console, beside the same program's in simulation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import serial
from rich.table import Table

from tierv.sim.file_arguments import write_text
from tierv.sim.firmware import compile_firmware
from tierv.sim.model import Model, ModelParams, build_model, simulation_params
from tierv.sim.paths import BuildError, build_root
from tierv.sim.run import Simulation, Until
from tierv.sim.selftest import Selftest, read_selftest
from tierv.soc.params import SocParams

from .board import Board

APP = "selftest"
#: A self-test takes less than a second; the console's speed decides.
_SILENCE_S = 10
_CYCLES = 100_000_000
_LAST_TEXT = '"complete": true}'
#: Begins a self-test on a board that has told its first.
_KEY = b"\r"


def collect(port: str, baud: int) -> Selftest:
    """The next self-test that a board tells on its console, begun by a key.

    Raises ``BuildError`` naming the port if it can't be opened, ``ValueError`` if what comes is no
    self-test or nothing comes.
    """
    try:
        with serial.Serial(port, baud, timeout=_SILENCE_S) as console:
            console.reset_input_buffer()
            console.write(_KEY)
            return read_selftest(_lines(console, port))
    except serial.SerialException as error:
        raise BuildError(f"cannot use the serial port {port}: {error}") from None


def _lines(console: serial.Serial, port: str) -> Iterator[str]:
    while True:
        line = console.readline()
        if not line:
            raise ValueError(
                f"nothing came from {port} for {_SILENCE_S} s: is it the board's console, and is"
                f" {APP} the program in its bitstream?"
            )
        yield line.decode("ascii", "replace")


def simulated_params(board: Board) -> SocParams:
    """The board's SoC as it is simulated: with memories of the usual sizes, and a fast console.

    Neither changes what is counted. Its Ethernet is as fast as the board's.
    """
    soc = board.soc
    names = ("cpu", "cpu_variant", "sys_clk_hz", "uarts", "ethernet", "eth_dma", "echo_bins")
    return simulation_params(
        eth_bits_per_second=board.phy.bits_per_second,
        **{name: getattr(soc, name) for name in names},
    )


def simulate(board: Board) -> Selftest:
    """What the same program tells in a simulation of the same SoC."""
    return run_simulated(
        build_model(ModelParams(soc=simulated_params(board), profile=False)), board.defines
    )


def run_simulated(model: Model, defines: tuple[str, ...] = ()) -> Selftest:
    """What the program tells on a model that there is."""
    folder = build_root() / "firmware" / model.params.name / APP
    program = compile_firmware(APP, model.params.soc, model.include, folder, defines=defines)
    until = Until(text=(0, _LAST_TEXT))
    result = Simulation(model).run(program, cycles=_CYCLES, until=until)
    return read_selftest(result.uart(0).decode().splitlines())


def table(board: Board, found: Selftest | None, simulated: Selftest | None) -> Table:
    """Cycles on the board, in simulation, or both."""
    shown = Table(title=f"{board.title}: cycles", title_justify="left")
    shown.add_column("", overflow="fold")
    columns = [(name, one) for name, one in (("board", found), ("simulated", simulated)) if one]
    for name, _ in columns:
        shown.add_column(name, justify="right", overflow="fold")
    names = dict.fromkeys(name for _, one in columns for name in one.figures)
    for name in names:
        values = (one.figures.get(name) for _, one in columns)
        shown.add_row(name, *("" if value is None else f"{value:,.6g}" for value in values))
    return shown


def write(path: Path, board: Board, found: Selftest | None, simulated: Selftest | None) -> None:
    """Write what was told as JSON, by where."""
    told = {"board": found, "simulated": simulated}
    lines = {name: one.as_json() for name, one in told.items() if one is not None}
    write_text(path, json.dumps({"name": board.name} | lines, indent=1) + "\n")
