"""Sense hygiene: how many senses of words with one meaning are duplicates, before and after merge_senses.

Trains with a fixed number of senses on a text in which pairs of words are merged into pseudo-words, so that some words
surely mean two things. Two kinds of words are then watched while senses are merged at several thresholds:

- control words, drawn at random from the same range of frequency: almost all of their senses are one and the same;
- pseudo-words: a merge of two senses that hold different members in three quarters of their uses is a mistake.
"""

from __future__ import annotations

import argparse
import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from muse import MUSE, Split
from muse.evaluation import PseudoWordTask
from muse.model.hygiene import SenseMap

THRESHOLDS = (0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
PURE, USES = 0.75, 20  # of a sense: share of its uses that one member holds, and least uses
COLUMNS = {
    "threshold": "threshold",
    "senses": "senses, all words",
    "control": "of a control word",
    "single": "control words with one sense",
    "pseudo": "of a pseudo-word",
    "right": "same-member pairs merged",
    "wrong": "different-member pairs merged",
    "v_measure": "V",
    "ari": "ARI",
    "purity": "purity",
}


def control_words(model: MUSE, task: PseudoWordTask, count: int, seed: int) -> list[str]:
    """Words as frequent as the pseudo-words' members, drawn at random."""
    merged = [word for word in task.words if word in model]
    counts = np.array([model.vocabulary.counts[model.vocabulary[word]] for word in merged]) // 2
    fitting = (model.vocabulary.counts >= counts.min()) & (model.vocabulary.counts <= counts.max())
    words = [model.vocabulary.words[i] for i in np.flatnonzero(fitting)]
    words = [word for word in words if word.isalpha()]  # pseudo-words have a joiner in them
    return [words[i] for i in np.random.default_rng(seed).permutation(len(words))[:count]]


def members(task: PseudoWordTask, chosen: NDArray[np.int64], senses: int) -> dict[str, NDArray[np.int64]]:
    """Uses of each sense of each pseudo-word by true member, (K, 2)."""
    tables = {}
    for word, places in zip(task.words, task.by_word(), strict=True):
        table = np.zeros((senses, 2), np.int64)
        known = places[chosen[places] >= 0]
        np.add.at(table, (chosen[known], task.occurrences.truth[known]), 1)
        tables[word] = table
    return tables


def merged_pairs(tables: dict[str, NDArray[np.int64]], senses: SenseMap) -> dict[str, float]:
    """Of the pairs of senses that hold the same member, and of those that hold different ones: the share merged."""
    merged: dict[bool, list[bool]] = {True: [], False: []}
    for word, table in tables.items():
        uses = table.sum(axis=1)
        pure = np.flatnonzero((uses >= USES) & (table.max(axis=1) >= PURE * uses)).tolist()
        for i, first in enumerate(pure):
            for second in pure[:i]:
                same = bool(table[first].argmax() == table[second].argmax())
                merged[same].append(senses[word, first] == senses[word, second])
    return {"right": float(np.mean(merged[True] or [0])), "wrong": float(np.mean(merged[False] or [0]))}


def measure(model: MUSE, task: PseudoWordTask, control: Sequence[str], most: int) -> list[dict[str, Any]]:
    """A row before any merge, and one for each threshold."""
    tables = members(task, task.select(model), most)
    rows = []
    for threshold in (None, *THRESHOLDS):
        cleaned = copy.copy(model)  # merging makes new arrays, so the model keeps its own
        row: dict[str, Any] = {"threshold": "none" if threshold is None else threshold}
        if threshold is not None:
            row |= merged_pairs(tables, cleaned.merge_senses(threshold))
        row["senses"] = cleaned.arrays.n_senses
        row["control"] = float(np.mean([cleaned.n_senses(word) for word in control]))
        row["single"] = float(np.mean([cleaned.n_senses(word) == 1 for word in control]))
        row["pseudo"] = float(np.mean([cleaned.n_senses(word) for word in task.words if word in cleaned]))
        result = task(cleaned)
        rows.append(row | {name: result[name] for name in ("v_measure", "ari", "purity")})
    return rows


def main(argv: list[str] | None = None) -> None:
    """Train, merge, print a table, write it."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hygiene", description=__doc__.split("\n", 1)[0])
    common.add_arguments(parser)
    parser.add_argument("--senses", type=common.at_least(1), default=3)
    parser.add_argument("--vector-size", type=common.at_least(1), default=100)
    parser.add_argument("--epochs", type=common.at_least(1), default=5)
    parser.add_argument("--collocation", nargs="+", choices=("word", "sense"), default=["word", "sense"])
    parser.add_argument("--pairs", type=common.at_least(1), default=80, help="pseudo-words")
    parser.add_argument(
        "--control", type=common.at_least(1), default=300, help="words with one meaning, for the most part"
    )
    parser.add_argument("--seed", type=common.at_least(0), default=1)
    arguments = parser.parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    text = common.pseudo_word_corpus(corpus, arguments.pairs, seed=arguments.seed)
    settings = {name: getattr(arguments, name) for name in ("senses", "vector_size", "epochs", "seed")}
    result = common.stamp(
        "python -m benchmarks.hygiene", corpus=Path(arguments.corpus).name, limit_tokens=arguments.limit_tokens,
        pseudo_words=arguments.pairs, **settings,
    )  # fmt: skip
    pages = []
    for collocation in arguments.collocation:
        model = MUSE(
            corpus_file=text.corpus, workers=arguments.workers, recipe=Split(collocation=collocation), **settings
        )
        control = control_words(model, text.task, arguments.control, arguments.seed)
        rows = measure(model, text.task, control, arguments.senses)
        result[collocation] = rows
        pages.append(
            f"senses={arguments.senses}, collocation={collocation!r}\n\n{common.markdown_table(rows, COLUMNS)}\n"
        )
        print(pages[-1])
    folder = common.results_dir(arguments)
    if folder is not None:
        common.write_json(folder / "hygiene.json", result)
        title = f"# Senses before and after merging\n\n`{result['command']}`, {result['settings']}\n\n"
        (folder / "hygiene.md").write_text(title + "\n".join(pages), encoding="utf-8")


if __name__ == "__main__":
    common.command(main)
