"""``muse name``: names of senses, listed and given."""

from __future__ import annotations

import re

import click

from muse.cli.command import MODEL, command
from muse.cli.kinds import FILE
from muse.cli.models import open_model
from muse.cli.output import Output, readable
from muse.cli.streams import input_file, is_output, output_file, refuse_overwriting, refuse_two_inputs
from muse.files.lines import shown
from muse.formats.names import read_names


@command(
    "Judge, change, convert",
    "muse name model.safetensors named.safetensors bank#0=money bank#1=river",
    "muse name model.safetensors named.safetensors --names names.tsv",
    "muse name named.safetensors > names.tsv",
)
@MODEL
@click.argument("output", required=False, type=FILE)
@click.argument("pairs", nargs=-1, metavar="[SENSE=NAME]...")
@click.option("--names", type=FILE, metavar="FILE", help="Give the names in its lines: a sense, a tab, a name.")
def name(out: Output, model: str, output: str | None, pairs: tuple[str, ...], names: str | None) -> None:
    """Give names to senses, and write the model with them to OUTPUT; without OUTPUT, list the names.

    An empty NAME takes the name away. The list has a line for each name: the sense, a tab, the name.
    """
    refuse_two_inputs(model, *([names] if names is not None else []))
    if output is not None and re.match(r"(?!\.{0,2}/).+#\d+=", output):
        raise click.UsageError(f"name the OUTPUT to which the model with this name goes, before {output:.80}")
    given = dict(map(_pair, pairs))
    if output is not None and not given and names is None:
        raise click.UsageError("say which names, as bank#1=river, or --names FILE")
    if output is None and names is not None:
        raise click.UsageError("name the OUTPUT to which the model with these names goes")
    refuse_overwriting(output, model)
    refuse_overwriting(output, names)
    if names is not None:
        with input_file(names) as path:
            given = {**read_names(path), **given}
    with open_model(model) as opened:
        for key, wanted in given.items():
            opened.name_sense(key, wanted or None)
        if output is None:
            for key, known in opened.sense_names().items():
                out.line(f"{readable(key)}\t{readable(known)}")
                out.record({"sense": key, "name": known})
            return
        if is_output(output) and out.as_json:
            raise click.UsageError("the model goes to standard output, so nothing else can; name a file for it")
        with output_file(output) as path:
            opened.save(path)
        if not is_output(output):
            total = len(opened.sense_names())
            out.line(f"named     {len(given):,}; senses with a name are now {total:,}")
            out.line(f"saved     {shown(output)}")
            out.record({"named": len(given), "names": total, "saved": output})


def _pair(given: str) -> tuple[str, str]:
    key, sign, wanted = given.rpartition("=") if given.endswith("=") else _split(given)
    if not sign or "#" not in key:
        raise click.UsageError(f"a name is given as SENSE=NAME, such as bank#1=river; got {given!r:.80}")
    return key, wanted


def _split(given: str) -> tuple[str, str, str]:
    """At the first sign behind the number of the sense: words and names may hold some, too."""
    place = given.find("=", given.find("#") + 2)
    return (given[:place], "=", given[place + 1 :]) if place > 0 else (given, "", "")
