"""What is known of a meaning in a dictionary of synsets, and the dictionaries that can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

__all__ = ["POS", "Lexicon", "Synset"]

POS = ("n", "v", "a", "r")
"""Nouns, verbs, adjectives and adverbs."""


@dataclass(frozen=True)
class Synset:
    """A meaning of a word, and the words that have it.

    Attributes
    ----------
    id : str
        As the dictionary has it.
    pos : str
        ``"n"``, ``"v"``, ``"a"`` (adjectives that are satellites of others, too), ``"r"``, or what the dictionary says.
    gloss : str
        Its definition.
    examples : tuple of str
        Sentences with one of its words.
    lemmas : tuple of str
        Its words.
    broader, narrower : tuple of str
        Words of wider and of narrower meaning, and of the field that it belongs to.
    about : tuple of str
        Definitions of what is broader.
    sense_key : str or None
        WordNet's key of the word that was asked for in it, ``"bank%1:17:01::"``.
    """

    id: str
    pos: str
    gloss: str
    examples: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    broader: tuple[str, ...] = ()
    narrower: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    sense_key: str | None = None


class Lexicon(Protocol):
    """A dictionary."""

    name: str

    def synsets(self, word: str) -> list[Synset]:
        """The meanings of a word, by parts of speech, the most frequent of each first; none for an unknown word."""
