"""How well change is found: against the published answers of SemEval-2020 task 1, and annotated uses (DWUG, DURel)."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from muse.base.checks import flag
from muse.change.tables import ChangeTable
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer, tokens_of
from muse.errors import listed
from muse.evaluation.clustering import adjusted_rand, v_measure
from muse.evaluation.protocol import SenseModel
from muse.evaluation.provenance import source_name
from muse.evaluation.results import EvaluationResult
from muse.evaluation.stats import bootstrap_options, correlate
from muse.readers.delimited import parse_number
from muse.readers.lines import read_lines

__all__ = [
    "AnnotatedUse", "evaluate_change", "evaluate_uses", "form_and_context", "read_annotated_uses", "read_change",
    "rows_of_table", "uses_of_word",
]  # fmt: skip

_NO_CLUSTER = "-1"  # of uses that annotators could not place


def read_change(path: str | PathLike[str]) -> dict[str, float]:
    """Read a file of answers of SemEval-2020 task 1: ``word TAB number``, whether or how far each word changed.

    Parameters
    ----------
    path : path-like
        Such as ``truth/binary.txt`` or ``truth/graded.txt``.

    Returns
    -------
    dict of str to float

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        For a line that is none, a word that comes twice, or an empty file; with file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "graded.txt"
    >>> _ = path.write_text("cell\\t0.75\\nface\\t0\\n")
    >>> read_change(path)
    {'cell': 0.75, 'face': 0.0}
    """
    found: dict[str, float] = {}
    for line_number, line in read_lines(path):
        if not line.strip():
            continue
        place = f"{os.fspath(path)}, line {line_number}"
        fields = line.split("\t")
        value = parse_number(fields[1]) if len(fields) == 2 and fields[0] else None
        if value is None or not math.isfinite(value):
            raise ValueError(f"{place}: expected a word, a tab and a number; got {line!r:.80}")
        if fields[0] in found:
            raise ValueError(f"{place}: {fields[0]!r:.80} comes twice")
        found[fields[0]] = value
    if not found:
        raise ValueError(f"{os.fspath(path)} holds no answers")
    return found


def evaluate_change(
    found: ChangeTable | Mapping[str, float], graded: Any = None, binary: Any = None, *, strip_tags: bool = False,
    resamples: int = 1000, confidence: float = 0.95, seed: int = 0,
) -> EvaluationResult:  # fmt: skip
    """Compare a ranking by change with published answers, such as those of SemEval-2020 task 1.

    Parameters
    ----------
    found : ChangeTable or mapping of str to float
        What ``TemporalMUSE.change(words=targets)`` gives, or scores of words. Of a mapping there are no words that are
        called changed, and so no accuracy.
    graded : path-like or mapping of str to float, optional
        How far each word changed.
    binary : path-like or mapping of str to float, optional
        1 for the words that gained or lost a sense, 0 for others.
    strip_tags : bool
        Compare ``attack_nn`` of the answers with ``attack``.
    resamples, confidence, seed
        Of the bootstrap interval of Spearman's correlation.

    Returns
    -------
    EvaluationResult
        With ``rho`` (Spearman) and its interval, of `graded`; ``accuracy``, ``majority`` (of always saying the more
        frequent answer) and ``auc``, of `binary`. Words that were not scored, rare ones among them, are left out of all
        and named in the notes.

    Raises
    ------
    TypeError, ValueError
        If neither answers are given, or fewer than two of their words are scored.

    Examples
    --------
    >>> result = evaluate_change({"cell": 0.4, "face": 0.1, "stab": 0.2}, {"cell": 0.8, "face": 0.0, "stab": 0.3})
    >>> result["rho"]
    1.0
    """
    if graded is None and binary is None:
        raise ValueError("give the published answers: graded=, binary=, or both")
    called: set[str] | None = None
    if isinstance(found, ChangeTable):
        scores, called = found.scores(), set(found.changed)
    elif isinstance(found, Mapping):
        scores = {word: float(score) for word, score in found.items()}
    else:
        raise TypeError(f"found must be a table of change, or a mapping of words to scores; got {type(found).__name__}")
    options = bootstrap_options(resamples, confidence, seed)
    strip = flag("strip_tags", strip_tags)
    notes: list[str] = []
    summary: dict[str, Any] = {}
    items: dict[str, dict[str, Any]] = {}
    for kind, given in (("graded", graded), ("binary", binary)):
        if given is None:
            continue
        truth = _answers(given, strip)
        known = [word for word in truth if word in scores]
        missing = [word for word in truth if word not in scores]
        if missing:
            notes.append(
                f"{len(missing)} of {len(truth)} words of the {kind} answers are not scored: {listed(missing)}"
            )
        if len(known) < 2:
            raise ValueError(f"only {len(known)} of the {len(truth)} words of the {kind} answers are scored")
        for word in known:
            items.setdefault(word, {"word": word, "score": scores[word]})[kind] = truth[word]
        if kind == "graded":
            row = correlate("graded", [scores[w] for w in known], [truth[w] for w in known], options, notes)
            summary |= {"rho": row["rho"], "low": row["low"], "high": row["high"], "graded words": len(known)}
        else:
            summary |= _binary(known, truth, scores, called, notes)
    name = "rho" if graded is not None else "auc"
    settings = {"graded": source_name(graded, "given"), "binary": source_name(binary, "given"), **options}
    return EvaluationResult("change", name, summary, [], list(items.values()), settings, notes)


def _answers(given: Any, strip: bool) -> dict[str, float]:
    truth = dict(given) if isinstance(given, Mapping) else read_change(given)
    if not strip:
        return truth
    bare = {word.rpartition("_")[0] or word: value for word, value in truth.items()}
    if len(bare) < len(truth):
        raise ValueError("without their tags, words of the answers come twice; leave strip_tags out")
    return bare


def _binary(
    known: list[str], truth: dict[str, float], scores: dict[str, float], called: set[str] | None, notes: list[str]
) -> dict[str, Any]:
    changed = np.array([truth[word] > 0.5 for word in known])
    values = np.array([scores[word] for word in known])
    above: float | None = None
    if changed.all() or not changed.any():
        notes.append("binary: all words have one answer, and there is no AUC; reported as 0.5")
        above = 0.5
    else:
        a, b = values[changed][:, None], values[~changed]
        above = float((a > b).mean() + (a == b).mean() / 2)
    found: dict[str, Any] = {"auc": above, "majority": float(max(changed.mean(), 1 - changed.mean()))}
    if called is not None:
        found["accuracy"] = float(np.mean([(word in called) == bool(truth[word] > 0.5) for word in known]))
    return {**found, "binary words": len(known)}


class AnnotatedUse(NamedTuple):
    """A use of a word and the cluster that annotators' judgments put it in.

    Attributes
    ----------
    word : str
        The lemma.
    slice : str
        Its grouping: the period, as the data names it.
    context : str
    start, end : int
        Characters of the context that are the word.
    cluster : str
        Empty where nobody asks for one.
    """

    word: str
    slice: str
    context: str
    start: int
    end: int
    cluster: str


def read_annotated_uses(folder: str | PathLike[str], clusters: str = "opt") -> list[AnnotatedUse]:
    """Read a data set of DWUG: ``data/<word>/uses.csv`` and ``clusters/<clusters>/<word>.csv``.

    Both are tables with tabs and a header: of uses ``lemma``, ``grouping``, ``identifier``, ``context`` and
    ``indexes_target_token`` (``start:end``) are read, of clusters ``identifier`` and ``cluster``. Uses in no cluster,
    or in cluster -1, are left out.

    Parameters
    ----------
    folder : path-like
        That which holds ``data``.
    clusters : str
        Name of the clustering.

    Raises
    ------
    FileNotFoundError
        If there is no such folder or file.
    ValueError
        For a table without these columns, or a place that is none.
    """
    root = Path(folder)
    if not (root / "data").is_dir():
        raise FileNotFoundError(f"{os.fspath(folder)} has no folder 'data'; give the folder of a DWUG data set")
    found = []
    for path in sorted((root / "data").glob("*/uses.csv")):
        table = root / "clusters" / clusters / f"{path.parent.name}.csv"
        of = {row["identifier"]: row["cluster"] for row in rows_of_table(table, ("identifier", "cluster"))}
        for identifier, use in uses_of_word(path).items():
            cluster = of.get(identifier, _NO_CLUSTER)
            if cluster != _NO_CLUSTER:
                found.append(use._replace(cluster=cluster))
    if not found:
        raise ValueError(f"{os.fspath(folder)} holds no uses with a cluster")
    return found


def uses_of_word(path: Path) -> dict[str, AnnotatedUse]:
    """The uses in a ``uses.csv`` of DWUG by their identifiers, in no cluster."""
    found = {}
    for row in rows_of_table(path, ("lemma", "grouping", "identifier", "context", "indexes_target_token")):
        start, colon, end = row["indexes_target_token"].partition(":")
        if not (colon and start.isdecimal() and end.isdecimal() and int(start) < int(end) <= len(row["context"])):
            raise ValueError(
                f"{path}: {row['indexes_target_token']!r:.40} of use {row['identifier']!r:.80} is no place in its "
                "context; it must be 'start:end'"
            )
        use = AnnotatedUse(row["lemma"], row["grouping"], row["context"], int(start), int(end), "")
        found[row["identifier"]] = use
    return found


def rows_of_table(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    """The rows of a table with tabs and a header, which has these columns."""
    lines = (line for _, line in read_lines(path))
    reader = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        raise ValueError(f"{path} lacks the columns {listed(missing)}; it has {listed(list(reader.fieldnames or ()))}")
    rows = list(reader)
    if any(row[name] is None for row in rows for name in columns):
        raise ValueError(f"{path} has a line with too few fields")
    return rows


def form_and_context(model: Any, use: AnnotatedUse, tokenizer: Tokenizer) -> tuple[str, list[str], int] | None:
    """The form of a use that the model knows, its context with it, and its place there; None where it knows none."""
    before, word, after = (
        tokens_of(tokenizer, part)
        for part in (use.context[: use.start], use.context[use.start : use.end], use.context[use.end :])
    )
    form = next((token for token in (*word, use.word) if token in model), None)
    return None if form is None else (form, [*before, form, *after], len(before))


def evaluate_uses(model: SenseModel, uses: list[AnnotatedUse], *, tokenizer: Tokenizer = tokenize) -> EvaluationResult:
    """How well the senses that a model selects agree with clusters of annotated uses.

    Parameters
    ----------
    model : SenseModel
        Such as the ``model`` of a `TemporalMUSE`.
    uses : list of AnnotatedUse
        As `read_annotated_uses` gives them. The form that stands in the text is asked for where the model knows it,
        else the lemma.
    tokenizer : callable
        Gives the tokens of a text.

    Returns
    -------
    EvaluationResult
        With ``ari`` (adjusted Rand index) and ``v_measure``, means over words with two uses or more.

    Raises
    ------
    ValueError
        If the model knows no word with two uses.
    """
    answers: dict[str, tuple[list[str], list[str]]] = {}
    for use in uses:
        read = form_and_context(model, use, tokenizer)
        if read is None:
            continue
        form, tokens, at = read
        chosen = int(np.argmax(model.sense_probabilities(form, tokens, at)))
        true, said = answers.setdefault(use.word, ([], []))
        true.append(use.cluster)
        said.append(f"{form}#{chosen}")
    items = [
        {"word": word, "uses": len(true), "clusters": len(set(true)), "ari": adjusted_rand(true, said),
         "v_measure": v_measure(true, said)[2]}
        for word, (true, said) in answers.items() if len(true) > 1
    ]  # fmt: skip
    words = list(dict.fromkeys(use.word for use in uses))
    if not items:
        raise ValueError(f"the model knows none of the {len(words)} words with two annotated uses: {listed(words)}")
    missing = [word for word in words if word not in answers]
    notes = [f"{len(missing)} words are not in the vocabulary: {listed(missing)}"] if missing else []
    summary = {name: float(np.mean([row[name] for row in items])) for name in ("ari", "v_measure")}
    return EvaluationResult("annotated uses", "ari", {**summary, "words": len(items)}, [], items, {}, notes)
