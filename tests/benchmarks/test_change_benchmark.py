"""The benchmark of injected change: what it puts in is what it says, and the run is whole on a small text."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from benchmarks import change
from muse.datasets import make_ambiguous_corpus

SENTENCES = make_ambiguous_corpus(4000, 300, seed=0).sentences


def test_shares_are_as_planned() -> None:
    words = change.plan(Counter(word for sentence in SENTENCES for word in sentence), 10, 1, (30, 400))
    assert {word.kind for word in words} == {"even", "uneven", "control even", "control uneven"}
    counts = Counter(word for sentence in SENTENCES for word in sentence)
    for word in words:
        uses = word.kept * [counts[member] for member in word.members]
        share = uses[:, 0] / uses.sum(axis=1)
        if word.kind.startswith("control"):
            assert share[0] == pytest.approx(share[1])
            assert min(uses.sum(axis=1)) / max(uses.sum(axis=1)) == pytest.approx(change.CONTROL_KEPT)
        else:
            assert abs(share[0] - share[1]) > 0.15
    slices, truth = change.inject(SENTENCES, words, 5, 1)
    assert sum(map(len, slices.values())) == len(SENTENCES)
    for sentences, members in zip(slices.values(), truth, strict=True):
        found = Counter(token for sentence in sentences for token in sentence)
        for word in words:
            assert found[word.name] == len(members[word.name]) > 0


def test_auc() -> None:
    assert change.auc({"a": 1.0, "b": 0.5, "c": 0.5}, ["a", "b"], ["c"]) == 0.75
    assert change.auc({"a": 1.0}, ["a"], ["c"]) is None


def test_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("scipy")
    text, out = tmp_path / "text.txt", tmp_path / "out.jsonl"
    text.write_text("\n".join(map(" ".join, SENTENCES)), encoding="utf-8")
    change.main([str(text), "--seeds", "1", "--pairs", "8", "--counts", "30", "400", "--dim", "16", "--epochs", "1",
                 "--measures", "jsd", "--aligned", "--out", str(out)])  # fmt: skip
    row = json.loads(out.read_text(encoding="utf-8"))
    assert row["measures"]["jsd"]["null"]["words"] > 10
    assert 0 <= row["word2vec + Procrustes"]["auc"] <= 1
    assert all(0 <= np.mean(word["recovered"]) <= 1 for word in row["words"])
    assert '"seed": 1' in capsys.readouterr().out
