"""Whether a text is plain prose, or tokenised already: one sentence a line, words between white space."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from muse.errors import quote, warn_at_caller
from muse.files.encodings import check_encoding, decoded
from muse.files.lines import STANDARD_INPUT, PathInput, read_chunks, shown
from muse.files.text_files import open_text, text_files

__all__ = ["ProseWatch", "looks_like_prose", "text_looks_like_prose"]

_LOOKED_AT = 1 << 15  # letters of a file
_FILES = 5  # that are looked at
_LEAST_TOKENS, _LEAST_LETTERS, _LEAST_GLUED = 30, 300, 3  # letters: of scripts without spaces
_SHARE = 0.04  # of tokens with punctuation; in prose it is about 0.12, in tokenised text below 0.01
_UNSPACED_SHARE = 0.01  # marks a letter

# Marks that stand at the end of a word in prose, and alone in tokenised text. A full stop does so only behind a word of
# some letters: in "U.S." and "Mr." it belongs to the word. Apostrophes are in "'s" and "students'".
_CLOSING = r",;:!?…)\]}»”“„。，、！？；：．」』）।॥؟،؛۔։።၊"
_LETTER = rf"[^\s{_CLOSING}.\"'’“„«([{{]"
_GLUED = re.compile(rf"{_LETTER}[\"'’]?[{_CLOSING}]+$|[^\W\d_]{{4}}\.[\"'’»”)]*$|{_LETTER}[{_CLOSING}]+[\"'’]$")
_UNSPACED = re.compile(r"\w{1,9}[。，、！？：；]")  # in prose without spaces
_END_OF_WORD = 40  # letters that are looked at
_ALONE = re.compile(rf"[{_CLOSING}.\"'’«(\[{{-]+$")


def text_looks_like_prose(text: str) -> bool:
    """Whether punctuation sticks to the words of a text, as in prose; False for one that is too short to tell.

    Examples
    --------
    >>> prose = "He sat on the bank, by the river. The water was cold; nobody swam in it, though. "
    >>> text_looks_like_prose(prose * 4), text_looks_like_prose(prose.replace(".", " .").replace(",", "") * 4)
    (True, False)
    """
    return _glued(text) is not None


def _glued(text: str) -> str | None:
    """A word of prose with punctuation stuck to it; None in a text that is no prose."""
    unspaced: list[str] = _UNSPACED.findall(text)
    if len(text) >= _LEAST_LETTERS and len(unspaced) >= _UNSPACED_SHARE * len(text):
        return min(unspaced, key=len)
    tokens = text.split()
    glued = [token for token in tokens if _GLUED.search(token[-_END_OF_WORD:])]
    alone = sum(_ALONE.match(token) is not None for token in tokens)
    if len(tokens) < _LEAST_TOKENS or len(glued) < max(_LEAST_GLUED, _SHARE * len(tokens)) or len(glued) <= alone:
        return None
    return min(glued, key=len)


def looks_like_prose(paths: PathInput, *, encoding: str | None = None) -> bool:
    """Whether a file, or some of several, look like prose, and not like one tokenised sentence a line.

    The beginnings of the first few files are read. What tells is punctuation that sticks to words.

    Parameters
    ----------
    paths, encoding
        As in `muse.LineSentence`; of standard input, which cannot be read twice, nothing is known.

    Raises
    ------
    TypeError, ValueError, FileNotFoundError
        As `muse.LineSentence`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_text("He sat on the bank, by the river. The water was cold; nobody swam.\\n" * 9)
    >>> looks_like_prose(path)
    True
    """
    encoding = check_encoding(encoding)
    files = [path for path in text_files(paths, "looks_like_prose") if path != STANDARD_INPUT and path.is_file()]
    for path in files[:_FILES]:
        with open_text(path) as file:
            name = shown(path)
            first = next(filter(None, read_chunks(path, file)), b"")[:_LOOKED_AT]
        try:
            text = "".join(decoded([first], encoding, name))
        except ValueError:  # cut in the middle of a letter, or another encoding, of which reading will say more
            text = first.decode("latin-1")
        if text_looks_like_prose(text):
            return True
    return False


class ProseWatch:
    """Warns once where text that is taken for tokens, a sentence a line, looks like prose."""

    def __init__(self) -> None:
        self._left = _FILES

    def look(self, beginning: bytes, name: str) -> None:
        """Look at the beginning of the file of this name, in UTF-8 as far as is known."""
        if self._left == 0 or not beginning:
            return
        self._left -= 1
        word = _glued(beginning[:_LOOKED_AT].decode("utf-8", "ignore"))
        if word is not None:
            self._left = 0
            warn_at_caller(
                f"{name} looks like prose, and is read as one sentence a line with words between white space: "
                f"{quote(word, 40)} is a word of its own; muse.corpus.Prose(path) splits it into sentences and words",
                UserWarning,
            )

    def watched(self, chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
        """The pieces of a file, of which the first that holds something is looked at."""
        pieces = iter(chunks)
        for chunk in pieces:
            self.look(chunk, name)
            yield chunk
            if chunk:
                break
        yield from pieces
