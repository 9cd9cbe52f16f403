"""No command writes over the text that it reads, however that is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_lines import run

from muse import MUSE
from muse.corpus import LineSentence, Prose

TEXT = "The bank lends money. The river flows by the bank.\n" * 30


@pytest.fixture
def texts(workspace: Path) -> Path:
    folder = workspace / "texts"
    folder.mkdir(exist_ok=True)
    for name in ("one.txt", "two.txt"):
        (folder / name).write_text(TEXT)
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "muse tag model.safetensors texts/one.txt texts/one.txt --prose",
        "muse tag model.safetensors texts/one.txt texts/one.txt --encoding cp1252",
        "muse tag model.safetensors texts texts/one.txt --prose",
        "muse train texts --prose --save texts/one.txt",
        "muse train texts/*.txt --prose --save texts/one.txt",
        "muse concordance model.safetensors bank texts -o texts/one.txt --to csv",
        "muse explore model.safetensors --html texts/one.txt --words bank --corpus texts",
    ],
)
def test_a_text_is_not_replaced(line: str, texts: Path, workspace: Path) -> None:
    done = run(line, workspace)
    assert done.status == 1
    assert "read" in done.err or "same file" in done.err
    assert (texts / "one.txt").read_text() == TEXT


def test_sentences_of_a_file_are_not_tagged_into_it(texts: Path, workspace: Path) -> None:
    model = MUSE.load(workspace / "model.safetensors")
    for sentences in (Prose(texts), LineSentence(texts / "one.txt")):
        with pytest.raises(ValueError, match="same file"):
            model.tag_corpus(sentences, texts / "one.txt")
    assert (texts / "one.txt").read_text() == TEXT


def test_a_folder_is_read_without_the_indexes_that_were_kept_in_it(workspace: Path) -> None:
    folder = workspace / "bare"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / name).write_text(TEXT)
    first = run("muse concordance model.safetensors bank bare --json", workspace)
    assert first.status == 0, first.err
    assert list(folder.glob("*.muse-index"))
    again = run("muse concordance model.safetensors bank bare --json", workspace)
    assert (again.status, again.out) == (0, first.out), again.err
    assert [path.name for path in Prose(folder).paths] == ["one", "two"]
