"""``muse change``: how the senses of words changed between texts."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from muse.base.checks import integer
from muse.change.dated import by_bins
from muse.change.measures import MEASURES
from muse.change.storing import ENDING
from muse.change.temporal import MOST_SENTENCES, TemporalMUSE
from muse.cli.command import command
from muse.cli.kinds import FILE, Checked, words_in
from muse.cli.output import Output
from muse.cli.settings import given_settings, settings_options
from muse.cli.streams import is_input, is_output, refuse_overwriting
from muse.cli.texts import Reading, reading_options, text_of
from muse.explorer.file import write_html
from muse.files.lines import shown
from muse.files.table_files import TableFile
from muse.model.muse import MUSE

_PAGE_WORDS = 30  # of those that changed most, in a page whose words are not said


@command(
    "Read text with a model",
    "muse change 1900s.txt 2000s.txt --save time.safetensors",
    'muse change 1900s.txt 2000s.txt --words "bank cell" --html change.html',
    "muse change letters.csv --text-column text --by year --bins 1800,1850,1900",
)
@click.argument("texts", nargs=-1, required=True, type=FILE, metavar="TEXT...")
@click.option("--name", "names", multiple=True, metavar="NAME", help="What a slice is called; one for each TEXT.")
@click.option("--words", multiple=True, metavar="WORDS", help="These words, with spaces or commas between.")
@click.option("-n", "--limit", type=Checked(integer(0)), default=20, metavar="N", show_default=True,
              help="How many of the words that changed most; 0: all.")  # fmt: skip
@click.option("--measure", type=click.Choice(MEASURES), default="jsd", show_default=True,
              help="Of senses, vectors or uses.")  # fmt: skip
@click.option("--by", metavar="COLUMN", help="TEXT is one table, and this column tells its slices, such as year.")
@click.option("--bins", metavar="EDGES", help="Of slices of --by, such as 1800,1850,1900.")
@click.option("--block", type=Checked(integer(1, MOST_SENTENCES)), default=20, metavar="N", show_default=True,
              help="Sentences that chance takes together, as many as a document has.")  # fmt: skip
@click.option("--model", type=FILE, metavar="FILE", help="Take the senses of this model, and train none.")
@click.option("--save", type=FILE, metavar="FILE", help="Keep the model, and its slices beside it.")
@click.option("--html", type=FILE, metavar="FILE", help="Write a page: words, shares over time, uses by slice.")
@reading_options
@settings_options(("senses", "vector_size", "epochs", "workers"))
def change(
    out: Output, texts: tuple[str, ...], words: tuple[str, ...], limit: int, measure: str, block: int,
    model: str | None, save: str | None, html: str | None, **values: Any,
) -> None:  # fmt: skip
    """Rank words by how far their senses changed between texts: TEXTs are slices in the order of time.

    Each is text as for train. With --words the shares of their senses in each slice are listed.
    """
    if any(map(is_input, texts)):
        raise click.UsageError("a slice is read more than once, and standard input can be read once; name files")
    slices = _slices(texts, values, Reading.taken(values))
    settings, asked = given_settings(values), words_in(words)
    if str(values.get("recipe") or "trees").lower() != "trees":
        raise click.UsageError("senses over time need sense trees: leave --recipe out")
    if model is not None and settings.keys() - {"workers"}:
        name = min(settings.keys() - {"workers"}).replace("_", "-")
        raise click.UsageError(f"--{name} is for a model that is trained here, and --model names one that is there")
    for target in (save, html):
        if target is not None and is_output(target):
            raise click.UsageError("the model and the page are files; name one")
    slices_file = None if save is None else save + ENDING
    for target in (save, slices_file, html):
        refuse_overwriting(target, *texts, *([] if model is None else [model, model + ENDING]))
    refuse_overwriting(html, save, slices_file)
    if model is None:
        found = TemporalMUSE(slices, block=block, **settings)
    else:
        found = TemporalMUSE(slices, model=MUSE.load(model, **settings), block=block)
    if save is not None:
        found.save(save)
        print(f"saved     {shown(save)}, and the slices beside it", file=sys.stderr)
    for word in asked:
        found.model.vocabulary.index(word)
    if asked:
        _show_words(out, found, asked, measure)
    elif len(found.slices) > 1:
        asked = _show_change(out, found, measure, limit)
    else:
        raise click.UsageError("change is between slices: give two texts or more, or --words")
    if html is not None and not asked:
        raise ValueError(
            "no word is frequent enough in both slices, so there is no page to write; name some with --words"
        )
    if html is not None:
        write_html(found, asked[:_PAGE_WORDS] if not words else asked, html, names=["senses"])
        print(f"written   {shown(html)}", file=sys.stderr)


def _slices(texts: Sequence[str], values: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The sentences of each slice, by its name."""
    names, by, bins = values.pop("names"), values.pop("by"), values.pop("bins")
    if by is not None:
        if len(texts) > 1 or names or reading.text_column is None:
            raise click.UsageError("--by parts one table: name its column of text with --text-column, and no slices")
        return _by_column(texts[0], by, bins, reading)
    if bins is not None:
        raise click.UsageError("--bins are of the column that --by names")
    if names and len(names) != len(texts):
        raise click.UsageError(f"give --name once for each of {len(texts)} texts, or not at all; got {len(names)}")
    called = list(names or map(_name_of, texts))
    if "" in called:
        raise click.UsageError("a slice needs a name that is not empty")
    twice = [name for name in called if called.count(name) > 1]
    if twice:
        raise click.UsageError(f"two slices are called {twice[0]!r}; give each a name with --name")
    return {name: text_of([text], reading).sentences for name, text in zip(called, texts, strict=True)}


def _name_of(text: str) -> str:
    """The name of a file without its endings."""
    name = Path(text).name
    return name.partition(".")[0] or name or text


def _by_column(table: str, by: str, bins: str | None, reading: Reading) -> dict[str, Any]:
    edges = None if bins is None else [_date(edge) for edge in re.split(r"[\s,]+", bins.strip(" ,"))]
    file = TableFile(table, reading.encoding)
    for name in (by, str(reading.text_column)):
        if name not in file.columns:
            raise ValueError(f"{shown(table)} has no column {name!r}; it has {', '.join(map(repr, file.columns))}")
    rows = _dated(file.rows((by, reading.text_column)), by, shown(table), edges)
    try:
        language = reading.language if reading.prose else None
        return dict(by_bins(rows, reading.text_column, by, edges, prose=bool(reading.prose), language=language))
    except (TypeError, KeyError) as error:  # its rows are data
        raise ValueError(f"{shown(table)}: {error.args[0] if error.args else error}") from error


def _dated(rows: Iterable[Mapping[str, Any]], by: str, table: str, edges: list[Any] | None) -> Iterator[dict[str, Any]]:
    """Rows with dates in place of text, none where there is none; each must be of the kind that the bins are."""
    numbers = edges is not None and all(isinstance(edge, (int, float)) for edge in edges)
    for number, row in enumerate(rows, 1):
        date = _date(row.get(by))
        if numbers and isinstance(date, str):
            raise ValueError(f"{table}: {date!r:.80} in row {number} of {by!r} is no number, as the bins are")
        yield {**row, by: date}


def _date(cell: Any) -> Any:
    """A number where it is one: tables of text have no others."""
    if not isinstance(cell, str):
        return cell
    cell = cell.strip()
    if cell.lower() in ("", "nan", "none", "nat", "na"):
        return None
    try:
        number = float(cell)
    except ValueError:
        return cell
    return int(number) if number.is_integer() else number


def _show_change(out: Output, found: TemporalMUSE, measure: str, limit: int) -> list[str]:
    """The words that changed most, and senses that came or went; the words."""
    table = found.change(measure)
    rows = table.rows[: limit or None]
    for row in rows:
        out.record(row)
    columns = {"word": "", "value": ".3f", "excess": ".3f", "p": ".2g", "q": ".2g", "changed": "", "uses_before": "",
               "uses_after": ""}  # fmt: skip
    out.table(rows, columns, table.title)
    out.line(f"{len(table.changed):,} of {len(table):,} words are called changed, at a rate of false discoveries of 5%")
    if not out.as_json:
        for senses in (found.new_senses(), found.lost_senses()):
            out.line()
            if senses.rows:
                kinds = {"sense": "", "before": ".0%", "after": ".0%", "q": ".2g", "near": ""}
                out.table(senses.rows[: limit or None], kinds, senses.title)
            else:
                out.line(f"{senses.title}: none")
    return [row["word"] for row in rows]


def _show_words(out: Output, found: TemporalMUSE, words: Iterable[str], measure: str) -> None:
    """The shares of the senses of some words in each slice."""
    ranked = {}
    if len(found.slices) > 1:
        ranked = {row["word"]: row for row in found.change(measure, words=words)}
    for word in words:
        rows, row = found.shares(word).rows, ranked.get(word)
        out.record({"word": word, "change": row, "shares": rows})
        out.gap()
        few = (
            "too few uses to compare" if len(found.slices) > 1 else "there is one slice, and nothing to compare it with"
        )
        told = few if row is None else (
            f"{measure} {row['value']:.3f}, {row['excess']:.3f} beyond chance, p {row['p']:.2g}"
        )  # fmt: skip
        out.table(list(_wide(rows, found.slices)), ["sense", *found.slices, "near"], f"{word}: {told}")


def _wide(rows: Sequence[dict[str, Any]], slices: Sequence[str]) -> Iterator[dict[str, str]]:
    """A row for each sense, a column for each slice."""
    for sense in dict.fromkeys(row["sense"] for row in rows):
        mine = {row["slice"]: row for row in rows if row["sense"] == sense}
        shares = {
            name: "-" if row["share"] is None else f"{row['share']:.0%} ({row['low']:.0%} to {row['high']:.0%})"
            for name, row in mine.items()
        }
        yield {"sense": sense, **{name: shares[name] for name in slices}, "near": mine[slices[0]]["near"]}
