"""``muse convert``: from any format of sense vectors to any other."""

from __future__ import annotations

from typing import Any

import click

from muse.cli.command import command
from muse.cli.kinds import FILE, Value
from muse.cli.models import is_model
from muse.cli.output import Output
from muse.cli.streams import input_file, is_output, output_file, refuse_overwriting
from muse.files.lines import shown
from muse.formats.loaded import load_vectors
from muse.formats.registry import FORMATS
from muse.model.muse import MUSE

MUSE_FORMAT = "muse"
_SEVERAL_FILES = ("sensegram", "paper", "projector", "sense2vec", "spacy")
_BY_ENDING = {
    ".safetensors": MUSE_FORMAT, ".parquet": "parquet", ".vec": "word2vec", ".bin": "word2vec", ".w2v": "word2vec",
    ".glove": "glove",
}  # fmt: skip


@command(
    "Judge, change, convert",
    "muse convert model.safetensors senses.vec",
    "muse convert model.safetensors projector/ --to projector -O limit=1000",
    "muse convert model.safetensors senses.bin --to word2vec -O binary=true",
    "muse convert senses.vec - --to glove | head -n 1",
    "muse convert --formats",
)
@click.argument("input", type=FILE, required=False, metavar="INPUT")
@click.argument("output", type=FILE, required=False, metavar="OUTPUT")
@click.option("--from", "source", type=click.Choice([MUSE_FORMAT, *FORMATS]), metavar="FORMAT",
              help="Of INPUT; found out, if not given.")  # fmt: skip
@click.option("--to", "target", type=click.Choice([MUSE_FORMAT, *FORMATS]), metavar="FORMAT",
              help="Of OUTPUT; by the ending of its name, if not given (.vec, .bin, .parquet).")  # fmt: skip
@click.option("-I", "--read-option", "reading", multiple=True, metavar="NAME=VALUE",
              help="An option of the format of INPUT, such as limit=1000; may be repeated.")  # fmt: skip
@click.option("-O", "--write-option", "writing", multiple=True, metavar="NAME=VALUE",
              help="An option of the format of OUTPUT, such as binary=true; may be repeated.")  # fmt: skip
@click.option("--formats", is_flag=True, help="List the formats with their options, and do nothing.")
def convert(
    out: Output, input: str | None, output: str | None, source: str | None, target: str | None,
    reading: tuple[str, ...], writing: tuple[str, ...], formats: bool,
) -> None:  # fmt: skip
    """Write the sense vectors in INPUT in the format of another tool.

    INPUT is a model or what one of the tools wrote (docs/formats.md). What a format cannot hold is said. A whole model,
    with its selector, is in the file of `muse train` alone.
    """
    if formats:
        _list(out)
        return
    if input is None or output is None:
        raise click.UsageError("name INPUT and OUTPUT; --formats lists the formats")
    chosen = target or _format_of(output)
    if chosen == MUSE_FORMAT:
        raise click.UsageError(
            "vectors do not make a model, whose file holds a selector, too; give another format to --to"
        )
    if is_output(output) and chosen in _SEVERAL_FILES:
        raise click.UsageError(f"{chosen} is more than one file, which cannot go to standard output; name OUTPUT")
    if not output.endswith("/") and not is_output(output):
        refuse_overwriting(output, input)
    options = _options(writing)
    with input_file(input) as name, output_file(output) as path:
        if source in (None, MUSE_FORMAT) and (source == MUSE_FORMAT or is_model(name)):
            if reading:
                raise click.UsageError("a model of ours has no options to read; -O is for OUTPUT")
            model = MUSE.load(name, mmap=True)
            model.export(path, chosen, **options)
            words, senses = len(model), model.arrays.n_senses
        else:
            vectors = load_vectors(name, source, **_options(reading))
            vectors.export(path, chosen, **options)
            words, senses = len(vectors), vectors.table.n_senses
    if not is_output(output):
        out.line(f"written   {words:,} words, {senses:,} senses as {chosen}: {shown(output)}")
        out.record({"words": words, "senses": senses, "format": chosen, "output": output})


def _format_of(output: str) -> str:
    name = output.lower()
    for ending, found in _BY_ENDING.items():
        if name.endswith(ending):
            return found
    raise click.UsageError(f"name the format of {shown(output)} with --to: one of {', '.join(FORMATS)}")


def _options(given: tuple[str, ...]) -> dict[str, Any]:
    options = {}
    for text in given:
        name, found, value = text.partition("=")
        if not found or not name:
            raise click.UsageError(f"an option of a format is NAME=VALUE, such as limit=1000; got {text!r}")
        options[name.replace("-", "_")] = Value().convert(value, None, None)
    return options


def _list(out: Output) -> None:
    rows = []
    for found in FORMATS.values():
        row = {
            "format": found.name,
            "reading": found.read_options,
            "writing": found.write_options,
            "title": found.title,
        }
        out.record(row)
        rows.append({**row, "reading": ", ".join(found.read_options), "writing": ", ".join(found.write_options)})
    out.table(rows, ["format", "title", "reading", "writing"])
