"""The checksum functions against RFC 1071 by its definition, in Python's integers."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from host_build import NET, TESTS, Program, build, examples, hex_bytes
from hypothesis import given
from hypothesis import strategies as st
from net_reference import ones_sum

#: What checksum.h promises of a partial sum.
PARTIAL_LIMIT = 1 << 19


@pytest.fixture(scope="module")
def driver() -> Iterator[Program]:
    program = Program(
        build(
            "checksum_driver",
            [TESTS / "checksum_driver.c", TESTS / "text.c", NET / "checksum.c"],
        )
    )
    yield program
    program.close()


def swap(value: int) -> int:
    """A 16-bit number with its bytes exchanged: the functions sum in memory order."""
    return value >> 8 | (value & 0xFF) << 8


def assert_partial(partial: int, data: bytes) -> None:
    """``partial`` stands for the sum of ``data``; 0 only for zeros, as in one's complement."""
    assert partial < PARTIAL_LIMIT
    want = swap(ones_sum(data))
    assert partial % 0xFFFF == want % 0xFFFF
    assert (partial == 0) == (want == 0)


def sum_of(driver: Program, offset: int, data: bytes) -> int:
    return int(driver.command(f"sum {offset} {data.hex() or '-'}")[0])


def copy_of(driver: Program, command: str, data: bytes) -> tuple[int, bytes]:
    partial, copied = driver.command(f"{command} {data.hex() or '-'}")[0].split()
    return int(partial), hex_bytes(copied)


def patterns(length: int) -> list[bytes]:
    """Zeros, ones, and random bytes."""
    return [bytes(length), b"\xff" * length, random.Random(length).randbytes(length)]


@pytest.mark.parametrize("offset", [0, 2])
def test_sum_of_every_length_to_130(driver: Program, offset: int) -> None:
    for length in range(131):
        for data in patterns(length):
            assert_partial(sum_of(driver, offset, data), data)


@pytest.mark.parametrize("length", [1500, 1514, 9000, 32768, 65534, 65535])
def test_sum_of_long_data_loses_no_carry(driver: Program, length: int) -> None:
    for data in patterns(length):
        for offset in (0, 2):
            assert_partial(sum_of(driver, offset, data), data)


@pytest.mark.parametrize("to_offset", [0, 2])
@pytest.mark.parametrize("from_offset", [0, 1, 2, 3])
def test_copy_of_every_length_to_100_sums_and_copies(
    driver: Program, to_offset: int, from_offset: int
) -> None:
    for length in range(101):
        for data in patterns(length):
            partial, copied = copy_of(driver, f"copy {to_offset} {from_offset}", data)
            assert copied == data
            assert_partial(partial, data)


@pytest.mark.parametrize("to_offset", [0, 2])
@pytest.mark.parametrize("from_offset", [0, 1, 2, 3])
@pytest.mark.parametrize("length", [1514, 65535])
def test_copy_of_long_data_loses_no_carry(
    driver: Program, to_offset: int, from_offset: int, length: int
) -> None:
    for data in patterns(length):
        partial, copied = copy_of(driver, f"copy {to_offset} {from_offset}", data)
        assert copied == data
        assert_partial(partial, data)


def test_copy_of_words_of_every_length_to_130(driver: Program) -> None:
    for length in range(131):
        for data in patterns(length):
            partial, copied = copy_of(driver, "words", data)
            assert copied == data
            assert_partial(partial, data)


@examples(300)
@given(data=st.binary(max_size=2000), offset=st.sampled_from([0, 2]))
def test_sum_of_any_data(driver: Program, data: bytes, offset: int) -> None:
    assert_partial(sum_of(driver, offset, data), data)


@examples(300)
@given(value=st.integers(0, 0xFFFF_FFFF))
def test_fold_is_end_around_carry(driver: Program, value: int) -> None:
    want = 0 if value == 0 else (value - 1) % 0xFFFF + 1
    assert int(driver.command(f"fold {value}")[0]) == want


@examples(300)
@given(value=st.integers(1, 0xFFFE_FFFF))
def test_good_is_a_sum_that_folds_to_all_ones(driver: Program, value: int) -> None:
    for sample in (value, value - value % 0xFFFF or 0xFFFF):
        assert int(driver.command(f"good {sample}")[0]) == (sample % 0xFFFF == 0)


@examples(300)
@given(
    words=st.lists(st.integers(0, 0xFFFF), min_size=2, max_size=12),
    after=st.integers(0, 0xFFFF),
)
def test_update_agrees_with_summing_again(driver: Program, words: list[int], after: int) -> None:
    def field(numbers: list[int]) -> int:
        return 0xFFFF - ones_sum(b"".join(number.to_bytes(2, "big") for number in numbers))

    changed = [after, *words[1:]]
    if not any(changed):
        changed[1] = words[1] = 1
    updated = int(driver.command(f"update {field(words)} {words[0]} {after}")[0])
    assert updated == field(changed)
