"""Tagging of text files: streamed, restartable, and the outcome appears whole or not at all."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import json
import logging
import lzma
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import numpy as np

from muse.base.checks import path_like
from muse.base.numeric import checksum
from muse.base.optional import needed
from muse.base.progress import progress_bar
from muse.files.lines import as_paths, compression, is_compressed, read_chunks, shown
from muse.files.looks import ProseWatch
from muse.files.replacing import check_target, keep_mode, name_beside, naming, replacing

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["TagReport", "compressor", "fingerprint", "is_stream", "tag_file", "tag_stream"]

logger = logging.getLogger("muse")

_PIECE = 1 << 22  # bytes that are tagged at once: Ctrl-C waits for no more
_LONGEST_LINE = 1 << 26  # bytes; a longer line is tagged in pieces, cut at white space
_SAVE_SECONDS = 5.0  # between two notes of how far a file has come
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_NO_NOTES = (ValueError, TypeError, RecursionError)  # of `_State.from_json`


class TagReport(NamedTuple):
    """What `tag_corpus` did.

    Attributes
    ----------
    tokens : int
        Tokens of the text.
    tagged : int
        Those that have been given a sense.
    """

    tokens: int
    tagged: int


@dataclass
class _State:
    """How far a file has come, and of what it is made; kept beside the partial output."""

    source: list[int]  # size and time of change
    margin: float
    model: str = ""  # see `fingerprint`; made when it is first needed, since it reads all of the model
    read: int = 0  # bytes of plain text
    written: int = 0  # bytes of output
    lines: int = 0
    tokens: int = 0
    tagged: int = 0
    crc: int = 0  # of the output

    def same_job(self, other: _State) -> bool:
        return (self.source, self.margin, self.model) == (other.source, other.margin, other.model)

    def to_json(self) -> bytes:
        return json.dumps({**asdict(self), "check": fingerprint(asdict(self))}).encode()

    @classmethod
    def from_json(cls, text: bytes) -> _State:
        """What `to_json` wrote; anything else is a `ValueError` or a `TypeError`."""
        fields = json.loads(text)
        check = fields.pop("check", None) if isinstance(fields, dict) else None
        if check is None or check != fingerprint(fields):
            raise ValueError("the checksum is wrong")
        state = cls(**fields)
        counts = [state.read, state.written, state.lines, state.tokens, state.tagged, state.crc]
        if any(type(count) is not int or count < 0 for count in counts):
            raise ValueError("counts are numbers from 0")
        if not state.tagged <= state.tokens <= state.read or state.lines > state.read:
            raise ValueError("the counts do not fit together")
        return state


class Tagger(Protocol):
    """What tags text: the core's tagger, or one that writes its tags in another way."""

    def tag(
        self, text: bytes, mark: str, margin: float, workers: int, source: str, first_line: int, /
    ) -> tuple[bytes, int, int]:
        """Tagged text, how many tokens it has, and how many of them have a sense now."""


def tag_file(
    tagger: Tagger,
    identify: Callable[[], str],
    source: str | PathLike[str],
    target: str | PathLike[str],
    *,
    margin: float,
    workers: int,
    progress: bool,
    resume: bool,
) -> TagReport:
    """Tag a file; `MUSE.tag_corpus` is the way to call it, and says more.

    Parameters
    ----------
    tagger : Tagger
        Selects senses.
    identify : callable
        Gives what tells models apart, see `fingerprint`.
    source, target : path-like
        Text in, text out.
    margin, workers, progress, resume
        As in `tag_corpus`.
    """
    [path] = as_paths([source], "input")
    if is_stream(target):
        if resume:
            raise ValueError(
                f"{shown(os.fspath(target))} is a pipe or a device; resume needs a file, of which a part is there"
            )
        with path.open("rb") as file, open(target, "wb") as pipe:
            return tag_stream(tagger, file, pipe, name=path, margin=margin, workers=workers)
    out = check_target(target)
    partial, notes = _helpers(path, out)
    compress = compressor(compression(out))
    if not (resume and notes.exists()):
        _check_ours(partial, notes)
    with path.open("rb") as file, _alone(partial):
        state = _State(_signature(file), margin)
        if resume and notes.exists():
            state.model = identify()
            state = _earlier(notes, partial, state, is_compressed(path))
        else:
            _write_notes(notes, state)  # before the bytes change: these tell of none, and whose the partial output is
        with _sink(partial, state.written) as sink:
            keep_mode(sink, out)

            def note() -> None:
                _note(sink, partial, notes, state, identify)

            try:
                with progress_bar(total=state.source[0], desc="tagging", unit="B", show=progress) as bar:
                    _tag(tagger, path, file, sink, partial, state, note, compress, workers, bar)
                _sync(sink, partial)
            except ValueError:  # it is the text that must change: nothing to go on with
                partial.unlink(missing_ok=True)
                notes.unlink(missing_ok=True)
                raise
            except BaseException:
                with contextlib.suppress(OSError):  # a full disk: what was noted before still holds
                    note()
                    logger.info("tag_corpus was stopped after %d tokens; resume=True goes on from here", state.tokens)
                raise
            _check_unchanged(file, path, state)
            _check_ours_still(sink, partial, state)
        os.replace(partial, out)
        notes.unlink(missing_ok=True)
    return TagReport(state.tokens, state.tagged)


def is_stream(target: str | PathLike[str]) -> bool:
    """Whether this is a pipe or a device, such as ``/dev/stdout`` in a pipeline, which takes text as it comes."""
    path = Path(path_like("the file to write", target))
    return path.exists() and not path.is_file() and not path.is_dir()


def tag_stream(
    tagger: Tagger,
    file: IO[bytes],
    sink: IO[bytes],
    *,
    name: str | PathLike[str],
    margin: float,
    workers: int,
    ending: str = "",
) -> TagReport:
    """Tag what comes from a pipe, or goes to one: whole lines, as soon as they are there.

    Parameters
    ----------
    tagger : Tagger
        Selects senses.
    file, sink : binary files
        Text in, text out.
    name : path-like
        What messages call the text; its ending says whether it is compressed.
    margin, workers
        As in `tag_corpus`.
    ending : str
        That of the name of the output, which says how it is to be compressed.
    """
    path, lines, begun, compress = Path(name), 0, False, compressor(ending)
    report = TagReport(0, 0)
    for piece in _pieces(read_chunks(path, file), least=1):
        if not begun:
            piece, begun = piece.removeprefix(_BYTE_ORDER_MARK), True
        text, tokens, tagged = tagger.tag(piece, "#", margin, workers, shown(path), lines + 1)
        sink.write(compress(text))
        sink.flush()
        lines += piece.count(b"\n")
        report = TagReport(report.tokens + tokens, report.tagged + tagged)
    return report


@contextlib.contextmanager
def _alone(partial: Path) -> Iterator[None]:
    """Nobody else tags to `partial` meanwhile, where the system has locks; they end with the process."""
    if fcntl is None:
        yield
        return
    with _locked(partial):
        yield


def _check_unchanged(file: IO[bytes], path: Path, state: _State) -> None:
    """Raise an OSError if the source is not what it was: the output would be of the start of it, or of a mixture."""
    if path.is_file() and _signature(file) != state.source:  # a pipe changes as it is read
        raise OSError(errno.EIO, "changed while it was tagged; tag it again when it is complete", str(path))


def _check_ours_still(sink: IO[bytes], partial: Path, state: _State) -> None:
    """Raise an OSError if the output, which is complete, is not what was written: others may have changed the file."""
    with naming(partial):
        if not os.path.samestat(os.fstat(sink.fileno()), os.stat(partial)):
            raise OSError(errno.EBUSY, "was replaced by another process; tag the text again", str(partial))
        # Its bytes are still in memory where there is room for them: this takes a small part of the time of tagging.
        if os.path.getsize(partial) != state.written or _crc(partial, state.written) != state.crc:
            raise OSError(errno.EIO, "was changed by another program; tag the text again", str(partial))


def _signature(file: IO[bytes]) -> list[int]:
    stat = os.fstat(file.fileno())
    return [stat.st_size, stat.st_mtime_ns]


def _locked(path: Path) -> IO[bytes]:
    """A file, made if need be, that this process alone has locked."""
    while True:
        file = open(path, "ab")  # noqa: SIM115 (the caller closes it)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            message = "another process is writing this file; wait for it, or give the output another name"
            raise BlockingIOError(errno.EWOULDBLOCK, message, str(path)) from None
        except OSError as error:  # a network file system may have no locks
            logger.warning("cannot lock %s (%s); let no other process write it", path, error)
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            return file
        file.close()  # the one who had the lock has finished, and given the file its own name


def _helpers(path: Path, out: Path) -> tuple[Path, Path]:
    """The partial output and its notes, after a check that writing them and `out` harms no other file."""
    partial, notes = name_beside(out, ".partial"), name_beside(out, ".partial.json")
    for file, what in ((out, "output"), (partial, "the partial output"), (notes, "the notes beside the output")):
        if file.exists() and os.path.samefile(path, file):
            raise ValueError(f"input and {what} are the same file, {str(path)!r}; give the output another name")
        if check_target(file) != file:
            raise ValueError(f"{file} is a link; remove it, or give the output another name")
    return partial, notes


def _tag(
    tagger: Tagger,
    path: Path,
    file: IO[bytes],
    sink: IO[bytes],
    partial: Path,
    state: _State,
    note: Callable[[], None],
    compress: Callable[[bytes], bytes],
    workers: int,
    bar: Any,
) -> None:
    noted = time.monotonic()
    for piece in _pieces(_rest(path, file, state.read)):
        size, lines = len(piece), piece.count(b"\n")
        if state.read == 0:
            piece = piece.removeprefix(_BYTE_ORDER_MARK)
            ProseWatch().look(piece, shown(path))
        text, tokens, tagged = tagger.tag(piece, "#", state.margin, workers, shown(path), state.lines + 1)
        output = compress(text)
        with naming(partial):
            sink.write(output)
        state.read, state.written, state.lines = state.read + size, sink.tell(), state.lines + lines
        state.tokens, state.tagged = state.tokens + tokens, state.tagged + tagged
        state.crc = checksum([output], state.crc)
        bar.update((file.tell() if is_compressed(path) else state.read) - bar.n)
        if time.monotonic() - noted > _SAVE_SECONDS:
            note()
            noted = time.monotonic()


@contextlib.contextmanager
def _sink(partial: Path, written: int) -> Iterator[IO[bytes]]:
    """The partial output, to be written after its first `written` bytes."""
    file = open(partial, "r+b" if written else "wb")  # noqa: SIM115 (closing it may fail, too)
    try:
        with naming(partial):
            file.truncate(written)
            file.seek(written)
        yield file
    finally:
        with naming(partial):
            file.close()


def _sync(sink: IO[bytes], partial: Path) -> None:
    with naming(partial):
        sink.flush()
        os.fsync(sink.fileno())


def _note(sink: IO[bytes], partial: Path, notes: Path, state: _State, identify: Callable[[], str]) -> None:
    """Note how far the output has come, once it is on the disk."""
    state.model = state.model or identify()
    _sync(sink, partial)
    _write_notes(notes, state)


def _write_notes(notes: Path, state: _State) -> None:
    with replacing(notes) as file:
        file.write(state.to_json())


def _check_ours(partial: Path, notes: Path) -> None:
    """Raise a FileExistsError where one of the two is no file that `tag_file` left, and would be lost."""
    foreign = None
    if notes.exists():
        try:
            _State.from_json(notes.read_bytes())
        except _NO_NOTES:
            foreign = notes
    elif partial.exists() and partial.stat().st_size > 0:
        foreign = partial
    if foreign is not None:
        message = "is no file that tag_corpus left, and would be lost; remove it, or give the output another name"
        raise FileExistsError(errno.EEXIST, message, str(foreign))


def _earlier(notes: Path, partial: Path, fresh: _State, compressed: bool) -> _State:
    """Where an earlier call stopped, if that did the same as the `fresh` one would."""
    damaged = f"{notes} is damaged; delete it and {partial}, or give the output another name"
    try:
        state = _State.from_json(notes.read_bytes())
    except _NO_NOTES:
        raise ValueError(damaged) from None
    if state.read == 0:  # nothing to go on from
        return fresh
    if not state.same_job(fresh):
        raise ValueError(
            f"{notes} is from another model, margin or input than this; call tag_corpus without resume=True to start "
            "anew"
        )
    if not compressed and state.read > fresh.source[0]:
        raise ValueError(damaged)
    if not partial.exists() or partial.stat().st_size < state.written:
        raise ValueError(f"{partial} is missing or too short; call tag_corpus without resume=True to start anew")
    if _crc(partial, state.written) != state.crc:
        raise ValueError(f"{partial} has been changed; call tag_corpus without resume=True to start anew")
    return state


def _crc(path: Path, size: int) -> int:
    """The checksum of the first `size` bytes of a file."""
    crc = 0
    with open(path, "rb") as file:
        while size > 0 and (chunk := file.read(min(size, _PIECE))):
            crc, size = checksum([chunk], crc), size - len(chunk)
    return crc


def _rest(path: Path, file: IO[bytes], done: int) -> Iterator[bytes]:
    """The text of a file after the first `done` bytes of it."""
    if done and not is_compressed(path):
        file.seek(done)
        done = 0
    with naming(path):
        for chunk in read_chunks(path, file):
            skipped = min(done, len(chunk))
            done -= skipped
            if skipped < len(chunk):
                yield chunk[skipped:]
    if done:
        raise ValueError(f"{path} ends before the place where an earlier call stopped; call tag_corpus again")


def _pieces(chunks: Iterable[bytes], least: int | None = None) -> Iterator[bytes]:
    """Whole lines, of at least so many bytes at a time; None: `_PIECE`."""
    begun = bytearray()
    for chunk in chunks:
        begun += chunk
        if len(begun) < (_PIECE if least is None else least):
            continue
        end = begun.rfind(b"\n") + 1
        if end == 0 and len(begun) >= _LONGEST_LINE:
            end = begun.rfind(b" ") + 1
        if end > 0:
            yield bytes(begun[:end])
            del begun[:end]
    if begun:
        yield bytes(begun)


def compressor(suffix: str) -> Callable[[bytes], bytes]:
    """What writes a piece so that pieces one after another are a file of that kind."""
    if suffix == ".gz":
        return lambda data: gzip.compress(data, 6, mtime=0)
    if suffix == ".zst":
        compress: Callable[[bytes], bytes] = needed("zstandard", "writing .zst", "zstd").ZstdCompressor().compress
        return compress
    if suffix == ".bz2":
        return bz2.compress
    return lzma.compress if suffix == ".xz" else lambda data: data


def fingerprint(*parts: Any) -> str:
    """A digest of arrays and of what JSON can hold."""
    import hashlib  # slow to load

    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            for first in range(0, len(part), 4096):
                digest.update(np.ascontiguousarray(part[first : first + 4096]).data)
        else:
            digest.update(json.dumps(part).encode())
    return digest.hexdigest()
