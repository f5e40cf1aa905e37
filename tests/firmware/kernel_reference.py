"""What the kernels of ``firmware/kernels`` must find, computed another way."""

from __future__ import annotations

import binascii
import re
import struct
from collections.abc import Iterable, Iterator

import numpy as np

MASK = 0xFFFF_FFFF


def randoms(state: int) -> Iterator[int]:
    while True:
        state = (state * 1664525 + 1013904223) & MASK
        yield state >> 16


def hash_of(values: Iterable[int]) -> int:
    total = 2166136261
    for value in values:
        total = ((total ^ (value & MASK)) * 16777619) & MASK
    return total


def take(source: Iterator[int], count: int) -> list[int]:
    return [next(source) for _ in range(count)]


def kernel_list() -> int:
    source = randoms(1)
    keys = [value % 1024 for value in take(source, 100)]
    found = []
    for key in (value % 1024 for value in take(source, 60)):
        # The node that was put in front last is found first.
        numbers = [number for number in range(100) if keys[number] == key]
        found.append(max(numbers, default=100))
    # Turned round the list is in the order of the numbers, which a stable sort keeps.
    by_key = sorted(range(100), key=lambda number: keys[number])
    return hash_of(found + [keys[n] << 16 | n for n in (*by_key, *range(100))])


def kernel_matrix() -> int:
    values = np.array(take(randoms(2), 512), np.uint16).view(np.int16).reshape(16, 16, 2)
    left, right = values[:, :, 0].astype(np.int64), values[:, :, 1].astype(np.int64)
    found = []
    for row in range(2):
        product = left @ right
        bits = product & MASK
        found.append(int(((bits >> 2 & 0xF) * (bits >> 5 & 0x7F)).sum()))
        found += [int(value) for value in product @ right[row]]
        left = (left * 7).astype(np.int16).astype(np.int64)
    return hash_of(found)


#: What ends in each state of the machine, in the order of the states.
ENDS = (
    r"",
    r"[+-]",
    r"0",
    r"(?!0$)(0|[+-]?\d)\d*",
    r"[+-]?\.",
    r"[+-]?(\d+\.\d*|\.\d+)",
    r"[+-]?(\d+(\.\d*)?|\.\d+)[eE]",
    r"[+-]?(\d+(\.\d*)?|\.\d+)[eE][+-]",
    r"[+-]?(\d+(\.\d*)?|\.\d+)[eE][+-]?\d+",
    r"0x",
    r"0x[0-9a-fA-F]+",
)
WORDS = [
    "5012",
    "-1234",
    "0",
    "+7",
    "3.141",
    "-0.5",
    ".25",
    "1e9",
    "2.5e-3",
    "-7E+12",
    "0x1F",
    "0xdead",
    "0x",
    "12a",
    "1.2.3",
    "e5",
    "--1",
    "",
    "1e",
    "5.",
]


def kernel_state() -> int:
    text = "".join(WORDS[value % 20] + "," for value in take(randoms(3), 80))
    found = []
    for offset in range(4):
        ends = [0] * 12
        for word in text.split(",")[:-1]:
            kinds = [n for n, pattern in enumerate(ENDS) if re.fullmatch(pattern, word)]
            assert len(kinds) <= 1, word
            ends[kinds[0] if kinds else 11] += 1
        found += ends
        text = "".join(
            "7" if index % 29 == offset and character != "," else character
            for index, character in enumerate(text)
        )
    return hash_of(found)


def kernel_crc() -> int:
    data = bytes(value & 0xFF for value in take(randoms(4), 1024))
    return hash_of([binascii.crc32(data), binascii.crc_hqx(data[:192], 0xFFFF)])


def kernel_copy() -> int:
    halves = take(randoms(5), 512)
    source = bytearray(
        b"".join(struct.pack("<HH", *halves[n : n + 2][::-1]) for n in range(0, 512, 2))
    )
    target = bytearray(source)
    target[32 : 32 + 440] = source[256 : 256 + 440]
    target[3 : 3 + 210] = source[601 : 601 + 210]
    target[511 : 511 + 300] = target[501 : 501 + 300]
    source[: 255 * 4] = target[4:]
    both = zip(struct.unpack("<256I", source), struct.unpack("<256I", target), strict=True)
    return hash_of(word for pair in both for word in pair)


def kernel_checksum() -> int:
    packet = b"".join(struct.pack("<HH", value, value) for value in take(randoms(6), 370))
    found = []
    for number in range(4):
        start = 2 * (number & 1)
        data = packet[start : start + 1472 - 2 * number]
        # The sum in the other byte order is the same, its bytes swapped (RFC 1071, section 2).
        total = sum(struct.unpack(f">{len(data) // 2}H", data)) % 0xFFFF or 0xFFFF
        found.append(struct.unpack("<H", struct.pack(">H", total))[0] ^ 0xFFFF)
    return hash_of(found)


def kernel_dhrystone(passes: int = 200) -> int:
    # By hand: each pass leaves the same state, but for what counts passes.
    low, high, middle = 3, 3, 3 + (2 + 2)  # add_margin(2, 3)
    high *= low
    low = high // middle
    high = 7 * (high - middle) - low
    stock = 5
    low = low + 10 - 1 - stock
    front_count = stock + 10 + 2  # take_next(): add_margin(10, stock) comes last
    back_count = 10 + 6 + 2
    front_part, back_part = 2, 1  # a washer is replaced by a nut
    aisle, shelf, is_open = ord("A"), ord("B"), 1
    found = [low, high, middle, stock, front_count, back_count, front_part, back_part]
    found += [aisle, shelf, is_open, middle, 8, 10 + passes, middle]
    second = b"STOREKEEPER'S BOOK, 2ND PAGE.\0"
    label = b"STOREKEEPER'S BOOK, THE ENTRY\0"
    return hash_of(found + [one ^ other for one, other in zip(second, label, strict=True)])


KERNELS = {
    name.removeprefix("kernel_"): function()
    for name, function in list(globals().items())
    if name.startswith("kernel_")
}
