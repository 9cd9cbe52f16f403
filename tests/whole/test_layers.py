"""Each folder of the package imports only from itself and from the floors below it, for types and in functions too."""

from __future__ import annotations

import ast
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

import muse

ROOT = Path(muse.__file__).parent
FLOORS = (
    "_core _topic_words errors callbacks base data files corpus readers vectors formats selector lexicon plots "
    "concordance training model evaluation change distributed integrations datasets explorer cli __main__"
).split()
EXCEPTIONS: set[tuple[str, str]] = set()  # (module, what it imports), to be mended


def imports(path: Path) -> Iterator[str]:
    """What a module imports of the package, without "muse."; of ``from muse import x`` that is x."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "muse":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").startswith("muse.")):
            assert not node.level, f"{path} imports by a relative name"
            yield (node.module or "").removeprefix("muse.")
        elif isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("muse.") for alias in node.names if alias.name.startswith("muse."))


def floor(module: str) -> int:
    return FLOORS.index(module.partition(".")[0])


def test_imports_go_down():
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
    del modules["__init__"]
    assert len(modules) > 100
    asked = [(module, name) for module, path in modules.items() for name in imports(path)]
    named = {name for name in {name for _, name in asked} if name.partition(".")[0] in FLOORS}
    upward = {(module, name) for module, name in asked if name in named and floor(name) > floor(module)}
    assert upward == EXCEPTIONS
    whole = {(module, name) for module, name in asked if name not in named and name != "__version__"}
    assert not whole


def test_the_picture_is_of_these_imports():
    drawing = Path(__file__).resolve().parents[2] / "docs" / "architecture.py"
    if not drawing.exists():
        pytest.skip("the documentation is not here: this is an installed package")
    scope = runpy.run_path(str(drawing))
    found = scope["arrows"]()
    assert {name for name in found if name in FLOORS} == {name for name in FLOORS if name not in ("_core",)} & set(
        found
    )
    assert all(floor(other) < floor(name) for name in found for other in found[name] if name != "__main__")
    drawn = scope["PICTURE"].read_text(encoding="utf-8")
    assert drawn == scope["picture"](), "docs/architecture.svg is out of date: run python docs/architecture.py"
