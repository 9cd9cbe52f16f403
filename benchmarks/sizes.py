"""What files of half the size cost: sizes, memory and scores of a model saved as float32, float16 and int8.

One model is trained and saved three times; each file is loaded and measured on all sets. Memory is that of a fresh
process that maps the file: of its own, and pages of the file, which processes share.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import common
from benchmarks.human.cells import Data
from muse import MUSE
from muse.files.model_file import DTYPES

COLUMNS = {
    "dtype": "numbers", "MB": "file, MB", "load ms": "opened, ms", "loaded own MB": "own MB then",
    "asked own MB": "own MB, asked", "asked file MB": "pages, MB", **{name: name for name in (
        "WordSim-353", "SimLex-999", "MEN", "SCWS MaxSimC", "SCWS AvgSimC", "WiC accuracy", "WiC usage, dev", "graded",
    )},
}  # fmt: skip
_ASK = """
import json, sys, time
from muse import MUSE, _core

def memory():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return [int(lines[name].split()[0]) / 1000 for name in ("RssAnon", "RssFile")]

before, start = memory(), time.perf_counter()
model = MUSE.load(sys.argv[1], mmap=True)
seconds, loaded = time.perf_counter() - start, memory()
word = model.wv.index_to_key[100]
model.sv.most_similar(f"{word}#{model.arrays.numbers_of(100)[0]}")
model.disambiguate([word] * 9)
asked = memory()
print(json.dumps({"load ms": 1000 * seconds, "loaded own MB": loaded[0] - before[0],
                  "asked own MB": asked[0] - before[0], "asked file MB": asked[1] - before[1]}))
"""


def asked(path: Path) -> dict[str, float]:
    """Time and memory of a fresh process that maps a model, searches neighbours and selects senses once."""
    done = subprocess.run([sys.executable, "-c", _ASK, str(path)], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def measure(model: MUSE, folder: Path, data: Data | None) -> list[dict[str, Any]]:
    """A row for each type; without `data` no scores."""
    rows = []
    for dtype in DTYPES:
        path = folder / dtype
        model.save(path, dtype=dtype)
        row = {"dtype": dtype, "MB": path.stat().st_size / 1e6, **asked(path)}
        if data is not None:
            row |= data.scores(MUSE.load(path, mmap=True, progress=False))
        rows.append(row)
        print(row, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser("python -m benchmarks.sizes", description=__doc__)
    common.add_arguments(parser)
    parser.add_argument("--vector-size", type=common.at_least(1), default=100)
    arguments = parser.parse_args()
    text = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    folder = common.results_dir(arguments)
    settings = {"vector_size": arguments.vector_size, "workers": arguments.workers, "seed": 1}
    model = MUSE(corpus_file=text, progress=False, **settings)
    with tempfile.TemporaryDirectory() as temporary:
        rows = measure(model, Path(temporary), Data())
    table = common.markdown_table(rows, COLUMNS)
    print(f"\n{table}")
    if folder is not None:
        found = {**common.stamp("python -m benchmarks.sizes", text=Path(arguments.corpus).name, **settings)}
        found |= {"words": len(model), "senses": model.arrays.n_senses, "rows": rows}
        common.write_page(folder, "sizes", f"{table}\n", found)


if __name__ == "__main__":
    common.command(main)
