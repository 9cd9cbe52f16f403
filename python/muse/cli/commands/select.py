"""``muse select``: which sense of a word a text means."""

from __future__ import annotations

from collections.abc import Iterator

import click

from muse.base.checks import integer
from muse.cli.command import MODEL, command
from muse.cli.kinds import WORD, Checked
from muse.cli.models import open_model
from muse.cli.output import Output, readable
from muse.cli.streams import is_input, lines, refuse_two_inputs


@command(
    "Ask a model",
    'muse select model.safetensors bank "the bank of a stream"',
    'muse select model.safetensors bank "money in the bank" "the bank of a stream" --json',
    "grep bank text.txt | muse select model.safetensors bank -",
)
@MODEL
@click.argument("word", type=WORD)
@click.argument("texts", nargs=-1, metavar="TEXT...")
@click.option("--senses", "level", type=Checked(integer(1)), metavar="N", help="Among so many senses of the word.")
@click.option("--position", type=Checked(integer(0)), metavar="I",
              help="Which token of TEXT is meant, from 0; by default the first that is WORD.")  # fmt: skip
def select(out: Output, model: str, word: str, texts: tuple[str, ...], level: int | None, position: int | None) -> None:
    """Say which sense of WORD each TEXT means, and how sure that is.

    Without TEXT, or for -, texts are the lines of standard input; each is answered as it comes. A text is split at
    white space, as a line of the training text was.
    """
    refuse_two_inputs(model, *(texts or ("-",)))
    with open_model(model) as opened:
        keys = [f"{word}#{number}" for number in opened.sense_numbers(word, level).tolist()]
        for text in _all(texts or ("-",)):
            probabilities = opened.sense_probabilities(word, text, position, level=level).tolist()
            best = max(range(len(keys)), key=probabilities.__getitem__)
            known = bool(opened.has_context(word, text, position))
            out.record({
                "word": word, "sense": keys[best], "probability": probabilities[best], "has_context": known,
                "probabilities": dict(zip(keys, probabilities, strict=True)), "text": text,
            })  # fmt: skip
            out.line(f"{readable(keys[best])}  {probabilities[best]:4.0%}{' ' if known else '?'} {readable(text)}")


def _all(texts: tuple[str, ...]) -> Iterator[str]:
    for text in texts:
        if is_input(text):
            yield from (line for line in lines(text) if line.strip())
        else:
            yield text
