"""What users of gensim, AdaGram, sensegram and sense2vec complain of, and that it is not true of us.

One short test a complaint, with the number of the issue where there is one; files named beside some of them test the
same thing at length. Scaling over workers (gensim #157, #336, #1509, #3089) is a benchmark: benchmarks/throughput.py.
"""

from __future__ import annotations

import json
import struct
import time

import numpy as np
import pytest

from muse import MUSE, NotTrainedError, Paper, Split
from muse.datasets import make_ambiguous_corpus
from toy import WORDS, toy_arrays, toy_model

TEXT = make_ambiguous_corpus(600, 200, seed=0).sentences
SMALL = {"vector_size": 16, "workers": 1, "min_count": 1, "epochs": 2, "recipe": Split(min_contexts=5)}


@pytest.fixture(scope="module")
def model() -> MUSE:
    return MUSE(TEXT, senses=2, **SMALL)


# -- gensim ------------------------------------------------------------------------------------------------------------


def test_gensim_a_string_for_sentences_only_warns():
    with pytest.raises(TypeError, match=r"sentences is a str; pass an iterable of token lists, e\.g\. \[text\.split"):
        MUSE("the head of the army", **SMALL)
    with pytest.raises(TypeError, match="is a string; pass a list of tokens"):
        MUSE(["the head of the army"], **SMALL)


def test_gensim_sentences_over_ten_thousand_tokens_are_cut_silently():
    long = [[f"early{i % 50}" for i in range(15_000)] + [f"late{i % 50}" for i in range(15_000)]]
    model = MUSE(long, **SMALL)
    counts = dict(zip(model.vocabulary.words, model.vocabulary.counts.tolist(), strict=True))
    assert counts == {f"{part}{i}": 300 for part in ("early", "late") for i in range(50)}
    assert model.history[-1]["tokens"] == 30_000


def test_gensim_a_plain_generator_trains_zero_words():
    model = MUSE((sentence for sentence in TEXT), senses=2, **SMALL)
    assert [row["tokens"] for row in model.history] == [sum(map(len, TEXT))] * 2


def test_gensim_tokens_with_spaces_do_not_reload(tmp_path):
    model = toy_model()
    model.save(tmp_path / "model")
    assert list(MUSE.load(tmp_path / "model").vocabulary) == list(WORDS)
    with pytest.raises(ValueError, match="cannot hold"):
        model.wv.save_word2vec_format(tmp_path / "vectors.txt")
    assert not (tmp_path / "vectors.txt").exists()


def test_gensim_zero_vectors_give_nan():
    arrays = toy_arrays()
    arrays.sense_vectors[3] = 0
    model = MUSE.from_arrays(WORDS, arrays)
    assert np.isfinite([cosine for _, cosine in model.wv.most_similar("army", topn=8)]).all()
    assert np.isfinite([cosine for _, cosine in model.sv.most_similar("head#0", topn=12)]).all()


def test_gensim_you_must_first_build_vocabulary():
    """gensim says so, too, where the vocabulary was built and is empty."""
    with pytest.raises(
        NotTrainedError, match="the model has no vocabulary yet; give the constructor a corpus, or call"
    ):
        MUSE().train(TEXT)
    with pytest.raises(ValueError, match="no word occurs min_count=5 times; the most frequent, 'a', occurs once"):
        MUSE([["a", "b"]])
    with pytest.raises(ValueError, match="the corpus is empty: it holds no words"):
        MUSE([])


def test_gensim_the_loss_is_zero_unless_enabled_and_overflows():
    losses = [row["loss"] for row in MUSE(TEXT, **{**SMALL, "epochs": 5, "senses": 1}).history]
    assert all(0.1 < loss < 10 for loss in losses)  # a mean over pairs, kept in double precision
    assert len(set(losses)) == 5


def test_gensim_1019_2519_3046_growing_the_vocabulary_crashes(model):
    """See test_growth.py."""
    grown = MUSE(TEXT, senses=2, **SMALL)
    for word in ("novelty", "gizmo"):
        grown.build_vocab([[word, "bank"]] * 3, update=True)
        grown.train()
        assert np.isfinite(grown.wv[word]).all()
        assert grown.wv.similarity(word, "bank") <= 1


def test_gensim_1134_2000_3013_3357_pickles_that_do_not_load_in_another_version(model, tmp_path):
    """The file is safetensors, with its version and no pickle: see test_format.py and docs/file-format.md."""
    load_file = pytest.importorskip("safetensors.numpy").load_file
    model.save(tmp_path / "model")
    tensors = load_file(tmp_path / "model")
    np.testing.assert_array_equal(tensors["sense_vectors"], model.arrays.sense_vectors)
    content = (tmp_path / "model").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    assert metadata["format"] == "muse-senses"
    assert int(metadata["version"]) >= 1
    json.loads(metadata["model"])


# -- AdaGram and its ports ---------------------------------------------------------------------------------------------


def test_adagram_6_duplicate_senses():
    """See test_hygiene.py, and benchmarks/hygiene.py for how many there are."""
    arrays = toy_arrays()
    arrays.sense_vectors[1] = arrays.sense_vectors[0]
    model = MUSE.from_arrays(WORDS, arrays)
    assert model.merge_senses(0.99).changed() == {("head", 1): ("head", 0), ("head", 2): ("head", 1)}
    assert model.n_senses("head") == 2


def test_adagram_15_33_all_senses_cannot_be_exported_with_their_probabilities(model):
    keys, priors = list(model.sv.index_to_key), model.arrays.priors()
    assert len(keys) == len(priors) == len(model.sv.vectors) == model.arrays.n_senses
    for word in ("bank", "the"):
        own = [prior for key, prior in zip(keys, priors, strict=True) if key.rpartition("#")[0] == word]
        np.testing.assert_allclose(own, model.sense_prior(word), rtol=1e-6)
        assert sum(own) == pytest.approx(1)


def test_adagram_4_34_unknown_context_words_crash(model):
    known = model.sense_probabilities("bank", "money bank")
    np.testing.assert_array_equal(model.sense_probabilities("bank", "xyzzy money plugh bank"), known)
    np.testing.assert_array_equal(model.sense_probabilities("bank", "xyzzy plugh"), model.sense_prior("bank"))


@pytest.mark.parametrize("text", [[["a"]], [["a", "b"]], [["a", "a"], ["b"]], [["a"], ["b"], ["c"]]])
def test_adagram_27_36_38_crashes_on_tiny_corpora(text):
    for recipe in (Split(min_contexts=5), Paper()):
        model = MUSE(text, **SMALL | {"recipe": recipe})
        assert np.isfinite(model.arrays.sense_vectors).all()
        assert model.disambiguate("a")[0].sense is not None


def test_adagram_12_slow_neighbours():
    """A search among 60,000 senses; AdaGram took seconds for each."""
    arrays = toy_arrays(senses=(3,) * 20_000, vector_size=100)
    model = MUSE.from_arrays([f"w{i}" for i in range(20_000)], arrays)
    model.sv.most_similar("w0#0")  # lengths are computed once
    start = time.process_time()
    for i in range(20):
        model.sv.most_similar(f"w{i}#1", exclude_same_word=True)
    assert time.process_time() - start < 4  # 0.1


def test_adagram_14_models_grow_fourfold_in_their_file(model, tmp_path):
    model.save(tmp_path / "model")
    letters = sum(len(word.encode()) for word in model.vocabulary)
    numbers = model.arrays.nbytes + 8 * len(model.vocabulary) + letters
    assert (tmp_path / "model").stat().st_size < numbers + 16_384  # the header, with settings and history


# -- sensegram, sense2vec ----------------------------------------------------------------------------------------------


def test_sensegram_4_no_example_contexts_for_a_sense(model):
    """See test_cards.py."""
    card = model.describe("bank", corpus=TEXT)
    assert all(sense.examples and all(example.word == "bank" for example in sense.examples) for sense in card.senses)


def test_sense2vec_53_86_115_hard_to_train_on_ones_own_corpus(tmp_path):
    (tmp_path / "own.txt").write_text("\n".join(map(" ".join, TEXT)), encoding="utf-8")
    model = MUSE(corpus_file=tmp_path / "own.txt", senses=2, **SMALL)
    assert len(model.sv.most_similar("bank#0")) == 10


# -- what nobody has ---------------------------------------------------------------------------------------------------


def test_one_open_file_with_the_selector_in_it_mapped_into_memory(model, tmp_path):
    model.save(tmp_path / "model")
    mapped = MUSE.load(tmp_path / "model", mmap=True)
    assert not mapped.arrays.sense_vectors.flags.writeable
    rows = [list(each.disambiguate_batch(iter(TEXT[:50]))) for each in (model, mapped)]
    assert all(np.array_equal(a, b) for a, b in zip(*rows, strict=True))
