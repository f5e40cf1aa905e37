"""Parameters of the SoC: what can't be built is refused with its name and value."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from tierv.soc import map as soc_map
from tierv.soc.params import SocParams


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"uarts": -1}, "uarts must be an integer from 0 to 16, not -1"),
        ({"uarts": 17}, "uarts must be an integer from 0 to 16, not 17"),
        ({"uarts": True}, "uarts must be an integer from 0 to 16, not True"),
        ({"uarts": 2.0}, "uarts must be an integer from 0 to 16, not 2.0"),
        ({"uarts": "4"}, "uarts must be an integer from 0 to 16, not '4'"),
        ({"eth_rx_slots": 3}, "eth_rx_slots must be a power of two, not 3"),
        ({"eth_tx_slots": 1}, "eth_tx_slots must be an integer from 2 to 64, not 1"),
        ({"sys_clk_hz": 100e6}, "sys_clk_hz must be an integer"),
        ({"uart_baud": 100_000_000}, "uart_baud must be an integer from 12 to 12500000"),
        ({"bus_timeout_cycles": 2}, "bus_timeout_cycles must be an integer from 16"),
        ({"bus_timeout_cycles": 127, "sdram": True}, "must be at least 128 with sdram, not 127"),
        (
            {"sys_clk_hz": 25_000_000, "eth_bits_per_second": 10**9},
            "sys_clk_hz must be at least 32000000 for Ethernet with 1000000000 bits per second",
        ),
        ({"sys_clk_hz": 3_000_000, "uart_baud": 9600}, "sys_clk_hz must be at least 3200000 for"),
        ({"flash_boot_offset": -4}, "flash_boot_offset must be an integer from 0"),
        ({"flash_boot_offset": 6}, "flash_boot_offset must be a multiple of 4, not 6"),
        ({"uart_receive_bytes": 0}, "uart_receive_bytes must be an integer from 1 to 256, not 0"),
        ({"uart_transmit_bytes": 257}, "uart_transmit_bytes must be .* from 1 to 256, not 257"),
        (
            {"eth_bits_per_second": 10_000_000},
            "eth_bits_per_second must be 100000000 or 1000000000, not 10000000",
        ),
        ({"cpu": "vexriscv", "eth_dma": True}, "eth_dma must be False for 'vexriscv'"),
        ({"ethernet": False, "eth_dma": True}, "eth_dma must be False without ethernet"),
        ({"echo_bins": 1}, "echo_bins must be 0 or a power of two from 2 on, not 1"),
        ({"echo_bins": 48}, "echo_bins must be 0 or a power of two from 2 on, not 48"),
        ({"echo_bins": 8192}, "echo_bins must be an integer from 0 to 4096, not 8192"),
        ({"itcm_bytes": 48 << 10}, "itcm_bytes must be a power of two, not 49152"),
        (
            {"filled_memories": True, "bios": True, "itcm_bytes": 48 << 10},
            "itcm_bytes must be a power of two, not 49152",
        ),
        (
            {"filled_memories": True, "itcm_bytes": 40 << 10},
            "itcm_bytes must be a multiple of 16384, not 40960",
        ),
        ({"dtcm_bytes": 512}, "dtcm_bytes must be an integer from 1024 to .*, not 512"),
        *(
            ({name: size}, f"{name} must be 0 or a power of two from 8 on, not {size}")
            for name in ("rom_bytes", "sram_bytes", "main_ram_bytes")
            for size in (1, 4, 24)
        ),
        *(
            ({name: 32 << 20}, f"{name} must be an integer from 1024 to 16777216, not 33554432")
            for name in ("itcm_bytes", "dtcm_bytes")
        ),
        (
            {"filled_memories": True, "itcm_bytes": (16 << 20) + (16 << 10)},
            "itcm_bytes must be an integer from 1024 to 16777216, not 16793600",
        ),
        ({"rom_bytes": 0}, "rom_bytes must not be 0 without filled_memories"),
        ({"bios": True, "sram_bytes": 0}, "sram_bytes must not be 0 with bios"),
        ({"ethernet": "no"}, "ethernet must be True or False, not 'no'"),
        ({"debug": 1}, "debug must be True or False, not 1"),
        ({"eth_bits_per_second": 1e8}, "eth_bits_per_second must be .* not 100000000.0"),
        ({"cpu": "vexriscv", "filled_memories": True}, "must be False for 'vexriscv'"),
        ({"sdram": True}, "main_ram_bytes must be 0 with sdram, not 262144"),
        ({"sdram_masks": False}, "sdram_masks must be True without sdram, not False"),
        ({"icache_bytes": 4096}, "icache_bytes must be 0 without sdram, not 4096"),
        (
            {"cpu": "vexriscv", "sdram": True, "main_ram_bytes": 0, "dcache_bytes": 4096},
            "dcache_bytes must be 0 for 'vexriscv', not 4096",
        ),
        (
            {"sdram": True, "main_ram_bytes": 0, "dcache_bytes": 5000},
            "dcache_bytes must be 0 or a power of two from 1024 to 65536, not 5000",
        ),
        (
            {"eth_rx_slots": 2, "eth_tx_slots": 4},
            "eth_tx_slots must be at most eth_rx_slots, 2, not 4",
        ),
        (
            {"filled_memories": True, "rom_bytes": 0, "bios": True},
            "rom_bytes must not be 0 with bios",
        ),
        ({"mac_address": None}, "mac_address must be like .* not None"),
        ({"mac_address": "10:e2:d5:00:00"}, "mac_address must be like .* not '10:e2:d5:00:00'"),
        (
            {"mac_address": "01:00:5e:00:00:01"},
            r"mac_address must be a station's \(not 0, .* not '01:00:5e:00:00:01'",
        ),
        ({"mac_address": "00:00:00:00:00:00"}, "a station's .*, not '00:00:00:00:00:00'"),
        ({"local_ip": "192.168.1"}, r"local_ip must be an IPv4 address, not '192\.168\.1'"),
        ({"remote_ip": "1.2.3.256"}, "remote_ip must be an IPv4 address"),
        ({"local_ip": 3232235826}, "local_ip must be an IPv4 address, not 3232235826"),
        (
            {"local_ip": "127.0.0.1"},
            r"local_ip must be a host's in 127\.0\.0\.0/24 .*'127\.0\.0\.1'",
        ),
        *(
            ({"local_ip": address}, f"local_ip must be a host's .*, not '{address}'")
            for address in (
                *("0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255"),
                *("10.0.0.0", "10.0.0.255"),
            )
        ),
    ],
)
def test_an_impossible_parameter_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        SocParams(**changes)


def test_derived_variants_are_checked_too():
    with pytest.raises(ValueError, match="uarts must be an integer from 0 to 16, not 99"):
        dataclasses.replace(SocParams(), uarts=99)


@pytest.mark.parametrize("uarts", [0, 4, 16])
def test_line_numbers_and_register_pages_don_t_collide(uarts):
    lines = list(soc_map.lines(uarts).values())
    lines += [soc_map.LINE_EXTERNAL0 + index for index in range(soc_map.EXTERNAL_LINES)]
    assert len(set(lines)) == len(lines)
    assert max(lines) < soc_map.line_count(uarts) <= 32
    pages = list(soc_map.CSR_PAGES.values())
    assert len(set(pages)) == len(pages)
    assert max(pages) < 1 << soc_map.CSR_WORDS_LOG2 - 9


def test_memory_regions_don_t_overlap():
    regions = sorted((soc_map.ORIGINS[name], size) for name, size in soc_map.SIZES.items())
    for (start, size), (following, _) in itertools.pairwise(regions):
        assert start + size <= following
