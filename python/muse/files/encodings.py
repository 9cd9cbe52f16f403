"""Text files that are not UTF-8: found out by their beginnings, decoded as their owner says, and named in errors."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from muse.errors import warn_at_caller

__all__ = ["as_utf8", "check_encoding", "decoded", "marked_encoding"]

# Longer marks first: that of UTF-32 begins as that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LONGEST_MARK = 4
_FALLBACK = "cp1252"
_LOOKED_AT = 1 << 20  # bytes behind the first that is no UTF-8, in which more UTF-8 is looked for


def check_encoding(encoding: str | None) -> str | None:
    """The name of an encoding as it is kept: None for UTF-8, "auto", or a codec of Python; else an error.

    Raises
    ------
    TypeError, ValueError
        If it is no string, or no encoding of text.
    """
    if encoding is None or encoding == "auto":
        return encoding
    if not isinstance(encoding, str):
        raise TypeError(f"encoding must be the name of an encoding, such as 'cp1252', or 'auto'; got {encoding!r:.80}")
    try:
        b"".decode(encoding)
        name = codecs.lookup(encoding).name
        codecs.getincrementaldecoder(encoding)
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding must be one that Python knows, such as 'utf-8', 'cp1252' or 'utf-16', or 'auto'; got "
            f"{encoding!r:.80}"
        ) from None
    return None if name == "utf-8" else name


def marked_encoding(beginning: bytes) -> str | None:
    """The encoding that a byte order mark at the beginning of a file names; None where there is none."""
    return next((name for mark, name in _MARKS if beginning.startswith(mark)), None)


def decoded(chunks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[str]:
    """A file in pieces as text; a byte order mark decides on the encoding, where no other one than UTF-8 is given.

    Parameters
    ----------
    chunks : iterable of bytes
        The file, from its beginning, cut anywhere.
    encoding : str, optional
        As `check_encoding` gives it. "auto" is UTF-8, and Windows-1252 from the first byte on that is not, if what
        comes before it is ASCII and what comes behind it is not UTF-8 with a fault in it.
    name : str
        Of the file, for errors and warnings.

    Raises
    ------
    ValueError
        Where a byte does not fit the encoding; the message has its place and the option to give.

    Warns
    -----
    UserWarning
        Where "auto" reads a file as Windows-1252.
    """
    remaining = iter(chunks)
    beginning = b""
    while len(beginning) < _LONGEST_MARK and (chunk := next(remaining, None)) is not None:
        beginning += chunk
    marked = marked_encoding(beginning) if encoding in (None, "auto") else None
    codec = marked or ("utf-8" if encoding in (None, "auto") else str(encoding))
    guess = encoding == "auto" and marked is None
    decoder = codecs.getincrementaldecoder(codec)()
    read, plain = 0, True  # bytes, and whether all of them were ASCII
    for chunk in (piece for pieces in ((beginning,), remaining, (None,)) for piece in pieces):
        read += len(chunk or b"")
        try:
            text = decoder.decode(chunk or b"", chunk is None)
        except UnicodeDecodeError as error:
            place = read - len(error.object) + error.start
            before = error.object[: error.start].decode(codec, "replace")
            if not (guess and plain and before.isascii() and not _is_damaged(error.object[error.start :])):
                raise ValueError(_fault(name, codec, place, error, encoding)) from None
            warn_at_caller(
                f"{name} is not UTF-8 (byte 0x{error.object[error.start]:02x} at {place:,}), and is read as "
                f"Windows-1252; if it is something else, give its encoding=",
                UserWarning,
            )
            yield before
            rest = error.object[error.start :]
            pieces = (rest, *remaining) if chunk is None else _chained(rest, remaining)
            yield from _as_given(pieces, _FALLBACK, name, place)
            return
        plain = plain and text.isascii()
        if text:
            yield text


def as_utf8(chunks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same in UTF-8."""
    return (text.encode("utf-8") for text in decoded(chunks, encoding, name))


def _chained(first: bytes, others: Iterable[bytes]) -> Iterator[bytes]:
    yield first
    yield from others


def _as_given(chunks: Iterable[bytes], codec: str, name: str, start: int) -> Iterator[str]:
    """The rest of a file, from byte `start` on, in the encoding that was guessed."""
    decoder, read = codecs.getincrementaldecoder(codec)(), start
    for chunk in chunks:
        read += len(chunk)
        try:
            yield decoder.decode(chunk)
        except UnicodeDecodeError as error:
            place = read - len(error.object) + error.start
            raise ValueError(
                f"{name} is neither UTF-8 nor Windows-1252: byte 0x{error.object[error.start]:02x} at {place:,}; "
                "give its encoding=, for example 'cp1251', 'shift_jis' or 'big5'"
            ) from None


def _is_damaged(rest: bytes) -> bool:
    """Whether what begins with a byte that is no UTF-8 holds more of UTF-8 than of other bytes."""
    text = rest[:_LOOKED_AT].decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(letter > "\x7f" for letter in text) - wrong > wrong


def _fault(name: str, codec: str, place: int, error: UnicodeDecodeError, given: str | None) -> str:
    """What to say of a byte that does not fit."""
    byte = f"byte 0x{error.object[error.start]:02x} at {place:,}"
    if given not in (None, "auto"):
        return f"{name}: {byte} is not {codec}; give the right encoding=, or 'auto'"
    if codec not in ("utf-8", "utf-8-sig"):
        return f"{name} begins as {codec}, and {byte} is not ({error.reason}); copy the file again"
    if _is_damaged(error.object[error.start :]) or not error.object[: error.start].isascii():
        return (f"{name}: {byte} is not UTF-8, though the rest seems to be; clean the file, for example with "
                "`iconv -c -f utf-8 -t utf-8`")  # fmt: skip
    return (f"{name} is not UTF-8: {byte}; give encoding='cp1252' if it comes from Windows, 'auto' to take that for "
            "all files that are not UTF-8, or another name of an encoding")  # fmt: skip
