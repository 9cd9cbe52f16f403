"""The native model file: one safetensors file that holds everything and that other tools can open.

Tensors carry the names of `muse.Arrays`. The words are one byte tensor, ``vocabulary`` (UTF-8), in which word i
is ``vocabulary[vocabulary_offset[i]:vocabulary_offset[i + 1]]``. The metadata has ``format`` ("muse-senses"),
``version`` ("1", "2" with sense trees, "3" with numbers of fewer bytes) and ``model``, a JSON object with the settings,
the history, the training state, how the words were chosen, and, where there are some, the numbers of the sense trees,
the names of senses, and how the text was made into tokens.

Nothing in a file is trusted: `read` checks sizes, types and the consistency of all offsets before anything is used.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import path_like
from muse.data.arrays import OPTIONAL, Arrays
from muse.data.forest import OPTIONAL_TENSORS, SPACE_TENSORS, TENSORS, TREE_TENSORS, Forest
from muse.data.memory import check_memory_to_load, with_figure
from muse.data.reduced import KINDS, held_by
from muse.data.sense_names import SenseNames
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot, has_sense
from muse.data.text_form import TextForm
from muse.data.training_state import check_state
from muse.data.vocabulary import LARGEST_TOTAL, Vocabulary
from muse.errors import ModelFileError
from muse.files.packed_words import PackedWords, damaged, packed_words
from muse.files.reduced_tensors import expect_senses_of_trees, held, make_senses_of_trees, reduced, widened
from muse.files.tensor_file import DamagedFileError, ForeignFileError, TensorFile, write_tensors

__all__ = ["DTYPES", "read", "write"]

FORMAT, VERSION = "muse-senses", 3
_PLAIN_VERSION, _TREES_VERSION = 1, 2  # of files that older versions of muse read, without and with sense trees
DTYPES = ("float32", *KINDS)
CLOCK_FIELDS = ("seconds", "tokens_per_second", "pairs_per_second")  # of history; left out: equal models, equal files
_VOCABULARY_FIELDS = ("raw_words", "effective_min_count")
_CHECKED_IN_MAPS = (
    "vocabulary",
    "vocabulary_offset",
    "sense_offset",
    "sense_numbers",
    "leaf_offset",
    "joins",
    "node_offset",
    "nodes",
)  # small, and all else hangs on them


class _Part(NamedTuple):
    """A part of a snapshot as tensors of a file; another one is added to `_PARTS`, and nowhere else.

    Attributes
    ----------
    names : tuple of str
        Of its tensors; all of them are there, but those in `optional`, or the part is not.
    pack : callable
        Its tensors by name, of a snapshot; none where that lacks the part.
    unpack : callable
        The snapshot with the part, of one that has those before it, from tensors that are looked for errors.
    is_needed : bool
        Whether a file without the part is damaged.
    """

    names: tuple[str, ...]
    pack: Callable[[Snapshot], dict[str, NDArray[Any]]]
    unpack: Callable[[Snapshot, dict[str, NDArray[Any]], _Reading], Snapshot]
    optional: tuple[str, ...] = ()
    is_needed: bool = True


class _Reading(NamedTuple):
    """How a file is read, and what its metadata says."""

    file: str
    model: dict[str, Any]
    checked: bool  # all of it, not only what the rest hangs on
    is_reduced: bool  # some of its tensors may have fewer bytes or not be there, see `muse.files.reduced_tensors`


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def write(
    path: str | PathLike[str], snapshot: Snapshot, history: Sequence[Mapping[str, Any]], dtype: str = "float32"
) -> None:
    """Write a model and the `history` of its training, the numbers of its matrices in a type of `DTYPES`.

    A file of that name is replaced only when the new one is complete. The same model always gives the same bytes.

    Raises
    ------
    ValueError, TypeError
        If a word is not valid Unicode text (a lone surrogate), a matrix holds a value that is not a finite number, or
        `read` would refuse the file for anything else.
    """
    tensors: dict[str, NDArray[Any]] = {}
    for part in _PARTS:
        tensors |= part.pack(snapshot)
    version = _PLAIN_VERSION if snapshot.forest is None and "sense_numbers" not in tensors else _TREES_VERSION
    if dtype != "float32":
        version, tensors = VERSION, reduced(tensors, snapshot, dtype)
        snapshot = snapshot.replace(training_state={**snapshot.training_state, "reduced": dtype})
    described = json.dumps(_describe(snapshot, history), allow_nan=False)
    metadata = {"format": FORMAT, "version": str(version), "model": described}
    _check_readable(tensors, metadata, snapshot.vocabulary.words)
    write_tensors(path, tensors, metadata, checked=["model"])


def _check_readable(tensors: Mapping[str, NDArray[Any]], metadata: dict[str, str], words: Sequence[str]) -> None:
    """Raise a ValueError where `read` would refuse these; all but the search of matrices, which writing does itself."""
    try:
        is_reduced = _is_reduced(metadata)
        reading = _Reading("", _metadata(metadata), checked=False, is_reduced=is_reduced)
        _build(held(tensors) if is_reduced else tensors, reading, {})
        if len(set(words)) < len(words):
            raise DamagedFileError("a word occurs twice in its vocabulary")
    except DamagedFileError as error:
        raise ValueError(f"the model is not saved, since no file of it could be loaded: {error}; parts of it were "
                         "changed by hand, or while another thread used them") from error  # fmt: skip


def _describe(snapshot: Snapshot, history: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What a file says of a model beside its tensors."""
    rows = [_without_clock(row) for row in history]
    words = {name: getattr(snapshot.vocabulary, name) for name in _VOCABULARY_FIELDS}
    plain: dict[str, Any] = _plain({"history": rows, "training_state": snapshot.training_state, "vocabulary": words})
    rest: dict[str, Any] = {} if snapshot.forest is None else {"trees": snapshot.forest.numbers()}
    if snapshot.names:
        rest["sense_names"] = snapshot.names.to_json()
    if snapshot.text_form is not None:
        rest["text"] = snapshot.text_form.to_json()
    return {"settings": snapshot.settings.to_json(), "left_open": list(snapshot.settings.left_open)} | plain | rest


def _without_clock(row: Any) -> Any:
    return {k: v for k, v in row.items() if k not in CLOCK_FIELDS} if isinstance(row, Mapping) else row


def _plain(value: Any) -> Any:
    """The value in JSON's types: numpy's numbers as Python's, and None for what is not a finite number."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---------------------------------------------------------------------------------------------------------------------
# Reading


def read(path: str | PathLike[str], *, mapped: bool = False, **runtime: Any) -> tuple[Snapshot, list[dict[str, Any]]]:
    """Read a model, check it, and give it with the history of its training.

    Parameters
    ----------
    path : path-like
        A file that `write` made.
    mapped : bool
        Map the file into memory, read-only and shared between processes, in place of reading it. The time does not
        depend on the size of the vectors, which for that reason are not searched for values that are not finite.
    **runtime
        Runtime settings (``workers=``, ...), which a file does not hold.

    Raises
    ------
    FileNotFoundError, IsADirectoryError
        If there is no such file.
    ModelFileError
        If the file is not a model of ours, is damaged, or comes from a newer version.
    """
    name = path_like("the model file", path)
    if os.path.isdir(path):
        raise IsADirectoryError(f"{name!r} is a folder, not a model file")
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {name!r}; check the path")
    try:
        model, tensors, is_reduced = _open(path, mapped)
        return _build(tensors, _Reading(name, model, not mapped, is_reduced), runtime), model["history"]
    except ForeignFileError as error:
        raise ModelFileError(
            f"{name!r} is not a MUSE model file, or it was cut short while it was copied ({error}); "
            "copy it again, or load a file that model.save wrote"
        ) from error
    except DamagedFileError as error:
        raise damaged(name, error) from error
    except _Refused as error:
        raise ModelFileError(f"{name!r} {error}") from error


class _Refused(Exception):
    """What is wrong with a file, as the end of a sentence that starts with its name."""


def _open(path: str | PathLike[str], mapped: bool) -> tuple[dict[str, Any], dict[str, Any], bool]:
    """The metadata and the tensors of a file, and whether it is one of numbers of fewer bytes."""
    with TensorFile(path) as file:
        _check_version(file.metadata)
        file.check()
        model, is_reduced = _metadata(file.metadata), _is_reduced(file.metadata)
        if mapped:
            views = {name: file.view(name, checked=name in _CHECKED_IN_MAPS) for name in file.names}
            return model, held(views) if is_reduced else views, is_reduced
        check_memory_to_load(file.size_of_floats)
        try:
            tensors = {name: file.read(name) for name in file.names}
            return model, widened(tensors) if is_reduced else tensors, is_reduced
        except MemoryError as error:
            advice = "load it with mmap=True, which reads only what is asked for"
            raise with_figure(error, "the model was loaded", advice) from error


def _check_version(metadata: dict[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise _Refused("is a safetensors file, but not a MUSE model; load a file that model.save wrote")
    version = metadata.get("version", "")
    if not re.fullmatch("[1-9][0-9]{0,8}", version):
        raise DamagedFileError(f"its version is {version!r}")
    if int(version) > VERSION:
        raise _Refused(
            f"has version {version} of the model format, and this muse reads up to {VERSION}; update muse-senses"
        )


def _is_reduced(metadata: dict[str, str]) -> bool:
    return int(metadata["version"]) > _TREES_VERSION


def _metadata(metadata: dict[str, str]) -> dict[str, Any]:
    try:
        model = json.loads(metadata.get("model", ""))
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"its metadata is not JSON ({error})") from error
    types = {"settings": dict, "left_open": list, "history": list, "training_state": dict, "vocabulary": dict}
    if not isinstance(model, dict) or any(not isinstance(model.get(key), kind) for key, kind in types.items()):
        raise DamagedFileError(f"its metadata lacks one of {', '.join(types)}")
    counts = [model["vocabulary"].get(name) for name in _VOCABULARY_FIELDS]
    if not all(type(count) is int and 0 <= count <= LARGEST_TOTAL for count in counts):
        raise DamagedFileError(f"its metadata lacks one of {', '.join(_VOCABULARY_FIELDS)}")
    if not all(isinstance(row, dict) for row in model["history"]):
        raise DamagedFileError("its history is not a list of rows")
    return model


def _build(tensors: Mapping[str, Any], reading: _Reading, runtime: dict[str, Any]) -> Snapshot:
    if reading.is_reduced:
        tensors = expect_senses_of_trees(tensors)
    extra = set(tensors).difference(*(part.names for part in _PARTS))
    if extra:
        raise DamagedFileError(f"it holds unknown tensors {sorted(extra)}")
    model = reading.model
    try:
        check_state(model["training_state"])
        settings = Settings.from_json(model["settings"], model["left_open"], **runtime)
        form = TextForm.from_json(model["text"]) if "text" in model else None
        snapshot = Snapshot(settings, training_state=model["training_state"], text_form=form)
        for part in _PARTS:
            mine = {name: tensors[name] for name in part.names if name in tensors}
            missing = set(part.names).difference(part.optional, mine)
            if missing and (mine or part.is_needed):
                raise DamagedFileError(f"it lacks {sorted(missing)}")
            if mine:
                snapshot = part.unpack(snapshot, mine, reading)
        snapshot = _with_names(snapshot, reading)
    except ModelFileError:
        raise
    except ValueError as error:
        raise DamagedFileError(str(error)) from error
    return snapshot


def _with_names(snapshot: Snapshot, reading: _Reading) -> Snapshot:
    """The snapshot with the names of senses; files without any lack them. Words are not looked up in a mapped file."""
    if "sense_names" not in reading.model:
        return snapshot
    names = SenseNames.from_json(reading.model["sense_names"])
    for word, numbered in names.items() if reading.checked else ():
        row = snapshot.vocabulary.get(word)
        for number in numbered:
            if row < 0 or not has_sense(snapshot, row, number):
                raise DamagedFileError(f"it has a name for {f'{word}#{number}'!r:.80}, which is none of its senses")
    return snapshot.replace(names=names)


def _unpack_arrays(snapshot: Snapshot, tensors: dict[str, NDArray[Any]], reading: _Reading) -> Snapshot:
    arrays = Arrays(**tensors)
    arrays.check()
    arrays.check_fits(snapshot.settings)
    if reading.checked:
        arrays.check_finite()
    return snapshot.replace(numbers=arrays)


def _pack_forest(snapshot: Snapshot) -> dict[str, NDArray[Any]]:
    return {} if snapshot.forest is None else snapshot.forest.tensors()


def _unpack_forest(snapshot: Snapshot, tensors: dict[str, NDArray[Any]], reading: _Reading) -> Snapshot:
    arrays = snapshot.arrays
    context: Any = held_by(arrays).get("context_vectors")
    forest = Forest.of_tensors(
        arrays.context_vectors if context is None else context, tensors, reading.model.get("trees")
    )
    forest.check_fits(arrays)
    if reading.checked:
        forest.check_finite()
    make_senses_of_trees(arrays, forest, now=reading.checked)
    return snapshot.replace(forest=forest)


def _pack_words(snapshot: Snapshot) -> dict[str, NDArray[Any]]:
    packed, offsets = packed_words(snapshot.vocabulary.words)
    return {"vocabulary": packed, "vocabulary_offset": offsets}


def _unpack_words(snapshot: Snapshot, tensors: dict[str, NDArray[Any]], reading: _Reading) -> Snapshot:
    arrays = snapshot.arrays
    words = PackedWords.checked(tensors["vocabulary"], tensors["vocabulary_offset"], arrays.n_words, reading.file)
    counted = {name: reading.model["vocabulary"][name] for name in _VOCABULARY_FIELDS}
    vocabulary = Vocabulary(list(words) if reading.checked else words, arrays.word_counts, **counted)
    return snapshot.replace(words=vocabulary)


_PARTS = (
    _Part(tuple(Arrays.__dataclass_fields__), lambda snapshot: snapshot.arrays.as_dict(), _unpack_arrays, OPTIONAL),
    _Part(("vocabulary", "vocabulary_offset"), _pack_words, _unpack_words),
    _Part((*SPACE_TENSORS, *TREE_TENSORS, *TENSORS), _pack_forest, _unpack_forest, OPTIONAL_TENSORS, is_needed=False),
)  # in the order of a file, in which each one may look at those before it
