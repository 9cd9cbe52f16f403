"""``muse train``: from text to a model."""

from __future__ import annotations

from typing import Any

import click

from muse.cli.command import command
from muse.cli.kinds import FILE
from muse.cli.output import Output
from muse.cli.settings import given_settings, settings_options
from muse.cli.streams import refuse_overwriting
from muse.cli.training import corpus_of, shows_progress, train_and_save

SHOWN = (
    "senses", "vector_size", "window", "min_count", "epochs", "sample", "workers", "seed", "device", "checkpoint_dir",
)  # fmt: skip


@command(
    "Make a model",
    "muse train text.txt --save model.safetensors --vector-size 100",
    "muse train chapters/ more.txt.gz --save model.safetensors --senses 3 --workers 4",
    "zcat more.txt.gz | muse train - --config muse.toml --save model.safetensors",
)
@click.argument("corpus", nargs=-1, required=True, type=FILE)
@click.option("--save", "path", required=True, type=FILE, metavar="FILE", help="Where the model goes (.safetensors).")
@click.option("--resume", is_flag=True, help="Go on from the checkpoint in --checkpoint-dir, if one is there.")
@click.option("--progress/--no-progress", default=None, help="Show a progress bar; by default on a terminal.")
@settings_options(SHOWN)
def train(out: Output, corpus: tuple[str, ...], path: str, resume: bool, progress: bool | None, **values: Any) -> None:
    """Train on text and save the model.

    CORPUS is plain text, one sentence a line, words separated by spaces: files (also .gz, .bz2, .xz, .zst), folders,
    patterns such as "texts/*.txt", - for standard input; or a Wikipedia dump (.xml, .xml.bz2).
    """
    settings = given_settings(values)
    refuse_overwriting(path, *corpus)
    settings["progress"] = shows_progress(progress)
    train_and_save(corpus_of(corpus), settings, path, out, resume)
