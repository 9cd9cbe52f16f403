"""One model, several threads or calls within calls: one change at a time, and answers that are of one state."""

from __future__ import annotations

import copy
import threading
import warnings

import pytest

from muse import MUSE, Callback, FormatWarning
from muse.datasets import make_ambiguous_corpus
from muse.model.guard import Call

CORPUS = make_ambiguous_corpus(300, 100, seed=0)
SMALL = {"vector_size": 8, "workers": 1, "min_count": 1, "senses": 2, "seed": 1}
NEW = [["novelty", "bank"]] * 20


@pytest.fixture(scope="module")
def trained() -> MUSE:
    return MUSE(CORPUS.sentences, epochs=1, **SMALL)


@pytest.fixture
def model(trained) -> MUSE:
    return copy.deepcopy(trained)


def calls(folder) -> dict:
    return {
        "train": lambda model: model.train(NEW),
        "build_vocab": lambda model: model.build_vocab(NEW, update=True),
        "build_vocab_from_freq": lambda model: model.build_vocab_from_freq({"novelty": 9}, update=True),
        "merge_senses": lambda model: model.merge_senses(),
        "prune_senses": lambda model: model.prune_senses(),
        "set_arrays": lambda model: model.set_arrays(model.arrays),
        "save": lambda model: model.save(folder / "m"),
        "export": lambda model: export(model, folder / "e"),
        "tag_corpus": lambda model: model.tag_corpus(folder / "text", folder / "tagged"),
        "pickle and copy": copy.deepcopy,
    }


def export(model, path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FormatWarning)
        model.export(path, "sensegram")


class Pause:
    """Sentences of a generator that waits in the midst until it is let go."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()

    def sentences(self):
        yield from NEW
        self.reached.set()
        assert self.go_on.wait(60)
        yield from NEW


@pytest.mark.parametrize("changing", ["train", "build_vocab"])
@pytest.mark.parametrize("call", list(calls(None)))
def test_a_second_change_is_refused_while_text_is_read(model, call, changing, tmp_path):
    (tmp_path / "text").write_text("the bank\n")
    pause, words = Pause(), len(model)
    options = {"update": True} if changing == "build_vocab" else {"epochs": 1}
    thread = threading.Thread(target=lambda: getattr(model, changing)(pause.sentences(), **options))
    thread.start()
    try:
        assert pause.reached.wait(60)
        doing = "the model is in training" if changing == "train" else "build_vocab changes the model"
        says = rf"^{call} cannot be called while {doing}; call it when {changing} has ended$"
        with pytest.raises(RuntimeError, match=says):
            calls(tmp_path)[call](model)
        assert model.sense_probabilities("bank", "the bank").sum() == pytest.approx(1)  # as it was
    finally:
        pause.go_on.set()
        thread.join()
    assert len(model) == words + (changing == "build_vocab")
    calls(tmp_path)[call](model)  # it is free again
    model.save(tmp_path / "m")


@pytest.mark.parametrize("call", ["train", "build_vocab", "build_vocab_from_freq", "merge_senses", "prune_senses"])
def test_a_generator_that_changes_the_model_which_reads_it_is_refused(model, call, tmp_path):
    def sentences():
        yield from NEW
        calls(tmp_path)[call](model)

    with pytest.raises(RuntimeError, match=f"{call} cannot be called while build_vocab changes the model"):
        model.build_vocab(sentences(), update=True)
    model.build_vocab(NEW, update=True)
    model.train(epochs=1)
    model.save(tmp_path / "m")


def test_a_rule_that_changes_the_model_which_asks_it_is_refused(model):
    with pytest.raises(RuntimeError, match="merge_senses cannot be called while build_vocab_from_freq changes"):
        model.build_vocab_from_freq({"novelty": 9}, update=True, trim_rule=lambda *_: model.merge_senses())


def test_callbacks_may_save_copy_and_ask_and_set_the_same_arrays(tmp_path):
    class Busy(Callback):
        def on_epoch_end(self, model):
            model.save(tmp_path / "m")
            again = copy.deepcopy(model)
            again.merge_senses()  # another model
            model.set_arrays(model.arrays)
            model.tag_corpus(tmp_path / "text", tmp_path / "tagged")
            seen.append(model.sv.most_similar("bank#0"))

    seen: list = []
    (tmp_path / "text").write_text("the bank\n")
    MUSE(CORPUS.sentences, epochs=2, callbacks=[Busy()], **SMALL)
    assert len(seen) == 3  # two epochs, and the trees


def test_two_threads_save_one_model_at_once(model, tmp_path):
    barrier, failed = threading.Barrier(2), []

    def save(name):
        barrier.wait()
        try:
            for _ in range(20):
                model.save(tmp_path / name)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=save, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, text: str(model.describe("bank", corpus=text)),
        lambda model, text: [senses.tolist() for senses in model.disambiguate_batch(text)],
        lambda model, text: [block.senses.tolist() for block in model.disambiguate_blocks(text)],
    ],
)
def test_a_question_that_has_begun_is_answered_from_what_the_model_was(model, ask):
    class Text(list):
        def __iter__(self):
            model.build_vocab_from_freq({"novelty": 9}, update=True)
            model.set_arrays(mirrored(model))
            return super().__iter__()

    sentences = [["the", "bank", "novelty"]] * 5
    before = ask(model, sentences)
    assert ask(model, Text(sentences)) == before  # without the new word, and with the old vectors
    assert "novelty" in model
    assert ask(model, sentences) != before


def mirrored(model):
    """The arrays with other vectors of senses."""
    arrays = copy.deepcopy(model.arrays)
    arrays.selection_vectors[:] = -arrays.selection_vectors
    arrays.sense_vectors[:] = arrays.sense_vectors[::-1].copy()
    return arrays


def test_an_interrupted_change_lets_go_of_the_model(model):
    def sentences():
        yield from NEW
        raise KeyboardInterrupt

    for method in (model.train, lambda text: model.build_vocab(text, update=True)):
        with pytest.raises(KeyboardInterrupt):
            method(sentences())
    model.merge_senses()


def test_a_call_that_is_about_to_be_refused_stops_no_training(model, tmp_path):
    """Such a call stands among those under way until it has been refused; the training beside it goes on."""

    class AtTheDoor(Callback):
        def on_epoch_begin(self, model):
            thread = threading.Thread(target=lambda: model._calls.setdefault(Call("save", "is reading")))
            thread.start()
            thread.join()

        def on_epoch_end(self, model):
            assert len(model._calls) > 1
            model.set_arrays(model.arrays)
            model.save(tmp_path / "m")

    model.train(NEW, epochs=3, callbacks=[AtTheDoor()])
    assert [row["epoch"] for row in model.history[-4:]] == [1, 2, 3, 3]  # the last one of the trees
