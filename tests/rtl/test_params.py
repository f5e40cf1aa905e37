"""Parameters that can't be built are refused, with the parameter and the value in the message."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tierv.rtl.params import CachedRegion, CoreParams, Region

#: Lowest and highest value of each parameter that is a number.
RANGES = {
    "tiers": (1, 8),
    "lines": (1, 32),
    "branch_history_log2": (0, 12),
    "return_stack_log2": (0, 3),
    "line_settle_cycles": (0, 7),
}


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("value", [-1, 99, 2.0, "3", None, True])
def test_a_number_out_of_range_or_of_another_type_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be .*{re.escape(repr(value))}$"):
        CoreParams(**{name: value})


@pytest.mark.parametrize(("name", "limits"), RANGES.items())
def test_the_limits_are_allowed_and_what_is_beyond_them_is_not(
    name: str, limits: tuple[int, int]
) -> None:
    low, high = limits
    for value in (low, high):
        assert getattr(CoreParams(**{name: value}), name) == value
    for value in (low - 1, high + 1):
        with pytest.raises(ValueError, match=rf"^{name} must be .* not {value}$"):
            CoreParams(**{name: value})


@pytest.mark.parametrize("value", [2, 0x2000_0001])
def test_a_reset_address_between_instructions_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match=f"^reset_address must be a multiple of 4, not {value:#x}"):
        CoreParams(reset_address=value)


@pytest.mark.parametrize("value", [-4, 1 << 32, "0"])
def test_a_reset_address_beyond_32_bits_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"^reset_address must be an integer"):
        CoreParams(reset_address=value)


@pytest.mark.parametrize("size", [0, 512, 3000, 3 << 10, 1 << 25, -1024])
def test_a_memory_size_that_is_no_power_of_two_or_out_of_range_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=rf"^size_bytes must be .* not {size}$"):
        Region(base=0, size_bytes=size)


@pytest.mark.parametrize("base", [0x1000, 0x2000_0004, -0x8000, 1 << 32])
def test_a_memory_that_is_not_aligned_to_its_size_is_refused(base: int) -> None:
    with pytest.raises(ValueError, match=rf"^base must be .* not {base:#x}$"):
        Region(base=base, size_bytes=0x8000)


def test_overlapping_memories_are_refused() -> None:
    region = Region(base=0x1000_0000, size_bytes=0x1000)
    inside = Region(base=0x1000_0800, size_bytes=0x400)
    with pytest.raises(ValueError, match=r"^imem and dmem .* not 0x10000000 and 0x10000800$"):
        CoreParams(imem=region, dmem=inside)


@pytest.mark.parametrize("name", ["imem", "dmem"])
def test_a_memory_that_is_no_region_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be a Region, not 1024$"):
        CoreParams(**{name: 1024})
    with pytest.raises(ValueError, match=rf"^{name} must be a Region, not CachedRegion"):
        CoreParams(**{name: CachedRegion(base=0, size_bytes=1 << 29)})


def test_formal_stand_ins_without_the_formal_interface_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^altops must be used with rvfi"):
        CoreParams(altops=True)


def test_a_debugger_that_can_not_be_is_refused() -> None:
    cached = CachedRegion(base=0xA000_0000, size_bytes=1 << 20)
    with pytest.raises(
        ValueError, match=r"^cached must not hold 0xa0000000, .* 0xa0000000 on does$"
    ):
        CoreParams(debug=True, icache_bytes=1 << 10, cached=cached)
    CoreParams(debug=True, cached=cached)
    CoreParams(icache_bytes=1 << 10, cached=cached)
    with pytest.raises(ValueError, match=r"^triggers must be an integer from 1 to 4, not 5$"):
        CoreParams(triggers=5)


@pytest.mark.parametrize("name", ["icache_bytes", "dcache_bytes"])
@pytest.mark.parametrize("size", [512, 3000, 1 << 17, -1024])
def test_a_cache_that_is_no_power_of_two_or_out_of_range_is_refused(name: str, size: int) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be .* not {size}$"):
        CoreParams(**{name: size})


@pytest.mark.parametrize("size", [0, 8, 48, 256])
def test_a_line_that_is_no_power_of_two_or_out_of_range_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match=rf"^cache_line_bytes must be .* not {size}$"):
        CoreParams(cache_line_bytes=size)


def test_local_memory_is_not_cached() -> None:
    cached = CachedRegion(base=0x2000_0000, size_bytes=1 << 20)
    assert not CoreParams(cached=cached).has_caches
    with pytest.raises(ValueError, match=r"^cached and imem must not overlap, not 0x20000000 and"):
        CoreParams(cached=cached, dcache_bytes=1024)


@pytest.mark.parametrize(
    ("imem_base", "cached_base"), [(0x2000_0000, 0x1FF0_0000), (0x1FFF_8000, 0x2000_0000)]
)
def test_instructions_behind_a_memory_s_end_are_in_no_other_one(
    imem_base: int, cached_base: int
) -> None:
    imem = Region(base=imem_base, size_bytes=0x8000)
    cached = CachedRegion(base=cached_base, size_bytes=1 << 20)
    CoreParams(imem=imem, cached=cached, dcache_bytes=1024)
    with pytest.raises(ValueError, match=r"^imem and cached must be apart .* before 0x20000000$"):
        CoreParams(imem=imem, cached=cached, icache_bytes=1024)


def test_what_is_cached_is_a_region_of_a_size_that_can_be() -> None:
    with pytest.raises(ValueError, match=r"^cached must be a CachedRegion, not 1024$"):
        CoreParams(cached=1024)
    with pytest.raises(ValueError, match=r"^size_bytes must be .* not 2147483648$"):
        CachedRegion(base=0, size_bytes=1 << 31)
