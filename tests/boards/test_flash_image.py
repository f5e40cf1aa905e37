"""Programs for a board's flash: what a BIOS boots, and what is refused."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tierv.boards import load
from tierv.boards.__main__ import main
from tierv.boards.flash_image import flash_image, read_program
from tierv.boards.registry import BOARDS


def flash(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["flash", *words])
    return done.exit_code, " ".join(done.output.split())


def test_a_program_for_the_flash_has_its_length_and_check_sum_before_it():
    # The CRC-32 of 32 zeros is 190a55ad.
    image = flash_image(BOARDS["arty"], bytes(32))
    assert image == bytes.fromhex("20000000 ad550a19") + bytes(32)


@pytest.mark.parametrize(
    ("board", "count", "message"),
    [
        ("arty", 31, "program must have from 32 to 12582904 bytes for the flash of arty, not 31"),
        ("arty", (12 << 20) - 7, "not 12582905"),
        # LiteX's core for the flash has addresses of 24 bits; the flash is twice as large.
        ("ecpix5", (12 << 20) - 7, "from 32 to 12582904 bytes for the flash of ecpix5"),
        ("de2_115", 64, "board must have a flash for a program, which de2_115 has not"),
    ],
)
def test_a_program_that_no_bios_would_boot_from_flash_is_refused(board, count, message):
    with pytest.raises(ValueError, match=message):
        flash_image(BOARDS[board], bytes(count))


def test_a_program_goes_behind_the_bitstream(elsewhere, monkeypatch, tmp_path):
    ran = []
    monkeypatch.setattr(load, "run", lambda commands, board, path: ran.append((commands, path)))
    program = tmp_path / "program.bin"
    program.write_bytes(bytes(40))
    status, text = flash("arty", "--program", str(program))
    assert status == 0, text
    [([command], path)] = ran
    assert path.read_bytes()[8:] == bytes(40)
    assert command[-4:] == ["--write-flash", "--offset", "0x400000", str(path)]


#: Beginnings of files that are no raw binaries, what they are called and what is to be done: of
#: objcopy's forms, and of bitstreams as Vivado (with and without a header), ecppack and Quartus
#: write them.
OTHER_FILES = [
    (b"\x7fELF" + bytes(60), "an ELF file", "objcopy -O binary FILE"),
    (b":020000040000FA\r\n" * 9, "an Intel HEX file", "objcopy -I ihex -O binary FILE"),
    (
        b"S0090000612E73726563BA\r\n" * 9,
        "a file of Motorola S-records",
        "objcopy -I srec -O binary FILE",
    ),
    (
        b"@00000000\r\n22 A5 40 E2\r\n" * 9,
        "words in hexadecimal for Verilog",
        "objcopy -O binary makes one of the ELF file",
    ),
    (b"\x00\x09\x0f\xf0\x0f\xf0\x0f\xf0" * 9, "a bitstream", "without --program"),
    (b"\xff" * 48 + b"\xaa\x99\x55\x66" + bytes(60), "a bitstream", "without --program"),
    (b"\xff\x00Part: LFE5U-45F" + bytes(60), "a bitstream", "without --program"),
    (b"SOF\x00" + bytes(60), "a bitstream", "without --program"),
]


@pytest.mark.parametrize(("content", "name", "help_"), OTHER_FILES)
def test_a_file_that_is_no_raw_binary_is_no_program_for_the_flash(
    elsewhere, tmp_path, content, name, help_
):
    program = tmp_path / "program"
    program.write_bytes(content)
    status, text = flash("arty", "--program", str(program))
    assert status == 1
    assert f"program must be a raw binary that begins at 0x40000000, not {name}: " in text
    assert help_ in text
    assert not list(elsewhere.rglob("program.bin"))


def test_text_that_only_begins_like_another_file_is_a_program(tmp_path):
    program = tmp_path / "program.bin"
    for content in (b":" * 40, b"S00" + bytes(40), b"@" + bytes(40), b"\x7fEL" + bytes(40)):
        program.write_bytes(content)
        assert read_program(program) == content


def test_a_file_that_no_flash_holds_is_not_read(elsewhere, tmp_path):
    program = tmp_path / "disk.img"
    with program.open("wb") as file:
        file.truncate(1 << 40)
    status, text = flash("arty", "--program", str(program))
    assert status == 1
    assert "disk.img must have at most 16777216 bytes, not 1099511627776" in text
