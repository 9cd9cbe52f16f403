"""``muse link``: which entry of WordNet each sense is."""

from __future__ import annotations

from typing import Any

import click

from muse.base.checks import number
from muse.cli.command import MODEL, command
from muse.cli.kinds import FILE, WORD, Checked
from muse.cli.models import open_model
from muse.cli.output import Output
from muse.cli.streams import is_input, lines, refuse_two_inputs
from muse.lexicon.synsets import POS


@command(
    "Judge, change, convert",
    "muse link model.safetensors bank --lexicon wordnet",
    "cut -f1 words.txt | muse link model.safetensors - --lexicon wordnet --pos n --json",
)
@MODEL
@click.argument("words", nargs=-1, type=WORD, metavar="[WORD]...")
@click.option("--lexicon", type=FILE, default="oewn:2024", metavar="NAME|FOLDER", show_default=True,
              help="A lexicon of the library wn, a WN-LMF file, or a folder such as /usr/share/wordnet.")  # fmt: skip
@click.option("--pos", type=click.Choice(list(POS)), multiple=True, help="Only entries of this part of speech.")
@click.option("--threshold", type=Checked(number(0, 1)), default=0.5, metavar="X", show_default=True,
              help="Take no entry with a lower score.")  # fmt: skip
def link(out: Output, model: str, words: tuple[str, ...], lexicon: str, pos: tuple[str, ...], threshold: float) -> None:
    """Propose the entry of WordNet that each sense of WORD is: its definition, and a score.

    Without WORD, for all words with several senses; - reads words from standard input, one a line.
    """
    refuse_two_inputs(model, *words)
    asked = [
        found for word in words
        for found in ((line.strip() for line in lines(word)) if is_input(word) else (word,)) if found
    ]  # fmt: skip
    with open_model(model) as opened:
        links = opened.link_wordnet(asked if words else None, lexicon, pos=pos or None, threshold=threshold)
    rows: list[dict[str, Any]] = []
    for key, record in links.to_dict().items():
        out.record({"sense": key, "link": record})
        rows.append({"sense": key, **{name: (record or {}).get(name) for name in ("score", "synset", "name", "gloss")}})
    out.table(rows, {"sense": "", "score": ".2f", "synset": "", "name": "", "gloss": ""})
