"""The safetensors container: named tensors and some text in one file, with a checksum of each.

Nothing in a file is trusted: sizes, types and offsets of its header are checked, in whole numbers of any size, before
a byte is allocated for them. The file is opened once and only that one is read, whatever is renamed over its name in
the meantime. Plain reads are used but for `TensorFile.view`: when a file is cut short under a reader, a read says so.
"""

from __future__ import annotations

import json
import math
import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from muse.base.numeric import checksum
from muse.files.replacing import replacing

__all__ = ["DamagedFileError", "ForeignFileError", "TensorFile", "write_tensors"]

_DTYPES: dict[str, np.dtype[Any]] = {
    "I64": np.dtype("<i8"), "I32": np.dtype("<i4"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"),
    "I8": np.dtype("i1"), "U8": np.dtype("u1"),
}  # fmt: skip
_CODES = {dtype: code for code, dtype in _DTYPES.items()}
_BLOCK_BYTES = 1 << 24
_DATA_ALIGNMENT = 64
_LARGEST_HEADER = 100_000_000  # the limit of the safetensors library
_MOST_DIMENSIONS = 32
_CHECKSUMS = "checksums"  # in the metadata: a JSON object {name of a tensor or a text: CRC-32 as eight hex digits}


class ForeignFileError(Exception):
    """Why a file is not in this format, for the reader's message."""


class DamagedFileError(Exception):
    """What is wrong in a file of this format, for the reader's message."""


# ---------------------------------------------------------------------------------------------------------------------
# Writing


def write_tensors(
    path: str | PathLike[str],
    tensors: Mapping[str, NDArray[Any]],
    metadata: Mapping[str, str],
    checked: Sequence[str],
) -> None:
    """Write a file, which takes its name when it is complete.

    Parameters
    ----------
    path : path-like
        The file.
    tensors : mapping of str to array
        Of the types that are listed above.
    metadata : mapping of str to str
        Texts.
    checked : sequence of str
        The texts that get a checksum, as all tensors do.

    Raises
    ------
    ValueError
        If a tensor holds a value that is not a finite number. A file that was there before is untouched.
    """
    # Widest type first, so that every tensor starts at a multiple of its item size.
    names = sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name))
    sums = {name: _checksum([metadata[name].encode("utf-8")]) for name in checked} | dict.fromkeys(names, "0" * 8)
    header: dict[str, Any] = {"__metadata__": {**metadata, _CHECKSUMS: json.dumps(sums)}}
    end = 0
    for name in names:
        start, end = end, end + tensors[name].nbytes
        dtype = _CODES[tensors[name].dtype.newbyteorder("<")]
        header[name] = {"dtype": dtype, "shape": list(tensors[name].shape), "data_offsets": [start, end]}
    with replacing(path) as file:
        file.write(_encode(header))
        for name in names:
            sums[name] = _write_rows(file, name, tensors[name])
        header["__metadata__"][_CHECKSUMS] = json.dumps(sums)
        file.seek(0)
        file.write(_encode(header))  # as long as before: now the checksums are known


def _encode(header: Mapping[str, Any]) -> bytes:
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode("utf-8")
    text += b" " * (-(8 + len(text)) % _DATA_ALIGNMENT)
    return len(text).to_bytes(8, "little") + text


def _write_rows(file: BinaryIO, name: str, tensor: NDArray[Any]) -> str:
    """Write a tensor block by block (padded rows are made dense without a copy of the whole); return its checksum."""
    row_bytes = max(1, tensor.nbytes // max(1, len(tensor)))
    step = max(1, _BLOCK_BYTES // row_bytes)
    little = tensor.dtype.newbyteorder("<")

    def blocks() -> Iterator[memoryview]:
        for first in range(0, len(tensor), step):
            rows = np.ascontiguousarray(tensor[first : first + step], dtype=little)
            if rows.dtype.kind == "f" and not np.isfinite(rows).all():
                raise ValueError(
                    f"{name} holds values that are not finite numbers, so the model is not saved: train it again with "
                    "a lower alpha or selection_alpha, or load the last checkpoint"
                )
            file.write(_bytes_of(rows))
            yield _bytes_of(rows)

    return _checksum(blocks())


def _bytes_of(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _checksum(blocks: Iterable[bytes | memoryview]) -> str:
    return f"{checksum(blocks):08x}"


# ---------------------------------------------------------------------------------------------------------------------
# Reading


class _Entry(NamedTuple):
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    start: int  # byte of the file
    size: int


class TensorFile:
    """An open file whose header has been checked.

    Parameters
    ----------
    path : path-like
        The file; `replacing` may give its name to another meanwhile.

    Raises
    ------
    ForeignFileError
        If this is not such a file, or it is not complete.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115 (closed by __exit__, or here)
        try:
            self.size = os.fstat(self._file.fileno()).st_size
            header, self._data = self._read_header()
            self.metadata = _metadata(header)
            self._described = header
            self._memory: mmap.mmap | None = None
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()  # views keep the memory

    def check(self) -> None:
        """Check the description of all tensors; `read` and `view` can be called then.

        Raises
        ------
        DamagedFileError
            If they have types that are not used here, or do not fill the file exactly.
        """
        self._entries = {name: self._entry(name, entry) for name, entry in self._described.items()}
        end = self._data
        for entry in sorted(self._entries.values(), key=lambda entry: (entry.start, entry.size)):
            if entry.start != end:
                raise ForeignFileError("its tensors overlap or leave gaps")
            end += entry.size
        if end != self.size:
            raise ForeignFileError(f"it has {self.size} bytes, and its header describes {end}")
        self._sums = _checksums(self.metadata)
        if self._sums and not self.names <= set(self._sums):
            raise DamagedFileError("its checksums do not cover all that it holds")
        for name in set(self._sums) - self.names:
            text = self.metadata.get(name, "")
            self._compare(name, _checksum([text.encode("utf-8", "surrogatepass")]))

    @property
    def names(self) -> set[str]:
        """Names of the tensors."""
        return set(self._described)

    @property
    def size_of_floats(self) -> int:
        """Bytes of the file, if its numbers of fewer bytes were float32."""
        small = [entry for entry in self._entries.values() if entry.dtype in (np.float16, np.int8)]
        return self.size + sum(entry.size * (4 // entry.dtype.itemsize - 1) for entry in small)

    def read(self, name: str) -> NDArray[Any]:
        """A tensor of its own memory, checked against its checksum."""
        entry = self._entries[name]
        array: NDArray[Any] = np.empty(entry.shape, entry.dtype)
        if entry.size:
            self._fill(_bytes_of(array), entry.start)
        self._compare(name, _checksum([_bytes_of(array)]) if entry.size else _checksum([]))
        return array

    def view(self, name: str, *, checked: bool = False) -> NDArray[Any]:
        """A read-only tensor in the file's memory map; only where `checked`, its checksum is compared."""
        entry = self._entries[name]
        if entry.start % entry.dtype.itemsize or not entry.size:  # of another writer: the kernels need whole floats
            array = self.read(name)
            array.flags.writeable = False
            return array
        if self._memory is None:
            self._memory = mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ)
        flat = np.frombuffer(self._memory, np.uint8, entry.size, entry.start)
        if checked:
            self._compare(name, _checksum([flat.data]))
        return flat.view(entry.dtype).reshape(entry.shape)

    def _compare(self, name: str, found: str) -> None:
        if self._sums.get(name, found) != found:  # files of version 0.1 have none
            raise DamagedFileError(f"the bytes of {name!r} do not have the checksum that they were saved with")

    def _fill(self, into: memoryview, position: int) -> None:
        while into:
            count = os.preadv(self._file.fileno(), [into[: 1 << 30]], position)
            if count == 0:
                raise ForeignFileError("it became shorter while it was read")
            into, position = into[count:], position + count

    def _read_header(self) -> tuple[dict[str, Any], int]:
        """The header, and where the data begin."""
        if self.size < 8:
            raise ForeignFileError(f"it has {self.size} bytes")
        raw = bytearray(8)
        self._fill(memoryview(raw), 0)
        length = int.from_bytes(raw, "little")
        if length > min(_LARGEST_HEADER, self.size - 8):
            raise ForeignFileError(f"its first 8 bytes announce a header of {length} bytes")
        raw = bytearray(length)
        self._fill(memoryview(raw), 8)
        try:
            header = json.loads(raw.decode("utf-8"), object_pairs_hook=_without_twins)
        except (ValueError, RecursionError) as error:
            raise ForeignFileError(f"its header cannot be read: {error}") from error
        if not isinstance(header, dict):
            raise ForeignFileError("its header is not a JSON object")
        return header, 8 + length

    def _entry(self, name: str, entry: Any) -> _Entry:
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ForeignFileError(f"its header does not describe {name!r} in full")
        if not isinstance(entry["dtype"], str) or entry["dtype"] not in _DTYPES:
            raise DamagedFileError(f"the tensor {name!r} has the type {entry['dtype']}")
        dtype, shape, offsets = _DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2 or len(shape) > _MOST_DIMENSIONS:
            raise ForeignFileError(f"the shape or the offsets of {name!r} are no sizes")
        start, size = offsets[0], offsets[1] - offsets[0]
        if math.prod(shape) * dtype.itemsize != size or self._data + offsets[1] > self.size:
            raise ForeignFileError(f"{name!r} of shape {shape} does not lie within the file")
        return _Entry(dtype, tuple(shape), self._data + start, size)


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name occurs twice")
    return result


def _are_sizes(value: Any) -> bool:
    return isinstance(value, list) and all(type(item) is int and 0 <= item < 1 << 63 for item in value)


def _metadata(header: dict[str, Any]) -> dict[str, str]:
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise ForeignFileError("its metadata are not texts")
    return metadata


def _checksums(metadata: Mapping[str, str]) -> dict[str, Any]:
    try:
        sums = json.loads(metadata.get(_CHECKSUMS, "{}"))
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(f"its checksums cannot be read ({error})") from error
    if not isinstance(sums, dict):
        raise DamagedFileError("its checksums cannot be read")
    return sums
