"""Draws docs/architecture.svg: the floors of the package and what each imports. ``python docs/architecture.py``

The picture is made from the code's own imports, and tests/whole/test_layers.py says when it is out of date.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, CORE, PICTURE = ROOT / "python" / "muse", ROOT / "src" / "cpp", ROOT / "docs" / "architecture.svg"
CORE_FLOORS = ("bindings", "train", "senses", "text", "model", "math")
_ROW, _BOX, _LEFT, _WIDTH = 34, 24, 20, 980


def floor_of(path: Path) -> str:
    """The folder of the package that a module is in, or the module itself at the top."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[str]:
    """The floors that a module imports from, types included."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module == "muse":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("muse."):
            yield (node.module or "").split(".")[1]


def arrows() -> dict[str, dict[str, int]]:
    """How many modules of a floor import from which other floor."""
    modules = [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != "__init__.py" or path.parent != PACKAGE]
    floors = {floor_of(path) for path in modules} | {"_core"}
    found: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for path in modules:
        own = floor_of(path)
        for other in sorted({name for name in imported(path) if name in floors and name != own}):
            found[own][other] += 1
        found.setdefault(own, defaultdict(int))
    return found


def heights(found: dict[str, dict[str, int]]) -> dict[str, int]:
    """For each floor the longest way down, so that every arrow points downwards; a circle has none."""
    known: dict[str, int] = {}

    def height(name: str, above: tuple[str, ...] = ()) -> int:
        if name in above:
            raise ValueError("a circle of imports: " + " -> ".join((*above, name)))
        if name not in known:
            known[name] = 1 + max((height(other, (*above, name)) for other in found.get(name, ())), default=-1)
        return known[name]

    for name in found:
        height(name)
    return known


def summary(name: str) -> str:
    """The first sentence of a floor's docstring."""
    path = PACKAGE / name / "__init__.py" if (PACKAGE / name).is_dir() else PACKAGE / f"{name}.py"
    if not path.exists():
        return "the extension: src/cpp through its bindings"
    text = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return " ".join(text.split())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("`", "")


def picture() -> str:
    """The SVG: the highest floor on top; beside each its purpose and what it imports, with the number of modules."""
    found = arrows()
    high = heights(found)
    order = sorted(high, key=lambda name: (-high[name], name))
    core_top = 30 + _ROW * len(order) + 30
    total = core_top + _ROW * 2
    size = f'viewBox="0 0 {_WIDTH} {total}" font-family="sans-serif" font-size="12"'
    label = "Floors of the package; each imports only from those below it"
    title = "python/muse: a floor imports only from floors below it (in grey: which, and by how many modules)"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{label}">',
        f'<rect width="{_WIDTH}" height="{total}" fill="white"/>',
        f'<text x="{_LEFT}" y="18" font-weight="bold">{title}</text>',
    ]
    for row, name in enumerate(order):
        top = 30 + _ROW * row
        below = sorted(found.get(name, {}), key=lambda other: (-high[other], other))
        uses = ", ".join(f"{other} {found[name][other]}" for other in below)
        lines += [
            f'<rect x="{_LEFT}" y="{top}" width="110" height="{_BOX}" rx="4" fill="#dbe9f6" stroke="#4a78a8"/>',
            f'<text x="{_LEFT + 55}" y="{top + 16}" text-anchor="middle">{name}</text>',
            f'<text x="{_LEFT + 122}" y="{top + 10}">{_escaped(summary(name))[:140]}</text>',
            f'<text x="{_LEFT + 122}" y="{top + 25}" fill="#777" font-size="10">{_escaped(uses)}</text>',
        ]
    lines.append(f'<text x="{_LEFT}" y="{core_top}" font-weight="bold">src/cpp, in the same way</text>')
    for column, name in enumerate(CORE_FLOORS):
        left, files = _LEFT + 155 * column, len([*(CORE / name).glob("*.cpp"), *(CORE / name).glob("*.h")])
        lines += [
            f'<rect x="{left}" y="{core_top + 12}" width="120" height="{_BOX}" rx="4" fill="#e6f2df" stroke="#6a5"/>',
            f'<text x="{left + 60}" y="{core_top + 28}" text-anchor="middle">{name} ({files} files)</text>',
        ]
        if column + 1 < len(CORE_FLOORS):
            lines.append(f'<text x="{left + 138}" y="{core_top + 28}" text-anchor="middle">→</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
    sys.stdout.write(f"{PICTURE.relative_to(ROOT)} drawn\n")
