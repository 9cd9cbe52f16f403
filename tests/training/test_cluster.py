"""The split of words into senses: contexts, samples of them, and clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from muse import _core

CONTEXT_WORDS = 12  # of each topic
TARGET = 0  # the word that is split; word 1 occurs in every sentence and tells nothing


class Text(NamedTuple):
    corpus: _core.Corpus
    vectors: np.ndarray  # P (V, S)
    topic: np.ndarray  # (n_sentences,) the true sense of the target in each sentence


def padded(array: np.ndarray) -> np.ndarray:
    copy = _core.aligned_zeros(*array.shape)
    copy[:] = array
    return copy


def make_text(topics: int, *, sentences: int = 200, noise: float = 0.15, seed: int = 0, shares=None) -> Text:
    """Sentences about one of several topics; the target occurs in each, and words of a topic point one way."""
    rng = np.random.default_rng(seed)
    size = 20
    words = 2 + topics * CONTEXT_WORDS
    vectors = noise * rng.normal(size=(words, size))
    for topic in range(topics):
        vectors[2 + topic * CONTEXT_WORDS : 2 + (topic + 1) * CONTEXT_WORDS, topic] += 1
    vectors[:2] = noise * rng.normal(size=(2, size))
    topic = rng.choice(topics, size=sentences, p=shares)
    tokens, offsets = [], [0]
    for t in topic:
        near = 2 + t * CONTEXT_WORDS + rng.integers(0, CONTEXT_WORDS, 6)
        tokens += [*near[:3], 1, TARGET, *near[3:]]
        offsets.append(len(tokens))
    corpus = _core.Corpus.from_arrays(np.array(tokens, np.int32), np.array(offsets))
    return Text(corpus, padded(vectors), topic)


def selection_options(**given) -> _core.SelectionOptions:
    options = _core.SelectionOptions()
    for name, value in {"window": 4, "mean": True, **given}.items():
        setattr(options, name, value)
    return options


def split_options(**given) -> _core.SplitOptions:
    options = _core.SplitOptions()
    for name, value in given.items():
        setattr(options, name, value)
    return options


def split(text: Text, wanted: int | np.ndarray, *, workers: int = 1, cap: int = 1000, **options):
    """Senses (V,), centroids (Z, S), counts (Z,); every word is asked for `wanted` senses."""
    words = len(text.vectors)
    offsets, places = _core.sample_occurrences(text.corpus, words, cap, 1)
    wanted = np.broadcast_to(np.asarray(wanted, np.int32), words).copy()
    return _core.split_senses(text.vectors, np.empty(0, np.float32), selection_options(), text.corpus, offsets, places,
                              wanted, split_options(**options), workers)  # fmt: skip


def only_target(text: Text, senses: int) -> np.ndarray:
    wanted = np.ones(len(text.vectors), np.int32)
    wanted[TARGET] = senses
    return wanted


# --- contexts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("distance", [[], [0.0, 1.0, 0.5, 0.25]])
def test_contexts_are_weighted_sums_or_means_of_the_window(distance, mean, weighted):
    rng = np.random.default_rng(1)
    lengths = [1, 5, 12, 3, 9]
    tokens = rng.integers(0, 8, sum(lengths)).astype(np.int32)
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    corpus = _core.Corpus.from_arrays(tokens, offsets)
    vectors = rng.normal(size=(8, 19)).astype(np.float32)  # unpadded rows will do here
    weights = rng.uniform(0.1, 1, 8).astype(np.float32) if weighted else np.empty(0, np.float32)
    window = 3
    options = selection_options(window=window, mean=mean, distance=distance)
    places = rng.permutation(len(tokens))
    contexts = _core.context_vectors(vectors, weights, options, corpus, places)
    assert contexts.shape == (len(tokens), 19)
    assert contexts.dtype == np.float32
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    for place, context in zip(places, contexts, strict=True):
        near = [j for j in range(place - window, place + window + 1) if 0 <= j < len(tokens)]
        near = [j for j in near if sentence[j] == sentence[place]]
        w = np.array([distance[abs(j - place)] if distance else 1.0 for j in near])
        w = w * (weights[tokens[near]] if weighted else 1)
        expected = w @ vectors[tokens[near]].astype(np.float64)
        if mean and w.sum() > 0:
            expected /= w.sum()
        np.testing.assert_allclose(context, expected, atol=1e-5)


def test_a_place_outside_the_corpus_is_refused():
    text = make_text(2)
    for place in (-1, text.corpus.n_tokens):
        with pytest.raises(ValueError, match="outside"):
            _core.context_vectors(
                text.vectors, np.empty(0, np.float32), selection_options(), text.corpus, np.array([place])
            )


# --- samples ----------------------------------------------------------------------------------------------------------


def occurrences(tokens: np.ndarray, words: int, cap: int, seed: int = 1) -> list[np.ndarray]:
    corpus = _core.Corpus.from_arrays(tokens, np.array([0, len(tokens)]))
    offsets, places = _core.sample_occurrences(corpus, words, cap, seed)
    assert len(offsets) == words + 1
    assert offsets[-1] == len(places)
    return [places[offsets[w] : offsets[w + 1]] for w in range(words)]


def test_occurrences_of_rare_words_are_all_there_and_of_others_about_the_cap():
    counts = {0: 30_000, 1: 5_000, 2: 300, 3: 299, 4: 1}  # and word 5 never
    tokens = np.random.default_rng(0).permutation(np.repeat(list(counts), list(counts.values()))).astype(np.int32)
    found = occurrences(tokens, 6, cap=300)
    for word, places in enumerate(found):
        assert (tokens[places] == word).all()
        assert (np.diff(places) > 0).all()
        if counts.get(word, 0) <= 300:
            np.testing.assert_array_equal(places, np.flatnonzero(tokens == word))
        else:
            assert abs(len(places) - 300) < 5 * np.sqrt(300)
    # The sample is spread over the whole text: as many in each fifth of it, within five standard deviations.
    fifths = np.histogram(found[0], bins=5, range=(0, len(tokens)))[0]
    assert np.abs(fifths - len(found[0]) / 5).max() < 5 * np.sqrt(len(found[0]) / 5)


def test_occurrences_depend_on_the_seed_alone():
    tokens = np.random.default_rng(0).integers(0, 3, 5000).astype(np.int32)
    first, again, other = (occurrences(tokens, 3, 100, seed) for seed in (1, 1, 2))
    for a, b, c in zip(first, again, other, strict=True):
        np.testing.assert_array_equal(a, b)
        assert not np.array_equal(a, c)


# --- clusters ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topics", [2, 3])
def test_separable_clusters_are_recovered(topics):
    text = make_text(topics)
    senses, centroids, counts = split(text, only_target(text, topics))
    assert senses.tolist() == [topics] + [1] * (len(senses) - 1)
    assert centroids.shape == (senses.sum(), text.vectors.shape[1])
    np.testing.assert_allclose(np.linalg.norm(centroids[:topics], axis=1), 1, atol=1e-5)
    assert not centroids[topics:].any()
    # A sense is a topic: every context is nearest to the centroid of its own.
    places = np.flatnonzero(text.corpus.tokens == TARGET)
    contexts = _core.context_vectors(text.vectors, np.empty(0, np.float32), selection_options(), text.corpus, places)
    nearest = (contexts @ centroids[:topics].T).argmax(axis=1)
    names = {topic: nearest[text.topic == topic][0] for topic in range(topics)}
    assert len(set(names.values())) == topics
    assert [names[topic] for topic in text.topic] == nearest.tolist()
    assert counts[:topics].tolist() == np.bincount(nearest, minlength=topics).tolist()
    for k in range(topics):  # and a centroid is the direction of the mean of its contexts
        unit = contexts[nearest == k] / np.linalg.norm(contexts[nearest == k], axis=1, keepdims=True)
        mean = unit.mean(axis=0)
        np.testing.assert_allclose(centroids[k], mean / np.linalg.norm(mean), atol=1e-5)


@pytest.mark.parametrize("topics", [1, 2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_adaptive_finds_the_number_of_senses(topics, seed):
    text = make_text(topics, seed=seed)
    senses, _, counts = split(text, only_target(text, 5), adaptive=True, max_cosine_two=0.5, max_cosine_more=0.5)
    assert senses[TARGET] == topics
    assert counts[:topics].sum() == 200


def test_adaptive_drops_a_sense_with_too_small_a_share():
    text = make_text(2, shares=[0.9, 0.1])
    limits = {"adaptive": True, "max_cosine_two": 0.5, "min_contexts": 5}
    assert split(text, only_target(text, 2), min_share=0.03, **limits)[0][TARGET] == 2
    assert split(text, only_target(text, 2), min_share=0.3, **limits)[0][TARGET] == 1


def test_a_sense_has_min_contexts():
    text = make_text(2, shares=[0.9, 0.1])
    smaller = int((text.topic == 1).sum())
    assert split(text, only_target(text, 2), min_contexts=smaller)[0][TARGET] == 2
    senses, centroids, counts = split(text, only_target(text, 2), min_contexts=smaller + 1)
    assert senses[TARGET] == 1
    assert counts[TARGET] == 200
    assert not centroids[TARGET].any()
    # Too few contexts for so many senses: as many as there may be.
    senses, _, counts = split(text, 3, min_contexts=60)
    assert senses[1] <= 3
    assert counts.min() >= 0
    assert (counts[np.repeat(senses, senses) > 1] >= 60).all()


def test_words_without_contexts_have_one_sense():
    text = make_text(2)
    vectors = padded(np.vstack([text.vectors, text.vectors[:1]]))  # a word that never occurs
    senses, centroids, counts = split(text._replace(vectors=vectors), 3)
    assert senses[-1] == 1
    assert counts[-1] == 0
    assert not centroids[-1].any()


def test_contexts_of_zero_length_do_no_harm():
    text = make_text(2)
    text.vectors[:] = 0
    senses, centroids, _ = split(text, 3)
    assert (senses >= 1).all()
    assert np.isfinite(centroids).all()


def test_the_split_does_not_depend_on_workers_and_repeats():
    text = make_text(3, sentences=400, noise=0.6)
    one = split(text, 3)
    assert (one[0] > 1).sum() > 20
    for workers in (1, 2, 5):
        for a, b in zip(one, split(text, 3, workers=workers), strict=True):
            np.testing.assert_array_equal(a, b)


def test_more_restarts_and_iterations_never_make_the_clusters_worse():
    text = make_text(3, noise=0.8, seed=3)
    places = np.flatnonzero(text.corpus.tokens == TARGET)
    contexts = _core.context_vectors(text.vectors, np.empty(0, np.float32), selection_options(), text.corpus, places)
    contexts /= np.linalg.norm(contexts, axis=1, keepdims=True)

    def objective(**options) -> float:
        _, centroids, _ = split(text, only_target(text, 3), min_contexts=1, **options)
        return float((contexts @ centroids[:3].T).max(axis=1).sum())

    poor, good = objective(restarts=1, iterations=1), objective(restarts=8, iterations=50)
    assert good > poor
    best = max(objective(restarts=1, iterations=50, seed=seed) for seed in range(1, 9))
    assert good >= 0.99 * best


def with_constant(text: Text) -> Text:
    """The same text with a last column of P that is the same for all words."""
    return text._replace(vectors=padded(np.hstack([text.vectors, np.ones((len(text.vectors), 1))])))


def shares_of(text: Text, senses: int, share_weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Centroids of the target's senses, and the share of each in the sampled contexts."""
    found, centroids, counts = split(text, only_target(text, senses), share_weight=share_weight, min_contexts=1)
    return centroids[: found[TARGET]], counts[: found[TARGET]] / counts[: found[TARGET]].sum()


@pytest.mark.parametrize("seed", range(3))
def test_shares_make_a_needless_cluster_smaller_or_end_it(seed):
    text = with_constant(make_text(2, noise=0.6, sentences=600, seed=seed))
    _, equal = shares_of(text, 3, 0.0)
    _, weighted = shares_of(text, 3, 0.1)
    assert len(equal) == 3
    assert len(weighted) == 2 or weighted.min() < 0.7 * equal.min()


@pytest.mark.parametrize("share", [[0.6, 0.3, 0.1], [0.85, 0.15]])
def test_the_column_of_shares_is_their_logarithm(share):
    text = with_constant(make_text(len(share), noise=0.3, shares=share, sentences=400))
    centroids, found = shares_of(text, len(share), 0.1)
    np.testing.assert_allclose(centroids[:, -1], 0.1 * np.log(found), atol=0.02)  # one is added to each count
    np.testing.assert_allclose(np.linalg.norm(centroids[:, :-1], axis=1), 1, atol=1e-5)


def test_two_senses_of_like_frequency_have_no_shares():
    text = with_constant(make_text(2, noise=0.3, shares=[0.6, 0.4], sentences=400))
    centroids, share = shares_of(text, 2, 0.1)
    assert share.min() > 0.3
    assert not centroids[:, -1].any()


def test_with_shares_a_rare_sense_takes_nothing_from_a_frequent_one():
    texts = [with_constant(make_text(2, noise=1.2, shares=[0.9, 0.1], sentences=600, seed=seed)) for seed in range(5)]
    assert max(shares_of(text, 2, 0.0)[1].min() for text in texts) > 0.4  # halves of the frequent sense
    assert all(0.05 < shares_of(text, 2, 0.05)[1].min() < 0.15 for text in texts)


@pytest.mark.parametrize("bad", [{"wanted": np.ones(3, np.int32)}, {"offsets": np.zeros(27, np.int64)}])
def test_what_does_not_fit_is_refused(bad):
    text = make_text(2)
    words = len(text.vectors)
    offsets, places = _core.sample_occurrences(text.corpus, words, 10, 1)
    given = {"offsets": offsets, "places": places, "wanted": np.ones(words, np.int32), **bad}
    with pytest.raises(ValueError, match="fit"):
        _core.split_senses(text.vectors, np.empty(0, np.float32), selection_options(), text.corpus, **given,
                           split=split_options(), workers=1)  # fmt: skip
