"""``muse tag``: a text with the sense of each word."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import click

from muse.base.checks import number
from muse.cli.command import MODEL, command
from muse.cli.kinds import FILE, Checked
from muse.cli.models import open_model
from muse.cli.output import Output
from muse.cli.settings import given_settings, settings_options
from muse.cli.streams import is_input, is_output, lines, raw_input, raw_output, refuse_overwriting, refuse_two_inputs
from muse.cli.training import shows_progress
from muse.files.lines import as_paths, compression, split_words
from muse.files.replacing import replacing
from muse.model.muse import MUSE
from muse.selector.tag_file import TagReport, is_stream, tag_stream


@command(
    "Read text with a model",
    "muse tag model.safetensors text.txt tagged.txt.gz",
    "muse tag model.safetensors text.txt - --margin 0.2 | head -n 3",
    "tail -n 2 text.txt | muse tag model.safetensors - - --json",
)
@MODEL
@click.argument("input", type=FILE)
@click.argument("output", type=FILE)
@click.option("--margin", type=Checked(number(0, 1)), default=0.0, metavar="X",
              help="Leave words bare whose sense is less than this more probable than the next best one.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Go on where the same command was stopped.")
@click.option("--progress/--no-progress", default=None, help="Show a progress bar; by default on a terminal.")
@settings_options(("workers",), all_of_them=False)
def tag(
    out: Output, model: str, input: str, output: str, margin: float, resume: bool, progress: bool | None, **values: Any
) -> None:
    """Write a text with the sense of each word behind it: head becomes head#2.

    INPUT is plain text, one sentence a line; it and OUTPUT may be .gz, .bz2, .xz or .zst, and - is standard input or
    output. With --json a line of OUTPUT is an object with the tokens of a sentence; else the report is one.
    """
    refuse_two_inputs(model, input)
    writes = is_output(output)
    if not writes and not is_stream(output):
        refuse_overwriting(output, model)
    streams = writes or is_input(input)
    if resume and (streams or (out.as_json and writes)):
        raise click.UsageError("--resume goes on with a file that an earlier call left, and a pipe leaves none")
    with open_model(model, **given_settings(values)) as opened:
        if out.as_json and writes:
            _tag_as_json(out, opened, input, margin)
            return
        if streams:
            report = _tag_stream(opened, input, output, margin)
        else:
            report = opened.tag_corpus(input, output, margin=margin, resume=resume, progress=shows_progress(progress))
    if writes:
        print(f"tagged    {report.tagged:,} of {report.tokens:,} tokens", file=sys.stderr)
    else:
        out.line(f"tagged    {report.tagged:,} of {report.tokens:,} tokens")
        out.record({"tagged": report.tagged, "tokens": report.tokens, "output": output})


def _tag_stream(model: MUSE, source: str, target: str, margin: float) -> TagReport:
    """Tag from standard input, or to standard output, or both."""
    with contextlib.ExitStack() as opened:
        if is_input(source):
            source, file = "standard input", raw_input()
        else:
            file = opened.enter_context(as_paths(source, "input")[0].open("rb"))
        sink: Any
        if is_output(target):
            sink = raw_output()
        elif is_stream(target):
            sink = opened.enter_context(Path(target).open("wb"))
        else:
            sink = opened.enter_context(replacing(target))
        return tag_stream(
            model.selector.tagger, file, sink,
            name=source, margin=margin, workers=model.selector.workers, ending=compression(Path(target)),
        )  # fmt: skip


def _tag_as_json(out: Output, model: MUSE, source: str, margin: float) -> None:
    for line in lines(source, "input"):
        tokens = split_words(line)
        senses, probabilities, unsure = next(model.disambiguate_batch([tokens], probabilities=True, margin=margin))
        out.record({
            "tokens": [
                {"token": token, "sense": None if bare or sense < 0 else f"{token}#{sense}", "probability": probability}
                for token, sense, probability, bare in zip(
                    tokens, senses.tolist(), probabilities.tolist(), unsure.tolist(), strict=True
                )
            ]
        })  # fmt: skip
