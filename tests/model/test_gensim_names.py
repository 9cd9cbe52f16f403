"""docs/gensim.md keeps its word: its script runs, and its tables name all that gensim has."""

from __future__ import annotations

import copy
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import muse
import muse.vectors.model_vectors
from muse import MUSE, Settings
from muse.datasets import make_ambiguous_corpus
from toy import toy_model

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "gensim.md").read_text(encoding="utf-8")


def table(heading: str) -> dict[str, str]:
    """What the table under a heading says of each name of gensim."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| .*\|$", section, re.MULTILINE)
    names = [name for name, _ in rows]
    assert len(names) == len(set(names)), "a name stands twice"
    return {name: here.strip("`") for name, here in rows}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.fixture(scope="module")
def gensim_model():
    models = pytest.importorskip("gensim.models", reason="walks the names of gensim, which is not installed")
    return models.Word2Vec([["a", "b", "c"]] * 5, min_count=1, vector_size=4, epochs=1)


def test_every_public_name_of_gensim_is_in_a_table(gensim_model):
    parameters = set(inspect.signature(type(gensim_model)).parameters)
    assert parameters - table("Parameters of Word2Vec").keys() == set()
    assert public(gensim_model) - table("Word2Vec").keys() == set()
    assert public(gensim_model.wv) - table("KeyedVectors").keys() == set()


def test_no_table_names_what_gensim_does_not_have(gensim_model):
    assert table("Parameters of Word2Vec").keys() - set(inspect.signature(type(gensim_model)).parameters) == set()
    assert table("Word2Vec").keys() - public(gensim_model) == set()
    assert table("KeyedVectors").keys() - public(gensim_model.wv) == set()


@pytest.mark.parametrize(
    ("heading", "ours"),
    [
        ("Parameters of Word2Vec", set(inspect.signature(MUSE).parameters)),
        ("Word2Vec", public(toy_model())),
        ("KeyedVectors", public(toy_model().wv)),
    ],
)
def test_what_the_tables_promise_is_there(heading, ours):
    promised = {name if here == "yes" else here for name, here in table(heading).items()}
    ours |= {f"KeyedVectors.{name}" for name in public(muse.KeyedVectors)}
    assert promised - ours - {"–", "taken"} == set()
    absent = {name for name, here in table(heading).items() if here == "–"}
    assert absent & ours == set()


def test_what_is_not_there_has_its_reason():
    """And it is little."""
    for heading in ("Parameters of Word2Vec", "Word2Vec", "KeyedVectors"):
        section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| `(\w+)` \| – \| ?(.*) ?\|$", section, re.MULTILINE)
        assert [name for name, reason in rows if not reason.strip()] == []
        assert len(rows) <= 14


def test_sense_vectors_have_the_same_names_but_for_those_of_words():
    of_words = {"similar_by_word", "words_closer_than", "evaluate_word_analogies", "add_vector", "add_vectors", "save",
                "load", "vectors_for_all", "set_vecattr", "unit_normalize_all", "init_sims", "wmdistance",
                "sort_by_descending_frequency"}  # fmt: skip
    names = {name for name, here in table("KeyedVectors").items() if here == "yes"}
    assert names - public(toy_model().sv) == of_words


def test_parameters_that_are_absent_are_refused_with_a_hint():
    for name, here in table("Parameters of Word2Vec").items():
        if here not in ("yes", "taken"):
            with pytest.raises(TypeError, match=f"'{name}' is not a setting of MUSE: "):
                Settings.of(**{name: 1})


@pytest.mark.parametrize(
    "given", [{"sg": 1}, {"sg": True}, {"hs": 0}, {"cbow_mean": 1}, {"compute_loss": True}, {"compute_loss": False},
              {"comment": "x"}, {"batch_words": 10_000}, {"null_word": 0}, {"sorted_vocab": 1}, {"shrink_windows": 1}]
)  # fmt: skip
def test_what_means_what_is_done_anyway_is_taken(given, caplog):
    assert MUSE(**given).settings == Settings.of()
    assert caplog.text == ""
    assert MUSE(sorted_vocab=0).settings.sorted_vocab is False


@pytest.mark.parametrize("given", [{"sg": 0}, {"sg": "cbow"}, {"hs": 1}, {"null_word": 1}])
def test_what_means_something_else_is_refused_with_the_reason(given):
    with pytest.raises(ValueError, match=r"cannot be had: .*; leave it out"):
        MUSE(**given)


def test_training_says_what_it_trained():
    sentences = [["a", "b", "c", "d"]] * 50
    model = MUSE(min_count=1, vector_size=8, epochs=2, workers=1, sample=0, compute_loss=True, sg=1)
    model.build_vocab(sentences)
    assert model.get_latest_training_loss() == 0.0
    losses = []

    class Loss:  # as those of CallbackAny2Vec: no base class is needed
        def on_epoch_end(self, model):
            losses.append(model.get_latest_training_loss())

    words, raw = model.train(sentences, total_examples=50, epochs=2, callbacks=[Loss()], compute_loss=True)
    assert (words, raw) == (400, 400)
    assert 0 < losses[0] < losses[1] == model.get_latest_training_loss()
    model.train(sentences, epochs=1)
    assert model.get_latest_training_loss() < losses[1]  # of the last call
    assert model.train(resume=True) == (0, 0)


def test_words_are_counted_and_chosen_in_two_steps():
    model = MUSE(max_final_vocab=4, min_count=2, vector_size=8, sample=0)
    with pytest.raises(muse.NotTrainedError, match="call scan_vocab first"):
        model.prepare_vocab()
    assert model.scan_vocab([["a", "a", "b"], ["a", "b", "c"]]) == (6, 2)
    report = model.prepare_vocab()
    assert (report["num_retained_words"], report["retain_total"], report["drop_unique"]) == (2, 5, 1)
    assert list(model.vocabulary) == ["a", "b"]
    assert model.wv.vectors.shape == model.syn1neg.shape == (2, 8)  # what training begins with
    before = model.wv.vectors
    model.train([["a", "b"]] * 20, epochs=1)
    assert (model.wv.vectors != before).any()


def test_a_model_with_the_words_of_another():
    model, other = (MUSE([list(words)] * 20, vector_size=8, min_count=1, workers=1) for words in ("abc", "cde"))
    model.reset_from(other)
    assert model.wv.key_to_index == other.wv.key_to_index
    assert not model.is_trained
    model.train([["c", "d"]] * 30)
    assert "e" in model.wv


def test_what_is_likely_among_words():
    model = MUSE(make_ambiguous_corpus(3000, 300, seed=0).sentences, vector_size=24, workers=1, sample=0)
    likely = model.predict_output_word(["money", "loan"], topn=5)
    assert len(likely) == 5
    assert likely == model.predict_output_word([model.wv.get_index("money"), "loan", "unheard-of"], topn=5)
    assert sum(share for _, share in model.predict_output_word(["money"], topn=10**6)) == pytest.approx(1)
    assert model.predict_output_word(["unheard-of"]) is None


@pytest.mark.parametrize(
    ("name", "heir"),
    [
        ("most_similar", "model.wv.most_similar or model.sv.most_similar"),
        ("vocab", "key_to_index"),
        ("syn0", "wv.vectors"),
    ],
)
def test_names_that_models_had_say_their_heirs(name, heir):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; .*{heir}"):
        getattr(toy_model(), name)
    assert not hasattr(toy_model(), "qwertyuiop")


@pytest.mark.parametrize(
    ("name", "heir"),
    [("vocab", "key_to_index"), ("index2word", "index_to_key"), ("syn0", "vectors"), ("vectors_lockf", "locked")],
)
def test_names_that_vectors_had_say_their_heirs(name, heir):
    for vectors in (toy_model().wv, toy_model().sv):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; .*{heir}"):
            getattr(vectors, name)


def test_arguments_have_gensims_names(tmp_path):
    vectors = toy_model(words=tuple("abcdefghi")).wv
    assert vectors.similarity(w1="a", w2="b") == pytest.approx(1 - vectors.distance(w1="a", w2="b"))
    assert vectors.n_similarity(ws1=["a"], ws2=["b"]) == pytest.approx(vectors.similarity("a", "b"))
    assert vectors.distances("a", other_words=["b"]).shape == (1,)
    assert vectors.rank(key1="a", key2="b") == len(vectors.closer_than(key1="a", key2="b")) + 1
    assert vectors.doesnt_match(words=["a", "b"]) in "ab"
    assert vectors.most_similar("a", indexer=None, topn=0) == vectors.most_similar_cosmul("a", topn=0) == []
    assert [word for word, _ in vectors.most_similar("a", clip_start=2, clip_end=4)] in (["c", "d"], ["d", "c"])
    assert len(vectors.most_similar("a", clip_end=3, topn=None)) == 3
    assert list(vectors) == vectors.index_to_key
    assert (vectors[0] == vectors["a"]).all()
    with pytest.raises(KeyError, match="there is no row 9"):
        vectors[9]
    assert 0 not in vectors
    vectors.save_word2vec_format(tmp_path / "v", tmp_path / "counts", binary=False, write_header=False, prefix="w_")
    assert (tmp_path / "v").read_text().startswith("w_a ")
    assert (tmp_path / "counts").read_text().splitlines()[0] == "w_a 90"
    with pytest.raises(ZeroDivisionError):
        vectors.n_similarity([], ["a"])

    class Index:  # as gensim.similarities.annoy has it
        def most_similar(self, vector, num_neighbors):
            return [("a", 1.0), ("c", 0.5), ("d", 0.2)][:num_neighbors]

    assert vectors.most_similar("a", topn=2, indexer=Index()) == [("c", 0.5), ("d", 0.2)]


def test_vectors_of_ones_own(tmp_path, caplog):
    vectors = muse.vectors.model_vectors.WordVectors.empty(3)
    assert len(vectors) == 0
    assert vectors.add_vector("a", [1, 0, 0]) == 0
    vectors.add_vectors(["b", "a"], [[0, 1, 0], [9, 9, 9]], extras={"count": [7, 8]})
    assert "1 of the keys are there already" in caplog.text
    assert vectors["a"].tolist() == [1, 0, 0]
    vectors["a"] = [0, 0, 2]
    vectors[["b", "c"]] = [[1, 1, 0], [1, 1, 1]]
    assert vectors.vectors.tolist() == [[0, 0, 2], [1, 1, 0], [1, 1, 1]]
    assert vectors.most_similar("b", topn=1)[0][0] == "c"
    assert vectors.get_vecattr("b", "count") == 7
    some = vectors.vectors_for_all(["c", "unheard-of", "a", "c"])
    assert list(some) == ["c", "a"]
    vectors.save(tmp_path / "words")
    again = muse.vectors.model_vectors.WordVectors.load(tmp_path / "words")
    assert (again.vectors == vectors.vectors).all()
    assert list(again.expandos["count"]) == [0, 7, 0]
    again["new"] = [1, 2, 3]
    assert "new" not in vectors
    for keys, rows in (("d", [1, 2]), (["d", "e"], [[1, 2, 3]]), ("d", [np.nan, 0, 0])):
        with pytest.raises(ValueError, match="vectors"):
            vectors.add_vectors(keys, rows)
    (tmp_path / "other").write_bytes(b"no such file")
    with pytest.raises(muse.ModelFileError):
        muse.vectors.model_vectors.WordVectors.load(tmp_path / "other")


def test_vectors_of_a_model_are_its_own():
    model = toy_model()
    with pytest.raises(TypeError, match=r"copy.copy\(model.wv\) are your own"):
        model.wv["head"] = np.ones(7)
    mine = copy.copy(model.wv)
    mine["head"] = np.ones(7)
    assert (mine["head"] == 1).all()
    assert not (model.wv["head"] == 1).all()


def test_the_script_runs(tmp_path, monkeypatch, capsys):
    script = PAGE.split("<!-- script:")[1].split("```python\n")[1].split("```")[0]
    lines = [line for line in script.splitlines() if line.strip()]
    assert 25 <= len(lines) <= 35
    monkeypatch.chdir(tmp_path)
    sentences = make_ambiguous_corpus(1500, 300, seed=0).sentences
    words = {word for sentence in sentences for word in sentence}
    assert {"bank", "money", "stream", "loan"} <= words
    Path("corpus.txt").write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
    exec(compile(script, "docs/gensim.md", "exec"), {"__name__": "script"})
    printed = capsys.readouterr().out
    assert "epoch 3" in printed
    assert printed.strip().endswith("(50,)")


def test_the_same_script_runs_with_gensim(tmp_path, monkeypatch, gensim_model):
    """Otherwise it would prove nothing."""
    script = PAGE.split("<!-- script:")[1].split("```python\n")[1].split("```")[0]
    original = re.sub(r"^from muse.*?# (from gensim.*)$", r"\1", script, flags=re.MULTILINE)
    assert "muse" not in original
    monkeypatch.chdir(tmp_path)
    sentences = make_ambiguous_corpus(1500, 300, seed=0).sentences
    Path("corpus.txt").write_text("\n".join(map(" ".join, sentences)) + "\n", encoding="utf-8")
    exec(compile(original, "docs/gensim.md", "exec"), {"__name__": "script"})


def test_the_package_exports_what_the_page_imports():
    assert {"MUSE", "Callback"} <= set(muse.__all__)


def test_load_is_of_the_class(tmp_path):
    model = toy_model()
    model.save(tmp_path / "model")
    with pytest.raises(AttributeError, match=r"would leave this one as it is; .*: model = MUSE.load\("):
        model.load(tmp_path / "model")
    assert MUSE.load(tmp_path / "model").wv.index_to_key == model.wv.index_to_key


def test_a_model_tells_of_its_training():
    sentences = [list("abcd"), list("bcde")] * 60
    model = MUSE(min_count=1, vector_size=8, workers=1, sample=0)
    assert (model.train_count, model.total_train_time, model.running_training_loss) == (0, 0, 0)
    assert model.min_alpha_yet_reached == model.alpha
    model.scan_vocab(sentences)
    assert model.raw_vocab == {"a": 60, "b": 120, "c": 120, "d": 120, "e": 60}
    model.prepare_vocab()
    model.prepare_weights()
    assert np.diff(model.cum_table.astype(np.int64), prepend=0) == pytest.approx(
        model.vocabulary.counts**0.75 / (model.vocabulary.counts**0.75).sum() * (2**31 - 1), abs=2
    )
    for epochs in (1, 2):
        model.train(sentences, epochs=epochs)
        assert model.train_count == epochs
    assert model.running_training_loss == model.get_latest_training_loss() > 0
    assert model.total_train_time == sum(row["seconds"] for row in model.history) > 0
    assert model.min_alpha_yet_reached < model.alpha
    assert (model.layer1_size, model.null_word, model.batch_words) == (8, 0, model.settings.batch_tokens)
    empty = MUSE(min_count=0, ns_exponent=-1.0)
    empty.build_vocab_from_freq({"a": 0, "b": 2, "c": 0})
    assert empty.cum_table.tolist() == [2**31 - 1, 2**31 - 1, 2**31 - 1]  # sorted, so that b is first
    model.prepare_weights(update=True)
    model.update_weights()
    model.init_sims()
    assert model.is_trained
    with pytest.raises(TypeError, match="senses would not follow"):
        model.init_sims(replace=True)
    model.init_weights()
    assert (model.is_trained, model.train_count, list(model.vocabulary)) == (False, 0, list("bcdae"))
    model.train(sentences)
    assert model.is_trained


@pytest.mark.parametrize("recipe", [muse.Trees(), muse.Split(), muse.Paper()])
def test_trainings_are_told_apart(recipe):
    model = MUSE([list("abcd")] * 50, min_count=1, vector_size=8, workers=1, sample=0, epochs=1, recipe=recipe)
    first = model.get_latest_training_loss()
    assert first == sum(row["loss"] * row["pairs"] for row in model.history)  # all rows, of words and of senses
    model.train([list("abcd")] * 50)
    assert model.train_count == 2
    assert 0 < model.get_latest_training_loss() < sum(row["loss"] * row["pairs"] for row in model.history)


def test_a_corpus_without_words_is_the_error_that_gensim_has():
    for sentences, settings in (([], {}), ([["a"]], {"min_count": 2})):
        with pytest.raises(RuntimeError) as caught:
            MUSE(sentences, **settings)
        assert isinstance(caught.value, ValueError)
