"""The code and the commands of docs/explorer.md run as they stand there, and what it says holds."""

from __future__ import annotations

import re
import shlex
import struct
from pathlib import Path

import pytest

from muse import MUSE
from muse.cli.main import main
from muse.explorer import ExplorerServer

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explorer.md"
if not PAGE.exists():
    pytest.skip("the documentation is not here: this is an installed package", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")


@pytest.fixture
def folder(model: MUSE, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the page names; nobody looks, so that the explorer ends at once."""
    for name in ("model", "1900s", "2000s"):
        model.save(tmp_path / f"{name}.safetensors")
    (tmp_path / "text.txt").write_bytes(text.read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ExplorerServer, "wait", lambda self: None)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    return tmp_path


def test_code_runs(folder: Path, model: MUSE):
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len(blocks) == 2
    scope = {"model": model}
    for block in blocks:
        exec(block, scope)
    assert (folder / "senses.html").stat().st_size > 50_000


def test_commands_run(folder: Path):
    lines = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.S) for line in block.splitlines()]
    lines += re.findall(r"`(muse explore [^`]*)`", TEXT)
    assert len(lines) == 3
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0
    assert (folder / "senses.html").exists()


def test_pictures_are_there():
    pictures = re.findall(r"!\[[^\]]{20,}\]\(([^)]+)\)", TEXT)
    assert len(pictures) == 3
    for picture in pictures:
        content = (PAGE.parent / picture).read_bytes()
        width, height = struct.unpack(">II", content[16:24])
        assert content.startswith(b"\x89PNG")
        assert (width, height > 400) == (1280, True)
        assert len(content) < 400_000
