"""From the text of a file to paragraphs: lines that are broken for the width of a page become one again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

__all__ = ["paragraphs"]

_LONGEST = 1 << 18  # letters; a longer line or paragraph is cut at white space, so that a file of one line is no matter
_SAMPLE = 400  # lines at the beginning of a file that say how it is laid out
_WIDEST = 160  # letters of a line that was broken for a page
_BROKEN = 0.3  # of the lines go on in the next one, in a text of broken lines; few do elsewhere
_SHORT = 0.6  # of the width: a line that ends before it ends its paragraph
_ENDS = re.compile(r"""[.!?…:;؟۔।॥։።។။。！？]["'”“’»›«)\]」』）】]*\Z""")
_HYPHEN = re.compile(r"([^\W\d_])([-\u2010\u00ad¬])\Z")
_LINKS = frozenset("and or und oder bzw sowie et ou y o e och og en of i a czy и или".split())  # Ein- und Ausgang
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\u3000-\u30ff]")


def paragraphs(texts: Iterable[str]) -> Iterator[str]:
    """The paragraphs of a text in pieces, each in one line.

    Whether lines are broken for the width of a page, or each is a paragraph, is seen from the first few hundred. Where
    they are broken, empty lines and lines that end early are the ends of paragraphs, and words that were divided at the
    end of a line are put together: "embed-" and "ding" are "embedding", "Anglo-" and "Saxon" are "Anglo-Saxon".

    Examples
    --------
    >>> list(paragraphs(["The embed-\\nding of a word\\nis a vector.\\n\\nIt has\\na length.\\n"]))
    ['The embedding of a word is a vector.', 'It has a length.']
    """
    lines = _lines(texts)
    sample = [line for line, _ in zip(lines, range(_SAMPLE), strict=False)]
    filled = [len(line) for line in sample if line]
    width = sorted(filled)[int(0.9 * (len(filled) - 1))] if filled else 0
    every = chain(sample, lines)
    if not _are_broken(sample, width):
        yield from filter(None, every)
        return
    open_lines: list[str] = []
    size = 0
    for line, after in pairwise(chain(every, [""])):
        if line:
            open_lines.append(line)
            size += len(line)
        ends = not after or size > _LONGEST or (len(line) < _SHORT * width and _may_begin(line, after))
        if open_lines and ends:
            yield _joined(open_lines)
            open_lines, size = [], 0


def _lines(texts: Iterable[str]) -> Iterator[str]:
    """Lines without the white space around them; empty ones too."""
    pending = ""
    for text in texts:
        found = (pending + text).splitlines(keepends=True)
        # The last may go on in the next piece, and a carriage return may have its line feed there.
        pending = found.pop() if found and (found[-1].splitlines() == [found[-1]] or found[-1][-1] == "\r") else ""
        yield from map(str.strip, found)
        while len(pending) > _LONGEST:
            cut = pending.rfind(" ", 0, _LONGEST) + 1 or _LONGEST
            yield pending[:cut].strip()
            pending = pending[cut:]
    yield from map(str.strip, pending.splitlines())


def _are_broken(lines: list[str], width: int) -> bool:
    """Whether sentences go on from line to line: most lines do not end one, and the next does not begin one."""
    followed = [(line, after) for line, after in pairwise(lines) if line and after]
    going_on = sum(not _ENDS.search(line) and not _is_capital(after[0]) for line, after in followed)
    return 0 < width <= _WIDEST and going_on >= max(1, _BROKEN * len(followed))


def _is_capital(letter: str) -> bool:
    return letter.isupper() or not letter.isalnum()


def _may_begin(line: str, after: str) -> bool:
    """Whether a paragraph may begin with `after`, behind a short line."""
    return not after[0].islower() and not _HYPHEN.search(line) and line[-1:] != ","


def _joined(lines: list[str]) -> str:
    parts = [lines[0]]
    for line, after in pairwise(lines):
        hyphen = _HYPHEN.search(line)
        if hyphen is not None and after.split(None, 1)[0] not in _LINKS:
            before, mark = hyphen.groups()
            if mark in "\u00ad¬" or before.islower() == after[0].islower() != before.isupper() == after[0].isupper():
                parts[-1] = parts[-1][:-1]
            parts.append(after)
        elif _UNSPACED.match(line, len(line) - 1) and _UNSPACED.match(after):
            parts.append(after)
        else:
            parts += (" ", after)
    return "".join(parts)
