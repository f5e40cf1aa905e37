"""What a model is run with while the compiler watches which of its branches are taken.

Any work that reaches every part of the SoC will do: the branches that matter are resets, errors
and idle peripherals.
"""

from __future__ import annotations

from tierv.soc import map as soc_map

from .records import RunEnd
from .stimulus import Frame, UartBytes

#: RV32IM, position independent: loads and stores in sram and main_ram, reads of the MAC's slots
#: and of the CSRs, writes to the mailbox, multiplications, divisions and branches, for ever.
PROGRAM = (
    0x10000437,  # lui  s0, 0x10000      sram
    0x400004B7,  # lui  s1, 0x40000      main_ram
    0xF0000937,  # lui  s2, 0xF0000      csr
    0x800009B7,  # lui  s3, 0x80000      ethmac
    0x81000A37,  # lui  s4, 0x81000      mailbox
    0x00000A93,  # li   s5, 0
    0x3FCAF293,  # andi t0, s5, 1020     loop
    0x00540333,  # add  t1, s0, t0
    0x01532023,  # sw   s5, 0(t1)
    0x00032383,  # lw   t2, 0(t1)
    0x00548333,  # add  t1, s1, t0
    0x00732023,  # sw   t2, 0(t1)
    0x00134E03,  # lbu  t3, 1(t1)
    0x03C38EB3,  # mul  t4, t2, t3
    0x01DB4B33,  # xor  s6, s6, t4
    0x00598333,  # add  t1, s3, t0
    0x00032E03,  # lw   t3, 0(t1)
    0x016A2223,  # sw   s6, 4(s4)
    0x009A9F13,  # slli t5, s5, 9
    0x0001FFB7,  # lui  t6, 0x1F
    0x01FF7F33,  # and  t5, t5, t6
    0x012F0F33,  # add  t5, t5, s2
    0x008F2E03,  # lw   t3, 8(t5)
    0x015EDEB3,  # srl  t4, t4, s5
    0x027EDEB3,  # divu t4, t4, t2
    0x00300293,  # li   t0, 3
    0xFFF28293,  # addi t0, t0, -1
    0xFE029EE3,  # bnez t0, -4
    0x004A8A93,  # addi s5, s5, 4
    0xFA5FF06F,  # j    loop
)

#: Where the program runs: where every CPU starts.
START = soc_map.ORIGINS["rom"]
#: Length of the run in clock cycles, and its end.
CYCLES = 300_000
END = RunEnd.LIMIT


def program() -> bytes:
    """Machine code of the program."""
    return b"".join(word.to_bytes(4, "little") for word in PROGRAM)


def frames() -> list[Frame]:
    """Frames of several lengths for the SoC."""
    return [Frame(bytes(range(60)) * (1 + index % 8), cycle=9_000 * index) for index in range(20)]


def uart_bytes(ports: int) -> list[UartBytes]:
    """A few characters for every port."""
    return [UartBytes(port, b"train", cycle=20_000 * port) for port in range(ports)]
