"""Change that is known because it was put in: are shares over time recovered, and is change told from frequency?

A text is cut in blocks of sentences, which go to two slices by chance. Pairs of words are merged, and the shares of
the members differ between the slices by known amounts: of a member that is to be rarer some uses are left unmerged.
Controls are pairs whose shares stay and of which one slice has a fraction of the uses. All other words are the null:
nothing but chance has changed them. Each row of results/change.jsonl is one seed.

    python -m benchmarks.change first.txt --seeds 1 2 3
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from muse import MUSE
from muse.change import TemporalMUSE
from muse.change.asking import resampled
from muse.change.slices import Source, encoded, senses_of
from muse.corpus.encoding import LineSentence
from muse.evaluation import draw_pairs

OUT = common.RESULTS / "change.jsonl"
SHIFTS = {  # shares of the first member in both slices
    "even": [(0.6, 0.4), (0.7, 0.3), (0.8, 0.2), (0.9, 0.1)],
    "uneven": [(0.95, 0.75), (0.9, 0.6), (1.0, 0.7), (0.95, 0.5)],
}
PARTED = 0.9  # of the uses of a merged word are of the member that most of their sense are of
CONTROL_KEPT = 0.25  # of the uses of a control in one of the slices


class Word(NamedTuple):
    """A merged word: its members, and in each slice the share of the uses of each that are merged."""

    name: str
    members: tuple[str, str]
    kind: str  # "even", "uneven", "control even", "control uneven"
    kept: NDArray[np.float64]  # (slices, members)


def plan(counts: Counter[str], pairs: int, seed: int, span: Sequence[int] = (400, 4000)) -> list[Word]:
    """Which words are merged, and how."""
    found = draw_pairs(counts, pairs, min_count=span[0], max_count=span[1], seed=seed)
    rng = np.random.default_rng(seed)
    words = []
    for place in rng.permutation(len(found)).tolist():
        members = found[place]
        shape = ("even", "uneven")[len(words) % 2]
        moved = (len(words) // 2) % 5 < 3
        share = np.array(SHIFTS[shape][(len(words) // 10) % 4])
        if not moved:
            share[:] = 0.5 if shape == "even" else 0.85
        kept = np.stack([share, 1 - share], axis=1)
        kept /= np.array([counts[member] for member in members])
        kept /= kept.max()
        if not moved:
            kept[int(rng.integers(2))] *= CONTROL_KEPT
        elif rng.random() < 0.5:
            kept = kept[::-1]
        kind = shape if moved else f"control {shape}"
        words.append(Word("_".join(members), members, kind, kept))
    return words


def inject(
    sentences: Sequence[Sequence[str]], words: Sequence[Word], block: int, seed: int
) -> tuple[dict[str, list[list[str]]], list[dict[str, list[int]]]]:
    """Both slices with merged words, and the member of each of their uses, in the order of the text."""
    rng = np.random.default_rng(seed)
    of = {member: (word, place) for word in words for place, member in enumerate(word.members)}
    slices: tuple[list[list[str]], list[list[str]]] = ([], [])
    truth: list[dict[str, list[int]]] = [{word.name: [] for word in words} for _ in slices]
    for first in range(0, len(sentences), block):
        side = int(rng.integers(2))
        for sentence in sentences[first : first + block]:
            tokens = list(sentence)
            for at, token in enumerate(tokens):
                if token in of:
                    word, member = of[token]
                    if rng.random() < word.kept[side, member]:
                        tokens[at] = word.name
                        truth[side][word.name].append(member)
            slices[side].append(tokens)
    return {"first": slices[0], "second": slices[1]}, truth


def shares(model: TemporalMUSE, slices: dict[str, Any], truth: Any, words: Sequence[Word]) -> list[dict[str, Any]]:
    """True, tagged and recovered shares of the first member of each merged word in each slice.

    A sense stands for the member that most of its uses are of, over both slices; how many uses these are is how well
    the trees part the members. Intervals are those of `TemporalMUSE.shares`, of these senses together.
    """
    snapshot = model.model.snapshot
    arrays, vocabulary = snapshot.arrays, snapshot.vocabulary
    index = {word.name: vocabulary.index(word.name) for word in words if word.name in vocabulary}
    tagged: list[dict[str, NDArray[np.int64]]] = []
    for name, sentences in slices.items():
        corpus = encoded(Source(sentences, name), snapshot, name)
        rows, tokens = senses_of(snapshot, corpus), corpus.tokens
        order = np.argsort(tokens, kind="stable")
        starts = np.searchsorted(tokens[order], np.arange(arrays.n_words + 1))
        tagged.append({word: rows[order[starts[i] : starts[i + 1]]] for word, i in index.items()})
    found = []
    for word in (word for word in words if word.name in index):
        row = index[word.name]
        senses, errors = arrays.rows_of(row), model._errors(row)
        table = np.zeros((2, senses.stop - senses.start, 2))  # slice, sense, member
        for side in (0, 1):
            np.add.at(table[side], (tagged[side][word.name] - senses.start, truth[side][word.name]), 1)
        is_first = table.sum(axis=0)[:, 0] >= table.sum(axis=0)[:, 1]
        uses = table.sum(axis=(1, 2))
        draws = [
            resampled(one.counts.table(senses), errors, 400, seed=0)[:, is_first].sum(axis=1)
            for one in model._slices.values()
        ]
        found.append({
            "word": word.name, "kind": word.kind, "uses": uses.astype(int).tolist(),
            "parted": float(table.sum(axis=0).max(axis=1).sum() / table.sum()),
            "true": (table[:, :, 0].sum(axis=1) / uses).tolist(),
            "tagged": (table[:, is_first].sum(axis=(1, 2)) / uses).tolist(),
            "recovered": errors.shares(table.sum(axis=2))[:, is_first].sum(axis=1).tolist(),
            "interval": [np.quantile(draw, [0.025, 0.975]).tolist() for draw in draws],
        })  # fmt: skip
    return found


def errors_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """How far shares are off, as tagged and as recovered, and how many are in their intervals."""
    true, tagged, recovered = (np.array([row[name] for row in rows]) for name in ("true", "tagged", "recovered"))
    low, high = np.moveaxis(np.array([row["interval"] for row in rows]), 2, 0)
    parted = np.array([row["parted"] for row in rows]) > PARTED
    error, shift = np.abs(recovered - true), np.diff(true, axis=1)
    found = {
        "words": len(rows), "share": error.mean(), "share, median": np.median(error),
        "share, well parted": error[parted].mean() if parted.any() else None, "words, well parted": int(parted.sum()),
        "share as tagged": np.abs(tagged - true).mean(),
        "difference": np.abs(np.diff(recovered, axis=1) - shift).mean(),
        "difference as tagged": np.abs(np.diff(tagged, axis=1) - shift).mean(),
        "slope": (np.diff(recovered, axis=1) * shift).sum() / (shift**2).sum(),
        "slope as tagged": (np.diff(tagged, axis=1) * shift).sum() / (shift**2).sum(),
        "in interval": ((true >= low) & (true <= high)).mean(),
    }  # fmt: skip
    return {name: None if value is None else round(float(value), 4) for name, value in found.items()}


def auc(scores: dict[str, float], positive: Sequence[str], negative: Sequence[str]) -> float | None:
    """Probability that a changed word is above a control; ties count half."""
    a = np.array([scores[word] for word in positive if word in scores])
    b = np.array([scores[word] for word in negative if word in scores])
    if not len(a) or not len(b):
        return None
    above = (a[:, None] > b).mean() + (a[:, None] == b).mean() / 2
    return round(float(above), 4)


def aligned_distance(slices: dict[str, Any], settings: dict[str, Any], words: Sequence[str]) -> dict[str, float]:
    """The usual way: word vectors trained on each slice apart, turned onto each other, and their distance."""
    from muse.change import align

    one, two = (MUSE(sentences, senses=1, **settings) for sentences in slices.values())
    alignment = align(one, two)
    known = [word for word in words if word in one and word in two]
    return {word: 1 - alignment.similarity(word) for word in known}


def null_rates(rows: Sequence[dict[str, Any]], touched: set[str]) -> dict[str, float]:
    """Of words that nothing but chance changed: how many are called changed."""
    p = np.array([row["p"] for row in rows if row["word"] not in touched])
    called = [row["changed"] for row in rows if row["word"] not in touched]
    if not len(p):
        return {"words": 0}
    return {
        "words": len(p), "p<=.05": round(float((p <= 0.05).mean()), 4), "p<=.01": round(float((p <= 0.01).mean()), 4),
        "false discoveries": int(np.sum(called)),
    }  # fmt: skip


def made(slices: dict[str, Any], args: argparse.Namespace, settings: dict[str, Any], seed: int) -> TemporalMUSE:
    """A model of the slices; its compass is kept in a folder, and taken from there, where one is named."""
    kept = None if args.keep is None else args.keep / f"seed{seed}.muse"
    if kept is not None and kept.exists():
        return TemporalMUSE(slices, model=MUSE.load(kept), block=args.block)
    model = TemporalMUSE(slices, block=args.block, **settings)
    if kept is not None:
        model.model.save(kept)
    return model


def shuffled(model: TemporalMUSE, slices: dict[str, Any], block: int, seed: int) -> dict[str, float]:
    """The same compass on the same text, whose blocks go to slices anew by chance: nothing has changed in any word."""
    rng = np.random.default_rng([seed, 1])
    sides: dict[str, list[list[str]]] = {"first": [], "second": []}
    for sentences in slices.values():
        for first in range(0, len(sentences), block):
            sides[("first", "second")[int(rng.integers(2))]].extend(sentences[first : first + block])
    again = TemporalMUSE(sides, model=model.model, block=block)
    return null_rates(again.change("jsd").rows, set())


def run(sentences: Sequence[Sequence[str]], args: argparse.Namespace, seed: int) -> dict[str, Any]:
    """One seed."""
    counts: Counter[str] = Counter(token for sentence in sentences for token in sentence)
    words = plan(counts, args.pairs, seed, args.counts)
    slices, truth = inject(sentences, words, args.block, seed)
    settings: dict[str, Any] = {"vector_size": args.dim, "seed": seed, "epochs": args.epochs}
    started = time.perf_counter()
    model = made(slices, args, settings, seed)
    seconds = time.perf_counter() - started
    recovered = shares(model, slices, truth, words)
    changed = [word.name for word in words if not word.kind.startswith("control")]
    controls = [word.name for word in words if word.kind.startswith("control")]
    touched = {*changed, *controls, *(member for word in words for member in word.members)}
    result: dict[str, Any] = {
        "seed": seed, "tokens": sum(counts.values()), "dim": args.dim, "epochs": args.epochs, "block": args.block,
        "pairs": len(words), "seconds": round(seconds, 1), "error": {}, "measures": {},
    }  # fmt: skip
    for kind in sorted({word.kind for word in words}):
        result["error"][kind] = errors_of([row for row in recovered if row["kind"] == kind])
    for measure in args.measures:
        started = time.perf_counter()
        table = model.change(measure)
        named = {row["word"]: row for row in table}
        result["measures"][measure] = {
            "auc": auc(table.scores(), changed, controls),
            "auc, value alone": auc({word: row["value"] for word, row in named.items()}, changed, controls),
            "changed found": round(float(np.mean([named[w]["changed"] for w in changed if w in named])), 4),
            "controls called changed": round(float(np.mean([named[w]["changed"] for w in controls if w in named])), 4),
            "controls p<=.05": round(float(np.mean([named[w]["p"] <= 0.05 for w in controls if w in named])), 4),
            "null": null_rates(table.rows, touched), "seconds": round(time.perf_counter() - started, 1),
        }  # fmt: skip
    if args.measures:
        result["shuffled"] = shuffled(model, slices, args.block, seed)
    if args.aligned:
        started = time.perf_counter()
        distance = aligned_distance(slices, settings, [*changed, *controls])
        result["word2vec + Procrustes"] = {
            "auc": auc(distance, changed, controls), "seconds": round(time.perf_counter() - started, 1),
        }  # fmt: skip
    result["words"] = [
        {name: np.round(value, 3).tolist() if name not in ("word", "kind") else value for name, value in row.items()}
        for row in recovered
    ]
    return result


def first_tokens(path: Path, count: int | None) -> list[list[str]]:
    """The sentences of a text up to so many tokens."""
    found, held = [], 0
    for sentence in LineSentence(path):
        if count is not None and held >= count:
            break
        found.append(sentence)
        held += len(sentence)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the seeds and add a line for each as it comes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--counts", type=int, nargs=2, default=[400, 4000], help="of the words that are merged")
    parser.add_argument("--dim", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--block", type=int, default=20)
    parser.add_argument("--tokens", type=int, help="only the first so many, to the end of a sentence")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where trained compasses are kept for another run")
    parser.add_argument("--measures", nargs="*", default=["jsd", "cosine", "apd"])
    parser.add_argument("--aligned", action="store_true", help="compare with word vectors of each slice, aligned")
    parser.add_argument("--out", type=Path, default=OUT)
    args = parser.parse_args(arguments)
    sentences = first_tokens(args.text, args.tokens)
    for seed in args.seeds:
        row = {"text": args.text.name, **run(sentences, args, seed), "machine": common.machine()}
        with args.out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps({key: value for key, value in row.items() if key not in ("words", "machine")}, indent=1))


if __name__ == "__main__":
    main()
