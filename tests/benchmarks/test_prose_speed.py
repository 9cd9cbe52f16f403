"""The benchmark of sentence splitters counts what it says."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks import prose  # noqa: E402


def test_the_sentences_of_made_prose_are_found(capsys):
    texts = prose.made_prose(200)
    assert len(texts) == 40
    own = prose.splitters()["muse.corpus.SentenceSplitter"]
    speed, sentences = prose.measured(texts, own, most=100)
    assert speed > 0
    assert 5 <= sentences <= 100
    assert abs(own(texts) - 200) <= 4


def test_a_file_is_measured(tmp_path, capsys):
    (tmp_path / "a.txt").write_text("\n".join(prose.made_prose(20)))
    prose.main([str(tmp_path / "a.txt")])
    assert "| Prose, with reading |" in capsys.readouterr().out
