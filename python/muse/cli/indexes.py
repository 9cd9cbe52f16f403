"""The index of the text that a command looks into."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

import click

from muse.cli.kinds import FILE
from muse.cli.streams import is_input, is_output
from muse.cli.texts import Reading, text_of
from muse.concordance.index import SUFFIX, CorpusIndex
from muse.concordance.indexing import index_corpus
from muse.concordance.uses import asked_sense
from muse.model.muse import MUSE

__all__ = ["INDEX", "open_index"]

INDEX = click.option("--index", type=FILE, metavar="FILE", help="Keep the index there.  [CORPUS.muse-index]")


@contextlib.contextmanager
def open_index(
    model: MUSE, keys: Sequence[str | None], corpus: Sequence[str], reading: Reading, path: str | None
) -> Iterator[CorpusIndex]:
    """The index of a text, made where there is none; that of standard input is in memory.

    It is not made for `keys` of words or senses that the model does not know, which is an UnknownWordError or
    UnknownSenseError.
    """
    if path is not None and is_output(path):
        raise click.UsageError("the index is a file that is kept; name one for --index")
    for key in keys:
        if key is not None:
            asked_sense(model.snapshot, key)
    if any(name.endswith(SUFFIX) for name in corpus):
        if len(corpus) > 1 or path is not None or reading != Reading():
            raise click.UsageError(f"an index ({SUFFIX}) stands for all of the text; name nothing else with it")
        yield CorpusIndex.open(corpus[0])
        return
    sentences = text_of(corpus, reading).sentences
    if any(map(is_input, corpus)):
        sentences = iter(sentences)  # has no files beside which an index could stay
    yield index_corpus(sentences, path)
