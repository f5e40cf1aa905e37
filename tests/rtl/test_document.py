"""What is generated from ``rtl/isa.py``: the manual's tables and the header."""

from __future__ import annotations

import re
import subprocess

import pytest
from click.testing import CliRunner

from tierv.rtl.document import MANUAL, c_header, fill_tables, main
from tierv.rtl.isa import csr_addresses
from tierv.rtl.params import CoreParams
from tierv.rtl.verilog import main as verilog_main


def test_the_manual_s_tables_are_up_to_date():
    done = CliRunner().invoke(main, ["manual", "--check"])
    assert done.exit_code == 0, "run make generate"


def test_an_outdated_table_is_made_anew():
    text = MANUAL.read_text()
    outdated = text.replace("| 0x7e3 | mbusmode |", "| 0x7ff | mbusmode |")
    assert outdated != text
    assert fill_tables(outdated) == text


def test_a_table_that_nobody_generates_is_an_error():
    with pytest.raises(ValueError, match="no generated table is named 'nonsense'"):
        fill_tables("<!-- table nonsense -->\n<!-- end -->")


def test_the_header_has_every_csr_and_compiles_as_c_and_assembler(tmp_path):
    header = tmp_path / "tierv.h"
    header.write_text(c_header(CoreParams(tiers=8, lines=32)))
    numbers = {
        name.lower(): int(value, 16)
        for name, value in re.findall(r"#define CSR_(\w+)\s+(0x[0-9a-f]+)", header.read_text())
    }
    addresses = csr_addresses()
    assert {name: addresses[name] for name in numbers} == numbers
    assert {"mbusmode", "mpost", "mlineclaim", "mtierpc7", "mlineprio3"} <= set(numbers)
    for suffix, text in ((".c", "int x = CSR_MBUSMODE;"), (".S", "csrr a0, CSR_MBUSMODE")):
        source = tmp_path / f"use{suffix}"
        source.write_text(f'#include "tierv.h"\n{text}\n')
        subprocess.run(
            ["riscv64-unknown-elf-gcc", "-march=rv32im", "-misa-spec=2.2", "-mabi=ilp32",
             "-Werror", "-c", source, "-o", tmp_path / "use.o"],
            check=True,
        )  # fmt: skip


def test_the_header_has_only_what_the_core_has():
    text = c_header(CoreParams(tiers=2, lines=8))
    assert "CSR_MTIERPC1" in text
    assert "CSR_MTIERPC2" not in text
    assert "CSR_MLINEPRIO0" in text
    assert "CSR_MLINEPRIO1" not in text


def test_the_header_is_that_of_the_core_that_is_written(tmp_path):
    header = tmp_path / "tierv.h"
    words = ["--tiers", "1", "--no-counters", "--no-line-stamps", "--reset-address", "0x80"]
    done = CliRunner().invoke(
        verilog_main, [*words, "--header", str(header), str(tmp_path / "t.v")]
    )
    assert done.exit_code == 0
    text = header.read_text()
    params = CoreParams(tiers=1, counters=False, line_stamps=False, reset_address=0x80)
    assert text == c_header(params)
    assert "MLINESTAMP" not in text
    assert re.search(r"#define TIERV_RESET_ADDRESS\s+0x0*80\b", text)


@pytest.mark.parametrize("words", [("file/output",), ("--header", "file/output", "t.v")])
def test_an_output_that_can_t_be_written_is_said(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(verilog_main, ["--tiers", "1", *words])
    assert done.exit_code == 1
    assert "Error: cannot write file/output: " in done.output
