"""``muse prune``: a model without senses that are hardly used."""

from __future__ import annotations

import click

from muse.base.checks import integer, number
from muse.cli.changing import MAP, change
from muse.cli.command import MODEL, OUTPUT, command
from muse.cli.kinds import Checked
from muse.cli.output import Output


@command(
    "Judge, change, convert",
    "muse prune model.safetensors pruned.safetensors",
    "muse prune model.safetensors pruned.safetensors --min-share 0.1 --min-count 20 --map changed.jsonl",
)
@MODEL
@OUTPUT
@click.option("--min-share", type=Checked(number(0, 1)), default=0.05, metavar="X", show_default=True,
              help="Drop senses with a smaller share in the uses of their word.")  # fmt: skip
@click.option("--min-count", type=Checked(integer(0)), default=0, metavar="N", show_default=True,
              help="Drop senses with fewer uses in the training text.")  # fmt: skip
@MAP
def prune(out: Output, model: str, output: str, min_share: float, min_count: int, map_to: str | None) -> None:
    """Drop senses that are hardly used; each word keeps its most used one."""
    change(out, model, output, map_to, lambda opened: opened.prune_senses(min_share, min_count))
