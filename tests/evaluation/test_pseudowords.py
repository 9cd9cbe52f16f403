"""Drawing pairs, and the pseudo-word test with its bounds."""

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muse.evaluation import EvaluationCallback, PseudoWordTask, draw_pairs, evaluate_pseudo_words
from muse.evaluation.bounds import WindowMeans, keep_probability

LETTERS = "abcdefghij"


def name(number):
    return "".join(LETTERS[int(digit)] for digit in f"{number:05d}")[::-1]


COUNTS = {name(i): 100 + i for i in range(900)}


def test_pairs_keep_their_promises():
    pairs = draw_pairs(COUNTS, 40, min_count=100, max_count=999, seed=1)
    words = [word for pair in pairs for word in pair]
    assert len(pairs) == 40
    assert len(set(words)) == 80
    shares = [max(COUNTS[a], COUNTS[b]) / (COUNTS[a] + COUNTS[b]) for a, b in pairs]
    assert max(shares) <= 1.2 / 2.2
    assert 0.51 < np.mean(shares) < 0.535
    assert all(a[:4] != b[:4] for a, b in pairs)
    edges = np.geomspace(100, 999, 5)
    for band in range(4):
        for word in (w for pair in pairs[10 * band : 10 * band + 10] for w in pair):
            assert edges[band] - 1e-9 <= COUNTS[word] <= edges[band + 1] + 1e-9


def test_pairs_depend_on_the_seed_and_not_on_the_order_of_words():
    drawn = draw_pairs(COUNTS, 20, min_count=100, max_count=999, seed=5)
    assert drawn == draw_pairs(dict(reversed(COUNTS.items())), 20, min_count=100, max_count=999, seed=5)
    assert drawn != draw_pairs(COUNTS, 20, min_count=100, max_count=999, seed=6)


def test_pairs_leave_out_what_is_no_plain_word():
    counts = {"ab": 10, "x1yz": 10, "over": 10, "overt": 10, "banned": 10, "tree": 10, "rare": 1, "the": 99}
    assert sorted(draw_pairs(counts, 1, min_count=5, max_count=20, bands=1, exclude=["banned"])[0])[1] == "tree"
    with pytest.raises(ValueError, match=r"only 1 of 2 pairs can be drawn among the 4 words that occur 5 to 20 times"):
        draw_pairs(
            {k: v for k, v in counts.items() if k != "banned"} | {"overs": 10}, 2, min_count=5, max_count=20, bands=1
        )


def test_pairs_from_a_vocabulary():
    class Vocabulary:
        words = ("red", "sun")
        counts = np.array([10, 11])

    assert sorted(draw_pairs(Vocabulary(), 1, min_count=10, max_count=11, bands=1)[0]) == ["red", "sun"]
    with pytest.raises(TypeError, match="mapping of word to count"):
        draw_pairs([("red", 1)])
    for options, message in (
        ({"n_pairs": 0}, "at least 1"),
        ({"min_count": 9, "max_count": 9}, "min_count < max_count"),
        ({"max_ratio": 0.5}, "max_ratio"),
    ):
        with pytest.raises(ValueError, match=message):
            draw_pairs(COUNTS, **options)


TOPICS = (["sea", "ship", "wave", "salt"], ["tax", "bill", "court", "judge"])


def text(words=("oak_law", "elm_tax"), sentences=300, seed=0, noise=0.1):
    """Sentences of one topic around each pseudo-word; the topic is its true member. Every third has none."""
    generator = np.random.default_rng(seed)
    lines = []
    truth = {word: [] for word in words}
    for number in range(sentences):
        topic = int(generator.integers(2))
        tokens = [
            str(generator.choice(TOPICS[topic if generator.random() > noise else 1 - topic]))
            for _ in range(int(generator.integers(4, 9)))
        ]
        if number % 3:
            word = words[number % len(words)]
            position = int(generator.integers(len(tokens)))
            tokens[position] = word
            truth[word].append((number, position, topic))
        lines.append(tokens)
    return lines, truth


class Model:
    """Selects by a rule of the context; knows the words given."""

    def __init__(self, rule, words):
        self.rule, self.words, self.seen = rule, set(words), 0

    def __contains__(self, word):
        return word in self.words

    def disambiguate_batch(self, sentences):
        for tokens in sentences:
            self.seen += 1
            yield [self.rule(tokens, i) if token in self.words else -1 for i, token in enumerate(tokens)]


def by_topic(tokens, position):
    first, second = (sum(token in topic for token in tokens) for topic in TOPICS)
    return int(second > first)


def test_perfect_collapsed_and_swapped_selections():
    lines, truth = text(noise=0.0)
    known = truth.keys()
    task = PseudoWordTask(lines, truth)
    perfect = task(Model(by_topic, known))
    assert perfect.score == perfect["v_measure"] == pytest.approx(1)
    assert (perfect["ari"], perfect["purity"], perfect["collapsed"]) == (1, 1, 0)
    assert perfect["effective_senses"] == pytest.approx(2, abs=0.1)
    swapped = task(Model(lambda t, i: 1 - by_topic(t, i), known))
    assert swapped["v_measure"] == pytest.approx(1)
    collapsed = task(Model(lambda t, i: 2, known))
    assert (collapsed["v_measure"], collapsed["ari"], collapsed["effective_senses"]) == (0, 0, 1)
    assert collapsed["collapsed"] == 1
    assert collapsed["purity"] == pytest.approx(collapsed["majority"])
    assert 0.5 <= collapsed["majority"] < 0.6


def test_each_occurrence_is_scored_with_its_own_truth():
    """Selection and truth are matched by place: a model that reads the truth off the places is perfect."""
    lines, truth = text(noise=0.5)
    answers = {(number, position): member for places in truth.values() for number, position, member in places}
    index = {id_: n for n, id_ in enumerate(map(tuple, lines))}
    assert len(index) == len(lines)
    model = Model(lambda tokens, i: answers[index[tuple(tokens)], i], truth)
    task = PseudoWordTask(lines, truth)
    assert task(model).score == pytest.approx(1)
    assert model.seen == len(answers)  # sentences without a pseudo-word are not touched
    shuffled = {word: np.array(places)[::-1] for word, places in truth.items()}
    assert PseudoWordTask(lines, shuffled)(model).score == pytest.approx(1)


def test_result_of_each_word():
    lines, truth = text(noise=0.3)
    rows = PseudoWordTask(lines, truth)(Model(by_topic, truth)).items
    assert [row["word"] for row in rows] == list(truth)
    for row in rows:
        members = [member for _, _, member in truth[row["word"]]]
        assert row["n"] == len(members)
        assert row["majority"] == pytest.approx(max(Counter(members).values()) / len(members))
        assert row["senses"] == 2
        assert 0.5 < row["purity"] < 1


def test_unknown_pseudo_words_are_counted_and_left_out():
    lines, truth = text()
    task = PseudoWordTask(lines, truth)
    result = task(Model(by_topic, ["oak_law"]))
    assert (result["words"], result["missing"]) == (1, 1)
    assert "1 pseudo-words not in the vocabulary: elm_tax" in result.notes
    with pytest.raises(ValueError, match="knows none of the 2 pseudo-words"):
        task(Model(by_topic, []))


def test_sampled_occurrences():
    lines, truth = text()
    task = PseudoWordTask(lines, truth, max_occurrences=20, seed=4)
    assert task(Model(by_topic, truth))["occurrences"] == 40
    again = PseudoWordTask(lines, truth, max_occurrences=20, seed=4)
    other = PseudoWordTask(lines, truth, max_occurrences=20, seed=5)
    assert task.sentences == again.sentences != other.sentences


def test_truth_must_fit_the_text():
    lines, truth = text()
    for wrong, message in (
        ({}, "no pseudo-words"),
        ({"oak_law": []}, r"must be integers of shape \(n, 3\)"),
        ({"oak_law": [(0.5, 1.0, 0.0)]}, "must be integers"),
        ({"oak_law": [(999, 0, 0)]}, "token 0 of sentence 999, which is not there"),
        ({"oak_law": [(0, 0, 0)]}, "pass the text with the merged words"),
        ({"oak_law": [(-1, 0, 0)]}, "negative"),
        ({"oak_law": [truth["oak_law"][0]] * 2}, "listed twice"),
    ):
        with pytest.raises(ValueError, match=message):
            PseudoWordTask(lines, wrong)
    with pytest.raises(ValueError, match="score must be one of"):
        PseudoWordTask(lines, truth, score="V")
    with pytest.raises(ValueError, match="max_occurrences"):
        PseudoWordTask(lines, truth, max_occurrences=1)
    with pytest.raises(ValueError, match="expected 200 senses"):
        PseudoWordTask(lines, truth).score([0, 1])


def vectors(seed=0):
    """Word vectors in which topics are apart."""
    generator = np.random.default_rng(seed)
    return {
        word: (np.eye(5)[topic] + 0.3 * generator.normal(size=5)).astype(np.float32)
        for topic, words in enumerate(TOPICS)
        for word in words
    }


def test_bounds_frame_a_model():
    lines, truth = text(noise=0.3, sentences=4000)
    task = PseudoWordTask(lines, truth)
    assert [row["method"] for row in task(Model(by_topic, truth)).table] == ["model", "majority"]
    bounds = task.baselines(vectors(), sample=0)
    assert [row["method"] for row in bounds.table] == ["majority", "k-means 2", "k-means 3", "supervised"]
    assert bounds["majority v_measure"] == 0
    assert 0.1 < bounds["k-means 3 v_measure"] < bounds.score < 1
    assert bounds.score == bounds["supervised v_measure"] > 0.25
    assert len(bounds.items) == 8
    result = task(Model(by_topic, truth))
    assert result["v_measure_share"] == pytest.approx(result["v_measure"] / bounds.score)
    assert [row["method"] for row in result.table] == ["model", *(row["method"] for row in bounds.table)]
    assert "of the supervised bound" in str(result)
    assert bounds.to_dict() == PseudoWordTask(lines, truth).baselines(vectors(), sample=0).to_dict()


def test_bounds_of_text_without_information_are_not_nan():
    lines, truth = text()
    task = PseudoWordTask(lines, truth)
    flat = task.baselines(dict.fromkeys(vectors(), np.ones(3, dtype=np.float32)))
    assert flat["k-means 2 v_measure"] == pytest.approx(0, abs=1e-9)
    result = task(Model(by_topic, truth))
    assert result["v_measure_share"] is None or np.isfinite(result["v_measure_share"])
    with pytest.raises(ValueError, match="know no word of the text"):
        task.baselines({})
    for options in ({"folds": 1}, {"clusters": (1,)}, {"window": 0}, {"sample": -1.0}):
        with pytest.raises(ValueError, match="must"):
            task.baselines(vectors(), **options)


def test_bounds_name_words_that_cannot_be_learnt():
    lines, truth = text()
    rare = [entry for entry in truth["elm_tax"] if entry[2] == 0] + [e for e in truth["elm_tax"] if e[2] == 1][:1]
    bounds = PseudoWordTask(lines, {**truth, "elm_tax": rare}).baselines(vectors())
    assert "a member occurs less than twice: elm_tax" in bounds.notes[0]
    with pytest.raises(ValueError, match="nothing to learn from"):
        PseudoWordTask(lines, {"elm_tax": rare}).baselines(vectors())


def test_keep_probability_is_the_formula_of_word2vec():
    kept = keep_probability({"the": 900, "head": 90, "rare": 10}, 0.01)
    assert kept["the"] == pytest.approx((np.sqrt(0.9 / 0.01) + 1) * 0.01 / 0.9)
    assert kept["rare"] == 1
    assert keep_probability({"a": 1}, 0) == {"a": 1}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from(["a", "b", "c", "oov", "target"]), min_size=1, max_size=8), min_size=1, max_size=4
    ),
    st.integers(1, 3),
    st.booleans(),
)
def test_window_means_are_their_definition(lines, window, target_known):
    known = {"a": [1.0, 0], "b": [0, 2.0], "c": [3.0, 1.0]} | ({"target": [5.0, 5.0]} if target_known else {})
    table = {word: np.array(row, dtype=np.float32) for word, row in known.items()}
    weights = {"a": 0.5, "c": 0.25}
    places = [(s, p) for s, tokens in enumerate(lines) for p, token in enumerate(tokens) if token == "target"][:1]
    if not places or not any(token in table for tokens in lines for token in tokens):
        return
    sentence, position = (np.array(column) for column in zip(*places, strict=True))
    got = WindowMeans(lines, sentence, position, table, weights, window)(np.arange(len(places)))
    for row, (s, p) in zip(got, places, strict=True):
        left = [token for token in lines[s][:p] if token in table][-window:]
        right = [token for token in lines[s][p + 1 :] if token in table][:window]
        shares = np.array([weights.get(token, 1.0) for token in left + right])
        rows = np.array([table[token] for token in left + right]).reshape(-1, 2)
        expected = (shares[:, None] * rows).sum(axis=0) / shares.sum() if len(shares) else np.zeros(2)
        np.testing.assert_allclose(row, expected, rtol=1e-5, atol=1e-6)


def test_scoring_is_fast_enough_for_every_epoch():
    words = [f"word_{i}" for i in range(80)]
    lines = [["filler", words[i % 80], "filler"] for i in range(80_000)]
    truth = {word: [(n, 1, n // 80 % 2) for n in range(i, 80_000, 80)] for i, word in enumerate(words)}
    task = PseudoWordTask(lines, truth)

    class Fast:
        def disambiguate_batch(self, sentences):
            return (np.array([-1, 0, -1]) for _ in sentences)

    started = time.process_time()
    assert task(Fast())["collapsed"] == 1
    assert time.process_time() - started < 20  # under a second on an idle machine


def test_corpora_of_muse_datasets():
    datasets = pytest.importorskip("muse.datasets")
    lines, _ = text(words=("sea",), sentences=120)
    corpus = datasets.pseudo_words(lines, [("ship", "judge"), ("wave", "court")])
    result = evaluate_pseudo_words(Model(by_topic, corpus.ambiguous_words), corpus)
    assert [row["word"] for row in result.items] == ["ship_judge", "wave_court"]
    assert result["purity"] > 0.7
    written = datasets.make_ambiguous_corpus(n_sentences=200, n_words=100, seed=1)
    task = PseudoWordTask.from_corpus(written)
    assert task.settings["pseudo_words"] == len(written.ambiguous_words)


def test_a_real_model_can_be_evaluated_and_restored():
    toy = pytest.importorskip("toy")
    words = ("oak_law", "elm_tax", *TOPICS[0], *TOPICS[1])
    model = toy.toy_model(words=words, senses=(3, 2, *[1] * 8))
    lines, truth = text()
    task = PseudoWordTask(lines, truth)
    result = task(model)
    first = lines[1]
    position = first.index(next(word for word in truth if word in first))
    place = task.sentences.index(first)
    chosen = task.select(model)[task.occurrences.sentence == place]
    assert chosen[0] == model.select_sense(first[position], first, position)
    assert result["missing"] == 0
    assert task.baselines(model.wv, sample=0)["majority v_measure"] == 0
    callback = EvaluationCallback(task)
    callback.on_epoch_end(model)
    best = model.arrays.sense_vectors.copy()
    head = model.wv["oak_law"].copy()
    model.arrays.sense_vectors[:] = 0
    model.set_arrays(model.arrays)
    callback.restore(model)
    np.testing.assert_array_equal(model.arrays.sense_vectors, best)
    np.testing.assert_array_equal(model.wv["oak_law"], head)


def test_a_corpus_whose_senses_are_not_known():
    with pytest.raises(TypeError, match=r"whose true senses are known, as muse\.datasets\.pseudo_words.*; got list"):
        evaluate_pseudo_words(None, [["a", "b"]])


def test_words_with_one_member_tell_nothing_apart():
    lines = [["a_b"], ["a_b"], ["c_d"], ["c_d"]]
    places = {"a_b": [[0, 0, 0], [1, 0, 1]], "c_d": [[2, 0, 10**12], [3, 0, 10**12]]}
    result = PseudoWordTask(lines, places).score([0, 1, 0, 1])
    assert (result.score, result["words"], [row["word"] for row in result.items]) == (1, 1, ["a_b"])
    assert "only one member occurs are left out: c_d" in result.notes[0]
    with pytest.raises(ValueError, match="only one member occurs of c_d"):
        PseudoWordTask(lines, {"c_d": places["c_d"]}).score([0, 1])


@pytest.mark.parametrize("chosen", [[0.9, 1.7], [True, False], ["0", "1"]])
def test_senses_to_score_are_whole_numbers(chosen):
    with pytest.raises(TypeError, match="senses must be whole numbers"):
        PseudoWordTask([["a_b"], ["a_b"]], {"a_b": [[0, 0, 0], [1, 0, 1]]}).score(chosen)


def test_bounds_refuse_broken_vectors_and_thresholds():
    lines, truth = text()
    task = PseudoWordTask(lines, truth)
    words = [word for topic in TOPICS for word in topic]
    vectors = dict(zip(words, np.eye(8), strict=True))
    with pytest.raises(ValueError, match="sample must be a number from 0 to inf; got nan"):
        task.baselines(vectors, sample=np.nan)
    with pytest.raises(ValueError, match="NaN or infinity in the vector of '"):
        task.baselines({**vectors, "sea": np.full(8, np.nan)}, sample=0)
