"""Word similarity and relatedness without context: WordSim-353, SimLex-999, MEN, RG-65 and their like.

Data: L. Finkelstein et al. (2002) for WordSim-353; F. Hill, R. Reichart, A. Korhonen (2015) for SimLex-999; E. Bruni,
N. K. Tran, M. Baroni (2014) for MEN; H. Rubenstein and J. B. Goodenough (1965) for RG-65; G. A. Miller and W. G.
Charles (1991) for MC-30; T. Luong, R. Socher, C. D. Manning (2013) for RW; K. Radinsky et al. (2011) and G. Halawi et
al. (2012) for MTurk-287 and -771; D. Yang and D. M. W. Powers (2006) for YP-130; S. Baker, R. Reichart, A. Korhonen
(2014) for VERB-143; D. Gerz et al. (2016) for SimVerb-3500. Many come as plain triples with M. Faruqui and C. Dyer
(2014), *Community evaluation and exchange of word vectors at wordvectors.org*, ACL.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

from muse.evaluation.protocol import SenseModel, SenseReader, Task, cosines
from muse.evaluation.results import EvaluationResult
from muse.evaluation.stats import bootstrap_spearman, require, spearman
from muse.evaluation.text import listed, quote, read_lines, split_csv

__all__ = ["WordPair", "WordSimilarityTask", "correlate_word_pairs", "evaluate_word_similarity", "read_word_pairs"]

WHICH = ("wv", "max", "avg")
_TAGGED = re.compile(r".+-[nvja]")
_PART_OF_SPEECH = re.compile(r"[A-Za-z]{1,4}")  # "V" and the like, in the third of SimVerb's columns
# Names of columns: what a first line must have to be taken for a header and not for a pair.
_WORD_COLUMN = re.compile(r"(word|term|noun|verb|item|lemma|target|w)s?[ _.-]?([1-9]|one|two|a|b)?", re.IGNORECASE)
_RATING_COLUMN = re.compile(r".*(rating|score|mean|similarity|relatedness|human|simlex|average|gold).*", re.IGNORECASE)


class WordPair(NamedTuple):
    """Two words and the human rating of their similarity."""

    first: str
    second: str
    rating: float


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None


def _rating_column(fields: Sequence[str], place: str) -> tuple[int, bool]:
    """The column of the rating, and whether this first line is a header."""
    if len(fields) < 3:
        raise ValueError(
            f"{place}: expected two words and a rating separated by tabs, commas or spaces, found {len(fields)}"
        )
    if _number(fields[2]) is not None:
        return 2, False
    named = [i for i, name in enumerate(fields) if i > 1 and _RATING_COLUMN.fullmatch(name.strip())]
    first, second = fields[0].strip(), fields[1].strip()
    words = _WORD_COLUMN.fullmatch(first) and _WORD_COLUMN.fullmatch(second)
    if named or words or (first[-1:] == "1" and second == f"{first[:-1]}2"):
        exact = [i for i in named if fields[i].strip().lower() == "simlex999"]
        return [*exact, *named, 2][0], True
    if len(fields) > 3 and _PART_OF_SPEECH.fullmatch(fields[2].strip()) and _number(fields[3]) is not None:
        return 3, False
    return 2, False


def read_word_pairs(path: str | os.PathLike[str]) -> list[WordPair]:
    """Read a list of rated word pairs; the layout is recognised by itself.

    Known layouts: WordSim-353 (comma or tab, with a header), SimLex-999 (tab, its column ``SimLex999``), SimVerb-3500
    (tab, a part of speech before the rating), MEN in natural or lemma form (spaces; the tags of ``sun-n`` are taken
    off), and the triples ``word word rating`` of RG-65, MC-30, RW, MTurk, YP-130 and VERB-143 as collected by Faruqui.
    Lines that start with ``#`` are comments. The first line is a header if its columns are named as such
    (``word1 word2 score``); otherwise it must be a pair as the others are.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing file or a line that is no rated pair; the message names the file and the line.
    """
    pairs: list[WordPair] = []
    separator: str | None = None
    column: int | None = None
    for number, line in read_lines(path):
        if not line.strip() or line.startswith("#"):
            continue
        place = f"{os.fspath(path)}, line {number}"
        if column is None:
            separator = "\t" if "\t" in line else "," if "," in line else None
        fields = split_csv(line, place, separator) if separator else line.split()
        if column is None:
            column, header = _rating_column(fields, place)
            if header:
                continue
        rating = _number(fields[column]) if len(fields) > column else None
        if rating is None or not math.isfinite(rating):
            what = "; a header names its columns, as in 'word1 word2 score'" if not pairs else ""
            raise ValueError(f"{place}: no rating in field {column + 1} of {quote(line)}{what}")
        first, second = fields[0].strip(), fields[1].strip()
        if not first or not second:
            raise ValueError(f"{place}: a word is missing in {quote(line)}")
        pairs.append(WordPair(first, second, rating))
    if not pairs:
        raise ValueError(f"{os.fspath(path)} holds no word pairs")
    if all(_TAGGED.fullmatch(word) for pair in pairs for word in pair[:2]):
        pairs = [WordPair(pair.first[:-2], pair.second[:-2], pair.rating) for pair in pairs]
    return pairs


def as_word_pairs(given: Any) -> list[WordPair]:
    """Rated pairs that a user gives, checked.

    Raises
    ------
    TypeError, ValueError
        If one is not a triple of two words and a finite number; the message says which.
    """
    if not isinstance(given, Iterable):
        raise TypeError(f"word pairs are a path or a list of (word, word, rating); got {given!r:.80}")
    pairs: list[WordPair] = []
    for number, item in enumerate(given):
        if not isinstance(item, Sequence) or isinstance(item, str) or len(item) != 3:
            raise TypeError(f"pair {number} must be (word, word, rating), in a list of such; got {item!r:.80}")
        first, second, rating = item
        if not isinstance(first, str) or not isinstance(second, str):
            raise TypeError(f"pair {number} must be (word, word, rating) with words that are strings; got {item!r:.80}")
        if isinstance(rating, bool) or not isinstance(rating, Real):
            raise TypeError(f"the rating of pair {number} must be a number; got {rating!r:.80}")
        if not math.isfinite(rating):
            raise ValueError(f"the rating of pair {number} must be a finite number; got {rating!r}")
        pairs.append(WordPair(first, second, float(rating)))
    return pairs


class WordSimilarityTask(Task):
    """Correlation of a model's similarities with human ratings of word pairs; call it with a model.

    Parameters
    ----------
    data : path, sequence of (word, word, rating), or mapping of name to either
        One data set or several; with several, the score is the mean of their correlations.
    which : {"wv", "max", "avg"} or sequence of these
        Through which vectors words are compared: the word-level ones (``model.wv``), the closest pair of senses
        (MaxSim), or the mean over all pairs of senses (AvgSim). The first named gives the score.
    lowercase : bool
        Look words up in lower case.
    resamples, confidence, seed : int, float, int
        Of the bootstrap intervals; ``resamples=0`` leaves them out, which is faster during training.

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
        self.which = [which] if isinstance(which, str) else list(which)
        wrong = [name for name in self.which if name not in WHICH]
        if wrong or not self.which:
            raise ValueError(f"which must be one or more of {', '.join(WHICH)}, got {which!r}")
        named = data if isinstance(data, Mapping) else {_name(data): data}
        if not named:
            raise ValueError("no data sets given")
        self.data: dict[str, list[WordPair]] = {}
        for name, source in named.items():
            pairs = read_word_pairs(source) if isinstance(source, str | os.PathLike) else as_word_pairs(source)
            self.data[name] = [WordPair(p.first.lower(), p.second.lower(), p.rating) if lowercase else p for p in pairs]
        self.settings: dict[str, Any] = {
            "data": list(self.data),
            "which": self.which,
            "lowercase": lowercase,
            "resamples": resamples,
            "confidence": confidence,
            "seed": seed,
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
            if len(known) < 2:
                raise ValueError(
                    f"{name}: only {len(known)} of {len(pairs)} pairs are in the vocabulary (unknown: "
                    f"{listed(missing, 5)}). Is the model lower-cased, or its min_count too high?"
                )
            for which in self.which:
                table.append(self._row(reader, name, which, known, len(pairs), items, notes))
                summary[f"{name} {which}"] = table[-1]["rho"]
            summary[f"{name} coverage"] = len(known) / len(pairs)
            if missing:
                notes.append(
                    f"{name}: {len(pairs) - len(known)} of {len(pairs)} pairs skipped, unknown words: {listed(missing)}"
                )
        first = [row["rho"] for row in table if row["which"] == self.which[0]]
        summary["score"] = sum(first) / len(first)
        return EvaluationResult("word similarity", "score", summary, table, items, dict(self.settings), notes)

    def _row(
        self,
        reader: SenseReader,
        name: str,
        which: str,
        known: list[WordPair],
        total: int,
        items: list[dict[str, Any]],
        notes: list[str],
    ) -> dict[str, Any]:
        scores = [_similarity(reader, pair.first, pair.second, which) for pair in known]
        ratings = [pair.rating for pair in known]
        items.extend(
            {"data": name, "which": which, "word1": p.first, "word2": p.second, "rating": p.rating, "similarity": s}
            for p, s in zip(known, scores, strict=True)
        )
        if len(set(scores)) == 1 or len(set(ratings)) == 1:
            notes.append(
                f"{name} {which}: all {'scores' if len(set(scores)) == 1 else 'ratings'} are equal; reported as 0"
            )
        low: float | None = None
        high: float | None = None
        if self.settings["resamples"]:
            options = {key: self.settings[key] for key in ("resamples", "confidence", "seed")}
            low, high = bootstrap_spearman(scores, ratings, **options)
        rho = spearman(scores, ratings)
        return {"data": name, "which": which, "rho": rho, "low": low, "high": high, "pairs": len(known), "of": total}


def _name(source: object) -> str:
    return (
        os.path.splitext(os.path.basename(os.fspath(source)))[0] if isinstance(source, str | os.PathLike) else "pairs"
    )


def _similarity(reader: SenseReader, first: str, second: str, which: str) -> float:
    if which == "wv":
        value = reader.word_cosine(first, second)
        if value is None:
            raise ValueError(f"{first!r} or {second!r} is in the model but not in model.wv")
        return value
    table = cosines(reader.senses(first), reader.senses(second))
    return float(table.max() if which == "max" else table.mean())


def correlate_word_pairs(
    pairs: str | os.PathLike[str] | Sequence[tuple[str, str, float]],
    similarity: Callable[[str, str], float],
    spelling: Mapping[str, str],
    *,
    dummy4unknown: bool = False,
) -> tuple[Any, Any, float]:
    """gensim's evaluation of word pairs; `KeyedVectors.evaluate_word_pairs` is the way to call it.

    Parameters
    ----------
    pairs : path-like or sequence of (str, str, float)
        Rated pairs.
    similarity : callable
        Similarity of two known words.
    spelling : mapping of str to str
        The known word that a spelling, or one in upper case, stands for.
    dummy4unknown : bool
        Give pairs with an unknown word the similarity 0.

    Returns
    -------
    pearson, spearman : (statistic, p-value)
        As scipy gives them.
    oov_ratio : float
        Percentage of pairs with an unknown word.
    """
    stats = require("scipy.stats")
    rated = read_word_pairs(pairs) if isinstance(pairs, str | os.PathLike) else as_word_pairs(pairs)
    scores: list[float] = []
    ratings: list[float] = []
    unknown = 0
    for pair in rated:
        found = [spelling.get(word, spelling.get(word.upper())) for word in pair[:2]]
        if found[0] is None or found[1] is None:
            unknown += 1
            if not dummy4unknown:
                continue
        scores.append(0.0 if found[0] is None or found[1] is None else similarity(found[0], found[1]))
        ratings.append(pair.rating)
    if len(scores) < 2:
        raise ValueError(f"only {len(scores)} of {len(rated)} pairs are in the vocabulary; that gives no correlation")
    return stats.pearsonr(ratings, scores), stats.spearmanr(ratings, scores), 100 * unknown / len(rated)


def evaluate_word_similarity(model: SenseModel, data: Any, **options: Any) -> EvaluationResult:
    """Word similarity in one call; ``data`` and ``options`` as for :class:`WordSimilarityTask`.

    Examples
    --------
    >>> print(evaluate_word_similarity(model, "SimLex-999.txt", which=["wv", "max"]))  # doctest: +SKIP
    """
    return WordSimilarityTask(data, **options)(model)
