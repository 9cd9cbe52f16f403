"""The notebooks of the documentation run from top to bottom, in a kernel of their own.

``python tests/whole/test_notebooks.py`` runs them and keeps what they print.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def executed(path: Path) -> Any:
    import nbformat
    from nbclient import NotebookClient

    import muse

    notebook = nbformat.read(path, as_version=4)
    package = os.path.dirname(os.path.dirname(muse.__file__))
    with mock.patch.dict(os.environ, {"PYTHONPATH": package, "COLUMNS": "120"}):
        NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    return notebook


@pytest.mark.filterwarnings("ignore")  # those of the kernel's libraries
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path):
    pytest.importorskip("nbclient", reason="pip install nbclient ipykernel runs the notebooks")
    pytest.importorskip("ipykernel", reason="pip install nbclient ipykernel runs the notebooks")
    before = path.read_bytes()
    notebook = executed(path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert sum(bool(cell.outputs) for cell in cells) >= 6
    assert not [output for cell in cells for output in cell.outputs if output.output_type == "error"]
    assert path.read_bytes() == before


def test_notebooks_are_there():
    if not (ROOT / "docs").is_dir():
        pytest.skip("the documentation is not here: this is an installed package")
    assert len(NOTEBOOKS) == 2


def main() -> None:
    import nbformat

    for path in NOTEBOOKS:
        notebook = executed(path)
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
        notebook.metadata.pop("language_info", None)
        nbformat.write(notebook, path)


if __name__ == "__main__":
    sys.exit(main())
