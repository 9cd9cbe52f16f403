"""Texts that are read in shards, by whoever is to train on them: files on any store, Parquet, Dask bags."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import Any

from muse import _core
from muse.base.optional import needed
from muse.errors import NoWordsError

__all__ = ["BagShard", "ParquetShard", "Shard", "TextShard", "find_shards"]

_CHUNK = 1 << 20
_BLOCK = 2000  # sentences at once
_SMALLEST, _LARGEST, _SHARDS = 1 << 22, 1 << 26, 16  # bytes of a shard, and how many there are between these
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")  # in any case of letters, as `_TABLES`
_TABLES = (".parquet", ".parq", ".pq")
_WHAT = "muse.distributed.train"


@dataclass(frozen=True)
class TextShard:
    """The lines of a UTF-8 file that begin at bytes [begin, end), one sentence a line; end -1: to the end."""

    path: str
    begin: int = 0
    end: int = -1
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    mark: str = ""  # other, where the file is another

    def feed(self, encoder: _core.Encoder) -> None:
        """Read it all into an encoder."""
        fsspec = needed("fsspec", _WHAT, "dask")
        compression = "infer" if self.path.lower().endswith(_COMPRESSED) else None
        with _reading(self.path), fsspec.open(self.path, "rb", compression=compression, **self.options) as file:
            for chunk in self._chunks(file):
                encoder.add_text(chunk, self.path)
        encoder.end_text()

    def _chunks(self, file: Any) -> Iterator[bytes]:
        place = self.begin
        if place:  # the line that goes on here is of the shard before
            file.seek(place - 1)
            place -= 1
            while chunk := file.read(_CHUNK):
                at = chunk.find(b"\n")
                if at >= 0:
                    place += at + 1
                    file.seek(place)
                    break
                place += len(chunk)
            else:
                return
        last = b"\n"
        while self.end < 0 or place < self.end:
            chunk = file.read(_CHUNK if self.end < 0 else min(_CHUNK, self.end - place))
            if not chunk:
                return
            place, last = place + len(chunk), chunk[-1:]
            yield chunk
        if last == b"\n":
            return
        while chunk := file.read(_CHUNK):  # the last line may end beyond
            at = chunk.find(b"\n")
            yield chunk if at < 0 else chunk[: at + 1]
            if at >= 0:
                return


@dataclass(frozen=True)
class ParquetShard:
    """Row groups [first, last) of a Parquet file; a column of strings, or of lists of them."""

    path: str
    column: str
    first: int
    last: int
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    mark: str = ""

    def feed(self, encoder: _core.Encoder) -> None:
        """Read it all into an encoder."""
        fsspec, parquet = needed("fsspec", _WHAT, "dask"), needed("pyarrow.parquet", _WHAT, "parquet")
        with _reading(self.path), fsspec.open(self.path, "rb", **self.options) as file:
            table = parquet.ParquetFile(file)
            groups = list(range(self.first, self.last))
            for batch in table.iter_batches(_BLOCK, row_groups=groups, columns=[self.column]):
                encoder.add_sentences(_sentences(batch.column(0).to_pylist()))


@dataclass(frozen=True)
class BagShard:
    """A partition of a Dask bag, whose items are lines or lists of tokens; it is computed where it is read."""

    graph: bytes = field(repr=False)  # pickled, so that a scheduler does not look into it
    mark: str = ""  # other, where the bag is another

    def feed(self, encoder: _core.Encoder) -> None:
        """Read it all into an encoder."""
        import pickle

        (items,) = needed("dask", _WHAT, "dask").compute(pickle.loads(self.graph), scheduler="synchronous")
        encoder.add_sentences(_sentences(items))


Shard = TextShard | ParquetShard | BagShard


@contextlib.contextmanager
def _reading(path: str) -> Iterator[None]:
    """What goes wrong while a file is read says of which file."""
    try:
        yield
    except (ImportError, TypeError, MemoryError):
        raise
    except Exception as error:  # of as many kinds as there are stores and forms of files
        if path.rpartition("://")[2] in str(error):
            raise
        text = f"{path} cannot be read: {type(error).__name__}: {error}"
        if isinstance(error, OSError):
            raise (OSError(error.errno, text) if error.errno else OSError(text)) from error
        raise ValueError(text) from error


def _sentences(items: Iterable[Any]) -> Iterator[list[str]]:
    for item in items:
        if item is not None:
            yield item.split() if isinstance(item, str) else list(item)


def find_shards(
    sources: Any, *, column: str = "text", size: int | None = None, options: Mapping[str, Any] | None = None
) -> list[Shard]:
    """Cut sources into shards that can be read one without the other.

    Parameters
    ----------
    sources : str, path-like, sequence of them, or dask.bag.Bag
        Files or patterns on any store that fsspec knows, or a bag. Files whose name ends in ``.parquet`` or ``.pq`` are
        tables, and folders with such a name are tables in many files.
    column : str
        Of tables.
    size : int, optional
        Bytes of a shard, about; compressed files and row groups of tables stay whole. None: a 16th of all, but from 4
        to 64 MB.
    options : mapping, optional
        Of the store.

    Raises
    ------
    TypeError, ValueError
        For what is no source.
    FileNotFoundError
        If a file is missing, or no file has a name that fits.
    """
    if not isinstance(column, str):
        raise TypeError(f"column must be the name of a column; got {column!r:.80}")
    if options is not None and not (isinstance(options, Mapping) and all(isinstance(name, str) for name in options)):
        raise TypeError(f"storage_options must be a mapping of names to values; got {options!r:.80}")
    if hasattr(sources, "to_delayed") and hasattr(sources, "npartitions"):
        pickle, mark = needed("cloudpickle", _WHAT, "dask"), needed("dask.base", _WHAT, "dask").tokenize(sources)
        if not sources.npartitions:
            raise NoWordsError("the bag is empty: it holds no words")
        return [BagShard(pickle.dumps(part), mark) for part in sources.to_delayed()]
    given = [sources] if isinstance(sources, (str, PathLike)) else sources
    if isinstance(given, (bytes, Mapping)) or not isinstance(given, Iterable):
        raise TypeError(f"sources must be files, patterns or a Dask bag; got {type(given).__name__}")
    fsspec, found = needed("fsspec", _WHAT, "dask"), dict[str, tuple[int, str]]()
    for source in given:
        if not isinstance(source, (str, PathLike)):
            raise TypeError(f"a source must be the name of a file; got {source!r:.80}")
        system, path = fsspec.core.url_to_fs(fspath(source), **(options or {}))
        for name in _names(system, path, fspath(source)):
            about = system.info(name)
            found[system.unstrip_protocol(name)] = int(about["size"] or 0), _mark(system, name, about)
    if not any(bytes_ for bytes_, _ in found.values()):
        raise NoWordsError("the sources are empty: they hold no words")
    if size is None:
        size = min(max(sum(bytes_ for bytes_, _ in found.values()) // _SHARDS, _SMALLEST), _LARGEST)
    shards: list[Shard] = []
    for path, (bytes_, mark) in found.items():
        shards += (replace(shard, mark=mark) for shard in _of_file(path, bytes_, column, size, options or {}))
    return shards


def _names(system: Any, path: str, given: str) -> list[str]:
    """The files that a source names; a file may be called what looks like a pattern."""
    names = [path] if system.exists(path) else sorted(system.glob(path)) if any(c in path for c in "*?[") else []
    if not names:
        raise FileNotFoundError(f"there is no file {given!r}")
    files: list[str] = []
    for name in names:
        if not system.isdir(name):
            files.append(name)
        elif name.rstrip("/").lower().endswith(_TABLES):  # a table in many files
            files += sorted(part for part in system.find(name) if part.lower().endswith(_TABLES))
    if not files:
        raise ValueError(f"{given!r} is a folder without tables; give its files, such as {given.rstrip('/*')}/*")
    return files


def _mark(system: Any, name: str, about: Mapping[str, Any]) -> str:
    """What changes when a file does, as far as its store tells: its length alone stays the same too often."""
    for known in ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated"):
        if about.get(known):
            return f"{about[known]} {about.get('size')}"
    with contextlib.suppress(NotImplementedError, OSError, KeyError, AttributeError):
        return f"{system.modified(name)} {about.get('size')}"
    return str(about.get("size"))


def _of_file(
    path: str, bytes_: int, column: str, size: int, options: Mapping[str, Any]
) -> Iterator[TextShard | ParquetShard]:
    if path.lower().endswith(_TABLES):
        yield from _of_table(path, column, size, options)
    elif path.lower().endswith(_COMPRESSED):
        yield TextShard(path, 0, -1, options)
    else:
        count = max(1, round(bytes_ / size))
        for i in range(count):
            yield TextShard(path, bytes_ * i // count, bytes_ * (i + 1) // count, options)


def _of_table(path: str, column: str, size: int, options: Mapping[str, Any]) -> Iterator[ParquetShard]:
    fsspec, parquet = needed("fsspec", _WHAT, "dask"), needed("pyarrow.parquet", _WHAT, "parquet")
    with _reading(path), fsspec.open(path, "rb", **options) as file:
        about = parquet.ParquetFile(file)
        if column not in about.schema_arrow.names:
            names = ", ".join(map(repr, about.schema_arrow.names))
            raise ValueError(f"{path} has no column {column!r}; give column= one of {names}")
        kind = str(about.schema_arrow.field(column).type)
        if "string" not in kind or kind.startswith(("struct", "map")):
            raise TypeError(f"column {column!r} of {path} holds {kind}; it must hold strings, or lists of them")
        sizes = [about.metadata.row_group(i).total_byte_size for i in range(about.num_row_groups)]
    first, held = 0, 0
    for i, bytes_ in enumerate(sizes):
        held += bytes_
        if held >= size or i + 1 == len(sizes):
            yield ParquetShard(path, column, first, i + 1, options)
            first, held = i + 1, 0
