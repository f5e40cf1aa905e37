"""The core with local memories that hold a program when the FPGA has been configured.

Each byte of a word has a block RAM of its own, filled from a hexadecimal file, in a form that the
tools of all vendors infer (``byte_lane.v``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from amaranth.hdl import ClockSignal, Instance, Module, Signal

from tierv.rtl.cluster import Cluster
from tierv.rtl.emit import to_verilog
from tierv.rtl.params import CoreParams
from tierv.rtl.tcm import TightlyCoupledMemory
from tierv.rtl.util import pick
from tierv.rtl.verilog import CLUSTER_MODULE

#: The Verilog of a lane.
LANE = Path(__file__).with_name("byte_lane.v")
_BYTES = 4
#: Columns of the memories, by name, as ``Cluster`` has them.
_COLUMNS = {"itcm": 2, "dtcm": 1}


@dataclass(frozen=True)
class Lane:
    """One byte of every word of one column of a memory."""

    #: ``itcm`` or ``dtcm``.
    memory: str
    column: int
    byte: int

    @property
    def file(self) -> str:
        """Name of the file with its content."""
        return f"{self.memory}_{self.column}_{self.byte}.init"

    def content(self, image: bytes) -> bytes:
        """Its share of the whole memory's content."""
        return image[_BYTES * self.column + self.byte :: _BYTES * _COLUMNS[self.memory]]


def room_bytes(size_bytes: int) -> int:
    """The power of two that a memory of this size takes in the address space."""
    return 1 << (size_bytes - 1).bit_length()


def lanes() -> list[Lane]:
    """All lanes of the two memories."""
    return [
        Lane(memory, column, byte)
        for memory, columns in _COLUMNS.items()
        for column in range(columns)
        for byte in range(_BYTES)
    ]


def hex_text(content: bytes) -> str:
    """Bytes as Verilog's ``$readmemh`` reads them."""
    return "".join(f"{value:02x}\n" for value in content)


def hex_files(sizes: Mapping[str, int], images: Mapping[str, bytes]) -> dict[str, str]:
    """Name and text of the file of every lane, for the sizes and contents of ``itcm`` and ``dtcm``.

    What an image lacks is zero. Raises ``ValueError`` for one that is longer than its memory.
    """
    padded = {}
    for name, size in sizes.items():
        image = images.get(name, b"")
        if len(image) > size:
            raise ValueError(f"{name} must hold at most {size} bytes, not {len(image)}")
        padded[name] = image.ljust(size, b"\0")
    return {lane.file: hex_text(lane.content(padded[lane.memory])) for lane in lanes()}


def _filled(memory: TightlyCoupledMemory, name: str, size_bytes: int) -> Module:
    """What ``memory`` consists of if it has the content of the files of ``name``.

    ``size_bytes`` may be less than the addresses have room for; what is not there reads as
    anything. A port that writes reads what it writes.
    """
    m = Module()
    columns = _COLUMNS[name]
    column_bits = (columns - 1).bit_length()
    selected = memory.bus_selects()
    column = memory.wb_adr[:column_bits]
    column_read = Signal(max(column_bits, 1))
    m.d.sync += [memory.wb_ack.eq(selected), column_read.eq(column)]
    words = [Signal(32, name=f"word{index}") for index in range(columns)]
    for lane in lanes():
        if lane.memory != name:
            continue
        here = selected & memory.wb_we & (column == lane.column)
        position = _BYTES * lane.column + lane.byte
        m.submodules[f"column{lane.column}_byte{lane.byte}"] = Instance(
            "tierv_byte_lane",
            p_ADDRESS_BITS=len(memory.address),
            p_DEPTH=size_bytes // (_BYTES * columns),
            p_CONTENT=lane.file,
            i_clk=ClockSignal(),
            i_local_write=memory.write_mask[position],
            i_local_address=memory.address,
            i_local_data=memory.write_data.word_select(position, 8),
            o_local_read=memory.read_data.word_select(position, 8),
            i_bus_write=here & memory.wb_sel[lane.byte],
            i_bus_address=memory.wb_adr[column_bits : column_bits + len(memory.address)],
            i_bus_data=memory.wb_dat_w.word_select(lane.byte, 8),
            o_bus_read=words[lane.column].word_select(lane.byte, 8),
        )
    m.d.comb += memory.wb_dat_r.eq(pick(words, column_read))
    return m


class FilledMemory(TightlyCoupledMemory):
    """``TightlyCoupledMemory`` with the content of files.

    Verilog of it needs ``byte_lane.v`` (``LANE``).
    """

    def __init__(self, name: str, size_bytes: int) -> None:
        self._name, self._size_bytes = name, size_bytes
        super().__init__(size_bytes=room_bytes(size_bytes), columns=_COLUMNS[name])

    def elaborate(self, platform) -> Module:
        return _filled(self, self._name, self._size_bytes)


class _FilledCluster(Cluster):
    def __init__(self, params: CoreParams, sizes: Mapping[str, int]) -> None:
        super().__init__(params)
        # The cluster has made its memories, and joins them to the core: they stay.
        for name, memory in (("itcm", self._imem), ("dtcm", self._dmem)):
            memory.elaborate = _elaboration(memory, name, sizes[name])


def _elaboration(memory: TightlyCoupledMemory, name: str, size_bytes: int):
    """The method ``elaborate`` of a memory that is filled."""

    def elaborate(platform) -> Module:
        return _filled(memory, name, size_bytes)

    return elaborate


@cache
def filled_cluster_verilog(params: CoreParams, itcm_bytes: int, dtcm_bytes: int) -> str:
    """The core and its memories as module ``tierv_cluster``, beside the files of ``hex_files``.

    The memories have at most the bytes of their regions in ``params``. Made once in a process for
    each set of arguments, for it takes seconds.
    """
    sizes = {"itcm": itcm_bytes, "dtcm": dtcm_bytes}
    cluster = to_verilog(_FilledCluster(params, sizes), CLUSTER_MODULE)
    return f"{cluster}\n{LANE.read_text()}"
