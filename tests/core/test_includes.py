"""Includes go one way: a folder of src/cpp includes only itself and those before it, so none the CUDA side."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src" / "cpp"
FLOORS = ("math", "model", "text", "senses", "train", "bindings")
INCLUDE = re.compile(r'^\s*#\s*include\s*"(?:([^"/]+)/)?([^"/]+)"', re.MULTILINE)


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources are not here")
@pytest.mark.parametrize("folder", FLOORS)
def test_a_folder_includes_only_those_before_it(folder):
    files = sorted(path for path in (SOURCES / folder).iterdir() if path.suffix in {".h", ".cpp"})
    assert files
    for path in files:
        for other, name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            other = other or folder  # bindings name their own headers without a folder
            assert other in FLOORS[: FLOORS.index(folder) + 1], f"{path.name} includes {other}/{name}"
            assert (SOURCES / other / name).is_file(), f"{path.name} includes {other}/{name}, which is not there"


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources are not here")
def test_every_folder_has_its_floor():
    assert {path.name for path in SOURCES.iterdir()} == set(FLOORS)
