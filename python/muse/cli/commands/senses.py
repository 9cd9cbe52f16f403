"""``muse senses``, also ``muse describe``: cards and trees of the senses of words."""

from __future__ import annotations

from typing import Any

import click

from muse.base.checks import integer
from muse.base.checks import senses as check_senses
from muse.cli.command import MODEL, command
from muse.cli.kinds import FILE, WORD, Checked
from muse.cli.models import open_model
from muse.cli.output import Output, readable
from muse.cli.texts import Reading, reading_options, text_of
from muse.model.cards import WordCard
from muse.model.muse import MUSE


@command(
    "Ask a model",
    "muse senses model.safetensors bank",
    'muse senses model.safetensors bank --context "she sat on the bank of the stream"',
    "muse senses model.safetensors bank rock --senses 2 --corpus text.txt",
    "muse senses model.safetensors bank --tree --json",
)
@MODEL
@click.argument("words", nargs=-1, required=True, type=WORD, metavar="WORD...")
@click.option("--context", metavar="TEXT", help="Also say which sense this text means.")
@click.option("--corpus", type=FILE, metavar="FILE", help="Also label the senses, and show uses from this text.")
@click.option("--tree", is_flag=True, help="Show the whole tree, from the word as a whole to its finest senses.")
@click.option("--senses", "count", type=Checked(check_senses), metavar="N|auto",
              help="Show so many senses: the tree is cut anew, in the model's file nothing changes.")  # fmt: skip
@click.option("-n", "--topn", type=Checked(integer(1)), default=6, metavar="N", show_default=True, help="Neighbours.")
@reading_options
def senses(
    out: Output, model: str, words: tuple[str, ...], context: str | None, corpus: str | None, tree: bool, count: Any,
    topn: int, **values: Any,
) -> None:  # fmt: skip
    """Show the senses of words: their shares, neighbours, and what stands near them.

    A tree has a line for each sense, from coarse to fine; * marks those that are the word's senses now.
    """
    with open_model(model) as opened:
        if count is not None:
            opened.recut(count)
        text = None if corpus is None else text_of([corpus], Reading.taken(values)).sentences
        for word in words:
            record: dict[str, Any] = {"word": word}
            if tree:
                _show_tree(out, opened, word, topn, record)
            else:
                card = opened.describe(word, topn=topn, corpus=text)
                _show_card(out, card)
                record.update(_as_record(card))
            if context is not None:
                record["context"] = _show_context(out, opened, word, context)
            out.record(record)


def _show_tree(out: Output, model: MUSE, word: str, topn: int, record: dict[str, Any]) -> None:
    tree = model.sense_tree(word, topn=topn)
    out.gap()
    for place, line in enumerate(str(tree).splitlines()):
        out.line(readable(line), "bold" if place == 0 else "green" if "*" in line.split("  ")[0] else "")
    record.update(tree.to_dict())


def _show_card(out: Output, card: WordCard) -> None:
    out.gap()
    keys = {readable(sense.key) for sense in card.senses}
    for place, line in enumerate(str(card).splitlines()):
        out.line(line, "bold" if place == 0 else "green" if line.split("  ")[0] in keys else "")


def _as_record(card: WordCard) -> dict[str, Any]:
    return {
        "count": card.count,
        "senses": [
            {
                "sense": sense.key,
                "label": sense.label,
                "share": sense.share,
                "neighbours": [list(pair) for pair in sense.neighbours],
                "collocates": [list(pair) for pair in sense.collocates],
                "examples": [example._asdict() for example in sense.examples],
            }
            for sense in card.senses
        ],
    }


def _show_context(out: Output, model: MUSE, word: str, context: str) -> dict[str, Any]:
    probabilities = model.sense_probabilities(word, context).tolist()
    keys = [f"{word}#{k}" for k in model.sense_numbers(word).tolist()]
    listed = ", ".join(f"{readable(key)} {share:.0%}" for key, share in zip(keys, probabilities, strict=True))
    out.line(f"\nin this context: {listed}")
    known = any(token in model for token in model.tokenize(context))
    if not known:
        out.line("no word of it is known: these are the shares in the training text")
    return {
        "text": context,
        "sense": keys[max(range(len(keys)), key=probabilities.__getitem__)],
        "probabilities": dict(zip(keys, probabilities, strict=True)),
        "has_context": bool(model.has_context(word, context)),
    }
