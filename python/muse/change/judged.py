"""Pairs of uses whose relatedness people judged (DURel, DWUG), and how well a model agrees with them."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.change.truth import AnnotatedUse, form_and_context, rows_of_table, uses_of_word
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer
from muse.errors import listed
from muse.evaluation.results import EvaluationResult
from muse.evaluation.stats import bootstrap_options, correlate, spearman
from muse.readers.delimited import parse_number

__all__ = ["UsePair", "evaluate_use_pairs", "read_use_pairs"]

_LEAST_PAIRS = 10  # of a word, for a correlation of its own


class UsePair(NamedTuple):
    """Two uses of a word, and how related their meanings are.

    Attributes
    ----------
    first, second : AnnotatedUse
        In no cluster.
    judgment : float
        The mean over annotators: 1 unrelated, 4 identical, in the published data.
    annotators : int
        How many judged it.
    """

    first: AnnotatedUse
    second: AnnotatedUse
    judgment: float
    annotators: int


def read_use_pairs(folder: str | PathLike[str]) -> list[UsePair]:
    """Read the judgments of a data set of DWUG or DURel.

    Of each word ``data/<word>/uses.csv`` is read, as `read_annotated_uses` does, and ``data/<word>/judgments.csv``, a
    table with tabs whose columns ``identifier1``, ``identifier2`` and ``judgment`` are needed. A judgment of 0, or
    none, says that the annotator could not decide, and is left out.

    Parameters
    ----------
    folder : path-like
        That which holds ``data``.

    Returns
    -------
    list of UsePair
        Each pair once, in whatever order it was judged.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or file.
    ValueError
        For a table without these columns, a judgment that is no number, or one of a use that there is not.
    """
    root = Path(folder)
    if not (root / "data").is_dir():
        raise FileNotFoundError(f"{os.fspath(folder)} has no folder 'data'; give the folder of a DWUG data set")
    found = []
    for path in sorted((root / "data").glob("*/judgments.csv")):
        uses = uses_of_word(path.with_name("uses.csv"))
        judged: dict[tuple[str, str], list[float]] = {}
        for row in rows_of_table(path, ("identifier1", "identifier2", "judgment")):
            pair = (row["identifier1"], row["identifier2"])
            for name in pair:
                if name not in uses:
                    raise ValueError(f"{path} judges the use {name!r:.80}, which is not in uses.csv beside it")
            value = _judgment(row["judgment"], path)
            if value > 0:
                judged.setdefault((min(pair), max(pair)), []).append(value)
        found += [
            UsePair(uses[one], uses[other], float(np.mean(values)), len(values))
            for (one, other), values in judged.items()
        ]
    if not found:
        raise ValueError(f"{os.fspath(folder)} holds no judgments of pairs of uses")
    return found


def _judgment(text: str, path: Path) -> float:
    if text.strip().lower() in ("", "-", "nan"):
        return 0.0
    value = parse_number(text)
    if value is None or not math.isfinite(value) or value < 0:
        raise ValueError(f"{path}: {text!r:.40} is no judgment; it must be a number, or 0 for none")
    return value


def evaluate_use_pairs(
    model: Any, pairs: Sequence[UsePair], *, tokenizer: Tokenizer = tokenize, resamples: int = 1000,
    confidence: float = 0.95, seed: int = 0,
) -> EvaluationResult:  # fmt: skip
    """How well `MUSE.usage_similarity` agrees with judgments of pairs of uses, by Spearman's correlation.

    Parameters
    ----------
    model : MUSE
        With sense trees, such as the ``model`` of a `TemporalMUSE`.
    pairs : sequence of UsePair
        As `read_use_pairs` gives them.
    tokenizer : callable
        Gives the tokens of a text.
    resamples, confidence, seed
        Of the bootstrap interval.

    Returns
    -------
    EvaluationResult
        With ``rho``, ``low`` and ``high`` over all pairs, and ``rho, of a word``: the mean over words with ten pairs or
        more. Pairs with a word that the model does not know are left out, and said.

    Raises
    ------
    TypeError
        If the model has no `usage_similarity`.
    ValueError
        If fewer than two pairs can be scored.
    """
    if not hasattr(model, "usage_similarity"):
        raise TypeError(f"the model must tell how alike uses are (usage_similarity); got {type(model).__name__}")
    options = bootstrap_options(resamples, confidence, seed)
    items: list[dict[str, Any]] = []
    for pair in pairs:
        one, two = (form_and_context(model, use, tokenizer) for use in (pair.first, pair.second))
        row = {"word": pair.first.word, "judgment": pair.judgment, "similarity": None}
        if one is not None and two is not None:
            row["similarity"] = model.usage_similarity(
                one[0], one[1], two[1], word2=two[0], position1=one[2], position2=two[2]
            )
        items.append(row)
    known = [row for row in items if row["similarity"] is not None]
    if len(known) < 2:
        words = list(dict.fromkeys(row["word"] for row in items))
        raise ValueError(f"only {len(known)} of {len(items)} pairs can be scored, of the words {listed(words)}")
    notes: list[str] = []
    if len(known) < len(items):
        missing = list(dict.fromkeys(row["word"] for row in items if row["similarity"] is None))
        notes.append(f"{len(items) - len(known)} pairs have a word that the model does not know: {listed(missing)}")
    found = correlate("pairs", *_columns(known), options, notes)
    each = []
    for word in dict.fromkeys(row["word"] for row in known):
        scores, judgments = _columns([row for row in known if row["word"] == word])
        if len(scores) >= _LEAST_PAIRS and len(set(judgments)) > 1:
            each.append(spearman(scores, judgments))
    summary = {
        "rho": found["rho"], "low": found["low"], "high": found["high"], "pairs": len(known),
        "rho, of a word": float(np.mean(each)) if each else None, "words": len({row["word"] for row in known}),
    }  # fmt: skip
    return EvaluationResult("use pairs", "rho", summary, [], items, options, notes)


def _columns(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Similarities and judgments."""
    return [row["similarity"] for row in rows], [row["judgment"] for row in rows]
