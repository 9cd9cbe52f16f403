"""``muse concordance``: the uses of a word or sense in a text, each in its context."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from muse.base.checks import integer, number
from muse.cli.command import MODEL, command
from muse.cli.indexes import INDEX, open_index
from muse.cli.kinds import FILE, WORD, Checked
from muse.cli.models import open_model
from muse.cli.output import Output
from muse.cli.streams import is_output, output_file, refuse_overwriting, refuse_two_inputs
from muse.cli.texts import Reading, reading_options
from muse.concordance.index import SUFFIX
from muse.concordance.lines import SORTS, Concordance

_WRITERS = {
    "csv": Concordance.to_csv, "jsonl": Concordance.to_json_lines, "vertical": Concordance.to_vertical,
    "key": Concordance.to_key,
}  # fmt: skip
_ENDINGS = {".csv": "csv", ".jsonl": "jsonl", ".vert": "vertical", ".vertical": "vertical", ".key": "key"}


@command(
    "Read text with a model",
    "muse concordance model.safetensors bank#1 text.txt",
    "muse concordance model.safetensors bank text.txt --sort right --window 5 -n 8",
    "muse concordance model.safetensors bank text.txt -n 0 --min-probability 0.9 -o bank.csv",
)
@MODEL
@click.argument("word", type=WORD, metavar="WORD|SENSE")
@click.argument("corpus", nargs=-1, required=True, type=FILE, metavar="CORPUS...")
@click.option("-n", "--limit", type=Checked(integer(0)), default=20, metavar="N", show_default=True,
              help="How many lines; 0: all.")  # fmt: skip
@click.option("--sort", type=click.Choice(SORTS), default="sureness", show_default=True,
              help="The surest first; as in the text; by the words before or after.")  # fmt: skip
@click.option("--window", type=Checked(integer(0, 1000)), default=10, metavar="N", show_default=True,
              help="Words on each side.")  # fmt: skip
@click.option("--min-probability", type=Checked(number(0, 1)), default=0.0, metavar="X",
              help="Leave out uses whose sense is less probable.")  # fmt: skip
@click.option("--max-uses", type=Checked(integer(1)), metavar="N", help="Look at so many uses, drawn at random.")
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the lines there: .csv, .jsonl, .vert, .key.")
@click.option("--to", "form", type=click.Choice(list(_WRITERS)), help="The format, where the ending does not say it.")
@INDEX
@reading_options
def concordance(
    out: Output, model: str, word: str, corpus: tuple[str, ...], limit: int, output: str | None, form: str | None,
    index: str | None, **values: Any,
) -> None:  # fmt: skip
    """List uses of WORD, or of one SENSE such as bank#1, in their context.

    CORPUS is text as for train, or an index (.muse-index). The first time an index is made and kept beside it.
    """
    reading = Reading.taken(values)
    refuse_two_inputs(model, *corpus)
    form = _form(output, form)
    for path in (model, index, *corpus, *(name + SUFFIX for name in corpus)):
        refuse_overwriting(output, path)
    with open_model(model) as opened, open_index(opened, (word,), corpus, reading, index) as found:
        lines = opened.concordance(word, found, limit=limit or None, **values)
        if form is None:
            for line in lines if out.as_json else ():
                out.record(line._asdict())
            out.line(lines.to_text(None))
            return
        target = "-" if output is None else output
        with output_file(target) as path:
            _WRITERS[form](lines, path)
        if not is_output(target):
            out.line(f"written   {len(lines):,} lines as {form}: {target}")
            out.record({"lines": len(lines), "uses": lines.n_uses, "format": form, "output": target})


def _form(output: str | None, form: str | None) -> str | None:
    """The format of the file: what is said, or that of the ending; None: what people read."""
    if form is not None or output is None:
        return form
    known = _ENDINGS.get(Path(output).suffix)
    if known is None:
        raise click.UsageError(f"name the format of {output} with --to: {', '.join(_WRITERS)}")
    return known
