"""From what a user writes for a context to the arrays that the core reads.

A context is a list of tokens, or a string, which becomes tokens as the text of the model did (`TextReader`); where
nothing is known of that, its words stand between white space as in a corpus file. When the word occurs in it, the
window around its first occurrence counts, or around `position`; otherwise all of it counts. Unknown words are skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from muse.base.tables import refuse_row
from muse.data.vocabulary import Vocabulary
from muse.errors import quote
from muse.files.lines import split_words

__all__ = ["AskedContexts", "Context", "EncodedContexts", "as_tokens", "asked_contexts", "encode"]

Context: TypeAlias = str | Sequence[str]

_STRINGS = frozenset([str])


class EncodedContexts(NamedTuple):
    """N contexts as the core reads them: known tokens in one stream.

    Lists, since a single short context is asked about most, and arrays of it would take longer than its answer.

    Attributes
    ----------
    tokens : list of T int
        Word ids of all contexts.
    offsets : list of N + 1 int
        Context i is ``tokens[offsets[i]:offsets[i + 1]]``.
    positions : list of N int
        Where the word stands in its context, after unknown words were dropped; -1: nowhere, so all of it counts.
    """

    tokens: list[int]
    offsets: list[int]
    positions: list[int]

    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]:
        """The three as arrays."""
        return np.array(self.tokens, np.int32), np.array(self.offsets, np.int64), np.array(self.positions, np.int64)


class AskedContexts(NamedTuple):
    """The contexts of a question, and the form of its answer.

    Attributes
    ----------
    contexts : list of N contexts
        Strings or lists of tokens.
    positions : list of N int or None
        Which occurrence of the word is meant in each.
    single : bool
        Whether one context was asked for, so that the answer has no axis of contexts.
    """

    contexts: list[Context]
    positions: list[int | None]
    single: bool


def as_tokens(context: Context, split: Callable[[str], list[str]] = split_words) -> list[str]:
    """The tokens of one context, of a string what `split` makes of it.

    Raises
    ------
    TypeError
        If it is neither a string nor a sequence of strings.
    """
    if isinstance(context, str):
        return split(context)
    if type(context) is list and _STRINGS.issuperset(map(type, context)):  # as nearly all are; the rest is slow
        return context.copy()
    if not isinstance(context, Iterable):
        raise TypeError(f"a context must be a string or a list of tokens; got {context!r:.80}")
    refuse_row("the context", context)
    tokens = list(context)
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"a context must be a string or a list of tokens; it holds {token!r}")
    return tokens


def asked_contexts(
    context: Any, position: Any, contexts: Any, positions: Any, known: Container[str], plural: str = "contexts"
) -> AskedContexts | None:
    """What a question asks about, by the arguments it was given; None: it is about no context.

    What `context` and `contexts` mean does not depend on what is in them: `context` is one context, a string or a list
    of tokens, and `contexts` is several, also if it holds one or none. A list that may be meant the other way is
    refused.

    Parameters
    ----------
    context, position : optional
        One context, and the index among its tokens of the occurrence that is meant.
    contexts, positions : optional
        Several contexts, and such an index, or None, for each.
    known : container of str
        Words of the model, of which some may hold white space.
    plural : str
        What the caller's argument of several contexts is called.

    Raises
    ------
    TypeError
        If `context` is a list of lists, or `contexts` a single string; for positions that are no integers.
    ValueError
        If both are given, or a position without its context; if a token of a list is several words; if there are not as
        many positions as contexts.
    """
    if context is not None and contexts is not None:
        raise ValueError("give either context, which is one, or contexts, which are several")
    if contexts is None:
        if positions is not None:
            raise ValueError("positions are for contexts=[...]; for one context give position")
        if context is None:
            if position is not None:
                raise ValueError("position is an index of the context's tokens; give the context too")
            return None
        return AskedContexts([_one_context(context, known, plural)], [_position_given(position)], single=True)
    if position is not None:
        raise ValueError("position is for one context; for contexts give positions=[...], with None where any will do")
    refuse_row("contexts", contexts)
    if isinstance(contexts, (str, bytes)) or not isinstance(contexts, Iterable):
        raise TypeError(f"contexts must be a list of contexts, each a string or a list of tokens; got {contexts!r:.80}")
    several = [_one_context(item, known, plural) for item in contexts]
    if positions is None:
        return AskedContexts(several, [None] * len(several), single=False)
    if isinstance(positions, str) or not isinstance(positions, Iterable):
        raise TypeError(f"positions must be a list, with a position or None for each context; got {positions!r:.80}")
    places = [_position_given(place) for place in positions]
    if len(places) != len(several):
        raise ValueError(f"{len(several)} contexts need as many positions; got {len(places)}")
    return AskedContexts(several, places, single=False)


def _one_context(given: Any, known: Container[str], plural: str) -> Context:
    """A context as it was given, where it can be nothing else."""
    if isinstance(given, str):
        return given
    if type(given) is not list and not isinstance(given, (bytes, Mapping)) and isinstance(given, Iterable):
        given = list(given)
    if (
        type(given) is list and not _STRINGS.issuperset(map(type, given))
        and any(not isinstance(item, str) and isinstance(item, Iterable) for item in given)
    ):  # fmt: skip
        raise TypeError("a context is a string or a list of tokens, and this is a list of lists; "
                        f"give several as {plural}=[...]")  # fmt: skip
    tokens = as_tokens(given)
    for place, token in enumerate(tokens):
        if token not in known and len(split_words(token)) > 1:
            raise ValueError(
                f"the context is a list of tokens, and its item {place}, {quote(token)}, is several words: give "
                f"several contexts as {plural}=[...], and a single one as a string or with a word in each item"
            )
    return tokens


def _position_given(position: Any) -> int | None:
    if position is None:
        return None
    if isinstance(position, bool) or not isinstance(position, (int, np.integer)):
        raise TypeError(f"a position is an index of the context's tokens, an integer or None; got {position!r:.80}")
    return int(position)


def encode(
    word: str | Sequence[str],
    contexts: Sequence[Context],
    positions: Sequence[int | None],
    vocabulary: Vocabulary,
    split: Callable[[str], list[str]] = split_words,
) -> EncodedContexts:
    """Encode contexts.

    Parameters
    ----------
    word : str or sequence of N str
        A known word, or that of each context.
    contexts : sequence of N contexts
        Strings or lists of tokens.
    positions : sequence of N int or None
        Index of the occurrence of `word` that is meant, among the tokens of its context; None: the first one.
    vocabulary : Vocabulary
        Tokens that it does not hold are skipped.
    split : callable
        Makes tokens of a context that is a string.

    Raises
    ------
    ValueError
        If the token at a position is not the word.
    """
    stream: list[int] = []
    offsets, found, known = [0], [], vocabulary.ids.get
    words = repeat(word, len(contexts)) if isinstance(word, str) else word
    for target, context, position in zip(words, contexts, positions, strict=True):
        tokens = as_tokens(context, split)
        ids = list(map(known, tokens))
        at = _position(target, tokens, position)
        unknown = ids.count(None)
        if not unknown:
            stream += ids  # type: ignore[arg-type]
        else:
            stream += [row for row in ids if row is not None]
            at -= ids[:at].count(None) if at > 0 else 0
        found.append(at)
        offsets.append(len(stream))
    return EncodedContexts(stream, offsets, found)


def _position(word: str, tokens: list[str], position: int | None) -> int:
    """Index of the occurrence that is meant; -1 where the word does not occur."""
    if position is None:
        return tokens.index(word) if word in tokens else -1
    if not 0 <= position < len(tokens) or tokens[position] != word:
        there = f"the token there is {tokens[position]!r}" if 0 <= position < len(tokens) else "there is no such token"
        at = [i for i, token in enumerate(tokens) if token == word]
        where = f"{word!r} is at {', '.join(map(str, at))}" if at else f"{word!r} is not in the context; leave it out"
        raise ValueError(f"position={position} is not an occurrence of {word!r}: {there}, and {where}")
    return int(position)
