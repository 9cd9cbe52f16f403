"""The benchmark of a service measures what it says."""

from __future__ import annotations

import pytest

from benchmarks import service
from muse import MUSE
from muse.datasets import make_ambiguous_corpus

SMAPS = """7f0000000000-7f0000002000 r--s 00000000 08:01 42    /models/m.safetensors
Rss:                   8 kB
Pss:                   4 kB
Shared_Clean:          8 kB
Shared_Dirty:          0 kB
Private_Clean:         0 kB
Private_Dirty:         0 kB
VmFlags: rd mr me
7f0000002000-7f0000003000 rw-p 00000000 00:00 0
Rss:                   4 kB
Pss:                   4 kB
Private_Dirty:         4 kB
"""


def test_memory_is_that_of_the_process_and_of_its_file(tmp_path):
    (tmp_path / "smaps").write_text(SMAPS)
    found = service.memory_of("/models/m.safetensors", str(tmp_path / "smaps"))
    assert (found["Rss"], found["Pss"], found["Private_Dirty"]) == pytest.approx((0.012288, 0.008192, 0.004096))
    assert (found["file Rss"], found["file Pss"], found["file Private_Dirty"]) == pytest.approx((0.008192, 0.004096, 0))


def test_calls_are_asked_and_counted(tmp_path):
    sentences = make_ambiguous_corpus(1500, 200, seed=0).sentences
    (tmp_path / "text").write_text("".join(" ".join(sentence) + "\n" for sentence in sentences))
    model = MUSE(sentences, vector_size=12, min_count=2, epochs=1, workers=1)
    asked = service.questions(model, tmp_path / "text", 7)
    assert len(asked) == 7
    assert all(word in context.split() and model.n_senses(word) > 1 for word, context in asked)
    for ask in service.calls(model).values():
        found = service.percentiles(ask, asked, 2)
        assert 0 < found["p50_us"] <= found["p99_us"]
        assert found["cpu_us"] > 0
    seen: list[service.Question] = []
    assert service.rate(seen.append, asked, 2, 3) > 0
    assert sorted(seen) == sorted(asked * 6)
