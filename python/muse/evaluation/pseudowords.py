"""The pseudo-word test: pairs of words merged in a corpus, and how well the selected senses tell them apart.

The truth is known without annotators, for as many words and occurrences as wanted, on the user's own text.
Pseudo-words are due to W. Gale, K. Church, D. Yarowsky (1992) and H. Schuetze (1992); V-measure to A. Rosenberg and J.
Hirschberg (2007).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.base.checks import flag, integer, optional
from muse.errors import listed
from muse.evaluation.bounds import (
    SCORES,
    Occurrences,
    PseudoWordBounds,
    compute_bounds,
    mean_row,
    score_word,
    shares_of_bound,
)
from muse.evaluation.protocol import SenseModel, SenseReader, Task, WordLookup, check_selector, senses_at
from muse.evaluation.reliability import member_answers, reliability
from muse.evaluation.results import EvaluationResult

__all__ = ["PseudoWordTask", "evaluate_pseudo_words"]


class PseudoWordTask(Task):
    """How well a model's selected senses recover the members of merged words; call it with a model.

    Parameters
    ----------
    sentences : iterable of token lists
        The text with the pseudo-words in it, all of it: word counts are taken from it, and the model sees whole
        sentences.
    truth : mapping of str to array_like of int, shape (n, 3)
        For each pseudo-word its occurrences: index of the sentence, position of the token, true member (0, 1, ...).
        ``muse.datasets.pseudo_words(sentences, pairs).occurrences()`` is this; see also :meth:`from_corpus`.
    max_occurrences : int, optional
        Score at most so many occurrences of a word, drawn with ``seed``; all without it.
    score : {"v_measure", "ari", "purity"}
        Which measure is *the* score.
    seed : int
        Seed of the drawing of occurrences.
    reliability : bool
        Also ask models for the probabilities of senses, and compare how sure they are with how often they are right;
        ``False`` is faster during training.

    Raises
    ------
    TypeError, ValueError
        If an option, a sentence or the truth is not what it must be, or they do not fit each other.

    Attributes
    ----------
    bounds : PseudoWordBounds or None
        What :meth:`baselines` found; once known, results show these rows and the share of the supervised bound reached.
        Both are of the words and occurrences that the model answers, so they can differ from what :meth:`baselines`
        returned; the column ``words`` says of how many words a row is the mean.

    Notes
    -----
    Every figure is a mean over pseudo-words. ``v_measure``, ``ari`` and ``purity`` compare selected senses with
    members; ``majority`` is the purity that one sense gives. ``effective_senses`` is exp of the entropy of the senses'
    shares, and ``collapsed`` the share of words of which one sense holds more than 95% of the occurrences. A high
    number of senses used can be a random split: read it with V. Pseudo-words that the model does not know are counted
    and listed, and left out of the means, and so are those of which only one member occurs: there is nothing to tell
    apart.

    The reliability curve, in ``curves`` of the result, sets confidence against accuracy over the occurrences of all
    words, see :func:`muse.evaluation.reliability.member_answers`; ``calibration_error`` is how far the two lie apart on
    the mean. It is of the words whose senses stand for more than one member, the number of which is
    ``calibration_words``.

    Examples
    --------
    >>> pairs = draw_pairs(Counter(chain.from_iterable(sentences)))  # doctest: +SKIP
    >>> corpus = muse.datasets.pseudo_words(sentences, pairs)  # doctest: +SKIP
    >>> task = PseudoWordTask.from_corpus(corpus)  # doctest: +SKIP
    >>> model = muse.MUSE(corpus.sentences)  # doctest: +SKIP
    >>> task.baselines(word2vec.wv)  # doctest: +SKIP
    >>> print(task(model))  # doctest: +SKIP
    """

    def __init__(
        self,
        sentences: Iterable[Sequence[str]],
        truth: Mapping[str, ArrayLike],
        *,
        max_occurrences: int | None = None,
        score: str = "v_measure",
        seed: int = 0,
        reliability: bool = True,
    ) -> None:
        if score not in SCORES:
            raise ValueError(f"score must be one of {', '.join(SCORES)}, got {score!r}")
        max_occurrences = optional(integer(2))("max_occurrences", max_occurrences)
        seed = integer(0)("seed", seed)
        self.reliability = flag("reliability", reliability)
        if not isinstance(truth, Mapping):
            raise TypeError(f"the truth must be {{word: its occurrences}}; got {truth!r:.80}")
        if not truth:
            raise ValueError("no pseudo-words given")
        sentences = _tokenised(sentences)
        self.words = list(truth)
        places = _places(sentences, truth, max_occurrences, seed)
        kept, renumbered = np.unique(places.sentence, return_inverse=True)
        self.sentences: list[list[str]] = [list(sentences[index]) for index in kept.tolist()]
        self.occurrences = places._replace(sentence=renumbered.astype(np.int64))
        self.counts: Counter[str] = Counter(chain.from_iterable(sentences))
        self.bounds: PseudoWordBounds | None = None
        self.settings: dict[str, Any] = {
            "data": f"{len(sentences)} sentences, {self.counts.total()} tokens",
            "pseudo_words": len(self.words),
            "occurrences": len(places.word),
            "max_occurrences": max_occurrences,
            "score": score,
            "seed": seed,
        }

    @classmethod
    def from_corpus(cls, corpus: Any, **options: Any) -> PseudoWordTask:
        """The task of a ``muse.datasets.AmbiguousCorpus``, with merged or generated ambiguous words.

        Parameters
        ----------
        corpus : object with ``sentences`` and ``occurrences()``
            Such as ``muse.datasets.pseudo_words`` and ``muse.datasets.make_ambiguous_corpus`` return.
        **options
            As for :class:`PseudoWordTask`.
        """
        if not hasattr(corpus, "sentences") or not callable(getattr(corpus, "occurrences", None)):
            raise TypeError(
                "the corpus must be one whose true senses are known, as muse.datasets.pseudo_words(sentences) or "
                f"make_ambiguous_corpus() returns it; got {type(corpus).__name__}"
            )
        return cls(corpus.sentences, corpus.occurrences(), **options)

    def by_word(self) -> list[NDArray[np.int64]]:
        """For each pseudo-word, which occurrences are its own: indices into the arrays of ``occurrences``."""
        order = np.argsort(self.occurrences.word, kind="stable")
        sizes = np.bincount(self.occurrences.word, minlength=len(self.words))
        return np.split(order, np.cumsum(sizes)[:-1])

    def select(self, model: SenseModel) -> NDArray[np.int64]:
        """The sense that a model selects at each occurrence, in the order of ``occurrences``; -1 for unknown words."""
        check_selector(model, "the pseudo-word test")
        cuts = np.flatnonzero(np.diff(self.occurrences.sentence)) + 1
        places = {i: positions.tolist() for i, positions in enumerate(np.split(self.occurrences.position, cuts))}
        found = senses_at(model, self.sentences, places)
        return np.concatenate([found[i] for i in range(len(places))])

    def __call__(self, model: SenseModel) -> EvaluationResult:
        """Score a model.

        Raises
        ------
        ValueError
            If the model knows none of the pseudo-words: it must be trained on the text with the merged words. If it has
            no selector.
        """
        result = self.score(self.select(model))
        return self.with_reliability(result, model) if self.reliability else result

    def with_reliability(self, result: EvaluationResult, model: SenseModel) -> EvaluationResult:
        """A result of :meth:`score` with the reliability curve of its words added.

        Parameters
        ----------
        result : EvaluationResult
            Of the senses that the model selects. It is changed, and returned.
        model : SenseModel
            The model; one that gives no probabilities of senses, or no vectors of them, adds nothing.
        """
        if not all(callable(getattr(model, name, None)) for name in ("sense_probabilities", "sense_vectors")):
            return result
        reader, answers = SenseReader(model), []
        scored = {item["word"] for item in result.items}
        for word, mine in zip(self.words, self.by_word(), strict=True):
            if word in scored:
                texts = [self.sentences[index] for index in self.occurrences.sentence[mine].tolist()]
                places = self.occurrences.position[mine].tolist()
                found = reader.probabilities_batch([word] * len(mine), texts, places)
                if (told := member_answers(np.stack(found), self.occurrences.truth[mine])) is not None:
                    answers.append(told)
        result.summary["calibration_error"] = None
        if answers:
            title = "probabilities of senses against members, over all occurrences"
            result.curves[title], result.summary["calibration_error"] = reliability(answers)
        result.summary["calibration_words"] = len(answers)
        return result

    def score(self, chosen: ArrayLike) -> EvaluationResult:
        """Score given senses, such as those of a peer that only writes them to a file.

        Parameters
        ----------
        chosen : array_like of int, shape (n,)
            The sense at each occurrence, in the order of ``occurrences``; -1 where the word is unknown.
        """
        senses = np.asarray(chosen)
        if senses.dtype.kind not in "iu":
            raise TypeError(f"senses must be whole numbers, -1 for an unknown word; got {senses.dtype}")
        if senses.shape != self.occurrences.truth.shape:
            raise ValueError(f"expected {len(self.occurrences.truth)} senses, got shape {senses.shape}")
        rows: dict[str, dict[str, Any]] = {}
        answered: dict[str, NDArray[np.int64]] = {}
        missing: list[str] = []
        alone: list[str] = []
        for word, mine in zip(self.words, self.by_word(), strict=True):
            mine = mine[senses[mine] >= 0]
            if len(mine) == 0:
                missing.append(word)
                continue
            truth = self.occurrences.truth[mine]
            members = np.unique(truth, return_counts=True)[1]
            if len(members) < 2:
                alone.append(word)
                continue
            majority = float(members.max() / len(truth))
            answered[word] = mine
            rows[word] = {"word": word, "n": len(mine), "majority": majority, **score_word(truth, senses[mine])}
        if not rows and alone:
            raise ValueError(f"only one member occurs of {listed(alone)}: there is nothing to tell apart")
        if not rows:
            raise ValueError(
                f"the model knows none of the {len(self.words)} pseudo-words ({listed(missing, 3)}): train it "
                "on the text with the merged words"
            )
        return self._result(rows, self._bounds_on(answered), missing, alone)

    def _bounds_on(self, answered: Mapping[str, NDArray[np.int64]]) -> dict[str, dict[str, dict[str, Any]]]:
        """The scores of each bound by word, on given occurrences: those that a model answers."""
        if self.bounds is None:
            return {}
        known = {(item["method"], item["word"]): item for item in self.bounds.items}
        found: dict[str, dict[str, dict[str, Any]]] = {method: {} for method in self.bounds.answers}
        for method, answers in self.bounds.answers.items():
            if len(answers) != len(self.occurrences.truth):
                raise ValueError("these bounds are of a task with other occurrences; call baselines of this one")
            for word, mine in answered.items():
                item = known.get((method, word))
                if item is not None and item["n"] != len(mine):
                    item = score_word(self.occurrences.truth[mine], answers[mine])
                if item is not None:
                    found[method][word] = item
        return found

    def _result(
        self,
        rows: Mapping[str, dict[str, Any]],
        bounds: Mapping[str, Mapping[str, Mapping[str, Any]]],
        missing: list[str],
        alone: list[str],
    ) -> EvaluationResult:
        items = list(rows.values())
        mean = mean_row("model", items)
        summary: dict[str, Any] = {key: value for key, value in mean.items() if key not in ("method", "words")}
        summary["majority"] = float(np.mean([row["majority"] for row in items]))
        table = [mean, *(mean_row(method, list(found.values())) for method, found in bounds.items() if found)]
        notes = []
        if missing:
            notes.append(f"{len(missing)} pseudo-words not in the vocabulary: {listed(missing)}")
        if alone:
            notes.append(f"{len(alone)} pseudo-words of which only one member occurs are left out: {listed(alone)}")
        settings = dict(self.settings)
        if self.bounds is not None:
            shares, said = shares_of_bound(rows, bounds)
            summary.update(shares)
            notes.extend(said)
            settings["baselines"] = self.bounds.settings
        else:
            table.append(_majority(items))
        summary["words"] = len(items)
        summary["missing"] = len(missing)
        summary["occurrences"] = sum(row["n"] for row in items)
        return EvaluationResult("pseudo-words", self.settings["score"], summary, table, items, settings, notes)

    def baselines(
        self,
        vectors: WordLookup,
        *,
        window: int = 5,
        sample: float = 1e-4,
        clusters: int | Iterable[int] = (2, 3),
        folds: int = 5,
        seed: int = 0,
    ) -> PseudoWordBounds:
        """Scores between which a model should fall, kept in ``bounds``; takes seconds to a minute, on one thread.

        The lower bounds are the majority (one sense) and what a user might write in ten lines, k-means of the window
        means of each pseudo-word. The upper bound is supervised: the cross-validated predictions of a logistic
        regression on the same windows, of which it sees the weighted and the plain mean. All use only word-level
        vectors, such as those of gensim Word2Vec trained on the merged text.

        The upper bound is one for what such windows tell when there are examples enough to learn from: a model that
        reads more of the text can pass it, and where occurrences are few (a hundred or so a word), k-means can. Where
        it is near 0 or not above a lower bound, a note says so, and results have no share of it.

        Parameters
        ----------
        vectors : word vectors, or a model that has them as ``wv``
            ``word in vectors`` and ``vectors[word]``, as gensim ``KeyedVectors`` or ``model.wv``.
        window : int
            Known words taken to each side.
        sample : float
            Words are weighted by their chance of being kept under word2vec's subsampling with this threshold; 0
            weights all alike.
        clusters : int or iterable of int
            Numbers of clusters for k-means, each at least 2.
        folds : int
            Folds of the cross-validation.
        seed : int
            Seed of k-means and of the folds.

        Returns
        -------
        PseudoWordBounds
            A row for each method; its score is the supervised V-measure.

        Raises
        ------
        TypeError, ValueError
            For an option of the wrong type or out of range, vectors that are none, or that know no word of the text;
            if there is nothing to learn from.
        """
        self.bounds = compute_bounds(
            self, vectors, window=window, sample=sample, clusters=clusters, folds=folds, seed=seed
        )
        return self.bounds


def _majority(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    share = float(np.mean([row["majority"] for row in rows]))
    return {
        "method": "majority",
        "v_measure": 0.0,
        "ari": 0.0,
        "purity": share,
        "effective_senses": 1.0,
        "collapsed": 1.0,
        "words": len(rows),
    }


def _tokenised(sentences: Any) -> Sequence[Sequence[str]]:
    """Sentences that can be counted, each a list of tokens."""
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        raise TypeError(f"sentences must be a list of token lists; got {sentences!r:.80}")
    held = sentences if isinstance(sentences, Sequence) else list(sentences)
    for number, tokens in enumerate(held):
        if isinstance(tokens, str) or not isinstance(tokens, Sequence):
            raise TypeError(f"sentence {number} must be a list of tokens, as text.split() makes it; got {tokens!r:.80}")
    return held


def _places(
    sentences: Sequence[Sequence[str]], truth: Mapping[str, ArrayLike], limit: int | None, seed: int
) -> Occurrences:
    """Check the truth against the text, sample it, and order it by place."""
    generator = np.random.default_rng(seed)
    blocks: list[NDArray[np.int64]] = []
    for number, (word, entries) in enumerate(truth.items()):
        places = np.asarray(entries)
        if places.ndim != 2 or places.shape[1] != 3 or len(places) == 0 or places.dtype.kind not in "iu":
            raise ValueError(
                f"the truth of {word!r} must be integers of shape (n, 3): sentence, position, member; "
                f"got {places.dtype} of shape {places.shape}"
            )
        if (places < 0).any():
            raise ValueError(f"the truth of {word!r} holds negative numbers")
        for sentence, position, _ in places.tolist():
            if sentence >= len(sentences) or position >= len(sentences[sentence]):
                raise ValueError(
                    f"the truth of {word!r} names token {position} of sentence {sentence}, which is not there"
                )
            if sentences[sentence][position] != word:
                raise ValueError(
                    f"the truth of {word!r} names token {position} of sentence {sentence}, which is "
                    f"{sentences[sentence][position]!r}: pass the text with the merged words"
                )
        if limit is not None and len(places) > limit:
            places = places[np.sort(generator.choice(len(places), limit, replace=False))]
        blocks.append(np.column_stack([np.full(len(places), number), places]))
    flat = np.concatenate(blocks).astype(np.int64)
    flat = flat[np.lexsort((flat[:, 2], flat[:, 1]))]
    if (np.diff(flat[:, 1:3], axis=0) == 0).all(axis=1).any():
        raise ValueError("an occurrence is listed twice in the truth")
    return Occurrences(*flat.T)


def evaluate_pseudo_words(model: SenseModel, corpus: Any, **options: Any) -> EvaluationResult:
    """The pseudo-word test in one call.

    Parameters
    ----------
    model : SenseModel
        A model trained on ``corpus.sentences``.
    corpus : muse.datasets.AmbiguousCorpus
        Text with known senses, as ``muse.datasets.pseudo_words`` makes it.
    **options
        As for :class:`PseudoWordTask`.
    """
    return PseudoWordTask.from_corpus(corpus, **options)(model)
