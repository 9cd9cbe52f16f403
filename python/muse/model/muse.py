"""`MUSE`, the model that users hold: it is trained, asked for senses, saved and loaded."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Never

from muse import _core
from muse.base.checks import integer
from muse.data.arrays import Arrays
from muse.data.describing import parameters
from muse.data.forest import Forest
from muse.data.memory import estimate_memory, expected_senses, usual_senses
from muse.data.names import reject_unknown
from muse.data.recipes import Paper, Recipe, StrategyName
from muse.data.settings import Settings, constructor_settings
from muse.data.snapshot import Snapshot
from muse.data.vocabulary import Vocabulary
from muse.errors import NotTrainedError
from muse.files import model_file
from muse.model import gensim_names, gensim_training, hygiene, learning, naming, pictures, trees, words, writing
from muse.model.gensim_names import Setting, set_attribute
from muse.model.given import given_snapshot
from muse.model.guard import Call, part_of_a_change, uses
from muse.model.queries import SenseQueries
from muse.model.words import Sentences
from muse.training.checkpoints import check_checkpoint_dir
from muse.training.run import check_device

__all__ = ["MUSE"]

logger = logging.getLogger("muse")


class MUSE(SenseQueries):
    """Sense embeddings: several vectors a word, learned from plain text, and a selector of the one a context means.

    Parameters
    ----------
    sentences : iterable of lists of str, optional
        The corpus; it is read exactly once, so a generator will do.
    corpus_file : path-like, optional
        In place of `sentences`: a text file, one sentence a line, tokens separated by white space.
    **unknown
        There are no others: what is given here is an error that tells the right name.

    Raises
    ------
    TypeError, ValueError
        For an unknown setting, a value out of range, or a corpus that cannot be one; the message says what to do.
    KeyboardInterrupt
        On Ctrl-C in training; its attribute ``model`` is the model as training left it, which can be resumed.

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

    # Methods that stand with what they need.
    build_vocab = words.build_vocab
    build_vocab_from_freq = words.build_vocab_from_freq
    train = learning.train
    merge_senses = hygiene.merge_senses
    prune_senses = hygiene.prune_senses
    recut = trees.recut
    name_sense = naming.name_sense
    take_names = naming.take_names
    plot_history = pictures.plot_history
    _repr_html_ = pictures.repr_html
    save = writing.save
    export = writing.export
    tag_corpus = writing.tag_corpus
    __setattr__ = set_attribute
    get_latest_training_loss = gensim_names.get_latest_training_loss
    predict_output_word = gensim_names.predict_output_word
    reset_from = gensim_names.reset_from
    scan_vocab = words.scan_vocab
    prepare_vocab = words.prepare_vocab
    prepare_weights = gensim_training.prepare_weights
    init_weights = gensim_training.init_weights
    update_weights = gensim_training.update_weights
    init_sims = gensim_training.init_sims
    running_training_loss = property(gensim_training.running_training_loss)
    total_train_time = property(gensim_training.total_train_time)
    train_count = property(gensim_training.train_count)
    min_alpha_yet_reached = property(gensim_training.min_alpha_yet_reached)
    layer1_size = property(gensim_training.layer1_size)
    batch_words = property(gensim_training.batch_words)
    raw_vocab = property(gensim_training.raw_vocab)
    cum_table = property(gensim_training.cum_table)
    syn1neg = property(gensim_names.syn1neg)
    effective_min_count = property(gensim_names.effective_min_count)
    sg, hs, cbow_mean, null_word, compute_loss = 1, 0, 0, 0, True  # what gensim's settings would be

    # Settings, to be read as gensim's scripts do.
    window, min_count, negative, seed = Setting[int](), Setting[int](), Setting[int](), Setting[int]()
    sample, ns_exponent, alpha = Setting[float](), Setting[float](), Setting[float]()
    sorted_vocab, shrink_windows = Setting[bool](), Setting[bool]()
    max_vocab_size, max_final_vocab = Setting["int | None"](), Setting["int | None"]()
    workers, min_alpha = Setting["int | None"](), Setting["float | None"]()

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
        settings = Settings.of(**arguments, **unknown)
        super().__init__(Snapshot(settings))
        self._corpus: _core.Corpus | None = None  # what build_vocab read, until train has used it
        self._calls: dict[Call, None] = {}
        self._scanned: dict[str, int] | None = None
        self.corpus_count = 0
        self.history: list[dict[str, Any]] = []
        self.stop_training = False  # a callback may set it
        if sentences is not None or corpus_file is not None:
            check_device(settings)  # before the corpus is read
            check_checkpoint_dir(settings)
            self.build_vocab(sentences, corpus_file)
            try:
                self.train()
            except KeyboardInterrupt as interrupt:
                interrupt.model = self  # type: ignore[attr-defined]  # or what was trained would be lost
                logger.warning("training was interrupted; the model as it is then is the attribute `model` of the "
                               "KeyboardInterrupt (in a session, sys.last_value.model)")  # fmt: skip
                raise

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
        forest: Forest | None = None,
        sense_names: Mapping[str, str] | None = None,
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
        forest : Forest, optional
            The sense trees that `arrays` are a cut of: the part `forest` of the `snapshot` of another model.
        sense_names : mapping of str to str, optional
            Names of senses by keys, as ``model.sense_names()`` has them.

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
        model = cls._of(given_snapshot(vocabulary, arrays, settings, training_state, forest), history)
        if sense_names:
            model.publish(model.snapshot.replace(names=naming.given_names(model.snapshot, sense_names)))
        return model

    @classmethod
    def _of(cls, snapshot: Snapshot, history: Iterable[dict[str, Any]]) -> MUSE:
        """A model of a snapshot; the words are not looked at, so that a mapped file opens at once."""
        snapshot.check()
        model = cls()
        model._show(snapshot)
        model.history = list(history)
        return model

    # -- parts -------------------------------------------------------------------------------------------------------

    @property
    def vector_size(self) -> int:
        """Dimension of the sense vectors."""
        return self.settings.vector_size

    @property
    def epochs(self) -> int:
        """Passes over the corpus that `train` makes."""
        return self.settings.epochs

    @property
    def corpus_total_words(self) -> int:
        """Tokens of the corpus that the words come from, before any word was dropped."""
        return 0 if self.snapshot.words is None else self.snapshot.words.raw_words

    @property
    def training_state(self) -> dict[str, Any]:
        """Where training stands, from which ``train(resume=True)`` goes on; empty before, and when it diverged."""
        return self.snapshot.training_state

    @part_of_a_change
    def publish(self, snapshot: Snapshot) -> None:
        """Be another `snapshot` from now on; questions that have begun are answered from the one before.

        Raises
        ------
        TypeError, ValueError
            If its parts do not fit together.
        RuntimeError
            While another thread changes the model.
        """
        snapshot.check()
        self._published.snapshot = snapshot

    @part_of_a_change
    def set_arrays(self, arrays: Arrays | None) -> None:
        """Take new arrays, or the same after their values changed, and forget what was derived from the old ones.

        None: have no values, as before training; the words stay.

        Raises
        ------
        TypeError, ValueError
            If they do not fit the model's words and settings.
        """
        state = {} if arrays is None else self.training_state
        forest = None if arrays is None else self.snapshot.forest
        snapshot = self.snapshot.replace(numbers=arrays, training_state=state, forest=forest)
        snapshot.check()  # before names are looked at
        self.publish(naming.with_names_that_fit(snapshot))

    @uses
    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: all but what can be derived anew, and the corpus that `build_vocab` has read."""
        own = ("_published", "_sv", "_wv", "_corpus", "_calls", "_scanned")
        return {**{name: part for name, part in self.__dict__.items() if name not in own}, "snapshot": self.snapshot}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._corpus, self._calls, self._scanned = None, {}, None
        self._show(state["snapshot"])
        self.__dict__.update({name: part for name, part in state.items() if name != "snapshot"})

    def __getattr__(self, name: str) -> Never:
        """Only called where there is no such attribute: an AttributeError, with the heir of a name of gensim's."""
        raise gensim_names.no_attribute(self, name)

    def __repr__(self) -> str:
        size, strategy = self.settings.vector_size, self.settings.strategy
        senses = f"{self.arrays.n_senses} senses" if self.is_trained else "not trained"
        return f"<MUSE: {len(self)} words, {senses}, vector_size={size}, strategy={strategy!r}>"

    def estimate_memory(self, vocab_size: int | None = None) -> dict[str, int]:
        """Bytes that the model takes in training, by array and in ``"total"``, the encoded text left out.

        Parameters
        ----------
        vocab_size : int, optional
            For this many words with as many senses as they may get, with sense trees as words of such a vocabulary
            usually get; those of the vocabulary, if not given.

        Returns
        -------
        dict of str to int
            Bytes.

        Raises
        ------
        TypeError, ValueError
            If `vocab_size` is no integer of at least 1.
        NotTrainedError
            If it is not given, and there is no vocabulary.

        Examples
        --------
        >>> round(MUSE(vector_size=300, workers=2).estimate_memory(1_000_000)["total"] / 1e9, 1)
        13.2
        """
        snapshot, settings = self.snapshot, self.settings
        if vocab_size is not None:
            count = integer(1)("vocab_size", vocab_size)
            return estimate_memory(settings, count, usual_senses(settings, count))
        if snapshot.words is None:
            raise NotTrainedError(
                "the model has no vocabulary yet: give estimate_memory the number of words (vocab_size=), or call "
                "build_vocab"
            )
        known = snapshot.vocabulary
        senses = snapshot.arrays.n_senses if snapshot.is_trained else expected_senses(settings, known)
        return estimate_memory(settings, len(known), senses, known.counts)

    # -- files -------------------------------------------------------------------------------------------------------

    @gensim_training.of_class
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
        AttributeError
            Where it is called of a model, which would stay as it is.

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
        return cls._of(*model_file.read(path, mapped=bool(mmap), **runtime))


MUSE.__doc__ = inspect.cleandoc(MUSE.__doc__ or "").replace("**unknown\n", f"{parameters()}\n**unknown\n", 1)
