"""The scikit-learn transformer and the spaCy component."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from muse import MUSE, ModelFileError
from muse.datasets import make_ambiguous_corpus
from toy import toy_model

WORDS = ("head", "army", "the", "bank", "🎉", "naïve", "c#", "river", "money")


# -- scikit-learn ------------------------------------------------------------------------------------------------------


@pytest.fixture
def vectorizer_type():
    return pytest.importorskip("muse.integrations.sklearn").SenseVectorizer


@pytest.mark.parametrize("tokenizer", [str.lower, lambda text: None, lambda text: [1], lambda text: {"a": 1}])
def test_a_tokenizer_must_give_tokens(vectorizer_type, tokenizer):
    for vectorizer in (vectorizer_type(toy_model(), tokenizer=tokenizer), vectorizer_type(tokenizer=tokenizer)):
        with pytest.raises(TypeError, match=r"a tokenizer must give a list of strings, as str\.split does; it gave"):
            vectorizer.fit(["the head"]).transform(["the head"])


@pytest.mark.parametrize("documents", ["the head", b"the head", None, 7])
def test_documents_must_be_several(vectorizer_type, documents):
    with pytest.raises(TypeError, match=r"X must be an iterable of documents; for a single one give \[document\]"):
        vectorizer_type(toy_model()).fit(None).transform(documents)
    with pytest.raises(TypeError, match="settings must be a dict of settings of MUSE"):
        vectorizer_type(settings=[("epochs", 1)]).fit([["a"]])


def test_scikit_learns_own_checks(vectorizer_type):
    from sklearn.exceptions import SkipTestWarning
    from sklearn.utils import estimator_checks
    from sklearn.utils.estimator_checks import check_estimator

    vectorizer = vectorizer_type(settings={"vector_size": 4, "epochs": 1, "min_count": 1, "workers": 1})
    with pytest.warns(SkipTestWarning, match="requires input  of type InputTags"):  # most give numbers for documents
        outcomes = check_estimator(vectorizer, on_fail=None, on_skip=None)
    assert [row["status"] for row in outcomes] == ["passed"] * len(outcomes)
    name = type(vectorizer).__name__
    estimator_checks.check_parameters_default_constructible(name, vectorizer)
    for check in ("no_attributes_set_in_init", "estimator_repr", "estimator_tags_renamed", "valid_tag_types"):
        found = getattr(estimator_checks, f"check_{check}", None)
        assert found is not None, check
        found(name, vectorizer)
    estimator_checks.check_get_params_invariance(name, vectorizer)
    estimator_checks.check_set_params(name, vectorizer)


@pytest.mark.parametrize("select", [True, False])
def test_documents_become_means_of_their_senses(vectorizer_type, select):
    model = toy_model(words=WORDS)
    documents = ["The head of the ARMY!", "xyzzy", "", ["bank", "river", "bank"]]
    with pytest.warns(UserWarning, match="2 of 4 documents hold no word that the model knows, the first is number 1"):
        found = vectorizer_type(model, select=select).fit_transform(documents)
    assert found.shape == (4, 7)
    assert found.dtype == np.float32
    for row, tokens in enumerate((["the", "head", "of", "the", "army"], [], [], ["bank", "river", "bank"])):
        vectors = [
            model.sense_vectors(token)[chosen.sense] if select else model.wv[token]
            for token, chosen in zip(tokens, model.disambiguate(tokens), strict=True) if token in model
        ]  # fmt: skip
        expected = np.mean(vectors, axis=0) if vectors else np.zeros(7)
        np.testing.assert_allclose(found[row], expected, rtol=1e-5)
    assert vectorizer_type(model).fit([]).transform([]).shape == (0, 7)


def test_a_vectorizer_in_a_pipeline(vectorizer_type, tmp_path):
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline

    corpus = make_ambiguous_corpus(600, 120, seed=0)
    labels = [len(sentence) % 2 for sentence in corpus.sentences]
    MUSE(corpus.sentences, vector_size=8, epochs=1, seed=1, workers=1).save(tmp_path / "m")
    pipeline = make_pipeline(vectorizer_type(tmp_path / "m"), LogisticRegression())
    search = GridSearchCV(pipeline, {"sensevectorizer__select": [True, False]}, cv=2).fit(corpus.sentences, labels)
    assert search.predict(corpus.sentences[:3]).shape == (3,)
    fitted = search.best_estimator_[0]
    assert list(fitted.get_feature_names_out())[:2] == ["sensevectorizer0", "sensevectorizer1"]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.transform(corpus.sentences[:9]), fitted.transform(corpus.sentences[:9]))
    assert clone(fitted).get_params()["model"] == tmp_path / "m"


def test_what_a_vectorizer_refuses(vectorizer_type):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        vectorizer_type().transform(["a"])
    with pytest.raises(TypeError, match=r"for a single one give \[document\]"):
        vectorizer_type().fit("a text")
    with pytest.raises(TypeError, match="a document must be a string or a list of tokens; got int"):
        vectorizer_type(toy_model()).fit([]).transform([3])
    with pytest.raises(ValueError, match="settings are for a model that fit trains"):
        vectorizer_type(toy_model(), settings={"epochs": 1}).fit([])


def test_documents_are_read_as_the_text_of_the_model(vectorizer_type):
    small = {"vector_size": 4, "epochs": 1, "min_count": 1, "workers": 1}
    cased = MUSE([["The", "Bank", ","]] * 9, **small)
    vectors = vectorizer_type(cased).fit([]).transform(["The Bank, by", ["The", "Bank", ","]])
    np.testing.assert_array_equal(*vectors)
    trained = vectorizer_type(settings=small).fit(["The Bank, by"] * 9)
    assert trained.model_.snapshot.text_form.to_json() == {"tokenizer": "muse", "lower": True}
    np.testing.assert_array_equal(*trained.transform(["THE bank. By!", ["the", "bank", "by"]]))
    split = vectorizer_type(settings=small, tokenizer=str.split).fit(["The Bank, by"] * 9)
    assert list(split.model_.vocabulary) == ["The", "Bank,", "by"]
    assert split.model_.snapshot.text_form.to_json() == {"tokenizer": "whitespace", "lower": False}


# -- spaCy -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def nlp():
    spacy = pytest.importorskip("spacy")
    pytest.importorskip("muse.integrations.spacy")
    return spacy.blank("en")


@pytest.fixture
def saved(tmp_path):
    toy_model(words=WORDS).save(tmp_path / "model")
    return str(tmp_path / "model")


def check_doc(doc, model):
    tokens = [token.lower_ for token in doc]
    for token, chosen in zip(doc, model.disambiguate(tokens), strict=True):
        assert token._.sense == (chosen.key if chosen.sense is not None else None)
        if chosen.sense is None:
            assert token._.sense_vector is None
        else:
            np.testing.assert_array_equal(token._.sense_vector, model.sense_vectors(token.lower_)[chosen.sense])
            assert token._.sense_probability == pytest.approx(chosen.probability, rel=1e-5)


def test_tokens_have_senses(nlp, saved):
    nlp.add_pipe("muse_senses", config={"model": saved})
    model = MUSE.load(saved)
    check_doc(nlp("The head of the army , a bank"), model)
    check_doc(nlp(""), model)
    docs = list(nlp.pipe(["the head", "the bank of the river", "xyzzy"] * 5, batch_size=4))
    assert len(docs) == 15
    for doc in docs:
        check_doc(doc, model)


def test_a_pipeline_is_saved_and_loaded(nlp, saved, tmp_path):
    import spacy

    nlp.add_pipe("muse_senses", config={"model": saved, "attribute": "text"})
    nlp.to_disk(tmp_path / "pipeline")
    (tmp_path / "model").unlink()  # as on another machine: the pipeline has its own copy
    again = spacy.load(tmp_path / "pipeline")
    text = "The head of the army"
    assert [token._.sense for token in again(text)] == [token._.sense for token in nlp(text)]
    assert again(text)[0]._.sense is None  # "The" as it is written
    (tmp_path / "pipeline" / "muse_senses" / "cfg").write_text("{}")
    with pytest.raises(ModelFileError, match="is damaged; save the pipeline again"):
        spacy.load(tmp_path / "pipeline")


def test_sentences_are_contexts_where_there_are_any(nlp):
    from muse.integrations.spacy import SenseTagger

    model = toy_model(words=WORDS)
    nlp.add_pipe("sentencizer")
    doc = SenseTagger(model)(nlp("The bank . River money head ."))
    first, second = (model.disambiguate(text.split()) for text in ("the bank .", "river money head ."))
    assert [token._.sense for token in doc] == [s.key if s.sense is not None else None for s in (*first, *second)]


def test_what_the_component_refuses(nlp):
    from muse.integrations.spacy import SenseTagger

    with pytest.raises(ValueError, match="attribute must be one of 'lower', 'text', 'lemma', 'norm'; got 'shape'"):
        SenseTagger(attribute="shape")
    nlp.add_pipe("muse_senses")
    with pytest.raises(ValueError, match="the component 'muse_senses' has no model; add it with config="):
        nlp("the head")
    nlp.get_pipe("muse_senses").model = toy_model(words=WORDS)
    assert nlp("the head")[1]._.sense in {"head#0", "head#1", "head#2"}


def test_a_model_of_capitals_is_asked_in_capitals(nlp):
    from muse.integrations.spacy import SenseTagger

    small = {"vector_size": 4, "epochs": 1, "min_count": 1, "workers": 1}
    for word, other in (("Bank", "bank"), ("bank", "Bank")):
        tagger = SenseTagger(MUSE([["the", word]] * 9, **small))
        (token,) = tagger(nlp("Bank"))
        assert token._.sense == f"{word}#0"
        (token,) = tagger(nlp("bank"))
        assert token._.sense == (None if other == "bank" else "bank#0")
