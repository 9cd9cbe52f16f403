"""A folder with a small model and the files that examples name, made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_lines import make_workspace

from muse.explorer import ExplorerServer


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    make_workspace(folder)
    return folder


@pytest.fixture
def workspace(made: Path, tmp_path: Path) -> Path:
    """A copy of it for one test."""
    return Path(shutil.copytree(made, tmp_path / "work"))


@pytest.fixture(autouse=True)
def nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The explorer ends as soon as it is served, and opens no browser."""
    monkeypatch.setattr(ExplorerServer, "wait", lambda self: None)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
