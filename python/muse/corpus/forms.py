"""Which words may be inflected forms of which others: simple rules of English, and what users say themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Forms", "candidates"]

Forms = str | Mapping[str, str] | Callable[[str], str | None]
"""``"en"``, a mapping from forms to their lemmas, or a function that tells the lemma of a word (None: the word)."""

_LEAST_LETTERS = 2  # of a lemma
_VOWELS = frozenset("aeiou")
# Forms that no rule makes and that are no other common word themselves ("saw", "left", "found" and the like are).
_IRREGULAR = """
arise arose arisen; awake awoke awoken; be is are was were been being am; become became becoming; begin began begun;
bend bent; bite bit bitten; bleed bled; blow blew blown; break broke broken; breed bred; bring brought; build built;
burn burnt; buy bought; catch caught; choose chose chosen; cling clung; come came; creep crept; deal dealt; dig dug;
do did done does; draw drew drawn; dream dreamt; drink drank drunk; drive drove driven; eat ate eaten; fall fallen;
feed fed; feel; fight fought; flee fled; fly flew flown; forbid forbade forbidden; forget forgot forgotten;
forgive forgave forgiven; freeze froze frozen; get got gotten; give gave given; go went gone goes; grow grew grown;
hang hung; have had has; hear heard; hide hid hidden; hold held; keep kept; kneel knelt; know knew known; lay laid;
lead led; leap leapt; learn learnt; lend lent; lose lost; make made; mean meant; meet met; mistake mistook mistaken;
pay paid; ride rode ridden; ring rang rung; rise risen; run ran; say said; see seen; seek sought; sell sold; send sent;
shake shook shaken; shine shone; show shown; shrink shrank shrunk; sing sang sung; sink sank sunk; sit sat; sleep slept;
slide slid; speak spoke spoken; spend spent; spin spun; stand stood; steal stole stolen; stick stuck; sting stung;
strike struck; strive strove striven; swear swore sworn; sweep swept; swell swollen; swim swam swum; swing swung;
take took taken; teach taught; tear tore torn; tell told; think thought; throw threw thrown; understand understood;
wake woke woken; wear wore worn; weave wove woven; weep wept; win won; withdraw withdrew withdrawn; write wrote written;
man men; woman women; child children; person people; foot feet; tooth teeth; goose geese; mouse mice; ox oxen;
analysis analyses; axis axes; basis bases; crisis crises; hypothesis hypotheses; thesis theses; criterion criteria;
phenomenon phenomena; index indices; matrix matrices; vertex vertices; appendix appendices; fungus fungi;
nucleus nuclei; stimulus stimuli; radius radii; larva larvae; bacterium bacteria; medium media; datum data;
knife knives; life lives; wife wives; half halves; calf calves; shelf shelves; wolf wolves; loaf loaves;
thief thieves; self selves
"""


def _irregular() -> dict[str, str]:
    found = {}
    for line in _IRREGULAR.replace("\n", " ").split(";"):
        lemma, *forms = line.split()
        found.update(dict.fromkeys(forms, lemma))
    return found


def _english(word: str) -> Iterator[str]:
    """Words that `word` may be a form of, by its ending."""
    if word.endswith("ies"):
        yield word[:-3] + "y"
    if word.endswith("es"):
        yield word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-1]
    if word.endswith("ied"):
        yield word[:-3] + "y"
    for ending in ("ed", "ing"):
        stem = word.removesuffix(ending)
        if stem == word or _VOWELS.isdisjoint(stem.replace("y", "i")):
            continue
        yield stem
        yield stem + "e"
        if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in _VOWELS:
            yield stem[:-1]


def candidates(words: Sequence[str], forms: Forms) -> NDArray[np.int64]:
    """Pairs of a word and a word that it may be a form of, int64 (n, 2): rows of `words`.

    Parameters
    ----------
    words : sequence of str
        All that there are; forms and lemmas that are not among them are left out.
    forms : "en", mapping of str to str, or callable
        The rules of English; or the lemma of each form; or a function that tells it, None for none.

    Examples
    --------
    >>> words = ["bank", "banks", "banking"]
    >>> candidates(words, "en").tolist(), candidates(words, {"banks": "bank"}).tolist()
    ([[1, 0], [2, 0]], [[1, 0]])
    """
    ids = {word: row for row, word in enumerate(words)}
    irregular = _irregular()

    def lemmas(word: str) -> Iterator[str | None]:
        if forms == "en":
            yield irregular.get(word)
            yield from (lemma for lemma in _english(word) if len(lemma) >= _LEAST_LETTERS)
        elif callable(forms):
            yield forms(word)
        else:
            assert isinstance(forms, Mapping)
            yield forms.get(word)

    pairs = [
        (row, ids[lemma])
        for row, word in enumerate(words)
        for lemma in lemmas(word)
        if lemma is not None and lemma != word and lemma in ids
    ]
    return np.array(pairs, np.int64).reshape(-1, 2)
