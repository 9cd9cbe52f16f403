"""``muse train``: from text to a model."""

from __future__ import annotations

from typing import Any

import click

from muse.cli.command import command
from muse.cli.kinds import FILE
from muse.cli.output import Output
from muse.cli.settings import given_settings, settings_options
from muse.cli.streams import output_file, refuse_overwriting
from muse.cli.training import corpus_of, shows_progress, train_and_save

SHOWN = (
    "senses", "vector_size", "window", "min_count", "epochs", "negative", "sample", "alpha", "strategy", "workers",
    "seed", "checkpoint_dir",
)  # fmt: skip


@command(
    "Make a model",
    "muse train text.txt --save model.safetensors",
    "muse train --vector-size 100 --workers 4 --save model.safetensors chapters/ more.txt.gz",
    "zcat more.txt.gz | muse train - --config muse.toml --save model.safetensors",
)
@click.argument("corpus", nargs=-1, required=True, type=FILE)
@click.option("--save", "path", required=True, type=FILE, metavar="FILE", help="Where the model goes (.safetensors).")
@click.option("--progress/--no-progress", default=None, help="Show a progress bar; by default on a terminal.")
@settings_options(SHOWN)
def train(out: Output, corpus: tuple[str, ...], path: str, progress: bool | None, **values: Any) -> None:
    """Train on text and save the model.

    CORPUS is plain text, one sentence a line, words separated by spaces: files (also .gz, .bz2, .xz, .zst), folders of
    them, - for standard input; or a Wikipedia dump (.xml, .xml.bz2).
    """
    settings = given_settings(values)
    refuse_overwriting(path, *corpus)
    settings["progress"] = shows_progress(progress)
    with output_file(path) as target:
        train_and_save(", ".join(corpus), corpus_of(corpus), settings, target, out)
