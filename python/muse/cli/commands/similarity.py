"""``muse similarity``: how alike two words, senses or uses are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from muse.cli.command import MODEL, command
from muse.cli.errors import fault
from muse.cli.kinds import WORD
from muse.cli.models import is_sense, open_vectors
from muse.cli.output import Output
from muse.cli.streams import is_input, lines, refuse_two_inputs
from muse.errors import UnknownRowError, UnknownSenseError, UnknownWordError, quote
from muse.formats.loaded import LoadedVectors
from muse.model.muse import MUSE


@command(
    "Ask a model",
    "muse similarity model.safetensors bank#0 money",
    'muse similarity model.safetensors bank money --contexts "a loan of the bank" "the money of a loan"',
    'muse similarity model.safetensors bank bank --uses "a loan of the bank" "the bank of a stream"',
    "muse similarity model.safetensors - < pairs.tsv",
)
@MODEL
@click.argument("words", nargs=-1, type=WORD, metavar="WORD|SENSE WORD|SENSE")
@click.option("--contexts", nargs=2, metavar="TEXT TEXT", help="What each word is used in: compare the senses meant.")
@click.option(
    "--uses", nargs=2, metavar="TEXT TEXT", help="What each word is used in: compare these contexts, not the words."
)
@click.option("--how", type=click.Choice(["max", "avg", "max_sim_c", "avg_sim_c"]),
              help="How the senses of two words are compared.  [max_sim_c with contexts, else max]")  # fmt: skip
def similarity(
    out: Output, model: str, words: tuple[str, ...], contexts: tuple[str, str] | None, uses: tuple[str, str] | None,
    how: str | None,
) -> None:  # fmt: skip
    """Say how alike two words are, or two senses such as bank#0, from -1 to 1.

    - reads pairs from standard input, one a line, separated by a tab or a space; what is unknown does not end it.
    Without contexts, MODEL may also be vectors of another tool.
    """
    refuse_two_inputs(model, *words)
    with open_vectors(model) as opened:
        if (contexts or uses or how) and not isinstance(opened, MUSE):
            raise click.UsageError("--contexts, --uses and --how need a model that `muse train` wrote")
        if contexts and uses:
            raise click.UsageError("give --contexts or --uses, not both")
        for first, second in _pairs(words):
            try:
                value = _value(opened, first, second, contexts, uses, how)
            except (UnknownWordError, UnknownSenseError, UnknownRowError) as error:
                if len(words) == 2:
                    raise
                out.record({"first": first, "second": second, "error": fault(error)})
                continue
            out.record({"first": first, "second": second, "similarity": value})
            out.line(f"{first}\t{second}\t{value:.4f}" if len(words) == 1 else f"{value:.4f}")


def _pairs(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if len(words) == 1 and is_input(words[0]):
        for number, line in enumerate(lines(words[0]), start=1):
            fields = line.strip("\r\n").split("\t") if "\t" in line else line.split()
            if len(fields) != 2:
                raise ValueError(f"standard input, line {number}: two words are expected; got {quote(line.strip())}")
            yield fields[0], fields[1]
    elif len(words) == 2:
        yield words[0], words[1]
    else:
        raise click.UsageError(f"give two words or senses, or -; got {len(words)}")


def _value(opened: MUSE | LoadedVectors, first: str, second: str, contexts: Any, uses: Any, how: str | None) -> float:
    if isinstance(opened, MUSE) and uses:
        return float(opened.usage_similarity(first, *uses, word2=second))
    if isinstance(opened, MUSE) and first in opened and second in opened:
        return opened.similarity(first, second, *(contexts or (None, None)), how=how)
    keys = [_keys(opened, word) for word in (first, second)]
    return max(float(opened.sv.similarity(one, other)) for one in keys[0] for other in keys[1])


def _keys(opened: MUSE | LoadedVectors, word: str) -> list[str]:
    """The senses that a word or the key of a sense names."""
    if word in opened:
        numbers = opened.sense_numbers(word).tolist() if isinstance(opened, MUSE) else range(opened.n_senses(word))
        return [f"{word}#{number}" for number in numbers]
    opened.sv.index(word) if is_sense(opened, word) else opened.vocabulary.index(word)
    return [word]
