"""Which sense a context means: the paper's selection module in use. Every call of the core's selector is made here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base import cuda
from muse.base.limits import usable_cores
from muse.base.numeric import softmax
from muse.corpus.text_reader import TextReader
from muse.data.arrays import Arrays, Floats
from muse.data.forest import Forest
from muse.data.memory import shortage_said, with_figure
from muse.data.settings import Settings
from muse.data.snapshot import Snapshot
from muse.data.text_form import TextForm
from muse.data.vocabulary import Vocabulary
from muse.selector.context import Context, EncodedContexts, as_tokens, encode

__all__ = [
    "SenseBlock",
    "SenseSelector",
    "TokenSense",
    "UseSelector",
    "context_weights",
    "selection_options",
    "selector_of",
    "uses_of",
]

_BLOCK_TOKENS = 1 << 18  # tokens that disambiguate hands to the core at once
_NEVER = np.float32(-1e30)  # the bias of what is no sense


class _TokenSense(NamedTuple):
    token: str
    sense: int | None
    probability: float


class TokenSense(_TokenSense):
    """A token of a sentence and the sense that was selected for it, (token, sense, probability).

    Attributes
    ----------
    token : str
        The token as it was given; of a sentence that is a string, as `MUSE.tokenize` makes it.
    sense : int or None
        Number of the sense, None for a word that the model does not know.
    probability : float
        Probability of that sense in this context (equation 1 of the paper); 0 for an unknown word.
    has_context : bool
        False where no other word of the sentence is known, so that sense and probability are those of the prior.
    name : str or None
        The name of the sense, where it has one; see `MUSE.name_sense`.
    """

    has_context: bool = True
    name: str | None = None

    @property
    def key(self) -> str:
        """``"word#k"``, or the bare token for an unknown word."""
        return self.token if self.sense is None else f"{self.token}#{self.sense}"


class SenseBlock(NamedTuple):
    """The senses of some sentences, one after another.

    Attributes
    ----------
    senses : int32 (T,)
        Number of the sense of each token, -1 for words that the model does not know.
    probabilities : float32 (T,)
        Probability of that sense in its context, 0 for unknown words.
    margins : float32 (T,)
        By which it is more probable than the next best sense; 1 for words with one sense, 0 for unknown words.
    offsets : int64 (N + 1,)
        Sentence i is ``[offsets[i], offsets[i + 1])``.
    """

    senses: NDArray[np.int32]
    probabilities: NDArray[np.float32]
    margins: NDArray[np.float32]
    offsets: NDArray[np.int64]

    @property
    def has_context(self) -> NDArray[np.bool_]:
        """Which tokens have another known word in their sentence, bool (T,); the others have their prior."""
        lengths = np.diff(self.offsets)
        known = np.concatenate(([0], np.cumsum(self.senses >= 0)))[self.offsets]
        others: NDArray[np.int64] = np.repeat(np.diff(known), lengths) - (self.senses >= 0)
        return others > 0


def selection_options(settings: Settings) -> _core.SelectionOptions:
    """What a context is, the same for training and for use."""
    options = _core.SelectionOptions()
    options.window = settings.selection_window or settings.window
    options.mean = settings.context == "mean"
    options.full_text = settings.full_text
    if settings.distance_power > 0 or not settings.context_center:
        reach = max(options.window, settings.window)
        near = [float(d) ** -settings.distance_power for d in range(1, reach + 1)]
        options.distance = [float(bool(settings.context_center)), *near]
    return options


def context_weights(settings: Settings, word_counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Weight of each word in a context that is read in full, float32 (V,); empty where every word weighs one."""
    if settings.context_weights == "none":
        return np.empty(0, np.float32)
    keep: NDArray[np.float32] = _core.keep_probabilities(word_counts, settings.sample)
    return np.sqrt(keep) if settings.context_weights == "sqrt_keep" else keep


class SenseSelector:
    """Selects senses with the P and Q of a model.

    Parameters
    ----------
    vocabulary, arrays, settings
        Those of the model. The settings say which window counts, and whether context words are summed or averaged and
        weighted by how often subsampling kept them in training.
    form : TextForm, optional
        How its text was made into tokens, so that contexts that are strings become tokens in the same way.
    """

    def __init__(
        self, vocabulary: Vocabulary, arrays: Arrays, settings: Settings, form: TextForm | None = None
    ) -> None:
        self._vocabulary = vocabulary
        self._form = form
        self._arrays = arrays
        self._settings = settings
        self._temperature, self._place = settings.temperature, settings.device
        self.workers = settings.workers or usable_cores()
        self._tagger: _core.Tagger | None = None
        self._options = selection_options(settings)
        self._weights = context_weights(settings, arrays.word_counts)

    def probabilities(
        self, word: str, contexts: Sequence[Context], positions: Sequence[int | None]
    ) -> NDArray[np.float32]:
        """Probability of each sense of a word in each of N contexts, float32 (N, K): softmax of its scores.

        Where a context holds no known word, or none but the word itself, the row is the prior of the word.
        """
        return self.probabilities_in(word, encode(word, contexts, positions, self._vocabulary, self.reader.tokens))

    def probabilities_in(self, word: str, encoded: EncodedContexts) -> NDArray[np.float32]:
        """`probabilities` in contexts that are encoded, on all threads."""
        row, count = self._vocabulary.index(word), len(encoded.positions)
        senses = self._arrays.rows_of(row)
        return self._shares_in([row] * count, encoded).reshape(count, senses.stop - senses.start)

    @property
    def reach(self) -> int:
        """How many known words on each side of a use its context may hold."""
        return int(self._options.window)

    def probabilities_of(
        self, words: Sequence[str], contexts: Sequence[Context], positions: Sequence[int | None]
    ) -> list[NDArray[np.float32]]:
        """`probabilities` of the senses of N words, each in a context of its own, N float32 (K,), in one search."""
        rows = list(map(self._vocabulary.index, words))
        encoded = encode(words, contexts, positions, self._vocabulary, self.reader.tokens)
        shares = self._shares_in(rows, encoded)
        senses = self._arrays.sense_offset[np.array(rows, np.int64)[:, None] + (0, 1)]
        ends = np.cumsum(senses[:, 1] - senses[:, 0]).tolist()
        return [shares[start:end].copy() for start, end in pairwise([0, *ends])]

    def has_context(self, word: str, contexts: Sequence[Context], positions: Sequence[int | None]) -> NDArray[np.bool_]:
        """Whether each of N `contexts` holds a known word beside that at one of the `positions`, which is `word`."""
        self._vocabulary.index(word)
        return _has_context(encode(word, contexts, positions, self._vocabulary, self.reader.tokens))

    def _shares_in(self, rows: list[int], encoded: EncodedContexts) -> NDArray[np.float32]:
        """The probabilities of all senses of the words with these rows, one context after another."""
        try:
            return self._selector.probabilities(*encoded, rows, self.workers)
        except MemoryError as error:  # no `with` here, which costs as much as a short context
            raise with_figure(error, "senses were scored") from error

    @cached_property
    def _selector(self) -> _core.Selector:
        """The core's selector; made at the first use."""
        arrays = self._arrays
        return _core.Selector(
            arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, self._weights, self._options,
            self._temperature, self._prior,
        )  # fmt: skip

    def __reduce__(self) -> tuple[Any, ...]:
        """For pickle and copy: what is of the core or on the device is made anew."""
        settings = self._settings.replace(callbacks=(), trim_rule=None)
        return type(self), (self._vocabulary, self._arrays, settings, self._form), {"workers": self.workers}

    @cached_property
    def reader(self) -> TextReader:
        """What makes tokens of strings."""
        return TextReader(self._form, {} if self._form is None else self._vocabulary.ids)

    @property
    def tagger(self) -> _core.Tagger:
        """The core's tagger, which has a table of the words of its own; made at the first use."""
        if self._tagger is None:
            arrays = self._arrays
            self._tagger = _core.Tagger(
                list(self._vocabulary.words), arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset,
                self._weights, self._options, self._temperature, self.device, self._prior,
            )  # fmt: skip
        return self._tagger

    @cached_property
    def device(self) -> Any:
        """The backend's selector with P and Q on the device, copied at the first use; None: the core selects."""
        arrays = self._arrays
        return cuda.make_on(
            self._place, "selecting senses",
            lambda backend: backend.Selector(
                arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, self._weights,
                self._options, self._temperature, prior=self._prior,
            ),
        )  # fmt: skip

    @cached_property
    def _prior(self) -> NDArray[np.float32]:
        """Shares of all senses, which count where a word has no context."""
        return self._arrays.priors()

    def choose(self, tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """The sense (number) of every token of a text; sentence i is ``tokens[offsets[i] : offsets[i + 1]]``."""
        senses: NDArray[np.int32]
        if self.device is not None:
            senses, _ = self.device.select(tokens, offsets)
            return senses
        arrays = self._arrays
        senses, _ = _core.select_senses(
            arrays.context_vectors, arrays.selection_vectors, arrays.sense_offset, self._weights, self._options,
            tokens, offsets, self._temperature, self.workers, self._prior,
        )  # fmt: skip
        return senses

    def blocks(self, sentences: Iterable[Context]) -> Iterator[SenseBlock]:
        """The senses of sentences, which are read as they come, some hundred thousand tokens at a time."""
        remaining = iter(sentences)
        # Lists need no reader, and so no table of words beside the tagger's.
        split = None if self._form is None else lambda text: self.reader.tokens(text)
        while block := list(_take(remaining, _BLOCK_TOKENS, split)):
            with shortage_said("senses were selected"):
                found = SenseBlock(*self.tagger.select(block, self.workers))
            yield found

    def select(self, sentences: Iterable[Context]) -> Iterator[tuple[NDArray[np.int32], NDArray[np.float32]]]:
        """For each sentence the senses of its tokens, int32, -1 for unknown words, and probabilities, float32."""
        for block in self.blocks(sentences):
            ends = block.offsets[1:-1]
            yield from zip(np.split(block.senses, ends), np.split(block.probabilities, ends), strict=True)


class UseSelector(SenseSelector):
    """Selects senses that are nodes of trees, by both blocks of a context: cosine and bias of a node's share.

    Parameters
    ----------
    vocabulary, arrays, settings
        As of a `SenseSelector`.
    forest : Forest
        The trees, of which `arrays` are a cut.
    form
        As of a `SenseSelector`.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        arrays: Arrays,
        settings: Settings,
        forest: Forest,
        form: TextForm | None = None,
    ) -> None:
        super().__init__(vocabulary, arrays, settings, form)
        self._forest, self._temperature = forest, forest.space.temperature
        self._bias = forest.bias()

    def __reduce__(self) -> tuple[Any, ...]:
        settings = self._settings.replace(callbacks=(), trim_rule=None)
        return (
            type(self),
            (self._vocabulary, self._arrays, settings, self._forest, self._form),
            {"workers": self.workers},
        )

    def contexts(
        self, word: str | Sequence[str], contexts: Sequence[Context], positions: Sequence[int | None]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Vectors of N contexts, float32 (N, S), and which of them say nothing: no word of them is known but the word.

        They have length one, but zeros where nothing is said.
        """
        encoded = encode(word, contexts, positions, self._vocabulary, self.reader.tokens)
        return self._forest.space.core.vectors(*encoded.arrays(), self.workers), ~_has_context(encoded)

    @property
    def reach(self) -> int:
        """See `SenseSelector.reach`."""
        space = self._forest.space
        weights = space.position_weights
        return max(int(space.topic_window), 0 if weights is None else len(weights) // 2)

    def probabilities_at(
        self, word: str, contexts: Sequence[Context], positions: Sequence[int | None], nodes: NDArray[np.int64]
    ) -> NDArray[np.float32]:
        """`probabilities` of other nodes of the word's tree, given by their numbers, float32 (N, K)."""
        row, space, trees = self._vocabulary.index(word), self._forest.space, self._forest.trees
        uses = trees.node_uses(row)[nodes]
        vectors, alone = self.contexts(word, contexts, positions)
        scores = vectors @ trees.node_centroids(row)[nodes].T + space.bias(np.array([0, len(nodes)]), uses)
        probabilities = softmax(scores, self._temperature)
        probabilities[alone] = uses / uses.sum()
        return probabilities

    @cached_property
    def _selector(self) -> _core.Selector:
        arrays = self._arrays
        return _core.Selector.by_uses(
            self._forest.space.core, arrays.selection_vectors, arrays.sense_offset, self._bias, self._temperature,
            self._prior,
        )  # fmt: skip

    @property
    def tagger(self) -> _core.Tagger:
        """See `SenseSelector.tagger`; its numbers of senses are those of `Arrays.sense_numbers`."""
        if self._tagger is None:
            selection, offset, bias, prior = self._numbered()
            self._tagger = _core.Tagger.by_uses(
                list(self._vocabulary.words), self._forest.space.core, selection, offset, bias, self._temperature, prior
            )
        return self._tagger

    def _numbered(self) -> tuple[Floats, NDArray[np.int64], Floats, Floats]:
        """Q, the offsets, the bias and the shares, with a row for each number of a sense: those of no sense are never
        selected."""
        arrays = self._arrays
        if arrays.sense_numbers is None:
            return arrays.selection_vectors, arrays.sense_offset, self._bias, self._prior
        offset, numbers = arrays.sense_offset, arrays.sense_numbers
        wide = np.concatenate(([0], np.cumsum(numbers[offset[1:] - 1] + 1)))
        rows = np.repeat(wide[:-1], np.diff(offset)) + numbers
        selection: Floats = _core.aligned_zeros(int(wide[-1]), arrays.selection_vectors.shape[1])
        bias, prior = np.full(int(wide[-1]), _NEVER, np.float32), np.zeros(int(wide[-1]), np.float32)
        selection[rows], bias[rows], prior[rows] = arrays.selection_vectors, self._bias, self._prior
        return selection, wide, bias, prior

    @property
    def device(self) -> Any:
        """None: the core selects."""
        return None

    def choose(self, tokens: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int32]:
        """See `SenseSelector.choose`."""
        arrays = self._arrays
        senses, _, _ = self._forest.space.core.select(
            arrays.selection_vectors, arrays.sense_offset, self._bias, self._temperature, tokens, offsets, self.workers,
            self._prior,
        )  # fmt: skip
        return senses


def _has_context(encoded: EncodedContexts) -> NDArray[np.bool_]:
    """Which contexts hold a known word but the word itself, bool (N,)."""
    return np.array(_core.has_context(encoded.offsets, encoded.positions), np.bool_)


def uses_of(snapshot: Snapshot, forest: Forest) -> UseSelector:
    """What makes vectors of uses, kept with the snapshot; `forest` is its own."""
    selector = selector_of(snapshot)
    if isinstance(selector, UseSelector):
        return selector
    parts = (snapshot.vocabulary, snapshot.arrays, snapshot.settings, forest, snapshot.text_form)
    return snapshot.once("uses", lambda: UseSelector(*parts))


def selector_of(snapshot: Snapshot) -> SenseSelector:
    """The selector of a model, kept with its snapshot."""

    def make() -> SenseSelector:
        forest, arrays = snapshot.forest, snapshot.arrays
        if forest is None or not forest.is_cut(arrays):
            return SenseSelector(snapshot.vocabulary, arrays, snapshot.settings, snapshot.text_form)
        return UseSelector(snapshot.vocabulary, arrays, snapshot.settings, forest, snapshot.text_form)

    return snapshot.once("selector", make)


def _take(
    sentences: Iterator[Context], count: int, split: Callable[[str], list[str]] | None = None
) -> Iterator[Context]:
    """Sentences with about `count` tokens in all, or those that are left; the core splits strings at white space, if
    nothing else is to `split` them."""
    for sentence in sentences:
        if isinstance(sentence, str):
            sentence = sentence if split is None else split(sentence)
        elif not isinstance(sentence, (list, tuple)):
            sentence = as_tokens(sentence)
        yield sentence
        # An empty sentence counts too; in a string, a token for each four bytes.
        count -= (len(sentence) // 4 if isinstance(sentence, str) else len(sentence)) + 1
        if count <= 0:
            return
