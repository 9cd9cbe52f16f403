"""``muse neighbors``: the nearest senses, or words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from muse.base.checks import integer, number
from muse.cli.command import MODEL, command
from muse.cli.errors import fault
from muse.cli.kinds import WORD, Checked
from muse.cli.models import is_sense, open_vectors
from muse.cli.output import Output
from muse.cli.streams import is_input, lines, refuse_two_inputs
from muse.errors import UnknownRowError, UnknownSenseError, UnknownWordError
from muse.formats.loaded import LoadedVectors
from muse.model.muse import MUSE


@command(
    "Ask a model",
    "muse neighbors model.safetensors bank#1",
    "muse neighbors model.safetensors bank -n 3",
    'muse neighbors model.safetensors bank --context "money in the bank"',
    "cut -f1 words.txt | muse neighbors model.safetensors - --by-word --json",
)
@MODEL
@click.argument("words", nargs=-1, required=True, type=WORD, metavar="WORD|SENSE...")
@click.option("--context", metavar="TEXT", help="Of the sense that this text means.")
@click.option("--by-word", is_flag=True, help="Compare whole words, not senses.")
@click.option("-n", "--topn", type=Checked(integer(1)), default=10, metavar="N", show_default=True, help="How many.")
@click.option("--min-share", type=Checked(number(0, 1)), default=0.0, metavar="X",
              help="Leave out senses with a smaller share in their word.")  # fmt: skip
@click.option("--siblings", is_flag=True, help="List other senses of the same word, too.")
def neighbors(
    out: Output, model: str, words: tuple[str, ...], context: str | None, by_word: bool, topn: int, min_share: float,
    siblings: bool,
) -> None:  # fmt: skip
    """List the senses that are nearest to those of WORD, or to one SENSE such as bank#1.

    - reads words from standard input, one a line; what is unknown does not end it. MODEL may also be
    vectors of another tool.
    """
    refuse_two_inputs(model, *words)
    with open_vectors(model) as opened:
        if context is not None and not isinstance(opened, MUSE):
            raise click.UsageError("--context needs a model that `muse train` wrote")
        options = {"exclude_same_word": not siblings, "min_prior": min_share}
        for word, streamed in _all(words):
            try:
                answers = _found(opened, word, context, by_word, topn, options)
            except (UnknownWordError, UnknownSenseError, UnknownRowError) as error:
                if not streamed:
                    raise
                out.record({"of": word, "error": fault(error)})
                continue
            for key, found in answers:
                out.record({"of": key, "neighbours": [{"key": near, "cosine": cosine} for near, cosine in found]})
                out.gap()
                out.table([{key: near, "cosine": cosine} for near, cosine in found], {key: "", "cosine": ".3f"})


def _all(words: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it comes from standard input."""
    for word in words:
        if is_input(word):
            yield from ((line.strip(), True) for line in lines(word) if line.strip())
        else:
            yield word, False


def _found(
    opened: MUSE | LoadedVectors, word: str, context: str | None, by_word: bool, topn: int, options: dict[str, Any]
) -> list[tuple[str, Any]]:
    """Keys, each with its neighbours."""
    if by_word:
        return [(word, opened.wv.most_similar(word, topn=topn))]
    if context is not None and isinstance(opened, MUSE):
        word = f"{word}#{opened.select_sense(word, context)}"
    if is_sense(opened, word):
        return [(word, opened.sv.most_similar(word, topn=topn, **options))]
    found = opened.sv.neighbours_of(word, topn, **options)
    numbers = opened.sense_numbers(word).tolist() if isinstance(opened, MUSE) else range(len(found))
    return [(f"{word}#{number}", near) for number, near in zip(numbers, found, strict=True)]
