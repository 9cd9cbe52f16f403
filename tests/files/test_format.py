"""The model file: round trips, memory mapping, and what damaged files do."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import muse.data.memory
from muse import MUSE, InsufficientMemoryError, ModelFileError, Settings, encode_corpus
from muse.data.training_state import SUMS
from muse.files import tensor_file
from toy import WORDS, toy_arrays, toy_model


def edit(path, change_header=None, **tensors):
    """Rewrite a file with some tensors (None: removed) or its metadata changed."""
    with safe_open(path, framework="np") as file:
        metadata = dict(file.metadata())
    metadata.pop("checksums", None)  # as another tool would write it
    if change_header is not None:
        change_header(metadata)
    kept = {**load_file(path), **tensors}
    save_file({name: array for name, array in kept.items() if array is not None}, path, metadata)


def edit_model(path, **changes):
    def change(metadata):
        metadata["model"] = json.dumps({**json.loads(metadata["model"]), **changes})

    edit(path, change)


# -- round trips -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_everything_comes_back(tmp_path, mmap, padded):
    given_settings = {"strategy": "boltzmann", "senses": {"head": 3}, "min_alpha": None, "window": 3}
    model = toy_model(given_settings)
    if padded:
        model.set_arrays(model.arrays.for_training())
    model.history.append({"epoch": 0, "loss": np.float32(1.5), "reward": float("nan"), "norms": np.array([1, 2])})
    model.training_state["epochs_done"] = 1
    model.vocabulary.raw_words, model.vocabulary.effective_min_count = 12345, 7
    model.save(tmp_path / "m")
    again = MUSE.load(tmp_path / "m", mmap=mmap, workers=2)
    assert tuple(again.vocabulary.words) == WORDS  # spaces, emoji, #, a line break and the empty word
    assert again.settings == model.settings.replace(workers=2)
    assert again.history == [{"epoch": 0, "loss": 1.5, "reward": None, "norms": [1, 2]}]
    assert again.training_state == {"epochs_done": 1}
    assert (again.vocabulary.raw_words, again.vocabulary.effective_min_count) == (12345, 7)
    for name, array in model.arrays.as_dict().items():
        np.testing.assert_array_equal(getattr(again.arrays, name), array)
        assert getattr(again.arrays, name).flags.writeable is not (mmap or name == "sense_offset")
    for word in WORDS:
        np.testing.assert_array_equal(again.sense_vectors(word), model.sense_vectors(word))
    assert again.sv.most_similar("new york#1") == model.sv.most_similar("new york#1")
    context = ["the", "new york", "army", "🎉"]
    np.testing.assert_array_equal(
        again.sense_probabilities("head", context), model.sense_probabilities("head", context)
    )
    assert again.disambiguate(context) == model.disambiguate(context)


def test_optional_arrays_and_word_level_collocates_come_back(tmp_path):
    words = toy_arrays().n_words
    extra = {
        "forward_values": np.ones((words, 5), np.float32),
        "backward_values": np.full((words, 5), 2, np.float32),
        "collocation_vectors": np.full((words, 7), 3, np.float32),
    }
    toy_model({"collocation": "word"}, **extra).save(tmp_path / "m")
    again = MUSE.load(tmp_path / "m")
    for name, array in extra.items():
        np.testing.assert_array_equal(getattr(again.arrays, name), array)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(words=st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=9, max_size=9, unique=True))
def test_any_words_come_back(tmp_path, words):
    toy_model(words=tuple(words)).save(tmp_path / "m")
    assert list(MUSE.load(tmp_path / "m").vocabulary.words) == words
    mapped = MUSE.load(tmp_path / "m", mmap=True).vocabulary.words
    assert list(mapped) == words
    assert [mapped[i] for i in range(-9, 9)] == words * 2
    assert mapped[2:5] == words[2:5]


def test_the_same_model_gives_the_same_bytes(tmp_path):
    first, second = toy_model(), toy_model()
    first.history = [{"epoch": 0, "loss": 1.0, "seconds": 3.0, "tokens_per_second": 8.0}]
    second.history = [{"epoch": 0, "loss": 1.0, "seconds": 4.0, "tokens_per_second": 9.0}]
    second.set_arrays(second.arrays.for_training())
    first.save(tmp_path / "1")
    second.save(tmp_path / "2")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    MUSE.load(tmp_path / "1", mmap=True).save(tmp_path / "1")  # onto itself, while it is mapped
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_the_file_is_plain_safetensors_with_aligned_tensors(saved):
    tensors = load_file(saved)
    assert tensors["sense_vectors"].shape == (13, 7)
    words = bytes(tensors["vocabulary"])
    offsets = tensors["vocabulary_offset"]
    assert words[offsets[5] : offsets[6]].decode() == "new york"
    raw = saved.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    assert (8 + size) % 64 == 0
    for name, entry in header.items():
        if name != "__metadata__":
            assert entry["data_offsets"][0] % {"I64": 8, "F32": 4, "U8": 1}[entry["dtype"]] == 0
    assert header["__metadata__"]["format"] == "muse-senses"
    assert header["__metadata__"]["version"] == "1"


def test_rows_are_written_in_blocks(tmp_path, monkeypatch):
    model = toy_model()
    model.save(tmp_path / "1")
    monkeypatch.setattr(tensor_file, "_BLOCK_BYTES", 40)
    model.save(tmp_path / "2")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_mapped_model_can_be_made_trainable(saved):
    arrays = MUSE.load(saved, mmap=True).arrays.for_training()
    arrays.sense_vectors[0] = 1
    arrays.sense_counts[0] = 1
    assert arrays.sense_vectors.strides == (64, 4)


def test_mapping_does_not_read_the_vectors(tmp_path):
    """The resident memory stays far below the size of the file."""
    pytest.importorskip("resource")
    senses = 100_000
    big = np.zeros((senses, 64), np.float32)
    counts = np.ones(senses, np.int64)
    arrays = toy_arrays(
        (1,) * 9, vector_size=64, selection_size=64,
        context_vectors=big, selection_vectors=big, sense_vectors=big, collocation_vectors=big,
        sense_offset=np.arange(senses + 1), sense_counts=counts, word_counts=counts,
    )  # fmt: skip
    MUSE.from_arrays([str(i) for i in range(senses)], arrays).save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size > 100e6
    code = (
        "import sys, resource, time; from muse import MUSE;"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "before = peak(); start = time.process_time(); m = MUSE.load(sys.argv[1], mmap=True);"
        "print(len(m), time.process_time() - start, (peak() - before) / 1024)"
    )
    answer = subprocess.run([sys.executable, "-c", code, tmp_path / "m"], capture_output=True, text=True, check=True)
    words, seconds, megabytes = map(float, answer.stdout.split())
    assert words == senses
    assert seconds < 1  # measured: 10 ms
    assert megabytes < 60


# -- files that are not ours, or damaged -------------------------------------------------------------------------------


def message(path, **options):
    with pytest.raises(ModelFileError) as caught:
        MUSE.load(path, **options)
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert text.startswith(repr(str(path)))
    return text.removeprefix(repr(str(path)) + " ")


AGAIN = "; load another copy of it, or train and save the model again"


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("content", [b"", b"hello", b"3 2\nthe 1 2\n", b"\x80\x04pickle", bytes(100), b"\xff" * 64])
def test_other_files(tmp_path, content, mmap):
    (tmp_path / "m").write_bytes(content)
    assert message(tmp_path / "m", mmap=mmap).startswith("is not a MUSE model file, or it was cut short")


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file '.*nowhere'"):
        MUSE.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError, match="is a folder, not a model file"):
        MUSE.load(tmp_path)


@pytest.mark.parametrize("mmap", [False, True])
def test_safetensors_of_others(tmp_path, mmap):
    save_file({"weight": np.zeros(3, np.float32)}, tmp_path / "m")
    expected = "is a safetensors file, but not a MUSE model; load a file that model.save wrote"
    assert message(tmp_path / "m", mmap=mmap) == expected


def test_newer_versions(saved):
    edit(saved, lambda metadata: metadata.update(version="4"))
    assert message(saved) == "has version 4 of the model format, and this muse reads up to 3; update muse-senses"
    edit(saved, lambda metadata: metadata.update(version="one"))
    assert message(saved) == "is damaged: its version is 'one'" + AGAIN


@pytest.mark.parametrize(
    ("tensors", "what"),
    [
        ({"sense_vectors": None}, "it lacks ['sense_vectors']"),
        ({"other": np.zeros(2, np.float32)}, "it holds unknown tensors ['other']"),
        ({"sense_vectors": np.zeros((13, 7), np.float64)}, "the tensor 'sense_vectors' has the type F64"),
        (
            {"sense_vectors": np.zeros((12, 7), np.float32)},
            "sense_vectors must have shape (13, 7), for 9 words and 13 senses; it has (12, 7)",
        ),
        (
            {"sense_vectors": np.zeros(91, np.float32)},
            "sense_vectors must be float32 with 2 dimensions; it is float32 with shape (91,)",
        ),
        (
            {"collocation_vectors": np.zeros((5, 7), np.float32)},
            "collocation_vectors must have shape (13, 7) or (9, 7), for 9 words and 13 senses; it has (5, 7)",
        ),
        (
            {"sense_offset": np.array([0, 3, 4, 5, 7, 7, 10, 11, 12, 13])},
            "sense_offset must rise from 0 to the number of senses, 13, by at least one sense a word",
        ),
        (
            {"sense_offset": np.array([0, 3, 4, 5, 7, 8, 10, 11, 12, 14])},
            "sense_offset must rise from 0 to the number of senses, 13, by at least one sense a word",
        ),
        (
            {"sense_offset": np.array([0, 13])},
            "sense_offset must have shape (10,), for 9 words and 13 senses; it has (2,)",
        ),
        ({"sense_counts": np.full(13, -1)}, "sense_counts must not hold negative numbers"),
        ({"vocabulary_offset": np.zeros(10, np.int64)}, "the offsets of its vocabulary are inconsistent"),
        ({"vocabulary_offset": np.zeros(9, np.int64)}, "its vocabulary does not have the right type or size"),
        ({"vocabulary": np.zeros(3, np.float32)}, "its vocabulary does not have the right type or size"),
        (
            {"context_vectors": np.zeros((9, 4), np.float32), "selection_vectors": np.zeros((13, 4), np.float32)},
            "vector_size and selection_size of the settings must be the dimensions of the arrays",
        ),
    ],
)
@pytest.mark.parametrize("mmap", [False, True])
def test_inconsistent_tensors(saved, tensors, what, mmap):
    edit(saved, **tensors)
    assert message(saved, mmap=mmap) == f"is damaged: {what}{AGAIN}"


def test_values_that_are_not_finite(saved):
    vectors = toy_arrays().sense_vectors
    vectors[4, 2] = np.nan
    edit(saved, sense_vectors=vectors)
    assert message(saved) == "is damaged: sense_vectors holds values that are not finite numbers" + AGAIN
    model = MUSE.load(saved, mmap=True)  # in constant time, so it does not look
    whole = saved.read_bytes()
    with pytest.raises(ValueError, match="sense_vectors holds values that are not finite numbers, so the model is not"):
        model.save(saved)
    assert saved.read_bytes() == whole


def test_words_that_are_not_utf8_or_occur_twice(saved):
    tensors = load_file(saved)
    edit(saved, vocabulary=np.full_like(tensors["vocabulary"], 0xFF))
    with pytest.raises(ModelFileError, match="word 0 of its vocabulary is not UTF-8"):
        MUSE.load(saved)
    mapped = MUSE.load(saved, mmap=True)
    for ask in (lambda: mapped.vocabulary.words[0], lambda: mapped.n_senses("head")):
        with pytest.raises(ModelFileError, match="word 0 of its vocabulary is not UTF-8"):
            ask()
    edit(saved, vocabulary=np.full_like(tensors["vocabulary"], ord("a")))
    assert message(saved) == "is damaged: a word occurs twice in its vocabulary" + AGAIN
    for ask in (
        lambda model: list(model.vocabulary.words),
        lambda model: model.n_senses("head"),
        lambda model: model.disambiguate(["head"]),
        lambda model: list(model.disambiguate_batch([["head"]])),
        lambda model: encode_corpus([["head"]], vocab=model.vocabulary),
        lambda model: model.train([["head"]], epochs=1),
    ):
        with pytest.raises(ModelFileError, match="a word occurs twice in its vocabulary; load another copy"):
            ask(MUSE.load(saved, mmap=True))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"settings": None}, "its metadata lacks one of settings, left_open, history, training_state, vocabulary"),
        ({"vocabulary": {}}, "its metadata lacks one of raw_words, effective_min_count"),
        ({"settings": {"colour": 1}}, "unknown settings 'colour'"),
        ({"settings": {"window": 0}}, "window must be from 1 to 10000; got 0"),
        ({"settings": {"window": "5"}}, "window must be an integer from 1 to 10000; got '5'"),
        ({"settings": {"workers": 5}}, "unknown settings 'workers'"),
    ],
)
def test_bad_metadata(saved, changes, what):
    edit_model(saved, **changes)
    assert message(saved) == f"is damaged: {what}{AGAIN}"


@pytest.mark.parametrize(
    ("name", "value"),
    [("epochs", 0), ("epochs", 2**70), ("stage", -1), ("batch", 1.5), ("batch", True), ("warm", 1), ("split_due", None),
     ("corpus", [1, 2]), ("corpus", [1, 2, -3]), ("digest", "x"), ("sums", {}), ("sums", {"tokens": 1})],
)  # fmt: skip
def test_training_states_that_no_training_left(saved, name, value):
    sums = dict.fromkeys(SUMS, 0)
    state = {"epochs": 2, "stage": 0, "batch": 3, "warm": True, "split_due": True, "corpus": [9, 3, 9], "sums": sums}
    edit_model(saved, training_state=state)
    assert MUSE.load(saved).training_state == state
    edit_model(saved, training_state={**state, name: value})
    assert message(saved).startswith(f"is damaged: its training state has an impossible value of {name!r}: ")
    if name not in state:  # the digest, which older files lack
        return
    edit_model(saved, training_state={key: state[key] for key in state if key != name})
    assert message(saved) == f"is damaged: its training state lacks {name!r}{AGAIN}"


def test_metadata_that_is_not_json(saved):
    edit(saved, lambda metadata: metadata.update(model="{"))
    assert message(saved).startswith("is damaged: its metadata is not JSON (")


@pytest.mark.parametrize("mmap", [False, True])
def test_every_cut_and_every_flipped_bit_is_noticed(saved, mmap):
    """A mapped file is not read whole, so there a flipped bit in a matrix stays unseen; it must do no harm."""
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    for length in [*range(64), *rng.integers(64, len(whole), 60).tolist()]:
        saved.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            MUSE.load(saved, mmap=mmap)
    unseen, again = 0, saved.with_name("again")
    for at in [*range(200), *rng.integers(0, len(whole), 500).tolist()]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        try:
            model = MUSE.load(saved, mmap=mmap)
        except ModelFileError:
            continue
        unseen += 1
        if not mmap:  # a flip in the name "checksums" itself
            model.save(again)
            assert again.read_bytes() == whole
        model.disambiguate(["head", "the"])
        model.sv.most_similar("head#0")
    assert mmap == (unseen > 100)


@pytest.mark.parametrize("mmap", [False, True])
def test_damage_that_only_the_checksum_shows(saved, mmap):
    raw = saved.read_bytes()
    saved.write_bytes(raw.replace(b"headarmy", b"heatarmy"))
    expected = "the bytes of 'vocabulary' do not have the checksum that they were saved with"
    assert message(saved, mmap=mmap) == f"is damaged: {expected}{AGAIN}"
    saved.write_bytes(raw.replace(b'raw_words\\": 774', b'raw_words\\": 775'))
    assert message(saved, mmap=mmap) == f"is damaged: {expected.replace('vocabulary', 'model')}{AGAIN}"


def header_of(**changes):
    entry = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16], **changes}
    text = json.dumps({"__metadata__": {"format": "muse-senses", "version": "1"}, "sense_vectors": entry}).encode()
    return len(text).to_bytes(8, "little") + text + bytes(16)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ((2**60).to_bytes(8, "little") + b"{}", "its first 8 bytes announce a header of 1152921504606846976 bytes"),
        (b"\x02" + bytes(7) + b"[]", "its header is not a JSON object"),
        (header_of(shape=[2**60, 2**60]), "does not lie within the file"),
        (header_of(shape=[2**60, 4], data_offsets=[0, 2**64]), "the shape or the offsets of 'sense_vectors' are no"),
        (header_of(shape=[2**60], data_offsets=[0, 2**62]), "does not lie within the file"),
        (header_of(shape=[-2, -2]), "are no sizes"),
        (header_of(shape=[True, 4]), "are no sizes"),
        (header_of(shape=[1] * 40 + [4]), "are no sizes"),
        (header_of(data_offsets=[16, 0]), "does not lie within the file"),
        (header_of(shape=[1, 2], data_offsets=[8, 16]), "its tensors overlap or leave gaps"),
        (header_of(shape=[1, 2], data_offsets=[0, 8]), "and its header describes"),
        (header_of(more=1), "its header does not describe 'sense_vectors' in full"),
        (b"\x10\x27" + bytes(6) + b"[" * 10000, "its header cannot be read: "),
        (b"\x0d" + bytes(7) + b'{"a":1,"a":2}', "its header cannot be read: a name occurs twice"),
        (b"\x12" + bytes(7) + b'{"__metadata__":1}', "its metadata are not texts"),
    ],
)
def test_hostile_headers_are_refused_before_anything_is_allocated(tmp_path, content, why):
    (tmp_path / "m").write_bytes(content)
    start = time.process_time()
    for mmap in (False, True):
        text = message(tmp_path / "m", mmap=mmap)
        assert text.startswith("is not a MUSE model file, or it was cut short while it was copied (")
        assert why in text
    assert time.process_time() - start < 0.5  # measured: 1 ms


def test_a_model_larger_than_memory_is_not_read(saved, monkeypatch):
    monkeypatch.setattr(muse.data.memory, "available_memory", lambda: 1000)
    with pytest.raises(InsufficientMemoryError, match=r"the model takes [\d.]+ MB, .* load it with mmap=True"):
        MUSE.load(saved)
    MUSE.load(saved, mmap=True)


@pytest.mark.parametrize("mmap", [False, True])
def test_models_are_pickled_and_copied_after_queries(saved, mmap):
    model = MUSE.load(saved, mmap=mmap)
    model.build_vocab([["head", "army"] * 9], update=True)
    expected, near = model.sense_probabilities("head", "the army"), model.sv.most_similar("head#0")
    model.wv.most_similar("head")
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), copy.copy(model)):
        np.testing.assert_array_equal(again.sense_probabilities("head", "the army"), expected)
        assert again.sv.most_similar("head#0") == near
        assert list(again.vocabulary) == list(model.vocabulary)
    with pytest.raises(ValueError, match="there is no text to train on"):
        again.train()  # what build_vocab read is not copied


def test_load_takes_runtime_settings_only(saved):
    assert MUSE.load(saved, workers=3, progress=True).settings.workers == 3
    with pytest.raises(ValueError, match=r"^workers must be from 1 to 4096; got 0"):
        MUSE.load(saved, workers=0)
    with pytest.raises(TypeError, match="'window' is part of the model; load can set trim_rule, workers, "):
        MUSE.load(saved, window=3)
    with pytest.raises(TypeError, match="'threads' is not a setting of MUSE: it is called workers"):
        MUSE.load(saved, threads=3)


def test_settings_that_an_older_file_lacks_take_their_defaults(saved):
    stored = json.loads(json.dumps(toy_model().settings.to_json()))
    del stored["max_norm"]
    edit_model(saved, settings=stored)
    assert MUSE.load(saved).settings.max_norm == Settings().max_norm
