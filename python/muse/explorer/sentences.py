"""What the page shows of a sentence: the sense of each word, how sure that is, and which other words decide it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from muse.corpus.tokenizer import tokenize
from muse.explorer.models import ExploredModel
from muse.explorer.words import colours, cuts_of, names_of
from muse.model.muse import MUSE

__all__ = ["MOST_LETTERS", "reasons", "sentence_view"]

MOST_LETTERS = 2000  # of a sentence
_MOST_TOKENS = 300
_FUNCTION_WORDS = 150
_LEAST = 1e-6  # probability whose logarithm is taken


def sentence_view(explored: ExploredModel, text: str) -> dict[str, Any]:
    """The senses of the words of a sentence.

    Parameters
    ----------
    explored : ExploredModel
        The model.
    text : str
        Prose. It is split into words as the text of the model was, where it remembers that, else by
        `muse.corpus.tokenize`; a word that the model does not know as it is written is looked up in lower case.

    Returns
    -------
    dict
        ``tokens``: for each word its text, the word of the model or None, the numbers of its senses with probabilities,
        the place of the most probable one, whether it is ``alone``, without other known words, and whether it is so
        ``common`` that its senses say little.

    Raises
    ------
    ValueError
        If the text is too long.
    """
    model = explored.model
    words = _split(model, text)
    known = [word for _, word in words if word is not None]
    positions = list(range(len(known)))
    shares = iter(model.sense_probabilities_batch(known, [known] * len(known), positions))
    tokens: list[dict[str, Any]] = []
    for token, word in words:
        if word is None:
            tokens.append({"text": token, "word": None})
            continue
        found, numbers = next(shares), model.sense_numbers(word).tolist()
        colour, names = _look_of(model, word), names_of(model, word)
        best = int(found.argmax())
        tokens.append({
            "text": token, "word": word, "best": best, "alone": len(known) < 2,
            "common": len(model) > 50 * _FUNCTION_WORDS and model.vocabulary.index(word) < _FUNCTION_WORDS,
            "senses": [
                {"number": number, "share": round(float(share), 4), "colour": colour[number], "name": names.get(number)}
                for number, share in zip(numbers, found.tolist(), strict=True)
            ],
        })  # fmt: skip
    return {"text": text, "tokens": tokens}


def reasons(explored: ExploredModel, text: str, token: int) -> dict[str, Any]:
    """How much each other word of a sentence speaks for the sense that is selected for one of its words.

    Each is left out in turn, and the model asked again: the answer is what it would say of the sentence without that
    word. Two words that say the same thing may each seem to matter little, since the other one remains.

    Parameters
    ----------
    explored, text
        As for `sentence_view`.
    token : int
        Place of the word among the tokens.

    Returns
    -------
    dict
        ``share``: the probability of the selected sense; ``words``: for each other known word its place among the
        tokens, that probability without it, and its effect, the difference of the logarithms of the odds (above 0: it
        speaks for the sense).

    Raises
    ------
    ValueError
        If the text is too long, there is no such token, or the model does not know it.
    """
    model = explored.model
    words = [word for _, word in _split(model, text)]
    if not 0 <= token < len(words):
        raise ValueError(f"token must be from 0 to {len(words) - 1}; got {token}")
    word = words[token]
    if word is None:
        raise ValueError(f"the model does not know token {token}")
    places = [place for place, other in enumerate(words) if other is not None]
    known, at = [other for other in words if other is not None], places.index(token)
    others = [place for place in range(len(known)) if place != at]
    contexts = [known, *(known[:place] + known[place + 1 :] for place in others)]
    positions = [at, *(at - (place < at) for place in others)]
    shares = model.sense_probabilities(word, contexts=contexts, positions=positions)
    best = int(shares[0].argmax())
    with_all, without = float(shares[0, best]), shares[1:, best].tolist()
    return {
        "token": token,
        "number": int(model.sense_numbers(word)[best]),
        "share": round(with_all, 4),
        "words": [
            {"token": places[place], "without": round(left, 4), "effect": round(_odds(with_all) - _odds(left), 3)}
            for place, left in zip(others, without, strict=True)
        ],
    }


def _split(model: MUSE, text: str) -> list[tuple[str, str | None]]:
    """The words of a sentence, and what each is in the model: None, where it knows none."""
    if len(text) > MOST_LETTERS:
        raise ValueError(f"a sentence may have {MOST_LETTERS} letters; this one has {len(text)}")
    shown = tokenize(text, lower=False)
    asked = shown if model.snapshot.text_form is None else model.tokenize(text)
    written = shown if len(shown) == len(asked) else asked  # as they were typed, where that can be told
    if len(written) > _MOST_TOKENS:
        raise ValueError(f"a sentence may have {_MOST_TOKENS} words; this one has {len(written)}")
    return [
        (token, next((word for word in (own, token, token.lower()) if word in model), None))
        for token, own in zip(written, asked, strict=True)
    ]


def _look_of(model: MUSE, word: str) -> list[int]:
    tree = model.sense_tree(word, topn=0)
    return colours(cuts_of(model, tree), tree)


def _odds(share: float) -> float:
    """The logarithm of the odds."""
    share = float(np.clip(share, _LEAST, 1 - _LEAST))
    return math.log(share / (1 - share))
