"""Synthesis: the harness, and reading what the tools say."""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner
from verilog_lint import check_verilog

from tierv.rtl.params import CoreParams
from tierv.sim.pages import README
from tierv.sim.synthesis import results
from tierv.sim.synthesis.__main__ import main
from tierv.sim.synthesis.cells import breakdown, family_counts, harness_cells
from tierv.sim.synthesis.flow import Flow, read_report
from tierv.sim.synthesis.harness import Harness, Port, parse_ports
from tierv.sim.synthesis.paths import hops, source_name
from tierv.sim.synthesis.subjects import PEERS, Subject, core_subject

PORTS = """\
module adder
input [0:0] clk
input [3:0] a
input [0:7] b
input [0:0] carry
output [4:0] sum
output [0:0] spare
endmodule
"""
ADDER = """\
module adder #(parameter STEP = 0) (
    input clk, input [3:0] a, input [0:7] b, input carry, output reg [4:0] sum, output spare
);
    always @(posedge clk) sum <= a + b + carry + STEP;
    assign spare = 1'bx;
endmodule
"""

#: The harness leaves pins open, and the design counts bits upwards.
STYLE = (
    *("WIDTHEXPAND", "WIDTHTRUNC", "DECLFILENAME", "MULTITOP", "ASCRANGE"),
    *("PINCONNECTEMPTY", "PINMISSING", "PROCASSINIT"),
)


def harness(**changes) -> Harness:
    values = {
        "module": "adder",
        "ports": parse_ports(PORTS),
        "parameters": {"STEP": 1},
        "constants": {"carry": 0},
        "unused": ("spare",),
    }
    return Harness(**values | changes)


def test_ports_are_read_with_their_widths():
    assert parse_ports(PORTS)[1:3] == [Port("a", True, 4), Port("b", True, 8)]
    assert [port.name for port in parse_ports(PORTS) if not port.is_input] == ["sum", "spare"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("wire [0:0] pin", "not 'wire"), ("module m\nendmodule", "has no ports")],
)
def test_what_is_no_port_is_refused(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_ports(text)


def test_a_constant_or_output_that_the_design_lacks_is_refused():
    with pytest.raises(ValueError, match="must have an input 'carry_in'"):
        harness(constants={"carry_in": 0})
    with pytest.raises(ValueError, match="must have an output 'a'"):
        harness(unused=("a",))


@pytest.mark.parametrize("kind", ["verilog", "wrapper"])
def test_the_harness_fits_the_design(tmp_path, kind):
    assert (harness().driven_bits, harness().observed_bits) == (12, 5)
    path = tmp_path / "design.v"
    path.write_text(ADDER + getattr(harness(), kind)())
    check_verilog("harness", [path], STYLE)


def flip_flop(out: int, data: int, file: str = "ecp5.v") -> dict:
    return {
        "type": "TRELLIS_FF",
        "connections": {"Q": [out], "DI": [data]},
        "attributes": {"src": f"{file}:6.5-10.8|cells.v:16.1"},
    }


def lut(out: int) -> dict:
    return {"type": "LUT4", "connections": {"Z": [out]}}


def netlist() -> dict:
    """One input, two outputs; the design is a look-up table and a flip-flop."""
    cells = {
        "driven_FF": flip_flop(2, 1),
        "caught_FF_0": flip_flop(3, 20),
        "caught_FF_1": flip_flop(4, 21, "cells.v"),
        "signature_FF_0": flip_flop(5, 10),
        "signature_FF_1": flip_flop(6, 11),
        "signature_LUT4_0": lut(10),
        "signature_LUT4_1": lut(11),
        "dut": {"type": "$scopeinfo"},
        "dut.part": {"type": "$scopeinfo"},
        "dut.part.sum_LUT4_Z": lut(20),
        "dut.state_FF": flip_flop(21, 20, "design.v"),
    }
    names = {"caught": {"bits": [3, 4]}, "signature": {"bits": [5, 6]}}
    return {"modules": {"harness": {"cells": cells, "netnames": names}}}


def test_the_harness_is_told_from_the_design():
    cells = harness_cells(netlist(), 2)
    assert (cells.flip_flops, cells.luts) == (5, 2)


def test_a_signature_that_lost_a_bit_is_noticed():
    damaged = netlist()
    del damaged["modules"]["harness"]["cells"]["signature_FF_0"]
    with pytest.raises(ValueError, match="keep 2 bits of the harness's signature, not 1"):
        harness_cells(damaged, 2)


def test_parts_contain_their_parts():
    parts = breakdown(netlist())
    assert parts[("dut",)] == {"COMB": 1, "FF": 1}
    assert parts[("dut", "part")] == {"COMB": 1}


def test_cells_of_other_families_are_added_up():
    artix = {"LUT2": 3, "LUT6": 4, "RAM64M": 2, "FDRE": 5, "FDSE": 1, "RAMB18E1": 1, "CARRY4": 9}
    counts = family_counts(artix, "xilinx")
    assert (counts["LUT"], counts["LUT RAM"], counts["FF"], counts["RAMB18"]) == (7, 8, 6, 1)
    cyclone = {"MISTRAL_ALUT2": 3, "MISTRAL_ALUT6": 1, "MISTRAL_ALUT_ARITH": 7, "MISTRAL_NOT": 2}
    counts = family_counts(cyclone, "intel_alm")
    assert (counts["ALUT"], counts["ALUT arithmetic"]) == (4, 7)


def step(kind: str, delay: float, net: str = "", to: str = "dut.core.r_TRELLIS_FF_Q") -> dict:
    named = {"net": net} if net else {}
    return {"type": kind, "delay": delay, "to": {"cell": to, "port": "DI"}, **named}


PATH = [
    step("clk-to-q", 0.5),
    step("routing", 1.0, "dut.core.pc[3]"),
    step("logic", 0.25),
    step("routing", 0.75, "dut.core.pc_LUT4_Z_1_D[2]"),
    step("setup", 0.0),
]


def report(**changes) -> str:
    clock = "$glbnet$clk"
    cells = ("TRELLIS_COMB", "TRELLIS_RAMW", "TRELLIS_FF", "DP16KD", "MULT18X18D")
    value = {
        "fmax": {clock: {"achieved": 61.5, "constraint": 100}},
        "critical_paths": [
            {"from": "<async>", "to": f"posedge {clock}", "path": []},
            {"from": f"posedge {clock}", "to": f"posedge {clock}", "path": PATH},
        ],
        "utilization": {cell: {"used": 7 + n, "available": 99} for n, cell in enumerate(cells)},
    }
    return json.dumps(value | changes)


def test_the_report_gives_the_clock_reached_and_what_is_used():
    routed = read_report(report(), 4)
    assert (routed.seed, routed.mhz) == (4, 61.5)
    assert routed.used == {"COMB": 7, "RAMW": 8, "FF": 9, "EBR": 10, "MULT": 11}


@pytest.mark.parametrize("clocks", [{}, {"a": {}, "b": {}}])
def test_a_report_without_one_clock_is_refused(clocks):
    with pytest.raises(ValueError, match="must have one clock"):
        read_report(report(fmax=clocks), 1)


def test_paths_are_told_in_the_names_of_the_source():
    found = list(hops(read_report(report(), 1).path))
    assert [hop.name for hop in found] == ["core.pc[3]", "core.pc", "core.r"]
    assert [hop.total_ns for hop in found] == [1.5, 2.5, 2.5]
    assert source_name("dut.core.x_CCU2C_S0_1_B0[2]") == "core.x"


def rows(
    three_mhz: float, three_comb: int = 3000, plain_comb: int = 2900, eight_ebr: int = 34
) -> list[dict]:
    def one(design, tiers, memories, mhz, comb, ebr):
        return {
            "design": design, "tiers": tiers, "memories": memories,
            "MHz": mhz, "COMB": comb, "FF": 1, "EBR": ebr,
        }  # fmt: skip

    return [
        one("TierV", 1, True, 100.0, 2500, 34),
        one("TierV", 3, True, three_mhz, 3100, 34),
        one("TierV", 3, False, three_mhz, three_comb, 2),
        one("TierV plain", 3, False, three_mhz, plain_comb, 2),
        one("TierV", 8, True, 90.0, 4000, eight_ebr),
        one("VexRiscv standard", None, False, 80.0, 3400, 10),
        one("VexRiscv full", None, False, 81.0, 3994, 10),
    ]


@pytest.mark.parametrize(
    ("measured", "verdicts"),
    [
        (rows(95.0), [True] * 8),
        (rows(94.9), [True, False, *[True] * 6]),
        (rows(79.0), [False, False, *[True] * 6]),
        (rows(72.0), [False, False, False, False, *[True] * 4]),
        (rows(52.0), [False, False, False, False, False, *[True] * 3]),
        (rows(96.0, three_comb=3995), [True, True, True, True, True, False, True, True]),
        (rows(96.0, plain_comb=3995), [True, True, True, True, True, True, False, True]),
        (rows(96.0, eight_ebr=35), [True, True, True, True, True, True, True, False]),
        (rows(96.0)[:3], [None, True, None, True, True, None, None, None]),
    ],
)
def test_the_pass_line_is_judged_by_what_was_measured(measured, verdicts):
    per_mhz = {"TierV N=3": 2.5, "VexRiscv standard": 2.275}
    core = {"rows": [{"core": name, "CoreMark/MHz": mark} for name, mark in per_mhz.items()]}
    speeds = results.at_clock(measured, core)
    assert [one.holds for one in results.conditions(measured, speeds)] == verdicts


def test_speeds_are_those_of_the_readme_unless_the_cores_were_measured_here(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "results_folder", lambda: tmp_path)
    assert results.core_results() == json.loads(results.CORE_GOLDEN.read_text())
    (tmp_path / "core.json").write_text('{"rows": []}')
    assert results.core_results() == {"rows": []}


def test_coremark_at_the_clock_is_that_of_the_core_with_memories():
    core = {
        "rows": [
            {"core": "TierV N=3", "kernel": "coremark", "CoreMark/MHz": 2.5},
            {"core": "VexRiscv standard", "kernel": "dhrystone", "DMIPS/MHz": 1.05},
            {"core": "TierV N=3", "kernel": "crc"},
            {"core": "SERV", "kernel": "coremark", "CoreMark/MHz": 0.1},
        ]
    }
    measured = rows(90.0)
    measured[2]["MHz"] = 120.0
    assert results.at_clock(measured, core) == {
        "TierV N=3 CoreMark at the ECP5 clock": 225.0,
        "VexRiscv standard DMIPS at the ECP5 clock": 84.0,
    }
    assert results.at_clock(measured, {"rows": []}) == {}


def test_peers_that_were_not_measured_again_are_kept():
    def content(measured, seeds=1):
        config = {"device": "one", "placement": "--freq 100", "seeds": [*range(seeds)]}
        config["tools"] = {"yosys": "of then"}
        return {"rows": measured, "config": config}

    known = content(rows(95.0))
    core = rows(90.0)[:2]
    kept = results.with_known_peers(content([*core, rows(95.0)[-1]]), known)
    assert [one["design"] for one in kept["rows"]] == [
        *("TierV", "TierV", "VexRiscv full", "VexRiscv standard"),
    ]
    assert kept["config"] == known["config"]
    # Other seeds, other results.
    assert results.with_known_peers(content(core, seeds=3), known)["rows"] == core


@pytest.mark.parametrize("option", [{"dcache_bytes": 8192}, {"lines": 32}, {"zbb": True}])
def test_the_readme_shows_no_cores_with_other_parameters(monkeypatch, tmp_path, option):
    monkeypatch.setattr(results, "results_folder", lambda: tmp_path)
    monkeypatch.setattr(results, "keep", lambda *_: pytest.fail("the README was written"))
    golden = json.loads(results.GOLDEN.read_text())
    results.write(golden | {"config": golden["config"] | option})
    ((name, value),) = option.items()
    with pytest.raises(ValueError, match=f"of cores with .*{name} = {value}"):
        results.update_readme()


def test_the_readme_loses_no_row_of_a_core_that_was_not_measured_again(monkeypatch, tmp_path):
    monkeypatch.setattr(results, "results_folder", lambda: tmp_path)
    monkeypatch.setattr(results, "keep", lambda *_: pytest.fail("the README was written"))
    golden = json.loads(results.GOLDEN.read_text())
    (gone,) = [one for one in golden["rows"] if results.label(one) == "TierV N=8 with memories"]
    golden["rows"].remove(gone)
    results.write(golden)
    with pytest.raises(ValueError, match="must have a row of TierV N=8 with memories too"):
        results.update_readme()


def test_the_readme_has_the_table_of_the_golden_results():
    content = json.loads(results.GOLDEN.read_text())
    assert results.table(content) in README.read_text()


def test_the_golden_verdicts_follow_from_its_rows():
    content = json.loads(results.GOLDEN.read_text())
    core = json.loads(results.CORE_GOLDEN.read_text())
    found = results.conditions(content["rows"], results.at_clock(content["rows"], core))
    assert {one.text: one.holds for one in found} == content["conditions"]
    assert content["pass_line"] == results.PASS_LINE
    assert content["passed"] == all(one.holds for one in found)
    assert not [one.text for one in found if one.holds is None]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--tiers", "1,x"], "'1,x' is not a list of numbers"),
        (["--tiers", "9"], "tiers must be an integer from 1 to 8, not 9"),
        (["--peer", "z80"], "'z80' is not one of"),
        (["--seeds", "0"], "0 is not in the range"),
        (["--dcache-bytes", "5"], "dcache_bytes must be 0 or a power of two"),
    ],
)
def test_a_wrong_command_line_is_refused(words, message):
    done = CliRunner().invoke(main, ["run", "--no-peers", *words])
    assert done.exit_code != 0
    assert message in done.output


@pytest.mark.slow
def test_a_design_of_flip_flops_alone_costs_its_flip_flops():
    design = """\
module delay(input clk, input [7:0] a, output reg [7:0] q);
    always @(posedge clk) q <= a;
endmodule
"""
    flow = Flow(Subject(name="delay", module="delay", verilog=design), print)
    row = results.row(flow, [flow.routed(1)], ())
    # One look-up table is nextpnr's own, for constants.
    assert (row["COMB"], row["FF"], row["harness FF"]) == (1, 8, 24)


@pytest.mark.slow
def test_a_peer_has_the_published_size():
    flow = Flow(PEERS["vexriscv"](), print)
    row = results.row(flow, [flow.routed(1)], ("xilinx", "intel_alm"))
    assert row["COMB"] == pytest.approx(3416, rel=0.05)
    assert row["MHz"] == pytest.approx(80.2, rel=0.1)
    assert (row["EBR"], row["MULT"]) == (10, 4)
    assert row["Artix-7 LUT"] == pytest.approx(1989, rel=0.02)
    assert row["Artix-7 FF"] == pytest.approx(1351, rel=0.02)
    assert row["Cyclone V ALUT arithmetic"] == 329


@pytest.mark.slow
def test_the_core_can_be_placed_and_routed():
    subject = core_subject(CoreParams(tiers=1, lines=4), with_memories=True)
    flow = Flow(subject, print)
    row = results.row(flow, [flow.routed(1)], ())
    assert row["MHz"] > 20
    assert row["EBR"] >= 32
    assert breakdown(flow.netlist)[("dut", "core", "execute")]["COMB"] > 0


def test_nothing_to_synthesise_is_refused():
    done = CliRunner().invoke(main, ["run", "--tiers", "", "--plain", "", "--no-peers"])
    assert done.exit_code == 2
    assert "there is nothing to synthesise" in done.output
