"""Where writing files goes wrong: files for folders, long names, other programs, another directory."""

from __future__ import annotations

import os

import pytest

from muse import MUSE, Callback, Vocabulary
from muse.files.replacing import name_beside
from muse.formats.sense2vec_folder import new_folder
from muse.training.checkpoints import CHECKPOINT_NAME
from toy import WORDS, toy_arrays, toy_model

SENTENCES = [["the", "head", "of", "the", "army"]] * 30


@pytest.mark.parametrize("below", ["m", "x/m", "x/y/m"])
def test_a_file_where_a_folder_is_needed(below, tmp_path):
    (tmp_path / "t.txt").write_text("the head\n")
    path = tmp_path / "t.txt" / below
    for write in (
        toy_model().save,
        lambda path: toy_model().tag_corpus(tmp_path / "t.txt", path),
        lambda path: new_folder(path).__enter__(),
    ):
        with pytest.raises(NotADirectoryError, match=r"is a file, not a folder; .*: '.*/t\.txt'$"):
            write(path)
    assert (tmp_path / "t.txt").read_text() == "the head\n"


@pytest.mark.parametrize("name", ["o" * 250, "o" * 255, "ö" * 125, "o" * 245 + ".gz", "𝄞" * 63])
def test_a_text_is_tagged_to_a_file_with_any_name(name, tmp_path):
    (tmp_path / "text").write_text("the head\n")
    report = toy_model().tag_corpus(tmp_path / "text", tmp_path / name)
    assert report.tagged == 2
    assert sorted(os.listdir(tmp_path)) == sorted([name, "text"])


def test_a_model_is_saved_under_a_name_of_many_bytes(tmp_path):
    toy_model().save(tmp_path / ("𝄞" * 63))
    assert MUSE.load(tmp_path / ("𝄞" * 63)).n_senses("head")


def test_names_beside_long_names_differ_and_short_ones_are_plain(tmp_path):
    assert name_beside(tmp_path / "out.gz", ".partial") == tmp_path / "out.gz.partial"
    long = [name_beside(tmp_path / ("o" * 249 + last), ending) for last in "ab" for ending in (".partial", ".x.json")]
    assert len(set(long)) == 4
    assert all(len(path.name) <= 255 for path in long)


def test_a_long_name_is_resumed(tmp_path, monkeypatch):
    (tmp_path / "text").write_text("the head of the army\n" * 2000)
    out, model = tmp_path / ("o" * 250), toy_model()
    monkeypatch.setattr("muse.selector.tag_file._PIECE", 1 << 10)
    monkeypatch.setattr("muse.files.lines._CHUNK", 1 << 10)

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("muse.base.progress._Hidden.update", stop)
        with pytest.raises(KeyboardInterrupt):
            model.tag_corpus(tmp_path / "text", out)
    assert len(os.listdir(tmp_path)) == 3
    assert model.tag_corpus(tmp_path / "text", out, resume=True).tokens == 10_000
    assert sorted(os.listdir(tmp_path)) == sorted([out.name, "text"])


@pytest.mark.parametrize("harm", ["cut", "changed", "longer"])
def test_a_tagged_text_that_another_program_changed_is_no_success(harm, tmp_path, monkeypatch):
    (tmp_path / "text").write_text("the head of the army\n" * 2000)
    out, model = tmp_path / "out", toy_model()
    monkeypatch.setattr("muse.selector.tag_file._PIECE", 1 << 10)
    monkeypatch.setattr("muse.files.lines._CHUNK", 1 << 10)
    calls = []

    def interfere(*_):
        calls.append(1)
        if len(calls) == 20:
            with open(tmp_path / "out.partial", "r+b") as file:
                if harm == "cut":
                    file.truncate(10)
                else:
                    file.seek(*((3, os.SEEK_SET) if harm == "changed" else (1 << 20, os.SEEK_END)))
                    file.write(b"!")

    with monkeypatch.context() as patch:
        patch.setattr("muse.base.progress._Hidden.update", interfere)
        with pytest.raises(OSError, match=r"was changed by another program; tag the text again: '.*\.partial'"):
            model.tag_corpus(tmp_path / "text", out)
    assert not out.exists()
    model.tag_corpus(tmp_path / "text", tmp_path / "expected")
    model.tag_corpus(tmp_path / "text", out)
    assert out.read_bytes() == (tmp_path / "expected").read_bytes()


def test_checkpoints_stay_where_they_were_when_a_callback_goes_elsewhere(tmp_path, monkeypatch):
    class Wanderer(Callback):
        def on_epoch_end(self, model):
            os.chdir(tmp_path / "elsewhere")

    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    model = MUSE(min_count=1, vector_size=4, workers=1, epochs=3, checkpoint_dir="here", callbacks=[Wanderer()])
    model.build_vocab(SENTENCES)
    model.train()
    assert os.listdir(tmp_path / "elsewhere") == []
    assert len(MUSE.load(tmp_path / "here" / CHECKPOINT_NAME).history) == 4  # three epochs, and the trees


def test_counts_that_no_file_holds_are_refused_at_once():
    for name in ("word_counts", "sense_counts"):
        counts = getattr(toy_arrays(), name).copy()
        counts[0] = 2**63 - 1
        with pytest.raises(ValueError, match=f"{name} must add up to 2\\^62 at most; scale the counts down"):
            MUSE.from_arrays(WORDS, toy_arrays(**{name: counts}))
    with pytest.raises(ValueError, match="counts must not add up to more than"):
        Vocabulary(["a", "b"], [2**62, 2**62])
    with pytest.raises(ValueError, match="raw_words must not be more than"):
        Vocabulary(["a"], [1], raw_words=2**63)


def test_counts_up_to_the_limit_are_saved(tmp_path):
    counts = toy_arrays().word_counts.copy()
    counts[:] = 0
    counts[0] = 2**62
    MUSE.from_arrays(WORDS, toy_arrays(word_counts=counts)).save(tmp_path / "m")
    assert MUSE.load(tmp_path / "m").corpus_total_words == 2**62
