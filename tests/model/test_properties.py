"""What holds for any corpus, any settings and any sequence of calls (hypothesis); see also test_bad_input.py."""

from __future__ import annotations

import contextlib
import itertools
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from scipy.stats import chi2

from muse import MUSE, Paper, Split, Vocabulary, _core
from muse.corpus.encoding import encode_corpus
from muse.selector.context import as_tokens
from odd_corpora import CORPORA, check_file
from reference import SUBSAMPLE, WINDOW
from reference_draws import Draws
from toy import toy_arrays

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
FLOATS = st.floats(-1e3, 1e3, width=32)


def fits(seen, expected) -> bool:
    """Whether counts agree with their expectation, but for one seed in a million."""
    seen, expected = np.asarray(seen, float), np.asarray(expected, float)
    cells = expected > 0
    statistic = ((seen - expected)[cells] ** 2 / expected[cells]).sum()
    return bool(statistic < chi2.ppf(1 - 1e-6, max(cells.sum() - 1, 1))) and not seen[~cells].any()


# -- counts ------------------------------------------------------------------------------------------------------------


@SLOW
@given(sentences=CORPORA, min_count=st.integers(1, 4), limit=st.sampled_from([None, 2, 5]))
def test_vocabulary_and_corpus_count_what_is_there(sentences, min_count, limit):
    counted = Counter(itertools.chain(*sentences))
    kept = {word for word, count in counted.items() if count >= min_count}
    try:
        vocabulary, corpus = encode_corpus(sentences, min_count=min_count, max_final_vocab=limit)
    except ValueError:
        assert limit is not None or not kept
        return
    assert set(vocabulary.words) <= kept
    assert limit is not None or set(vocabulary.words) == kept
    assert len(vocabulary) <= (limit or len(kept))
    assert vocabulary.counts.tolist() == [counted[word] for word in vocabulary.words]
    assert vocabulary.raw_words == counted.total()
    known = [[word for word in sentence if word in vocabulary] for sentence in sentences]
    bounds = itertools.pairwise(corpus.offsets)
    assert [[vocabulary.words[i] for i in corpus.tokens[a:b]] for a, b in bounds] == [row for row in known if row]


@SLOW
@given(sentences=CORPORA, window=st.integers(1, 6), sample=st.sampled_from([0, 1e-2]), seed=st.integers(0, 99))
def test_subsampling_and_windows_are_counted_exactly(sentences, window, sample, seed):
    """`tokens` are all of the corpus; `pairs` are the positions in the drawn windows of the tokens that were kept."""
    if sum(map(len, sentences)) < 2:
        return
    model = MUSE(
        sentences, min_count=1, workers=1, vector_size=4, senses=1, window=window, sample=sample, seed=seed, epochs=2,
        recipe=Paper(collocates="all"),
    )  # fmt: skip
    counts = model.vocabulary.counts
    keep = _core.keep_probabilities(counts, sample)
    for epoch, row in enumerate(model.history):
        kept_draws, window_draws = Draws(seed, epoch, SUBSAMPLE), Draws(seed, epoch, WINDOW)
        pairs = token = 0
        for sentence in filter(None, sentences):
            places = []
            for word in sentence:
                probability = keep[model.vocabulary.index(word)]
                if probability >= 1 or kept_draws.uniform(token) < probability:
                    places.append(token)
                token += 1
            for i, place in enumerate(places):
                reach = 1 + window_draws.below(window, place)
                pairs += min(i, reach) + min(len(places) - 1 - i, reach)
        assert row["tokens"] == token == counts.sum()
        assert row["pairs"] == pairs


# -- samplers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["greedy", "eps_greedy", "boltzmann"])
def test_senses_are_drawn_as_the_strategy_says(strategy):
    """With P = 0 all scores are equal: every strategy takes each sense equally often."""
    words, uses = 3, 4000
    sentences = [["a", "b", "c"]] * uses
    recorded = []

    class Record:
        def on_epoch_end(self, model):
            recorded.append(model.arrays.sense_counts.copy())

    MUSE(
        sentences, min_count=1, workers=1, vector_size=4, senses=3, strategy=strategy, sample=0, epochs=1, seed=5,
        callbacks=[Record()], recipe=Paper(selection_alpha=0),
    )  # fmt: skip
    for counts in recorded[0].reshape(words, 3):
        assert counts.sum() == uses
        assert fits(counts, np.full(3, uses / 3))


def test_keep_probabilities_are_the_shares_that_are_kept():
    counts = np.array([20000, 5000, 1000, 100])
    keep = _core.keep_probabilities(counts, 1e-3)
    draws = Draws(3, 0, SUBSAMPLE)
    for word, probability in enumerate(keep):
        kept = sum(draws.uniform(word * 50_000 + i) < probability for i in range(20_000))
        assert fits([kept, 20_000 - kept], [20_000 * probability, 20_000 * (1 - probability)])


# -- queries never give what is no number ------------------------------------------------------------------------------


@SLOW
@given(data=st.data())
def test_zero_vectors_and_unused_senses_give_numbers(data):
    zero_rows = data.draw(st.lists(st.integers(0, 12), max_size=13))
    scale = data.draw(st.sampled_from([1.0, 1e-30, 1e18]))
    arrays = toy_arrays(seed=data.draw(st.integers(0, 9)))
    for matrix in (arrays.sense_vectors, arrays.selection_vectors, arrays.collocation_vectors, arrays.context_vectors):
        matrix[[row for row in zero_rows if row < len(matrix)]] = 0
    arrays.sense_vectors *= np.float32(scale)
    arrays.sense_counts[zero_rows] = 0
    words = [f"w{i}" for i in range(arrays.n_words)]
    model = MUSE.from_arrays(Vocabulary(words, arrays.word_counts), arrays)
    for word in words:
        assert model.sense_prior(word).sum() == pytest.approx(1, rel=1e-5)
        assert np.isfinite(model.sense_probabilities(word, words[:4])).all()
        assert np.isfinite(model.sense_vectors(word)).all()
        for _, similarity in [*model.sv.most_similar((word, 0)), *model.wv.most_similar(word)]:
            assert abs(similarity) <= 1.0001
        for other in words[:3]:
            for how in ("max_sim_c", "avg_sim_c", "max", "avg"):
                contexts = {"context1": words[:3], "context2": words[3:]} if how.endswith("_c") else {}
                assert abs(model.similarity(word, other, how=how, **contexts)) <= 1.0001
        assert all(np.isfinite(score) for _, score in model.predict_collocates(word))
        model.describe(word)


@SLOW
@given(context=st.lists(st.sampled_from(["w0", "w1", "w2", "w3", "unknown", ""]), max_size=12), seed=st.integers(0, 5))
def test_probabilities_are_distributions_and_the_choice_is_their_best(context, seed):
    arrays = toy_arrays(seed=seed)
    model = MUSE.from_arrays([f"w{i}" for i in range(arrays.n_words)], arrays)
    for word in ("w0", "w3", "w5"):
        probabilities = model.sense_probabilities(word, context)
        assert probabilities.sum() == pytest.approx(1, rel=1e-5)
        assert (probabilities >= 0).all()
        assert probabilities[model.select_sense(word, context)] == probabilities.max()


@SLOW
@given(
    text=st.text(
        st.sampled_from("ab\x00\x1c\x7f\x85\u00a0\u2028\u3000\ufeff\ud800\U0001f600 \t\n\x0b\x0c\r"), max_size=30
    )
)
def test_a_string_has_the_same_tokens_in_python_and_in_the_core(text):
    words = ["a", "b", "ab", "a\x00", "\U0001f600", "", "b\ufeff"]
    model = MUSE.from_arrays(words, toy_arrays((2,) * len(words)))
    tokens = as_tokens(text)
    ((of_string, probabilities), (of_list, _)) = model.disambiguate_batch([text, tokens], probabilities=True)
    assert of_string.tolist() == of_list.tolist()
    assert ((of_string >= 0) == [token in words for token in tokens]).all()
    assert (probabilities[of_string >= 0] > 0).all()


# -- any order of calls ------------------------------------------------------------------------------------------------

SENTENCES = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=9), min_size=1, max_size=12)


class Calls(RuleBasedStateMachine):
    """Vocabulary, growth, training, saving and loading in any order: always a whole model or a documented error."""

    files: Bundle[Path] = Bundle("files")

    @initialize(recipe=st.sampled_from([Split(), Paper()]), senses=st.sampled_from([1, 2, "auto"]))
    def start(self, recipe, senses):
        self.folder = tempfile.TemporaryDirectory()
        self.saved = 0
        senses = 2 if senses == "auto" and isinstance(recipe, Paper) else senses
        self.model = MUSE(min_count=1, workers=1, vector_size=5, epochs=2, senses=senses, recipe=recipe)

    @rule(sentences=SENTENCES, update=st.booleans())
    def build(self, sentences, update):
        known = len(self.model)
        if (known > 0) == update:
            self.model.build_vocab(sentences, update=update)
            assert len(self.model) >= known
        else:
            with pytest.raises((ValueError, RuntimeError), match=r"give update=True|call build_vocab without update"):
                self.model.build_vocab(sentences, update=update)

    @rule(frequencies=st.dictionaries(st.sampled_from("abcxyz"), st.integers(1, 2**40), min_size=1))
    def build_from_frequencies(self, frequencies):
        with contextlib.suppress(ValueError):  # there is a vocabulary already
            self.model.build_vocab_from_freq(frequencies)

    @rule(sentences=SENTENCES, resume=st.booleans(), epochs=st.sampled_from([None, 1, 2]))
    def train(self, sentences, resume, epochs):
        before = len(self.model.history)
        try:
            self.model.train(sentences, resume=resume, epochs=epochs)
        except (ValueError, RuntimeError) as error:
            assert str(error).startswith(  # noqa: PT017
                ("the model has no vocabulary yet", "there is no training to resume", "the model was in training",
                 "none of the")
            )  # fmt: skip
        else:
            assert len(self.model.history) >= before

    @rule(target=files)
    def save(self):
        path = Path(self.folder.name) / f"model {self.saved}"
        try:
            self.model.save(path)
        except RuntimeError:
            assert not self.model.is_trained
            return None
        self.saved += 1
        return path

    @rule(path=files, mmap=st.booleans())
    def load(self, path, mmap):
        if path is not None:
            self.model = MUSE.load(path, mmap=mmap, workers=1)

    @invariant()
    def whole(self):
        if not hasattr(self, "model") or not self.model.is_trained:
            return
        arrays = self.model.arrays
        arrays.check()
        arrays.check_finite()
        assert arrays.n_words == len(self.model.vocabulary)
        np.testing.assert_allclose(np.add.reduceat(arrays.priors(), arrays.sense_offset[:-1]), 1, rtol=1e-5)
        word = self.model.vocabulary.words[-1]
        assert 0 <= self.model.select_sense(word, ["a", "b"]) < self.model.n_senses(word)

    def teardown(self):
        if hasattr(self, "folder"):
            self.folder.cleanup()


Calls.TestCase.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)
TestCalls = Calls.TestCase


# -- large counts ------------------------------------------------------------------------------------------------------


def test_counts_beyond_32_bits(tmp_path):
    frequencies = {"a": 2**40, "b": 2**33, "c": 2**32 + 1, "d": 7}
    model = MUSE(min_count=5, workers=1, vector_size=4, epochs=1, recipe=Paper(), senses=2)
    model.build_vocab_from_freq(frequencies)
    assert model.corpus_total_words == sum(frequencies.values())
    assert model.vocabulary.counts.tolist() == list(frequencies.values())
    model.train([["a", "b", "c", "d"]] * 50)
    model.arrays.check_finite()
    check_file(model)
    assert MUSE.load(_saved(model, tmp_path)).corpus_total_words == sum(frequencies.values())


def _saved(model, folder) -> Path:
    model.save(folder / "model")
    return folder / "model"
