"""An occurrence without a known word around it has the prior of its word, whoever is asked."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import muse.base.cuda
from muse import MUSE, Paper
from toy import toy_model

WORD, UNKNOWN = "head", "xyzzy"
CONTEXTS = ([WORD], [UNKNOWN, WORD, UNKNOWN], [WORD, UNKNOWN])


@pytest.fixture(params=[True, False], ids=["centre", "no centre"])
def model(request):
    """Whose scores say something else than its counts do."""
    return toy_model({"context_center": request.param}, sense_counts=np.array([3, 9, 8, 1, 1, 2, 4, 1, 2, 3, 1, 1, 1]))


def answers(model: MUSE, context: list[str], tmp_path) -> dict[str, int]:
    """The sense of WORD in a context, from all that can be asked."""
    at = context.index(WORD)
    (tmp_path / "in").write_text(" ".join(context) + "\n")
    model.tag_corpus(tmp_path / "in", tmp_path / "out")
    vector = model.sense_vectors(WORD, context, at)
    (block,) = model.disambiguate_blocks([context])
    return {
        "sense_vectors": int(np.flatnonzero((model.sense_vectors(WORD) == vector).all(axis=1))[0]),
        "select_sense": model.select_sense(WORD, context, at),
        "sense_probabilities": int(model.sense_probabilities(WORD, context).argmax()),
        "of several": int(model.sense_probabilities(WORD, contexts=[context, ["army", WORD]])[0].argmax()),
        "batch": int(model.sense_probabilities_batch([WORD], [context])[0].argmax()),
        "disambiguate": model.disambiguate(context)[at].sense,
        "disambiguate_batch": int(next(iter(model.disambiguate_batch([context])))[at]),
        "of a string": int(next(iter(model.disambiguate_batch([" ".join(context)])))[at]),
        "blocks": int(block.senses[at]),
        "tag_corpus": int((tmp_path / "out").read_text().split()[at].partition("#")[2]),
        "choose": int(model.selector.choose(np.array([model.vocabulary[WORD]], np.int32), np.array([0, 1]))[0]),
        "a vector of the sentence": int(
            (model.sv.get_normed_vectors()[: model.n_senses(WORD)] @ model.sentence_vector(context)).argmax()
        ),
    }


@pytest.mark.parametrize("context", CONTEXTS)
def test_all_answers_are_by_the_prior(model, context, tmp_path):
    found = answers(model, context, tmp_path)
    assert set(found.values()) == {int(model.sense_prior(WORD).argmax())} == {1}, found


@pytest.mark.parametrize("context", CONTEXTS)
def test_probabilities_are_the_prior(model, context):
    prior, at = model.sense_prior(WORD), context.index(WORD)
    assert model.sense_probabilities(WORD, context).tolist() == prior.tolist()
    assert model.disambiguate(context)[at].probability == pytest.approx(prior.max())
    (block,) = model.disambiguate_blocks([context])
    assert block.probabilities[at] == pytest.approx(prior.max())
    assert block.margins[at] == pytest.approx(prior[1] - prior[2])


def test_answers_say_so(model):
    assert not model.has_context(WORD, [WORD, UNKNOWN])
    assert not model.has_context(WORD, UNKNOWN)
    assert model.has_context(WORD, "army")
    assert model.has_context(WORD, contexts=[[WORD], [WORD, "army"]]).tolist() == [False, True]
    alone, beside = model.disambiguate([WORD, UNKNOWN])[0], model.disambiguate([WORD, "army"])[0]
    assert (alone.has_context, beside.has_context) == (False, True)
    assert not pickle.loads(pickle.dumps(alone)).has_context
    assert len(alone) == 3  # unpacked as before
    (block,) = model.disambiguate_blocks([[WORD, UNKNOWN], [], [WORD, "army", UNKNOWN], [UNKNOWN]])
    assert block.has_context.tolist() == [False, True, True, True, True, False]


def test_a_word_among_others_is_not_touched(model):
    for context in ([WORD, WORD], [WORD, "army"], ["the", UNKNOWN, WORD]):
        scores = model.sense_probabilities(WORD, context)
        assert abs(scores - model.sense_prior(WORD)).max() > 1e-3
        assert model.disambiguate(context)[context.index(WORD)].probability == pytest.approx(scores.max(), abs=1e-5)


def test_a_device_says_the_same(model, on_device, tmp_path):
    assert muse.base.cuda.is_available()
    device = MUSE.from_arrays(model.vocabulary, model.arrays, model.settings.replace(device="cuda"))
    for context in (*CONTEXTS, [WORD, "army"]):
        ours, core = device.disambiguate(context), model.disambiguate(context)
        assert [token.sense for token in ours] == [token.sense for token in core]
        for one, other in zip(ours, core, strict=True):
            assert one.probability == pytest.approx(other.probability, abs=1e-5)
    rows = np.array([model.vocabulary[WORD]], np.int32)
    assert device.selector.choose(rows, np.array([0, 1])).tolist() == [1]


@pytest.mark.parametrize("recipe", [None, Paper(max_norm=5.0)], ids=["split", "paper"])
def test_titles_of_one_word_leave_the_shares(recipe):
    rng = random.Random(0)
    money, water = "money loan credit account".split(), "river water boat fish".split()
    text = [[*rng.sample(water if i % 4 == 0 else money, 3), "bank"] for i in range(2000)]
    for sentence in text:
        rng.shuffle(sentence)
    titles = [*text, *[["bank"]] * 2000]
    rng.shuffle(titles)
    shares = []
    for lines in (text, titles):
        model = MUSE(lines, min_count=1, vector_size=16, workers=1, senses={"bank": 2}, sample=0, recipe=recipe)
        shares.append(sorted(model.sense_prior("bank")))
        assert model.sense_counts("bank").sum() == model.vocabulary.counts[model.vocabulary["bank"]]
    np.testing.assert_allclose(shares[0], shares[1], atol=0.02 if recipe is None else 0.3)
    if recipe is None:
        np.testing.assert_allclose(shares[1], [0.25, 0.75], atol=0.02)
