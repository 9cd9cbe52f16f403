"""The page of sense trees and the agreement of two seeds, on models made here with the parts that these ask for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")


@pytest.fixture(scope="module", autouse=True)
def _benchmarks() -> Iterator[None]:
    """`benchmarks` is imported from the root of the repository, as its commands are run from there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).resolve().parents[2]))
        yield


def node(share: float, strength: float = 0.0) -> Any:
    return SimpleNamespace(share=share, strength=strength)


@dataclass
class Tree:
    """What `MUSE.sense_tree` gives."""

    word: str
    count: int = 120
    root: int | None = 2
    senses: tuple[int, ...] = (0, 1)
    leaves: tuple[int, ...] = (0, 1)
    nodes: list[Any] = field(
        default_factory=lambda: [
            SimpleNamespace(share=share, strength=s) for share, s in ((0.7, 0), (0.3, 0), (1, 0.6))
        ]
    )

    def __str__(self) -> str:
        return f"{self.word}#2 joined at 0.60, parts #0* and #1*"

    def to_dict(self) -> dict[str, Any]:
        return {"nodes": [vars(node) for node in self.nodes]}


class TreeModel:
    """Knows bank, which has a tree, and oxygen, which has none."""

    def __init__(self, **settings: Any) -> None:
        self.settings, self.counts = settings, {"bank": 2, "oxygen": 1}
        rows = np.array([[1, 0], [0.6, 0.8], [0, 0]], np.float32)
        self.arrays = SimpleNamespace(selection_vectors=rows, rows_of=lambda row: [slice(0, 2), slice(2, 3)][row])
        self.vocabulary = SimpleNamespace(index=["bank", "oxygen"].index)

    def __contains__(self, word: object) -> bool:
        return word in self.counts

    def n_senses(self, word: str) -> int:
        return self.counts[word]

    def sense_tree(self, word: str, topn: int = 6) -> Tree:
        return Tree(word) if word == "bank" else Tree(word, 30, 0, (0,), (0,), [node(1.0)])

    def recut(self, senses: Any = None) -> None:
        self.counts = {"bank": 1 if senses == "auto" else 2, "oxygen": 1}


def test_the_page_shows_the_trees_of_all_words_that_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    from benchmarks import trees

    monkeypatch.setenv("MUSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(trees, "MUSE", TreeModel)
    assert len(set(trees.SEVERAL)) == 30
    assert len(set(trees.ONE)) == 10
    (tmp_path / "text.txt").write_text("a bank of oxygen\n")
    out = tmp_path / "results"
    trees.main(["words", "--corpus", str(tmp_path / "text.txt"), "--out", str(out)])
    page = (out / "trees.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == page.strip()
    assert "### bank, 120 uses\n\n```text\nbank#2 joined at 0.60, parts #0* and #1*\n```" in page
    assert "### oxygen, 30 uses\n\nToo few for a tree: one sense." in page
    row = next(line for line in page.splitlines() if line.startswith("| bank"))
    assert [cell.strip() for cell in row.strip("| ").split("|")] == [
        "bank", "120", "2", "0.600", "2", "1", "0.600", "70%, 30%"
    ]  # fmt: skip
    assert "Not in the vocabulary: head, tie, cell" in page
    cards = {card["word"]: card for card in json.loads((out / "trees.json").read_text())["cards"]}
    assert len(cards) == 40
    assert [node["share"] for node in cards["bank"]["nodes"]] == [0.7, 0.3, 1]


class Tagger:
    """Tags each word with what `senses` says of its number in the text; finer after `recut`."""

    def __init__(self, senses: dict[str, list[int]], finer: dict[str, list[int]] | None = None) -> None:
        self.senses, self.finer = senses, finer

    def __contains__(self, word: object) -> bool:
        return word in self.senses

    def recut(self, senses: int) -> None:
        if self.finer is None:
            raise ValueError("no trees")
        self.senses = self.finer

    def disambiguate_batch(self, sentences: list[list[str]]) -> Iterator[np.ndarray]:
        seen = dict.fromkeys(self.senses, 0)
        for sentence in sentences:
            chosen = []
            for word in sentence:
                chosen.append(self.senses[word][seen[word]] if word in self.senses else -1)
                seen[word] = seen.get(word, 0) + 1
            yield np.array(chosen)


TEXT = [["bank", "of", "rock"], ["rock", "bank"], ["bank", "rock"], ["rock", "bank", "key"]]


def test_agreement_is_of_partitions_whatever_their_numbers() -> None:
    from benchmarks.human.stability import compare

    one = Tagger({"bank": [0, 0, 1, 1], "rock": [0, 0, 0, 0], "key": [0]}, {"bank": [0, 1, 2, 3], "rock": [0, 0, 1, 1]})
    two = Tagger({"bank": [7, 7, 3, 3], "rock": [0, 1, 0, 1], "key": [0]}, {"bank": [3, 2, 1, 0], "rock": [0, 1, 0, 1]})
    found = compare([one, two], TEXT, least=4, most=10)
    assert found["default"] == {
        "ari": 1, "ari with torn": 0.5, "v_measure": 1, "senses": 2, "words": 1, "torn": 1, "one_sense": 0
    }  # fmt: skip
    assert found["leaves"]["words"] == 2
    assert found["leaves"]["ari"] == pytest.approx((1 - 0.5) / 2)
    alone = compare([Tagger({"rock": [0] * 4}), Tagger({"rock": [1] * 4})], TEXT, least=4, most=10)
    assert alone == {
        "default": {"ari": None, "ari with torn": None, "v_measure": None, "senses": None, "words": 0, "torn": 0,
                    "one_sense": 1}
    }  # fmt: skip


def test_two_seeds_are_trained_and_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from benchmarks.human.stability import main

    from muse.datasets import make_ambiguous_corpus

    monkeypatch.setenv("MUSE_CACHE", str(tmp_path / "cache"))
    text = tmp_path / "made.txt"
    made = make_ambiguous_corpus(2500, 300, seed=3)
    text.write_text("".join(" ".join(sentence) + "\n" for sentence in made.sentences), encoding="utf-8")
    out = tmp_path / "out" / "stability.jsonl"
    options = ["--corpus", str(text), "--dims", "16", "--senses", "2", "--least", "50", "--threads", "1"]
    for _ in range(2):
        record = main([*options, "--seeds", "1", "2", "--out", str(out)])
    assert record["default"]["words"] > 5
    assert 0.03 < record["default"]["ari"] < 1  # most of these words have one meaning, and two senses that are chance
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["default"] for line in lines] == [json.loads(json.dumps(lines[0]["default"]))] * 2
    assert capsys.readouterr().out.count('"record": "stability"') == 2
    same = main([*options, "--seeds", "1", "1"])
    assert same["default"]["ari"] == pytest.approx(1)
