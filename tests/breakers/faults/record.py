"""The file of results behind docs/reliability.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def read_results(path: Path) -> dict[str, Any]:
    """What runs have recorded, by name: "faults", a list of rows, and "soak"."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"faults": [], "soak": {}}


def write_results(path: Path, results: dict[str, Any]) -> None:
    path.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
