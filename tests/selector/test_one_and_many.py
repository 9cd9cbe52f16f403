"""A question about one context has the answer that it has among others, from any thread."""

from __future__ import annotations

import copy
import pickle
import random
import threading

import numpy as np
import pytest

from muse import MUSE, Split, _core
from muse.datasets import make_ambiguous_corpus

CORPUS = make_ambiguous_corpus(1500, 200, seed=3).sentences
RECIPES = {"trees": {}, "split": {"recipe": Split()}}


@pytest.fixture(scope="module", params=RECIPES)
def model(request) -> MUSE:
    return MUSE(CORPUS, senses=3, vector_size=12, min_count=2, epochs=2, workers=1, seed=1, **RECIPES[request.param])


@pytest.fixture(scope="module")
def questions(model) -> list[tuple[str, list[str], int | None]]:
    """Words in contexts of all kinds: with and without the word, a place, unknown words, or any word."""
    rng, asked = random.Random(1), []
    words = [word for word in model.vocabulary if model.n_senses(word) > 1][:12]
    for _ in range(150):
        context = [*rng.choice(CORPUS), *rng.choice(CORPUS) * rng.choice((0, 0, 5))]
        for place in range(len(context)):
            if rng.random() < 0.2:
                context[place] = "xyzzy"
        word = rng.choice(words)
        places = [place for place, token in enumerate(context) if token == word]
        asked.append((word, context, rng.choice([None, *places])))
    return [*asked, (words[0], [], None), (words[0], [words[0]], 0), (words[1], ["xyzzy", words[1]], None)]


def test_one_answer_is_that_among_others(model, questions):
    words, contexts, positions = (list(column) for column in zip(*questions, strict=True))
    batch = model.sense_probabilities_batch(words, contexts, positions)
    for (word, context, position), shares in zip(questions, batch, strict=True):
        assert model.sense_probabilities(word, context, position).tolist() == shares.tolist()
        assert shares.sum() == pytest.approx(1, abs=1e-6)
        number = int(model.sense_numbers(word)[shares.argmax()])
        assert model.select_sense(word, context, position) == number
        assert model.select_sense(word, " ".join(context), position) == number
        vector = model.sense_vectors(word)[shares.argmax()]
        assert model.sense_vectors(word, context, position).tolist() == vector.tolist()
    for word in set(words):
        mine = [i for i, other in enumerate(words) if other == word]
        several = model.sense_probabilities(
            word, contexts=[contexts[i] for i in mine], positions=[positions[i] for i in mine]
        )
        assert several.tolist() == [batch[i].tolist() for i in mine]


def test_threads_get_the_answers_of_one(model, questions):
    fresh = copy.deepcopy(model)  # threads race for what is made at the first question
    expected = [model.sense_probabilities(*asked).tolist() for asked in questions]
    keys = [f"{word}#{model.sense_numbers(word)[0]}" for word, _, _ in questions]
    near = [model.sv.most_similar(key, topn=3) for key in keys]
    wrong, begin = [], threading.Barrier(4)

    def ask() -> None:
        begin.wait()
        for _ in range(3):
            for asked, key, shares, neighbours in zip(questions, keys, expected, near, strict=True):
                if fresh.sense_probabilities(*asked).tolist() != shares:
                    wrong.append(asked)
                if fresh.sv.most_similar(key, topn=3) != neighbours:
                    wrong.append(key)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_model_of_a_mapped_file_and_of_a_pickle_answer_alike(model, questions, tmp_path):
    model.save(tmp_path / "m")
    others = [MUSE.load(tmp_path / "m", mmap=True, workers=1), MUSE.load(tmp_path / "m"),
              pickle.loads(pickle.dumps(model))]  # fmt: skip
    for asked in questions[:20]:
        shares, key = model.sense_probabilities(*asked), (asked[0], int(model.sense_numbers(asked[0])[0]))
        for other in others:
            assert other.sense_probabilities(*asked).tolist() == shares.tolist()
            assert other.sv.most_similar(key) == model.sv.most_similar(key)


def test_a_long_text_is_a_context_too(model):
    word = next(word for word in model.vocabulary if model.n_senses(word) > 1)
    text = [token for sentence in CORPUS for token in sentence] * 3
    shares = model.sense_probabilities(word, text)
    assert shares.tolist() == model.sense_probabilities_batch([word], [text])[0].tolist()
    assert shares.sum() == pytest.approx(1)


# -- what the core refuses ---------------------------------------------------------------------------------------------


def selector(**changed) -> _core.Selector:
    given = {
        "context_vectors": np.eye(4, dtype=np.float32), "selection_vectors": np.eye(8, 4, dtype=np.float32),
        "sense_offset": np.arange(0, 9, 2), "context_weights": np.empty(0, np.float32),
        "options": _core.SelectionOptions(), **changed,
    }  # fmt: skip
    return _core.Selector(**given)


def test_good_questions():
    given = selector(prior=np.linspace(0, 1, 8, dtype=np.float32))
    asked = [0, 1, 0, 2], [0, 3, 3, 4], [0, -1, 0], [0, 1, 2]
    assert given.scores(*asked).shape == (6,)
    shares = given.probabilities(*asked, workers=3)
    assert shares[:2].sum() == pytest.approx(1)
    np.testing.assert_allclose(shares[2:], np.linspace(0, 1, 8)[2:6], rtol=1e-6)  # nothing stands around these
    assert given.probabilities([], [0], [], []).tolist() == []
    assert _core.has_context(asked[1], asked[2]) == [True, False, False]


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (([4], [0, 1], [0], [0]), "token id"),
        (([-1], [0, 1], [0], [0]), "token id"),
        (([0], [0, 1], [0], [4]), "vocabulary"),
        (([0], [0, 1], [0], [-1]), "vocabulary"),
        (([0], [0, 1], [1], [0]), "position"),
        (([0], [0, 1], [-2], [0]), "position"),
        (([0], [0, 2], [0], [0]), "offsets"),
        (([0], [1, 1], [0], [0]), "offsets"),
        (([0], [0, 1, 0], [0, 0], [0, 0]), "offsets"),
        (([0], [], [], []), "offsets"),
        (([0], [0, 1], [0], []), "do not fit together"),
        (([0], [0, 1], [], [0]), "do not fit together"),
    ],
)
def test_questions_that_do_not_fit(asked, says):
    for ask in (selector().scores, selector().probabilities):
        with pytest.raises(ValueError, match=says):
            ask(*asked)


def test_numbers_beyond_what_ids_are():
    with pytest.raises(TypeError):
        selector().scores([2**40], [0, 1], [0], [0])
    with pytest.raises(ValueError, match="do not fit together"):
        _core.has_context([0, 1], [])


@pytest.mark.parametrize("changed", [{"temperature": 0.0}, {"prior": np.ones(3, np.float32)}])
def test_selectors_that_do_not_fit(changed):
    with pytest.raises(ValueError, match=r"temperature must be above 0|one number a sense"):
        selector(**changed)


def test_scores_that_are_no_numbers_are_said():
    huge = np.full((4, 4), 3e38, np.float32)
    with pytest.raises(ValueError, match="not a finite number"):
        selector(context_vectors=huge, selection_vectors=np.repeat(huge, 2, axis=0)).probabilities(
            [0, 1], [0, 2], [0], [0]
        )
