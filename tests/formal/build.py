"""Write the design of one check: ``python -m formal.build CHECK FOLDER [PLANT]``.

A process of its own, since a planted bug changes the core's modules as they are imported.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from . import planting, plants


def main(name: str, folder: Path, plant: str | None) -> None:
    if plant:
        planting.install(plants.PLANTS[plant])
    from .registry import CHECKS

    bench = CHECKS[name].build()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "design.il").write_text(bench.rtlil())
    options = {
        "cuts": bench.cuts,
        "zero_rows": bench.zero_rows,
        "watched": bench.watched,
        "same_rows": bench.same_rows,
        "at_start": bench.at_start,
    }
    (folder / "options.json").write_text(json.dumps(options))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
