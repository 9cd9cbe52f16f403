"""`MUSE`, the model that users hold: it is trained, asked for senses, saved and loaded."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Never

from muse import _core
from muse.base.checks import callbacks as check_callbacks
from muse.base.checks import integer
from muse.data.arrays import Arrays
from muse.data.describing import parameters
from muse.data.memory import check_memory, estimate_memory
from muse.data.names import reject_unknown, reject_unknown_in_train
from muse.data.recipes import Paper, Recipe, StrategyName
from muse.data.settings import Settings, constructor_settings
from muse.data.vocabulary import Vocabulary, check_words
from muse.files import model_file
from muse.formats.registry import write_table
from muse.formats.table import SenseTable
from muse.model.building import Sentences, VocabularyBuilding, same_corpus
from muse.model.changes import changes, uses
from muse.model.held import HeldParts
from muse.model.hygiene import SenseHygiene
from muse.model.queries import SenseQueries
from muse.selector.tagging import SenseTagging
from muse.training.checkpoints import check_checkpoint_dir
from muse.training.run import check_device, is_finished, say_nothing_is_left, train_model

__all__ = ["MUSE"]

logger = logging.getLogger("muse")


class MUSE(HeldParts, VocabularyBuilding, SenseQueries, SenseTagging, SenseHygiene):
    """Sense embeddings: several vectors a word, learned from plain text, and a selector of the one a context means.

    Parameters
    ----------
    sentences : iterable of lists of str, optional
        The corpus; it is read exactly once, so a generator will do.
    corpus_file : path-like, optional
        In place of `sentences`: a text file, one sentence a line, tokens separated by ASCII white space.
    **unknown
        There are no others: what is given here is an error that tells the right name.

    Raises
    ------
    TypeError, ValueError
        For an unknown setting, a value out of range, or a corpus that cannot be one; the message says what to do.

    Notes
    -----
    Without a corpus the model is empty: call `build_vocab` and `train`.

    Examples
    --------
    >>> from muse.datasets import make_ambiguous_corpus
    >>> corpus = make_ambiguous_corpus(2000, 300, seed=0)
    >>> model = MUSE(corpus.sentences, senses=2, vector_size=16, epochs=2, seed=1, workers=1)
    >>> word = next(iter(corpus.ambiguous_words))
    >>> model.sense_vectors(word).shape
    (2, 16)
    """

    def __init__(
        self,
        sentences: Sentences | None = None,
        corpus_file: str | PathLike[str] | None = None,
        *,
        senses: int | Literal["auto"] | Mapping[str, int] | None = None,
        strategy: StrategyName | None = None,
        vector_size: int = 300,
        window: int = 5,
        min_count: int = 5,
        max_vocab_size: int | None = None,
        max_final_vocab: int | None = None,
        trim_rule: Callable[[str, int, int], Any] | None = None,
        sorted_vocab: bool = True,
        sample: float = 0.0001,
        negative: int | None = None,
        ns_exponent: float = 0.75,
        alpha: float = 0.025,
        min_alpha: float | Literal["constant"] | None = None,
        epochs: int = 5,
        seed: int = 1,
        workers: int | None = None,
        shrink_windows: bool = True,
        callbacks: Sequence[Any] = (),
        progress: bool = False,
        device: Literal["cpu", "cuda", "auto"] = "cpu",
        checkpoint_dir: str | PathLike[str] | None = None,
        checkpoint_every: int | str | None = None,
        max_ram: int | None = None,
        recipe: Recipe | None = None,
        **unknown: Never,
    ) -> None:
        given = locals()
        arguments = {name: given[name] for name in (*constructor_settings(), "recipe")}
        self._settings = Settings.of(**arguments, **unknown)
        self._vocabulary: Vocabulary | None = None
        self._arrays: Arrays | None = None
        self._corpus: _core.Corpus | None = None  # what build_vocab read, until train has used it
        self._views: dict[str, Any] = {}  # sv and wv, which stay the same when the model changes
        self._derived: dict[str, Any] | None = {}
        self._calls = {}
        self.corpus_count = 0
        self.history: list[dict[str, Any]] = []
        self.training_state: dict[str, Any] = {}
        self.stop_training = False  # a callback may set it
        if sentences is not None or corpus_file is not None:
            check_device(self._settings)  # before the corpus is read
            check_checkpoint_dir(self._settings)
            self.build_vocab(sentences, corpus_file)
            self.train()

    @staticmethod
    def paper_defaults(strategy: str = "eps_greedy") -> dict[str, Any]:
        """The settings of Lee & Chen (2017), as keyword arguments: ``MUSE(corpus, **MUSE.paper_defaults())``.

        They are what ``MUSE(corpus, recipe=Paper())`` means, written out. The paper tries several strategies; policy
        gradient learns from the likelihood with negatives (equation 5 and appendix A), the others from the likelihood
        alone. To change a setting: ``MUSE(corpus, **(MUSE.paper_defaults("boltzmann") | {"vector_size": 100}))``.
        """
        arguments = Settings.of(strategy=strategy, recipe=Paper()).arguments()
        of_the_paper = (
            "senses", "strategy", "vector_size", "window", "sample", "negative", "ns_exponent", "alpha", "min_alpha",
            "shrink_windows",
        )  # fmt: skip
        return {**{name: arguments[name] for name in of_the_paper}, "recipe": Paper()}

    @classmethod
    def from_arrays(
        cls,
        vocabulary: Vocabulary | Sequence[str],
        arrays: Arrays,
        settings: Settings | None = None,
        history: Iterable[dict[str, Any]] = (),
        training_state: Mapping[str, Any] | None = None,
    ) -> MUSE:
        """A model of given parts, which are checked and not copied.

        Parameters
        ----------
        vocabulary : Vocabulary or sequence of V str
            The words.
        arrays : Arrays
            The numbers.
        settings : Settings, optional
            Defaults with the dimensions of `arrays`, if not given.
        history, training_state
            What training left, see `history` and `training_state`.

        Returns
        -------
        MUSE
            It can be asked, saved and trained.

        Raises
        ------
        TypeError, ValueError
            If the parts do not fit together; for words that are no strings, or occur twice; for arrays of another type,
            not in C order, or with values that are not finite.

        Examples
        --------
        >>> again = MUSE.from_arrays(model.vocabulary, model.arrays, model.settings)  # doctest: +SKIP
        """
        if not isinstance(arrays, Arrays):
            raise TypeError(f"arrays must be muse.Arrays; got {type(arrays).__name__}")
        if isinstance(vocabulary, (str, bytes)) or not isinstance(vocabulary, (Vocabulary, Iterable)):
            raise TypeError(f"vocabulary must be a Vocabulary or a list of words; got {vocabulary!r:.60}")
        arrays.check()
        arrays.check_finite()
        if settings is None:
            square = arrays.vector_size == arrays.selection_size
            settings = Settings(
                init="split" if square else "random", vector_size=arrays.vector_size,
                selection_size=None if square else arrays.selection_size, share_weight=0.0,
                formulation="one_sided" if arrays.forward_values is None else "factorized",
                collocation="sense" if arrays.has_sense_collocation else "word",
            )  # fmt: skip
        words = vocabulary.words if isinstance(vocabulary, Vocabulary) else list(vocabulary)
        check_words(words, "the vocabulary")
        if not isinstance(vocabulary, Vocabulary):
            counted = arrays.word_counts if len(words) == arrays.n_words else None  # what is wrong is said below
            vocabulary = Vocabulary(words, counted)
        return cls._of_parts(vocabulary, arrays, settings, history, training_state)

    @classmethod
    def _of_parts(
        cls,
        vocabulary: Vocabulary,
        arrays: Arrays,
        settings: Settings,
        history: Iterable[dict[str, Any]],
        training_state: Mapping[str, Any] | None,
    ) -> MUSE:
        """A model of parts that were checked; the words are not looked at, so that a mapped file opens at once."""
        model = cls()
        model._settings, model._vocabulary = settings, vocabulary
        model.history, model.training_state = list(history), dict(training_state or {})
        model.set_arrays(arrays)
        return model

    # -- parts -------------------------------------------------------------------------------------------------------

    @property
    def vector_size(self) -> int:
        """Dimension of the sense vectors."""
        return self._settings.vector_size

    @property
    def epochs(self) -> int:
        """Passes over the corpus that `train` makes."""
        return self._settings.epochs

    @property
    def corpus_total_words(self) -> int:
        """Tokens of the corpus that the words come from, before any word was dropped."""
        return 0 if self._vocabulary is None else self._vocabulary.raw_words

    @uses
    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: all but what can be derived anew, and the corpus that `build_vocab` has read."""
        return {**self.__dict__, "_corpus": None, "_views": {}, "_derived": {}, "_calls": {}}

    def __contains__(self, word: object) -> bool:
        return self._vocabulary is not None and word in self._vocabulary

    def __len__(self) -> int:
        return 0 if self._vocabulary is None else len(self._vocabulary)

    def __bool__(self) -> bool:
        return True  # an empty model is a model

    def __repr__(self) -> str:
        size, strategy = self._settings.vector_size, self._settings.strategy
        if self._arrays is None:
            return f"<MUSE: {len(self)} words, not trained, vector_size={size}, strategy={strategy!r}>"
        return f"<MUSE: {len(self)} words, {self._arrays.n_senses} senses, vector_size={size}, strategy={strategy!r}>"

    # -- training ----------------------------------------------------------------------------------------------------

    @changes
    def train(
        self,
        sentences: Sentences | None = None,
        corpus_file: str | PathLike[str] | None = None,
        *,
        corpus_iterable: Sentences | None = None,
        total_examples: int | None = None,
        epochs: int | None = None,
        callbacks: Sequence[Any] | None = None,
        resume: bool = False,
        **needless: Any,
    ) -> None:
        """Train on a corpus; without one, on that which `build_vocab` read.

        A model that is trained already is trained further, with its learning rates as at the start.

        Parameters
        ----------
        sentences, corpus_file
            The corpus, as in the constructor; words that are not in the vocabulary are skipped.
        corpus_iterable
            gensim's name of `sentences` here.
        total_examples : int, optional
            Accepted for the sake of gensim's scripts; the number of sentences is known here without it.
        epochs : int, optional
            Passes over the corpus; the setting, if not given.
        callbacks : sequence, optional
            Callbacks for this call, after those of the settings.
        resume : bool
            Go on where training was stopped, on the same corpus: ``MUSE.load("folder/checkpoint.safetensors").train(
            corpus_file=..., resume=True)``. With one worker the outcome is, bit for bit, that of a training that was
            never stopped. Where nothing is left to do, a log line says so.
        **needless
            ``total_words``, ``compute_loss`` and what else gensim's scripts pass; ignored. The learning rates are
            settings of the model, and any other name is an error.

        Raises
        ------
        NotTrainedError
            If there is no vocabulary yet.
        TypeError
            For an argument that means nothing here; the message says what to do.
        ValueError
            If there is no corpus, or `resume` does not fit the model or the corpus.
        RuntimeError
            In a callback, and while another call changes or writes the model.
        InsufficientMemoryError
            If the model does not fit into memory, which is said before training, or memory runs out in it.
        DivergenceError
            If scores grow beyond all bounds. Training stops before that harms the model, which keeps its last finite
            values.
        KeyboardInterrupt
            On Ctrl-C, within a second (windows of thousands of positions take longer, and the split of vectors of a
            thousand numbers, whose covariance numpy takes apart in one piece). The model is as training left it: it can
            be asked, saved, and trained with ``resume=True`` (without a corpus, if it is still the same process). A
            batch that would take longer is cut short, which a warning says, since what is resumed then is not exactly
            the same.

        Notes
        -----
        Each epoch adds a row to `history`, a dict with

        - ``epoch`` (from 1, in this call) and ``stage``: ``"words"`` before the recipe `Split` has made senses, then
          ``"senses"``;
        - ``tokens``, ``pairs``, ``seconds``, ``tokens_per_second``, ``pairs_per_second``;
        - ``alpha``, the learning rate at its start;
        - ``loss``, the mean of -log of the sampled likelihood of a pair (of a sample of pairs), and ``reward``, the
          mean likelihood of a pair;
        - ``selection_entropy``, the mean over tokens of ambiguous words of the entropy of the policy, in nats;
        - ``ambiguous_words``, how many words have several senses (and 20 uses or more); of these alone
          ``senses_used``, the mean of the effective number of senses (exp of the entropy of their use), and
          ``collapsed``, the share of which one sense takes more than 95 %;
        - ``context_norm`` and ``selection_norm``, the longest vectors of P and Q.

        While training goes on, `sense_counts` are those of the current epoch; at its end they are counted anew over the
        whole corpus.

        Examples
        --------
        >>> model = MUSE(vector_size=16, epochs=3, min_count=1, workers=1)
        >>> model.build_vocab([["a", "rose", "is", "a", "rose"]] * 20)
        >>> model.train()
        >>> [row["epoch"] for row in model.history]
        [1, 2, 3]
        """
        check_device(self._settings)
        for name in reject_unknown_in_train(needless, Settings.homes()):
            logger.debug("train does not need %s, and ignores it", name)
        sentences, vocabulary = same_corpus(sentences, corpus_iterable), self.vocabulary
        added = check_callbacks("callbacks", () if callbacks is None else callbacks)
        if epochs is None:
            epochs = self.training_state.get("epochs", self.epochs) if resume else self.epochs
        run = self._settings.replace(epochs=epochs, callbacks=(*self._settings.callbacks, *added))
        if sentences is not None or corpus_file is not None:
            self._corpus = None  # before the new one is read: never two at once
            _, self._corpus = self._encode(sentences, corpus_file, vocab=vocabulary)
        if self._corpus is None and resume and is_finished(self, epochs):
            return say_nothing_is_left(epochs)
        if self._corpus is None:
            raise ValueError("there is no text to train on; give train the sentences or a corpus_file")
        if total_examples is not None and total_examples != self._corpus.raw_sentences:
            logger.warning(
                "total_examples=%s, but the corpus has %d sentences", total_examples, self._corpus.raw_sentences
            )
        if self._arrays is None:
            check_memory(run, len(vocabulary), int(run.senses_of(vocabulary.words).sum()))
        train_model(self, self._corpus, epochs=run.epochs, callbacks=run.callbacks, resume=resume)
        self._corpus = None

    def estimate_memory(self, vocab_size: int | None = None) -> dict[str, int]:
        """Bytes that the model takes in training, by array and in ``"total"``, the encoded text left out.

        Parameters
        ----------
        vocab_size : int, optional
            For this many words with the default number of senses; those of the vocabulary, if not given.

        Returns
        -------
        dict of str to int
            Bytes.

        Raises
        ------
        TypeError, ValueError
            If `vocab_size` is no integer of at least 1.

        Examples
        --------
        >>> round(MUSE(vector_size=300).estimate_memory(1_000_000)["total"] / 1e9, 1)
        11.1
        """
        if vocab_size is not None:
            words = integer(1)("vocab_size", vocab_size)
            return estimate_memory(self._settings, words, words * int(self._settings.senses_of([""])[0]))
        words = len(self.vocabulary)
        senses = (
            self._settings.senses_of(self.vocabulary.words).sum() if self._arrays is None else self._arrays.n_senses
        )
        return estimate_memory(self._settings, words, int(senses))

    # -- files -------------------------------------------------------------------------------------------------------

    @uses
    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file; one of that name is replaced only when the new one is complete.

        Times and speeds in `history` are left out, so that equal models give equal files.
        """
        state = model_file.ModelState(self._settings, self.vocabulary, self.arrays, self.history, self.training_state)
        model_file.write(path, state)

    @uses
    def export(self, path: str | PathLike[str], format: str, **options: Any) -> None:
        """Write the sense vectors in the format of another tool.

        Parameters
        ----------
        path : path-like
            The file, or for some formats the folder.
        format : str
            ``"word2vec"``, ``"gensim"``, ``"sensegram"``, ...: a key of `muse.formats.registry.FORMATS`;
            docs/formats.md says what each holds.
        **options
            Those of the format, such as ``binary=True`` or ``replace_spaces="_"``.

        Raises
        ------
        ValueError
            For an unknown format, or a word that it cannot hold.

        Warns
        -----
        FormatWarning
            Names what the format does not hold.

        Examples
        --------
        >>> import tempfile, pathlib, warnings
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "senses.vec"
        >>> model = MUSE([["head", "army"], ["head", "tail"]], min_count=1, vector_size=4, epochs=1)
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the file holds no selector
        ...     model.export(path, "word2vec")
        >>> path.read_text().split()[:2]
        ['3', '4']
        """
        write_table(path, SenseTable.of_model(self.vocabulary, self.arrays), format, **options)

    @classmethod
    def load(cls, path: str | PathLike[str], *, mmap: bool = False, **runtime: Any) -> MUSE:
        """Read a model that `save` wrote.

        Parameters
        ----------
        path : path-like
            The file.
        mmap : bool
            Map it into memory, read-only and shared between processes: any size opens in milliseconds.
        **runtime
            Settings that a file does not hold, such as ``workers=`` or ``progress=``.

        Returns
        -------
        MUSE
            As it was saved.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ModelFileError
            A ValueError: the file is not a model of ours, is damaged, or comes from a newer version.
        TypeError
            For a setting that is part of the model.

        Examples
        --------
        >>> model = MUSE.load("wiki.safetensors", mmap=True)  # doctest: +SKIP
        """
        reject_unknown(runtime, dict.fromkeys([*constructor_settings(), *Settings.runtime_names()]))
        stored = sorted(set(runtime) - set(Settings.runtime_names()))
        if stored:
            raise TypeError(f"{stored[0]!r} is part of the model; load can set {', '.join(Settings.runtime_names())}")
        checked = Settings(**runtime)  # before the file is read: a wrong value is no damage
        runtime = {name: getattr(checked, name) for name in runtime}
        state = model_file.read(path, mapped=bool(mmap), **runtime)
        return cls._of_parts(state.vocabulary, state.arrays, state.settings, state.history, state.training_state)


MUSE.__doc__ = inspect.cleandoc(MUSE.__doc__ or "").replace("**unknown\n", f"{parameters()}\n**unknown\n", 1)
