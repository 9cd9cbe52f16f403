"""Text in which the true sense of every ambiguous word is known, and a model to start with.

`make_ambiguous_corpus` writes such text with a seeded generator, in the manner of scikit-learn's ``make_*`` functions.
`pseudo_words` makes it out of any real text by merging words, the usual trick of word-sense induction: if *banana* and
*door* both become *banana_door*, then which of the two each occurrence was is known, and a sense model should find out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from muse._topic_words import AMBIGUOUS, FUNCTION_WORDS, TOPICS
from muse.base import checks
from muse.base.tables import refuse_row
from muse.data.vocabulary import check_words
from muse.integrations.pretrained import load_pretrained

__all__ = ["AmbiguousCorpus", "iter_pseudo_words", "load_pretrained", "make_ambiguous_corpus", "pseudo_words"]

_T = TypeVar("_T")

_FUNCTION_SHARE = 0.45  # of the positions that may hold a function word: two never stand side by side
_SHORTEST = 4  # tokens in a sentence, at least
_TOP_RANKS = 4  # the first ranks of a topic belong to its own words, so that every topic has a clear core
_WORDS_PER_TOPIC = 12  # a small vocabulary is spread over fewer topics rather than thinly over all


@dataclass(frozen=True)
class AmbiguousCorpus:
    """Sentences, and the true sense of every token.

    Attributes
    ----------
    sentences : list of list of str
        The text, as `muse.MUSE` takes it.
    true_senses : list of list of int
        For each token of `sentences`, the index of its sense in ``ambiguous_words[token]``; -1 for tokens that are
        not ambiguous.
    ambiguous_words : dict of str to list of str
        The ambiguous words and the names of their senses: topics, or the words that were merged.
    """

    sentences: list[list[str]] = field(repr=False)
    true_senses: list[list[int]] = field(repr=False)
    ambiguous_words: dict[str, list[str]]

    def occurrences(self) -> dict[str, list[tuple[int, int, int]]]:
        """Where each ambiguous word stands: ``{word: [(sentence, position, true sense), ...]}`` in text order."""
        found: dict[str, list[tuple[int, int, int]]] = {word: [] for word in self.ambiguous_words}
        for number, (sentence, senses) in enumerate(zip(self.sentences, self.true_senses, strict=True)):
            for position, sense in enumerate(senses):
                if sense >= 0:
                    found[sentence[position]].append((number, position, sense))
        return found


def make_ambiguous_corpus(
    n_sentences: int = 20_000,
    n_words: int = 2_000,
    n_senses: int | Mapping[str, int] = 2,
    seed: int = 0,
    *,
    n_ambiguous: int | None = None,
    sentence_length: float = 15.0,
    topic_purity: float = 0.85,
    zipf: float = 1.0,
) -> AmbiguousCorpus:
    """Write text about a few topics, with words that mean something else in each of several topics.

    A topic is a Zipf distribution over its own words and over the ambiguous words that it shares with other topics.
    A sentence has a main topic and a second one; each content word comes from the main topic with probability
    `topic_purity`, else from the second; function words, common to all topics, stand between them. The sense of an
    ambiguous word is the topic that emitted it, so a `topic_purity` below 1 also yields occurrences that only a part
    of their context explains, and even a perfect learner stays below a perfect score.

    Parameters
    ----------
    n_sentences : int
        Number of sentences; about `sentence_length` tokens each.
    n_words : int
        Size of the vocabulary: function words, ambiguous words, and the topics' own words. The most frequent words of
        a topic are English, the rest pronounceable inventions.
    n_senses : int or mapping of str to int
        Senses of every ambiguous word, or the ambiguous words themselves with the number of senses of each. Words
        known to be ambiguous in English (bank, spring, cell, ...) get their natural topics first.
    seed : int
        The same seed and arguments give the same text (with the same release of numpy).
    n_ambiguous : int, optional
        How many words are ambiguous when `n_senses` is a number; by default a tenth of the vocabulary, at most 24.
    sentence_length : float
        Mean number of tokens in a sentence; no sentence is shorter than 4.
    topic_purity : float
        Probability, in (0, 1], that a content word is about the main topic of its sentence.
    zipf : float
        Exponent of the rank-frequency law, at least 0; 0 makes all words of a topic equally frequent.

    Returns
    -------
    AmbiguousCorpus

    Raises
    ------
    TypeError, ValueError
        If a number is out of its range or none, or `n_words` is too small for the senses that are asked for.

    Examples
    --------
    >>> corpus = make_ambiguous_corpus(n_sentences=2000, n_words=500, seed=1)
    >>> corpus.ambiguous_words["bank"]
    ['finance', 'river']
    >>> len(corpus.sentences) == len(corpus.true_senses) == 2000
    True
    """
    n_sentences, n_words = checks.integer(0)("n_sentences", n_sentences), checks.integer(1)("n_words", n_words)
    sentence_length = checks.number(_SHORTEST, 1e6)("sentence_length", sentence_length)
    topic_purity = checks.number(0, 1, above=True)("topic_purity", topic_purity)
    zipf = checks.number(0, 100)("zipf", zipf)
    rng = np.random.default_rng(checks.integer(0)("seed", seed))
    topics, senses_of = _assign_senses(n_words, n_senses, n_ambiguous, rng)
    emission = _Emission.build(n_words, topics, senses_of, zipf, rng)

    lengths = _SHORTEST + rng.poisson(sentence_length - _SHORTEST, size=n_sentences)
    block = _draw_blocks(lengths, len(topics), topic_purity, rng)
    entry = emission.draw(block, rng)
    ends = np.cumsum(lengths).tolist()
    return AmbiguousCorpus(
        sentences=_split(emission.words[entry].tolist(), ends),
        true_senses=_split(emission.senses[entry].tolist(), ends),
        ambiguous_words={word: [topics[t] for t in of] for word, of in senses_of.items()},
    )


def pseudo_words(
    sentences: Iterable[Sequence[str]], pairs: Iterable[Sequence[str]], joiner: str = "_"
) -> AmbiguousCorpus:
    """Merge pairs of words of a real text into pseudo-words whose true senses are known.

    Parameters
    ----------
    sentences : iterable of sequences of str
        Any text; read once. It is held in memory; see `iter_pseudo_words` for one that does not fit.
    pairs : iterable of (str, str)
        The words to merge. More than two in a tuple give a pseudo-word of more senses.
    joiner : str
        Stands between the words in the name of a pseudo-word.

    Returns
    -------
    AmbiguousCorpus
        `ambiguous_words` maps ``"banana_door"`` to ``["banana", "door"]``.

    Raises
    ------
    ValueError
        If a word stands in two pairs, a word does not occur in the text, or the name of a pseudo-word is already a
        word of the text.
    TypeError
        If a sentence is a string instead of a list of tokens.

    Examples
    --------
    >>> corpus = pseudo_words([["a", "ripe", "banana"], ["the", "door", "opens"]], [("banana", "door")])
    >>> corpus.sentences
    [['a', 'ripe', 'banana_door'], ['the', 'banana_door', 'opens']]
    >>> corpus.true_senses
    [[-1, -1, 0], [-1, 1, -1]]
    """
    groups = _check_groups(pairs, joiner)
    merged: list[list[str]] = []
    truth: list[list[int]] = []
    for tokens, senses in _merge(sentences, groups):
        merged.append(tokens)
        truth.append(senses)
    return AmbiguousCorpus(merged, truth, groups)


def iter_pseudo_words(
    sentences: Iterable[Sequence[str]], pairs: Iterable[Sequence[str]], joiner: str = "_"
) -> Iterator[tuple[list[str], list[int]]]:
    """Merge words as `pseudo_words` does, a sentence at a time and without holding the text.

    Parameters
    ----------
    sentences, pairs, joiner
        As in `pseudo_words`.

    Yields
    ------
    tokens : list of str
        The sentence, with pseudo-words in it.
    senses : list of int
        The true sense of each token: which word of its pair it was, -1 for the other tokens.

    Raises
    ------
    ValueError, TypeError
        As `pseudo_words`. Wrong `pairs` are reported by the call itself; that one of their words does not occur can
        be known only when the text has been read, so it is raised at the end.

    Examples
    --------
    >>> list(iter_pseudo_words([["the", "banana"], ["a", "door"]], [("banana", "door")]))
    [(['the', 'banana_door'], [-1, 0]), (['a', 'banana_door'], [-1, 1])]
    """
    return _merge(sentences, _check_groups(pairs, joiner))


# ---------------------------------------------------------------------------------------------- the generated text


@dataclass(frozen=True)
class _Emission:
    """What each topic, and the block of function words after the last topic, may emit, in order of rank.

    Topic t's distribution occupies one slice of the flat arrays; its cumulative probabilities have t added to them.
    So `cumulative` ascends over all blocks together, and one binary search draws a word for any block.
    """

    words: NDArray[np.object_]  # (entries,)
    senses: NDArray[np.int64]  # (entries,); -1 where the word is not ambiguous
    cumulative: NDArray[np.float64]  # (entries,)

    @classmethod
    def build(
        cls, n_words: int, topics: list[str], senses_of: dict[str, list[int]], zipf: float, rng: np.random.Generator
    ) -> _Emission:
        n_function, own_sizes = _share_out(n_words, len(topics), len(senses_of))
        blocks = _own_words(topics, own_sizes, set(senses_of), rng)
        shared: list[list[tuple[str, int]]] = [[] for _ in topics]
        for word, of in senses_of.items():
            for sense, topic in enumerate(of):
                shared[topic].append((word, sense))
        entries = [_rank(own, among, rng) for own, among in zip(blocks, shared, strict=True)]
        entries.append([(word, -1) for word in _unused(FUNCTION_WORDS, set(senses_of))[:n_function]])
        flat = [entry for block in entries for entry in block]
        return cls(
            words=np.array([word for word, _ in flat], dtype=object),
            senses=np.array([sense for _, sense in flat], dtype=np.int64),
            cumulative=np.concatenate([t + _zipf_cumulative(len(block), zipf) for t, block in enumerate(entries)]),
        )

    def draw(self, block: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """One entry for each element of `block`."""
        # In single precision, since block + uniform must not round up into the next block.
        uniform = rng.random(len(block), dtype=np.float32).astype(np.float64)
        return np.searchsorted(self.cumulative, block + uniform, side="right")


def _assign_senses(
    n_words: int, n_senses: int | Mapping[str, int], n_ambiguous: int | None, rng: np.random.Generator
) -> tuple[list[str], dict[str, list[int]]]:
    """Choose the topics of the text, and for each ambiguous word the topics (by index) that are its senses."""
    count_of = checks.integer(1, len(TOPICS))
    if isinstance(n_senses, Mapping):
        if n_ambiguous is not None:
            raise ValueError("n_ambiguous is for n_senses as a number; a mapping already lists the ambiguous words")
        check_words(list(n_senses), "n_senses")
        wanted = {word: count_of(f"n_senses[{word!r:.80}]", count) for word, count in n_senses.items()}
    else:
        each: int = count_of("n_senses", n_senses)
        count = checks.integer(0)("n_ambiguous", min(24, max(1, n_words // 10)) if n_ambiguous is None else n_ambiguous)
        wanted = dict.fromkeys(_ambiguous_names(count, each), each)
    most = max(wanted.values(), default=1)
    n_topics = min(len(TOPICS), max(most, n_words // _WORDS_PER_TOPIC))
    needed = len(wanted) + n_topics + 1
    if n_words < needed:
        raise ValueError(
            f"n_words={n_words} is too small: {len(wanted)} ambiguous words over {n_topics} topics need at least "
            f"{needed} words"
        )
    topics = list(TOPICS)[:n_topics]
    senses_of: dict[str, list[int]] = {}
    for word, senses in wanted.items():
        of = [topics.index(topic) for topic in AMBIGUOUS.get(word, ()) if topic in topics][:senses]
        others = rng.permutation([t for t in range(n_topics) if t not in of])
        senses_of[word] = of + others[: senses - len(of)].tolist()
    return topics, senses_of


def _ambiguous_names(count: int, n_senses: int) -> list[str]:
    """English words first, those that naturally have so many senses before the others; then invented ones."""
    names = sorted(AMBIGUOUS, key=lambda word: len(AMBIGUOUS[word]) < n_senses)[:count]
    return names + [f"homonym{i}" for i in range(count - len(names))]


def _share_out(n_words: int, n_topics: int, n_ambiguous: int) -> tuple[int, list[int]]:
    """How many function words there are, and how many words each topic has to itself."""
    n_function = min(100, max(1, n_words // 10), n_words - n_ambiguous - n_topics)
    own = n_words - n_ambiguous - n_function
    return n_function, [own // n_topics + (t < own % n_topics) for t in range(n_topics)]


def _unused(words: Iterable[str], taken: set[str]) -> list[str]:
    return [word for word in words if word not in taken]


def _own_words(topics: list[str], sizes: list[int], taken: set[str], rng: np.random.Generator) -> list[list[str]]:
    """Words that one topic has to itself: readable ones as far as they go, then invented ones."""
    blocks = [_unused(TOPICS[topic], taken)[:size] for topic, size in zip(topics, sizes, strict=True)]
    missing = [size - len(block) for size, block in zip(sizes, blocks, strict=True)]
    invented = iter(_invent_words(sum(missing), taken, rng))
    return [block + [next(invented) for _ in range(lacking)] for block, lacking in zip(blocks, missing, strict=True)]


def _invent_words(count: int, taken: set[str], rng: np.random.Generator) -> list[str]:
    """Pronounceable words of three syllables or more, none of them a word that the text may hold otherwise."""
    if not count:
        return []
    known = taken.union(AMBIGUOUS, FUNCTION_WORDS, *TOPICS.values())
    syllables = np.array([consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"])
    length = 3
    while len(syllables) ** length < 2 * (count + len(known)):
        length += 1
    numbers = rng.choice(len(syllables) ** length, size=count + len(known), replace=False)
    words = syllables[numbers % len(syllables)]
    for _ in range(length - 1):
        numbers //= len(syllables)
        words = np.char.add(words, syllables[numbers % len(syllables)])
    return _unused(words.tolist(), known)[:count]


def _rank(own: list[str], shared: list[tuple[str, int]], rng: np.random.Generator) -> list[tuple[str, int]]:
    """A topic's words in order of frequency: shared ones at random places below its top, above its long tail."""
    total = len(own) + len(shared)
    first = min(_TOP_RANKS, len(own))
    places = first + rng.choice(min(total - first, max(16, 2 * len(shared))), size=len(shared), replace=False)
    at = dict(zip(places.tolist(), shared, strict=True))
    rest = iter(own)
    return [at[place] if place in at else (next(rest), -1) for place in range(total)]


def _zipf_cumulative(count: int, exponent: float) -> NDArray[np.float64]:
    cumulative: NDArray[np.float64] = np.cumsum(np.arange(1, count + 1, dtype=np.float64) ** -exponent)
    cumulative /= cumulative[-1]
    return cumulative


def _draw_blocks(
    lengths: NDArray[np.int64], n_topics: int, purity: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """For each token, the topic that emits it, or `n_topics` for a function word."""
    topic_share = rng.dirichlet(np.full(n_topics, 10.0))  # topics are about, but not exactly, equally frequent
    main, second = rng.choice(n_topics, size=(2, len(lengths)), p=topic_share)
    n_tokens = int(lengths.sum())
    from_main = rng.random(n_tokens, dtype=np.float32) < purity
    topic = np.where(from_main, np.repeat(main, lengths), np.repeat(second, lengths))
    # Function words alternate inside a run of candidates, so that two never follow each other.
    candidate = rng.random(n_tokens, dtype=np.float32) < _FUNCTION_SHARE
    position = np.arange(n_tokens)
    last_other = np.maximum.accumulate(np.where(candidate, -1, position))
    is_function = candidate & ((position - last_other) % 2 == 1)
    return np.where(is_function, n_topics, topic)


def _split(flat: list[_T], ends: list[int]) -> list[list[_T]]:
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


# ---------------------------------------------------------------------------------------------- pseudo-words


def _check_groups(pairs: Iterable[Sequence[str]], joiner: str) -> dict[str, list[str]]:
    """Name of the pseudo-word -> its words."""
    groups: dict[str, list[str]] = {}
    seen: set[str] = set()
    if not isinstance(pairs, Iterable):
        raise TypeError(f"`pairs` must be a list of tuples of words, not {pairs!r:.80}")
    for pair in pairs:
        words = list(pair) if isinstance(pair, Sequence) and not isinstance(pair, (str, bytes)) else []
        if len(words) < 2 or not all(isinstance(word, str) for word in words):
            raise ValueError(f"each of `pairs` must be a tuple of two words or more, not {pair!r:.80}")
        for word in words:
            if word in seen:
                raise ValueError(f"the word {word!r} stands twice in `pairs`; a word can be merged only once")
            seen.add(word)
        name = joiner.join(words)
        if name in groups:
            raise ValueError(f"two of `pairs` give the same name {name!r}; choose another `joiner`")
        groups[name] = words
    return groups


def _merge(sentences: Iterable[Sequence[str]], groups: dict[str, list[str]]) -> Iterator[tuple[list[str], list[int]]]:
    name_of = {word: name for name, words in groups.items() for word in words}
    sense_of = {word: sense for words in groups.values() for sense, word in enumerate(words)}
    unseen = set(name_of)
    for number, sentence in enumerate(checks.sentences("sentences", sentences)):
        refuse_row(f"sentence {number + 1}", sentence)
        if isinstance(sentence, str):
            raise TypeError(f"sentence {number} is a string; give each sentence as a list of tokens (text.split())")
        if not groups.keys().isdisjoint(sentence):
            name = next(word for word in sentence if word in groups)
            raise ValueError(f"sentence {number} already holds the word {name!r}; choose another `joiner`")
        if unseen:
            unseen.difference_update(sentence)
        yield [name_of.get(word, word) for word in sentence], [sense_of.get(word, -1) for word in sentence]
    if unseen:
        raise ValueError(f"words of `pairs` that do not occur in the text: {', '.join(sorted(unseen))}")
