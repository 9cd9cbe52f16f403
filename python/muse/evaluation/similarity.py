"""Word similarity and relatedness without context: WordSim-353, SimLex-999, MEN, RG-65 and their like.

Data: L. Finkelstein et al. (2002) for WordSim-353; F. Hill, R. Reichart, A. Korhonen (2015) for SimLex-999; E. Bruni,
N. K. Tran, M. Baroni (2014) for MEN; H. Rubenstein and J. B. Goodenough (1965) for RG-65; G. A. Miller and W. G.
Charles (1991) for MC-30; T. Luong, R. Socher, C. D. Manning (2013) for RW; K. Radinsky et al. (2011) and G. Halawi et
al. (2012) for MTurk-287 and -771; D. Yang and D. M. W. Powers (2006) for YP-130; S. Baker, R. Reichart, A. Korhonen
(2014) for VERB-143; D. Gerz et al. (2016) for SimVerb-3500. Many come as plain triples with M. Faruqui and C. Dyer
(2014), *Community evaluation and exchange of word vectors at wordvectors.org*, ACL.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from muse.base.checks import flag
from muse.errors import listed
from muse.evaluation.protocol import SenseModel, SenseReader, Task, cosines
from muse.evaluation.results import EvaluationResult
from muse.evaluation.stats import bootstrap_options, correlate
from muse.evaluation.task_data import repeats, said_repeats, spelling_hint
from muse.files.lines import is_compressed
from muse.readers.word_pairs import WordPair, as_word_pairs, read_word_pairs

__all__ = ["WordSimilarityTask", "evaluate_word_similarity"]

WHICH = ("wv", "max", "avg")


class WordSimilarityTask(Task):
    """Correlation of a model's similarities with human ratings of word pairs; call it with a model.

    Parameters
    ----------
    data : path, sequence of (word, word, rating), or mapping of name to either
        One data set or several; with several, the score is the mean of their correlations. Paths are read by
        :func:`read_word_pairs`, which can also be told the columns of a table.
    which : {"wv", "max", "avg"} or sequence of these
        Through which vectors words are compared: the word-level ones (``model.wv``), the closest pair of senses
        (MaxSim), or the mean over all pairs of senses (AvgSim). The first named gives the score.
    lowercase : bool
        Look words up in lower case; False for a model whose words keep their capitals.
    resamples, confidence, seed : int, float, int
        Of the bootstrap intervals, see :func:`bootstrap_spearman`; ``resamples=0`` leaves them out, which is faster
        during training.

    Raises
    ------
    TypeError, ValueError
        If pairs or options are not what they must be; the message says which.

    Notes
    -----
    A pair that is given more than once, in either order, counts each time, as published figures have it; the notes of
    the result name such pairs, and their ratings where these differ. ``items`` has a row for each pair and kind of
    vectors; ``skipped`` names the unknown words of pairs that were left out, whose similarity is None.

    Examples
    --------
    >>> task = WordSimilarityTask({"MEN": "MEN_dataset_natural_form_full", "RG-65": "EN-RG-65.txt"})  # doctest: +SKIP
    >>> print(task(model))  # doctest: +SKIP
    """

    def __init__(
        self,
        data: str | os.PathLike[str] | Sequence[tuple[str, str, float]] | Mapping[str, Any],
        *,
        which: str | Sequence[str] = "wv",
        lowercase: bool = True,
        resamples: int = 1000,
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        self.which = [which] if isinstance(which, str) or not isinstance(which, Sequence) else list(which)
        if not self.which or any(name not in WHICH for name in self.which):
            raise ValueError(f"which must be one or more of {', '.join(WHICH)}, got {which!r}")
        named = data if isinstance(data, Mapping) else {_name(data): data}
        if not named:
            raise ValueError("no data sets given")
        fold: Callable[[str], str] = str.lower if flag("lowercase", lowercase) else str
        self._given: dict[str, list[WordPair]] = {}  # as they are spelt
        self.data: dict[str, list[WordPair]] = {}
        for name, source in named.items():
            given = read_word_pairs(source) if isinstance(source, str | os.PathLike) else as_word_pairs(source)
            self._given[name] = given
            self.data[name] = [WordPair(fold(p.first), fold(p.second), p.rating) for p in given]
        self.settings: dict[str, Any] = {
            "data": list(self.data),
            "which": self.which,
            "lowercase": lowercase,
            **bootstrap_options(resamples, confidence, seed),
        }

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model.

        Raises
        ------
        ValueError
            If there are fewer than two pairs, or fewer than two of a data set are in the vocabulary.
        """
        reader = SenseReader(model)
        summary: dict[str, Any] = {}
        table: list[dict[str, Any]] = []
        items: list[dict[str, Any]] = []
        notes: list[str] = []
        for name, pairs in self.data.items():
            known = [pair for pair in pairs if pair.first in model and pair.second in model]
            missing = sorted({word for pair in pairs for word in pair[:2] if word not in model})
            if len(pairs) < 2:
                raise ValueError(f"{name}: a correlation needs at least two rated pairs; got {len(pairs)}")
            given = [pair[:2] for pair in self._given[name]]
            hint = spelling_hint(model, given, self.settings["lowercase"]) if missing else ""
            if len(known) < 2:
                raise ValueError(
                    f"{name}: only {len(known)} of {len(pairs)} pairs are in the vocabulary (unknown: "
                    f"{listed(missing, 5)}). {hint or 'Is its min_count too high, or this of another language?'}"
                )
            if missing:
                notes.append(
                    f"{name}: {len(pairs) - len(known)} of {len(pairs)} pairs skipped, unknown words: {listed(missing)}"
                )
            if hint:
                notes.append(f"{name}: {hint}")
            notes += _repeated(name, pairs)
            for which in self.which:
                scores = {pair: _similarity(reader, pair.first, pair.second, which) for pair in known}
                items += [_item(name, which, pair, scores.get(pair), model) for pair in pairs]
                found = correlate(
                    f"{name} {which}", [scores[pair] for pair in known], [pair.rating for pair in known],
                    self.settings, notes,
                )  # fmt: skip
                table.append({"data": name, "which": which, **found, "of": len(pairs)})
                summary[f"{name} {which}"] = table[-1]["rho"]
            summary[f"{name} coverage"] = len(known) / len(pairs)
        first = [row["rho"] for row in table if row["which"] == self.which[0]]
        summary["score"] = sum(first) / len(first)
        return EvaluationResult("word similarity", "score", summary, table, items, dict(self.settings), notes)


def _item(name: str, which: str, pair: WordPair, similarity: float | None, model: SenseModel) -> dict[str, Any]:
    """The row of a pair; of one that was skipped, why."""
    row = {"data": name, "which": which, "word1": pair.first, "word2": pair.second, "rating": pair.rating}
    unknown = [word for word in dict.fromkeys(pair[:2]) if word not in model]
    skipped = f"not in the vocabulary: {', '.join(unknown)}" if unknown else None
    return {**row, "similarity": similarity, "skipped": skipped}


def _repeated(name: str, pairs: Sequence[WordPair]) -> list[str]:
    """A note of the pairs that are given again, in either order, each of which counts."""
    found = repeats((frozenset(pair[:2]), pair) for pair in pairs)
    told = [(f"{again[0].first} {again[0].second}", [pair.rating for pair in again]) for again in found.values()]
    return said_repeats(f"{name}: pairs", told)


def _name(source: object) -> str:
    if not isinstance(source, str | os.PathLike):
        return "pairs"
    path = Path(source)
    return (path.with_suffix("") if is_compressed(path) else path).stem


def _similarity(reader: SenseReader, first: str, second: str, which: str) -> float:
    if which == "wv":
        value = reader.word_cosine(first, second)
        if value is None:
            raise ValueError(f"{first!r} or {second!r} is in the model but not in model.wv")
        return value
    table = cosines(reader.senses(first), reader.senses(second))
    return float(table.max() if which == "max" else table.mean())


def evaluate_word_similarity(model: SenseModel, data: Any, **options: Any) -> EvaluationResult:
    """Word similarity in one call; ``data`` and ``options`` as for :class:`WordSimilarityTask`.

    Examples
    --------
    >>> print(evaluate_word_similarity(model, "SimLex-999.txt", which=["wv", "max"]))  # doctest: +SKIP
    """
    return WordSimilarityTask(data, **options)(model)
