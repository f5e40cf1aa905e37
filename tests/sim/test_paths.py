"""What builds have in common: programs with a log, folders, files that are there when complete."""

from __future__ import annotations

import os
import pickle
import re

import pytest

from tierv.sim.paths import BuildError, CpuTimeError, ProgramError, locked, run_logged, whole_file


def test_a_failed_program_shows_the_end_of_its_log(tmp_path):
    with pytest.raises(BuildError, match=r"(?s)sh failed \(3\).*last words"):
        run_logged(["sh", "-c", "echo last words; exit 3"], tmp_path / "log")


def test_a_failed_program_is_told_of_by_another_process(tmp_path):
    with pytest.raises(ProgramError) as failed:
        run_logged(["sh", "-c", "echo last words; exit 3"], tmp_path / "log")
    told = pickle.loads(pickle.dumps(failed.value))
    assert (str(told), told.status) == (str(failed.value), 3)


def test_a_program_ends_when_it_has_used_its_cpu_time(tmp_path):
    endless = ["sh", "-c", "while :; do :; done"]
    with pytest.raises(CpuTimeError, match="sh has taken 1 s of CPU time"):
        run_logged(endless, tmp_path / "log", most_cpu_s=1)


def test_a_missing_program_is_named(tmp_path):
    with pytest.raises(BuildError, match="cannot find no-such-program"):
        run_logged(["no-such-program"], tmp_path / "log")


def test_a_path_with_a_space_is_refused_before_anything_is_built_there(tmp_path):
    folder = tmp_path / "my projects" / "build"
    message = f"the checkout's path must have no spaces: builds are in {folder}"
    with pytest.raises(BuildError, match=message), locked(folder):
        pass
    assert not folder.exists()


def test_a_file_is_there_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with whole_file(path) as partial:
        partial.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_takes_its_place_when_the_disk_has_it(tmp_path, monkeypatch):
    path, synced = tmp_path / "file", []

    def fsync(descriptor: int) -> None:
        assert not path.exists()
        synced.append(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    with whole_file(path) as partial:
        partial.write_text("new")
    assert synced == [path.stat().st_ino]


@pytest.mark.parametrize("error", [BuildError, KeyboardInterrupt])
def test_a_file_that_is_not_completed_stays_as_it_was(tmp_path, error):
    path = tmp_path / "file"
    path.write_text("old")

    def write_a_part() -> None:
        with whole_file(path) as partial:
            partial.write_text("a part")
            raise error

    with pytest.raises(error):
        write_a_part()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_nobody_writes_is_an_error(tmp_path):
    path = tmp_path / "file"
    message = f"there is no {path}: what makes it has written nothing"
    with pytest.raises(BuildError, match=re.escape(message)), whole_file(path):
        pass
