"""``muse info``: what a model or a vector file holds."""

from __future__ import annotations

import os
from typing import Any

from muse.cli.command import MODEL, command
from muse.cli.models import open_vectors
from muse.cli.output import Output
from muse.cli.settings import option_names
from muse.data.memory import readable_size
from muse.formats.loaded import LoadedVectors
from muse.formats.registry import detect_format
from muse.model.muse import MUSE


@command("Ask a model", "muse info model.safetensors", "muse info model.safetensors --json")
@MODEL
def info(out: Output, model: str) -> None:
    """Say what a model is: its words, senses and settings, and how it was trained.

    MODEL is a file that `muse train` wrote, or the vectors of another tool (see muse convert).
    """
    with open_vectors(model) as opened:
        found = _of_model(opened) if isinstance(opened, MUSE) else _of_vectors(opened, model)
    record = {"file": model, "bytes": None if model == "-" else _size(model), **found}
    out.record(record)
    for name, value in record.items():
        for title, text in _shown(name, value):
            out.line(f"{title:<16}{text}")


def _of_model(model: MUSE) -> dict[str, Any]:
    arguments = model.settings.arguments()
    recipe = arguments["recipe"]
    trained = model.is_trained
    several = int((model.arrays.priors() < 1).sum()) if trained else 0
    return {
        "format": "muse",
        "words": len(model),
        "senses": model.arrays.n_senses if trained else 0,
        "vector_size": model.vector_size,
        "senses_of_ambiguous_words": several,
        "has_trees": model.has_usage_vectors,
        "tokens": model.corpus_total_words,
        "trained": trained,
        "recipe": type(recipe).__name__.lower(),
        "settings": {name: arguments[name] for name in option_names() if name not in model.settings.runtime_names()},
        "history": [
            {name: row[name] for name in ("epoch", "stage", "tokens", "loss") if name in row} for row in model.history
        ],
    }


def _of_vectors(vectors: LoadedVectors, path: str) -> dict[str, Any]:
    table = vectors.table
    return {
        "format": "vectors" if path == "-" else detect_format(path),
        "words": len(vectors),
        "senses": table.n_senses,
        "vector_size": vectors.vector_size,
        "senses_of_ambiguous_words": int(table.senses[table.senses > 1].sum()),
        "has_selector": vectors.has_selector,
        "has_counts": table.word_counts is not None or table.sense_counts is not None,
    }


def _shown(name: str, value: Any) -> list[tuple[str, str]]:
    """Lines of a person's report: a title and a text each."""
    if value is None or name == "settings":
        return [] if value is None else [(name, ", ".join(f"{key}={item}" for key, item in value.items()))]
    if name == "history":
        return [
            (f"epoch {row['epoch']}", f"{row['stage']}, {row['tokens']:,} tokens, loss {row['loss']:.3f}")
            for row in value
        ]
    titles = {"bytes": "size", "senses_of_ambiguous_words": "of ambiguous", "vector_size": "dimension"}
    title = titles.get(name, name.replace("has_", "has ").replace("_", " "))
    if isinstance(value, bool):
        return [(title, "yes" if value else "no")]
    text = readable_size(value) if name == "bytes" else f"{value:,}" if isinstance(value, int) else str(value)
    return [(title, text)]


def _size(path: str) -> int:
    if os.path.isdir(path):
        return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(path) for name in names)
    return os.path.getsize(path)
