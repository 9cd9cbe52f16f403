"""``muse merge``: a model in which senses are joined that are hardly two."""

from __future__ import annotations

import click

from muse.base.checks import number
from muse.cli.changing import MAP, change
from muse.cli.command import MODEL, OUTPUT, command
from muse.cli.kinds import Checked
from muse.cli.output import Output


@command(
    "Judge, change, convert",
    "muse merge model.safetensors merged.safetensors",
    "muse merge model.safetensors merged.safetensors --threshold 0.8 --map changed.jsonl --json",
)
@MODEL
@OUTPUT
@click.option(
    "--threshold",
    type=Checked(number(-1, 1)),
    metavar="X",
    help="Join senses of a cosine of at least X.  [with sense trees: as the text gives evidence of; else .9]",
)
@MAP
def merge(out: Output, model: str, output: str, threshold: float | None, map_to: str | None) -> None:
    """Join the senses of a word that are hardly two."""
    change(out, model, output, map_to, lambda opened: opened.merge_senses(threshold))
