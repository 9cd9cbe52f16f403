"""Models with sense trees: one answer to every question, cuts at any time and without the text, numbers that stay."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import sys

import numpy as np
import pytest

from muse import MUSE, FormatWarning, Split, Trees, UnknownSenseError, UnknownWordError
from muse.datasets import make_ambiguous_corpus
from muse.model.trees import Recut

CORPUS = make_ambiguous_corpus(2000, 300, seed=0)
SMALL = {"vector_size": 16, "epochs": 2, "workers": 1, "min_count": 1, "seed": 1}
WORD = "bank"


@pytest.fixture(scope="module")
def trained() -> MUSE:
    return MUSE(CORPUS.sentences, **SMALL)


@pytest.fixture
def model(trained) -> MUSE:
    return copy.deepcopy(trained)


@pytest.fixture(params=[None, 2, {WORD: 1}, 5, "auto"], ids=str)
def cut(request, model) -> MUSE:
    """The model under several cuts."""
    if request.param is not None:
        model.recut(senses=request.param)
    return model


def uses(word: str, count: int) -> list[list[str]]:
    return list(itertools.islice((sentence for sentence in CORPUS.sentences if word in sentence), count))


# -- one answer --------------------------------------------------------------------------------------------------------


def test_trees_are_the_default(trained):
    assert type(trained.settings.recipe) is Trees
    assert trained.snapshot.forest is not None
    assert [row["stage"] for row in trained.history] == ["words", "words", "trees"]
    senses = np.diff(trained.arrays.sense_offset)
    assert senses.max() == 4
    enough = trained.arrays.word_counts >= 100
    assert (senses[enough] == 4).all()
    assert (senses[trained.arrays.word_counts < 50] == 1).all()


def test_a_model_that_keeps_few_leaves_has_the_same_senses_and_is_smaller(trained, tmp_path):
    often = trained.vocabulary.words[0]
    small = MUSE(CORPUS.sentences, recipe=Trees(kept_leaves=2), senses={often: 5, WORD: 3}, **SMALL)  # 1 for others
    kept = dict(zip(small.vocabulary.words, small.snapshot.forest.trees.n_leaves.tolist(), strict=True))
    assert (kept.pop(often), kept.pop(WORD)) == (5, 3)
    assert max(kept.values()) == 2
    assert trained.snapshot.forest.trees.n_leaves.max() > 5
    np.testing.assert_allclose(small.sense_vectors(WORD), trained.sense_vectors(WORD), atol=1e-6)
    assert small.select_sense(WORD, "money in the bank") == trained.select_sense(WORD, "money in the bank")
    small.save(tmp_path / "small")
    trained.save(tmp_path / "all")
    assert (tmp_path / "small").stat().st_size < 0.9 * (tmp_path / "all").stat().st_size
    assert MUSE.load(tmp_path / "small").settings.kept_leaves == 2
    with pytest.raises(ValueError, match="kept_leaves"):
        Trees(kept_leaves=1)


def test_counts_add_up_and_shares_are_those_of_the_answers(cut):
    arrays = cut.arrays
    np.testing.assert_array_equal(np.add.reduceat(arrays.sense_counts, arrays.sense_offset[:-1]), arrays.word_counts)
    assert cut.sense_prior(WORD).sum() == pytest.approx(1)


def test_the_counts_are_about_those_of_the_selected_senses(trained):
    arrays, counted = trained.arrays, np.zeros(trained.arrays.n_senses, np.int64)
    for sentence, senses in zip(CORPUS.sentences, trained.disambiguate_batch(CORPUS.sentences), strict=True):
        for token, sense in zip(sentence, senses.tolist(), strict=True):
            counted[trained.sv.get_index((token, sense))] += 1
    several = np.flatnonzero(np.diff(arrays.sense_offset) > 1)
    off = [np.abs(counted - arrays.sense_counts)[arrays.rows_of(word)].max() for word in several.tolist()]
    assert np.mean(off / arrays.word_counts[several]) < 0.02


def test_every_question_has_the_same_answer(cut, tmp_path):
    sentences = [sentence for sentence in uses(WORD, 30) if len(sentence) > 1]
    batch = list(cut.disambiguate_batch(sentences, probabilities=True))
    (tmp_path / "text").write_text("\n".join(map(" ".join, sentences)) + "\n")
    cut.tag_corpus(tmp_path / "text", tmp_path / "tagged")
    tagged = (tmp_path / "tagged").read_text().splitlines()
    numbers = cut.sense_numbers(WORD).tolist()
    for sentence, (senses, shares), line in zip(sentences, batch, tagged, strict=True):
        position = sentence.index(WORD)
        found = cut.sense_probabilities(WORD, sentence)
        assert found.sum() == pytest.approx(1, abs=1e-5)
        assert cut.select_sense(WORD, sentence) == senses[position] == numbers[found.argmax()]
        assert shares[position] == pytest.approx(found.max(), abs=1e-4)
        assert [token.key for token in cut.disambiguate(sentence)] == line.split()
        np.testing.assert_array_equal(cut.sense_vectors(WORD, sentence), cut.sv[WORD, int(senses[position])])
    several = cut.sense_probabilities_batch([WORD] * len(sentences), sentences)
    for one, sentence in zip(several, sentences, strict=True):
        np.testing.assert_allclose(one, cut.sense_probabilities(WORD, sentence), atol=1e-6)


def test_vectors_of_uses_of_many_words_at_once(trained):
    words = [word for word in (WORD, "rock", "match") if word in trained]
    contexts = [uses(word, 1)[0] for word in words]
    several = trained.usage_vector_batch(words, contexts, [None] * len(words))
    for word, context, vector in zip(words, contexts, several, strict=True):
        np.testing.assert_allclose(vector, trained.usage_vector(word, context), atol=1e-6)
    for asked in (("bank", ["bank"]), (words, iter(contexts))):
        with pytest.raises(TypeError, match="takes a list of words and a list of as many contexts"):
            trained.usage_vector_batch(*asked)
    with pytest.raises(ValueError, match="as many contexts as words"):
        trained.usage_vector_batch(words, contexts[:1])


def test_models_say_whether_they_have_vectors_of_uses(trained):
    assert trained.has_usage_vectors
    assert trained.sense_temperature == trained.snapshot.forest.space.temperature
    split = MUSE(CORPUS.sentences, **SMALL, recipe=Split())
    assert (split.has_usage_vectors, split.sense_temperature) == (False, None)
    assert not MUSE().has_usage_vectors
    with pytest.raises(ValueError, match="needs sense trees, and this model has none"):
        split.usage_vector_batch([WORD], [[WORD]])


def test_a_score_is_the_cosine_with_the_nodes_mean_context_and_its_share(trained):
    space, trees, row = trained.snapshot.forest.space, trained.snapshot.forest.trees, trained.vocabulary[WORD]
    numbers = trained.sense_numbers(WORD)
    shares = trees.node_uses(row)[numbers] / trees.node_uses(row)[numbers].sum()
    for sentence in uses(WORD, 5):
        vector = trained.usage_vector(WORD, sentence)
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)
        scores = trees.node_centroids(row)[numbers] @ vector + space.prior_weight * np.log(shares)
        expected = np.exp((scores - scores.max()) / space.temperature)
        np.testing.assert_allclose(trained.sense_probabilities(WORD, sentence), expected / expected.sum(), atol=1e-5)


def test_keys_name_the_senses_that_questions_answer_with(cut):
    for word in (WORD, "the"):
        numbers = cut.sense_numbers(word).tolist()
        assert [card.key for card in cut.describe(word).senses] == [
            f"{word}#{numbers[place]}" for place in np.argsort(-cut.sense_prior(word), kind="stable")
        ]
        for place, number in enumerate(numbers):
            for key in (f"{word}#{number}", (word, number)):
                np.testing.assert_array_equal(cut.sv[key], cut.sense_vectors(word)[place])
            row = cut.sv.get_index((word, number))
            assert cut.sv.index_to_key[row] == f"{word}#{number}"
            assert cut.sv.key_to_index[f"{word}#{number}"] == row
            assert cut.predict_collocates(word, sense=number)
        with pytest.raises(UnknownSenseError, match=f"there is no sense 99 of '{word}'"):
            cut.sv[word, 99]
    assert list(cut.sv.index_to_key) == [cut.sv.index_to_key[row] for row in range(cut.arrays.n_senses)]


def test_a_word_without_context_has_its_prior(cut):
    for context in (WORD, "", "unheard-of things"):
        np.testing.assert_allclose(cut.sense_probabilities(WORD, context), cut.sense_prior(WORD), atol=1e-6)


# -- cuts --------------------------------------------------------------------------------------------------------------


def test_a_cut_needs_no_text_and_senses_keep_numbers_and_vectors(model):
    vectors = {number: model.sv[WORD, number].copy() for number in model.sense_numbers(WORD).tolist()}
    seen = dict(vectors)
    for senses in (1, 2, 3, 5, 12, 2, "auto", {WORD: 3}):
        changed = model.recut(senses=senses)
        assert isinstance(changed, Recut)
        for number in model.sense_numbers(WORD).tolist():
            vector = seen.setdefault(number, model.sv[WORD, number].copy())
            if model.n_senses(WORD) > 1:
                np.testing.assert_array_equal(vector, model.sv[WORD, number])
            else:
                seen.pop(number)  # a word as a whole has the vector of the word
    model.recut()
    assert model.sense_numbers(WORD).tolist() == list(vectors)
    for number, vector in vectors.items():
        np.testing.assert_array_equal(model.sv[WORD, number], vector)


def test_what_became_of_a_sense(model):
    before = model.sense_numbers(WORD).tolist()
    coarser = model.recut(senses=1)
    whole = (WORD, int(model.sense_numbers(WORD)[0]))
    assert len(before) > 1
    assert all(coarser[WORD, number] == (whole,) for number in before)
    assert set(coarser.changed()) <= set(coarser)
    finer = model.recut()
    assert sorted(finer[whole]) == [(WORD, number) for number in before]
    assert finer[f"{WORD}#{whole[1]}"] == finer[whole]
    with pytest.raises(UnknownSenseError, match="had no sense"):
        finer[WORD, 99]


@pytest.mark.parametrize(
    ("senses", "error", "message"),
    [
        (0, ValueError, "senses must be at least 1"),
        (2.5, TypeError, "senses must be an integer"),
        ("many", ValueError, "senses must be a number, a mapping of words to numbers, or 'auto'"),
        ({"banq": 2}, UnknownWordError, "banq"),
        ({WORD: 0}, ValueError, "at least 1"),
    ],
)
def test_cuts_that_cannot_be(trained, senses, error, message):
    with pytest.raises(error, match=message):
        trained.recut(senses=senses)


def test_numbers_of_senses_of_the_constructor():
    assert MUSE(CORPUS.sentences, senses=3, **SMALL).n_senses("the") == 3
    given = MUSE(CORPUS.sentences, senses={WORD: 2}, **SMALL)
    assert (given.n_senses(WORD), given.n_senses("the")) == (2, 1)
    auto = MUSE(CORPUS.sentences, senses="auto", **SMALL)
    assert 1 <= np.diff(auto.arrays.sense_offset).min() < np.diff(auto.arrays.sense_offset).max() <= 3
    one = MUSE(CORPUS.sentences, senses=1, **SMALL)
    assert one.snapshot.forest is None
    with pytest.raises(ValueError, match="recut needs sense trees, and this model has none"):
        one.recut(senses=2)


def test_a_level_answers_as_a_model_that_is_cut_there(model):
    sentence = uses(WORD, 1)[0]
    at = {k: model.sense_probabilities(WORD, sentence, level=k) for k in (1, 2, 3, 50)}
    chosen = {k: model.select_sense(WORD, sentence, level=k) for k in at}
    shares = {k: model.sense_probabilities(WORD, level=k) for k in at}
    numbers = {k: model.sense_numbers(WORD, level=k) for k in at}
    for k in at:
        model.recut(senses=k)
        np.testing.assert_array_equal(model.sense_numbers(WORD), numbers[k])
        np.testing.assert_allclose(model.sense_probabilities(WORD, sentence), at[k], atol=1e-5)
        assert model.select_sense(WORD, sentence) == chosen[k]
        assert shares[k].shape == at[k].shape
        assert shares[k].sum() == pytest.approx(1)
    assert model.sense_numbers("the", level=2).shape == (2,)


def test_levels_need_trees():
    model = MUSE(CORPUS.sentences[:300], recipe=Split(), senses=2, **SMALL)
    with pytest.raises(ValueError, match="level needs sense trees, and this model has none"):
        model.select_sense(WORD, "the bank", level=2)


# -- hygiene -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [None, -1, 0.3, 1])
def test_merging_joins_senses_that_the_tree_joins(model, threshold):
    before, counts = model.arrays, model.arrays.word_counts
    senses = model.merge_senses() if threshold is None else model.merge_senses(threshold)
    after = model.arrays
    np.testing.assert_array_equal(np.add.reduceat(after.sense_counts, after.sense_offset[:-1]), counts)
    assert len(senses) == before.n_senses
    if threshold == -1:
        assert after.n_senses == after.n_words
    elif threshold == 1:
        assert after.n_senses == before.n_senses
    else:
        assert after.n_words < after.n_senses < before.n_senses
    for old, new in senses.changed().items():
        tree = model.sense_tree(old[0], topn=0)
        assert old[1] in parts_of(tree, new[1])
        assert new[1] in tree.senses


def parts_of(tree, number):
    found, waiting = set(), [number]
    while waiting:
        found.add(top := waiting.pop())
        waiting.extend(tree.nodes[top].parts)
    return found


def test_pruning_joins_small_senses_with_their_siblings(model):
    model.recut(senses=12)
    before = model.arrays
    senses = model.prune_senses(min_prior=0.1)
    after = model.arrays
    assert after.n_senses < before.n_senses
    gone = [old for old, new in senses.changed().items() if new is None]
    for old, new in senses.changed().items():
        if new is not None:
            assert old[1] in parts_of(model.sense_tree(old[0], topn=0), new[1])
    for word in {word for word, _ in gone}:  # their uses are of the other senses
        assert model.sense_probabilities(word, uses(word, 1)[0]).sum() == pytest.approx(1, abs=1e-5)
    assert (after.word_counts == before.word_counts).all()


# -- trees that are shown ----------------------------------------------------------------------------------------------


def test_a_tree_prints_and_gives_its_numbers(model):
    tree = model.sense_tree(WORD)
    shown = str(tree).splitlines()
    assert shown[0].startswith(f"{WORD}: {model.arrays.word_counts[model.vocabulary[WORD]]} uses")
    assert len(shown) == len(tree.nodes) + 1
    assert sum("*" in line.partition("%")[0] for line in shown[1:]) == model.n_senses(WORD)
    assert tree.senses == tuple(model.sense_numbers(WORD).tolist())
    assert len(tree.joins) == len(tree.strengths) == len(tree.leaves) - 1
    assert tree.nodes[tree.root].share == pytest.approx(1)
    assert list(tree.strengths) == sorted(tree.strengths, reverse=True)
    told = json.loads(json.dumps(tree.to_dict()))
    assert told["senses"] == list(tree.senses)
    assert [node["key"] for node in told["nodes"]] == [f"{WORD}#{k}" for k in range(len(tree.nodes))]
    for node in tree.nodes:
        assert len(node.neighbours) == 6
        assert not any(key.startswith(f"{WORD}#") for key, _ in node.neighbours)
        if node.parts:
            assert node.share == pytest.approx(sum(tree.nodes[part].share for part in node.parts))
    for number in tree.senses:
        near = model.sv.most_similar((WORD, number), topn=20, exclude_same_word=True)
        first = {key.rpartition("#")[0]: key for key, _ in reversed(near)}  # the nearest sense of each word
        expected = [key for key, _ in near if first[key.rpartition("#")[0]] == key]
        assert [key for key, _ in tree.nodes[number].neighbours[:3]] == expected[:3]
        shown = [key.rpartition("#")[0] for key, _ in tree.nodes[number].neighbours]
        assert len(set(shown)) == len(shown)


def test_a_tree_of_one_node_and_of_one_level(model):
    rare = next(word for word in model.vocabulary if not model.snapshot.forest.trees.n_leaves[model.vocabulary[word]])
    tree = model.sense_tree(rare)
    assert (tree.root, tree.senses, len(tree.nodes)) == (0, (0,), 1)
    split = MUSE(CORPUS.sentences, recipe=Split(), senses=2, **SMALL)
    flat = split.sense_tree(WORD)
    assert (flat.root, flat.senses, flat.joins) == (None, (0, 1), ())
    assert len(str(flat).splitlines()) == 3


def test_a_tree_is_drawn_where_matplotlib_is(model, monkeypatch):
    """tests/plots look at the drawing."""
    tree = model.sense_tree(WORD)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(
        ImportError, match=r"drawing a sense tree needs matplotlib; install it with: pip install 'muse-"
    ):
        tree.plot()


# -- uses --------------------------------------------------------------------------------------------------------------


def test_uses_have_vectors_and_similarities(model):
    one, two, three = uses(WORD, 3)
    vectors = model.usage_vector(WORD, contexts=[one, two, three])
    assert vectors.shape == (3, model.snapshot.forest.space.size)
    np.testing.assert_array_equal(vectors[1], model.usage_vector(WORD, two))
    cosine = model.usage_similarity(WORD, one, two)
    assert cosine == pytest.approx(float(vectors[0] @ vectors[1]), abs=1e-6)
    assert model.usage_similarity(WORD, two, one) == pytest.approx(cosine)
    assert model.usage_similarity(WORD, one, one) == pytest.approx(1)
    other = uses("the", 1)[0]
    pair = model.usage_similarity(WORD, one, other, word2="the")
    average = model.similarity(WORD, "the", one, other, how="avg_sim_c")
    contexts = float(model.usage_vector(WORD, one) @ model.usage_vector("the", other))
    assert pair == pytest.approx((average + 0.2 * contexts) / 1.2, abs=1e-5)
    assert model.usage_similarity("the", other, one, word2=WORD) == pytest.approx(pair, abs=1e-6)
    with pytest.raises(TypeError, match="usage_vector needs a context"):
        model.usage_vector(WORD)
    with pytest.raises(UnknownWordError):
        model.usage_similarity(WORD, one, other, word2="banq")


def test_uses_of_the_true_senses_are_more_alike(model):
    word = max(CORPUS.ambiguous_words, key=lambda w: len(CORPUS.occurrences()[w]))
    found = CORPUS.occurrences()[word][:40]
    vectors = model.usage_vector(word, contexts=[CORPUS.sentences[s] for s, _, _ in found],
                                 positions=[p for _, p, _ in found])  # fmt: skip
    same = np.equal.outer([true for *_, true in found], [true for *_, true in found])
    cosines = vectors @ vectors.T
    apart = ~np.eye(len(found), dtype=bool)
    assert cosines[same & apart].mean() > cosines[~same].mean() + 0.05


# -- copies ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_answer_the_same(model, copied):
    model.recut(senses=3)
    again = copied(model)
    sentence = uses(WORD, 1)[0]
    assert again.disambiguate(sentence) == model.disambiguate(sentence)
    again.recut(senses=2)
    assert model.n_senses("the") == 3
    parts = MUSE.from_arrays(model.vocabulary, model.arrays, model.settings, forest=model.snapshot.forest)
    assert parts.disambiguate(sentence) == model.disambiguate(sentence)
    with pytest.raises(ValueError, match="there are no sense trees"):
        MUSE.from_arrays(model.vocabulary, model.arrays, model.settings)


def test_other_tools_get_the_senses_that_questions_answer_with(cut, tmp_path):
    with pytest.warns(FormatWarning):
        cut.export(tmp_path / "senses.vec", "word2vec")
    keys = [line.split(" ")[0] for line in (tmp_path / "senses.vec").read_text().splitlines()[1:]]
    assert keys == list(cut.sv.index_to_key)
    sentence = uses(WORD, 1)[0]
    chosen = [cut.sv[token.token, token.sense] for token in cut.disambiguate(sentence)]
    expected = np.mean([vector / np.linalg.norm(vector) for vector in chosen], axis=0)
    np.testing.assert_allclose(cut.sentence_vector(sentence), expected, atol=1e-5)
