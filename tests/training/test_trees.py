"""Sense trees, part by part against the numpy twin (reference_trees), and grown from small texts."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

import reference_trees as twin
from muse import _core
from muse.data.arrays import Arrays
from muse.data.use_space import UseSpace
from muse.training.trees import TreeSettings, grow_trees
from small_runs import cut_of

SMALL = {
    "encoder_block": 32, "encoder_group": 4, "encoder_shared": 3, "encoder_window": 3, "sample": 0.01, "leaves": 6,
    "uses_a_leaf": 20, "least_uses": 40, "topic_window": 8, "map_count": 20, "senses": 2, "first_uses": 60,
}  # fmt: skip


def padded(array: np.ndarray) -> np.ndarray:
    copy = _core.aligned_zeros(*array.shape)
    copy[:] = array
    return copy


def make_sentences(words: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and offsets of sentences of 1 to 40 words, the first words being frequent."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 41, count)
    tokens = (words * rng.random(lengths.sum()) ** 2).astype(np.int32)
    return tokens, np.concatenate(([0], np.cumsum(lengths)))


def make_space(words: int, *, dim=10, order=7, reach=3, seed=0, pad=False, triangle=False):
    """A space for the core, and the twin's."""
    rng = np.random.default_rng(seed)
    lay = padded if pad else np.ascontiguousarray
    positions = rng.normal(size=(2 * reach + 1, dim)).astype(np.float32)
    positions[reach] = 0
    arrays = {
        "topic": rng.normal(size=(words, dim + 3)).astype(np.float32),
        "weights": rng.random(words).astype(np.float32),
        "words": rng.normal(size=(words, dim)).astype(np.float32),
        "positions": positions,
        "mean": rng.normal(size=dim).astype(np.float32),
        "transform": rng.normal(size=(dim, order)).astype(np.float32),
    }
    if triangle:
        arrays["transform"] = np.tril(arrays["transform"])
    space = UseSpace(
        lay(arrays["topic"]), arrays["weights"], lay(arrays["words"]), lay(positions), arrays["mean"],
        lay(arrays["transform"]), 6, 0.5, 0.75,
    )  # fmt: skip
    doubles = {name: array.astype(np.float64) for name, array in arrays.items()}
    return space, twin.Space(window=6, power=0.5, **doubles)


# --- the encoder ------------------------------------------------------------------------------------------------------


def encoder_case(seed: int = 0):
    rng = np.random.default_rng(seed)
    tokens, offsets = make_sentences(30, 12, seed)
    counts = np.bincount(tokens, minlength=30) + 1
    words, outputs = (rng.normal(size=(30, 11)).astype(np.float32) * 0.4 for _ in range(2))
    positions = rng.normal(size=(7, 11)).astype(np.float32) * 0.4
    positions[3] = 0
    weights = rng.random(30).astype(np.float32)
    keep = np.minimum(1, 0.3 + rng.random(30)).astype(np.float32)
    return tokens, offsets, counts, words, outputs, positions, weights, keep


def encoder_options(**given) -> _core.EncoderOptions:
    options = _core.EncoderOptions()
    defaults = {"window": 3, "block_tokens": 24, "group": 4, "shared": 3, "alpha": 0.1, "position_alpha": 0.1}
    for name, value in (defaults | given).items():
        setattr(options, name, value)
    return options


@pytest.mark.parametrize("given", [{}, {"group": 1, "shared": 5}, {"block_tokens": 7, "seed": 3}, {"negative": 0}])
def test_the_encoder_does_what_the_twin_does(given):
    tokens, offsets, counts, words, outputs, positions, weights, keep = encoder_case()
    mine = [padded(matrix) for matrix in (words, outputs, positions)]
    options = encoder_options(**given)
    corpus = _core.Corpus.from_arrays(tokens, offsets)
    stats = _core.train_encoder(*mine, corpus, weights, keep, counts, options, 1)
    names = ("window", "block_tokens", "group", "shared", "alpha", "position_alpha", "negative", "seed")
    theirs = [matrix.astype(np.float64) for matrix in (words, outputs, positions)]
    targets, loss = twin.train_encoder(
        *theirs, tokens, offsets, weights.astype(np.float64), keep, counts, {n: getattr(options, n) for n in names}
    )
    assert stats["targets"] == targets > 50
    np.testing.assert_allclose(stats["loss"], loss, rtol=1e-4)
    for one, other, before in zip(mine, theirs, (words, outputs, positions), strict=True):
        np.testing.assert_allclose(one, other, atol=2e-4)
        assert not np.allclose(one, before, atol=1e-3)
    assert not mine[2][3].any()


def test_the_encoder_reads_a_part_of_the_text_and_may_leave_words_alone():
    tokens, offsets, counts, words, outputs, positions, weights, keep = encoder_case()
    corpus = _core.Corpus.from_arrays(tokens, offsets)
    mine = [padded(matrix) for matrix in (words, outputs, positions)]
    options = encoder_options(max_tokens=len(tokens) // 2, learn_words=False)
    stats = _core.train_encoder(*mine, corpus, weights, keep, counts, options, 1)
    whole = _core.train_encoder(*map(padded, (words, outputs, positions)), corpus, weights, keep, counts,
                                encoder_options(), 1)  # fmt: skip
    assert 0.3 * whole["targets"] < stats["targets"] < 0.7 * whole["targets"]
    np.testing.assert_array_equal(mine[0], words)
    assert (mine[2] != positions).any()


def test_an_encoder_that_does_not_learn_is_refused():
    tokens, offsets, counts, words, outputs, positions, weights, keep = encoder_case()
    given = *map(padded, (words, outputs, positions)), _core.Corpus.from_arrays(tokens, offsets), weights, keep, counts
    for alpha in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="alpha must be above 0"):
            _core.train_encoder(*given, encoder_options(alpha=alpha), 1)


def test_the_encoder_learns_to_tell_words_apart():
    rng = np.random.default_rng(1)  # word 2 i + 1 follows word 2 i
    first = 2 * rng.integers(0, 20, 6000)
    tokens = np.stack([first, first + 1], axis=1).ravel().astype(np.int32)
    corpus = _core.Corpus.from_arrays(tokens, np.arange(0, len(tokens) + 1, 10))
    counts, ones = np.bincount(tokens, minlength=40), np.ones(40, np.float32)
    words, outputs = (padded(rng.normal(size=(40, 16)).astype(np.float32) * 0.1) for _ in range(2))
    positions = padded(np.full((7, 16), 0.3, np.float32))
    positions[3] = 0
    given = words, outputs, positions, corpus, ones, ones, counts
    before = _core.train_encoder(*given, encoder_options(alpha=1e-9, position_alpha=1e-9), 1)["loss"]
    losses = [_core.train_encoder(*given, encoder_options(alpha=0.1, seed=seed), 2)["loss"] for seed in range(4)]
    assert before == pytest.approx(6 * np.log(2), rel=0.05)  # one target and five negatives: nothing is known
    assert losses[-1] < 0.3 * before


# --- contexts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [{}, {"pad": True}, {"dim": 70, "order": 70}, {"dim": 70, "order": 70, "triangle": True},
     {"dim": 40, "order": 100, "triangle": True}],
)  # fmt: skip
def test_contexts_of_a_corpus_are_those_of_the_twin(given):
    tokens, offsets = make_sentences(25, 30)
    space, reference = make_space(25, **given)
    corpus = _core.Corpus.from_arrays(tokens, offsets)
    places = np.random.default_rng(1).integers(0, len(tokens), 200)
    found = space.core.contexts(corpus, places)
    for place, row in zip(places, found, strict=True):
        s = np.searchsorted(offsets, place, side="right") - 1
        sentence = tokens[offsets[s] : offsets[s + 1]].tolist()
        np.testing.assert_allclose(row, twin.context(reference, sentence, place - offsets[s]), atol=2e-6)


def test_contexts_of_given_texts_with_and_without_a_place():
    tokens, offsets = make_sentences(25, 60, seed=2)
    space, reference = make_space(25)
    rng = np.random.default_rng(0)
    positions = np.array([rng.integers(-1, n) for n in np.diff(offsets)])
    found = space.core.vectors(tokens, offsets, positions, workers=2)
    assert (positions < 0).any()
    for i, row in enumerate(found):
        sentence = tokens[offsets[i] : offsets[i + 1]].tolist()
        np.testing.assert_allclose(row, twin.context(reference, sentence, positions[i]), atol=2e-6)


def test_a_space_of_topics_alone():
    tokens, offsets = make_sentences(25, 20)
    space, reference = make_space(25)
    alone = UseSpace(space.topic_vectors, space.topic_weights, topic_window=6)
    reference.words = None
    row = alone.core.contexts(_core.Corpus.from_arrays(tokens, offsets), np.array([7]))[0]
    s = np.searchsorted(offsets, 7, side="right") - 1
    np.testing.assert_allclose(row, twin.context(reference, tokens[offsets[s] : offsets[s + 1]].tolist(),
                                                 7 - offsets[s]), atol=2e-6)  # fmt: skip


def contexts_of(tokens: np.ndarray, offsets: np.ndarray, some: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    chosen = [tokens[offsets[s] : offsets[s + 1]] for s in some]
    return np.concatenate(chosen), np.concatenate(([0], np.cumsum([len(s) for s in chosen])))


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("biased", [False, True])
def test_selection_of_whole_texts_takes_the_best_centroid(workers, biased):
    tokens, offsets = make_sentences(25, 400)  # 25 words; some with one sense
    offsets = np.concatenate((offsets, [offsets[-1] + 300]))  # and a sentence longer than what is computed at once
    tokens = np.concatenate((tokens, make_sentences(25, 40, 9)[0][:300]))
    space, reference = make_space(25)
    senses = np.array([1, 2, 3, 4, 5] * 5)
    sense_offset = np.concatenate(([0], np.cumsum(senses)))
    selection = np.random.default_rng(4).normal(size=(senses.sum(), space.size)).astype(np.float32)
    bias = np.random.default_rng(5).normal(size=senses.sum() if biased else 0).astype(np.float32)
    given = selection, sense_offset, bias
    found, probability, margin = space.core.select(*given, 0.5, tokens, offsets, workers)
    first = np.array([0, 37, 400])
    words = tokens[offsets[first]]
    asked = *contexts_of(tokens, offsets, first), np.zeros(3, np.int64), words
    scored = _core.Selector.by_uses(space.core, *given).scores(*asked, workers)
    scored = iter(np.split(scored, np.cumsum(senses[words])[:-1]))
    for s in (*range(0, 400, 37), 400):
        sentence = tokens[offsets[s] : offsets[s + 1]].tolist()
        for place, word in enumerate(sentence):
            rows = selection[sense_offset[word] : sense_offset[word + 1]].astype(np.float64)
            scores = rows @ twin.context(reference, sentence, place)
            scores += bias[sense_offset[word] : sense_offset[word + 1]] if biased else 0
            if place == 0 and s in first:
                np.testing.assert_allclose(next(scored), scores, atol=1e-4)
            scores /= 0.5
            shares = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
            at = offsets[s] + place
            np.testing.assert_allclose(probability[at], shares.max(), atol=1e-4)
            second = np.sort(shares)[-2] if len(shares) > 1 else 0.0
            np.testing.assert_allclose(margin[at], shares.max() - second, atol=1e-4)
            assert shares[found[at]] > shares.max() - 1e-4


def test_scores_of_a_text_without_a_place_and_what_does_not_fit():
    space, reference = make_space(25)
    sense_offset, selection = np.arange(0, 51, 2), np.random.default_rng(1).normal(size=(50, space.size))
    given = selection.astype(np.float32), sense_offset, np.zeros(0, np.float32)
    text = np.array([3, 4, 5], np.int32), np.array([0, 3])
    selector = _core.Selector.by_uses(space.core, *given)
    scores = selector.scores(*text, [-1], [7])
    np.testing.assert_allclose(scores, selection[14:16] @ twin.context(reference, [3, 4, 5], -1), atol=1e-5)
    with pytest.raises(ValueError, match="position"):
        selector.scores(*text, [3], [7])
    with pytest.raises(ValueError, match="vocabulary"):
        selector.scores(*text, [0], [25])
    with pytest.raises(ValueError, match="bias"):
        space.core.select(*given[:2], np.zeros(3, np.float32), 1.0, *text)
    with pytest.raises(ValueError, match="do not fit the space"):
        space.core.select(given[0][:, :-1], *given[1:], 1.0, *text)


def test_a_tagger_selects_by_contexts_of_uses():
    tokens, offsets = make_sentences(25, 60)
    space, _ = make_space(25)
    sense_offset, selection = np.arange(0, 51, 2), np.random.default_rng(1).normal(size=(50, space.size))
    bias = np.random.default_rng(2).normal(size=50).astype(np.float32)
    given = selection.astype(np.float32), sense_offset, bias
    words = [f"w{i}" for i in range(25)]
    tagger = _core.Tagger.by_uses(words, space.core, *given, 0.15)
    lines = [[words[t] for t in tokens[a:b]] for a, b in itertools.pairwise(offsets)]
    senses, probability, margin = space.core.select(*given, 0.15, tokens, offsets)
    text = "".join("unknown " + " ".join(line) + "\n" for line in lines)
    tagged, total, known = tagger.tag(text.encode(), "#")
    expected = iter(senses)
    assert tagged.decode() == "".join(
        "unknown " + " ".join(f"{word}#{next(expected)}" for word in line) + "\n" for line in lines
    )
    assert (total, known) == (len(tokens) + len(lines), len(tokens))
    found = tagger.select(lines, 2)
    for one, other in zip(found, (senses, probability, margin, offsets), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="a word for each row"):
        _core.Tagger.by_uses(words[1:], space.core, *given, 0.15)


def test_the_bias_is_a_part_of_the_logarithm_of_the_share():
    space, _ = make_space(25)
    bias = space.bias(np.array([0, 2, 3, 4]), np.array([30, 10, 0, 7]))
    np.testing.assert_allclose(bias, 0.05 * np.log([0.75, 0.25, 1, 1]), atol=1e-7)


# --- trees ------------------------------------------------------------------------------------------------------------


class Text:
    """Sentences of two or three topics, in each of which word 0 occurs; word 1 has one topic."""

    def __init__(self, topics: int = 2, sentences: int = 400, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.topic = rng.integers(0, topics, sentences)
        self.words, tokens, offsets = 2 + 12 * topics, [], [0]
        for topic in self.topic:
            near = 2 + 12 * topic + rng.integers(0, 12, 8)
            tokens += [*near[:4], 0 if rng.random() < 0.7 or topic else 1, *near[4:]]
            offsets.append(len(tokens))
        self.tokens, self.offsets = np.array(tokens, np.int32), np.array(offsets)
        self.corpus = _core.Corpus.from_arrays(self.tokens, self.offsets)
        counts = np.bincount(self.tokens, minlength=self.words)
        vectors = 0.3 * rng.normal(size=(self.words, 20))
        for topic in range(topics):
            vectors[2 + 12 * topic : 14 + 12 * topic, topic] += 1
        self.arrays = Arrays(
            context_vectors=np.zeros((self.words, 20), np.float32),
            selection_vectors=np.zeros((self.words, 20), np.float32),
            sense_vectors=padded(vectors.astype(np.float32)),
            collocation_vectors=padded((0.3 * rng.normal(size=(self.words, 20)) + vectors).astype(np.float32)),
            sense_offset=np.arange(self.words + 1),
            sense_counts=counts,
            word_counts=counts,
        )


@pytest.fixture(scope="module")
def text() -> Text:
    return Text()


@pytest.fixture(scope="module")
def grown(text):
    return grow_trees(text.arrays, text.corpus, TreeSettings(**SMALL))


def test_trees_find_the_topics_of_a_word(text, grown):
    tree = grown.trees.tree(0, "both")
    assert len(tree.senses) == 2
    assert "both#0*" in str(tree)
    cut = grown.trees.cut(2)
    bias = grown.space.bias(cut.sense_offset, cut.counts)
    senses, _, _ = grown.space.core.select(cut.centroids, cut.sense_offset, bias, 0.05, text.tokens, text.offsets)
    of_target = senses[text.tokens == 0]
    topics = np.repeat(text.topic, np.diff(text.offsets))[text.tokens == 0]
    agreement = (of_target == topics).mean()
    assert max(agreement, 1 - agreement) > 0.95


def test_the_order_is_whitened_by_a_triangle(grown):
    transform = grown.space.order_transform
    assert np.array_equal(transform, np.tril(transform))
    assert (np.diagonal(transform) != 0).all()


def test_a_leaf_is_the_mean_of_its_uses(text, grown):
    offsets, places = _core.sample_occurrences(text.corpus, text.words, TreeSettings().uses, 1)
    contexts = grown.space.core.contexts(text.corpus, places[offsets[0] : offsets[1]])
    leaves = slice(*grown.trees.leaf_offset[:2])
    counts, means = grown.trees.leaf_counts[leaves], grown.trees.leaf_means[leaves]
    assert counts.sum() == len(contexts)
    np.testing.assert_allclose(counts @ means / counts.sum(), contexts.mean(axis=0), atol=1e-5)
    nearest = (contexts @ twin.unit(means.astype(np.float64)).T).argmax(axis=1)
    assert np.abs(np.bincount(nearest, minlength=len(counts)) - counts).sum() < 0.1 * len(contexts)


def test_a_leaf_notes_the_mean_topic_of_its_uses(text, grown):
    offsets, places = _core.sample_occurrences(text.corpus, text.words, 1500, 1)
    found = _core.grow_trees(grown.space.core, text.corpus, offsets, places, _core.TreeOptions(), 1)
    space = twin.Space(*(a.astype(np.float64) for a in (grown.space.topic_vectors, grown.space.topic_weights)), 8, 0.5)
    tokens = text.tokens.tolist()
    topics = [twin.mean_topic(space, tokens[p - p % 9 : p - p % 9 + 9], p % 9) for p in places[: offsets[1]].tolist()]
    leaves = slice(*found["leaf_offset"][:2])
    counts = found["counts"][leaves]
    assert len(counts) > 3
    np.testing.assert_allclose(counts @ found["topics"][leaves] / counts.sum(), np.mean(topics, axis=0), atol=1e-5)


def test_vectors_of_senses_move_towards_their_topic(text, grown):
    uses = grown.trees.cut().counts.astype(np.int64)  # of the nodes themselves: those of words are rounded
    arrays = dataclasses.replace(cut_of(grown, text.arrays), sense_counts=uses)
    rows = arrays.rows_of(0)
    assert rows.stop - rows.start == 2
    topics = np.stack([text.arrays.sense_vectors[2:14].mean(axis=0), text.arrays.sense_vectors[14:26].mean(axis=0)])
    likeness = twin.unit(arrays.sense_vectors[rows].astype(np.float64)) @ twin.unit(topics.astype(np.float64)).T
    assert sorted(likeness.argmax(axis=1)) == [0, 1]
    np.testing.assert_allclose(arrays.word_vectors(), text.arrays.sense_vectors, atol=1e-4)  # shifts even out


def test_words_are_the_same_for_any_number_of_workers_and_the_rest_repeats(text, grown):
    again = grow_trees(text.arrays, text.corpus, TreeSettings(**SMALL))
    for name, array in grown.trees.as_dict().items():
        np.testing.assert_array_equal(array, again.trees.as_dict()[name])
    offsets, places = _core.sample_occurrences(text.corpus, text.words, 1500, 1)
    options = _core.TreeOptions()
    one, other = (
        _core.grow_trees(grown.space.core, text.corpus, offsets, places, options, workers) for workers in (1, 4)
    )
    assert one["counts"].size > 4
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def test_a_recut_needs_no_text(text, grown):
    for senses in (1, 3, {0: 4}):
        cut = grown.trees.cut(senses)
        arrays = cut_of(grown, text.arrays, senses)
        arrays.check_finite()
        assert arrays.n_senses == len(cut.nodes)
    assert (np.diff(grown.trees.cut(1).sense_offset) == 1).all()


def test_rare_words_and_tiny_texts_have_one_sense():
    text = Text(sentences=20)
    grown = grow_trees(text.arrays, text.corpus, TreeSettings(**SMALL))
    assert not grown.trees.n_leaves.any()
    np.testing.assert_array_equal(cut_of(grown, text.arrays).sense_vectors, text.arrays.sense_vectors)
    with pytest.raises(ValueError, match="'rare' has no sense tree"):
        grown.trees.tree(0, "rare")


def test_an_encoder_in_fewer_dimensions(text):
    grown = grow_trees(text.arrays, text.corpus, TreeSettings(**SMALL, encoder_size=6))
    assert grown.space.size == 26
    assert grown.trees.n_leaves[0] > 1


def test_progress_is_told_part_by_part(text):
    seen = []
    grow_trees(text.arrays, text.corpus, TreeSettings(**SMALL), progress=lambda *what: seen.append(what))
    assert list(dict.fromkeys(part for part, _, _ in seen)) == [
        "encoder",
        "whitening",
        "trees",
        "vectors",
        "calibration",
    ]
    assert all(0 <= done <= total for _, done, total in seen)
    assert seen[-1][1] == seen[-1][2]


def test_what_has_senses_already_is_refused(text, grown):
    with pytest.raises(ValueError, match="one sense a word"):
        grow_trees(cut_of(grown, text.arrays), text.corpus)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transform": np.zeros((3, 3), np.float32)}, "do not fit together"),
        ({"weights": np.zeros(3, np.float32)}, "weights"),
        ({"mean": None}, "need positions"),
    ],
)
def test_a_space_of_arrays_that_do_not_fit_is_refused(change, message):
    space, _ = make_space(25)
    given = {
        "topic": space.topic_vectors, "weights": space.topic_weights, "words": space.order_vectors,
        "positions": space.position_weights, "transform": space.order_transform, "mean": space.order_mean,
    }  # fmt: skip
    options = _core.SelectionOptions()
    options.window, options.distance = 2, [0.0, 1.0, 0.5]
    with pytest.raises(ValueError, match=message):
        _core.UseSpace(options=options, **{**given, **change})
