"""``muse explore``: serving and writing the page from a shell."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from muse import MUSE
from muse.cli.main import main
from muse.explorer import ExplorerServer


@pytest.fixture
def saved_model(model: MUSE, tmp_path: Path) -> Path:
    path = tmp_path / "small.safetensors"
    model.save(path)
    return path


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is opened in the browser."""
    urls: list[str] = []
    monkeypatch.setattr("webbrowser.open", urls.append)
    return urls


def test_it_serves_until_it_is_ended(saved_model: Path, opened: list[str], monkeypatch: Any, capsys: Any):
    answers: list[Any] = []

    def look(server: ExplorerServer) -> None:
        with urllib.request.urlopen(server.url + "api/info", timeout=60) as answer:
            answers.append(json.load(answer))

    monkeypatch.setattr(ExplorerServer, "wait", look)
    assert main(["explore", str(saved_model), str(saved_model), "--name", "one", "--name", "two", "--port", "0"]) == 0
    assert [model["name"] for model in answers[0]["models"]] == ["one", "two"]
    assert opened[0] in capsys.readouterr().out
    assert main(["explore", str(saved_model), "--port", "0", "--no-browser", "--json"]) == 0
    assert answers[1]["models"][0]["name"] == "small"
    assert json.loads(capsys.readouterr().out)["url"].startswith("http://127.0.0.1:")
    assert len(opened) == 1


def test_it_writes_a_file(saved_model: Path, text: Path, tmp_path: Path, opened: list[str], capsys: Any):
    page = tmp_path / "senses.html"
    told = ["explore", str(saved_model), "--html", str(page), "--words", "bank spring", "--words", "cell"]
    assert main([*told, "--corpus", str(text), "--sentence", "money in the bank"]) == 0
    assert "3 words" in capsys.readouterr().out
    written = page.read_text(encoding="utf-8")
    assert '"start":["bank","spring","cell"]' in written
    assert '"sentences":["money in the bank"]' in written
    assert opened == []


@pytest.mark.parametrize(
    ("more", "status", "said"),
    [
        (["--html", "page.html"], 2, "--html needs --words"),
        (["--words", "bank"], 2, "for the file that --html names"),
        (["--html", "small.safetensors", "--words", "bank"], 1, "is what is to be read"),
        (["--html", "page.html", "--words", "bannk"], 1, "nearest known spellings are 'bank'"),
        (["--html", "page.html", "--words", "bank", "--corpus", "missing.txt"], 1, "missing.txt"),
        (["--port", "70000"], 2, "from 0 to 65535"),
        (["--name", "a", "--name", "b"], 1, "one name for each"),
    ],
)
def test_what_is_wrong_is_said(
    saved_model: Path, monkeypatch: Any, capsys: Any, more: list[str], status: int, said: str
):
    monkeypatch.chdir(saved_model.parent)
    assert main(["explore", saved_model.name, *more]) == status
    assert said in capsys.readouterr().err
    assert not Path("page.html").exists()
