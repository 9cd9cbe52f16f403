"""The command line: what it prints, what it writes, and how it says that something is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from muse import MUSE, __main__
from muse.datasets import make_ambiguous_corpus

QUICK = ["--epochs", "3", "--vector-size", "24", "--workers", "2"]


@pytest.fixture(scope="module")
def text_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    sentences = make_ambiguous_corpus(n_sentences=3000, n_words=300, seed=2).sentences
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8")
    return path


def test_demo_on_generated_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(__main__, "DEMO_SENTENCES", 6000)
    assert __main__.main(["demo", *QUICK]) == 0
    printed = capsys.readouterr().out
    assert "6,000 generated sentences in which 24 words mean two things each" in printed
    assert re.search(r"1,000 words, [\d,]+ senses, dimension 24, 3 epochs in [\d.]+ s: [\d,]+ tokens/s", printed)
    assert 1 <= float(re.search(r"([\d.]+) in effective use", printed)[1]) <= 2
    assert 0 <= float(re.search(r"V-measure ([\d.]+)", printed)[1]) <= 1
    for word in __main__.DEMO_CARDS:
        card = printed.split(f"\n{word}: ")[1].split("\n\n")[0]
        shares = [int(share) for share in re.findall(rf"{word}#[01] +(\d+)%  like \w+#[01], ", card)]
        assert len(shares) == 2
        assert sum(shares) in (99, 100, 101)
        assert all(word in example.split() for example in re.findall(r'as in "(.*)"', card))


def test_demo_on_a_file_saves_its_model(text_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "model.safetensors"
    arguments = ["demo", "--corpus", str(text_file), "--words", "rock", "--senses", "3", "--save", str(saved), *QUICK]
    assert __main__.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "V-measure" not in printed
    assert printed.count("rock#") == 3
    model = MUSE.load(saved)
    assert model.n_senses("rock") == 3
    assert model.vector_size == 24


def test_train_then_senses(text_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(tmp_path / "model.safetensors")
    assert __main__.main(["train", str(text_file), "--save", saved, "--senses", "2", "--window", "4", *QUICK]) == 0
    assert MUSE.load(saved).settings.window == 4
    capsys.readouterr()
    assert __main__.main(["senses", saved, "bank", "--context", "money loan bank interest"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("  bank#") == 2
    shares = re.search(r"in this context: bank#0 (\d+)%, bank#1 (\d+)%", printed)
    assert sum(map(int, shares.groups())) in (99, 100, 101)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "missing.txt", "--save", "m.safetensors"], "missing.txt"),
        (["train", "TEXT", "--save", "m.safetensors", "--window", "wide"], "window must be an integer"),
        (["train", "TEXT", "--save", "m.safetensors", "--strategy", "gready"], "strategy must be one of 'greedy'"),
        (["train", "TEXT", "--save", "nowhere/m.safetensors", "--epochs", "1", "--vector-size", "4"], "nowhere"),
        (["demo", "--corpus", "TEXT", "--words", "bnak", *QUICK], "'bnak' is not in the vocabulary"),
        (["senses", "TEXT", "bank"], "TEXT"),
    ],
)
def test_errors_are_one_line_on_standard_error(
    arguments: list[str],
    message: str,
    text_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TEXT").write_bytes(text_file.read_bytes())
    assert __main__.main(arguments) == 1
    error = capsys.readouterr().err.strip()
    assert error.startswith(f"muse {arguments[0]}: ")
    assert message in error
    assert "\n" not in error


def test_module_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "muse", "--help"], capture_output=True, text=True, check=True)
    assert re.search(r"\{demo,train,senses\}", done.stdout)
    wrong = subprocess.run([sys.executable, "-m", "muse"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
