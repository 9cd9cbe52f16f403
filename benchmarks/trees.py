"""Sense trees to be read: trains on a text and prints the trees of forty words, thirty with several meanings.

For each word stand its tree, with the share of each node, how widely its parts are joined, and the nearest words of its
vector; and, in a table, how wide the widest join is, how many senses it gets, and how near the nearest two of these are
to each other (senses that are twins).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.real_text import WORDS
from muse import MUSE
from muse.base.numeric import unit_rows

SEVERAL = (*WORDS, "crane", "lead", "club", "court", "palm", "bass", "plant", "seal", "bat", "mouse", "note", "pitch",
           "draft", "organ", "pupil", "jam", "key", "trunk", "fan", "light")  # fmt: skip
ONE = ("oxygen", "france", "copper", "violin", "physics", "kilometre", "painter", "bicycle", "hospital", "january")
COLUMNS = {
    "word": "word",
    "count": "uses",
    "leaves": "leaves",
    "widest": "widest join",
    "senses": "senses",
    "auto": '`senses="auto"`',
    "nearest": "nearest two senses, cosine of their contexts",
    "shares": "shares",
}
NOTE = """\
A line of a tree is a node: its number under every cut, with a star for a sense of the default cut, its share of the
word's uses, how far apart its two parts are, and the senses of other words that are nearest to its vector."""


def card(model: MUSE, word: str, topn: int) -> dict[str, Any]:
    """What the page says of a word."""
    if word not in model:
        return {"word": word, "count": 0}
    tree = model.sense_tree(word, topn)
    found = {"word": word, "count": tree.count, "leaves": len(tree.leaves), "senses": len(tree.senses)}
    if tree.root is None or len(tree.nodes) == 1:
        return found
    rows = model.arrays.rows_of(model.vocabulary.index(word))
    return {
        **found,
        "widest": tree.nodes[tree.root].strength,
        "nearest": _nearest(model.arrays.selection_vectors[rows]),
        "shares": ", ".join(f"{tree.nodes[number].share:.0%}" for number in tree.senses),
        "tree": str(tree),
        "nodes": tree.to_dict()["nodes"],
    }


def _nearest(centroids: NDArray[np.float32]) -> float | None:
    """The largest cosine of two rows, None for one."""
    unit = unit_rows(centroids)
    return max((float(a @ b) for a, b in combinations(unit, 2)), default=None)


def cards(model: MUSE, topn: int) -> list[dict[str, Any]]:
    """What the page says of all words; the model is cut as the evidence says afterwards."""
    found = [card(model, word, topn) for word in (*SEVERAL, *ONE)]
    model.recut(senses="auto")
    return [{**one, "auto": model.n_senses(one["word"])} if one["count"] else one for one in found]


def page(result: dict[str, Any]) -> str:
    """The trees as Markdown."""
    settings, machine = result["settings"], result["machine"]
    listed = ", ".join(f"{name} {value}" for name, value in settings.items())
    known = [card for card in result["cards"] if card["count"]]
    parts = [
        "# Sense trees",
        f"`{result['command']}`, {result['date']}: {listed}. {machine['cpu']}, {machine['cores']} cores.",
        NOTE,
        "## All words",
        common.markdown_table([{name: card.get(name) for name in COLUMNS} for card in known], COLUMNS),
    ]
    if missing := [card["word"] for card in result["cards"] if not card["count"]]:
        parts.append(f"Not in the vocabulary: {', '.join(missing)}.")
    for title, words in (("Words with several meanings", SEVERAL), ("Words with one meaning", ONE)):
        parts.append(f"## {title}")
        parts += [_drawn(card) for card in known if card["word"] in words]
    return "\n\n".join(parts) + "\n"


def _drawn(card: dict[str, Any]) -> str:
    head = f"### {card['word']}, {card['count']:,} uses"
    return f"{head}\n\n```text\n{card['tree']}\n```" if "tree" in card else f"{head}\n\nToo few for a tree: one sense."


def words(options: argparse.Namespace) -> None:
    """Train, and write the page."""
    corpus = common.plain_corpus(options.corpus, options.limit_tokens)
    model = MUSE(
        corpus_file=corpus, vector_size=options.vector_size, seed=options.seed, workers=options.workers, progress=False
    )
    head = common.stamp(
        "python -m benchmarks.trees words", corpus=Path(options.corpus).name, limit_tokens=options.limit_tokens,
        vector_size=options.vector_size, seed=options.seed, workers=options.workers,
    )  # fmt: skip
    result = {**head, "cards": cards(model, options.neighbours)}
    written = page(result)
    print(written)
    folder = common.results_dir(options)
    if folder is not None:
        common.write_page(folder, "trees", written, result)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trees", description=__doc__.split("\n", 1)[0])
    commands = parser.add_subparsers(required=True, metavar="words")
    shown = commands.add_parser("words", help="train, and print the trees of forty words")
    shown.set_defaults(command=words)
    common.add_arguments(shown)
    shown.add_argument("--vector-size", type=common.at_least(1), default=100)
    shown.add_argument("--seed", type=common.at_least(0), default=1)
    shown.add_argument("--neighbours", type=common.at_least(1), default=6, metavar="N", help="of each node")
    options = parser.parse_args(arguments)
    options.command(options)


if __name__ == "__main__":
    common.command(main)
