"""The tests reach nearly all of the core, and what measures that can be trusted."""

from __future__ import annotations

from pathlib import Path

import pytest
from core_coverage import LEAST, Report, Share, measure, report
from verilator_coverage import Point, module_sources, read_coverage

VERILOG = """\
(* src = "/somewhere/rtl/tierv.py:37" *)
module \\cluster.core (clk);
  wire [1:0] a__02e;
  always @* begin
    if (\\$auto$verilog_backend.cc:2355:dump_module$1 ) begin end
  end
endmodule
(* src = "/somewhere/rtl/rvfi.py:9" *)
module \\cluster.core.rvfi (clk);
"""


def entry(page: str, line: int, name: str, count: int) -> str:
    fields = {"f": "x.v", "l": str(line), "n": "5", "page": page, "o": name, "h": "TOP"}
    return "C '" + "".join(f"\x01{k}\x02{v}" for k, v in fields.items()) + f"' {count}\n"


def write(path: Path, *entries: str) -> Path:
    path.write_text("# SystemC::Coverage-3\n" + "".join(entries))
    return path


def test_runs_add_up(tmp_path):
    toggle = "v_toggle/cluster.core"
    first = write(
        tmp_path / "1", entry(toggle, 3, "a__02eb[1]:0->1", 2), entry(toggle, 3, "c:1->0", 0)
    )
    second = write(tmp_path / "2", entry(toggle, 3, "a__02eb[1]:0->1", 3))
    assert read_coverage([first, second]) == {
        Point("cluster.core", 3, "a.b", 1, 1): 5,
        Point("cluster.core", 3, "c", 0, 0): 0,
    }


def test_a_line_that_is_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="'D x' is no coverage point"):
        read_coverage([write(tmp_path / "1", "D x\n")])


def test_modules_know_their_source(tmp_path):
    (tmp_path / "v").write_text(VERILOG)
    assert module_sources(tmp_path / "v") == {
        "cluster.core": "rtl/tierv.py",
        "cluster.core.rvfi": "rtl/rvfi.py",
    }


def test_what_is_not_covered_counts_and_what_is_left_out_does_not(tmp_path):
    (tmp_path / "v").write_text(VERILOG)
    toggle, branch = "v_toggle/cluster.core", "v_branch/cluster.core"
    points = read_coverage(
        [
            write(
                tmp_path / "1",
                entry(toggle, 3, "x[0]:0->1", 1),
                entry(toggle, 3, "x[0]:1->0", 0),
                entry(toggle, 3, "__02441:1->0", 0),
                entry("v_toggle/cluster.core.rvfi", 3, "x:1->0", 0),
                entry(branch, 4, "if", 0),
                entry(branch, 5, "if", 0),
            )
        ]
    )
    found = report(points, tmp_path / "v")
    assert (found.toggle, found.line) == (Share(1, 2), Share(0, 1))
    assert sum(found.excluded.values()) == 3
    assert sorted(point.line for point in found.missing) == [3, 4]


@pytest.fixture(scope="module")
def measured() -> Report:
    return measure()


@pytest.mark.slow
def test_nearly_every_statement_is_executed(measured):
    assert measured.line.total > 1_000
    assert measured.line.percent >= LEAST


@pytest.mark.slow
def test_nearly_every_bit_changes_both_ways(measured):
    assert measured.toggle.total > 10_000
    assert measured.toggle.percent >= LEAST
