"""``muse recut``: a model with other numbers of senses."""

from __future__ import annotations

from typing import Any

import click

from muse.base.checks import senses as check_senses
from muse.cli.changing import MAP, change
from muse.cli.command import MODEL, OUTPUT, command
from muse.cli.kinds import Checked
from muse.cli.output import Output


@command(
    "Judge, change, convert",
    "muse recut model.safetensors coarse.safetensors --senses 2",
    "muse recut model.safetensors - --senses auto | muse info -",
    """muse recut model.safetensors some.safetensors --senses '{"bank": 3}' --map changed.jsonl""",
)
@MODEL
@OUTPUT
@click.option(
    "--senses",
    type=Checked(check_senses),
    metavar="N|auto",
    help='Of each word; auto: as the text gives evidence of; {"bank": 3}: of some words.  [as trained]',
)
@MAP
def recut(out: Output, model: str, output: str, senses: Any, map_to: str | None) -> None:
    """Cut the sense trees of a model anew, into more or fewer senses: at once and without the text.

    A sense keeps its number as long as it is one: bank#3 is the same node under every cut.
    """
    change(out, model, output, map_to, lambda opened: opened.recut(senses))
