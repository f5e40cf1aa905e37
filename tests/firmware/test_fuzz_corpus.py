"""Every committed input of the fuzz targets, without libFuzzer; `make fuzz` looks for others."""

from __future__ import annotations

from pathlib import Path

import fuzz_corpus
import pytest
from host_build import PORT_DEFINE, build, run_compiler


@pytest.mark.parametrize("target", fuzz_corpus.targets())
def test_every_input_of_the_corpus_runs_clean(target: str, tmp_path: Path) -> None:
    sources = [fuzz_corpus.FUZZ / "replay.c", *fuzz_corpus.sources(target)]
    program = build(
        f"fuzz-{target}", sources, include=[Path(__file__).parent], defines=[PORT_DEFINE]
    )
    inputs = fuzz_corpus.read(target)
    assert inputs
    for number, data in enumerate(inputs.values()):
        (tmp_path / str(number)).write_bytes(data)
    run_compiler([program, *sorted(tmp_path.iterdir())])


@pytest.mark.parametrize("target", fuzz_corpus.targets())
def test_corpus_has_what_is_made_of_the_named_frames(target: str) -> None:
    assert fuzz_corpus.seeds(target).items() <= fuzz_corpus.read(target).items(), (
        "make it anew: python tests/firmware/fuzz_run.py keep"
    )
