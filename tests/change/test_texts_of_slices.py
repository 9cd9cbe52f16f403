"""The texts of slices: files that changed, that are elsewhere, or that a model would be written over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from muse.change import TemporalMUSE, align
from muse.change.asking import Errors
from muse.change.asking import _interval as interval_of
from muse.corpus import Prose
from muse.datasets import make_ambiguous_corpus
from muse.explorer.slices import over_time_view
from muse.files.replacing import replacing, together

SETTINGS: dict[str, Any] = {"vector_size": 16, "senses": 2, "workers": 1, "seed": 1, "epochs": 2}
SENTENCES = make_ambiguous_corpus(1500, 300, seed=0).sentences


def written(path: Path, sentences: Any) -> Path:
    path.write_text("\n".join(" ".join(sentence) for sentence in sentences), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    return {name: written(tmp_path / f"{name}.txt", SENTENCES[i::2]) for i, name in enumerate(("old", "new"))}


def test_examples_are_not_of_another_text(files: dict[str, Path], tmp_path: Path) -> None:
    live = TemporalMUSE(files, **SETTINGS)
    live.save(tmp_path / "m")
    key = live.shares("bank")[0]["sense"]
    assert live.examples(key, "old") == TemporalMUSE.load(tmp_path / "m").examples(key, "old")
    loaded = TemporalMUSE.load(tmp_path / "m")
    written(files["old"], SENTENCES[:100])
    for model in (live, loaded, TemporalMUSE.load(tmp_path / "m")):
        with pytest.raises(ValueError, match="not the text of slice 'old'"):
            model.examples(key, "old")
        assert model.examples(key, "new")
        old, new = over_time_view(model, "bank")["slices"]
        assert all(sense["texts"] is None for sense in old["senses"].values())
        assert any(sense["texts"] for sense in new["senses"].values())
    written(files["old"], SENTENCES[0::2])
    assert live.examples(key, "old")
    files["old"].unlink()
    with pytest.raises(FileNotFoundError, match=r"old\.txt"):
        live.examples(key, "old")
    assert over_time_view(live, "bank")["slices"][0]["senses"][0]["texts"] is None


def test_files_are_found_from_another_folder(
    files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    model = TemporalMUSE({name: path.name for name, path in files.items()}, **SETTINGS)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    key = model.shares("bank")[0]["sense"]
    assert model.examples(key, "old")
    model.save("m")
    assert TemporalMUSE.load("m").examples(key, "old") == model.examples(key, "old")


@pytest.mark.parametrize("beside", [False, True])
def test_a_text_is_not_written_over(tmp_path: Path, beside: bool) -> None:
    text = written(tmp_path / ("m.slices" if beside else "m"), SENTENCES[0::2])
    model = TemporalMUSE({"old": text, "new": SENTENCES[1::2]}, **SETTINGS)
    before = text.read_bytes()
    (tmp_path / "link").symlink_to(tmp_path / "m")
    for name in ("m", "link")[: 1 if beside else 2]:
        with pytest.raises(ValueError, match="is the text of slice 'old'"):
            model.save(tmp_path / name)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(["link", text.name])
    assert text.read_bytes() == before


def test_prose_is_a_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".\n".join(" ".join(sentence).capitalize() for sentence in SENTENCES)
    (tmp_path / "prose.txt").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    model = TemporalMUSE({"old": Prose("prose.txt"), "new": SENTENCES}, **SETTINGS)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    key = max(model.shares("bank"), key=lambda row: row["uses"] if row["slice"] == "old" else 0)["sense"]
    assert model.examples(key, "old")
    with pytest.raises(ValueError, match="is the text of slice 'old'"):
        model.save("../prose.txt")
    (tmp_path / "prose.txt").write_text(text[: len(text) // 2], encoding="utf-8")
    with pytest.raises(ValueError, match="not the text of slice 'old'"):
        model.examples(key, "old")


def test_files_are_replaced_together_or_not_at_all(tmp_path: Path) -> None:
    names = [tmp_path / "a", tmp_path / "a.b"]
    for name in names:
        name.write_bytes(b"older")
    with pytest.raises(OSError, match="full"), together():  # noqa: PT012
        for name in names:
            with replacing(name) as file:
                file.write(b"newer")
        assert [name.read_bytes() for name in names] == [b"older"] * 2
        raise OSError("full")
    assert sorted(tmp_path.iterdir()) == names
    with together():
        for name in names:
            with replacing(name) as file:
                file.write(b"newer")
    assert [name.read_bytes() for name in names] == [b"newer"] * 2
    with replacing(names[0]) as file:
        file.write(b"alone")
    assert names[0].read_bytes() == b"alone"
    assert sorted(tmp_path.iterdir()) == names


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_who_is_killed_before_the_renames_leaves_the_older_pair(tmp_path: Path) -> None:
    """Killed when both new files are complete, and the first is about to take its name."""
    code = """
import os, signal, sys
from muse.change import TemporalMUSE
from muse.datasets import make_ambiguous_corpus
sentences = make_ambiguous_corpus(600, 200, seed=0).sentences
settings = dict(vector_size=8, senses=2, workers=1, epochs=1)
TemporalMUSE({"a": sentences[0::2], "b": sentences[1::2]}, seed=1, **settings).save(sys.argv[1])
other = TemporalMUSE({"x": sentences[0::2], "y": sentences[1::2]}, seed=2, **settings)
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
other.save(sys.argv[1])
"""
    path = tmp_path / "m"
    done = subprocess.run([sys.executable, "-c", code, os.fspath(path)], capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    again = TemporalMUSE.load(path)
    assert again.slices == ("a", "b")
    assert len(list(tmp_path.glob(".*.tmp"))) == 2
    again.save(path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m", "m.slices"]


def test_an_interval_holds_its_share() -> None:
    errors = Errors(np.eye(2), np.array([0.5, 0.5]))
    table = np.array([[3, 1], [2, 2], [9, 0]])
    options = {"resamples": 50, "confidence": 0.95, "seed": 0}
    for share in (np.array([0.01, 0.99]), np.array([0.99, 0.01])):
        low, high = interval_of(table, errors, options, share)
        assert low is not None
        assert high is not None
        assert ((low <= share) & (share <= high)).all()


def test_one_word_is_a_list_of_one() -> None:
    pytest.importorskip("scipy")
    model = TemporalMUSE({"all": SENTENCES}, **SETTINGS).model
    alignment = align(model, model)
    assert alignment.stability("bank").rows == alignment.stability(["bank"]).rows
    with pytest.raises(TypeError, match="words must be a word or a list"):
        alignment.stability(3)  # type: ignore[arg-type]
