"""The database files of Princeton's WordNet: ``index.noun``, ``data.noun`` and so on, of versions 3.0 and 3.1.

Debian and its kin have them in the package ``wordnet-base``, in ``/usr/share/wordnet``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from muse.errors import ModelFileError
from muse.lexicon.synsets import Synset

__all__ = ["PrincetonFiles", "is_princeton"]

_PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_TYPES = {"n": 1, "v": 2, "a": 3, "r": 4, "s": 5}  # in sense keys
_BROADER, _NARROWER = ("@", "@i", ";c"), ("~", "~i", "&")
_EXAMPLE = re.compile(r';\s*(?=")')
_MARK = re.compile(r"\([a-z]{1,2}\)$")  # of where an adjective stands


def is_princeton(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has such files."""
    return (Path(folder) / "index.noun").is_file() and (Path(folder) / "data.noun").is_file()


class PrincetonFiles:
    """WordNet in a folder of database files, of which the entries that are asked for are read.

    Parameters
    ----------
    folder : path-like

    Raises
    ------
    ModelFileError
        If a file is no such file.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.name = f"WordNet in {os.fspath(folder)!r}"
        self._data: dict[str, bytes] = {}
        self._index: dict[str, list[tuple[str, int]]] = {}
        self._folder = Path(folder)
        for part in _PARTS:
            if (self._folder / f"data.{part}").is_file():
                self._data[part] = (self._folder / f"data.{part}").read_bytes()
                self._read_index(part)

    def _read_index(self, part: str) -> None:
        path = self._folder / f"index.{part}"
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            if not line.strip() or line.startswith(b"  "):  # the licence
                continue
            fields = line.decode("utf-8", "replace").split()
            try:
                count = int(fields[2])
                places = [int(field) for field in fields[len(fields) - count :]]
                if count < 1 or len(fields) < 6 + count:
                    raise ValueError
            except (ValueError, IndexError):
                raise self._damaged(path, f"line {number} is no entry of an index") from None
            self._index.setdefault(fields[0].replace("_", " "), []).extend((part, place) for place in places)

    def _damaged(self, path: Path, what: str) -> ModelFileError:
        return ModelFileError(f"{os.fspath(path)!r} is damaged, or no file of WordNet's database: {what}")

    def synsets(self, word: str) -> list[Synset]:
        """See `Lexicon.synsets`; a ModelFileError where an entry cannot be read."""
        wanted = word.replace("_", " ").lower()
        return [self._synset(part, place, wanted) for part, place in self._index.get(wanted, ())]

    def _synset(self, part: str, place: int, word: str) -> Synset:
        entry = self._entry(part, place)
        related = {
            kind: [self._entry(other, there) for symbol, other, there in entry.pointers if symbol in kinds]
            for kind, kinds in (("broader", _BROADER), ("narrower", _NARROWER))
        }
        gloss, *examples = _EXAMPLE.split(entry.gloss)
        key = next((
            f"{lemma.replace(' ', '_')}%{_TYPES[entry.kind]}:{entry.file}:{number:02d}::"
            for lemma, number in entry.words if lemma.lower() == word and entry.kind != "s"
        ), None)  # fmt: skip
        return Synset(
            id=f"{place:08d}-{_PARTS[part]}", pos=_PARTS[part], gloss=gloss.strip(),
            examples=tuple(example.strip(' "') for example in examples),
            lemmas=tuple(lemma for lemma, _ in entry.words),
            broader=tuple(lemma for other in related["broader"] for lemma, _ in other.words),
            narrower=tuple(other.words[0][0] for other in related["narrower"]),
            about=tuple(_EXAMPLE.split(other.gloss)[0] for other in related["broader"]),
            sense_key=None if key is None else key.lower(),
        )  # fmt: skip

    def _entry(self, part: str, place: int) -> _Entry:
        """The line of a data file that begins at a byte."""
        path, data = self._folder / f"data.{part}", self._data.get(part, b"")
        line = data[place : data.find(b"\n", place)].decode("utf-8", "replace")
        try:
            return _Entry(line, place)
        except (ValueError, IndexError, KeyError):
            raise self._damaged(path, f"there is no entry at byte {place}") from None


class _Entry:
    """A line of a data file; a ValueError, IndexError or KeyError where it is none."""

    def __init__(self, line: str, place: int) -> None:
        fields, _, gloss = line.partition(" | ")
        parts = fields.split()
        if int(parts[0]) != place:
            raise ValueError
        self.file, self.kind, self.gloss = parts[1], parts[2], gloss.strip()
        _ = _TYPES[self.kind]
        count = int(parts[3], 16)
        self.words = [
            (_MARK.sub("", parts[4 + 2 * i]).replace("_", " "), int(parts[5 + 2 * i], 16)) for i in range(count)
        ]
        first = 5 + 2 * count
        names = {short: name for name, short in _PARTS.items()} | {"s": "adj"}
        self.pointers = [
            (parts[i], names[parts[i + 2]], int(parts[i + 1]))
            for i in range(first, first + 4 * int(parts[first - 1]), 4)
        ]
        if not self.words:
            raise ValueError
