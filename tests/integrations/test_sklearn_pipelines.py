"""`SenseVectorizer` with the tools of scikit-learn, and with what people hand to it."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

from muse import MUSE
from muse.data.recipes import Paper, Split
from muse.data.settings import Settings, constructor_settings
from toy import toy_model

sklearn = pytest.importorskip("sklearn")

from sklearn.base import clone  # noqa: E402
from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402

from muse.integrations.sklearn import SenseVectorizer  # noqa: E402

SMALL = {"vector_size": 4, "epochs": 1, "min_count": 1, "workers": 1, "seed": 1}
TEXTS = ["the bank of the river", "the bank lends money"] * 10
LABELS = [0, 1] * 10
NAMES = [*constructor_settings(), "recipe"]


# -- settings as parameters --------------------------------------------------------------------------------------------


def test_every_setting_is_a_parameter_with_its_default():
    parameters = SenseVectorizer().get_params()
    own = {"model", "settings", "tokenizer", "select", "column"}
    assert set(parameters) == own | set(NAMES)
    assert not own & set(NAMES)
    for name, field in constructor_settings().items():
        assert parameters[name] in (field.default, None)
    assert parameters["vector_size"] == 300
    assert SenseVectorizer(**SMALL).fit(TEXTS).model_.settings == MUSE(**SMALL).settings


@pytest.mark.parametrize("name", NAMES)
def test_a_clone_has_every_setting(name):
    value = "what only MUSE checks"
    vectorizer = SenseVectorizer(**{name: value})
    assert clone(vectorizer).get_params()[name] == value
    assert vectorizer.get_params()[name] is value
    assert SenseVectorizer().set_params(**{name: value}).get_params()[name] is value


def test_parameters_reach_the_model():
    vectorizer = SenseVectorizer(**SMALL).set_params(vector_size=6, window=3, senses=1)
    model = vectorizer.fit(TEXTS).model_
    assert (model.vector_size, model.settings.window, model.settings.senses, model.settings.seed) == (6, 3, 1, 1)
    again = clone(vectorizer).fit(TEXTS)
    np.testing.assert_array_equal(again.transform(TEXTS), vectorizer.transform(TEXTS))
    expected = MUSE([text.split() for text in TEXTS], **SMALL | {"vector_size": 6, "window": 3, "senses": 1})
    np.testing.assert_array_equal(model.sv.vectors, expected.sv.vectors)
    both = SenseVectorizer(vector_size=5, settings={**SMALL, "vector_size": 9}).fit(TEXTS).model_
    assert both.vector_size == 5
    assert "vector_size=6" in repr(vectorizer)
    assert "negative" not in repr(vectorizer)


def test_a_recipe_and_its_values():
    for recipe, given, negative in ((Paper(), {}, 25), (Paper(), {"negative": 5}, 5), (Split(), {"negative": 25}, 25)):
        vectorizer = clone(SenseVectorizer(recipe=recipe, **SMALL, **given))
        assert vectorizer.fit(TEXTS).model_.settings == Settings.of(recipe=recipe, **SMALL, **given)
        assert vectorizer.model_.settings.negative == negative


def test_parameters_that_are_none():
    with pytest.raises(TypeError, match="'vectorsize' is not a setting of MUSE: did you mean vector_size"):
        SenseVectorizer(vectorsize=5)
    with pytest.raises(ValueError, match="Invalid parameter 'vectorsize'"):
        SenseVectorizer().set_params(vectorsize=5)
    with pytest.raises(TypeError, match="vector_size must be an integer"):
        SenseVectorizer(vector_size="wide").fit(TEXTS)
    with pytest.raises(ValueError, match="settings are for a model that fit trains"):
        SenseVectorizer(toy_model(), epochs=1).fit([])


def test_a_grid_search_over_settings():
    pipeline = Pipeline([("senses", SenseVectorizer(**SMALL)), ("label", LogisticRegression())])
    grid = {"senses__vector_size": [2, 3], "senses__window": [1, 5], "senses__select": [True, False]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(TEXTS, LABELS)
    assert len(search.cv_results_["params"]) == 8
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    best = search.best_estimator_.named_steps["senses"]
    assert best.model_.vector_size == search.best_params_["senses__vector_size"]
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(TEXTS), search.predict(TEXTS))


# -- documents ---------------------------------------------------------------------------------------------------------


def test_a_generator_is_read_by_fit_and_by_transform():
    expected = SenseVectorizer(**SMALL).fit_transform(TEXTS)
    found = SenseVectorizer(**SMALL).fit_transform(text for text in TEXTS)
    np.testing.assert_array_equal(found, expected)
    assert np.linalg.norm(found, axis=1).min() > 0
    used = iter(TEXTS)
    vectorizer = SenseVectorizer(**SMALL).fit(used)
    with pytest.warns(UserWarning, match="X held no documents; if it is a generator that was read before"):
        assert vectorizer.transform(used).shape == (0, 4)


@pytest.mark.parametrize("select", [True, False])
def test_unknown_words_are_said(select):
    vectorizer = SenseVectorizer(toy_model(), select=select).fit([])
    with pytest.warns(UserWarning, match=r"2 of 3 documents hold no word .* number 0: .* zeros\. .*tokenizer="):
        found = vectorizer.transform(["xyzzy", "the head", ""])
    assert (np.linalg.norm(found, axis=1) > 0).tolist() == [False, True, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert vectorizer.transform([]).shape == (0, 7)


@pytest.mark.parametrize("document", [{"text": "the head"}, None, float("nan"), b"the head", 3, [1], (), ["a", None]])
def test_what_is_no_document(document):
    vectorizer = SenseVectorizer(toy_model(), tokenizer=str.split).fit([])
    if document == ():
        with pytest.warns(UserWarning, match="1 of 2 documents"):
            assert vectorizer.transform(["head", ()]).shape == (2, 7)
        return
    with pytest.raises(
        TypeError, match=r"document 1 is (a row|missing)|a document must be a string or a list of tokens"
    ):
        vectorizer.transform(["head", document])


def test_arrays_are_documents():
    vectorizer = SenseVectorizer(toy_model()).fit([])
    expected = vectorizer.transform(["the head", "the army"])
    for documents in (np.array(["the head", "the army"]), np.array(["the head", "the army"], object),
                      [np.array(["the", "head"]), ("the", "army")]):  # fmt: skip
        np.testing.assert_array_equal(vectorizer.transform(documents), expected)


def test_a_dict_of_columns():
    vectorizer = SenseVectorizer(**SMALL)
    assert vectorizer.fit_transform({"text": TEXTS}).shape == (20, 4)
    with pytest.raises(TypeError, match=r"X is a dict with the columns 'id', 'text'; give the column .*\(column="):
        vectorizer.fit({"id": LABELS, "text": TEXTS})
    vectorizer.set_params(column="text").fit({"id": LABELS, "text": TEXTS})
    with pytest.raises(KeyError, match="X has no column 'text'; it has 'txt'"):
        vectorizer.transform({"txt": TEXTS})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_and_series_have_a_row_a_document(library):
    library = pytest.importorskip(library)
    frame = library.DataFrame({"text": TEXTS})
    expected = SenseVectorizer(**SMALL).fit_transform(TEXTS)
    for documents in (frame, frame["text"]):
        np.testing.assert_array_equal(SenseVectorizer(**SMALL).fit_transform(documents), expected)
    wide = library.DataFrame({"id": LABELS, "text": TEXTS})
    with pytest.raises(TypeError, match=r"X is a DataFrame with the columns 'id', 'text'; give the column"):
        SenseVectorizer(**SMALL).fit(wide)
    np.testing.assert_array_equal(SenseVectorizer(column="text", **SMALL).fit_transform(wide), expected)
    steps = ColumnTransformer([("senses", SenseVectorizer(**SMALL), "text"), ("id", "passthrough", ["id"])])
    assert np.asarray(steps.fit_transform(wide)).shape == (20, 5)
    pipeline = make_pipeline(SenseVectorizer(column="text", **SMALL), LogisticRegression())
    assert GridSearchCV(pipeline, {"sensevectorizer__window": [1, 2]}, cv=2).fit(wide, LABELS).predict(wide).size == 20
