"""``muse explore``: a page on which the senses of models are looked at."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import click

from muse.base.checks import integer
from muse.change.storing import ENDING
from muse.change.temporal import TemporalMUSE
from muse.cli.command import command
from muse.cli.kinds import FILE, Checked, words_in
from muse.cli.models import model_file
from muse.cli.output import Output
from muse.cli.streams import refuse_overwriting
from muse.cli.texts import Reading, reading_options, text_of
from muse.concordance.index import SUFFIX
from muse.explorer.file import write_html
from muse.explorer.server import FIRST_PORT, HOST, ExplorerServer
from muse.files.lines import shown


@command(
    "Ask a model",
    "muse explore model.safetensors --corpus text.txt",
    "muse explore 1900s.safetensors 2000s.safetensors --port 8080 --no-browser",
    'muse explore model.safetensors --html senses.html --words "bank spring" --corpus text.txt',
)
@click.argument("models", nargs=-1, required=True, type=FILE, metavar="MODEL...")
@click.option("--corpus", type=FILE, metavar="FILE", help="Show uses from this text.")
@click.option("--slices", is_flag=True, help="Show the slices of time that muse change --save kept beside a model.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="What a model is called; one for each.")
@click.option("--port", type=Checked(integer(0, 65535)), metavar="N",
              help=f"Where it listens; by default the first free one from {FIRST_PORT} on.")  # fmt: skip
@click.option("--host", default=HOST, metavar="ADDRESS", help="Another one lets others on the network look.")
@click.option("--browser/--no-browser", default=True, help="Whether the page opens by itself.")
@click.option("--html", "path", type=FILE, metavar="FILE", help="Write the page to a file, with some words inside.")
@click.option("--words", multiple=True, metavar="WORDS", help="These words, with spaces or commas between.")
@click.option("--sentence", "sentences", multiple=True, metavar="TEXT", help="A sentence for that file.")
@reading_options
def explore(
    out: Output, models: tuple[str, ...], corpus: str | None, names: tuple[str, ...], path: str | None,
    words: tuple[str, ...], sentences: tuple[str, ...], browser: bool, slices: bool, **values: Any,
) -> None:  # fmt: skip
    """Open a page on this machine: cards, trees and maps of senses, sentences, models or slices of time side by side.

    It is served until Ctrl-C. With --html the page is one file that needs no server.
    """
    reading, models = Reading.taken(values), tuple(map(model_file, models))
    opened: list[Any] = [TemporalMUSE.load(model, mmap=True) if slices else model for model in models]
    if slices and not names:
        names = tuple(shown(Path(model).name).removesuffix(".safetensors") for model in models)
    if path is None:
        if words or sentences:
            raise click.UsageError("--words and --sentence are for the file that --html names")
        text = _sentences(corpus, reading)
        with ExplorerServer(*opened, corpus=text, names=names or None, **values) as server:
            out.record({"url": server.url})
            out.line(f"the explorer is at {server.url} (Ctrl-C ends it)")
            if browser:
                webbrowser.open(server.url)
            server.wait()
        return
    asked = words_in(words)
    if not asked:
        raise click.UsageError('--html needs --words, such as --words "bank spring"')
    texts = [path for each in opened if isinstance(each, TemporalMUSE) for path in each.files]
    for given in (*models, *(model + ENDING for model in models if slices), corpus, *texts):
        refuse_overwriting(path, given)
    text = _sentences(corpus, reading)
    write_html(opened[0], asked, path, *opened[1:], corpus=text, sentences=sentences, names=names or None)
    out.record({"html": path, "words": asked})
    out.line(f"written   {path}, with {len(asked)} word{'s' * (len(asked) != 1)}")


def _sentences(corpus: str | None, reading: Reading) -> Any:
    """A text, or its index, which needs no reading."""
    return corpus if corpus is None or corpus.endswith(SUFFIX) else text_of([corpus], reading).sentences
