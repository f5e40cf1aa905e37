"""Command line of the synthesis: ``python -m tierv.sim.synthesis``."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import click
from rich.console import Console
from rich.table import Table

from tierv.rtl.params import EXTENSIONS, CoreParams

from ..commands import Commands
from ..experiments.report import cell, check_folder, console
from . import options as option_costs
from . import results
from .cells import FAMILIES, breakdown
from .flow import Flow, Routed
from .paths import hops
from .subjects import CORE, PEERS, PLAIN, PLAIN_CORE, Subject, core_subject

_START = time.monotonic()


def _numbers(context, parameter, text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(word) for word in text.split(",") if text))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers like 1,3,8") from None


def _flow(subject: Subject) -> Flow:
    tiers = "" if subject.tiers is None else f" {subject.tiers}"
    label = f"{subject.name}{tiers}{' with memories' if subject.with_memories else ''}"

    def tell(text: str) -> None:
        click.echo(f"{time.monotonic() - _START:6.1f} s: {label}: {text}", err=True)

    return Flow(subject, tell)


def _subjects(
    tiers: Iterable[int],
    plain: Iterable[int],
    memories: Iterable[bool],
    peers: Iterable[str],
    **parameters,
) -> list[Subject]:
    cores = [(CoreParams(tiers=number, **parameters), CORE) for number in tiers]
    cores += [(CoreParams(tiers=number, **parameters | PLAIN), PLAIN_CORE) for number in plain]
    designs = [
        core_subject(params, with_memories=with_memories, name=name)
        for with_memories in memories
        for params, name in cores
    ]
    return designs + [PEERS[name]() for name in peers]


def _show_rows(rows: list[results.Row], page: Console) -> None:
    table = Table(title=results.TITLE, title_justify="left")
    names = dict.fromkeys(name for row in rows for name in row)
    for name in ("", *(str(row["design"]) for row in rows)):
        table.add_column(name, justify="right")
    for name in list(names)[1:]:
        values = [row.get(name) for row in rows]
        table.add_row(name, *("" if value is None else cell(value) for value in values))
    page.print(table)


def _show_path(flow: Flow, routed: list[Routed], page: Console) -> None:
    slowest = min(routed, key=lambda one: one.mhz)
    title = f"{flow.subject.name}: slowest path, seed {slowest.seed}, {slowest.mhz:.1f} MHz"
    table = Table(title=title, title_justify="left")
    for name in ("cell ns", "net ns", "total ns"):
        table.add_column(name, justify="right")
    table.add_column("signal", overflow="fold")
    for hop in hops(slowest.path):
        figures = (f"{value:.2f}" for value in (hop.cell_ns, hop.net_ns, hop.total_ns))
        table.add_row(*figures, hop.name)
    page.print(table)


def _show_parts(flow: Flow, page: Console) -> None:
    table = Table(title=f"{flow.subject.name}: each part with what it contains")
    names = ("COMB", "FF", "EBR", "MULT")
    table.add_column("part")
    for name in names:
        table.add_column(name, justify="right")
    for path, counts in breakdown(flow.netlist).items():
        label = "  " * (len(path) - 1) + path[-1]
        table.add_row(label, *(str(counts[name]) for name in names))
    page.print(table)


@click.group(cls=Commands)
def main() -> None:
    """Measure size and clock of the core and its peers on FPGAs."""


@main.command()
@click.option("--tiers", default="1,2,3,4,8", callback=_numbers, show_default=True)
@click.option(
    "--plain",
    default="3",
    callback=_numbers,
    show_default=True,
    help="Tiers of cores without monitors and time stamps of lines, which VexRiscv has not.",
)
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--peer", "peers", multiple=True, type=click.Choice(list(PEERS)), default=PEERS)
@click.option("--no-peers", is_flag=True, help="The core only.")
@click.option(
    "--memories",
    type=click.Choice(["both", "with", "without"]),
    default="both",
    show_default=True,
    help="The core with its local memories, without, or both in turn.",
)
@click.option("--counts/--no-counts", default=True, help="Count for other FPGA families too.")
@click.option("--lines", type=int, default=results.USUAL["lines"], show_default=True)
@click.option("--counters/--no-counters", default=results.USUAL["counters"], show_default=True)
@click.option(
    "--extension",
    "extensions",
    multiple=True,
    type=click.Choice([*EXTENSIONS, "none"]),
    help="Build these extensions in, or none of them, instead of the usual ones.",
)
@click.option("--icache-bytes", type=int, default=0, show_default=True)
@click.option("--dcache-bytes", type=int, default=0, show_default=True)
@click.option("--debug", is_flag=True, help="The core with debug mode and triggers.")
@click.option("--path", is_flag=True, help="Print each design's slowest path.")
@click.option("--breakdown", "parts", is_flag=True, help="Print the area of every part.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count(), show_default=True)
def run(
    tiers: tuple[int, ...],
    plain: tuple[int, ...],
    seeds: int,
    peers: tuple[str, ...],
    no_peers: bool,
    memories: str,
    counts: bool,
    lines: int,
    counters: bool,
    extensions: tuple[str, ...],
    icache_bytes: int,
    dcache_bytes: int,
    debug: bool,
    path: bool,
    parts: bool,
    jobs: int,
) -> None:
    """Synthesise, place and route; the exit status is 1 if a part of the pass line fails.

    Size and clock are those of an ECP5 LFE5U-25F of speed grade 6, the clock the median of the
    seeds. What has been done before for the same design and tools is not done again.
    """
    # What is wanted at the end is missed before anything that takes long.
    check_folder()
    results.core_results()
    page = console()
    options = {"lines": lines, "counters": counters}
    more = {"icache_bytes": icache_bytes, "dcache_bytes": dcache_bytes, "debug": debug}
    options |= {name: value for name, value in more.items() if value}
    if extensions:
        options |= {name: name in extensions for name in EXTENSIONS}
    which = {"both": (True, False), "with": (True,), "without": (False,)}[memories]
    subjects = _subjects(tiers, plain, which, () if no_peers else peers, **options)
    if not subjects:
        raise click.UsageError("there is nothing to synthesise: no tiers and no peers")
    flows = [_flow(subject) for subject in subjects]
    families = tuple(FAMILIES) if counts else ()
    numbers = range(1, seeds + 1)

    def prepare(flow: Flow) -> None:
        _ = flow.harness_cells
        if not flow.subject.with_memories:
            for family in families:
                flow.counts(family)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(prepare, flows))
        tasks = [(flow, seed) for flow in flows for seed in numbers]
        done = list(pool.map(lambda task: task[0].routed(task[1]), tasks))
    routed = [done[index : index + seeds] for index in range(0, len(done), seeds)]
    rows = [
        results.row(flow, runs, () if flow.subject.with_memories else families)
        for flow, runs in zip(flows, routed, strict=True)
    ]
    _show_rows(rows, page)
    for flow, runs in zip(flows, routed, strict=True):
        if path:
            _show_path(flow, runs, page)
        if parts:
            _show_parts(flow, page)
    content = results.outcome(rows, results.configuration(numbers, options))
    for name, value in content["headline"].items():
        page.print(f"  {name}: {cell(value)}", highlight=False)
    for text, holds in content["conditions"].items():
        verdict = {True: "[green]holds[/]", False: "[red]fails[/]", None: "open"}[holds]
        page.print(f"  {verdict}: {text}", highlight=False)
    page.print(f"JSON: {results.write(content)}", highlight=False)
    sys.exit(False in content["conditions"].values())


@main.command()
@click.option("--update", is_flag=True, help="Make these the figures that the manual shows.")
@click.option("--jobs", type=click.IntRange(min=1), default=os.cpu_count(), show_default=True)
def options(update: bool, jobs: int) -> None:
    """Count what each parameter of the core costs on an ECP5, before placement."""
    flows = [_flow(subject) for subject in option_costs.subjects()]
    with ThreadPoolExecutor(jobs) as pool:
        kept = option_costs.content(list(pool.map(option_costs.row, flows)))
    click.echo(option_costs.table(kept))
    if update:
        option_costs.update(kept)


@main.command()
def update_readme() -> None:
    """Keep the last results and write them into the README's table."""
    results.update_readme()


if __name__ == "__main__":
    main(prog_name="python -m tierv.sim.synthesis")
