"""Training: what it learns, what it reports, and how it stops and goes on."""

from __future__ import annotations

import itertools
import logging
import re

import numpy as np
import pytest

import muse.base.cuda
import muse.training.counting
from muse import MUSE, Callback, DivergenceError, Split
from muse.datasets import AmbiguousCorpus, make_ambiguous_corpus
from muse.evaluation.clustering import v_measure
from resolved import arguments
from small_runs import CORPUS, RESOLVED, TINY, Recorder, StopAfter, file_of, train

STRATEGIES = ("greedy", "eps_greedy", "boltzmann", "policy", "smooth_policy")
FORMULATIONS = ("one_sided", "two_sided", "factorized")


def sense_score(model: MUSE, corpus: AmbiguousCorpus) -> float:
    """Mean V-measure of the selected senses over the ambiguous words; 0 is what a constant guess gets."""
    selected = list(model.disambiguate_batch(corpus.sentences))
    scores = []
    for places in corpus.occurrences().values():
        truth = [sense for _, _, sense in places]
        scores.append(v_measure(truth, [int(selected[sentence][position]) for sentence, position, _ in places])[2])
    return float(np.mean(scores))


# -- what is learned ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def larger() -> AmbiguousCorpus:
    return make_ambiguous_corpus(6000, 400, seed=0)


def test_senses_are_recovered_and_two_workers_do_as_well(larger):
    one = MUSE(larger.sentences, vector_size=32, workers=1)
    two = MUSE(larger.sentences, vector_size=32, workers=2)
    assert sense_score(one, larger) > 0.55  # 0.69; random senses get 0.00, as does one sense
    assert abs(sense_score(two, larger) - sense_score(one, larger)) < 0.06


def test_auto_gives_most_words_one_sense_and_ambiguous_words_several(larger):
    model = MUSE(larger.sentences, vector_size=32, workers=1, recipe=Split())
    several = np.diff(model.arrays.sense_offset) > 1
    ambiguous = np.array([word in larger.ambiguous_words for word in model.vocabulary.words])
    assert several[ambiguous].mean() > 0.7
    assert several[~ambiguous].mean() < 0.5


def test_loss_decreases():
    losses = [row["loss"] for row in train(epochs=8, senses=1, sample=0, alpha=0.05).history]
    assert losses[-1] < losses[3] < losses[0]


@pytest.mark.parametrize("init", ["split", "random"])
@pytest.mark.parametrize(("strategy", "formulation"), list(itertools.product(STRATEGIES, FORMULATIONS)))
def test_every_strategy_and_formulation_trains(strategy, formulation, init):
    options = {"strategy": strategy, "formulation": formulation, "init": init, "senses": 2, "epochs": 3}
    if formulation == "factorized" and strategy in ("policy", "smooth_policy"):
        with pytest.raises(ValueError, match="cannot be used with formulation='factorized'"):
            train(**options)
        return
    before = train(**{**options, "epochs": 1, "init": "random"})
    model = train(**options)
    model.arrays.check()
    model.arrays.check_finite()
    assert (model.arrays.sense_vectors[:2] != before.arrays.sense_vectors[:2]).any()
    assert model.arrays.collocation_vectors.any()
    assert model.arrays.sense_counts.sum() == model.vocabulary.counts.sum()
    assert (model.arrays.forward_values is not None) == (formulation == "factorized")
    for row in model.history:
        assert all(np.isfinite(value) for value in row.values() if not isinstance(value, str))


def test_one_sense_a_word():
    model = train(senses=1, epochs=2)
    assert model.arrays.n_senses == len(model)
    assert [row["stage"] for row in model.history] == ["senses", "senses"]  # nothing to split
    assert model.history[-1]["senses_used"] == 1
    assert model.select_sense("bank", "the bank") == 0


@pytest.mark.parametrize("init", ["split", "random"])
def test_senses_of_some_words(init):
    model = train(senses={"bank": 2, "not in the text": 7}, init=init, epochs=2, min_contexts=2)
    assert model.n_senses("bank") == 2
    assert model.arrays.n_senses == len(model) + 1


def test_rare_words_get_fewer_senses():
    model = train(senses=3, min_contexts=10, epochs=2)
    senses = np.diff(model.arrays.sense_offset)
    counts = model.vocabulary.counts
    assert (senses[counts < 20] == 1).all()
    assert (senses[counts >= 200] == 3).mean() > 0.8


def test_counts_of_senses_are_those_of_the_selector():
    model = train(epochs=2)
    counts = np.zeros(model.arrays.n_senses, np.int64)
    for sentence, senses in zip(CORPUS.sentences, model.disambiguate_batch(CORPUS.sentences), strict=True):
        for token, sense in zip(sentence, senses, strict=True):
            if sense >= 0:
                counts[model.arrays.sense_offset[model.vocabulary.index(token)] + sense] += 1
    np.testing.assert_array_equal(model.arrays.sense_counts, counts)
    np.testing.assert_array_equal(np.add.reduceat(counts, model.arrays.sense_offset[:-1]), model.vocabulary.counts)


def test_counting_in_blocks_changes_nothing(monkeypatch):
    whole = train(epochs=2).arrays.sense_counts
    monkeypatch.setattr(muse.training.counting, "_COUNTED_TOKENS", 100)
    np.testing.assert_array_equal(train(epochs=2).arrays.sense_counts, whole)


# -- the same again ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"init": "random", "strategy": "boltzmann", "formulation": "factorized"}])
def test_one_worker_gives_the_same_bytes(tmp_path, options):
    first = file_of(train(epochs=3, **options), tmp_path)
    assert file_of(train(epochs=3, **options), tmp_path) == first
    assert file_of(train(epochs=3, seed=4, **options), tmp_path) != first


def test_a_corpus_file_gives_the_same_bytes_as_sentences(tmp_path):
    text = tmp_path / "text"
    text.write_text("".join(" ".join(sentence) + "\n" for sentence in CORPUS.sentences), encoding="utf-8")
    from_file = MUSE(corpus_file=text, epochs=2, **TINY)
    assert file_of(from_file, tmp_path) == file_of(train(epochs=2), tmp_path)


def test_training_twice_goes_on():
    model = train(epochs=3, sample=0)
    offset, loss = model.arrays.sense_offset.copy(), model.history[-1]["loss"]
    model.train(CORPUS.sentences, epochs=2)
    assert [row["epoch"] for row in model.history] == [1, 2, 3, 1, 2]
    assert [row["stage"] for row in model.history] == ["words", "senses", "senses", "senses", "senses"]
    assert model.history[-1]["loss"] < loss
    np.testing.assert_array_equal(model.arrays.sense_offset, offset)


def test_new_words_join_a_trained_model():
    model = train(epochs=2)
    senses, bank = model.arrays.n_senses, model.sense_vectors("bank")
    model.build_vocab([["zyzzyva", "bank", "money", "loan"]] * 20, update=True)
    assert model.n_senses("zyzzyva") == 1
    np.testing.assert_array_equal(model.sense_vectors("bank"), bank)
    before = model.sense_vectors("zyzzyva")
    model.train()
    assert (model.sense_vectors("zyzzyva") != before).any()
    assert model.arrays.n_senses == senses + 1
    model.arrays.check_finite()


# -- what is reported --------------------------------------------------------------------------------------------------


def test_rows_of_history_are_documented():
    model = train(epochs=4)
    assert [row["stage"] for row in model.history] == ["words", "words", "senses", "senses"]
    assert [row["epoch"] for row in model.history] == [1, 2, 3, 4]
    for row in model.history:
        assert all(f"``{name}``" in MUSE.train.__doc__ for name in row)
        assert row["tokens"] == model.vocabulary.counts.sum()
        assert row["pairs"] > 0
        assert row["tokens_per_second"] == pytest.approx(row["tokens"] / row["seconds"])
        assert 0 < row["reward"] < 1
        assert row["loss"] > 0
    first, last = model.history[0], model.history[-1]
    assert first["alpha"] == pytest.approx(0.025)
    assert last["alpha"] < first["alpha"]
    assert (first["senses_used"], first["collapsed"]) == (1.0, 0.0)
    assert 1 < last["senses_used"] <= 3
    arrays = model.arrays
    assert last["context_norm"] == pytest.approx(np.linalg.norm(arrays.context_vectors, axis=1).max(), rel=1e-5)
    assert last["selection_norm"] == pytest.approx(np.linalg.norm(arrays.selection_vectors, axis=1).max(), rel=1e-5)
    assert 0 < last["selection_entropy"] <= np.log(3) + 1e-6


def test_one_epoch_is_shared_by_words_and_senses():
    model = train(epochs=1)
    assert [(row["epoch"], row["stage"]) for row in model.history] == [(1, "words"), (1, "senses")]
    assert sum(row["tokens"] for row in model.history) == model.vocabulary.counts.sum()


def test_log_lines(caplog):
    caplog.set_level(logging.INFO, "muse")
    train(epochs=2)
    lines = [record.getMessage() for record in caplog.records if record.name == "muse"]
    assert re.match(r"epoch 1 of 2 \(words\): \d+ thousand tokens/s, loss \d\.\d+, reward 0\.\d+, \|P\|", lines[0])
    assert re.match(r"splitting \d+ words into senses$", lines[1])
    assert re.match(r"split \d+ words into \d+ senses; \d+ words have more than one", lines[2])
    assert re.search(r"; in the \d+ words that have several senses: senses used \d\.\d+, collapsed \d+%$", lines[-1])
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


EXPLODING = {
    "init": "random", "selection_update": "paper", "context": "sum", "train_context_vectors": True, "max_norm": 0,
    "senses": 3, "alpha": 0.1, "context_center": True,
}  # fmt: skip


def warnings_of(caplog):
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_exploding_norms_are_warned_about(caplog):
    model = train(**EXPLODING, selection_alpha=15, epochs=4)
    grown = [row["epoch"] for row in model.history if max(row["context_norm"], row["selection_norm"]) > 100]
    assert grown
    warnings = warnings_of(caplog)
    assert len(warnings) == len(grown)
    for epoch, warning in zip(grown, warnings, strict=True):
        assert warning.startswith(f"epoch {epoch}: vectors of the selection module have grown to length ")


def test_collapse_is_warned_about(caplog):
    model = train(**{**EXPLODING, "max_norm": 30, "alpha": 0.05}, selection_alpha=0.05, epochs=8, sample=0)
    row = model.history[-1]
    assert row["collapsed"] > 0.5
    assert row["senses_used"] < 1.6
    assert re.match(r"epoch 8: in \d+% of the words with several senses one sense takes more than 95% of the uses; try",
                    warnings_of(caplog)[-1])  # fmt: skip


def test_max_norm_bounds_the_selection_module():
    model = train(**{**EXPLODING, "max_norm": 5.0}, selection_alpha=20, epochs=4)
    assert max(row["selection_norm"] for row in model.history) <= 5.0001
    assert max(row["context_norm"] for row in model.history) <= 5.0001


@pytest.mark.parametrize(
    ("options", "sign"),
    [
        ({"alpha": 10, "senses": 2}, "scores grew beyond all bounds"),
        ({**EXPLODING, "selection_alpha": 20, "epochs": 8}, "scores grew beyond all bounds"),
    ],
)
def test_divergence_leaves_the_last_finite_values(options, sign, tmp_path):
    model = MUSE(**arguments(**{**RESOLVED, **options}, checkpoint_dir=tmp_path))
    model.build_vocab(CORPUS.sentences)
    with pytest.raises(DivergenceError, match=r"training diverged in epoch \d+ \(" + sign) as caught:
        model.train()
    assert "the model keeps its last finite values" in str(caught.value)
    assert "Make a new one with a lower alpha" in str(caught.value)
    saved = sorted(tmp_path.iterdir())
    assert ("the last checkpoint is" in str(caught.value)) == bool(saved)
    model.arrays.check_finite()
    model.save(tmp_path / "as it was left")
    assert np.isfinite([similarity for _, similarity in model.sv.most_similar("bank#0")]).all()
    assert model.training_state == {}
    with pytest.raises(ValueError, match="there is no training to resume"):
        model.train(CORPUS.sentences, resume=True)
    assert "bank" in model
    for checkpoint in tmp_path.iterdir():  # from before
        MUSE.load(checkpoint).arrays.check_finite()


@pytest.mark.parametrize("odd", [["noise"] * 8000, ["bank"] * 8000, ["tick", "tock"] * 4000], ids=["new", "old", "two"])
@pytest.mark.parametrize("options", [{}, {"init": "random", "senses": 2}, {"collocates": "one"}, {"negative": 15}])
def test_one_odd_line_does_not_end_a_training(odd, options):
    options = arguments(**{**RESOLVED, "vector_size": 50, "sample": 0, "epochs": 2, "group_size": 16, **options})
    sentences = CORPUS.sentences
    model = MUSE([*sentences[:300], odd, *sentences[300:]], **options)
    usual = MUSE(sentences, **options)
    longest = [
        max(np.linalg.norm(rows, axis=1).max() for rows in (m.arrays.sense_vectors, m.arrays.collocation_vectors))
        for m in (model, usual)
    ]
    assert longest[0] < 25 * longest[1]  # 17 with one instruction set; without smaller steps hundreds, or divergence
    assert model.history[-1]["loss"] < 4 * usual.history[-1]["loss"]


def test_progress_bar(capsys):
    train(epochs=2, progress=True)
    shown = capsys.readouterr().err
    assert re.search(r"reading: 100%.* 600/600 .*sentences/s", shown)
    assert re.search(r"training: 100%.* 18\.2k/18\.2k .*tokens/s", shown)
    train(epochs=2)
    assert capsys.readouterr().err == ""


# -- callbacks ---------------------------------------------------------------------------------------------------------


def test_callbacks_are_called_in_order():
    first = Recorder("first")
    second = Recorder("second", first.calls)
    model = MUSE(callbacks=[first], epochs=2, **TINY)
    model.build_vocab(CORPUS.sentences)
    model.train(callbacks=[second])
    events = [("train begin", 20), ("epoch begin", 0), ("epoch end", 1), ("epoch begin", 1), ("epoch end", 2)]
    events.append(("train end", int(model.vocabulary.counts.sum())))
    assert first.calls == [(name, *event) for event in events for name in ("first", "second")]


@pytest.mark.parametrize("epoch", [1, 3])
def test_a_callback_stops_training_and_it_can_be_resumed(epoch, tmp_path):
    never_stopped = file_of(train(epochs=4), tmp_path)
    model = train(epochs=4, callbacks=[StopAfter(epoch)])
    assert len(model.history) == epoch
    assert model.arrays.sense_counts.sum() == model.vocabulary.counts.sum()
    model.save(tmp_path / "stopped")
    again = MUSE.load(tmp_path / "stopped", workers=1)
    again.train(CORPUS.sentences, resume=True)
    assert file_of(again, tmp_path) == never_stopped


def test_an_error_in_a_callback_ends_training_and_leaves_the_model(tmp_path):
    class Broken(Callback):
        def on_epoch_end(self, model):
            if len(model.history) == 3:
                raise RuntimeError("broken callback")

    model = MUSE(epochs=4, **TINY)
    model.build_vocab(CORPUS.sentences)
    with pytest.raises(RuntimeError, match="broken callback"):
        model.train(callbacks=[Broken()])
    assert model.n_senses("bank") >= 1
    model.train(resume=True)
    assert file_of(model, tmp_path) == file_of(train(epochs=4), tmp_path)


# -- interrupts and checkpoints ----------------------------------------------------------------------------------------


@pytest.fixture
def without_cuda(monkeypatch):
    monkeypatch.setattr(muse.base.cuda, "missing", lambda: "this build of muse has no CUDA backend")


@pytest.mark.usefixtures("without_cuda")
def test_cuda_is_refused_before_the_corpus_is_read():
    sentences = iter(CORPUS.sentences)
    with pytest.raises(RuntimeError, match="device='cuda' is not available: this build of muse has no CUDA backend"):
        MUSE(sentences, device="cuda")
    assert next(sentences) is CORPUS.sentences[0]


@pytest.mark.usefixtures("without_cuda")
def test_auto_falls_back_and_says_so(caplog):
    caplog.set_level(logging.INFO, "muse")
    train(epochs=1, device="auto")
    assert "device='auto': training on the CPU, since this build of muse has no CUDA backend" in caplog.text


def test_training_does_not_begin_within_training():
    class Again:
        def on_epoch_end(self, model):
            with pytest.raises(RuntimeError, match="train cannot be called while the model is in training"):
                model.train(CORPUS.sentences, epochs=1)

    assert len(train(epochs=2, callbacks=[Again()]).history) == 2
