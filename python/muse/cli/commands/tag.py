"""``muse tag``: a text with the sense of each word."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from muse.base.checks import number
from muse.cli.command import MODEL, command
from muse.cli.kinds import FILE, Checked
from muse.cli.models import open_model
from muse.cli.output import Output
from muse.cli.settings import given_settings, settings_options
from muse.cli.streams import (
    is_input,
    is_output,
    lines,
    output_file,
    raw_input,
    raw_output,
    refuse_overwriting,
    refuse_two_inputs,
)
from muse.cli.texts import ENCODING, Reading, text_of
from muse.cli.training import shows_progress
from muse.files.lines import as_paths, compression, split_words
from muse.files.replacing import replacing
from muse.model.muse import MUSE
from muse.selector.tag_file import Tagger, TagReport, is_stream, tag_stream
from muse.selector.tagging import naming_tagger


@command(
    "Read text with a model",
    "muse tag model.safetensors text.txt tagged.txt.gz",
    "muse tag model.safetensors text.txt - --margin 0.2 | head -n 3",
    "muse tag model.safetensors text.txt tagged.txt --names",
    "tail -n 2 text.txt | muse tag model.safetensors - - --json",
)
@MODEL
@click.argument("input", type=FILE)
@click.argument("output", type=FILE)
@click.option("--margin", type=Checked(number(0, 1)), default=0.0, metavar="X",
              help="Leave words bare whose sense is less than this more probable than the next best one.")  # fmt: skip
@click.option("--names", is_flag=True, help="Write names of senses, bank:river, where they have any.")
@click.option("--resume", is_flag=True, help="Go on where the same command was stopped.")
@click.option("--progress/--no-progress", default=None, help="Show a progress bar; by default on a terminal.")
@click.option("--prose", is_flag=True, help="INPUT is prose: its sentences are written, one a line.")
@ENCODING
@settings_options(("workers",), all_of_them=False)
def tag(
    out: Output, model: str, input: str, output: str, margin: float, names: bool, resume: bool, progress: bool | None,
    **values: Any,
) -> None:  # fmt: skip
    """Write a text with the sense of each word behind it: head becomes head#2.

    INPUT is text, one sentence a line; it and OUTPUT may be .gz, .bz2, .xz or .zst, and - is standard input or output.
    With --json and OUTPUT -, a line is an object with the tokens of a sentence; else the report is one.
    """
    reading = Reading(prose=values.pop("prose"), encoding=values.pop("encoding"), tables=False)
    refuse_two_inputs(model, input)
    writes = is_output(output)
    streams = writes or is_input(input)
    as_sentences = reading.prose or reading.encoding is not None
    if not writes and not is_stream(output):
        refuse_overwriting(output, model, input if as_sentences else None)
    if resume and (streams or as_sentences):
        raise click.UsageError("--resume goes on with a file that an earlier call left, and a pipe leaves none")
    with open_model(model, **given_settings(values)) as opened:
        if out.as_json and writes:
            _tag_as_json(out, opened, _sentences(input, reading if as_sentences else None), margin, names)
            return
        if as_sentences:
            sentences = text_of([input], reading).sentences
            with output_file(output) as target:
                report = opened.tag_corpus(
                    sentences, target, margin=margin, names=names, progress=shows_progress(progress)
                )
        elif streams:
            tagger = naming_tagger(opened.snapshot) if names else opened.selector.tagger
            report = _tag_stream(tagger, opened.selector.workers, input, output, margin)
        else:
            report = opened.tag_corpus(
                input, output, margin=margin, names=names, resume=resume, progress=shows_progress(progress)
            )
    if writes:
        print(f"tagged    {report.tagged:,} of {report.tokens:,} tokens", file=sys.stderr)
    else:
        out.line(f"tagged    {report.tagged:,} of {report.tokens:,} tokens")
        out.record({"tagged": report.tagged, "tokens": report.tokens, "output": output})


def _tag_stream(tagger: Tagger, workers: int, source: str, target: str, margin: float) -> TagReport:
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
            tagger, file, sink, name=source, margin=margin, workers=workers, ending=compression(Path(target))
        )  # fmt: skip


def _sentences(source: str, reading: Reading | None) -> Iterable[list[str]]:
    """The sentences of a text; without `reading` its lines as they come."""
    if reading is None:
        return map(split_words, lines(source, "input"))
    sentences: Iterable[list[str]] = text_of([source], reading).sentences
    return sentences


def _tag_as_json(out: Output, model: MUSE, sentences: Iterable[list[str]], margin: float, names: bool) -> None:
    known = model.snapshot.known_names if names else ()
    for tokens in sentences:
        senses, probabilities, unsure = next(model.disambiguate_batch([tokens], probabilities=True, margin=margin))
        rows = []
        for token, sense, probability, bare in zip(
            tokens, senses.tolist(), probabilities.tolist(), unsure.tolist(), strict=True
        ):
            key = None if bare or sense < 0 else f"{token}#{sense}"
            row = {"token": token, "sense": key, "probability": probability}
            if names:
                row["name"] = model.sense_names(token).get(key) if key is not None and token in known else None
            rows.append(row)
        out.record({"tokens": rows})
