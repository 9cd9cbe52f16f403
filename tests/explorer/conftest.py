"""Two small models of a text with ambiguous words, and the text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from muse import MUSE
from muse.change import TemporalMUSE
from muse.datasets import make_ambiguous_corpus
from muse.explorer import ExplorerServer

SETTINGS = {"vector_size": 24, "workers": 1, "epochs": 6, "sample": 0.01, "alpha": 0.1}


@pytest.fixture(scope="session")
def sentences() -> list[list[str]]:
    return make_ambiguous_corpus(4000, 300, seed=0).sentences


@pytest.fixture(scope="session")
def model(sentences: list[list[str]]) -> MUSE:
    return MUSE(sentences, **SETTINGS)


@pytest.fixture(scope="session")
def other(sentences: list[list[str]]) -> MUSE:
    return MUSE(sentences[:3000], seed=5, **SETTINGS)


@pytest.fixture(scope="session")
def text(sentences: list[list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "corpus.txt"
    path.write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def slices(model: MUSE, sentences: list[list[str]]) -> TemporalMUSE:
    """The text in two slices; in the later one most sentences with bank and money are missing."""
    kept = [s for place, s in enumerate(sentences) if place % 10 == 0 or not {"bank", "loan"} <= set(s)]
    return TemporalMUSE({"1900s": sentences, "2000s": kept}, model=model)


@pytest.fixture(scope="session")
def server(slices: TemporalMUSE, other: MUSE, text: Path) -> Iterator[ExplorerServer]:
    with ExplorerServer(slices, other, corpus=text, port=0, names=["one", "two"]) as running:
        yield running
