"""``make`` itself, with stand-ins for the programs that it calls."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Stands for Python with venv, and for all that is in its folder then.
PYTHON = """\
#!/bin/sh
if [ "$1$2" = -mvenv ]; then
    mkdir -p .venv/bin
    cp "$0" .venv/bin/python
    cp "$0" .venv/bin/pip
fi
echo "begin $*" >>calls; sleep 0.1; echo "end $*" >>calls
"""


def test_jobs_at_a_time_do_not_install_packages_at_a_time(tmp_path):
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    words = ["make", "-j2", f"PYTHON={python}", "APT_PACKAGES=", "test"]
    variables = {name: os.environ[name] for name in os.environ if not name.startswith("MAKE")}
    subprocess.run(words, cwd=tmp_path, env=variables, check=True)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["begin", "end"] * (len(calls) // 2)
    installed = [call for call in calls if call.startswith("begin install")]
    assert len(set(installed)) == len(installed) == 3
