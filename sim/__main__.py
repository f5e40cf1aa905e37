"""Command line of the simulation: ``python -m tierv.sim``."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import click

from tierv.soc.params import SocParams

from .bios import build_bios
from .commands import (
    DEBUG,
    Commands,
    address_options,
    chosen_soc,
    hardware_options,
    with_addresses,
)
from .elf import Program
from .file_arguments import NEW_FILE, OLD_FILE, check_outputs, write_text
from .firmware import build_firmware, usual_context
from .interactive import JTAG_PORT, Network, run_interactively
from .model import Model, ModelParams, build_model
from .pcap import read_pcap
from .records import RunEnd
from .replay_command import replay
from .result import RunResult
from .run import CycleLimitError, Simulation, Until, Wave
from .run_elf_command import run_elf
from .stimulus import UartBytes


@click.group(cls=Commands)
def main() -> None:
    """Simulate the TierV SoC cycle by cycle, with its pins."""


@main.command()
@hardware_options
@click.option("--trace", type=click.Choice(["vcd", "fst"]), help="A model that writes waveforms.")
@click.option("--quick", is_flag=True, help="Compile once only; the model is slower.")
@DEBUG
def build(trace: str | None, quick: bool, **hardware) -> None:
    """Build a model, if it is not built already."""
    model = build_model(ModelParams(soc=chosen_soc(**hardware), trace=trace, profile=not quick))
    click.echo(model.program)


def _assignments(context, parameter, texts: tuple[str, ...]) -> dict[str, int]:
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        try:
            values[name] = int(value, 0)
        except ValueError:
            raise click.BadParameter(f"must be NAME=VALUE, not {text!r}") from None
    return values


def _uart_texts(context, parameter, texts: tuple[str, ...]) -> list[UartBytes]:
    items = []
    for text in texts:
        port, colon, characters = text.partition(":")
        try:
            if not colon:
                raise ValueError
            data = characters.encode().decode("unicode_escape").encode("latin-1")
            items.append(UartBytes(int(port), data))
        except ValueError:
            raise click.BadParameter(
                f"must be PORT:TEXT, of characters or \\-escapes of a byte, not {text!r}"
            ) from None
    return items


def _show(result: RunResult) -> None:
    click.echo(f"ended by {result.end.name.lower()}, exit code {result.exit_code}")
    speed = result.cycles_per_second * 1e-6
    click.echo(f"{result.cycles} cycles in {result.wall_seconds:.2f} s, {speed:.2f} M cycles/s")
    bad = sum(frame.errors != 0 for frame in result.frames)
    sent, received = len(result.frames_sent), len(result.frames)
    click.echo(f"{sent} frames to the SoC, {received} from it, {bad} of them with errors")
    for index, value in sorted(result.results.items()):
        click.echo(f"result {index}: {value} ({value:#x})")
    for name, value in result.values.items():
        shown = value.hex() if isinstance(value, bytes) else f"{value} ({value:#x})"
        click.echo(f"{name}: {shown}")
    for port in sorted({int(port) for port in result.characters["port"]}):
        click.echo(f"serial port {port}: {result.uart(port)!r}")


def _write_mailbox(path: Path, result: RunResult) -> None:
    lines = [
        json.dumps({name: int(record[name]) for name in ("cycle", "offset", "data")})
        for record in result.mailbox
    ]
    write_text(path, "".join(f"{line}\n" for line in lines))


def _model(soc: SocParams, wave: Path | None) -> Model:
    trace = None if wave is None else "vcd" if wave.suffix == ".vcd" else "fst"
    return build_model(ModelParams(soc=soc, trace=trace))


@main.command()
@hardware_options
@click.option("--firmware", type=OLD_FILE, required=True, help="ELF file.")
@click.option(
    "--cycles", type=click.IntRange(1), default=100_000_000, show_default=True, help="Limit."
)
@click.option(
    "--set",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_assignments,
    help="Set a variable.",
)
@click.option("--get", "wanted", multiple=True, metavar="NAME", help="Print a variable.")
@click.option("--frames", type=OLD_FILE, help="Capture with frames for the SoC.")
@click.option("--speed", type=float, default=1.0, show_default=True, help="Times its own speed.")
@click.option(
    "--mii-hz", type=click.IntRange(1), help="Clocks of MII or GMII, if not at the wire's rate."
)
@click.option(
    "--uart",
    "uart_texts",
    multiple=True,
    metavar="PORT:TEXT",
    callback=_uart_texts,
    help="Text for a port.",
)
@click.option("--pcap", type=NEW_FILE, help="Capture of the frames from the SoC.")
@click.option("--mailbox", type=NEW_FILE, help="Writes to the mailbox, as JSON lines.")
@click.option("--wave", type=NEW_FILE, help="Waveform, .vcd or .fst.")
@click.option("--wave-from", type=click.IntRange(0), default=0, help="First cycle in it.")
@click.option("--wave-to", type=click.IntRange(1), help="Cycle after the last in it.")
@click.option(
    "--stop-frames", type=click.IntRange(1), help="End after so many frames from the SoC."
)
@click.option(
    "--stop-quiet", type=click.IntRange(0), help="End so many cycles after the last stimulus."
)
def run(
    firmware: Path,
    cycles: int,
    variables: dict[str, int],
    wanted: tuple[str, ...],
    frames: Path | None,
    speed: float,
    mii_hz: int | None,
    uart_texts: list[UartBytes],
    pcap: Path | None,
    mailbox: Path | None,
    wave: Path | None,
    wave_from: int,
    wave_to: int | None,
    stop_frames: int | None,
    stop_quiet: int | None,
    **hardware,
) -> None:
    """Run firmware without anybody watching, and say what it did.

    The exit status is the firmware's exit code, 255 for a higher one, or 12 if it did not end
    within the limit.
    """
    check_outputs([firmware, frames], [pcap, mailbox, wave])
    # What is no program is said before a model is built.
    program = Program(firmware)
    soc = chosen_soc(**hardware)
    stimulus = read_pcap(frames, soc.sys_clk_hz, speed=speed) if frames else []
    try:
        result = Simulation(_model(soc, wave)).run(
            program,
            cycles=cycles,
            frames=stimulus,
            uart=uart_texts,
            set=variables,
            get=wanted,
            until=Until(frames=stop_frames, quiet_cycles=stop_quiet),
            mii_hz=mii_hz,
            pcap=pcap,
            wave=wave and Wave(path=wave, first_cycle=wave_from, last_cycle=wave_to),
            show_text=True,
            progress=sys.stderr.isatty(),
        )
    except CycleLimitError as error:
        result = error.result
    _show(result)
    if mailbox:
        _write_mailbox(mailbox, result)
    sys.exit(int(RunEnd.LIMIT) if result.end is RunEnd.LIMIT else min(result.exit_code, 255))


@main.command()
@hardware_options
@click.option("--firmware", type=OLD_FILE, help="ELF file instead of the services of this project.")
@click.option("--bios", is_flag=True, help="The LiteX BIOS instead of them.")
@address_options
@click.option(
    "--network",
    type=click.Choice([kind.value for kind in Network]),
    default="auto",
    help="Ethernet.",
)
@click.option("--tap-name", default="tierv0", show_default=True, help="Name of the TAP device.")
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the socket is.",
)
@click.option("--pcap", type=NEW_FILE, help="Capture of the frames from the SoC.")
@DEBUG
@click.option(
    "--jtag-port",
    type=click.IntRange(0, 65535),
    help=f"TCP port for OpenOCD, with --debug; {JTAG_PORT} if none is given, 0 for a free one.",
)
def interactive(
    firmware, bios, mac, ip, network, tap_name, socket_path, pcap, jtag_port, **hardware
) -> None:
    """Console on this terminal, Ethernet on a TAP device (root) or a UNIX socket.

    The exit status is the firmware's exit code, 255 for a higher one, if it ends the simulation; an
    exception that it does not expect is 64 and the cause.
    """
    if jtag_port is not None and not hardware["debug"]:
        raise click.UsageError("--jtag-port needs --debug")
    if firmware and bios:
        raise click.UsageError("--firmware and --bios exclude each other")
    if firmware and not (mac is None and ip is None):
        raise click.UsageError("--firmware has addresses of its own: --mac and --ip exclude it")
    check_outputs([firmware, socket_path], [pcap])
    hardware_soc = chosen_soc(**hardware)
    soc = with_addresses(hardware_soc, mac, ip)
    if soc.local_ip == soc.remote_ip:
        raise ValueError(f"--ip must not be this host's, {soc.remote_ip}")
    program = Program(firmware) if firmware else None
    # The hardware is the same whatever the addresses are.
    model = build_model(ModelParams(soc=hardware_soc))
    model = dataclasses.replace(model, params=dataclasses.replace(model.params, soc=soc))
    if bios:
        program = build_bios(soc)
    elif program is None:
        program = build_firmware("services", model, usual_context(soc))
    end = run_interactively(
        model,
        program,
        network=Network(network),
        tap_name=tap_name,
        socket_path=socket_path,
        pcap=pcap,
        jtag_port=JTAG_PORT if jtag_port is None else jtag_port,
    )
    code = f", exit code {end.exit_code}" if end.reason is RunEnd.EXIT else ""
    click.echo(f"\nended by {end.reason.name.lower()}{code}")
    sys.exit(1 if end.reason is RunEnd.ERROR else min(end.exit_code, 255))


main.add_command(run_elf)
main.add_command(replay)

if __name__ == "__main__":
    main(prog_name="python -m tierv.sim")
