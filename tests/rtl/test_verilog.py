"""The core as one Verilog file, as others will use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from slow_turns import turns
from verilog_lint import check_verilog

from tierv.rtl.cluster import CORE_PORTS
from tierv.rtl.verilog import main

#: What yosys writes for any design: unused bits, constants without a width, `case` with defaults
#: before it, initial values beside processes. Of parameters, comparisons with the last tier.
STYLE_OF_YOSYS = (
    "UNUSEDSIGNAL",
    "WIDTHEXPAND",
    "WIDTHTRUNC",
    "CASEINCOMPLETE",
    "PROCASSINIT",
    "DECLFILENAME",
    "VARHIDDEN",
    "CMPCONST",
)


def write(path: Path, *words: str) -> str:
    done = CliRunner().invoke(main, [*words, str(path)])
    assert done.exit_code == 0, done.output
    return path.read_text()


@pytest.mark.parametrize("tiers", turns([1, 3, 8], [3]))
def test_the_core_is_one_file_that_verilator_has_nothing_against(tmp_path, tiers):
    path = tmp_path / "tierv.v"
    write(path, "--tiers", str(tiers))
    check_verilog("tierv", [path], STYLE_OF_YOSYS)


def directed_ports(text: str, module: str) -> dict[str, tuple[str, int]]:
    """Direction and width of each port of a module."""
    body = re.search(rf"^module {module}\(.*?^endmodule", text, re.DOTALL | re.MULTILINE)[0]
    form = r"^  (input|output) (?:wire )?(?:\[(\d+):0\] )?(\w+);"
    found = re.findall(form, body, re.MULTILINE)
    return {name: (direction, int(high or 0) + 1) for direction, high, name in found}


def ports(text: str, module: str) -> dict[str, int]:
    """Width of each port of a module."""
    return {name: width for name, (_, width) in directed_ports(text, module).items()}


def test_module_and_ports_have_fixed_flat_names(tmp_path):
    names = ports(write(tmp_path / "t.v", "--tiers", "4", "--lines", "9"), "tierv")
    assert set(names) == {"clk", "rst", *CORE_PORTS} | {
        "imem_address", "imem_read_data", "dmem_address", "dmem_write_mask", "dmem_write_data",
        "dmem_read_data",
    }  # fmt: skip
    assert (names["lines"], names["timer"], names["wake"], names["issue_tier"]) == (9, 4, 4, 2)
    assert not {name for name in names if name.startswith("rvfi_")}


def test_the_formal_interface_is_an_option(tmp_path):
    names = ports(write(tmp_path / "t.v", "--tiers", "2", "--rvfi", "--altops"), "tierv")
    # Two channels, as riscv-formal concatenates them.
    widths = {
        name: names[f"rvfi_{name}"] for name in ("valid", "order", "insn", "rd_wdata", "pc_rdata")
    }
    assert widths == {"valid": 2, "order": 128, "insn": 64, "rd_wdata": 64, "pc_rdata": 64}
    assert {"rvfi_ctx", "rvfi_intr", "rvfi_trap", "rvfi_mem_wmask"} <= set(names)


@pytest.mark.parametrize("caches", turns([(), ("--dcache-bytes", "1024")], [()]))
def test_core_and_debug_module_are_wired_by_their_names(tmp_path, caches):
    text = write(tmp_path / "t.v", "--tiers", "2", "--debug", *caches)
    core, debug = directed_ports(text, "tierv"), directed_ports(text, "tierv_debug")
    opposite = {"input": "output", "output": "input"}
    wires = {
        name.removeprefix("debug_"): (opposite[direction], width)
        for name, (direction, width) in core.items()
        if name.startswith("debug_")
    }
    others = {name for name in debug if not name.startswith(("wb_", "jtag_"))} - set(wires)
    assert others == {"clk", "rst", "ndmreset"}
    assert wires == {name: debug[name] for name in wires}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tiers", "9"], "tiers must be an integer from 1 to 8, not 9"),
        (["--tiers", "three"], "'three' is not a valid integer"),
        (["--lines", "33"], "lines must be an integer from 1 to 32, not 33"),
        (["--reset-address", "2"], "reset_address must be a multiple of 4, not 0x2"),
        (["--imem-bytes", "3000"], "imem: size_bytes must be a power of two from"),
        (["--cached-base", "1"], "cached: base must be a 32-bit multiple of"),
        (["--altops"], "altops must be used with rvfi"),
    ],
)
def test_an_impossible_core_is_refused_by_name(tmp_path, words, message):
    path = tmp_path / "t.v"
    done = CliRunner().invoke(main, [*words, str(path)])
    assert done.exit_code == 2
    assert message in done.output
    assert not path.exists()


def test_the_file_is_named_once_it_is_written(tmp_path):
    path = tmp_path / "t.v"
    for words, said in ((["--help"], ""), (["--tiers", "1"], f"wrote {path}\n")):
        done = CliRunner().invoke(main, [*words, str(path)])
        assert done.exit_code == 0
        assert path.exists() is bool(said)
        assert "".join(re.findall(r"wrote.*\n", done.output)) == said


def test_a_file_that_cannot_be_written_is_named():
    done = CliRunner().invoke(main, ["/dev/full"])
    assert done.exit_code == 1
    assert done.output == "Error: cannot write /dev/full: No space left on device\n"
