"""Text files, compressed or not: UTF-8, one sentence a line, words between white space."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from muse.base.checks import path_like
from muse.base.optional import needed

__all__ = [
    "STANDARD_INPUT",
    "PathInput",
    "as_paths",
    "check_uncompressed",
    "compression",
    "decode_line",
    "is_compressed",
    "read_chunks",
    "shown",
    "split_lines",
    "split_words",
]

STANDARD_INPUT = Path("/dev/stdin")  # what "-" means where a text is read
"""How standard input stands in a list of paths; `muse.files.text_files.open_text` opens it."""

PathInput = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_CHUNK = 1 << 20
_ZSTD_CHUNK = 1 << 13  # compressed bytes, which may become 30,000 times as many
_XZ_MEMORY = 1 << 30  # bytes that a file may ask for; `xz -9` takes 65 MB
_ZSTD_WINDOW = 1 << 31  # what `zstd --ultra --long=31` writes
_BYTE_ORDER_MARK = "\ufeff"
_OPENERS: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
}
_STREAMED = (".xz", ".zst")  # whose openers cannot be told how much memory a file may cost
_BEGINNINGS = {b"\x1f\x8b\x08": ".gz", b"BZh[1-9]1AY&SY": ".bz2", b"\xfd7zXZ\0": ".xz", b"\\(\xb5/\xfd": ".zst"}
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)


def as_paths(value: PathInput, name: str) -> list[Path]:
    """One path or several as a list, after a check that each is a file that exists."""
    if isinstance(value, bytes) or hasattr(value, "read"):
        raise TypeError(f"{name} needs the path of a file, not {type(value).__name__}; pass e.g. file.name")
    if isinstance(value, str | os.PathLike):
        value = [value]
    if not isinstance(value, Iterable):
        raise TypeError(f"{name} needs a path or a list of paths, not {type(value).__name__}")
    paths = [Path(path_like(name, item)) for item in value]
    if not paths:
        raise ValueError(f"{name} is an empty list; name at least one file")
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, f"{name}: no such file; check the path", str(path))
        if path.is_dir():
            message = f"{name}: a directory; pass its files, e.g. sorted(Path(directory).glob('*.txt'))"
            raise IsADirectoryError(errno.EISDIR, message, str(path))
    return paths


def shown(path: str | Path) -> str:
    """The name of a file as text for messages: bytes of it that are no UTF-8 become ``\\xff`` and the like."""
    if path == STANDARD_INPUT:
        return "standard input"
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def is_compressed(path: Path) -> bool:
    """Whether the name of the file says that it is compressed."""
    return compression(path) in _OPENERS or compression(path) in _STREAMED


def compression(path: Path) -> str:
    """The ending of a file's name in lower case, of which `is_compressed` knows some."""
    return path.suffix.lower()


def check_uncompressed(path: Path, beginning: bytes) -> None:
    """Raise a ValueError if a file whose name does not say so begins as compressed data does, or is a zip archive."""
    if beginning.startswith(b"PK\3\4"):
        raise ValueError(f"{shown(path)} is a zip archive; unpack it, and give the file that holds the text")
    for pattern, suffix in _BEGINNINGS.items():
        if re.match(pattern, beginning):
            raise ValueError(f"{shown(path)} holds compressed data, which its name must say: rename it so that it ends "
                             f"in {suffix}")  # fmt: skip


def read_chunks(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    """The text of an open file in pieces, decompressed as the name of its path says."""
    try:
        kind = compression(path)
        if kind in _STREAMED:
            yield from _unxz(file) if kind == ".xz" else _unzstd(path, file)
            return
        stream = _OPENERS[kind](file) if kind in _OPENERS else file
        first = stream is file
        while chunk := stream.read(_CHUNK):
            if first:
                check_uncompressed(path, chunk)
                first = False
            yield chunk
    except _DAMAGED as error:
        raise _damaged(path, error) from error
    except OSError as error:
        if error.errno is None and is_compressed(path):  # bz2's word for bad data
            raise _damaged(path, error) from error
        raise


def _unxz(file: IO[bytes]) -> Iterator[bytes]:
    chunk = file.read(_CHUNK)
    while True:
        decompressor = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
        while not decompressor.eof:
            if decompressor.needs_input and not chunk and not (chunk := file.read(_CHUNK)):
                raise EOFError("it ends in the middle of a stream")
            yield decompressor.decompress(chunk, _CHUNK)
            chunk = b""
        chunk = decompressor.unused_data.lstrip(b"\0")  # padding
        while not chunk:
            block = file.read(_CHUNK)
            if not block:
                return
            chunk = block.lstrip(b"\0")


def _unzstd(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    zstandard = needed("zstandard", f"reading {shown(path)}", "zstd")
    # Not its stream_reader, which takes a truncated file for a complete one.
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW)
    frame = decompressor.decompressobj()
    try:
        while chunk := file.read(_ZSTD_CHUNK):
            while chunk:
                if frame.eof:
                    frame = decompressor.decompressobj()
                yield frame.decompress(chunk)
                chunk = frame.unused_data
    except zstandard.ZstdError as error:
        raise _damaged(path, error) from error
    if not frame.eof and file.tell() > 0:
        raise EOFError("it ends in the middle of a frame")


def _damaged(path: Path, error: Exception) -> ValueError:
    return ValueError(
        f"{shown(path)}: the compressed data is damaged or cut off ({error}); check or download the file again"
    )


def split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text in pieces, without their line feeds."""
    begun: list[bytes] = []  # the pieces of a line that has not ended
    for chunk in chunks:
        first, *rest = chunk.split(b"\n")
        begun.append(first)
        if rest:
            yield b"".join(begun)
            begun = [rest.pop()]
            yield from rest
    if last := b"".join(begun):
        yield last


def split_words(text: str) -> list[str]:
    """The words of a text that is tokenised: what stands between white space; the core's ``split_words`` is the same.

    White space is what `str.split` takes for it. Byte order marks before a word, as where files were put one behind
    another, do not belong to it.
    """
    words = text.split()
    if _BYTE_ORDER_MARK in text:
        return [bare for word in words if (bare := word.lstrip(_BYTE_ORDER_MARK))]
    return words


def decode_line(line: bytes, path: Path, number: int) -> str:
    """A line as text; a ValueError with its number, and how to convert the file, if it is not UTF-8."""
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        encoding = "utf-16" if number == 1 and byte >= 0xFE else "cp1252"  # UTF-16 begins with one of these
        raise ValueError(
            f"{shown(path)}, line {number}: invalid UTF-8 (byte 0x{byte:02x}); convert the text to UTF-8 first, "
            f"for example with `iconv -f {encoding} -t utf-8`, or read it with "
            f"muse.LineSentence(path, encoding={encoding!r})"
        ) from None
