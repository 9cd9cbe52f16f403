"""Modules keep their private names to themselves."""

import ast
from pathlib import Path

import pytest

import muse

ROOT = Path(muse.__file__).parent
OURS = {"_core", "_cuda", "_topic_words"}  # modules that are no part of what users import


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_takes_a_private_name_of_another(path):
    taken = [
        f"{node.module}.{alias.name}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.startswith("__") and alias.name not in OURS
    ]
    assert taken == []
