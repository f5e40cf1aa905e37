"""A local memory filled from files, against a model of its bytes; built by test_filled_memory."""

from __future__ import annotations

import os
import random

import cocotb
from cocotb.triggers import Timer

SIZE_BYTES = 1024
#: Seed of the content, and of what the tests do.
SEED = 5
CYCLES = 3000


def content() -> bytes:
    """What the files hold."""
    return random.Random(SEED).randbytes(SIZE_BYTES)


class Memory:
    """The memory's two ports, one clock cycle at a time, beside the bytes it should hold."""

    def __init__(self, dut) -> None:
        self.dut = dut
        self.row_bytes = 4 * int(os.environ["TIERV_COLUMNS"])
        self.bytes = bytearray(content())
        for name in ("clk", "rst", "address", "write_mask", "wb_cyc", "wb_stb", "wb_we"):
            getattr(dut, name).value = 0

    @property
    def rows(self) -> int:
        return SIZE_BYTES // self.row_bytes

    async def cycle(self) -> None:
        await Timer(5, "ns")
        self.dut.clk.value = 1
        await Timer(5, "ns")
        self.dut.clk.value = 0
        await Timer(1, "ns")

    def row(self, number: int) -> bytes:
        return bytes(self.bytes[self.row_bytes * number :][: self.row_bytes])

    def put(self, address: int, data: bytes, mask: int) -> None:
        for index, value in enumerate(data):
            if mask >> index & 1:
                self.bytes[address + index] = value

    async def bus(self, word: int, data: int | None = None, mask: int = 15) -> int:
        """One bus access, which takes two cycles; what it reads."""
        dut = self.dut
        dut.wb_cyc.value = dut.wb_stb.value = 1
        dut.wb_adr.value, dut.wb_we.value = word, data is not None
        dut.wb_sel.value, dut.wb_dat_w.value = mask, data or 0
        await self.cycle()
        assert dut.wb_ack.value == 1
        read = int(dut.wb_dat_r.value)
        dut.wb_cyc.value = dut.wb_stb.value = dut.wb_we.value = 0
        await self.cycle()
        assert dut.wb_ack.value == 0
        if data is not None:
            self.put(4 * word, data.to_bytes(4, "little"), mask)
        return read


@cocotb.test()
async def both_ports_find_the_content_of_the_files(dut):
    memory = Memory(dut)
    for number in range(memory.rows):
        dut.address.value = number
        await memory.cycle()
        read = int(dut.read_data.value).to_bytes(memory.row_bytes, "little")
        assert read == memory.row(number), f"row {number}"
    for word in range(SIZE_BYTES // 4):
        wanted = int.from_bytes(memory.bytes[4 * word :][:4], "little")
        assert await memory.bus(word) == wanted, f"word {word}"


@cocotb.test()
async def every_byte_is_written_alone_from_both_ports(dut):
    memory = Memory(dut)
    rng = random.Random(SEED)
    for _ in range(CYCLES):
        row, mask = rng.randrange(memory.rows), rng.getrandbits(memory.row_bytes)
        data = rng.randbytes(memory.row_bytes)
        dut.address.value, dut.write_mask.value = row, mask
        dut.write_data.value = int.from_bytes(data, "little")
        await memory.cycle()
        memory.put(memory.row_bytes * row, data, mask)
        dut.write_mask.value = 0
        word = rng.randrange(SIZE_BYTES // 4)
        if rng.random() < 0.5:
            await memory.bus(word, rng.getrandbits(32), rng.getrandbits(4))
        wanted = int.from_bytes(memory.bytes[4 * word :][:4], "little")
        assert await memory.bus(word) == wanted, f"word {word}"
        dut.address.value = row = rng.randrange(memory.rows)
        await memory.cycle()
        read = int(dut.read_data.value).to_bytes(memory.row_bytes, "little")
        assert read == memory.row(row), f"row {row}"
