"""Text files that are not UTF-8: found out by their beginnings, decoded as their owner says, and named in errors."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from itertools import chain

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
_LONGEST_MARK, _BEGINNING = 4, 1000
_FALLBACK = "cp1252"
_LOOKED_AT = 1 << 16  # bytes behind the first that is no UTF-8, in which more UTF-8 is looked for


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
        name = codecs.lookup(encoding).name
        is_text = isinstance(codecs.getincrementaldecoder(encoding)().decode(b"a"), str)
    except (LookupError, ValueError, TypeError, AttributeError):  # the last two: of codecs that are not for text
        is_text = False
    if not is_text:
        raise ValueError(
            f"encoding must be one that Python knows, such as 'utf-8', 'cp1252' or 'utf-16', or 'auto'; got "
            f"{encoding!r:.80}"
        )
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
    if marked is None and encoding in (None, "auto"):
        _check_no_zeros(beginning[:_BEGINNING], name)
    decoder = codecs.getincrementaldecoder(codec)()
    read, plain = 0, True  # bytes, and whether all of them were ASCII
    for chunk in (piece for pieces in ((beginning,), remaining, (None,)) for piece in pieces):
        read += len(chunk or b"")
        try:
            text = decoder.decode(chunk or b"", chunk is None)
        except UnicodeDecodeError as error:
            place = read - len(error.object) + error.start
            before = error.object[: error.start].decode(codec, "replace")
            rest, wrong = error.object[error.start :], error.object[error.start]
            ahead = rest + _some(remaining)
            damaged = not (plain and before.isascii()) or _is_damaged(ahead)
            if not guess or damaged:
                raise ValueError(_fault(name, codec, (place, wrong, error.reason), encoding, damaged)) from None
            yield before
            yield from _as_windows(ahead, remaining, name, place)
            return
        plain = plain and text.isascii()
        if text:
            yield text


def _check_no_zeros(beginning: bytes, name: str) -> None:
    if beginning.count(0) > len(beginning) // 4:
        raise ValueError(
            f"{name} holds many zero bytes, so it is no text, or UTF-16 without a byte order mark; for that give "
            "encoding='utf-16-le', or 'utf-16-be'"
        )


def as_utf8(chunks: Iterable[bytes], encoding: str | None, name: str) -> Iterator[bytes]:
    """The same in UTF-8."""
    return (text.encode("utf-8") for text in decoded(chunks, encoding, name))


def _some(chunks: Iterator[bytes]) -> bytes:
    """What comes next, enough to judge by."""
    found = b""
    while len(found) < _LOOKED_AT and (chunk := next(chunks, None)) is not None:
        found += chunk
    return found


def _as_windows(ahead: bytes, others: Iterable[bytes], name: str, start: int) -> Iterator[str]:
    """The rest of a file, from byte `start` on, as Windows-1252, which it is taken for."""
    decoder, read = codecs.getincrementaldecoder(_FALLBACK)(), start
    for chunk in chain((ahead,), others):
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            wrong = error.object[error.start]
            raise ValueError(
                f"{name} is neither UTF-8 nor Windows-1252: byte 0x{wrong:02x} at {read + error.start:,}; "
                "give its encoding=, for example 'cp1251', 'shift_jis' or 'big5'"
            ) from None
        if read == start:
            warn_at_caller(
                f"{name} is not UTF-8 (byte 0x{ahead[0]:02x} at {start:,}), and is read as Windows-1252; if it is "
                "something else, give its encoding=",
                UserWarning,
            )
        read += len(chunk)
        yield text


def _is_damaged(rest: bytes) -> bool:
    """Whether what begins with a byte that is no UTF-8 holds more of UTF-8 than of other bytes."""
    text = rest.decode("utf-8", "replace")
    wrong = text.count("\ufffd")
    return sum(letter > "\x7f" for letter in text) - wrong > wrong


def _fault(name: str, codec: str, where: tuple[int, int, str], given: str | None, damaged: bool) -> str:
    """What to say of a byte that does not fit: where it is, which it is, and why it does not."""
    place, wrong, reason = where
    byte = f"byte 0x{wrong:02x} at {place:,}"
    if given not in (None, "auto"):
        return f"{name}: {byte} is not {codec}; give the right encoding=, or 'auto'"
    if codec not in ("utf-8", "utf-8-sig"):
        return f"{name} begins as {codec}, and {byte} is not ({reason}); copy the file again"
    if damaged:
        return (f"{name}: {byte} is not UTF-8, though the rest seems to be; clean the file, for example with "
                "`iconv -c -f utf-8 -t utf-8`")  # fmt: skip
    return (f"{name} is not UTF-8: {byte}; give encoding='cp1252' if it comes from Windows, 'auto' to take that for "
            "all files that are not UTF-8, or another name of an encoding")  # fmt: skip
