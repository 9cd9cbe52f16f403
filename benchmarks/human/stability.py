"""Do two seeds find the same senses? Two models of one text, and how far their senses of the same uses agree.

Words that both know are tagged in a part of the text by both models, at the default cut and at the leaves of the trees.
Of each word with enough uses there, the two partitions of its uses are compared: adjusted Rand index and V-measure, 0
by chance and 1 for the same senses, whatever their numbers. A line of JSON is printed, and added to `--out`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from muse import MUSE
from muse.corpus.encoding import LineSentence
from muse.evaluation import clustering

__all__ = ["agreement", "compare", "main", "tags"]

LEAVES = 1000  # more than any word has: a cut at the leaves


def head(sentences: Iterable[list[str]], tokens: int) -> list[list[str]]:
    """The first sentences, of so many tokens."""
    found, count = [], 0
    for sentence in sentences:
        found.append(sentence)
        count += len(sentence)
        if count >= tokens:
            break
    return found


def tags(model: MUSE, sentences: Sequence[list[str]], words: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """The senses of all uses of some words, in the order of the text."""
    wanted, found = set(words), defaultdict[str, list[int]](list)
    for sentence, chosen in zip(sentences, model.disambiguate_batch(sentences), strict=True):
        for word, sense in zip(sentence, chosen.tolist(), strict=True):
            if word in wanted:
                found[word].append(sense)
    return {word: np.asarray(senses, dtype=np.int64) for word, senses in found.items()}


def agreement(first: dict[str, NDArray[np.int64]], second: dict[str, NDArray[np.int64]]) -> dict[str, Any]:
    """Mean agreement over the words to which both models give more than one sense.

    Parameters
    ----------
    first, second : dict of str to int64 (n,)
        The senses of the n uses of each word.

    Returns
    -------
    dict
        ``ari`` and ``v_measure``, the number of ``words`` they are the mean of, and the mean ``senses`` of these words.
        ``one_sense`` words have one sense in both, and ``torn`` ones in one of the two only: ARI and V are 0 there, and
        ``ari with torn`` counts them.
    """
    pairs = [(first[word], second[word]) for word in first.keys() & second.keys()]
    several = [(len(np.unique(a)) > 1, len(np.unique(b)) > 1) for a, b in pairs]
    both = [pair for pair, one in zip(pairs, several, strict=True) if all(one)]
    torn = sum(a != b for a, b in several)
    rand = [clustering.adjusted_rand(a, b) for a, b in both]
    return {
        "ari": _mean(rand),
        "ari with torn": _mean([*rand, *[0.0] * torn]),
        "v_measure": _mean([clustering.v_measure(a, b)[2] for a, b in both]),
        "senses": _mean([len(np.unique(one)) for pair in both for one in pair]),
        "words": len(both),
        "torn": torn,
        "one_sense": len(pairs) - len(both) - torn,
    }


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def compare(models: Sequence[MUSE], sentences: Sequence[list[str]], least: int, most: int) -> dict[str, Any]:
    """The agreement of two models at each cut, over at most `most` words with at least `least` uses in the text."""
    counts = Counter(chain.from_iterable(sentences))
    known = sorted(word for word, n in counts.items() if n >= least and all(word in model for model in models))
    words = [known[i] for i in sorted(np.random.default_rng(0).permutation(len(known))[:most])]
    found: dict[str, Any] = {}
    for name in _cuts(models):
        found[name] = agreement(*(tags(model, sentences, words) for model in models))
    return found


def _cuts(models: Sequence[MUSE]) -> Iterator[str]:
    """Cuts the models as each name says while it is the turn of that."""
    yield "default"
    try:
        for model in models:
            model.recut(senses=LEAVES)
    except (AttributeError, ValueError):  # there are no trees to cut
        return
    yield "leaves"


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    parser = argparse.ArgumentParser("python -m benchmarks.human.stability", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--corpus", required=True, metavar="FILE", help="a text, one sentence a line")
    parser.add_argument("--tokens", type=common.at_least(0), default=0, metavar="N", help="the first N only; 0: all")
    parser.add_argument("--dims", type=common.at_least(1), default=100, metavar="D")
    parser.add_argument("--seeds", nargs=2, type=common.at_least(0), default=[1, 2], metavar=("A", "B"))
    parser.add_argument("--senses", type=common.at_least(1), help="of a word; by default the recipe's own")
    parser.add_argument("--tagged", type=common.at_least(1), default=4_000_000, metavar="N", help="tokens compared")
    parser.add_argument("--least", type=common.at_least(2), default=100, help="uses of a word among these")
    parser.add_argument("--words", type=common.at_least(1), default=2000, help="at most so many, drawn at random")
    parser.add_argument("--threads", type=common.at_least(1), default=None)
    parser.add_argument("--out", type=common.out_file, help="a file that the line is added to")
    options = parser.parse_args(arguments)
    text = common.plain_corpus(options.corpus, options.tokens)
    own = {"senses": options.senses, "workers": options.threads}
    given = {name: value for name, value in own.items() if value is not None}
    start = time.perf_counter()
    models = [
        MUSE(corpus_file=text, vector_size=options.dims, seed=seed, progress=False, **given) for seed in options.seeds
    ]
    seconds = time.perf_counter() - start
    found = compare(models, head(LineSentence(text), options.tagged), options.least, options.words)
    record = {
        "record": "stability", "text": Path(options.corpus).name.split(".")[0], "digest": common.digest(text),
        "tokens": options.tokens, "dims": options.dims, "seeds": options.seeds, "senses": options.senses,
        "tagged": options.tagged, "least": options.least, "seconds": seconds, "machine": common.machine(), **found,
    }  # fmt: skip
    line = json.dumps(common.plain(record), ensure_ascii=False)
    print(line)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        with options.out.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
    return record


if __name__ == "__main__":
    common.command(main)
