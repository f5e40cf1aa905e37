"""Figures that are kept beside the page that shows them: both change, or none."""

from __future__ import annotations

import json

import pytest

from tierv.sim.cores import extensions, report
from tierv.sim.synthesis import options, results

UPDATES = {
    "cores": (report, "README", report.update),
    "extensions": (extensions, "MANUAL", lambda _: extensions.update(extensions.read())),
    "synthesis": (results, "README", lambda _: results.update_readme()),
    "options": (options, "MANUAL", options.update),
}


@pytest.mark.parametrize("name", UPDATES)
def test_figures_stay_if_the_page_has_no_place_for_them(name, monkeypatch, tmp_path):
    module, page_name, update = UPDATES[name]
    kept = json.loads(module.GOLDEN.read_text())
    golden, page = tmp_path / "golden.json", tmp_path / "page.md"
    for path in (golden, tmp_path / "synth.json"):
        path.write_text(json.dumps(kept))
    before = golden.read_bytes()
    page.write_text("no markers\n")
    monkeypatch.setattr(module, "GOLDEN", golden)
    monkeypatch.setattr(module, page_name, page)
    monkeypatch.setattr(results, "results_folder", lambda: tmp_path)
    monkeypatch.setattr(results, "tool_versions", lambda: {})
    with pytest.raises(ValueError, match="there is no place for a table"):
        update(kept)
    assert golden.read_bytes() == before
