"""The slices of a `TemporalMUSE`: how they are read, added and found again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.change import asking
from muse.change.confusion import Confusions
from muse.change.contexts import SliceSpace, TaggedUses, mean_contexts
from muse.change.measures import Sample
from muse.change.slices import Slice, Source, count_senses, encoded, senses_of
from muse.data.arrays import Floats
from muse.data.forest import Forest
from muse.data.snapshot import Snapshot
from muse.model.muse import MUSE
from muse.selector.selection import selector_of
from muse.vectors.sense_keys import SenseKey, parse_sense_key

__all__ = ["HeldSlices", "compass", "name_of_slice"]

_USES = 200  # of a word, whose contexts make its vectors in a slice


class HeldSlices:
    """A compass and slices of text that it has tagged; the questions are `TemporalMUSE`'s."""

    _ranked: dict[Any, list[dict[str, Any]]]  # rows of tables of all words, by what was asked

    def _hold(self, model: MUSE, sources: dict[str, Source], block: int) -> None:
        self.model, self._compass, self._block = model, compass(model), block
        self._ranked = {}
        read = [self._read(name, source) for name, source in sources.items()]
        self._slices: dict[str, Slice] = {one.name: one for one, _ in read}
        self._space = SliceSpace.learn(self._snapshot, [one.means for one, _ in read], [one.totals for one, _ in read])
        self._confusions = Confusions.measure(self._snapshot, [uses for _, uses in read])

    @property
    def slices(self) -> tuple[str, ...]:
        """Names of the slices, in their order."""
        return tuple(self._slices)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the text of slices is in, as far as it is in files."""
        sources = [one.source for one in self._slices.values()]
        return tuple(path for source in sources if source is not None for path in source.paths or ())

    def add_slice(self, name: str, text: Any) -> None:
        """Add a slice after the others: its text is tagged, and nothing is trained.

        Words that the compass does not know have no senses in it; where there are many, train anew.

        Parameters
        ----------
        name : str
            A new name.
        text : path-like, list of paths, or iterable of lists of str
            As in the constructor.

        Raises
        ------
        ValueError
            If there is a slice of that name, or the text holds no known word.
        """
        if name_of_slice(name) in self._slices:
            raise ValueError(f"there is a slice {name!r} already; give another name")
        self._slices[name] = self._read(name, Source(text, name))[0]

    def attach(self, name: str, text: Any) -> None:
        """Say where the text of a slice is, which a saved model knows only of files that are where they were.

        Parameters
        ----------
        name : str
            Of a slice.
        text : path-like, list of paths, or iterable of lists of str
            The same text.

        Raises
        ------
        ValueError
            If it is another text: of another number of known words or sentences.
        """
        mine = self._slice(name)
        source = Source(text, name)
        stamp, corpus = source.stamp(), encoded(source, self._snapshot, name)
        if (corpus.n_tokens, corpus.n_sentences) != (mine.tokens, mine.sentences):
            raise ValueError(
                f"this is not the text of slice {name!r}: it has {corpus.n_tokens} known words in "
                f"{corpus.n_sentences} sentences, and the slice {mine.tokens} in {mine.sentences}"
            )
        source.keep_places()
        mine.source, mine.corpus, mine.stamp = source, corpus, stamp

    def _read(self, name: str, source: Source) -> tuple[Slice, TaggedUses]:
        snapshot = self._snapshot
        stamp, corpus = source.stamp(), encoded(source, snapshot, name)
        source.keep_places()
        rows = senses_of(snapshot, corpus)
        seed = snapshot.settings.seed & 0x7FFFFFFF
        offsets, places = _core.sample_occurrences(corpus, snapshot.arrays.n_words, _USES, seed)
        uses = TaggedUses(corpus, offsets, places, rows[places])
        counts = count_senses(snapshot, corpus, rows, self._block)
        means = mean_contexts(self._forest, uses, self._workers)
        return Slice(name, counts, means, corpus.n_sentences, corpus.n_tokens, source, corpus, stamp), uses

    @property
    def _snapshot(self) -> Snapshot:
        """The compass as it was when the slices were tagged; a ValueError if the model has changed since."""
        if self.model.snapshot.numbers is not self._compass.numbers:
            raise ValueError(
                "the model was cut or trained anew after its slices were tagged; tag them anew: "
                "TemporalMUSE(slices, model=model)"
            )
        return self._compass

    @property
    def _forest(self) -> Forest:
        forest = self._snapshot.forest
        assert forest is not None  # checked by compass
        return forest

    @property
    def _workers(self) -> int:
        return selector_of(self._snapshot).workers

    def _errors(self, row: int) -> asking.Errors:
        """What is known of the tags of a word."""
        usual = self._space.uses[self._snapshot.arrays.rows_of(row)].astype(np.float64)
        even = np.full(len(usual), 1 / len(usual))
        return asking.Errors(self._confusions.of(row), usual / usual.sum() if usual.any() else even)

    def _slice(self, name: Any) -> Slice:
        if name not in self._slices:
            raise KeyError(f"there is no slice {name!r}; there are {', '.join(map(repr, self._slices))}")
        return self._slices[name]

    def _pair(self, between: tuple[str, str] | None) -> tuple[Slice, Slice]:
        """Two slices: by default the first and the last."""
        if (
            between is not None
            and not (isinstance(between, Sequence) and all(isinstance(name, str) for name in between))
        ) or isinstance(between, str):
            raise TypeError(f"between must be the names of two slices, such as ('a', 'b'); got {between!r:.80}")
        names = (self.slices[0], self.slices[-1]) if between is None else tuple(between)
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(f"change is between two slices; there are {', '.join(map(repr, self._slices))}")
        return self._slice(names[0]), self._slice(names[1])

    def __repr__(self) -> str:
        sizes = ", ".join(f"{one.name}: {one.tokens:,} words" for one in self._slices.values())
        return f"<TemporalMUSE: {sizes}>"

    def _vectors(self, one: Slice, *, senses: bool) -> Floats:
        """Of all senses or words in a slice."""
        return self._space.sense_vectors(one.means) if senses else self._space.word_vectors(one.means, one.totals)

    def _found(self, word: SenseKey) -> tuple[int, int | None]:
        """The row of a word, and that of its sense where a key is given."""
        vocabulary, arrays = self._snapshot.vocabulary, self._snapshot.arrays
        if isinstance(word, str) and (word in vocabulary or "#" not in word):
            return vocabulary.index(word), None
        name, number_of = parse_sense_key(word)
        row = vocabulary.index(name)
        sense = arrays.row_of(row, number_of)
        if sense < 0:
            raise asking.unknown_sense(name, number_of, arrays.numbers_of(row).tolist())
        return row, sense

    def _word_uses(self, one: Slice) -> NDArray[np.int64]:
        uses: NDArray[np.int64] = np.add.reduceat(one.totals, self._snapshot.arrays.sense_offset[:-1])
        return uses

    def _asked(self, words: Any, uses: Any, least: int, *, several: bool) -> list[int]:
        """Rows of the words that can be compared."""
        enough = (uses[0] >= least) & (uses[1] >= least)
        if words is not None:
            words = [words] if isinstance(words, str) else words
            if not isinstance(words, Iterable):
                raise TypeError(f"words must be a word or a list of words; got {words!r:.80}")
            rows = dict.fromkeys(map(self._snapshot.vocabulary.index, words))
            return [row for row in rows if enough[row]]
        if several:
            enough &= np.diff(self._snapshot.arrays.sense_offset) > 1
        return [int(row) for row in np.flatnonzero(enough)]

    def _text(self, one: Slice) -> Any:
        """The text of a slice, for who reads it anew; a ValueError where it is not at hand, or is another by now."""
        if one.source is None:
            raise ValueError(
                f"the text of slice {one.name!r} is not at hand; say where it is: attach({one.name!r}, text)"
            )
        if one.corpus is None or one.stamp != one.source.stamp():
            self.attach(one.name, one.source.given)
        return one.source.given

    def _sample(self, one: Slice, seed: int) -> Sample:
        if one.corpus is None:
            self._text(one)
        assert one.corpus is not None
        return Sample.of(one.corpus, self._snapshot.arrays.n_words, self._block, seed)


def name_of_slice(name: Any) -> str:
    """The name, if it can be one."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a slice must be a string, such as '1810-1860'; got {name!r:.80}")
    if not name:
        raise ValueError("a name of a slice must not be empty; give one, such as '1810-1860'")
    if "\0" in name:
        raise ValueError(f"a name of a slice must not hold the character NUL; got {name!r:.80}")
    return name


def compass(model: Any) -> Snapshot:
    """The snapshot of a model that can be a compass."""
    if not isinstance(model, MUSE):
        raise TypeError(f"the model must be a muse.MUSE; got {type(model).__name__}")
    snapshot = model.snapshot
    arrays = snapshot.arrays  # or it is not trained
    if snapshot.forest is None or not snapshot.forest.is_cut(arrays):
        raise ValueError("senses over time need a model with sense trees: train it with the recipe Trees, the default, "
                         "and more than one sense a word")  # fmt: skip
    return snapshot
