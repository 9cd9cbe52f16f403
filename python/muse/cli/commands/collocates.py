"""``muse collocates``: the words that stand near a word or sense."""

from __future__ import annotations

from typing import Any

import click

from muse.base.checks import integer
from muse.cli.command import MODEL, command
from muse.cli.indexes import INDEX, open_index
from muse.cli.kinds import FILE, WORD, Checked
from muse.cli.models import open_model
from muse.cli.output import Output
from muse.cli.streams import refuse_two_inputs
from muse.cli.texts import Reading, reading_options
from muse.concordance.collocates import MEASURES


@command(
    "Read text with a model",
    "muse collocates model.safetensors bank#1 text.txt",
    "muse collocates model.safetensors bank#0 text.txt --other bank#1 -n 5",
    "muse collocates model.safetensors bank text.txt --measure pmi --min-count 20 --json",
)
@MODEL
@click.argument("word", type=WORD, metavar="WORD|SENSE")
@click.argument("corpus", nargs=-1, required=True, type=FILE, metavar="CORPUS...")
@click.option("--other", type=WORD, metavar="SENSE", help="What tells the two apart, by logDice.")
@click.option("--measure", type=click.Choice(list(MEASURES)), help="How strongly two words go together.  [logdice]")
@click.option("--window", type=Checked(integer(1, 1000)), default=5, metavar="N", show_default=True,
              help="Words on each side that count.")  # fmt: skip
@click.option("--weighted", is_flag=True, help="Count each use by the probability of the sense.")
@click.option("--min-count", type=Checked(integer(1)), default=5, metavar="N", show_default=True,
              help="Leave out words that stand near it less often.")  # fmt: skip
@click.option("-n", "--topn", type=Checked(integer(1)), default=20, metavar="N", show_default=True, help="How many.")
@INDEX
@reading_options
def collocates(
    out: Output, model: str, word: str, corpus: tuple[str, ...], other: str | None, measure: str | None,
    index: str | None, **values: Any,
) -> None:  # fmt: skip
    """List words that stand near WORD, or one SENSE such as bank#1: more often than by chance.

    CORPUS is text as for train, or an index (.muse-index). The first time an index is made and kept beside it.
    """
    reading = Reading.taken(values)
    refuse_two_inputs(model, *corpus)
    if other is not None and measure not in (None, "logdice"):
        raise click.UsageError(f"--other compares by logdice, not by {measure}")
    with open_model(model) as opened, open_index(opened, (word, other), corpus, reading, index) as found:
        rows: Any
        if other is None:
            rows = opened.collocates(word, found, measure=measure or "logdice", **values)
        else:
            rows = opened.collocate_difference(word, other, found, **values)
        for row in rows if out.as_json else ():
            out.record(row._asdict())
        out.line(rows.title)
        out.table(
            [row._asdict() for row in rows],
            {name: _FORMATS.get(name, "") for name in rows.columns},
        )


_FORMATS = {
    "near": ".6g", "first_near": ".6g", "second_near": ".6g", "share": ".0%", "score": ".2f", "word_score": ".2f",
    "first_score": ".2f", "second_score": ".2f", "difference": ".2f",
}  # fmt: skip
