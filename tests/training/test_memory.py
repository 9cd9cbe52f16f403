"""What `estimate_memory` says of a training with sense trees is what it takes, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from muse import MUSE, Engine, NotTrainedError, Split, Trees

_MEASURE = """
import json, sys, threading, time
from pathlib import Path
from muse import MUSE

def taken():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

def watch():
    global most
    while True:
        most = max(most, taken())
        time.sleep(0.003)

most = 0
threading.Thread(target=watch, daemon=True).start()
model = MUSE(vector_size=300, min_count=1, epochs=1, workers=2, max_ram=1)
model.build_vocab(corpus_file=sys.argv[1])
estimate = model.estimate_memory()
model.train()
print(json.dumps({"most": most, "estimate": estimate, "senses": model.arrays.n_senses, "words": len(model)}))
"""


def test_the_estimate_is_near_the_most_that_is_taken(tmp_path):
    if not Path("/proc/self/status").exists() or "RssAnon" not in Path("/proc/self/status").read_text():
        pytest.skip("the system does not say how much memory a process takes")
    ranks = np.exp(np.random.default_rng(0).random((10_000, 20)) * 10.8).astype(int)  # many rare words
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(map(str, row)) for row in ranks))
    command = [sys.executable, "-c", _MEASURE, str(text)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert found["senses"] > found["words"] > 20_000
    assert 0.95 < found["estimate"]["total"] / found["most"] < 1.25


def test_what_growing_takes_counts_where_it_is_more_than_the_senses():
    few, many = (MUSE(vector_size=100, min_count=count).estimate_memory(500_000) for count in (1, 50))
    assert few["growing"] == 0
    assert many["growing"] > 10_000_000  # the uses of frequent words, before the senses are made
    assert many["trees"] > few["trees"]


def test_two_threads_that_copy_rows_count_unless_the_trees_take_more():
    trees = MUSE(workers=2, recipe=Trees(engine=Engine(group_size=1))).estimate_memory(200_000)
    assert "row_copies" not in trees
    assert MUSE(workers=2, recipe=Split(engine=Engine(group_size=1))).estimate_memory(200_000)["row_copies"] > 0


def test_without_a_vocabulary_the_error_says_what_to_give():
    with pytest.raises(NotTrainedError, match="vocab_size="):
        MUSE().estimate_memory()
