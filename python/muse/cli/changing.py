"""Commands that write a changed model: reading it, saving it, saying what became of its senses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import click

from muse.cli.kinds import FILE
from muse.cli.models import open_model
from muse.cli.output import Output
from muse.cli.streams import is_output, output_file, refuse_overwriting
from muse.files.lines import shown
from muse.files.replacing import replacing
from muse.model.muse import MUSE

__all__ = ["MAP", "change"]

MAP = click.option("--map", "map_to", type=FILE, metavar="FILE",
                   help="List there what became of each sense that is not the same: a JSON object a line.")  # fmt: skip


def change(out: Output, source: str, target: str, map_to: str | None, how: Callable[[MUSE], Any]) -> None:
    """Change the model in `source` by `how`, whose answer tells what changed, and save it as `target`."""
    refuse_overwriting(target, source)
    refuse_overwriting(map_to, source, target)
    if is_output(target) and (out.as_json or (map_to is not None and is_output(map_to))):
        raise click.UsageError("the model goes to standard output, so nothing else can; name a file for one of them")
    with open_model(source) as model:
        before = model.arrays.n_senses
        changed = how(model).changed()
        with output_file(target) as path:
            model.save(path)
    if map_to is not None:
        with output_file(map_to) as path, replacing(path) as file:
            file.writelines(line.encode() for line in _lines(changed))
    if is_output(target) or (map_to is not None and is_output(map_to)):
        return
    words = len({word for word, _ in changed})
    out.line(f"senses    {before:,} before, {model.arrays.n_senses:,} now; {words:,} words changed")
    out.line(f"saved     {shown(target)}")
    out.record({
        "senses_before": before, "senses": model.arrays.n_senses, "words_changed": words,
        "senses_changed": len(changed), "saved": target,
    })  # fmt: skip


def _lines(changed: dict[tuple[str, int], Any]) -> Iterable[str]:
    for (word, number), became in changed.items():
        pairs = [] if became is None else [became] if isinstance(became[0], str) else list(became)
        record = {"sense": f"{word}#{number}", "now": [f"{name}#{place}" for name, place in pairs]}
        yield json.dumps(record, ensure_ascii=False) + "\n"
