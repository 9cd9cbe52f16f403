"""Make the model of this package from a text: one command, which also measures it and writes its table into README.md.

    python data/make.py --corpus wiki-40m.txt.xz

The text has one sentence a line, lower case, tokens between spaces. Evaluation sets are looked for in
``$MUSE_DATA/eval`` (benchmarks/README.md); without them there are no scores. With more than one thread the model is not
the same each time.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import zlib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))  # where benchmarks are

from benchmarks.human.cells import Data  # noqa: E402

from benchmarks import common  # noqa: E402
from muse import MUSE, Trees  # noqa: E402

PACKAGE = HERE / "muse_senses_wiki_en_small"
MODEL, ABOUT = PACKAGE / "wiki-en-small.safetensors", PACKAGE / "about.json"
SETTINGS: dict[str, Any] = {"vector_size": 64, "max_final_vocab": 20_100, "seed": 1}
TREES = {"kept_leaves": 4, "least_uses": 300, "order_size": 32}  # what a small file has room for
LARGEST = 15_000_000  # bytes
SHOWN = {
    "WordSim-353": "WordSim-353", "SimLex-999": "SimLex-999", "MEN": "MEN", "SCWS AvgSimC": "SCWS, AvgSimC",
    "SCWS MaxSimC": "SCWS, MaxSimC", "WiC usage, dev": "WiC (dev), accuracy by usage",
    "fuzzy_nmi": "SemEval-2013 13, fuzzy NMI", "fuzzy_b_cubed": "SemEval-2013 13, fuzzy B-cubed",
}  # fmt: skip
_TABLE = re.compile(r"(<!-- table -->\n).*(<!-- end -->)", re.DOTALL)


def made(corpus: Path, workers: int) -> MUSE:
    """The model."""
    start = time.perf_counter()
    model = MUSE(corpus_file=corpus, workers=workers, progress=False, recipe=Trees(**TREES), **SETTINGS)
    print(f"trained in {time.perf_counter() - start:.0f} s", flush=True)
    return model


def settings_of(model: MUSE) -> dict[str, Any]:
    """Those that are chosen here, as the model has them."""
    return {name: getattr(model.settings, name) for name in (*SETTINGS, *TREES, "epochs", "min_count", "window")}


def sizes(model: MUSE) -> dict[str, int]:
    """What the file of the model holds."""
    forest = model.snapshot.forest
    assert forest is not None
    raw = MODEL.read_bytes()
    return {
        "words": len(model), "senses": model.arrays.n_senses, "dimension": model.vector_size,
        "words with trees": int((forest.trees.n_leaves > 0).sum()), "finest senses": int(forest.trees.leaf_offset[-1]),
        "tokens trained on": model.corpus_total_words, "bytes": len(raw), "bytes, compressed": len(zlib.compress(raw)),
    }  # fmt: skip


def write_table(found: dict[str, Any]) -> None:
    """Put the figures between the marks in README.md."""
    rows = [{"what": what, "value": f"{value:,}"} for what, value in found["sizes"].items()]
    for key, name in SHOWN.items():
        if key in found["scores"]:
            rows.append({"what": name, "value": f"{found['scores'][key]:.3f} ({found['scores_float32'][key]:.3f})"})
    table = common.markdown_table(rows, {"what": "", "value": ""})
    page = HERE / "README.md"
    page.write_text(_TABLE.sub(rf"\1{table}\n\2", page.read_text(encoding="utf-8")), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser("python data/make.py", description=__doc__)
    common.add_arguments(parser)
    parser.add_argument("--keep", type=common.out_file, metavar="FILE", help="save the model in float32, too")
    parser.add_argument("--model", metavar="FILE", help="take this one, which --keep saved, in place of training one")
    arguments = parser.parse_args()
    if arguments.model:
        model = MUSE.load(arguments.model, progress=False)
    else:
        model = made(common.plain_corpus(arguments.corpus, arguments.limit_tokens), arguments.workers)
        if arguments.keep:
            model.save(arguments.keep)
    model.save(MODEL, dtype="int8")
    if MODEL.stat().st_size > LARGEST:
        raise ValueError(f"the file has {MODEL.stat().st_size:,} bytes, and may have {LARGEST:,}")
    found = {**common.stamp("python data/make.py", text=Path(arguments.corpus).name, **settings_of(model))}
    found |= {"sizes": sizes(model), "scores": {}, "scores_float32": {}}
    try:
        data = Data()
    except FileNotFoundError as error:
        print(f"no scores: {error}")
    else:
        found["scores"] = data.scores(MUSE.load(MODEL, progress=False))
        found["scores_float32"] = data.scores(model)
    common.write_json(ABOUT, found)
    write_table(found)
    print(common.plain(found["sizes"]))


if __name__ == "__main__":
    common.command(main)
