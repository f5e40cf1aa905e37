"""Write the core as one Verilog file: ``python -m tierv.rtl.verilog --help``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import click

from .cluster import Cluster
from .debug.top import debug_verilog
from .document import c_header
from .emit import to_verilog
from .params import CachedRegion, CoreParams, Region
from .tierv import Core

#: Verilog names of the modules.
CORE_MODULE = "tierv"
CLUSTER_MODULE = "tierv_cluster"


def core_verilog(params: CoreParams) -> str:
    """The core alone as module ``tierv``; ports as in ``tierv.Core``, and ``clk`` and ``rst``."""
    return to_verilog(Core(params), CORE_MODULE)


@cache
def cluster_verilog(params: CoreParams) -> str:
    """The core and its memories as module ``tierv_cluster``; ports as in ``cluster.Cluster``.

    Made once in a process for each set of parameters, for it takes seconds.
    """
    return to_verilog(Cluster(params), CLUSTER_MODULE)


class _Number(click.ParamType):
    """An integer in any base that Python writes."""

    name = "integer"

    def convert(self, value, param, ctx) -> int:
        try:
            return int(value, 0) if isinstance(value, str) else value
        except ValueError:
            self.fail(f"{value!r} is not an integer", param, ctx)


NUMBER = _Number()
_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.option("--tiers", type=int, default=CoreParams.tiers, show_default=True)
@click.option("--lines", type=int, default=CoreParams.lines, show_default=True)
@click.option("--reset-address", type=NUMBER, default=CoreParams.reset_address, show_default=True)
@click.option("--imem-base", type=NUMBER, default=CoreParams.imem.base, show_default=True)
@click.option("--imem-bytes", type=NUMBER, default=CoreParams.imem.size_bytes, show_default=True)
@click.option("--dmem-base", type=NUMBER, default=CoreParams.dmem.base, show_default=True)
@click.option("--dmem-bytes", type=NUMBER, default=CoreParams.dmem.size_bytes, show_default=True)
@click.option(
    "--dmem-pipelined/--dmem-classic",
    default=CoreParams.dmem_pipelined,
    help="Wishbone B4 pipelined at the data memory, for a DMA that moves a word a cycle.",
)
@click.option("--counters/--no-counters", default=True, show_default=True)
@click.option("--line-stamps/--no-line-stamps", default=True, show_default=True)
@click.option("--zba/--no-zba", default=CoreParams.zba, show_default=True)
@click.option("--zbb/--no-zbb", default=CoreParams.zbb, show_default=True)
@click.option("--zbs/--no-zbs", default=CoreParams.zbs, show_default=True)
@click.option("--icache-bytes", type=NUMBER, default=CoreParams.icache_bytes, show_default=True)
@click.option("--dcache-bytes", type=NUMBER, default=CoreParams.dcache_bytes, show_default=True)
@click.option(
    "--cache-line-bytes", type=NUMBER, default=CoreParams.cache_line_bytes, show_default=True
)
@click.option("--cached-base", type=NUMBER, default=CoreParams.cached.base, show_default=True)
@click.option(
    "--cached-bytes", type=NUMBER, default=CoreParams.cached.size_bytes, show_default=True
)
@click.option("--debug/--no-debug", default=CoreParams.debug, help="Add tierv_debug, too.")
@click.option("--triggers", type=int, default=CoreParams.triggers, show_default=True)
@click.option("--rvfi", is_flag=True, help="Add the RISC-V Formal Interface.")
@click.option("--altops", is_flag=True, help="Formal stand-ins for multiply and divide.")
@click.option("--cluster", is_flag=True, help="Include the tightly coupled memories.")
@click.option("--header", type=_FILE, help="Write the core's C and assembler header, too.")
@click.argument("output", type=_FILE)
def main(
    imem_base: int,
    imem_bytes: int,
    dmem_base: int,
    dmem_bytes: int,
    cached_base: int,
    cached_bytes: int,
    cluster: bool,
    header: Path | None,
    output: Path,
    **parameters,
) -> None:
    """Write the core as Verilog to OUTPUT."""
    try:
        params = CoreParams(
            imem=_region(Region, "imem", imem_base, imem_bytes),
            dmem=_region(Region, "dmem", dmem_base, dmem_bytes),
            cached=_region(CachedRegion, "cached", cached_base, cached_bytes),
            **parameters,
        )
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    text = cluster_verilog(params) if cluster else core_verilog(params)
    # Its pins are JTAG's; the rest is for the core and the bus.
    _write(output, f"{text}\n{debug_verilog(params)}" if params.debug else text)
    if header is not None:
        _write(header, c_header(params))


def _region(kind: type[Region], name: str, base: int, size_bytes: int) -> Region:
    try:
        return kind(base=base, size_bytes=size_bytes)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    click.echo(f"wrote {path}")


if __name__ == "__main__":
    main()
