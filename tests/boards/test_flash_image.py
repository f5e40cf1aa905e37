"""Programs for a board's flash: what a BIOS boots, and what is refused."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tierv.boards import load
from tierv.boards.__main__ import main
from tierv.boards.flash_image import flash_image
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


def test_an_elf_file_is_no_program_for_the_flash(elsewhere, tmp_path):
    program = tmp_path / "program.elf"
    program.write_bytes(b"\x7fELF" + bytes(60))
    status, text = flash("arty", "--program", str(program))
    assert status == 1
    assert "program.elf must be a raw binary that begins at 0x40000000, not an ELF file:" in text
    assert "objcopy -O binary" in text
    assert not list(elsewhere.rglob("program.bin"))
