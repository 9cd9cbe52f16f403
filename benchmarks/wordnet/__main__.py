"""Which synset of WordNet is the sense that a context selects? Compared with two small lists made by hand.

An item of a list is a word, the sense keys of WordNet that are right, and three contexts in which the word has that
meaning. The contexts select a sense of the model (by their mean probability), `link_wordnet` proposes a synset for
it, and that is right or not. So nothing in a list depends on the numbers of a model's senses. Where a model does not
have the sense, two items select the same one, and one of them must be wrong: "bound" is the most that could be right.

The first synset of the word's nouns, which is the most frequent one, is the bar; chance takes any of its synsets.

``gold.tsv`` (47 words) is what the way of scoring was chosen with; ``held_out.tsv`` (10 words) was written afterwards.

WordNet 3.0 comes with Debian's package wordnet-base, in /usr/share/wordnet; ``wn download oewn:2024`` gets Open English
WordNet.
"""

from __future__ import annotations

import argparse
import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import common
from muse import MUSE, Split
from muse.lexicon.linking import SenseLinks
from muse.lexicon.opening import open_lexicon
from muse.lexicon.synsets import Lexicon

HERE = Path(__file__).parent
LISTS = {"chosen with": HERE / "gold.tsv", "held out": HERE / "held_out.tsv"}
RECIPES = {"Trees": None, "Split": Split()}
_FINER = 8  # senses a word
THRESHOLDS = (0.5, 0.7, 0.9)
COLUMNS = {
    "model": "model", "list": "list", "candidates": "candidates", "items": "items", "bound": "bound",
    "chance": "chance",
    "first": "first synset", "right": "link_wordnet",
    **{f"at {limit}": f"score ≥ {limit}: proposed, right" for limit in THRESHOLDS},
}  # fmt: skip


NOTE = """\
An item is a meaning of a word with three contexts, which select a sense of the model. The bound is the most that could
be right: where two items select the same sense, one is wrong. Chance takes any synset, "first" that which WordNet lists
first among nouns. Then how often `link_wordnet` with any score is right, and, where a score is asked for, how many
items have a synset and how many of these are right. The way of scoring was chosen with the first list; the second was
written afterwards."""


class Item(NamedTuple):
    """A meaning of a word."""

    word: str
    keys: frozenset[str]
    contexts: tuple[list[str], ...]


def read_items(path: Path) -> list[Item]:
    """The items of a list."""
    items = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            word, keys, contexts = line.split("\t")
            items.append(Item(word, frozenset(keys.split(",")), tuple(text.split() for text in contexts.split(" | "))))
    return items


def select(model: MUSE, item: Item) -> str:
    """The key of the sense that the contexts of an item mean."""
    shares = np.mean([model.sense_probabilities(item.word, context) for context in item.contexts], axis=0)
    return f"{item.word}#{model.sense_numbers(item.word)[int(shares.argmax())]}"


def measure(model: MUSE, lexicon: Lexicon, items: Sequence[Item], pos: str | None) -> dict[str, Any]:
    """The figures of a model and a list."""
    known = [item for item in items if item.word in model]
    synsets = {item.word: [s for s in lexicon.synsets(item.word) if pos in (None, s.pos)] for item in known}
    known = [item for item in known if item.keys & {s.sense_key for s in synsets[item.word]}]
    links = model.link_wordnet({item.word for item in known}, lexicon, pos=pos, threshold=0)
    senses = [select(model, item) for item in known]
    chance = [len(item.keys) / len(synsets[item.word]) for item in known]
    first = [next(s for s in synsets[item.word] if s.pos == "n").sense_key in item.keys for item in known]
    scores, right = _right(links, known, senses)
    figures = {
        "items": len(known), "missing": len(items) - len(known), "bound": len(set(senses)) / len(known),
        "chance": float(np.mean(chance)), "first": float(np.mean(first)), "right": float(right.mean()),
    }  # fmt: skip
    for limit in THRESHOLDS:
        sure = scores >= limit
        figures[f"at {limit}"] = f"{sure.mean():.0%}, {right[sure].mean():.0%}" if sure.any() else "0%"
    wrong = [(item, links[sense]) for item, sense, good in zip(known, senses, right, strict=True) if not good]
    taken = ["has none" if link is None else f"taken for {link.sense_key or link.synset}" for _, link in wrong]
    return {**figures, "wrong": [f"{min(item.keys)} {what}" for (item, _), what in zip(wrong, taken, strict=True)]}


def _right(links: SenseLinks, items: Sequence[Item], senses: Sequence[str]) -> tuple[Any, Any]:
    """The score of each item's link, 0 where there is none, and whether it is right."""
    found = [links[sense] for sense in senses]
    scores = np.array([0.0 if link is None else link.score for link in found])
    right = np.array([
        link is not None and link.sense_key in item.keys for link, item in zip(found, items, strict=True)
    ])  # fmt: skip
    return scores, right


def models(options: argparse.Namespace) -> list[tuple[str, MUSE]]:
    """The models that are asked: given files, or one of each recipe, trained here."""
    if options.model:
        asked = [(path.stem, MUSE.load(path)) for path in options.model]
    else:
        corpus = common.plain_corpus(options.corpus, options.limit_tokens)
        run = {"vector_size": options.vector_size, "seed": options.seed, "workers": options.workers}
        asked = [(name, MUSE(corpus_file=corpus, recipe=recipe, **run)) for name, recipe in RECIPES.items()]
    finer = [(f"{name}, cut into {_FINER}", copy.copy(model)) for name, model in asked if model.has_usage_vectors]
    for _, model in finer:
        model.recut(senses=_FINER)
    return [*asked, *finer]


def page(result: dict[str, Any]) -> str:
    """The figures as Markdown."""
    settings = ", ".join(f"{name} {value}" for name, value in result["settings"].items())
    parts = [
        "# Senses in WordNet",
        f"`{result['command']}`, {result['date']}: {settings}; {result['lexicon']}.",
        NOTE,
        common.markdown_table([{name: _cell(row[name]) for name in COLUMNS} for row in result["rows"]], COLUMNS),
    ]
    for row in result["rows"]:
        if row["candidates"] == "all":
            wrong = "\n".join(f"- {line}" for line in row["wrong"])
            parts.append(f"## Wrong: {row['model']}, {row['list']}\n\n{wrong}")
    return "\n\n".join(parts) + "\n"


def _cell(value: Any) -> str:
    return f"{value:.0%}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.wordnet", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    common.add_arguments(parser, corpus_required=False)
    parser.add_argument("--lexicon", default="/usr/share/wordnet", help="what link_wordnet takes")
    parser.add_argument("--model", type=Path, nargs="+", help="models to ask, in place of training some")
    parser.add_argument("--vector-size", type=common.at_least(1), default=100)
    parser.add_argument("--seed", type=common.at_least(0), default=1)
    options = parser.parse_args(arguments)
    if not options.model and options.corpus is None:
        parser.error("give a text to train on, or --model")
    if os.sep in options.lexicon and not os.path.exists(options.lexicon):
        parser.exit(0, f"nothing was measured: there is no WordNet in {options.lexicon} (Debian: wordnet-base)\n")
    lexicon, rows = open_lexicon(options.lexicon), []
    for name, model in models(options):
        for title, path in LISTS.items():
            for pos, candidates in ((None, "all"), ("n", "nouns")):
                found = measure(model, lexicon, read_items(path), pos)
                rows.append({"model": name, "list": title, "candidates": candidates, **found})
    asked = {"models": ", ".join(path.stem for path in options.model)} if options.model else {
        "corpus": Path(options.corpus).name, "limit_tokens": options.limit_tokens, "seed": options.seed,
        "vector_size": options.vector_size,
    }  # fmt: skip
    head = common.stamp("python -m benchmarks.wordnet", **asked)
    result = {**head, "lexicon": lexicon.name if os.sep not in options.lexicon else "WordNet 3.0", "rows": rows}
    written = page(result)
    print(written)
    folder = None if options.model and options.out is None else common.results_dir(options)
    if folder is not None:
        common.write_page(folder, "wordnet", written, result)


if __name__ == "__main__":
    common.command(main)
