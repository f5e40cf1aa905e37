"""Every board's project: pins, clocks, map and completeness, without the tools it is for."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest
from emitted import VARIANTS, clocks, constraints, emitted, files_of, ports

from tierv.boards.bios import build_bios
from tierv.boards.board import Board, Family, Phy, SerialPins, with_bios
from tierv.boards.project import SCRIPTS, build_program, emit, memory_images
from tierv.boards.registry import BOARDS, find_board
from tierv.soc import map as soc_map
from tierv.soc.params import SocParams
from tierv.soc.serial import SOURCE as SERIAL_SOURCE

EACH = pytest.mark.parametrize("board", VARIANTS.values(), ids=VARIANTS)


#: 256 MB of 16 bits; one of the two chips of 32 M times 16 bits.
MEMORY_BYTES = {"arty_bios": 256 << 20, "arty_a7_100_bios": 256 << 20, "de2_115_bios": 64 << 20}


@EACH
def test_every_port_has_a_pin_of_its_own_and_an_io_standard(board: Board):
    project = emitted(board)
    found = constraints(project)
    names = ports(project)
    assert len(names) > 10
    assert found.pins.keys() == names
    assert found.standards.keys() == names
    assert len(set(found.pins.values())) == len(names)
    assert not [name for name, pin in found.pins.items() if ":" in pin or pin in ("-", "None")]


@EACH
def test_the_serial_ports_are_on_the_pins_that_the_board_says(board: Board):
    platform = board.platform()
    found = constraints(emitted(board)).pins
    resolved = platform.constraint_manager.connector_manager.resolve_identifiers
    for index, pins in enumerate(board.serial):
        assert [found[f"tierv_serial{index}_{name}"] for name in ("tx", "rx")] == resolved(
            [pins.tx, pins.rx]
        )


@EACH
def test_every_clock_has_a_constraint(board: Board):
    project = emitted(board)
    found = constraints(project).clocks_mhz
    assert found[board.clock + ("0" if f"{board.clock}0" in found else "")] == pytest.approx(
        board.clock_hz / 1e6
    )
    # The PLL's are derived from its input.
    derived = {"sys_clk", "idelay_clk"}
    assert clocks(project) <= found.keys() | derived
    if board.phy is not Phy.NONE:
        assert {"eth_rx_clk", "eth_tx_clk"} <= clocks(project)
        wanted = 125 if board.phy is Phy.RGMII else 25
        assert found["eth_rx_clk"] == found["eth_tx_clk"] == pytest.approx(wanted)


@EACH
def test_registers_and_lines_are_those_of_the_map(board: Board):
    described = json.loads((emitted(board).folder / "soc/csr.json").read_text())
    pages = described["csr_bases"]
    for name, base in pages.items():
        page = soc_map.CSR_PAGES[name]
        assert base == soc_map.ORIGINS["csr"] + page * soc_map.CSR_PAGE_BYTES, name
    assert {"uart", "serial", "timer0", "leds"} <= pages.keys()
    assert ("ethmac" in pages) == (board.phy is not Phy.NONE)
    constants = described["constants"]
    for name, line in soc_map.lines(board.soc.uarts).items():
        number = constants.get(f"{name}_interrupt")
        assert number in (line, None), name
    assert constants["config_clock_frequency"] == board.soc.sys_clk_hz
    memories = {name: one["size"] for name, one in described["memories"].items()}
    assert memories["itcm"] == board.soc.itcm_bytes
    assert memories["dtcm"] == board.soc.dtcm_bytes
    assert memories.get("rom", 0) == board.soc.rom_bytes
    if board.soc.sdram:
        assert memories["main_ram"] == MEMORY_BYTES[board.name]
        assert {"sdram"} <= pages.keys()
    else:
        assert memories.get("main_ram", 0) == board.soc.main_ram_bytes


@EACH
def test_the_project_is_complete_and_can_be_moved(board: Board):
    project = emitted(board)
    named = files_of(project)
    assert not [path.name for path in named if not path.is_file()]
    verilog = {path.name for path in named if path.suffix == ".v"}
    assert verilog == {f"{board.name}.v", "tierv_cluster.v", SERIAL_SOURCE.name}
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


@pytest.mark.parametrize(
    ("name", "pins"), [("arty_bios", ("ddram_dq[15]", "ddram_dqs_p[1]", "ddram_clk_n")),
                       ("de2_115_bios", ("sdram_dq[15]", "sdram_clock"))]
)  # fmt: skip
def test_external_memory_is_on_its_pins_and_read_by_the_caches(name, pins):
    project = emitted(VARIANTS[name])
    assert set(pins) <= constraints(project).pins.keys()
    core = (project.gateware / "tierv_cluster.v").read_text()
    assert "mem_cti" in core
    assert "mem_cti" not in (emitted(BOARDS["arty"]).gateware / "tierv_cluster.v").read_text()


def test_a_board_without_external_memory_has_no_bios():
    with pytest.raises(ValueError, match="board must have external memory .* ecpix5 has not"):
        with_bios(BOARDS["ecpix5"])
    with pytest.raises(ValueError, match="sdram of ecpix5 must be False"):
        dataclasses.replace(
            BOARDS["ecpix5"],
            soc=dataclasses.replace(BOARDS["ecpix5"].soc, sdram=True, main_ram_bytes=0),
        )


def test_the_bios_is_the_memory_from_which_the_core_starts():
    board = VARIANTS["arty_bios"]
    words = [0x1357_0000 + n for n in range(8)]
    project = emit(dataclasses.replace(board, name="rom"), words)
    (path,) = [path for path in files_of(project) if path.name.endswith("_rom.init")]
    assert [int(word, 16) for word in path.read_text().split()[:8]] == words
    described = json.loads((project.folder / "soc/csr.json").read_text())
    assert described["constants"]["config_cpu_reset_addr"] == soc_map.ORIGINS["rom"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arty_bios", "de2_115_bios"])
def test_the_bios_of_a_board_fits_its_memory(name):
    board = VARIANTS[name]
    words = build_bios(board)
    assert 16 << 10 < 4 * len(words) <= board.soc.rom_bytes


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
