"""``muse demo``: training on generated text with known senses, or on a file; the senses that come of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click
import numpy as np

from muse.cli.command import command
from muse.cli.errors import fault
from muse.cli.kinds import FILE, words_in
from muse.cli.output import Output
from muse.cli.settings import given_settings, settings_options
from muse.cli.streams import refuse_overwriting
from muse.cli.texts import Reading, Text, reading_options, text_of
from muse.cli.training import shows_progress, train_and_save
from muse.datasets import AmbiguousCorpus, make_ambiguous_corpus
from muse.errors import UnknownWordError
from muse.evaluation.clustering import purity, v_measure
from muse.model.muse import MUSE
from muse.selector.uses import Uses, find_uses

SENTENCES, WORDS = 40_000, 1_000
SENSES = 2
DIMENSION = 100  # enough for a small text, and quick
EPOCHS = 8  # more than for real text, of which there is more
CARDS = ("bank", "spring", "rock", "cell", "match")
# What a person knows to be ambiguous; cards of those that a named corpus holds are shown.
FILE_CARDS = ("head", "tie", "bank", "cell", "spring", "rock", "apple", "java", "current", "match")
_OWN = {"vector_size": str(DIMENSION), "senses": f"{SENSES} for the generated text", "epochs": f"{EPOCHS} for it"}


@command(
    "Make a model",
    "muse demo",
    "muse demo --words bank spring cell",
    "muse demo --corpus text.txt --words bank --save demo.safetensors",
)
@click.argument("more", nargs=-1, metavar="")
@click.option("--corpus", type=FILE, metavar="FILE", help="Your own text.")
@click.option("--words", multiple=True, metavar="WORD...", help="Words whose senses are shown.")
@click.option("--save", "path", type=FILE, metavar="FILE", help="Keep the model.")
@reading_options
@settings_options(("epochs", "vector_size", "senses", "workers", "seed"), _OWN)
def demo(
    out: Output, more: tuple[str, ...], corpus: str | None, words: tuple[str, ...], path: str | None, **values: Any
) -> None:
    """Train on generated text with known senses, or on a file, and show senses.

    It says how fast training was, how the senses are used, how many of the known ones were found, and draws cards.
    """
    if more and not words:
        raise click.UsageError(f"unexpected argument {more[0]!r}; --words names the words to show, --corpus a file")
    chosen, reading = words_in([*words, *more]), Reading.taken(values)
    refuse_overwriting(path, corpus)
    settings = {"vector_size": DIMENSION, "progress": shows_progress(None), **given_settings(values)}
    if corpus is None:
        generated = make_ambiguous_corpus(SENTENCES, WORDS, seed=0)
        text = f"{SENTENCES:,} generated sentences in which {len(generated.ambiguous_words)} words mean two things each"
        usual = {"senses": SENSES, "epochs": EPOCHS}
        model = train_and_save(Text(text, generated.sentences), {**usual, **settings}, path, out)
        _show_recovery(out, model, generated)
        sentences: Iterable[list[str]] = generated.sentences
    else:
        own = text_of([corpus], reading)
        model = train_and_save(own, settings, path, out)
        sentences = own.sentences
    chosen = chosen or [word for word in (CARDS if corpus is None else FILE_CARDS) if word in model]
    uses = find_uses(model.snapshot, [word for word in chosen if word in model], sentences)
    for word in chosen:
        if word in model:
            _show_card(out, model, word, uses[word])
        else:
            fault(UnknownWordError(word, model.vocabulary.words))


def _show_recovery(out: Output, model: MUSE, corpus: AmbiguousCorpus) -> None:
    """How well the selected senses are the true ones, as means over the ambiguous words."""
    selected = list(model.disambiguate_batch(corpus.sentences))
    measures = []
    for word, found in corpus.occurrences().items():
        if word in model:
            true = [sense for *_, sense in found]
            chosen = [int(selected[sentence][position]) for sentence, position, _ in found]
            measures.append((v_measure(true, chosen)[2], purity(true, chosen), purity(true, [0] * len(true))))
    v, right, majority = np.mean(measures, axis=0).tolist()
    out.line(f"recovered V-measure {v:.2f}; {right:.0%} of the occurrences sorted right, where one sense would give "
             f"{majority:.0%}")  # fmt: skip
    out.record({"v_measure": v, "purity": right, "majority": majority})


def _show_card(out: Output, model: MUSE, word: str, uses: Uses) -> None:
    card = model.describe(word, topn=6)
    out.line()
    out.line(f"{word}: {card.count:,} uses", "bold")
    places = {number: place for place, number in enumerate(model.sense_numbers(word).tolist())}
    senses = []
    for sense in card.senses:
        examples = uses.examples(places[int(sense.key.rpartition("#")[2])], 1)
        out.line(f"  {sense.key}  {sense.share:4.0%}  like {', '.join(key for key, _ in sense.neighbours)}")
        for example in examples:
            out.line(f'  {" " * len(sense.key)}        as in "{example}"')
        senses.append({
            "sense": sense.key, "share": sense.share, "neighbours": [list(pair) for pair in sense.neighbours],
            "examples": [example._asdict() for example in examples],
        })  # fmt: skip
    out.record({"word": word, "count": card.count, "senses": senses})
