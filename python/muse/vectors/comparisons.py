"""gensim's questions to vectors with keys: similarities, distances, ranks, means, and evaluation on word lists."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muse.base.numeric import as_cosines
from muse.data.arrays import Floats
from muse.errors import EmptyListError
from muse.vectors.keyed import Key, KeyedVectors, Neighbours, as_list, check_topn, restricted, unit
from muse.vectors.word_pairs import correlate_word_pairs

__all__ = ["Comparisons"]

_LARGE_VOCABULARY = 300_000  # gensim's limit in evaluations
_NO_ZERO = 1e-6  # added to the divisor of most_similar_cosmul, as in gensim


class Comparisons(KeyedVectors[Key]):
    """The questions, under gensim's names and with gensim's answers."""

    @abstractmethod
    def most_similar(self, positive: Any = None, negative: Any = None, topn: int | None = 10) -> Any:
        """The keys that are most similar to some and least to others, by cosine."""

    # -- two keys ----------------------------------------------------------------------------------------------------

    def similarity(self, w1: Key, w2: Key) -> float:
        """Cosine of the keys `w1` and `w2`; 0 where one has a vector of zeros."""
        now = self._now()
        return float(np.clip(now._unit(w1) @ now._unit(w2), -1.0, 1.0))

    def doesnt_match(self, words: Iterable[Key]) -> Key:
        """The one of the keys `words` that is least similar to the mean of all; no key at all is a ValueError."""
        now = self._now()
        listed: list[Key] = as_list("doesnt_match", words)
        if not listed:
            raise ValueError("doesnt_match needs at least one key")
        units = np.stack([now._unit(key) for key in listed])
        return listed[int(np.argmin(units @ unit(units.mean(axis=0))))]

    def distance(self, w1: Key, w2: Key) -> float:
        """One minus the cosine of the keys `w1` and `w2`."""
        return 1.0 - self.similarity(w1, w2)

    def distances(self, word_or_vector: Key | ArrayLike, other_words: Sequence[Key] = ()) -> Floats:
        """One minus the cosine of `word_or_vector` with each of N `other_words`, or with all keys, float32 (N,)."""
        now = self._now()
        query = now._item(word_or_vector)
        listed = as_list("distances", other_words)
        if not listed:
            return np.float32(1) - now._similarities(query, None)
        units = np.stack([now._unit(key) for key in listed])
        distances: Floats = np.float32(1) - as_cosines(units @ unit(query))
        return distances

    def closer_than(self, key1: Key, key2: Key) -> list[str]:
        """All keys that are closer to `key1` than `key2` is."""
        now = self._now()
        row, limit = now.index(key1), now.index(key2)
        cosines = now._similarities(now._row(row), None)
        closer = np.flatnonzero(cosines > cosines[limit])
        keys = now.index_to_key
        return [keys[i] for i in closer.tolist() if i != row]

    def rank(self, key1: Key, key2: Key) -> int:
        """The place of `key2` among the keys closest to `key1`, from 1."""
        return len(self.closer_than(key1, key2)) + 1

    def relative_cosine_similarity(self, wa: Key, wb: Key, topn: int = 10) -> float:
        """The cosine of `wa` and `wb` over the sum of the `topn` largest of `wa` (Leeuwenberg 2016)."""
        now = self._now()
        nearest: Neighbours = now.most_similar(wa, topn=check_topn(topn))
        return now.similarity(wa, wb) / sum(cosine for _, cosine in nearest)

    # -- sets of keys ------------------------------------------------------------------------------------------------

    def get_mean_vector(
        self,
        keys: Iterable[Key | ArrayLike],
        weights: ArrayLike | None = None,
        *,
        pre_normalize: bool = True,
        post_normalize: bool = False,
        ignore_missing: bool = True,
    ) -> Floats:
        """The weighted mean of keys and vectors.

        Parameters
        ----------
        keys : iterable of N keys or vectors
            What to average.
        weights : array_like (N,), optional
            Weights, which may be negative; all one if not given. The divisor is the sum of their absolute values.
        pre_normalize, post_normalize : bool
            Bring the vectors, and the mean, to length one.
        ignore_missing : bool
            Skip unknown keys; otherwise they are a KeyError.

        Returns
        -------
        float32 (D,)
            The mean; zeros where no key is known.

        Raises
        ------
        ValueError
            If there is no key, or the weights are not as many.
        KeyError
            For an unknown key, if `ignore_missing` is false.
        """
        now = self._now()
        listed = as_list("get_mean_vector", keys)
        factors = np.ones(len(listed)) if weights is None else np.asarray(weights, np.float64)
        if not listed or factors.shape != (len(listed),):
            raise ValueError(f"a mean needs at least one key, and as many weights; got {len(listed)} keys")
        if not np.isfinite(factors).all():
            raise ValueError(f"weights must be finite numbers; got {weights!r:.80}")
        total, divisor = np.zeros(now.vector_size), 0.0
        for item, factor in zip(listed, factors.tolist(), strict=True):
            if ignore_missing and now._is_key(item) and item not in now:
                continue
            vector = now._item(item)
            total += factor * (unit(vector) if pre_normalize else vector)
            divisor += abs(factor)
        mean = (total / divisor if divisor > 0 else total).astype(np.float32)
        return unit(mean) if post_normalize else mean

    def n_similarity(self, ws1: Sequence[Key], ws2: Sequence[Key]) -> float:
        """Cosine of the means of the keys in `ws1` and in `ws2`.

        Raises
        ------
        EmptyListError
            A ValueError, and a ZeroDivisionError as in gensim: one of the lists is empty.
        KeyError
            For an unknown key.
        """
        now = self._now()
        both = [as_list("n_similarity", keys) for keys in (ws1, ws2)]
        if not all(both):
            raise EmptyListError("n_similarity needs at least one key in each list")
        means = [now.get_mean_vector(keys, pre_normalize=False, ignore_missing=False) for keys in both]
        return float(np.clip(unit(means[0]) @ unit(means[1]), -1.0, 1.0))

    def rank_by_centrality(self, words: Sequence[Key], use_norm: bool = True) -> list[tuple[float, Key]]:
        """The keys `words` by how close they are to the mean of all, closest first, each after its cosine.

        Without `use_norm` it is the product with the mean, and longer vectors weigh more. No key is a ValueError.
        """
        now = self._now()
        listed: list[Key] = as_list("rank_by_centrality", words)
        if not listed:
            raise ValueError("rank_by_centrality needs at least one key")
        vectors = np.stack([now._unit(key) if use_norm else now._row(now.index(key)) for key in listed])
        mean = unit(vectors.mean(axis=0)) if use_norm else vectors.mean(axis=0, dtype=np.float64)
        products = as_cosines(vectors @ mean) if use_norm else vectors @ mean
        scored = zip(products.tolist(), listed, strict=True)
        return sorted(scored, key=lambda pair: -pair[0])

    def most_similar_to_given(self, key1: Key, keys_list: Sequence[Key]) -> Key:
        """That of `keys_list` which is most similar to `key1`; no keys are a ValueError."""
        listed: list[Key] = as_list("most_similar_to_given", keys_list)
        if not listed:
            raise ValueError("most_similar_to_given needs at least one key")
        return listed[int(np.argmin(self.distances(key1, listed)))]

    # -- neighbours --------------------------------------------------------------------------------------------------

    def similar_by_key(self, key: Key, topn: int | None = 10, **options: Any) -> Any:
        """`most_similar` of one `key`; `topn` and other `options` as there."""
        return self.most_similar([key], topn=topn, **options)

    def similar_by_vector(self, vector: ArrayLike, topn: int | None = 10, **options: Any) -> Any:
        """`most_similar` of a `vector`, float (D,); `topn` and other `options` as there."""
        return self.most_similar([np.asarray(vector)], topn=topn, **options)

    def most_similar_batch(
        self, queries: Sequence[Key] | ArrayLike, topn: int = 10, *, restrict_vocab: int | None = None
    ) -> list[Neighbours]:
        """`most_similar` of each of M keys, or of the rows of a matrix, float (M, D), in one search.

        Parameters
        ----------
        queries : sequence of M keys, or array_like (M, D)
            Each is a query of its own; a key is never in its own answer.
        topn : int
            How many for each.
        restrict_vocab : int, optional
            Search the first, most frequent words only.

        Returns
        -------
        list of M lists of (str, float)
            Keys and cosines, best first.
        """
        now = self._now()
        items = as_list("most_similar_batch", queries)
        topn = check_topn(topn)
        if not items:
            return []
        own = [{now.index(item)} if now._is_key(item) else set() for item in items]
        vectors = np.stack([now._item(item) for item in items])
        return now._nearest(vectors, topn, excluded=own, restrict_vocab=restrict_vocab)

    def most_similar_cosmul(
        self, positive: Any = None, negative: Any = None, topn: int | None = 10, *, restrict_vocab: int | None = None
    ) -> Any:
        """`most_similar` by products of cosines in place of sums (3CosMul; Levy & Goldberg 2014).

        Parameters
        ----------
        positive, negative : key, vector, or list of these
            The query; its own keys are never in the answer.
        topn : int or None
            How many. None gives the score of every key instead, float32 (N,).
        restrict_vocab : int, optional
            Search the first, most frequent words only.

        Returns
        -------
        list of (str, float)
            Keys and scores, best first.

        Raises
        ------
        ValueError
            If the query is empty.
        """
        now = self._now()
        plus, minus = now._as_items(positive), now._as_items(negative)
        if not plus and not minus:
            raise ValueError("most_similar_cosmul needs at least one key or vector in positive or negative")
        scores = np.ones(now._end(restrict_vocab))
        for item in plus:
            scores *= (1 + now._similarities(now._item(item), restrict_vocab)) / 2
        for item in minus:
            scores /= (1 + now._similarities(now._item(item), restrict_vocab)) / 2 + _NO_ZERO
        if topn is None:
            return scores.astype(np.float32)
        topn = check_topn(topn, least=0)
        own = {now.index(item) for item in [*plus, *minus] if now._is_key(item)}
        keys = now.index_to_key
        best = [row for row in np.argsort(-scores, kind="stable")[: topn + len(own)].tolist() if row not in own]
        return [(keys[row], float(scores[row])) for row in best[:topn]]

    # -- evaluation --------------------------------------------------------------------------------------------------

    @abstractmethod
    def _word_similarity(self, first: str, second: str) -> float:
        """Similarity of two known words."""

    def evaluate_word_pairs(
        self,
        pairs: str | PathLike[str] | Sequence[tuple[str, str, float]],
        delimiter: str = "\t",
        encoding: str = "utf8",
        restrict_vocab: int | None = _LARGE_VOCABULARY,
        case_insensitive: bool = True,
        dummy4unknown: bool = False,
    ) -> tuple[Any, Any, float]:
        """Correlation with human ratings of word pairs, in gensim's form; `muse.evaluation` says more.

        Parameters
        ----------
        pairs : path-like or sequence of (str, str, float)
            A file as `muse.evaluation.read_word_pairs` takes it (WordSim-353, SimLex-999, MEN, ...), or the pairs.
        delimiter, encoding : str
            As gensim takes them, and not needed: the reader finds out what separates columns, and reads UTF-8.
        restrict_vocab : int, optional
            Skip pairs with words beyond the first, most frequent ones.
        case_insensitive : bool
            Let case aside; the most frequent spelling counts.
        dummy4unknown : bool
            Give pairs with an unknown word the similarity 0, instead of skipping them.

        Returns
        -------
        pearson, spearman : (statistic, p-value)
            As scipy gives them.
        oov_ratio : float
            Percentage of pairs with an unknown word.

        Raises
        ------
        ValueError
            If fewer than two pairs are known.
        ImportError
            If scipy is not installed.
        """
        now = self._now()
        spelling = now._spellings(restrict_vocab, case_insensitive)
        return correlate_word_pairs(pairs, now._word_similarity, spelling, dummy4unknown=dummy4unknown)

    def _spellings(self, restrict_vocab: int | None, case_insensitive: bool) -> dict[str, str]:
        """The known word that each spelling stands for, which is the most frequent one."""
        words = self._vocabulary.words[: restricted(restrict_vocab, len(self._vocabulary))]
        return {word.upper() if case_insensitive else word: word for word in reversed(words)}

    def _unit(self, key: Key) -> Floats:
        """The vector of one key at length one."""
        return unit(self._row(self.index(key)))

    def _item(self, item: Any) -> NDArray[np.float32]:
        """The vector of a key, or the vector itself."""
        return self._row(self.index(item)) if self._is_key(item) else self._as_vector(item)
