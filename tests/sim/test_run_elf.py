"""``python -m tierv.sim run-elf``: programs in the conventions of riscv-tests."""

from __future__ import annotations

import struct
import subprocess
import sys

import encoding as rv
import pytest
from click.testing import CliRunner
from suite_programs import PROGRAMS, compile_program

from tierv.sim.__main__ import main
from tierv.sim.run_elf import Status

#: Where the ELF file's whole memory is local; the program reaches its data over the bus.
IN_LOCAL = pytest.param(("--imem", "0x80000000:0x8000"), id="local", marks=pytest.mark.slow)


#: The header of an ELF file for RISC-V, of 32 bits, with the other order of bytes.
BIG_ENDIAN = struct.pack(
    ">16sHHIIIIIHHHHHH", b"\x7fELF\x01\x02\x01", 2, 243, 1, *[0] * 4, 52, 32, *[0] * 4
)


def segment_of(file_bytes: int, memory_bytes: int) -> bytes:
    """An executable with one segment, for address 0."""
    data = bytearray(rv.elf({0: bytes(file_bytes)}, 0))
    struct.pack_into("<I", data, 52 + 20, memory_bytes)
    return bytes(data)


def call(*words):
    return CliRunner().invoke(main, ["run-elf", *(str(word) for word in words)])


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "options", [pytest.param((), id="ram"), pytest.param(("--wait-states", 3), id="wait"), IN_LOCAL]
)
def test_a_program_that_passes_needs_one_command(tmp_path, name, options):
    done = call(compile_program(name, tmp_path), *options)
    assert done.exit_code == Status.PASSED, done.output
    assert f"{name}.elf passed; " in done.output


def test_the_reset_address_is_the_entry(tmp_path):
    # Elsewhere than usual, and not where the file begins.
    elf = compile_program("arithmetic", tmp_path, base=0x0040_0000)
    # This core is built for this test alone.
    smallest = ("--tiers", 1, "--lines", 1)
    assert call(elf, *smallest).exit_code == Status.PASSED
    words = [rv.NOP, *rv.li(5, 0x0020_0000), rv.addi(6, 0, 1), rv.store("sw", 6, 5, 0)]
    words.append(rv.jal(0, 0))
    other = tmp_path / "other.elf"
    other.write_bytes(rv.elf({0x0020_0000: struct.pack("<2I", 0, 0),
                              0x0040_0000: struct.pack(f"<{len(words)}I", *words)},
                             0x0040_0000))  # fmt: skip
    assert call(other, "--tohost", 0x0020_0000, *smallest).exit_code == Status.PASSED


@pytest.mark.parametrize(
    ("name", "message"),
    # 1337 is what the trap handler ORs into the number before it is shifted.
    [("fails", "failed: test 5"), ("unexpected", f"failed: test {(6 | 1337) >> 1}")],
)
def test_a_failure_names_the_test(tmp_path, name, message):
    done = call(compile_program(name, tmp_path))
    assert done.exit_code == Status.FAILED
    assert message in done.output


def test_a_program_that_does_not_end_has_an_exit_status_of_its_own(tmp_path):
    done = call(compile_program("endless", tmp_path), "--max-cycles", 2000)
    assert done.exit_code == Status.TIMEOUT
    assert "timeout: no end within 2,000 cycles; 2,000 cycles" in done.output


@pytest.mark.parametrize("options", [pytest.param((), id="ram"), IN_LOCAL])
def test_the_signature_is_written_a_word_a_line(tmp_path, options):
    elf = compile_program("signature", tmp_path)
    file = tmp_path / "signature"
    expected = ["12345678", "abcdef01", "deadbeef", "deadbeef", "00000001", "ffffffff"]
    assert call(elf, "--signature", file, *options).exit_code == Status.PASSED
    assert file.read_text().splitlines() == expected
    wide = call(elf, "--signature", file, "--signature-granularity", 16, *options)
    assert wide.exit_code == Status.PASSED
    assert file.read_text().splitlines() == [
        "deadbeefdeadbeefabcdef0112345678",
        "0000000000000000ffffffff00000001",
    ]


def test_a_signature_needs_its_symbols(tmp_path):
    done = call(compile_program("arithmetic", tmp_path), "--signature", tmp_path / "signature")
    assert done.exit_code == Status.USAGE
    assert "has no symbol begin_signature" in done.output


def test_system_calls_and_characters_are_served(tmp_path, capfd):
    done = call(compile_program("prints", tmp_path))
    assert done.exit_code == Status.PASSED, done.output
    assert capfd.readouterr().out == "hello\nab"


def test_the_trace_is_a_commit_log(tmp_path):
    file = tmp_path / "trace"
    call(compile_program("signature", tmp_path), "--trace", file)
    lines = file.read_text().splitlines()
    assert lines[0].startswith("core   0: 3 0x80000000 (0x")
    stored = next(line for line in lines if line.endswith(" 0xab"))
    assert " mem 0x8000" in stored
    assert stored.split()[-2].endswith("7")
    assert any(line.endswith("x10 0x000000ab") for line in lines)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"hello", "must be an ELF file"),
        (b"", "must be an ELF file"),
        (b"\x7fELF", "is no RV32 executable"),
        (b"\x7fELF\x02\x01\x01" + bytes(57), "is no RV32 executable"),
        (rv.elf({}, 0), "has nothing to load"),
        (rv.elf({0: b"1234"}, 0)[:70], "is no RV32 executable"),
        (rv.elf({0x40: b"1234"}, 0)[:-1], "is damaged: it ends within the segment for 0x40"),
        (rv.elf({0: b"1234"}, 0)[:32] + b"\xff" * 20, "is damaged: "),
        (BIG_ENDIAN, "must be for little-endian 32-bit RISC-V"),
        (segment_of(4, 3), "is damaged: the segment for 0x0 exceeds its memory"),
    ],
    ids=[
        "text", "empty", "short", "64-bit", "nothing", "truncated", "no end", "no headers",
        "big-endian", "no room",
    ],
)  # fmt: skip
def test_what_is_no_program_is_refused(tmp_path, content, message):
    path = tmp_path / "program"
    path.write_bytes(content)
    done = call(path)
    assert done.exit_code == Status.NO_PROGRAM, done.output
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_segment_outside_of_memory_is_named(tmp_path):
    done = call(compile_program("arithmetic", tmp_path), "--ram", "0x80000000:0x1000")
    assert done.exit_code == Status.OUTSIDE_MEMORY
    assert "the segment from 0x80001000 to 0x80001" in done.output
    assert "ram 0x80000000:0x1000" in done.output


def test_a_segment_that_takes_all_addresses_is_in_no_memory(tmp_path):
    path = tmp_path / "program"
    path.write_bytes(segment_of(4, 0xFFFF_FFFF))
    done = call(path)
    assert done.exit_code == Status.OUTSIDE_MEMORY, done.output
    assert "the segment from 0x0 to 0xfffffffe is in the console at 0xf0000000" in done.output


def test_a_program_right_below_the_console_can_end_by_it(tmp_path):
    path = tmp_path / "program"
    words = [*rv.li(5, 0xF000_0000), rv.store("sw", 0, 5, 0), rv.jal(0, 0)]
    base = 0xEFFF_F000
    path.write_bytes(rv.elf({base: struct.pack(f"<{len(words)}I", *words)}, base))
    done = call(path)
    assert done.exit_code == Status.PASSED, done.output


@pytest.mark.parametrize("option", ["--trace", "--signature"])
def test_a_file_that_cannot_be_written_is_no_verdict(tmp_path, option):
    done = call(compile_program("signature", tmp_path), option, "/dev/full")
    assert done.exit_code == Status.BROKEN
    assert done.output == "Error: [Errno 28] No space left on device: '/dev/full'\n"


def test_a_verdict_that_cannot_be_told_is_none(tmp_path):
    elf = compile_program("arithmetic", tmp_path)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tierv.sim", "run-elf", elf],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == Status.BROKEN, done.stderr
    assert done.stderr == "Error: [Errno 28] No space left on device: 'standard output'\n"


def test_an_interrupted_run_is_no_verdict(tmp_path, monkeypatch):
    def interrupt(*words, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("tierv.sim.run_elf.CoreModel.run", interrupt)
    done = call(compile_program("arithmetic", tmp_path))
    assert done.exit_code == Status.BROKEN
    assert done.output == "Error: interrupted\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--imem", "0x80000000"), "'0x80000000' is not BASE:SIZE"),
        (("--imem", "0x80000000:3000"), "size_bytes must be a power of two"),
        (("--ram", "0:-4"), "must be multiples of 4 below 2**32"),
        (("--tiers", 9), "tiers must be an integer from 1 to 8, not 9"),
        (("--reset-address", 2), "reset_address must be a multiple of 4"),
        (("--max-cycles", 0), "not in the range"),
        (("--max-cycles", 1 << 64), "not in the range"),
        (("--wait-states", 65536), "not in the range"),
        (("--tohost", 1 << 32), "must be a multiple of 4 below 2**32, not 0x100000000"),
        (("--tohost", 2), "must be a multiple of 4 below 2**32, not 0x2"),
        (("--ram", "0x2000_0000:4"), "0x20000000:0x4 must not overlap imem at 0x20000000"),
        (("--ram", "0x2fff_fffc:8"), "must not overlap dmem at 0x30000000"),
        (("--ram", "0xf000_0ffc:4"), "must not overlap the console at 0xf0000000"),
        (("--ram", "0:8", "--ram", "4:8"), "0x4:0x8 must not overlap other RAM at 0x0"),
    ],
)
def test_options_that_cannot_be_are_refused(tmp_path, options, message):
    done = call(compile_program("arithmetic", tmp_path), *options)
    assert done.exit_code == Status.USAGE
    assert message in done.output


def test_files_are_not_written_over_each_other(tmp_path):
    elf = compile_program("signature", tmp_path)
    data, file = elf.read_bytes(), tmp_path / "out"
    for words in (("--signature", elf), ("--signature", file, "--trace", file)):
        done = call(elf, *words)
        assert done.exit_code == Status.USAGE
        assert f"{words[-1]} can't be written: it is given for something else, too" in done.output
    assert elf.read_bytes() == data
    assert not file.exists()


def test_an_output_that_can_t_be_written_is_said_before_the_run(tmp_path):
    elf = compile_program("endless", tmp_path)
    done = call(elf, "--max-cycles", 2000, "--trace", tmp_path / "no" / "trace")
    assert done.exit_code == Status.USAGE
    assert "trace can't be written" in done.output
