"""The SoC as Verilog: what LiteX makes of it, and where its memories are."""

from __future__ import annotations

import contextlib
import hashlib
import io
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from migen import Memory

from tierv.soc.export import export
from tierv.soc.params import SocParams
from tierv.soc.soc import quiet_litex_logs

from .harness_config import Columns
from .top import TOP_MODULE, SimulationSoC

_COMMENT = re.compile(r"^//.*\n", re.MULTILINE)
#: Nothing but a block's first line and its end is without an indent.
_BLOCK_BEGIN = re.compile(r"\n+(?![\s)]|end\b)")
_READMEMH = re.compile(r'\$readmemh\("([^"]+)"')


@dataclass(frozen=True)
class Design:
    """Verilog files and what Verilator has to know about them."""

    sources: list[Path]
    #: Verilator's configuration: the memories that the back door reaches.
    configuration: Path
    #: Arrays of each memory region.
    memories: Mapping[str, Columns]
    #: Changes with the Verilog, not with the time at which it was made.
    digest: str


def _configuration(memories: Mapping[str, Columns]) -> str:
    """Readable is enough: writable would have Verilator watch them for changes."""
    lines = ["`verilator_config"]
    for columns in memories.values():
        for module, array in columns:
            lines.append(f'public_flat_rd -module "{module}" -var "{array}"')
    return "\n".join(lines) + "\n"


def sorted_blocks(source: str) -> str:
    """What LiteX has written, with its blocks in a fixed order and without the time.

    LiteX writes the same blocks in another order when it made a SoC before.
    """
    return "\n".join(sorted(_BLOCK_BEGIN.split(_COMMENT.sub("", source))))


def elaborate(params: SocParams, folder: Path) -> Design:
    """Write the SoC's Verilog, headers and descriptions into the folder, which is emptied.

    Raises ``ValueError`` for a configuration that can't be.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "gateware").mkdir(parents=True)
    quiet_litex_logs()
    chatter = io.StringIO()
    with contextlib.redirect_stdout(chatter), contextlib.redirect_stderr(chatter):
        try:
            soc = SimulationSoC(params)
            platform = soc.platform
            platform.output_dir = str(folder)
            soc.finalize()
        except ImportError as error:
            what = str(error).partition("\n")[0]
            raise ValueError(f"cpu {params.cpu!r} can't be had: {what}") from None
        fragment = soc.get_fragment()
        platform.finalize(fragment)
        output = platform.get_verilog(fragment, name=TOP_MODULE, regular_comb=False)
        export(soc, folder)

    def array(memory: Memory | tuple[str, str]) -> tuple[str, str]:
        if isinstance(memory, Memory):
            return TOP_MODULE, output.ns.get_name(memory)
        return memory

    memories = {
        name: [array(memory) for memory in columns]
        for name, columns in soc.backdoor_memories().items()
    }
    for name, data in output.data_files.items():
        (folder / name).write_text(data)
    top = folder / f"{TOP_MODULE}.v"
    # The simulation may run in any folder.
    top.write_text(_READMEMH.sub(rf'$readmemh("{folder}/\1"', output.main_source))
    configuration = folder / "memories.vlt"
    configuration.write_text(_configuration(memories))
    others = [Path(name) for name, *_ in platform.sources]
    texts = [sorted_blocks(output.main_source), *(path.read_text() for path in others)]
    texts += [configuration.read_text(), *output.data_files.values()]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()
    return Design([top, *others], configuration, memories, digest)
