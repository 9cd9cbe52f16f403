"""From what a user writes for a context to the arrays that the core reads.

A context is a list of tokens, or a string, whose words stand between white space as in a corpus file: so a string means
the same words as a line of the file that a model was trained on, and as ``text.split()`` where that made the tokens.
When the word occurs in it, the window around its first occurrence counts, or around `position`; otherwise all of it
counts. Unknown words are skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from muse.base.tables import refuse_row
from muse.data.vocabulary import Vocabulary
from muse.files.lines import split_words

__all__ = ["Context", "EncodedContexts", "as_contexts", "as_tokens", "encode"]

Context: TypeAlias = str | Sequence[str]


class EncodedContexts(NamedTuple):
    """N contexts as the core reads them: known tokens in one stream.

    Attributes
    ----------
    tokens : int32 (T,)
        Word ids of all contexts.
    offsets : int64 (N + 1,)
        Context i is ``tokens[offsets[i]:offsets[i + 1]]``.
    positions : int64 (N,)
        Where the word stands in its context, after unknown words were dropped; -1: nowhere, so all of it counts.
    """

    tokens: NDArray[np.int32]
    offsets: NDArray[np.int64]
    positions: NDArray[np.int64]


def as_tokens(context: Context) -> list[str]:
    """The tokens of one context.

    Raises
    ------
    TypeError
        If it is neither a string nor a sequence of strings.
    """
    if isinstance(context, str):
        return split_words(context)
    if not isinstance(context, Iterable):
        raise TypeError(f"a context must be a string or a list of tokens; got {context!r:.80}")
    refuse_row("the context", context)
    tokens = list(context)
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(f"a context must be a string or a list of tokens; it holds {token!r}")
    return tokens


def as_contexts(context: Context | Iterable[Context], vocabulary: Vocabulary) -> tuple[list[Context], bool]:
    """A list of contexts, and whether a single one was given.

    A list of strings is the tokens of one context, unless one of them holds white space and is not a known word: then
    it is a list of contexts.
    """
    if isinstance(context, str):
        return [context], True
    if not isinstance(context, Iterable):
        raise TypeError(f"a context must be a string or a list of tokens; got {context!r:.80}")
    refuse_row("the context", context)
    items = list(context)
    if any(not isinstance(item, str) or (item not in vocabulary and len(as_tokens(item)) > 1) for item in items):
        return items, False
    single: list[Context] = [items]  # type: ignore[list-item]  # every item is a str, as was just checked
    return single, True


def encode(
    word: str | Sequence[str], contexts: Sequence[Context], positions: Sequence[int | None], vocabulary: Vocabulary
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

    Raises
    ------
    ValueError
        If the token at a position is not the word.
    """
    stream: list[int] = []
    offsets, found, known = [0], [], vocabulary.ids
    words = [word] * len(contexts) if isinstance(word, str) else word
    for target, context, position in zip(words, contexts, positions, strict=True):
        tokens = as_tokens(context)
        at = _position(target, tokens, position)
        ids = [known.get(token, -1) for token in tokens]
        found.append(-1 if at < 0 else sum(i >= 0 for i in ids[:at]))
        stream.extend(i for i in ids if i >= 0)
        offsets.append(len(stream))
    return EncodedContexts(np.array(stream, np.int32), np.array(offsets, np.int64), np.array(found, np.int64))


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
