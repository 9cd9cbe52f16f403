"""The command line: what it prints, what it writes, and how it says that something is wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import muse
from muse import MUSE, __version__
from muse.cli.commands.demo import CARDS
from muse.cli.main import main
from muse.datasets import make_ambiguous_corpus
from toy import toy_model

QUICK = ["--epochs", "3", "--vector-size", "24", "--workers", "2"]


@pytest.fixture(scope="module")
def text_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "text.txt"
    sentences = make_ambiguous_corpus(n_sentences=3000, n_words=300, seed=2).sentences
    path.write_text("".join(" ".join(sentence) + "\n" for sentence in sentences), encoding="utf-8")
    return path


def test_demo_on_generated_text(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys.modules["muse.cli.commands.demo"], "SENTENCES", 6000)
    assert main(["demo", *QUICK]) == 0
    printed = capsys.readouterr().out
    assert "6,000 generated sentences in which 24 words mean two things each" in printed
    assert re.search(r"1,000 words, [\d,]+ senses, dimension 24, 3 epochs in [\d.]+ s \(reading", printed)
    assert re.search(r" s \(reading [\d.]+ s, sense trees [\d.]+ s\); last epoch [\d,]+ tokens/s\n", printed)
    assert re.search(r"in the \d+ words that have several: [\d.]+ in effective use a word", printed)
    assert 1 <= float(re.search(r"([\d.]+) in effective use", printed)[1]) <= 2
    assert 0 <= float(re.search(r"V-measure ([\d.]+)", printed)[1]) <= 1
    for word in CARDS:
        card = printed.split(f"\n{word}: ")[1].split("\n\n")[0]
        shares = [int(share) for share in re.findall(rf"{word}#[01] +(\d+)%  like \w+#[01], ", card)]
        assert len(shares) == 2
        assert sum(shares) in (99, 100, 101)
        assert all(word in example.split() for example in re.findall(r'as in "(.*)"', card))


def test_demo_on_a_file_saves_its_model(text_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "model.safetensors"
    arguments = [
        "demo",
        "--corpus",
        str(text_file),
        "--words",
        "rokc rock",
        "--senses",
        "3",
        "--save",
        str(saved),
        *QUICK,
    ]
    assert main(arguments) == 1
    printed, said = capsys.readouterr()
    assert "V-measure" not in printed
    assert "rokc" not in printed
    assert said == "muse demo: the word 'rokc' is not in the vocabulary; the nearest known spellings are 'rock'\n"
    model = MUSE.load(saved)
    assert model.n_senses("rock") in (2, 3)  # three at most
    assert printed.count("rock#") == model.n_senses("rock")
    assert model.vector_size == 24


def test_train_then_senses(text_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = str(tmp_path / "model.safetensors")
    assert main(["train", str(text_file), "--save", saved, "--senses", "2", "--window", "4", *QUICK]) == 0
    assert MUSE.load(saved).settings.window == 4
    capsys.readouterr()
    assert main(["senses", saved, "bank", "--context", "money loan bank interest"]) == 0
    printed = capsys.readouterr().out
    assert len(re.findall("(?m)^bank#", printed)) == 2
    shares = re.search(r"in this context: bank#0 (\d+)%, bank#1 (\d+)%", printed)
    assert sum(map(int, shares.groups())) in (99, 100, 101)
    assert "the shares in the training text" not in printed
    assert main(["senses", saved, "bank", "--context", "qwerty asdf"]) == 0
    assert "no word of it is known: these are the shares in the training text" in capsys.readouterr().out
    assert main(["senses", saved, "bnak"]) == 1
    assert re.search("the nearest known spellings are .*'bank'", capsys.readouterr().err)


@pytest.mark.parametrize("command", ["train", "demo"])
def test_where_a_model_cannot_be_saved_is_said_before_training(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("muse.cli.training.MUSE", None)  # nothing is trained
    corpus = ["text.txt"] if command == "train" else []
    assert main([command, *corpus, "--save", str(tmp_path / "nowhere" / "m")]) == 1
    printed = capsys.readouterr()
    assert printed.err == f"muse {command}: {tmp_path / 'nowhere'}: the folder does not exist; make it first\n"
    assert printed.out == ""


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["train", "missing.txt", "--save", "m.safetensors"], 1, "missing.txt: the corpus: no such file"),
        (["train", "TEXT", "--save", "m.safetensors", "--window", "wide"], 2, "window must be an integer"),
        (["train", "TEXT", "--save", "m.safetensors", "--strategy", "gready"], 2, "strategy must be one of 'greedy'"),
        (["train", "TEXT", "--save", "nowhere/m.safetensors", "--epochs", "1", "--vector-size", "4"], 1, "nowhere"),
        (["senses", "TEXT", "bank"], 1, "TEXT"),
    ],
)
def test_errors_are_one_line_on_standard_error(
    arguments: list[str],
    status: int,
    message: str,
    text_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "TEXT").write_bytes(text_file.read_bytes())
    assert main(arguments) == status
    error = capsys.readouterr().err.strip()
    assert error.startswith(f"muse {arguments[0]}: ")
    assert message in error
    assert "\n" not in error


def test_module_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "muse", "--help"], capture_output=True, text=True, check=True)
    assert re.search(r"(?m)^  train +Train on text", done.stdout)
    version = subprocess.run([sys.executable, "-m", "muse", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"muse {__version__}\n"
    wrong = subprocess.run([sys.executable, "-m", "muse"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2


@pytest.mark.parametrize("command", ["train", "demo", "tag"])
def test_what_is_read_is_not_overwritten(command: str, text_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    read = str(text_file)
    before = text_file.read_bytes()
    arguments = {
        "train": ["train", read, "--save", read],
        "demo": ["demo", "--corpus", read, "--save", read],
        "tag": ["tag", read, "input.txt", read],
    }
    assert main(arguments[command]) != 0
    assert "is what is to be read; give another name" in capsys.readouterr().err
    assert text_file.read_bytes() == before


def test_senses_of_single_words_as_json(text_file: Path, tmp_path: Path) -> None:
    saved = tmp_path / "model.safetensors"
    assert main(["train", str(text_file), "--senses", '{"rock": 2}', "--save", str(saved), *QUICK]) == 0
    assert MUSE.load(saved).settings.senses == {"rock": 2}


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which MUSE stands for the program; its exit status is that of the last MUSE."""
    line = command.replace("MUSE", f"{sys.executable} -u -m muse") + "; exit ${PIPESTATUS[0]}"
    environment = {**os.environ, "PYTHONPATH": str(Path(muse.__file__).parent.parent)}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=environment, check=False)


def test_a_reader_that_goes_away_is_no_error(tmp_path):
    toy_model().save(tmp_path / "m")
    done = in_shell(f"MUSE senses {tmp_path / 'm'} head | true")
    assert done.returncode in (0, 141), done  # 0 where all was written before
    assert done.stderr == ""


@pytest.mark.parametrize("output", ["| true", "> /dev/full", ">&-", "2>&-", ">&- 2>&-"])
def test_a_report_that_nobody_reads_does_not_cost_the_work(output, tmp_path):
    if "full" in output and not Path("/dev/full").exists():
        pytest.skip("the system has no /dev/full")
    text, model = tmp_path / "text", tmp_path / "m"
    text.write_text("the head army\n" * 9)
    done = in_shell(f"MUSE train {text} --save {model} --epochs 1 --vector-size 4 --workers 1 {output}")
    assert ("No space left" in done.stderr) == ("full" in output), done
    assert (done.returncode == 0) == ("&-" in output), done
    assert len(MUSE.load(model)) == 3
    done = in_shell(f"MUSE tag {model} {text} {tmp_path / 'tagged'} {output}")
    assert (done.returncode == 0) == ("&-" in output), done
    assert (tmp_path / "tagged").read_text().count("head#") == 9
