"""Dictionaries through the library ``wn``: files of WN-LMF, read as they are, and what is in the library's database."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Any

from muse.base.optional import needed
from muse.errors import ModelFileError
from muse.lexicon.synsets import Synset

__all__ = ["LmfFile", "WnDatabase"]

_BROADER = ("hypernym", "instance_hypernym", "domain_topic", "has_domain_topic")
_NARROWER = ("hyponym", "instance_hyponym", "similar")
_KEY = re.compile(r"([^%]+?)__(\d)\.(\d\d)\.(\d\d)\.([^.]*)\.(\d*)$")  # of senses of Open English WordNet
_WHAT = "linking senses with WordNet"


def _pos(pos: str | None) -> str:
    return "a" if pos == "s" else pos or ""


def sense_key(sense_id: str, word: str) -> str | None:
    """WordNet's key of a sense, where its id in a file holds it.

    Examples
    --------
    >>> sense_key("oewn-bank__1.17.01..", "bank")
    'bank%1:17:01::'
    """
    found = _KEY.search(sense_id)
    return None if found is None else f"{word.replace(' ', '_')}%{':'.join(found.groups()[1:])}".lower()


class LmfFile:
    """The first lexicon of a WN-LMF file.

    Parameters
    ----------
    path : path-like
        XML.

    Raises
    ------
    ModelFileError
        If it is no such file.
    ImportError
        If ``wn`` is not installed.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        lmf = needed("wn.lmf", _WHAT, "wordnet")
        self.name = os.fspath(path)
        try:
            loaded = lmf.load(self.name, progress_handler=None)["lexicons"][0]
            self._read(loaded)
        except (ModelFileError, OSError, MemoryError):
            raise
        except Exception as error:  # of the library, or of the XML parser
            raise ModelFileError(
                f"{self.name!r} is no WN-LMF file, or damaged ({error or type(error).__name__})"
            ) from error

    def _read(self, loaded: Any) -> None:
        self._synsets: dict[str, Any] = {synset["id"]: synset for synset in loaded.get("synsets", ())}
        self._lemmas: dict[str, list[str]] = {}
        self._senses: dict[str, list[tuple[str, str, str]]] = {}
        for entry in loaded.get("entries", ()):
            lemma = entry["lemma"]["writtenForm"]
            for sense in entry.get("senses", ()):
                known = self._lemmas.setdefault(sense["synset"], [])
                if lemma not in known:
                    known.append(lemma)
                self._senses.setdefault(lemma.lower(), []).append((lemma, sense["id"], sense["synset"]))

    def synsets(self, word: str) -> list[Synset]:
        """See `Lexicon.synsets`."""
        found = {}
        for lemma, sense, synset in self._senses.get(word.replace("_", " ").lower(), ()):
            if synset in self._synsets and synset not in found:
                found[synset] = self._synset(synset, sense_key(sense, lemma))
        return list(found.values())

    def _synset(self, name: str, key: str | None) -> Synset:
        synset = self._synsets[name]
        broader, narrower = (
            [r["target"] for r in synset.get("relations", ()) if r["relType"] in kinds and r["target"] in self._synsets]
            for kinds in (_BROADER, _NARROWER)
        )
        return Synset(
            name, _pos(synset.get("partOfSpeech")), _text(synset.get("definitions", ())),
            tuple(example.get("text", "") for example in synset.get("examples", ())),
            tuple(self._lemmas.get(name, ())),
            tuple(lemma for other in broader for lemma in self._lemmas.get(other, ())),
            tuple(lemma for other in narrower for lemma in self._lemmas.get(other, ())[:1]),
            tuple(_text(self._synsets[other].get("definitions", ())) for other in broader), key,
        )  # fmt: skip


def _text(definitions: Iterable[Any]) -> str:
    return next((definition.get("text", "") for definition in definitions), "")


class WnDatabase:
    """A lexicon in the library's database, or one that a program has opened.

    Parameters
    ----------
    lexicon : str or wn.Wordnet
        Such as ``"oewn:2024"``.

    Raises
    ------
    ImportError
        If ``wn`` is not installed.
    ValueError
        If the database lacks it.
    """

    def __init__(self, lexicon: Any) -> None:
        wn = needed("wn", _WHAT, "wordnet")
        self.name = str(lexicon)
        try:
            self._wordnet = wn.Wordnet(lexicon) if isinstance(lexicon, str) else lexicon
            known = list(self._wordnet.lexicons())
        except wn.Error as error:
            known, reason = [], f" ({error})"
        else:
            reason = ""
        if not known:
            raise ValueError(
                f"wn has no lexicon {self.name!r:.80}{reason}: get it with python -m wn download {self.name:.40}, or "
                "give the path of a WN-LMF file, or of a folder with WordNet's database (Debian: wordnet-base, in "
                "/usr/share/wordnet)"
            )

    def synsets(self, word: str) -> list[Synset]:
        """See `Lexicon.synsets`."""
        found = {}
        for sense in self._wordnet.senses(word.replace("_", " ")):
            synset = sense.synset()
            if synset.id not in found:
                found[synset.id] = self._synset(synset, sense_key(sense.id, word))
        return list(found.values())

    def _synset(self, synset: Any, key: str | None) -> Synset:
        broader, narrower = synset.get_related(*_BROADER), synset.get_related(*_NARROWER)
        return Synset(
            synset.id, _pos(synset.pos), synset.definition() or "", tuple(synset.examples()), tuple(synset.lemmas()),
            tuple(lemma for other in broader for lemma in other.lemmas()),
            tuple(lemma for other in narrower for lemma in other.lemmas()[:1]),
            tuple(other.definition() or "" for other in broader), key,
        )  # fmt: skip
