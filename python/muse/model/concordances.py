"""Uses of words and senses in a corpus: questions to a model, which are methods of `MUSE`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muse.base.checks import Choice, flag, integer, number, optional
from muse.data.memory import shortage_said
from muse.data.snapshot import Publisher
from muse.vectors.sense_keys import SenseKey

if TYPE_CHECKING:
    from muse.concordance.collocates import CollocateDifference, Collocates
    from muse.concordance.lines import Concordance

__all__ = ["collocate_difference", "collocates", "concordance"]

_WIDEST = 1000  # words on each side


def concordance(
    self: Publisher,
    key: SenseKey,
    corpus: Any,
    *,
    limit: int | None = None,
    sort: str = "sureness",
    window: int | None = 10,
    min_probability: float = 0.0,
    max_uses: int | None = None,
    seed: int = 1,
) -> Concordance:
    """The uses of a word or sense in a corpus, in context: lines that are sorted, shown and exported.

    Each use has the sense that `disambiguate` selects for it in its sentence. The corpus is indexed the first time, and
    the index is kept beside it; see `muse.concordance.index_corpus`.

    Parameters
    ----------
    key : str or (str, int)
        ``"bank#1"``, uses of that sense; ``"bank"``, uses of the word, each with its sense.
    corpus : path-like, list of paths, `CorpusIndex`, or iterable of lists of str
        Files of text, an index, the file of one (``*.muse-index``), or sentences, which are indexed in memory.
    limit : int, optional
        How many lines, after sorting. By default all.
    sort : {"sureness", "position", "left", "right", "random"}
        The most probable first; as in the text; by the words before or after; at random. See `Concordance.sort`.
    window : int or None
        Words on each side, of the sentence; None: all of the sentence.
    min_probability : float
        Leave out uses whose sense is less probable.
    max_uses : int, optional
        Of a word with more uses look at so many, drawn at random.
    seed : int
        Of what is drawn at random.

    Returns
    -------
    Concordance
        A sequence of `Line`: left, keyword, right, sense, probability, sentence, token. Empty where the corpus has no
        such use.

    Raises
    ------
    UnknownWordError, UnknownSenseError
        Both are KeyErrors: the model does not know the word, or it has no such sense.
    TypeError, ValueError
        For a corpus that is none, or an argument out of range; `IndexFileError` if the index is damaged.
    OSError
        If the corpus cannot be read, or the index not written beside it.

    Examples
    --------
    >>> from muse import MUSE
    >>> text = [["the", "bank", "lends", "money"], ["the", "bank", "of", "the", "river"]] * 20
    >>> model = MUSE(text, vector_size=8, epochs=1, workers=1)
    >>> lines = model.concordance("bank", text, sort="position", limit=2)
    >>> [(line.left, line.right, line.position) for line in lines]
    [('the', 'lends money', (0, 1)), ('the', 'of the river', (1, 1))]
    """
    from muse.concordance.indexing import as_index
    from muse.concordance.lines import SORTS, Concordance
    from muse.concordance.uses import asked_sense, sensed_uses

    limit, window = optional(integer(0))("limit", limit), optional(integer(0, _WIDEST))("window", window)
    max_uses, seed = optional(integer(1))("max_uses", max_uses), integer(0)("seed", seed)
    least = number(0, 1)("min_probability", min_probability)
    Choice(*SORTS)("sort", sort)
    snapshot = self.snapshot
    asked = asked_sense(snapshot, key)
    index = as_index(corpus)
    with shortage_said("uses were looked at", "look at fewer, with max_uses"):
        uses = sensed_uses(snapshot, index, asked.word, max_uses, seed)
        return Concordance.of(asked, index, uses, least, window).sort(sort, seed=seed)[:limit]


def collocates(
    self: Publisher,
    key: SenseKey,
    corpus: Any,
    *,
    window: int = 5,
    measure: str = "logdice",
    weighted: bool = False,
    min_count: int = 5,
    topn: int = 20,
) -> Collocates:
    """The words that stand near a word or sense more often than chance has it, beside those of the word as a whole.

    Parameters
    ----------
    key : str or (str, int)
        ``"bank#1"`` or ``"bank"``.
    corpus
        As in `concordance`.
    window : int
        Words on each side that count, within the sentence.
    measure : {"logdice", "pmi", "t", "likelihood", "count"}
        logDice (Rychlý 2008), 14 at most; pointwise mutual information in bits; the t-score; the log-likelihood ratio
        (Dunning 1993), negative for what is rarer than by chance; or how often.
    weighted : bool
        Count each use with the probability of the sense there; else as one where the sense is selected.
    min_count : int
        Leave out words that stand near it less often.
    topn : int
        How many.

    Returns
    -------
    Collocates
        A sequence of `Collocate`: collocate, near, total, score, share, word_score. With a sense, `share` is the part
        of the word's co-occurrences with the collocate that are the sense's, and `word_score` the score with the word.

    Raises
    ------
    UnknownWordError, UnknownSenseError, TypeError, ValueError, OSError
        As in `concordance`.

    Examples
    --------
    >>> from muse import MUSE
    >>> text = [["the", "bank", "lends", "money"], ["the", "bank", "of", "the", "river"]] * 20
    >>> model = MUSE(text, vector_size=8, epochs=1, workers=1)
    >>> [row.collocate for row in model.collocates("bank", text, window=2, topn=3)]
    ['the', 'lends', 'money']
    """
    from muse.concordance.collocates import MEASURES, find_collocates
    from muse.concordance.indexing import as_index
    from muse.concordance.uses import asked_sense, sensed_uses

    window, topn = integer(1, _WIDEST)("window", window), integer(1)("topn", topn)
    least, weighted = integer(1)("min_count", min_count), flag("weighted", weighted)
    Choice(*MEASURES)("measure", measure)
    snapshot = self.snapshot
    asked = asked_sense(snapshot, key)
    index = as_index(corpus)
    with shortage_said("uses were looked at"):
        uses = sensed_uses(snapshot, index, asked.word)
        return find_collocates(asked, index, uses, window, measure, weighted, least, topn)


def collocate_difference(
    self: Publisher,
    first: SenseKey,
    second: SenseKey,
    corpus: Any,
    *,
    window: int = 5,
    weighted: bool = False,
    min_count: int = 5,
    topn: int = 10,
) -> CollocateDifference:
    """What tells two senses, or two words, apart: the words that stand near one of them and less near the other.

    Parameters
    ----------
    first, second : str or (str, int)
        ``"bank#0"`` and ``"bank#1"``, say.
    corpus, window, weighted, min_count
        As in `collocates`; the count with one of the two is enough.
    topn : int
        How many of each.

    Returns
    -------
    CollocateDifference
        A sequence of `DifferentCollocate`, from what is most the first one's to what is most the second one's, by the
        difference of logDice.

    Raises
    ------
    UnknownWordError, UnknownSenseError, TypeError, ValueError, OSError
        As in `concordance`.

    Examples
    --------
    >>> print(model.collocate_difference("bank#0", "bank#1", "text.txt"))  # doctest: +SKIP
    """
    from muse.concordance.collocates import find_difference
    from muse.concordance.indexing import as_index
    from muse.concordance.uses import asked_sense, sensed_uses

    window, topn = integer(1, _WIDEST)("window", window), integer(1)("topn", topn)
    least, weighted = integer(1)("min_count", min_count), flag("weighted", weighted)
    snapshot = self.snapshot
    asked = asked_sense(snapshot, first), asked_sense(snapshot, second)
    index = as_index(corpus)
    with shortage_said("uses were looked at"):
        one = sensed_uses(snapshot, index, asked[0].word)
        two = one if asked[0].word == asked[1].word else sensed_uses(snapshot, index, asked[1].word)
        return find_difference(asked, index, (one, two), window, weighted, least, topn)
