"""Real text: what the defaults and each of the paper's strategies make of it.

Trains on a text in which pairs of words are merged into pseudo-words, with every strategy under the paper's recipe and
on this package's start (see benchmarks/paper/recipes.py), and reports speed, sense use and how well the selected senses
recover the merged words. They stand between the majority sense, k-means of contexts, and a supervised bound. The
neighbours of ten ambiguous words come from the defaults on the text as it is.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.paper.recipes import STRATEGIES, Scale, grid, recipe, title
from muse import MUSE
from muse.corpus.encoding import encode_corpus
from muse.evaluation import PseudoWordTask
from muse.evaluation.bounds import k_means, one_thread

WORDS = ("head", "tie", "bank", "cell", "spring", "rock", "apple", "java", "current", "match")
COLUMNS = {
    "name": "model",
    "v_measure": "V",
    "ari": "ARI",
    "purity": "purity",
    "effective_senses": "senses used by pseudo-words",
    "senses_used": "by all words",
    "collapsed": "pseudo-words collapsed",
    "collapsed_words": "all words collapsed",
    "ktokens_per_second": "10³ tokens/s",
}

NOTE = """\
V, ARI and purity are means over pseudo-words. *Senses used* is exp of the entropy of a word's senses; *collapsed* the
share of words with one sense above 95%. Many senses used can be a random split: read it with V."""


def use_of(model: MUSE) -> dict[str, Any]:
    """Speed and sense use in the last epoch of training."""
    row = model.history[-1]
    return {
        "ktokens_per_second": row["tokens_per_second"] / 1e3,
        "senses_used": row["senses_used"],
        "collapsed_words": row["collapsed"],
        "context_norm": row["context_norm"],
        "selection_norm": row["selection_norm"],
        "reward": row["reward"],
    }


def cards(model: MUSE, topn: int = 8) -> list[dict[str, Any]]:
    """The cards of `WORDS`, as plain values."""
    found = []
    for word in WORDS:
        if word not in model:
            found.append({"word": word, "count": 0, "senses": []})
            continue
        card = model.describe(word, topn)
        senses = [
            {"share": sense.share, "neighbours": [key for key, _ in sense.neighbours],
             "collocates": [key for key, _ in sense.collocates]}
            for sense in card.senses
        ]  # fmt: skip
        found.append({"word": word, "count": card.count, "senses": senses})
    return found


def context_clusters(model: MUSE, task: PseudoWordTask, clusters: int, seed: int = 0) -> NDArray[np.int64]:
    """A cluster for each occurrence: k-means, word by word, of the very contexts that the model's selector sees."""
    _, corpus = encode_corpus(task.sentences, vocab=model.vocabulary)
    known = [np.cumsum([word in model for word in sentence]) for sentence in task.sentences]
    places = np.fromiter(
        (corpus.offsets[s] + known[s][p] - 1 for s, p in zip(*task.occurrences[1:3], strict=True)), np.int64
    )
    contexts = common.selector_contexts(model, corpus, places)
    contexts /= np.maximum(np.linalg.norm(contexts, axis=1, keepdims=True), 1e-9)
    chosen = np.full(len(places), -1, np.int64)
    with one_thread():
        for word, mine in zip(task.words, task.by_word(), strict=True):
            if word in model:
                chosen[mine] = k_means(contexts[mine], clusters, seed)
    return chosen


def measure(
    text: common.PseudoWords, scale: Scale, strategies: Sequence[str], workers: int, seed: int
) -> list[dict[str, Any]]:
    """A row for each model and baseline."""
    rows: list[dict[str, Any]] = []
    for name, strategy in grid(strategies):
        start = time.perf_counter()
        model = MUSE(corpus_file=text.corpus, **recipe(name, strategy, scale, seed=seed, workers=workers))
        row = {"name": title(name, strategy), "recipe": name, "strategy": strategy, **use_of(model)}
        row["train_seconds"] = time.perf_counter() - start
        if name == "word":
            bounds = text.task.baselines(model.wv)
            rows += [{**line, "name": f"{line['method']} (word2vec, window 5)"} for line in bounds.table]
            row.update(text.task(model).summary)
        else:
            row.update(text.task(model).summary)
            row["cards"] = cards(model)
        if name == "default":
            for k in (2, 3):
                found = text.task.score(context_clusters(model, text.task, k)).summary
                rows.append({"name": f"k-means {k} of the default selector's contexts", **found})
        rows.append(row)
        print(row["name"], {key: round(row[key], 3) for key in ("v_measure", "senses_used", "collapsed")}, flush=True)
    return rows


def page(result: dict[str, Any]) -> str:
    """The markdown page: scores, then cards."""
    settings, machine = result["settings"], result["machine"]
    listed = ", ".join(f"{name} {value}" for name, value in settings.items())
    rows = [{name: row.get(name) for name in COLUMNS} for row in result["table"]]
    head = f"`{result['command']}`, {result['date']}: {listed}. {machine['cpu']}, {machine['cores']} cores"
    parts = [
        "# Real text",
        f"{head}, load before {machine['load_before']}.",
        common.markdown_table(rows, COLUMNS),
        NOTE,
    ]
    parts.append(f"## Ten ambiguous words, default settings, seed {settings['seed']}")
    for card in result["cards"]:
        lines = [f"**{card['word']}**, {card['count']:,} uses", ""]
        lines += [f"- {sense['share']:.0%}: {', '.join(sense['neighbours'])}" for sense in card["senses"]]
        parts.append("\n".join(lines if card["senses"] else [f"**{card['word']}**: not in the vocabulary"]))
    return "\n\n".join(parts) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_text", description=__doc__.split("\n", 1)[0])
    common.add_arguments(parser)
    parser.add_argument("--vector-size", type=common.at_least(1), default=100)
    parser.add_argument("--negative", type=common.at_least(1), default=5)
    parser.add_argument("--epochs", type=common.at_least(1), default=5)
    parser.add_argument("--pairs", type=common.at_least(1), default=80, help="pseudo-words")
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=list(STRATEGIES), help="default: all")
    parser.add_argument("--seed", type=common.at_least(0), default=1)
    arguments = parser.parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale = Scale(arguments.vector_size, arguments.negative, arguments.epochs, 1)
    head = common.stamp(
        "python -m benchmarks.real_text", corpus=Path(arguments.corpus).name, limit_tokens=arguments.limit_tokens,
        vector_size=scale.vector_size, negative=scale.negative, epochs=scale.epochs, pseudo_words=arguments.pairs,
        seed=arguments.seed, workers=arguments.workers,
    )  # fmt: skip
    text = common.pseudo_word_corpus(corpus, arguments.pairs, seed=arguments.seed, exclude=WORDS)
    rows = measure(text, scale, arguments.strategies, arguments.workers, arguments.seed)
    plain = recipe("default", None, scale, seed=arguments.seed, workers=arguments.workers)
    model = MUSE(corpus_file=corpus, **plain)
    result = {**head, "table": rows, "plain_text": use_of(model), "cards": cards(model)}
    written = page(result)
    print(written)
    folder = common.results_dir(arguments)
    if folder is not None:
        common.write_page(folder, "real_text", written, result)


if __name__ == "__main__":
    common.command(main)
