"""`TemporalMUSE`: one model of several slices of a text, and what it says of change between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

import numpy as np

from muse.base.checks import Choice, integer, number
from muse.base.numeric import unit_rows
from muse.change import asking, storing
from muse.change.dated import by_bins
from muse.change.held import HeldSlices, name_of_slice
from muse.change.measures import MEASURES, count_groups, rank, use_groups
from muse.change.slices import Slice, Source, of_text
from muse.change.tables import ChangeTable, ShareTable, Table
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import Tokenizer
from muse.data.arrays import Floats
from muse.model.muse import MUSE
from muse.selector.uses import Example, find_uses
from muse.vectors.sense_keys import SenseKey, parse_sense_key

__all__ = ["TemporalMUSE"]

MOST_SENTENCES = 2**31 - 1  # of a block
_BLOCK = 20  # sentences
_OF_RISEN = ("least_share", "most_before", "least_uses", "permutations", "rate", "seed")


class TemporalMUSE(HeldSlices):
    """One model over several slices of text, such as periods: which senses each has, and how they changed.

    One model of all text is the compass: it gives the words, their senses, and the selector that tells which sense a
    use is of. Each slice is tagged by it, and its vectors follow from the mean contexts of its own uses by the linear
    map by which the compass's senses got theirs. So all slices are in one space, and a slice can be added without
    training.

    Parameters
    ----------
    slices : mapping of str to path-like, list of paths, or iterable of lists of str
        The text of each slice, in the order of time: files of one sentence a line, or sentences. Keep sentences of a
        document together: chance is measured by documents, see `change`.
    model : MUSE, optional
        A compass that is trained already, with sense trees (the recipe `Trees`), in place of `settings`.
    block : int
        Sentences that are one unit to the permutation and to intervals; about as many as a document has.
    **settings
        Those of `MUSE`, such as ``vector_size=100``.

    Attributes
    ----------
    model : MUSE
        The compass.

    Raises
    ------
    TypeError, ValueError
        For slices that cannot be read or hold no known word, a setting out of range, or a model without sense trees.

    Examples
    --------
    >>> from muse.datasets import make_ambiguous_corpus
    >>> old, new = (make_ambiguous_corpus(1500, 300, seed=0).sentences[i::2] for i in (0, 1))
    >>> both = TemporalMUSE({"old": old, "new": new}, vector_size=16, senses=2, workers=1)
    >>> both.slices
    ('old', 'new')
    >>> [row["slice"] for row in both.shares("bank")]
    ['old', 'old', 'new', 'new']
    """

    def __init__(
        self, slices: Mapping[str, Any], *, model: MUSE | None = None, block: int = _BLOCK, **settings: Any
    ) -> None:
        if not isinstance(slices, Mapping):
            raise TypeError(f"slices must be a mapping of names to texts; got {slices!r:.80}")
        if not slices:
            raise ValueError("there are no slices; give at least one text, {'1810-1860': 'old.txt'}")
        block = integer(1, MOST_SENTENCES)("block", block)
        sources = {name_of_slice(name): Source(text, name) for name, text in slices.items()}
        if twice := {"sentences", "corpus_file"} & set(settings):
            raise TypeError(f"the text is that of the slices; leave {min(twice)} out")
        if model is None:
            sentences, files = of_text(list(sources.values()))
            model = MUSE(sentences, corpus_file=files, **settings)  # type: ignore[arg-type]
        elif settings:
            raise TypeError(f"the model is trained already; {sorted(settings)[0]!r} is for one that is trained here")
        self._hold(model, sources, block)

    @classmethod
    def from_table(
        cls, table: Any, text: Any, by: Any, bins: Sequence[Any] | None = None, *,
        tokenizer: Tokenizer = tokenize, **options: Any,
    ) -> TemporalMUSE:  # fmt: skip
        """A model of a table with a column of text and one of dates.

        Parameters
        ----------
        table : data frame, or iterable of mappings
            As `muse.corpus.Column` takes it.
        text, by : str
            The columns of text and of dates: years, or whatever can be compared.
        bins : sequence, optional
            Edges of slices: ``[1810, 1860, 1910]`` makes "1810-1860" and "1860-1910". Slices are half-open: 1860 is in
            the second only; the last edge, 1910, is in the last slice. Without it each date is a slice.
        tokenizer : callable
            Gives the tokens of a line of text.
        **options
            As of `TemporalMUSE`.

        Raises
        ------
        TypeError, ValueError
            For dates that cannot be compared, columns of unequal length, edges that do not rise, or if no row is in a
            slice.
        KeyError
            If there is no such column.

        Warns
        -----
        UserWarning
            That says how many rows are in no slice, for their dates are outside the bins.

        Examples
        --------
        >>> rows = [{"year": year, "text": "the cell of the prison"} for year in (1810, 1815, 1900) for _ in range(9)]
        >>> TemporalMUSE.from_table(rows, "text", "year", [1800, 1850, 1950], vector_size=8, epochs=1).slices
        ('1800-1850', '1850-1950')
        """
        return cls(by_bins(table, text, by, bins, tokenizer), **options)

    # -- questions -----------------------------------------------------------------------------------------------------

    def shares(self, word: str, *, resamples: int = 1000, confidence: float = 0.95, seed: int = 0) -> ShareTable:
        """The share of each sense of a word in each slice, with bootstrap intervals over blocks of sentences.

        Parameters
        ----------
        word : str
            A known word.
        resamples : int
            Samples of the groups of blocks in which the word occurs; 0 for no intervals.
        confidence : float
            Of the intervals.
        seed : int
            Of the samples.

        Returns
        -------
        ShareTable
            A row for each slice and sense; ``plot()`` draws it. A slice without the word has shares of None.

        Notes
        -----
        Tags err, and by that even out shares. How often each sense is taken for each other is measured on the uses that
        the compass is made of; the shares are those that make the tags likeliest, with two uses more that have the
        shares of the compass. ``tagged`` is what was counted. Intervals hold what other sentences of the slice might
        have said, not what the tables of confusions err by.

        Raises
        ------
        UnknownWordError
            A KeyError that names the nearest spellings.
        """
        row = self._snapshot.vocabulary.index(word)
        counts = {name: one.counts for name, one in self._slices.items()}
        return asking.shares(self._snapshot, row, counts, self._errors(row), (resamples, confidence, seed))

    def change(
        self, measure: str = "jsd", *, between: tuple[str, str] | None = None, words: str | Iterable[str] | None = None,
        least_uses: int = 20, permutations: int = 1000, rate: float = 0.05, seed: int = 0,
    ) -> ChangeTable:  # fmt: skip
        """The words by how far they changed between two slices, with what chance would make of them.

        Parameters
        ----------
        measure : {"jsd", "cosine", "apd"}
            The Jensen-Shannon divergence of the shares of senses; the distance of the vectors of the word in both
            slices; or the mean distance of contexts of its uses, one of each slice. The latter two need the text.
        between : two str, optional
            Names of slices; the first and the last, if not given.
        words : str or iterable of str, optional
            Only this one, or these. Without it all that are frequent enough, and have several senses for "jsd".
        least_uses : int
            Words with fewer uses in one of the slices are left out.
        permutations : int
            At most so many of each word; see Notes.
        rate : float
            Of false discoveries among the words that are called changed (Benjamini & Hochberg).
        seed : int
            Of the permutations.

        Returns
        -------
        ChangeTable
            The most changed first, by how far the value is beyond what chance makes.

        Raises
        ------
        UnknownWordError
            A KeyError for one of `words`.
        ValueError
            For an unknown measure, or without the text that it needs.

        Notes
        -----
        Groups of blocks of sentences in which the word occurs are exchanged between the slices, with all its uses in
        them and so that each side keeps as many as it had: neither frequency nor a document that is full of a word
        makes change. What documents of one slice share (their genre, their spelling) is change to any such test.
        """
        Choice(*MEASURES)("measure", measure)
        permutations, rate = integer(100)("permutations", permutations), number(0, 1)("rate", rate)
        first, second = self._pair(between)
        seed, least = integer(0)("seed", seed), integer(1)("least_uses", least_uses)
        title = f"change by {measure} from {first.name} to {second.name}"
        asked = (measure, first.name, second.name, least, permutations, rate, seed)
        arrays = self._snapshot.arrays
        if words is None and asked in self._ranked:
            return ChangeTable(title, [dict(row) for row in self._ranked[asked]])
        uses = self._word_uses(first), self._word_uses(second)
        rows = self._asked(words, uses, least, several=measure == "jsd")
        if measure == "jsd":
            groups = count_groups(arrays, rows, first.counts, second.counts)
        else:
            samples = self._sample(first, seed), self._sample(second, seed)
            groups = use_groups(rows, samples, self._forest, measure, self._space.induced, self._workers)
        found = rank(groups, self._snapshot.vocabulary.words, uses, permutations, rate, seed)
        if words is None:
            self._ranked[asked] = [dict(row) for row in found]
        return ChangeTable(title, found)

    def new_senses(self, *, between: tuple[str, str] | None = None, **options: Any) -> Table:
        """Senses that are there in the later slice and hardly in the earlier one.

        Parameters
        ----------
        between : two str, optional
            Names of slices; the first and the last, if not given.
        least_share : float
            Of the word's uses in the later slice, at least; 0.1 by default.
        most_before : float
            Of that share in the earlier slice, at most; 0.25 by default: a tagger errs, so that what is new is
            seldom at zero before. Shares are those of `shares`; p is by the tags.
        least_uses, permutations, rate, seed
            As of `change`.

        Returns
        -------
        Table
            With the keys ``sense``, ``before``, ``after``, ``p``, ``q`` and ``near``: those whose rise chance does not
            explain at the `rate` of false discoveries, the largest first.
        """
        first, second = self._pair(between)
        title = f"senses of {second.name} that {first.name} hardly has"
        return self._risen("new_senses", title, (first, second), options)

    def lost_senses(self, *, between: tuple[str, str] | None = None, **options: Any) -> Table:
        """Senses that are there in the earlier slice and hardly in the later one: `new_senses` the other way."""
        first, second = self._pair(between)
        title = f"senses of {first.name} that {second.name} hardly has"
        return self._risen("lost_senses", title, (second, first), options)

    def _risen(self, asked: str, title: str, between: tuple[Slice, Slice], options: dict[str, Any]) -> Table:
        if unknown := options.keys() - set(_OF_RISEN):
            raise TypeError(
                f"{asked}() got an unexpected keyword argument {min(unknown)!r}; it takes between, "
                f"{', '.join(_OF_RISEN)}"
            )
        before, after = between
        uses = self._word_uses(before), self._word_uses(after)
        known = self._asked(None, uses, integer(1)("least_uses", options.pop("least_uses", 20)), several=True)
        return asking.risen(self._snapshot, known, (before.counts, after.counts), title, self._errors, **options)

    def nearest_over_time(self, word: SenseKey, k: int = 10, *, least_uses: int = 10) -> dict[str, list[Any]]:
        """The nearest words of a word in each slice, or, of a sense (``"cell#2"``), the nearest senses.

        Parameters
        ----------
        word : str or (str, int)
            A known word, or the key of a sense.
        k : int
            How many; of the senses of one word only the nearest is listed.
        least_uses : int
            Neighbours have so many uses in the slice at least.

        Returns
        -------
        dict of str to list of (str, float)
            Cosines; an empty list for a slice without the word or sense.

        Raises
        ------
        UnknownWordError, UnknownSenseError
            KeyErrors.
        """
        k, least = integer(1)("k", k), integer(1)("least_uses", least_uses)
        row, sense = self._found(word)
        found: dict[str, list[Any]] = {}
        for name, one in self._slices.items():
            used = one.totals if sense is not None else self._word_uses(one)
            place = row if sense is None else sense
            if not used[place]:
                found[name] = []
                continue
            vectors = (
                self._space.word_vectors(one.means, one.totals)
                if sense is None
                else self._space.sense_vectors(one.means)
            )
            cosines = unit_rows(vectors, np.float32) @ unit_rows(vectors[place], np.float32)
            cosines[used < least] = -2
            cosines[slice(row, row + 1) if sense is None else self._snapshot.arrays.rows_of(row)] = -2
            found[name] = asking.nearest(self._snapshot, cosines, k, senses=sense is not None)
        return found

    def vector(self, word: SenseKey, slice: str) -> Floats:
        """The vector of a word or of a sense (``"cell#2"``) in a slice, float32 (D,), in the space of all slices.

        Raises
        ------
        KeyError
            If the slice, the word or the sense is unknown.
        ValueError
            If the slice does not have it.
        """
        one, (row, sense) = self._slice(slice), self._found(word)
        if not (self._word_uses(one)[row] if sense is None else one.totals[sense]):
            raise ValueError(f"slice {slice!r} has no use of {word!r}")
        vector: Floats = self._vectors(one, senses=sense is not None)[row if sense is None else sense].copy()
        return vector

    def examples(self, sense: SenseKey, slice: str, topn: int = 5) -> tuple[Example, ...]:
        """Uses of a sense in a slice, those of which the selector is surest.

        Parameters
        ----------
        sense : str or (str, int)
            ``"cell#2"``.
        slice : str
            Name of a slice.
        topn : int
            How many.

        Raises
        ------
        KeyError
            If the slice, the word or the sense is unknown.
        ValueError
            If the text is not at hand, or its file holds another by now; `attach` says where it is.
        """
        row, place = self._found(parse_sense_key(sense))
        word = self._snapshot.vocabulary.words[row]
        text = self._text(self._slice(slice))
        assert place is not None  # a key is of a sense
        uses = find_uses(self._snapshot, [word], text)[word]
        return uses.examples(place - self._snapshot.arrays.rows_of(row).start, integer(0)("topn", topn))

    # -- files ---------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file, and what is known of the slices to one beside it, ``path`` + ``.slices``.

        Those that were there before are replaced only when both new ones are complete and on the disk. Of the text the
        paths are kept, if it was given as files.

        Raises
        ------
        ValueError
            If one of the two files is the text of a slice.
        OSError
            If they cannot be written.
        """
        storing.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], **runtime: Any) -> TemporalMUSE:
        """Read what `save` wrote.

        Parameters
        ----------
        path : path-like
            The file of the model.
        **runtime
            As of `MUSE.load`.

        Raises
        ------
        FileNotFoundError
            If one of the two files is not there.
        ModelFileError
            A ValueError: one is damaged, or they do not belong together.
        """
        return storing.load(cls, path, **runtime)
