"""With one sense a word this package is word2vec: its word vectors are as good as gensim's, within the noise of seeds.

Both train on the same text with the same settings and from vectors of the same length, several seeds each, and are
compared on WordSim-353, SimLex-999 and MEN. This package runs as word2vec does (every pair draws its own negatives),
with negatives shared by groups of targets, which is the default, and with more threads; and as it comes, with senses,
through its word-level view ``wv``. A difference from gensim
counts as noise where Welch's t-test over seeds does not reject equality at p < .01; with few seeds that is a weak
test, so differences are shown too. The exit status is 1 where this package is below by more than noise.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from muse import MUSE, Engine, Split
from muse.evaluation import SenseKeyedVectors, WordSimilarityTask

REFERENCE = "gensim"
SENSES = "muse, defaults, wv"
SIGNIFICANT = 0.01


def systems(workers: int) -> dict[str, dict[str, Any]]:
    """Name and settings of each system; gensim's are the same, less what it does not know."""
    found: dict[str, dict[str, Any]] = {
        REFERENCE: {"workers": 1},
        "muse, negatives of each pair": {"group_size": 1, "workers": 1},
        "muse, shared negatives": {"group_size": 16, "workers": 1},
        SENSES: {"workers": 1},
    }
    if workers > 1:
        found[f"muse, shared negatives, {workers} threads"] = {"group_size": 16, "workers": workers}
        found[f"gensim, {workers} threads"] = {"workers": workers}
    return found


def train(system: str, corpus: Path, settings: Mapping[str, Any]) -> Any:
    """A model to evaluate."""
    if system == SENSES:
        return MUSE(corpus_file=corpus, **settings)
    if not system.startswith(REFERENCE):
        own = dict(settings)
        scale = (3 * settings["vector_size"]) ** -0.5  # gensim starts from uniform numbers within ±1 / vector_size
        recipe = Split(initial_scale=scale, engine=Engine(group_size=own.pop("group_size")))
        return MUSE(corpus_file=corpus, senses=1, recipe=recipe, **own)
    from gensim.models import Word2Vec

    return SenseKeyedVectors.from_gensim(Word2Vec(corpus_file=str(corpus), sg=1, **settings))


def measure(
    corpus: Path,
    task: WordSimilarityTask,
    seeds: int,
    chosen: Mapping[str, dict[str, Any]],
    shared: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """One row for each run."""
    rows = []
    for seed in range(1, seeds + 1):
        for system, own in chosen.items():
            start = time.perf_counter()
            model = train(system, corpus, {**shared, **own, "seed": seed})
            seconds = time.perf_counter() - start
            found = task(model).summary
            scores = {name: found[f"{name} wv"] for name in task.data}
            rows.append({"system": system, "seed": seed, "seconds": seconds, **scores})
            print(
                system, seed, {name: round(value, 4) for name, value in scores.items()}, f"{seconds:.0f} s", flush=True
            )
    return rows


def earlier(path: Path, settings: Mapping[str, Any], chosen: Iterable[str]) -> list[dict[str, Any]]:
    """Runs of other systems from an earlier result with the same settings."""
    if not path.exists():
        return []
    found = json.loads(path.read_text(encoding="utf-8"))
    if found["settings"] != dict(settings):
        raise ValueError(f"{path} has other settings: {found['settings']}; run all systems, or name another --out")
    return [row for row in found["runs"] if row["system"] not in chosen]


def compare(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """For each system and data set mean, spread, the difference from gensim and whether it is noise."""
    from scipy.stats import ttest_ind

    table = []
    for system in dict.fromkeys(row["system"] for row in rows):
        for name in names:
            mine = [row[name] for row in rows if row["system"] == system]
            peer = [row[name] for row in rows if row["system"] == REFERENCE]
            line: dict[str, Any] = {
                "system": system, "data": name, "mean": float(np.mean(mine)), "rho": common.mean_sd(mine),
                "difference": float(np.mean(mine) - np.mean(peer)), "p": None, "within_noise": None,
            }  # fmt: skip
            if system != REFERENCE and len(mine) > 1:
                p = float(ttest_ind(mine, peer, equal_var=False).pvalue)  # not a number where nothing varies
                line["p"] = p if np.isfinite(p) else float(line["difference"] == 0)
                line["within_noise"] = bool(line["p"] >= SIGNIFICANT)
            table.append(line)
    return table


def page(result: dict[str, Any]) -> str:
    """The markdown page."""
    settings = result["settings"]
    columns = {"system": "system", "data": "data", "rho": "Spearman, mean ± sd", "difference": "to gensim",
               "p": "p", "within_noise": "within noise"}  # fmt: skip
    listed = ", ".join(f"{name} {value}" for name, value in settings.items())
    verdict = [line for line in result["table"] if line["within_noise"] is False]
    worse = [f"{line['system']} on {line['data']} ({line['difference']:+.3f})" for line in verdict]
    said = f"Beyond the noise of seeds (p < {SIGNIFICANT}): {'; '.join(worse)}." if worse else "All within seed noise."
    head = f"`{result['command']}`, {result['date']}: {listed}; gensim {result['machine']['gensim']}."
    return "\n\n".join(
        ["# One sense a word is word2vec", head, common.markdown_table(result["table"], columns), said, ""]
    )


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.word2vec_parity", description=__doc__.split("\n", 1)[0])
    common.add_arguments(parser)
    parser.add_argument("--seeds", type=common.at_least(1), default=3)
    parser.add_argument("--vector-size", type=common.at_least(1), default=100)
    parser.add_argument("--epochs", type=common.at_least(1), default=5)
    parser.add_argument(
        "--only", nargs="+", metavar="PART",
        help="run the systems whose name holds a PART; those of the others are kept from the results there are",
    )  # fmt: skip
    arguments = parser.parse_args(argv)
    folder = common.results_dir(arguments)
    chosen = {
        name: own
        for name, own in systems(arguments.workers).items()
        if not arguments.only or any(part in name for part in arguments.only)
    }
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    task = WordSimilarityTask(common.similarity_sets(), resamples=0)
    shared = {"vector_size": arguments.vector_size, "window": 5, "negative": 5, "sample": 1e-4, "min_count": 5,
              "alpha": 0.025, "min_alpha": 0.0001, "epochs": arguments.epochs}  # fmt: skip
    head = common.stamp(
        "python -m benchmarks.word2vec_parity", corpus=Path(arguments.corpus).name, limit_tokens=arguments.limit_tokens,
        seeds=arguments.seeds, **shared,
    )  # fmt: skip
    kept = earlier(folder / "word2vec_parity.json", head["settings"], chosen) if arguments.only and folder else []
    rows = kept + measure(corpus, task, arguments.seeds, chosen, shared)
    result = {**head, "table": compare(rows, list(task.data)), "runs": rows}
    text = page(result)
    print(text)
    if folder is not None:
        common.write_page(folder, "word2vec_parity", text, result)
    below = [line for line in result["table"] if line["within_noise"] is False and line["difference"] < 0]
    if any(line["system"].startswith("muse") for line in below):
        sys.exit("this package is below gensim by more than the noise of seeds")


if __name__ == "__main__":
    common.command(main)
