"""The file of slices beside that of a model."""

from __future__ import annotations

import json
import os
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from muse.base.checks import path_like
from muse.change.confusion import Confusions
from muse.change.contexts import Means, SliceSpace
from muse.change.held import compass
from muse.change.slices import GROUPS, Counts, Slice, Source
from muse.data.snapshot import Snapshot
from muse.errors import ModelFileError
from muse.files.replacing import together
from muse.files.tensor_file import DamagedFileError, ForeignFileError, TensorFile, write_tensors
from muse.model.muse import MUSE
from muse.selector.tag_file import fingerprint

if TYPE_CHECKING:
    from muse.change.temporal import TemporalMUSE

__all__ = ["ENDING", "load", "save"]

ENDING = ".slices"
_FORMAT, _VERSION = "muse-slices", 2

T = TypeVar("T", bound="TemporalMUSE")


def _identity(snapshot: Snapshot) -> str:
    arrays = snapshot.arrays
    return fingerprint(
        list(snapshot.vocabulary.words), arrays.sense_offset, arrays.all_numbers(), arrays.selection_vectors,
        arrays.sense_vectors,
    )  # fmt: skip


def save(model: TemporalMUSE, path: str | PathLike[str]) -> None:
    """See `TemporalMUSE.save`."""
    name = path_like("the file to write", path)
    _refuse_own_text(model, name, name + ENDING)
    tensors: dict[str, NDArray[Any]] = {name: getattr(model._space, name) for name in ("map", "topics", "uses")}
    tensors["confusions"] = model._confusions.rates
    slices = []
    for place, one in enumerate(model._slices.values()):
        tensors |= {
            f"{place}.offset": one.counts.offset, f"{place}.groups": one.counts.groups,
            f"{place}.counts": one.counts.uses, f"{place}.rows": one.means.rows, f"{place}.sampled": one.means.uses,
            f"{place}.means": one.means.topics,
        }  # fmt: skip
        paths = None if one.source is None or one.source.paths is None else list(map(os.path.abspath, one.source.paths))
        slices.append({"name": one.name, "sentences": one.sentences, "tokens": one.tokens, "paths": paths})
    about = {"format": _FORMAT, "version": _VERSION, "model": _identity(model._snapshot), "block": model._block,
             "slices": slices}  # fmt: skip
    # Both lie on the disk before either is replaced, so that a full disk leaves the older pair. Who is killed between
    # the two renames leaves one new file and one old one: `load` refuses them by the identity of the model.
    with together():
        model.model.save(path)
        write_tensors(name + ENDING, tensors, {"about": json.dumps(about)}, ["about"])


def _refuse_own_text(model: TemporalMUSE, *targets: str) -> None:
    for one in model._slices.values():
        for file in [] if one.source is None else one.source.files:
            for target in targets:
                if os.path.exists(target) and os.path.exists(file) and os.path.samefile(target, file):
                    raise ValueError(f"{target!r} is the text of slice {one.name!r}; give another name for the model")


def load(kind: type[T], path: str | PathLike[str], **runtime: Any) -> T:
    """See `TemporalMUSE.load`."""
    file = path_like("the model file", path) + ENDING
    model = MUSE.load(path, **runtime)
    if not os.path.isfile(file):
        raise FileNotFoundError(f"there is no file {file!r} beside the model, which has its slices; copy both files")
    try:
        with TensorFile(file) as opened:
            opened.check()
            about = _about(opened.metadata.get("about"))
            tensors = {name: opened.read(name) for name in opened.names}
        made = _build(kind, model, about, tensors)
    except ForeignFileError as error:
        raise ModelFileError(
            f"{file!r} is not a file of slices, or it was cut short ({error}); copy it again"
        ) from error
    except (DamagedFileError, KeyError, ValueError, TypeError) as error:
        raise ModelFileError(
            f"{file!r} is damaged, or not of this model: {error}; copy both files again, or build the slices anew"
        ) from error
    return made


def _about(text: str | None) -> dict[str, Any]:
    if text is None:
        raise ForeignFileError("it has no description of slices")
    try:
        about = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"its description cannot be read ({error})") from error
    if not isinstance(about, dict) or about.get("format") != _FORMAT:
        raise ForeignFileError("it has no description of slices")
    if about.get("version") != _VERSION:
        raise DamagedFileError(f"it has version {about.get('version')!r:.40}, and this muse reads {_VERSION}")
    if not isinstance(about.get("slices"), list) or not _is_size(about.get("block")) or about["block"] < 1:
        raise DamagedFileError("its description is not complete")
    return about


def _is_size(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 62


def _build(kind: type[T], model: MUSE, about: dict[str, Any], tensors: dict[str, NDArray[Any]]) -> T:
    made = kind.__new__(kind)
    made.model, made._compass, made._block = model, compass(model), about["block"]
    arrays = made._snapshot.arrays
    if about.get("model") != _identity(made._snapshot):
        raise DamagedFileError("the model beside it is another one")
    senses, size = arrays.n_senses, arrays.vector_size
    made._space = SliceSpace(
        made._snapshot, _tensor(tensors, "map", np.float32, (size, size)),
        _tensor(tensors, "topics", np.float32, (senses, size)), _tensor(tensors, "uses", np.int64, (senses,)),
    )  # fmt: skip
    made._confusions = _confusions(tensors, arrays.sense_offset)
    made._slices, made._ranked = {}, {}
    for place, said in enumerate(about["slices"]):
        if not isinstance(said, dict) or not isinstance(said.get("name"), str) or said["name"] in made._slices:
            raise DamagedFileError("the slices have no names, or one has two")
        if not _is_size(said.get("sentences")) or not _is_size(said.get("tokens")):
            raise DamagedFileError(f"the sizes of slice {said['name']!r:.40} are not there")
        counts, means = _counts(tensors, place, senses), _means(tensors, place, senses, size)
        made._slices[said["name"]] = Slice(
            said["name"], counts, means, said["sentences"], said["tokens"], _source(said)
        )
    if not made._slices:
        raise DamagedFileError("it has no slices")
    return made


def _tensor(
    tensors: dict[str, NDArray[Any]], name: str, dtype: type[np.generic], shape: tuple[int | None, ...]
) -> NDArray[Any]:
    array = tensors.get(name)
    fits = array is not None and array.dtype == dtype and array.ndim == len(shape) and all(
        want is None or want == have for want, have in zip(shape, array.shape, strict=True)
    )  # fmt: skip
    if array is None or not fits:
        raise DamagedFileError(f"{name!r} is not there, or not of the type or shape that it should have")
    if array.dtype == np.float32 and not np.isfinite(array).all():
        raise DamagedFileError(f"{name!r} holds values that are not finite numbers")
    if array.dtype != np.float32 and array.size and int(array.min()) < 0:
        raise DamagedFileError(f"{name!r} holds negative numbers")
    return array


def _confusions(tensors: dict[str, NDArray[Any]], sense_offset: NDArray[np.int64]) -> Confusions:
    offset = Confusions.none(sense_offset).offset
    found = Confusions(offset, _tensor(tensors, "confusions", np.float32, (int(offset[-1]),)))
    if not found.are_rates():
        raise DamagedFileError("its confusions are no shares")
    return found


def _counts(tensors: dict[str, NDArray[Any]], place: int, senses: int) -> Counts:
    offset = _tensor(tensors, f"{place}.offset", np.int64, (senses + 1,))
    groups = _tensor(tensors, f"{place}.groups", np.int32, (None,))
    uses = _tensor(tensors, f"{place}.counts", np.int32, (len(groups),))
    if offset[0] != 0 or offset[-1] != len(groups) or (np.diff(offset) < 0).any():
        raise DamagedFileError("the offsets of its counts do not fit them")
    if len(groups) and int(groups.max()) >= GROUPS:
        raise DamagedFileError("its counts are of groups that there are not")
    return Counts(offset, groups, uses)


def _means(tensors: dict[str, NDArray[Any]], place: int, senses: int, size: int) -> Means:
    rows = _tensor(tensors, f"{place}.rows", np.int64, (None,))
    if (np.diff(rows) <= 0).any() or (len(rows) and int(rows[-1]) >= senses):
        raise DamagedFileError("its mean contexts are of senses that there are not")
    return Means(
        rows,
        _tensor(tensors, f"{place}.sampled", np.int64, (len(rows),)),
        _tensor(tensors, f"{place}.means", np.float32, (len(rows), size)),
    )


def _source(said: dict[str, Any]) -> Source | None:
    """The files of a slice, if all are where they were."""
    paths = said.get("paths")
    if not isinstance(paths, list) or not paths or not all(isinstance(path, str) for path in paths):
        return None
    if not all("\0" not in path and os.path.isfile(path) for path in paths):
        return None
    return Source(paths, said["name"])
