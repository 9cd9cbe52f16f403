"""Writes the page as one file, with the answers about some words inside."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any

from muse.explorer.answers import USES_READ
from muse.explorer.comparing import compare_words
from muse.explorer.document import self_contained
from muse.explorer.models import ExploredModel, ModelOrPath, explored
from muse.explorer.sentences import reasons, sentence_view
from muse.explorer.slices import change_view, over_time_view
from muse.explorer.uses import use_source
from muse.explorer.words import uses_view, word_view
from muse.files.replacing import check_target, replacing

__all__ = ["write_html"]

Strings = Iterable[str]


def write_html(
    model: ModelOrPath,
    words: Strings,
    path: str | PathLike[str],
    *others: ModelOrPath,
    corpus: Any = None,
    sentences: Strings = (),
    names: Sequence[str] | None = None,
    title: str = "",
) -> None:
    """Write the explorer as one HTML file for some words: it needs no server, no model and no net.

    Parameters
    ----------
    model : MUSE, TemporalMUSE, or path of a model file
        A trained model. Of one with slices of time the file has, beside, the words that changed, and the shares and
        uses of the senses of `words` in each slice.
    words : iterable of str
        The words that can be looked up in the file; each must be known to one model at least.
    path : path-like
        The file, which appears whole or not at all.
    *others : MUSE, TemporalMUSE, or paths of model files
        Models to compare with.
    corpus : path, list of paths, iterable of lists of str, CorpusIndex or UseSource, optional
        A text from which example uses are taken, or its index, see `ExplorerServer`; it is read once.
    sentences : iterable of str, optional
        Sentences whose words' senses, and what decides them, are in the file; others cannot be typed there.
    names : sequence of str, optional
        What the models are called; by default as their files.
    title : str, optional
        What the page is called; by default the names.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    TypeError, ValueError, NotTrainedError
        For a single string where several are wanted, no words, or what is no trained model.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> muse.explorer.write_html(model, ["bank", "java"], "senses.html", corpus="wiki.txt")  # doctest: +SKIP
    """
    check_target(path)
    asked, said = _strings("words", words), _strings("sentences", sentences)
    if not asked:
        raise ValueError("words is empty; name at least one word")
    models = explored([model, *others], names)
    for word in asked:
        if not any(word in each.model for each in models):
            models[0].model.vocabulary.index(word)  # says what is known that looks like it
    source = use_source(corpus)
    uses = {} if source is None else source.find(asked, USES_READ)
    data = {
        "info": {
            "title": title or " · ".join(each.name for each in models),
            "models": [each.info() for each in models],
            "start": asked,
            "uses": source is not None,
            "sentences": said,
        },
        "models": [_of_model(each, asked, uses, said) for each in models],
        "compare": {
            f"{first}-{second}": {
                word: compare_words(models[first], models[second], word)
                for word in asked
                if word in models[first].model and word in models[second].model
            }
            for first, second in itertools.permutations(range(len(models)), 2)
        },
    }
    page = self_contained(data).encode("utf-8", "backslashreplace")  # a lone surrogate becomes an escape of JSON
    with replacing(path) as file:
        file.write(page)


def _of_model(explored: ExploredModel, words: Sequence[str], uses: dict[str, Any], said: Sequence[str]) -> Any:
    known = [word for word in words if word in explored.model]
    tagged = {text: sentence_view(explored, text) for text in said}
    slices = explored.slices
    return {
        "change": None if slices is None else change_view(slices),
        "over": {} if slices is None else {word: over_time_view(slices, word) for word in known},
        "words": {word: word_view(explored, word) for word in known},
        "uses": {word: uses_view(explored, word, uses[word]) for word in known if word in uses},
        "sentences": tagged,
        "reasons": {
            text: {
                place: reasons(explored, text, place)
                for place, token in enumerate(view["tokens"])
                if token["word"] is not None
            }
            for text, view in tagged.items()
        },
    }


def _strings(name: str, given: Any) -> list[str]:
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise TypeError(f"{name} must be a list of strings; got {given!r:.80}")
    found = list(dict.fromkeys(given))
    for text in found:
        if not isinstance(text, str):
            raise TypeError(f"{name} must be strings; one of them is {text!r:.80}")
    return found
