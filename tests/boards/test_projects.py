"""Every board's project: pins, clocks, map and completeness, without the tools it is for."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import time

import pytest
from elftools.elf.elffile import ELFFile
from emitted import LIKE_OTHERS, VARIANTS, clocks, constraints, emitted, files_of, ports
from slow_turns import turns

from tierv.boards.bios import build_bios
from tierv.boards.board import Family, Phy, SerialPins, with_bios
from tierv.boards.project import SCRIPTS, Project, build_program, emit, memory_images
from tierv.boards.registry import BOARDS, find_board, find_variant, variants
from tierv.boards.soc import BoardSoC
from tierv.sim.paths import build_root
from tierv.soc import map as soc_map
from tierv.soc.export import readdress
from tierv.soc.params import SocParams
from tierv.soc.serial import SOURCES as SERIAL_SOURCES

#: Of the BIOS: its commands and the buffers of what it receives.
STACK_BYTES = 2000
_EACH = turns(VARIANTS, [with_bios(BOARDS[name]).name for name in LIKE_OTHERS])
EACH = pytest.mark.parametrize("name", _EACH)
EACH_WITH_BIOS = pytest.mark.parametrize("name", turns(BOARDS, LIKE_OTHERS))

#: What the boards' manuals say, in MiB; one of the two chips of the DE2-115.
MEMORY_MIB = {"arty": 256, "arty_a7_100": 256, "de2_115": 64, "de10_nano": 64, "de0_nano": 32}
MEMORY_MIB |= {"colorlight_i9": 8, "ecpix5": 512, "versa_ecp5": 128}


@EACH
def test_every_port_has_a_pin_of_its_own_and_an_io_standard(name):
    board = VARIANTS[name]
    project = emitted(board)
    found = constraints(project)
    names = ports(project)
    assert len(names) > 10
    assert found.pins.keys() == names
    assert found.standards.keys() == names
    assert len(set(found.pins.values())) == len(names)
    assert not [name for name, pin in found.pins.items() if ":" in pin or pin in ("-", "None")]


@EACH
def test_the_serial_ports_are_on_the_pins_that_the_board_says(name):
    board = VARIANTS[name]
    platform = board.platform()
    found = constraints(emitted(board)).pins
    resolved = platform.constraint_manager.connector_manager.resolve_identifiers
    for index, pins in enumerate(board.serial):
        assert [found[f"tierv_serial{index}_{name}"] for name in ("tx", "rx")] == resolved(
            [pins.tx, pins.rx]
        )


@EACH
def test_every_clock_has_a_constraint(name):
    board = VARIANTS[name]
    project = emitted(board)
    found = constraints(project).clocks_mhz
    assert found[board.clock + ("0" if f"{board.clock}0" in found else "")] == pytest.approx(
        board.clock_hz / 1e6
    )
    # The PLL's are derived from its input.
    derived = {"sys_clk", "idelay_clk", "init_clk"}
    assert clocks(project) <= found.keys() | derived
    if board.phy is not Phy.NONE:
        assert {"eth_rx_clk", "eth_tx_clk"} <= clocks(project)
        wanted = 125 if board.phy is Phy.RGMII else 25
        assert found["eth_rx_clk"] == found["eth_tx_clk"] == pytest.approx(wanted)


@EACH
def test_registers_and_lines_are_those_of_the_map(name):
    board = VARIANTS[name]
    described = json.loads((emitted(board).folder / "soc/csr.json").read_text())
    pages = described["csr_bases"]
    for name, base in pages.items():
        page = soc_map.CSR_PAGES[name]
        assert base == soc_map.ORIGINS["csr"] + page * soc_map.CSR_PAGE_BYTES, name
    assert {"uart", "timer0", "leds"} <= pages.keys()
    assert ("serial" in pages) == (board.soc.uarts > 0)
    assert ("ethphy" in pages) == (board.phy is not Phy.NONE)
    # By DMA, but for a BIOS.
    mac = "ethmac" if board.soc.bios else "ethdma"
    assert (mac in pages) == (board.phy is not Phy.NONE)
    constants = described["constants"]
    there = {"timer0", "uart", *map(soc_map.uart_name, range(len(board.serial)))}
    there |= {"ethmac"} if board.phy is not Phy.NONE else set()
    there |= {"echo"} if board.soc.echo_bins else set()
    for name, line in soc_map.lines(soc_map.MAX_UARTS).items():
        assert constants.get(f"{name}_interrupt") == (line if name in there else None), name
    assert constants["config_clock_frequency"] == board.soc.sys_clk_hz
    memories = {name: one["size"] for name, one in described["memories"].items()}
    assert memories["itcm"] == board.soc.itcm_bytes
    assert memories["dtcm"] == board.soc.dtcm_bytes
    assert memories.get("rom", 0) == board.soc.rom_bytes
    if board.soc.sdram:
        size = MEMORY_MIB[board.base_name] << 20
        assert memories["main_ram"] == board.memory.total_bytes == size
        assert {"sdram"} <= pages.keys()
    else:
        assert memories.get("main_ram", 0) == board.soc.main_ram_bytes


@EACH
def test_the_project_is_complete_and_can_be_moved(name):
    board = VARIANTS[name]
    project = emitted(board)
    named = files_of(project)
    assert not [path.name for path in named if not path.is_file()]
    verilog = {path.name for path in named if path.suffix == ".v"}
    serial = {source.name for source in SERIAL_SOURCES if board.soc.uarts}
    assert verilog == {f"{board.name}.v", "tierv_cluster.v", *serial}
    contents = [path for path in named if path.name.startswith(("itcm_", "dtcm_"))]
    bytes_ = sum(len(path.read_text().split()) for path in contents)
    assert bytes_ == board.soc.itcm_bytes + board.soc.dtcm_bytes
    for path in project.gateware.iterdir():
        if path.suffix in SCRIPTS:
            # Tools of the system may be named by their place.
            lines = [line for line in path.read_text().splitlines() if not line.startswith("#!")]
            assert not re.search(r"(?<![\w:])/\w+/", "\n".join(lines)), path.name


def test_paths_between_the_clocks_of_quartus_are_cut_both_ways():
    text = emitted(BOARDS["de2_115"]).source(".sdc").read_text()
    for name in ("eth_rx_clk", "eth_tx_clk"):
        assert f"set_clock_groups -asynchronous -group [get_clocks {{{name}}}]" in text


def test_the_reset_of_an_artix_7_is_sampled_by_the_oscillator_in_its_own_time():
    project = emitted(BOARDS["arty"])
    cut = re.findall(r"set_clock_groups (.*)", project.source(".xdc").read_text())
    nets = [set(re.findall(r"get_nets (\w+)", one)) for one in cut]
    (oscillator,) = [net for pair in nets if "sys_clk" in pair for net in pair if "clkin" in net]
    assert f"assign {oscillator} = clk100;" in project.source(".v").read_text()


@pytest.mark.parametrize(("cycles", "passes"), [(351, False), (352, True)])
def test_a_flash_answers_before_the_bus_gives_up(cycles, passes):
    board = VARIANTS["colorlight_i9_bios"]
    soc = dataclasses.replace(board.soc, bus_timeout_cycles=cycles)
    refused = pytest.raises(ValueError, match="bus_timeout_cycles must be at")
    with contextlib.nullcontext() if passes else refused:
        BoardSoC(dataclasses.replace(board, soc=soc), board.platform())


#: Some pins of external memory, and what there is of the flash.
BIOS_PINS = {
    "arty": ("ddram_dq[15]", "ddram_dqs_p[1]", "ddram_clk_n", "spiflash4x_dq[3]"),
    "arty_a7_100": ("ddram_dq[15]", "spiflash4x_dq[3]"),
    "de2_115": ("sdram_dq[15]", "sdram_dm[1]", "sdram_clock"),
    "de10_nano": ("sdram_dq[15]", "sdram_a[12]", "sdram_clock"),
    "de0_nano": ("sdram_dq[15]", "sdram_dm[1]", "sdram_clock"),
    "colorlight_i9": ("sdram_dq[31]", "sdram_clock", "spiflash_miso"),
    "ecpix5": ("ddram_dq[15]", "ddram_dqs_p[1]", "spiflash_miso", "spiflash_hold"),
    "versa_ecp5": ("ddram_dq[15]", "ddram_dqs_p[1]", "spiflash_miso", "spiflash_hold"),
}


@EACH_WITH_BIOS
def test_external_memory_is_on_its_pins_and_read_by_the_caches(name):
    project = emitted(with_bios(BOARDS[name]))
    assert set(BIOS_PINS[name]) <= constraints(project).pins.keys()
    core = (project.gateware / "tierv_cluster.v").read_text()
    assert "mem_cti" in core
    assert "mem_cti" not in (emitted(BOARDS["arty"]).gateware / "tierv_cluster.v").read_text()


@pytest.mark.parametrize("name", turns(["ecpix5", "versa_ecp5"], LIKE_OTHERS))
def test_a_flash_of_which_one_data_pin_is_used_is_neither_held_nor_protected(name):
    text = emitted(with_bios(BOARDS[name])).source(".v").read_text()
    for pin in ("hold", "wp"):
        assert f"assign spiflash_{pin} = 1'd1;" in text


@pytest.mark.parametrize("name", turns(["colorlight_i9", "ecpix5", "versa_ecp5"], LIKE_OTHERS))
def test_the_clock_of_the_flash_of_an_ecp5_goes_by_its_own_way(name):
    project = emitted(with_bios(BOARDS[name]))
    assert "\nUSRMCLK " in project.source(".v").read_text()
    assert not [pin for pin in constraints(project).pins if "spiflash" in pin and "clk" in pin]


@EACH_WITH_BIOS
def test_a_memory_without_mask_pins_gets_whole_words(name):
    board = with_bios(BOARDS[name])
    pins = constraints(emitted(board)).pins
    masks = [pin for pin in pins if re.match(r"(sdram|ddram)_dm", pin)]
    assert bool(masks) == board.soc.sdram_masks


def test_a_board_without_external_memory_has_no_bios():
    board = dataclasses.replace(BOARDS["ecpix5"], memory=None)
    with pytest.raises(ValueError, match="board must have external memory .* ecpix5 has not"):
        with_bios(board)
    with pytest.raises(ValueError, match="sdram of ecpix5 must be False"):
        dataclasses.replace(board, soc=dataclasses.replace(board.soc, sdram=True, main_ram_bytes=0))


def test_the_bios_is_the_memory_from_which_the_core_starts():
    board = VARIANTS["arty_bios"]
    words = [0x1357_0000 + n for n in range(8)]
    project = emit(dataclasses.replace(board, name="rom"), words)
    (path,) = [path for path in files_of(project) if path.name.endswith("_rom.init")]
    assert [int(word, 16) for word in path.read_text().split()[:8]] == words
    described = json.loads((project.folder / "soc/csr.json").read_text())
    assert described["constants"]["config_cpu_reset_addr"] == soc_map.ORIGINS["rom"]


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
def test_the_bios_of_a_board_fits_its_memory(name):
    board = with_bios(BOARDS[name])
    words = build_bios(board, Project(board).bios)
    assert 16 << 10 < 4 * len(words) <= board.soc.rom_bytes
    # Beside what is in it the stack needs room.
    with (Project(board).bios / "software/bios/bios.elf").open("rb") as file:
        elf = ELFFile(file)
        data = sum(elf.get_section_by_name(name).data_size for name in (".data", ".bss"))
    assert data + STACK_BYTES <= board.soc.sram_bytes


@pytest.mark.slow
def test_the_same_board_has_the_same_bios():
    board = with_bios(BOARDS["de0_nano"])
    folder = Project(board).bios
    first = build_bios(board, folder)
    # Beyond the resolution of what it shows.
    time.sleep(1.1)
    assert build_bios(board, folder) == first


def test_tests_leave_alone_what_users_and_other_processes_build():
    folder = Project(BOARDS["arty"]).folder
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    assert folder == build_root() / "test-boards" / worker / "boards" / "arty"


def test_every_way_to_build_a_board_has_a_name_of_its_own():
    ways = [variant for board in BOARDS.values() for variant in variants(board)]
    assert len({way.name for way in ways}) == len(ways) == 2 * len(BOARDS) + 2 * 5
    for way in ways:
        assert find_variant(way.name) == way
        assert way.base_name in BOARDS
    assert find_variant("arty_bios_debug").make_arguments == (
        'BOARD=arty ARGS="--with-bios --debug"'
    )
    with pytest.raises(ValueError, match="board must be one of arty, .* not 'de0_nano_debug'"):
        find_variant("de0_nano_debug")


def test_an_unknown_board_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="board must be one of arty, .*ecpix5.* not 'artix'"):
        find_board("artix")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"serial": ()}, "serial of arty must be for 4 ports, not 0"),
        ({"phy": Phy.NONE}, "ethernet of arty must fit phy, not True"),
        (
            {"soc": SocParams(uarts=4)},
            "filled_memories of arty must be True",
        ),
        (
            {
                "phy": Phy.RGMII,
                "soc": dataclasses.replace(BOARDS["arty"].soc, sys_clk_hz=25_000_000),
            },
            "sys_clk_hz of arty must be at least 32000000 for RGMII, not 25000000",
        ),
    ],
)
def test_a_board_that_contradicts_itself_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(BOARDS["arty"], **changes)


def test_a_pin_that_is_used_twice_is_noticed():
    board = BOARDS["ecpix5"]
    twice = SerialPins(tx="pmod0:0", rx="pmod0:1", where="PMOD 0")
    wrong = dataclasses.replace(board, name="twice", serial=(twice, *board.serial[1:3], twice))
    pins = constraints(emitted(wrong)).pins
    assert len(set(pins.values())) == len(pins) - 2


def test_open_flow_and_vendor_boards_are_there():
    families = {board.family for board in BOARDS.values()}
    assert families == set(Family)


def test_the_firmware_starts_anew_at_every_reset():
    project = emitted(BOARDS["de0_nano"])
    program = build_program(project)
    images = memory_images(program, project.memory_bytes)
    # Initial values lie behind the code, for start-up code to copy: data memory keeps what a
    # running program wrote to it.
    assert images["dtcm"] == b""
    code, data = program.segments
    assert images["itcm"].startswith(code.data)
    assert images["itcm"].endswith(data.data)
    assert data.run_address == soc_map.ORIGINS["dtcm"]


def test_the_firmware_is_built_with_the_board_s_addresses_and_again_if_they_change(elsewhere):
    board = BOARDS["ecpix5"]
    other = {"mac_address": "02:00:00:AB:CD:EF", "local_ip": "10.20.30.40"}
    moved = dataclasses.replace(board, soc=dataclasses.replace(board.soc, **other))
    again = dataclasses.replace(moved, soc=dataclasses.replace(moved.soc, local_ip="10.20.30.41"))
    project = emit(board)
    header = (project.include / "generated/soc.h").read_bytes()
    usual = bytes.fromhex("10e2d5000001"), bytes((192, 168, 1, 50))
    named = bytes.fromhex("020000abcdef")
    ways = [
        (board, usual, {named}),
        (moved, (named, bytes((10, 20, 30, 40))), set(usual)),
        (again, (named, bytes((10, 20, 30, 41))), {bytes((10, 20, 30, 40))}),
        (board, usual, {named}),
    ]
    for way, wanted, gone in ways:
        elf = build_program(Project(way)).path.read_bytes()
        assert all(data in elf for data in wanted)
        assert not any(data in elf for data in gone)
    # A bitstream of other addresses has them in its headers as well.
    assert (project.include / "generated/soc.h").read_bytes() == header
    emit(moved)
    assert readdress(header.decode(), moved.soc) == (
        (project.include / "generated/soc.h").read_text()
    )


@pytest.mark.parametrize("name", turns(BOARDS, LIKE_OTHERS))
def test_the_firmware_of_a_board_fits_its_memories(name):
    project = emitted(BOARDS[name])
    # The linker leaves room for the stack, or fails.
    images = memory_images(build_program(project), project.memory_bytes)
    assert images["itcm"]
