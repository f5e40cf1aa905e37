"""Fuzz the firmware's portable parts with libFuzzer under ASan and UBSan: `make fuzz`.

A crash, a hang or a leak ends with status 1; the input that does it is kept, and the command that
runs it again is printed. Afterwards the lines that all inputs reach are counted.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import click
import fuzz_corpus
from host_build import PORT_DEFINE, ROOT, WARNINGS
from rich.console import Console
from rich.table import Table

BUILD = ROOT / "build" / "fuzz"
FIRMWARE = ROOT / "firmware"
COMPILER = (
    *("clang", "-std=gnu11", "-g", *WARNINGS, f"-I{FIRMWARE}", f"-I{Path(__file__).parent}"),
    f"-D{PORT_DEFINE}",
)
FUZZER = ("-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all")
COVERAGE = ("-O0", "-fprofile-instr-generate", "-fcoverage-mapping")
#: One input may take so long, and be so long.
TIMEOUT_S = 10
LONGEST_BYTES = 4096
#: Inputs that were found and are longer are not committed.
LONGEST_COMMITTED_BYTES = 400

console = Console()


def call(command: list[str | Path], **arguments) -> subprocess.CompletedProcess[str]:
    """Runs a tool; ends the program with its messages if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **arguments)
    if done.returncode:
        raise click.ClickException(f"{command[0]} failed:\n{done.stdout}{done.stderr}")
    return done


def build(target: str) -> Path:
    """The target with libFuzzer."""
    program = BUILD / target
    call([*COMPILER, *FUZZER, *fuzz_corpus.sources(target), "-o", program])
    return program


def unpack(target: str) -> Path:
    """The committed inputs as files of a folder, as libFuzzer wants them."""
    folder = BUILD / "corpus" / target
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for data in fuzz_corpus.read(target).values():
        (folder / hashlib.sha1(data).hexdigest()).write_bytes(data)
    return folder


def found(target: str) -> Path:
    """Where inputs are kept that reached something new, from run to run."""
    folder = BUILD / "found" / target
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fuzz(target: str, seconds: int) -> bool:
    """Fuzzes a target for so long. False if it failed, which is then said."""
    program = build(target)
    crashes = BUILD / "crashes"
    crashes.mkdir(exist_ok=True)
    before = set(crashes.iterdir())
    log = BUILD / f"{target}.log"
    with log.open("w") as output:
        status = subprocess.run(
            [
                program,
                f"-max_total_time={seconds}",
                f"-timeout={TIMEOUT_S}",
                f"-max_len={LONGEST_BYTES}",
                f"-artifact_prefix={crashes / target}-",
                "-print_final_stats=1",
                found(target),
                unpack(target),
            ],
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    text = log.read_text(errors="replace")
    if status == 0:
        runs = next(line.split()[-1] for line in text.splitlines() if "executed_units" in line)
        console.print(f"{target}: {int(runs):,} inputs in {seconds} s, nothing found")
        return True
    console.print(f"[red]{target} failed with status {status}[/]; {log} says:")
    print("\n".join(text.splitlines()[-30:]))
    for path in sorted(set(crashes.iterdir()) - before):
        print(f"to run it again: {program.relative_to(ROOT)} {path.relative_to(ROOT)}")
    return False


def measure(targets: list[str]) -> dict:
    """Lines that the inputs of all targets reach, as ``llvm-cov export`` tells it."""
    programs, profiles = [], []
    for target in targets:
        program, profile = BUILD / f"{target}-lines", BUILD / f"{target}.profraw"
        sources = [fuzz_corpus.FUZZ / "replay.c", *fuzz_corpus.sources(target)]
        call([*COMPILER, *COVERAGE, *sources, "-o", program])
        inputs = [*sorted(found(target).iterdir()), *sorted(unpack(target).iterdir())]
        call([program, *inputs], env={"LLVM_PROFILE_FILE": str(profile)})
        programs.append(program)
        profiles.append(profile)
    merged = BUILD / "all.profdata"
    call(["llvm-profdata", "merge", *profiles, "-o", merged])
    others = [argument for program in programs[1:] for argument in ("-object", str(program))]
    export = ["llvm-cov", "export", "-summary-only", programs[0], *others]
    return json.loads(call([*export, f"-instr-profile={merged}", FIRMWARE]).stdout)["data"][0]


def show(coverage: dict) -> None:
    """Prints the figures of each file and of all."""
    table = Table("file", "lines", "reached", "%")
    for file in coverage["files"]:
        lines = file["summary"]["lines"]
        if lines["count"] == 0:
            continue
        name = str(Path(file["filename"]).relative_to(ROOT))
        share = f"{lines['percent']:.1f}"
        table.add_row(name, str(lines["count"]), str(lines["covered"]), share)
    console.print(table)
    lines = coverage["totals"]["lines"]
    reached = f"{lines['covered']} of {lines['count']}, {lines['percent']:.1f} %"
    console.print(f"lines of the firmware's portable parts that were reached: {reached}")


@click.group()
def main() -> None:
    """Fuzz the firmware's portable parts."""
    for tool in ("clang", "llvm-profdata", "llvm-cov"):
        if shutil.which(tool) is None:
            raise click.ClickException(f"{tool} is missing; `make fuzz` installs it")
    BUILD.mkdir(parents=True, exist_ok=True)


@main.command()
@click.option("--seconds", type=click.IntRange(1), default=60, show_default=True, help="In all.")
@click.argument("targets", nargs=-1, type=click.Choice(fuzz_corpus.targets()))
def run(seconds: int, targets: tuple[str, ...]) -> None:
    """Fuzz the given targets, or all."""
    chosen = list(targets) or fuzz_corpus.targets()
    good = [fuzz(target, max(1, seconds // len(chosen))) for target in chosen]
    if not all(good):
        sys.exit(1)
    show(measure(chosen))


@main.command()
def keep() -> None:
    """Make the corpus anew: what is made, and of what was found what is short and reaches more."""
    for target in fuzz_corpus.targets():
        inputs = fuzz_corpus.seeds(target)
        fuzz_corpus.write(target, inputs)
        folder = unpack(target)
        own, made = set(folder.iterdir()), len(inputs)
        short = BUILD / "short" / target
        shutil.rmtree(short, ignore_errors=True)
        short.mkdir(parents=True)
        for path in found(target).iterdir():
            if path.stat().st_size <= LONGEST_COMMITTED_BYTES:
                shutil.copy(path, short)
        call([build(target), "-merge=1", "-use_counters=0", folder, short])
        for path in sorted(set(folder.iterdir()) - own):
            inputs[f"found {path.name[:12]}"] = path.read_bytes()
        fuzz_corpus.write(target, inputs)
        console.print(f"{target}: {len(inputs)} inputs, {made} of them made")


if __name__ == "__main__":
    main()
