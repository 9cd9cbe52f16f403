"""What users read when something is wrong: each message says what to do."""

from __future__ import annotations

import re

import numpy as np
import pytest

import muse.data.memory
from muse import (
    MUSE,
    Callback,
    DivergenceError,
    InsufficientMemoryError,
    ModelFileError,
    NotTrainedError,
    Paper,
    Settings,
    Split,
    UnknownSenseError,
    UnknownWordError,
)
from muse.errors import nearest_spellings
from toy import toy_model


def raises(kind, message):
    return pytest.raises(kind, match=f"^{re.escape(message)}$")


def test_errors_derive_from_the_standard_types():
    assert issubclass(UnknownWordError, KeyError)
    assert issubclass(UnknownSenseError, KeyError)
    assert issubclass(ModelFileError, ValueError)
    assert issubclass(NotTrainedError, RuntimeError)
    assert issubclass(InsufficientMemoryError, MemoryError)
    assert issubclass(DivergenceError, ArithmeticError)


# -- settings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("size", "it is called vector_size, as in gensim 4"),
        ("iter", "it is called epochs, as in gensim 4"),
        ("n_senses", "it is called senses"),
        ("vectorsize", "did you mean vector_size?"),
        ("qwertyuiop", "help(muse.MUSE) lists the settings"),
    ],
)
def test_names_that_are_no_settings(name, hint):
    with raises(TypeError, f"'{name}' is not a setting of MUSE: {hint}"):
        MUSE(**{name: 1})


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("alpha", "the learning rates of one call are start_alpha, as in gensim"),
        ("min_alpha", "the learning rates of one call are end_alpha, as in gensim"),
        ("workers", "the setting workers holds for all of the training; give it to MUSE(...)"),
        ("iter", "it is called epochs, as in gensim 4"),
        ("qwertyuiop", "help(muse.MUSE.train) lists what it takes"),
    ],
)
def test_names_that_train_does_not_take(name, hint):
    with raises(TypeError, f"'{name}' is not an argument of train: {hint}"):
        toy_model().train([["head"]], **{name: 1})


def test_hints_name_real_settings():
    from muse.data.names import _OTHER_NAMES

    known = vars(Settings())
    for name, hint in _OTHER_NAMES.items():
        assert name not in known
        for called in re.findall(r"it is called (\w+)", hint):
            assert called in known


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            {"strategy": "epsgreedy"},
            ("strategy must be one of 'greedy', 'eps_greedy', 'boltzmann', 'policy', 'smooth_policy'; got 'epsgreedy'"),
        ),
        ({"reward": None}, "reward must be one of 'likelihood', 'sampled_likelihood'; got None"),
        ({"device": "gpu"}, "device must be one of 'cpu', 'cuda', 'auto'; got 'gpu'"),
        ({"vector_size": 0}, "vector_size must be from 1 to 65536; got 0"),
        ({"senses": 0}, "senses must be from 1 to 1000; got 0"),
        ({"senses": {"head": 0}}, "senses['head'] must be from 1 to 1000; got 0"),
        ({"alpha": 0}, "alpha must be a number above 0 and at most 10; got 0"),
        ({"alpha": float("nan")}, "alpha must be a number above 0 and at most 10; got nan"),
        ({"sample": 2}, "sample must be a number from 0 to 1; got 2"),
        ({"epsilon": -0.1}, "epsilon must be a number from 0 to 1; got -0.1"),
        ({"seed": -1}, "seed must be from 0 to 18446744073709551615; got -1"),
        ({"checkpoint_every": "9m"}, "checkpoint_every must be a number of tokens or seconds such as '600s'; got '9m'"),
        (
            {"alpha": 0.01, "min_alpha": 0.02},
            ("min_alpha (0.02) must not be above alpha (0.01); lower it, or give min_alpha='constant'"),
        ),
        (
            {"strategy": "policy", "formulation": "factorized"},
            (
                "strategy='policy' cannot be used with "
                "formulation='factorized': it learns by policy gradient, while the factorization estimates values; "
                "use greedy, eps_greedy or boltzmann"
            ),
        ),
        (
            {"senses": "auto", "init": "random"},
            (
                "senses='auto' needs the recipe Trees or Split, which look at the contexts of each word; give a number "
                "of senses"
            ),
        ),
        (
            {"collocation": "word", "formulation": "two_sided"},
            (
                "formulation='two_sided' trains the selection of collocates too, which needs collocation='sense'; "
                "with collocation='word' a collocate has no senses"
            ),
        ),
        (
            {"selection_update": "posterior", "strategy": "policy"},
            (
                "selection_update='posterior' is one-sided and replaces the rewards of the paper, so it goes with "
                "formulation='one_sided' and the strategies greedy, eps_greedy and boltzmann; for "
                "formulation='one_sided' with strategy='policy' give selection_update='paper'"
            ),
        ),
        ({"warmup_epochs": 0}, "warmup_epochs must be from 1 to 1000000; got 0"),
        (
            {"init": "split", "vector_size": 100, "selection_size": 50},
            (
                "the recipes Trees and Split, and start='trees', take the selection module's vectors from the word "
                "vectors, so selection_size must be None or vector_size (100); got 50"
            ),
        ),
        (
            {"max_vocab_size": 10, "max_final_vocab": 20},
            ("max_vocab_size (10) limits the words while counting, so it must not be below max_final_vocab (20)"),
        ),
    ],
)
def test_values_out_of_range(setting, message):
    with raises(ValueError, message):
        Settings(**setting)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"vector_size": 1.5}, "vector_size must be an integer from 1 to 65536; got 1.5"),
        ({"vector_size": True}, "vector_size must be an integer from 1 to 65536; got True"),
        ({"alpha": "fast"}, "alpha must be a number above 0 and at most 10; got 'fast'"),
        ({"senses": "many"}, "senses must be an integer, a dict {word: senses}, or 'auto'; got 'many'"),
        ({"senses": {1: 2}}, "the keys of senses must be words (str); got 1"),
        ({"progress": 1}, "progress must be True or False; got 1"),
        ({"trim_rule": "keep"}, "trim_rule must be a function of (word, count, min_count), as in gensim; got 'keep'"),
        ({"checkpoint_dir": 3}, "checkpoint_dir must be a path (str or os.PathLike); got 3"),
        ({"callbacks": 3}, "callbacks must be a list of callbacks; got 3"),
        ({"callbacks": [Callback]}, "callbacks holds the class Callback; give an instance: Callback()"),
        (
            {"callbacks": ["x"]},
            ("'x' in callbacks has none of the methods on_train_begin, on_epoch_begin, on_epoch_end, on_train_end"),
        ),
    ],
)
def test_values_of_the_wrong_type(setting, message):
    with raises(TypeError, message):
        MUSE(**setting)


def test_settings_never_change():
    with pytest.raises(AttributeError):
        MUSE().settings.window = 3
    assert Settings(window=3).replace(window=4).window == 4
    with pytest.raises(TypeError, match="'size'"):
        Settings().replace(size=3)


# -- words, senses, contexts -------------------------------------------------------------------------------------------


def test_unknown_words_name_the_nearest_spellings():
    model = toy_model()
    message = "the word 'heed' is not in the vocabulary; the nearest known spellings are 'head'"
    for ask in (
        model.sense_vectors,
        model.sense_probabilities,
        model.select_sense,
        model.n_senses,
        model.sense_prior,
        model.sense_counts,
        model.describe,
        model.predict_collocates,
        model.wv.most_similar,
        lambda word: model.sense_vectors(word, "a heed of"),
        lambda word: model.similarity("head", word),
        lambda word: model.wv[word],
        lambda word: model.sv[f"{word}#0"],
        lambda word: model.sv.most_similar((word, 0)),
    ):
        with raises(UnknownWordError, message):
            ask("heed")
    with raises(UnknownWordError, "the word 'Head' is not in the vocabulary; the nearest known spellings are 'head'"):
        model.n_senses("Head")
    message = "the word 'xyzzy' is not in the vocabulary; model.vocabulary.words lists the words that are"
    with raises(UnknownWordError, message):
        model.n_senses("xyzzy")


def test_nearest_spellings():
    known = ["the", "Army", "army", "arms", "harmony"]
    assert nearest_spellings("ARMY", known) == ["Army", "army"]
    assert nearest_spellings("armyy", known)[0] == "army"
    assert nearest_spellings("", known) == []


def test_suggestions_cost_nothing_until_the_message_is_read():
    class Exploding(list):
        def __iter__(self):
            raise AssertionError("searched too early")

    with pytest.raises(AssertionError, match="searched too early"):
        str(UnknownWordError("x", Exploding()))
    UnknownWordError("x", Exploding())


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("head#3", "there is no sense 3 of 'head', which has senses 0 to 2"),
        (("head", -1), "there is no sense -1 of 'head', which has senses 0 to 2"),
        ("army#1", "there is no sense 1 of 'army', which has one sense, number 0"),
        ("head", "'head' is not a sense key; write the word and the number of its sense, 'head#0' or ('head', 0)"),
        (
            "head#x",
            "'head#x' is not a sense key; write the word and the number of its sense, 'head#x#0' or ('head#x', 0)",
        ),
    ],
)
def test_sense_keys_that_name_no_sense(key, message):
    sv = toy_model().sv
    for ask in (lambda: sv[key], lambda: sv.most_similar([key]), lambda: sv.similarity(key, "head#0")):
        with raises(UnknownSenseError, message):
            ask()


def test_bad_queries():
    model = toy_model()
    sv = model.sv
    with raises(TypeError, "a sense key is a string such as 'head#0' or a pair such as ('head', 0); got 7"):
        sv[7]
    with raises(TypeError, "most_similar takes keys and vectors of 7 numbers; got 7"):
        sv.most_similar([7])
    with raises(ValueError, "most_similar needs at least one key or vector in positive or negative"):
        sv.most_similar([])
    for topn in (-1, 2.5, True):
        with raises(ValueError, f"topn must be an integer of at least 1; got {topn!r}"):
            sv.most_similar("head#0", topn=topn)
    with raises(ValueError, "restrict_vocab must be at least 1; got 0"):
        sv.most_similar("head#0", restrict_vocab=0)
    with raises(ValueError, "doesnt_match needs at least one key"):
        sv.doesnt_match([])
    with raises(TypeError, "a key of word vectors is a word; got ('head', 0)"):
        model.wv["head", 0]
    with raises(ValueError, "how must be one of 'max_sim_c', 'avg_sim_c', 'max', 'avg'; got 'cosine'"):
        model.similarity("head", "army", how="cosine")
    with raises(UnknownSenseError, "there is no sense 3 of 'head'; its senses are 0, 1, 2"):
        model.predict_collocates("head", sense=3)
    for topn in (0, 2.5, None):
        with raises(ValueError, f"topn must be an integer of at least 1; got {topn!r}"):
            model.predict_collocates("head", topn=topn)
    with raises(ValueError, "vectors have no attribute 'sample_int' here, only 'count'"):
        model.wv.get_vecattr("head", "sample_int")
    with raises(ValueError, "give either a context, which selects the sense, or sense"):
        model.predict_collocates("head", "the head", sense=0)


def test_bad_contexts():
    model = toy_model()
    with raises(TypeError, "a context must be a string or a list of tokens; got 7"):
        model.sense_vectors("head", 7)
    with raises(TypeError, "a context must be a string or a list of tokens; it holds 7"):
        model.sense_vectors("head", contexts=[["the", 7]])
    with raises(TypeError, "a context must be a string or a list of tokens; it holds 7"):
        model.sense_vectors("head", [7])
    with raises(
        ValueError, "position=1 is not an occurrence of 'head': the token there is 'head,', and 'head' is at 3"
    ):
        model.sense_vectors("head", "the head, the head", position=1)
    nowhere = "there is no such token, and 'head' is not in the context; leave it out"
    with raises(ValueError, f"position=9 is not an occurrence of 'head': {nowhere}"):
        model.sense_vectors("head", "the army", position=9)
    with raises(ValueError, "position is an index of the context's tokens; give the context too"):
        model.sense_vectors("head", position=1)
    as_many = "positions must be a list, with a position or None for each context; got 0"
    for positions in ((0, TypeError, as_many), ([0], ValueError, "2 contexts need as many positions; got 1")):
        with raises(*positions[1:]):
            model.sense_vectors("head", contexts=["head x", "head y"], positions=positions[0])
    for position in (1.5, "1", True):
        with raises(TypeError, f"a position is an index of the context's tokens, an integer or None; got {position!r}"):
            model.sense_vectors("head", "the head", position=position)
    with raises(TypeError, "a position is an index of the context's tokens, an integer or None; got [0, 1]"):
        model.sense_vectors("head", "the head", position=[0, 1])
    for words, contexts in (("head", ["the head"]), (["head"], "the head"), (None, []), (["head"], 7)):
        with raises(TypeError, "sense_probabilities_batch takes a list of words and a list of as many contexts"):
            model.sense_probabilities_batch(words, contexts)
    with raises(ValueError, "there must be as many contexts as words; got 2 for 1"):
        model.sense_probabilities_batch(["head"], ["the head", "head"])
    with raises(TypeError, "disambiguate_batch takes an iterable of sentences; for a single one use disambiguate"):
        model.disambiguate_batch("the head")
    with raises(TypeError, "a context must be a string or a list of tokens; got 7"):
        list(model.disambiguate_batch([7]))


# -- models that lack something ----------------------------------------------------------------------------------------


def test_models_without_training():
    untrained = "the model is not trained yet; give the constructor a corpus, or call build_vocab and train"
    no_words = "the model has no vocabulary yet; give the constructor a corpus, or call build_vocab"
    model = MUSE()
    give_words = (
        "the model has no vocabulary yet: give estimate_memory the number of words (vocab_size=), or call build_vocab"
    )
    with raises(NotTrainedError, give_words):
        model.estimate_memory()
    for ask in (lambda: model.vocabulary, lambda: model.train([["a"]])):
        with raises(NotTrainedError, no_words):
            ask()
    with raises(NotTrainedError, untrained):
        model.sense_vectors("a")
    with raises(NotTrainedError, "there is no vocabulary to update yet; call build_vocab without update=True"):
        model.build_vocab([["a"]], update=True)
    model.build_vocab_from_freq({"a": 10})
    for ask in (lambda: model.arrays, lambda: model.sense_vectors("a"), lambda: model.sv, lambda: model.save("x")):
        with raises(NotTrainedError, untrained):
            ask()
    with raises(ValueError, "there is no text to train on; give train the sentences or a corpus_file"):
        model.train()
    for build in (lambda: model.build_vocab([["a"]]), lambda: model.build_vocab_from_freq({"a": 1})):
        with raises(
            ValueError, "the model has a vocabulary already; give update=True to add words, or make a new model"
        ):
            build()
    with raises(ValueError, "word_freq is empty; give a dict {word: count}"):
        MUSE().build_vocab_from_freq({})


@pytest.mark.parametrize(
    ("corpus", "kind", "message"),
    [
        ("the text", TypeError, "sentences is a str; pass an iterable of token lists"),
        (["the text", "as strings"], TypeError, "sentence 1 is a string; pass a list of tokens"),
        ([], ValueError, "the corpus is empty"),
        ([[]], ValueError, "the corpus is empty"),
        (iter(()), ValueError, "If you passed a generator, was it already used up?"),
        ([["too", "few"]], ValueError, "no word occurs min_count=5 times"),
        ([[1, 2]], TypeError, "token 1 of sentence 1 is of type int; tokens must be strings"),
        (7, TypeError, "sentences must be an iterable of token lists, not int"),
    ],
)
def test_corpora_that_cannot_be_one(corpus, kind, message):
    with pytest.raises(kind, match=re.escape(message)):
        MUSE(corpus)


def test_not_enough_memory_is_said_before_training(monkeypatch):
    monkeypatch.setattr(muse.data.memory, "available_memory", lambda: 10**9)
    model = MUSE(min_count=1, vector_size=60_000, recipe=Split())
    model.build_vocab([[str(i) for i in range(10_000)]])
    message = (
        "training needs about 202.1 GB for 10,000 words with 30,000 senses, and 1.0 GB are free; "
        "lower vector_size (60000) or senses, or keep fewer words with a higher min_count (1) or max_final_vocab"
    )
    with raises(InsufficientMemoryError, message):
        model.train()


def test_available_memory_is_plausible():
    available = muse.data.memory.available_memory()
    assert available is None or 10**6 < available < 10**15


def test_memory_of_any_number_of_words():
    model = MUSE(vector_size=16, recipe=Split())
    few, many = model.estimate_memory(1000), model.estimate_memory(3 * 10**9)
    for name in ("sense_vectors", "context_vectors", "vocabulary"):
        assert many[name] == 3e6 * few[name]
    assert many["split"] == pytest.approx(4 * 16 * 3e9, rel=1e-3)  # the words' vectors beside those of senses
    assert few["split"] > 8 * 16 * 16  # and the covariance of contexts
    assert "split" not in MUSE(vector_size=16, recipe=Paper()).estimate_memory(1000)
    with raises(ValueError, "vocab_size must be at least 1; got -1"):
        model.estimate_memory(-1)
    with raises(TypeError, "vocab_size must be an integer of at least 1; got 1.5"):
        model.estimate_memory(1.5)


def test_messages_stay_short_whatever_was_asked():
    model = toy_model()
    for ask in (lambda: model.wv["x" * 10**6], lambda: model.sv["x" * 10**6]):
        with pytest.raises(KeyError) as caught:
            ask()
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("senses", [np.array([2, 3]), [2, 3], "two"])
def test_numbers_of_senses_of_the_wrong_type(senses):
    with pytest.raises(TypeError, match="senses must be an integer, a dict"):
        MUSE(senses=senses)
