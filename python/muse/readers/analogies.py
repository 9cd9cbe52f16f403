"""Analogies a : b = c : ?, on files such as ``questions-words.txt`` (T. Mikolov et al. 2013)."""

from __future__ import annotations

import os
from typing import NamedTuple

from muse.readers.lines import read_lines

__all__ = ["Analogy", "read_analogies"]


class Analogy(NamedTuple):
    """One question: `first` is to `second` as `third` is to `expected`."""

    section: str
    first: str
    second: str
    third: str
    expected: str


def read_analogies(path: str | os.PathLike[str]) -> list[Analogy]:
    """Read a file of four words a line, in sections that begin with a line ``: name``.

    Raises
    ------
    FileNotFoundError, ValueError
        For a missing file or a line that is neither; the message names the file and the line.
    """
    section, questions = "", []
    for number, line in read_lines(path):
        if line.startswith(":"):
            section = line[1:].strip()
        elif fields := line.split():
            if len(fields) != 4:
                raise ValueError(f"{os.fspath(path)}, line {number}: expected four words, found {len(fields)}")
            questions.append(Analogy(section, *fields))
    if not questions:
        raise ValueError(f"{os.fspath(path)} holds no analogies")
    return questions
