"""The bounds of the pseudo-word test: of the same words and occurrences as the model, and none where they are none."""

import numpy as np
import pytest

from muse.evaluation import PseudoWordTask, SenseKeyedVectors
from muse.evaluation.bounds import one_thread

pytest.importorskip("sklearn")


def text(learnable=("easy", "clear"), noise=("hard",), uses=120, seed=0, blur=0.0):
    """Three words of one topic in front of each pseudo-word; for `noise` the topic says nothing about the member."""
    generator = np.random.default_rng(seed)
    lines, truth = [], {word: [] for word in (*learnable, *noise)}
    for number in range(uses):
        for word in truth:
            member = number % 2
            topic = member if word in learnable else int(generator.integers(2))
            letters = ["ab"[topic ^ int(generator.random() < blur)] for _ in range(3)]
            truth[word].append((len(lines), 3, member))
            lines.append([*(f"{letter}{generator.integers(10)}" for letter in letters), word])
    return lines, truth


def vectors(noise=0.1):
    """Of the words of the text: their topic, and noise, which a clustering follows where it is large."""
    generator = np.random.default_rng(0)
    return {
        f"{letter}{i}": np.r_[np.eye(2)["ab".index(letter)], generator.normal(0, noise, 4)].astype(np.float32)
        for letter in "ab"
        for i in range(10)
    }


def knows(*words):
    """A model of some pseudo-words that goes by the letter of the first word."""
    return SenseKeyedVectors(dict.fromkeys(words, np.eye(2)), selector=lambda _, tokens, at: "ab".index(tokens[0][0]))


def row_of(result, method):
    return next(row for row in result.table if row["method"] == method)


def test_a_model_is_compared_on_the_words_that_it_knows():
    lines, truth = text()
    task = PseudoWordTask(lines, truth)
    all_words = task.baselines(vectors(), sample=0)
    assert all_words.score < 0.8  # a third of the words is noise
    result = task(knows("easy", "clear"))
    assert (result["v_measure"], result["v_measure_share"], result["ari_share"]) == (1, 1, 1)
    assert [row["words"] for row in result.table] == [2] * 5
    for method in ("majority", "k-means 2", "k-means 3", "supervised"):
        of_words = [item for item in all_words.items if item["method"] == method and item["word"] != "hard"]
        assert row_of(result, method)["v_measure"] == pytest.approx(np.mean([item["v_measure"] for item in of_words]))
    assert "V is 100% of the supervised bound" in result.notes
    assert result.settings["baselines"]["folds"] == 5


def test_a_complete_model_is_compared_with_the_bounds_as_they_are():
    lines, truth = text(blur=0.2, uses=400)
    task = PseudoWordTask(lines, truth)
    bounds = task.baselines(vectors(noise=1), sample=0)
    result = task(knows(*truth))
    assert result.table[1:] == bounds.table
    assert result["v_measure_share"] == result["v_measure"] / bounds["supervised v_measure"]


def test_words_that_the_supervised_bound_lacks_are_not_in_the_share():
    lines, truth = text(blur=0.2, uses=400)
    one_member = [place for place in truth["hard"] if not place[2]]
    task = PseudoWordTask(lines, truth | {"hard": [*one_member, truth["hard"][1]]})
    task.baselines(vectors(noise=1), sample=0)
    result = task(knows(*truth))
    assert [(row["method"], row["words"]) for row in result.table] == [
        ("model", 3), ("majority", 3), ("k-means 2", 3), ("k-means 3", 3), ("supervised", 2)
    ]  # fmt: skip
    scores = [item["v_measure"] for item in result.items if item["word"] != "hard"]
    assert result["v_measure_share"] == pytest.approx(np.mean(scores) / row_of(result, "supervised")["v_measure"])
    assert any("on the 2 of 3 words that both have" in note for note in result.notes)
    only = task(knows("hard"))
    assert only["v_measure_share"] is None
    assert "it has none of the words" in only.notes[-1]


def test_occurrences_that_a_model_leaves_out_are_left_out_of_the_bounds():
    """A peer may answer some uses of a word only: here those where the windows mislead no classifier."""
    lines, truth = text(learnable=("easy",), noise=(), blur=0.3, uses=400)
    task = PseudoWordTask(lines, truth)
    bounds = task.baselines(vectors(), sample=0)
    right = bounds.answers["supervised"] == task.occurrences.truth
    assert 0.6 < right.mean() < 1
    result = task.score(np.where(right, task.occurrences.truth, -1))
    assert row_of(result, "supervised")["v_measure"] == pytest.approx(1)
    assert result["v_measure_share"] == pytest.approx(1)


@pytest.mark.parametrize("uses", [12, 30, 400])
def test_there_is_no_share_of_a_bound_that_is_none(uses):
    lines, truth = text(learnable=(), noise=("hard", "noise"), uses=uses)
    task = PseudoWordTask(lines, truth)
    bounds = task.baselines(vectors(), sample=0)
    assert any(note.startswith("the supervised V is no bound: it is 0.") for note in bounds.notes)
    result = task(knows(*truth))
    assert result["v_measure_share"] is result["ari_share"] is None
    assert any(note.startswith("no share of the supervised V: it is 0.") for note in result.notes)
    assert "% of the supervised bound" not in str(result)


def test_a_bound_below_k_means_is_none():
    lines, truth = text(learnable=("easy",), noise=())
    task = PseudoWordTask(lines, truth)
    bounds = task.baselines(vectors(), sample=0)
    answers = bounds.answers["supervised"]
    answers[: len(answers) // 4] = 1 - task.occurrences.truth[: len(answers) // 4]  # of too few examples, say
    chosen = np.where(np.arange(len(answers)) == len(answers) - 1, -1, task.occurrences.truth)  # so it is scored anew
    result = task.score(chosen)
    assert result["v_measure_share"] is None
    assert "below the 1.000 of k-means 2, which sees no labels" in str(result)


def test_bounds_of_other_occurrences_are_refused():
    lines, truth = text()
    task, thinned = PseudoWordTask(lines, truth), PseudoWordTask(lines, truth, max_occurrences=20)
    thinned.bounds = task.baselines(vectors(), sample=0)
    with pytest.raises(ValueError, match="bounds are of a task with other occurrences; call baselines of this one"):
        thinned(knows(*truth))


def test_baselines_run_on_one_thread():
    """On a busy machine the threads of BLAS and OpenMP wait for each other for ten times as long as they work."""
    threadpoolctl = pytest.importorskip("threadpoolctl")
    seen = []

    lines, truth = text(uses=20)
    task = PseudoWordTask(lines, truth)
    with pytest.MonkeyPatch.context() as patch:
        from muse.evaluation import bounds

        inner = bounds.k_means
        count = lambda *given: seen.append(threadpoolctl.threadpool_info()) or inner(*given)  # noqa: E731
        patch.setattr(bounds, "k_means", count)
        task.baselines(vectors(), sample=0)
    assert seen
    assert {library["num_threads"] for libraries in seen for library in libraries} == {1}
    with one_thread():
        assert {library["num_threads"] for library in threadpoolctl.threadpool_info()} == {1}


def test_vectors_may_be_a_model_and_clusters_one_number():
    lines, truth = text(uses=40)
    task = PseudoWordTask(lines, truth)
    model = SenseKeyedVectors({word: row[None] for word, row in vectors().items()})
    found = task.baselines(model, sample=0, clusters=2)
    assert found.to_dict() == PseudoWordTask(lines, truth).baselines(vectors(), sample=0, clusters=[2]).to_dict()
    assert [row["method"] for row in found.table] == ["majority", "k-means 2", "supervised"]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        (3, {}, r"vectors must have `word in vectors` and `vectors\[word\]`, as model\.wv.*; got int"),
        ("a.txt", {}, r"as model\.wv, gensim KeyedVectors and a dict of arrays do; got str"),
        (None, {"clusters": "2"}, r"clusters must be a number of clusters or several, as in \(2, 3\); got '2'"),
        (None, {"clusters": None}, "clusters must be a number of clusters or several"),
        (None, {"clusters": 2.0}, "clusters must be a number of clusters or several"),
        (None, {"clusters": (2, 3.0)}, "each of clusters must be an integer of at least 2; got 3.0"),
        (None, {"window": "5"}, "window must be an integer of at least 1; got '5'"),
        (None, {"folds": None}, "folds must be an integer of at least 2; got None"),
        (None, {"seed": "x"}, "seed must be an integer of at least 0; got 'x'"),
        (None, {"sample": "1e-4"}, "sample must be a number from 0 to inf; got '1e-4'"),
    ],
)
def test_options_of_the_wrong_type_are_named(given, options, message):
    lines, truth = text(uses=20)
    with pytest.raises(TypeError, match=message):
        PseudoWordTask(lines, truth).baselines(vectors() if given is None else given, **options)
