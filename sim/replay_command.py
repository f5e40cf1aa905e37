"""The command ``replay``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from tierv.soc.params import SocParams

from .commands import chosen_soc, hardware_options
from .elf import Program
from .file_arguments import NEW_FILE, OLD_FILE, check_outputs
from .firmware import build_firmware, usual_context
from .model import ModelParams, build_model
from .records import HOUSEKEEPING_CYCLES, RunEnd
from .replay import Address, Choice, replay_frames
from .result import RunResult
from .run import Simulation, Until
from .stack_counters import COUNTERS, stack_counters
from .stimulus import Frame

#: When the firmware of the slowest build has long been ready.
_READY_CYCLE = 1_500_000
#: Bytes of a frame's check sequence, preamble, delimiter and gap.
_AROUND_BYTES = 24
_LEAST_BYTES = 60


class _AddressType(click.ParamType):
    """A MAC or IPv4 address of a capture."""

    name = "ADDRESS"

    def convert(self, value, param, ctx) -> Address:
        if isinstance(value, Address):
            return value
        try:
            return Address.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


#: The type of arguments that are addresses.
ADDRESS = _AddressType()


def _wire_cycles(frames: list[Frame], soc: SocParams, mii_hz: int | None) -> int:
    """Time of all frames back to back."""
    data = sum(max(len(frame.data), _LEAST_BYTES) + _AROUND_BYTES for frame in frames)
    clocks = data * 8 // soc.eth_bits_per_clock
    return clocks * soc.sys_clk_hz // (mii_hz or soc.eth_clock_hz)


def _table(title: str, rows: dict[str, object]) -> Table:
    table = Table("", "", title=title, title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
    return table


def _show(console: Console, result: RunResult, given: list[Frame], packets: int, hz: int) -> None:
    sent = np.asarray(result.frames_sent, np.int64)
    wanted = np.array([frame.cycle for frame in given[: len(sent)]])
    span = int(sent[-1] - sent[0]) if len(sent) else 0
    late = int((sent - wanted).max()) if len(sent) else 0
    bad = sum(frame.errors != 0 for frame in result.frames)
    rows = {
        "packets in the capture": packets,
        "frames chosen": len(given),
        "frames to the SoC": len(sent),
        "first to last (ms)": f"{span * 1e3 / hz:.3f}",
        "most that the wire was late (us)": f"{late * 1e6 / hz:.2f}",
        "frames from the SoC": len(result.frames),
        "of them with errors": bad,
        "cycles simulated": result.cycles,
    }
    console.print(_table("Replay", rows))


@click.command()
@click.argument("file", type=OLD_FILE)
@hardware_options
@click.option("--firmware", type=OLD_FILE, help="ELF file instead of this project's services.")
@click.option("--to", multiple=True, type=ADDRESS, help="Only frames to it: MAC or IPv4.")
@click.option("--from", "source", multiple=True, type=ADDRESS, help="Only frames from it.")
@click.option("--as-board", is_flag=True, help="Give them the simulated board's own addresses.")
@click.option("--speed", type=float, default=1.0, show_default=True, help="Times their own speed.")
@click.option("--start-cycle", type=click.IntRange(0), default=_READY_CYCLE, show_default=True)
@click.option(
    "--quiet-cycles",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    help="Goes on for so long after the last frame.",
)
@click.option(
    "--mii-hz", type=click.IntRange(1), help="Clocks of MII or GMII, if not at the wire's rate."
)
@click.option("--pcap", type=NEW_FILE, help="Capture of what the SoC sends.")
def replay(
    file: Path,
    firmware: Path | None,
    to: tuple[Address, ...],
    source: tuple[Address, ...],
    as_board: bool,
    speed: float,
    start_cycle: int,
    quiet_cycles: int,
    mii_hz: int | None,
    pcap: Path | None,
    **hardware,
) -> None:
    """Send the frames of a capture (pcap or pcapng) into the SoC, at their own times or faster.

    A capture of a conversation has frames of both ends: --to and --from, which can be given several
    times, choose those that go in, of either direction; the SoC takes the other part. With
    --as-board a chosen frame to one station goes to the board, whatever station it was, and its
    checksums change with it; in broadcasts the addresses of --to become the board's.

    The exit status is the firmware's exit code, 255 at the most, if it ends the run.
    """
    check_outputs([file, firmware], [pcap])
    soc = chosen_soc(**hardware)
    choice = Choice(frozenset(to), frozenset(source))
    frames, packets = replay_frames(
        file, choice, soc, speed=speed, start_cycle=start_cycle, as_board=as_board
    )
    model = build_model(ModelParams(soc=soc))
    program = (
        Program(firmware) if firmware else build_firmware("services", model, usual_context(soc))
    )
    console = Console()
    most = frames[-1].cycle + _wire_cycles(frames, soc, mii_hz)
    # That it is quiet is seen late, and so is that it has been for long enough.
    most += 2 * (quiet_cycles + HOUSEKEEPING_CYCLES)
    result = Simulation(model).run(
        program,
        cycles=most,
        frames=frames,
        get=[] if firmware else [COUNTERS],
        until=Until(quiet_cycles=quiet_cycles),
        mii_hz=mii_hz,
        pcap=pcap,
        progress=console.is_terminal,
    )
    _show(console, result, frames, packets, soc.sys_clk_hz)
    if not firmware:
        counters = {name: n for name, n in stack_counters(program, result).items() if n}
        console.print(_table("What the stack counted", counters))
    if pcap:
        console.print(f"frames from the SoC: {pcap}", highlight=False)
    if result.end is RunEnd.EXIT:
        click.echo(f"the firmware ended the run, exit code {result.exit_code}", err=True)
        sys.exit(min(result.exit_code, 255))
