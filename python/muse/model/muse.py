"""`MUSE`, the model that users hold: it is trained, asked for senses, saved and loaded."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import Any

from muse import _core
from muse.base.checks import callbacks as check_callbacks
from muse.base.checks import integer
from muse.data.arrays import Arrays
from muse.data.memory import check_memory, estimate_memory
from muse.data.settings import PAPER_DEFAULTS, Settings, reject_unknown, reject_unknown_in_train
from muse.data.snapshot import Snapshot
from muse.data.trimming import TrimRule
from muse.data.vocabulary import Vocabulary
from muse.files import model_file
from muse.formats.registry import write_table
from muse.formats.table import SenseTable
from muse.model import hygiene, words
from muse.model.given import given_snapshot
from muse.model.guard import Call, changes, part_of_a_change, uses
from muse.model.hygiene import SenseMap
from muse.model.queries import SenseQueries
from muse.model.words import Sentences
from muse.selector import tagging
from muse.selector.tag_file import TagReport
from muse.training.checkpoints import check_checkpoint_dir
from muse.training.run import check_device, say_nothing_is_left, train_model
from muse.training.schedule import is_finished

__all__ = ["MUSE"]

logger = logging.getLogger("muse")


class MUSE(SenseQueries):
    """Sense embeddings: several vectors a word, learned from plain text, and a selector of the one a context means.

    Parameters
    ----------
    sentences : iterable of lists of str, optional
        The corpus; it is read exactly once, so a generator will do.
    corpus_file : path-like, optional
        In place of `sentences`: a text file, one sentence a line, tokens separated by ASCII white space.
    **options
        The settings listed below. Without a corpus the model is empty: call `build_vocab` and `train`.

    Raises
    ------
    TypeError, ValueError
        For an unknown setting, a value out of range, or a corpus that cannot be one; the message says what to do.

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
        **options: Any,
    ) -> None:
        settings = Settings.from_options(options)
        super().__init__(Snapshot(settings))
        self._corpus: _core.Corpus | None = None  # what build_vocab read, until train has used it
        self._calls: dict[Call, None] = {}
        self.corpus_count = 0
        self.history: list[dict[str, Any]] = []
        self.stop_training = False  # a callback may set it
        if sentences is not None or corpus_file is not None:
            check_device(settings)  # before the corpus is read
            check_checkpoint_dir(settings)
            self.build_vocab(sentences, corpus_file)
            self.train()

    @staticmethod
    def paper_defaults(strategy: str = "eps_greedy") -> dict[str, Any]:
        """The settings of Lee & Chen (2017), as keyword arguments: ``MUSE(corpus, **MUSE.paper_defaults())``.

        The paper tries several strategies. Its policy gradient learns from the likelihood with negatives (equation 5
        and appendix A), the others from the likelihood alone. To change a setting:
        ``MUSE(corpus, **(MUSE.paper_defaults("boltzmann") | {"vector_size": 100}))``.
        """
        reward = "sampled_likelihood" if strategy == "policy" else "likelihood"
        return {**PAPER_DEFAULTS, "strategy": strategy, "reward": reward}

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
        snapshot = given_snapshot(vocabulary, arrays, settings, training_state)
        return cls._of(snapshot, history)

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
        self.publish(self.snapshot.replace(numbers=arrays, training_state=state))

    @uses
    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: all but what can be derived anew, and the corpus that `build_vocab` has read."""
        own = ("_published", "_sv", "_wv", "_corpus", "_calls")
        return {**{name: part for name, part in self.__dict__.items() if name not in own}, "snapshot": self.snapshot}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._corpus, self._calls = None, {}
        self._show(state["snapshot"])
        self.__dict__.update({name: part for name, part in state.items() if name != "snapshot"})

    def __repr__(self) -> str:
        size, strategy = self.settings.vector_size, self.settings.strategy
        senses = f"{self.arrays.n_senses} senses" if self.is_trained else "not trained"
        return f"<MUSE: {len(self)} words, {senses}, vector_size={size}, strategy={strategy!r}>"

    # -- words -------------------------------------------------------------------------------------------------------

    @changes
    def build_vocab(
        self,
        sentences: Sentences | None = None,
        corpus_file: str | PathLike[str] | None = None,
        *,
        update: bool = False,
        trim_rule: TrimRule | None = None,
        corpus_iterable: Sentences | None = None,
        **needless: Any,
    ) -> None:
        """Read a corpus and decide on the words. The same pass encodes it, so that `train` need not read it again.

        Parameters
        ----------
        sentences, corpus_file
            The corpus, as in the constructor.
        update : bool
            Add the new words of this corpus to those already known. In a trained model these keep all their values, and
            new words start afresh; with ``init="split"`` they have one sense each, since words are split into senses
            once, and do not count in contexts. Training that was interrupted can be resumed on its corpus,
            unless words that were too rare in it before are known now, which would change its tokens.
        trim_rule : callable, optional
            Which words stay, in place of the setting.
        corpus_iterable
            gensim's name of `sentences` here.
        **needless
            ``progress_per`` and ``keep_raw_vocab``, which gensim takes; ignored.

        Raises
        ------
        ValueError
            If the model has a vocabulary and `update` is not given, or no word is left.
        NotTrainedError
            If there is none that `update` could add to.
        RuntimeError
            In a callback of training, in the corpus that is being read, and while another call changes the model.

        Examples
        --------
        >>> from muse import MUSE
        >>> model = MUSE(min_count=1, vector_size=8)
        >>> model.build_vocab([["a", "rose", "is", "a", "rose"]])
        >>> list(model.vocabulary), model.corpus_total_words
        (['a', 'rose', 'is'], 5)
        """
        words.check_update(self.snapshot, "build_vocab", update, needless)
        sentences = words.same_corpus(sentences, corpus_iterable)
        self._corpus = None
        snapshot, corpus = words.with_words_of_corpus(self.snapshot, sentences, corpus_file, trim_rule)
        self.publish(snapshot)
        self._corpus, self.corpus_count = corpus, corpus.raw_sentences

    @changes
    def build_vocab_from_freq(
        self,
        word_freq: Mapping[str, int],
        *,
        corpus_count: int | None = None,
        update: bool = False,
        trim_rule: TrimRule | None = None,
    ) -> None:
        """Decide on the words from a table of their counts; `min_count` and the other limits apply.

        Parameters
        ----------
        word_freq : mapping of str to int
            How often each word occurs.
        corpus_count : int, optional
            How many sentences they come from; kept as the attribute of that name.
        update, trim_rule
            As in `build_vocab`.

        Raises
        ------
        TypeError, ValueError
            If the table is empty, a key is no string, or a count no integer of at least 0; else as in `build_vocab`.

        Examples
        --------
        >>> from muse import MUSE
        >>> model = MUSE(min_count=2)
        >>> model.build_vocab_from_freq({"a": 9, "rose": 3, "is": 1})
        >>> list(model.vocabulary)
        ['a', 'rose']
        """
        words.check_update(self.snapshot, "build_vocab_from_freq", update)
        if corpus_count is not None:
            corpus_count = integer(0, 2**62)("corpus_count", corpus_count)
        self.publish(words.with_words_of_table(self.snapshot, word_freq, trim_rule))
        if corpus_count is not None:
            self.corpus_count = corpus_count

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

        - ``epoch`` (from 1, in this call) and ``stage``: ``"words"`` before ``init="split"`` has made senses, then
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
        settings = self.settings
        check_device(settings)
        for name in reject_unknown_in_train(needless):
            logger.debug("train does not need %s, and ignores it", name)
        sentences, vocabulary = words.same_corpus(sentences, corpus_iterable), self.vocabulary
        added = check_callbacks("callbacks", () if callbacks is None else callbacks)
        if epochs is None:
            epochs = self.training_state.get("epochs", self.epochs) if resume else self.epochs
        run = settings.replace(epochs=epochs, callbacks=(*settings.callbacks, *added))
        if sentences is not None or corpus_file is not None:
            self._corpus = None  # before the new one is read: never two at once
            _, self._corpus = words.encode(self.snapshot, sentences, corpus_file, vocab=vocabulary)
        if self._corpus is None and resume and is_finished(self.snapshot, epochs):
            return say_nothing_is_left(epochs)
        if self._corpus is None:
            raise ValueError("there is no text to train on; give train the sentences or a corpus_file")
        if total_examples is not None and total_examples != self._corpus.raw_sentences:
            logger.warning(
                "total_examples=%s, but the corpus has %d sentences", total_examples, self._corpus.raw_sentences
            )
        if not self.is_trained:
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
        snapshot, settings = self.snapshot, self.settings
        if vocab_size is not None:
            count = integer(1)("vocab_size", vocab_size)
            return estimate_memory(settings, count, count * int(settings.senses_of([""])[0]))
        known = snapshot.vocabulary.words
        senses = snapshot.arrays.n_senses if snapshot.is_trained else int(settings.senses_of(known).sum())
        return estimate_memory(settings, len(known), senses)

    # -- senses too many or too few ----------------------------------------------------------------------------------

    @changes
    def merge_senses(self, threshold: float = hygiene.THRESHOLD) -> SenseMap:
        """Merge senses of a word that are the same but for noise.

        The two most similar senses of a word become one, as long as the cosine of their vectors is at least
        `threshold`. A merged sense has the sum of their uses and the mean of their vectors, weighted by their uses, and
        stands where the first of them stood. A model that was trained with the paper's one or two senses too many can
        so be put right afterwards; docs/senses.md says which threshold does what.

        Parameters
        ----------
        threshold : float
            Cosine, from -1 (each word keeps one sense) to 1. The default is for models of the default settings: how
            close senses lie depends above all on how long they were trained after the split.

        Returns
        -------
        SenseMap
            What became of each sense. Anything kept by sense, such as a tagged text, must be renumbered by it.

        Raises
        ------
        NotTrainedError
            If the model is not trained.
        RuntimeError
            In a callback, since training goes on with the senses that it began with, and while another call changes the
            model.

        Notes
        -----
        The model can be trained further, resumed, saved and asked as before. A model loaded with ``mmap=True`` gets new
        arrays in memory; its file stays as it is.

        Examples
        --------
        >>> from muse import MUSE
        >>> from muse.datasets import make_ambiguous_corpus
        >>> model = MUSE(make_ambiguous_corpus(2000, 300, seed=0).sentences, senses=3, vector_size=16, workers=1)
        >>> before = model.arrays.n_senses
        >>> senses = model.merge_senses()
        >>> len(senses) == before and model.arrays.n_senses <= before
        True
        """
        snapshot, senses = hygiene.merged(self.snapshot, threshold)
        self.publish(snapshot)
        return senses

    @changes
    def prune_senses(self, min_prior: float = 0.05, min_count: int = 0) -> SenseMap:
        """Drop senses that are hardly used; each word keeps its most used sense.

        Parameters
        ----------
        min_prior : float
            Drop senses with a smaller share in the uses of their word.
        min_count : int
            Drop senses with fewer uses in the training text.

        Returns
        -------
        SenseMap
            What became of each sense; see `merge_senses`, which also says what else holds.

        Notes
        -----
        The selector gives the uses of a dropped sense to the others from now on. Their counts, and so the shares,
        change when the model is trained next and the uses are counted anew; until then the shares are those of the
        senses that stay.

        Raises
        ------
        NotTrainedError
            If the model is not trained.
        RuntimeError
            As in `merge_senses`.

        Examples
        --------
        >>> from muse import MUSE
        >>> from muse.datasets import make_ambiguous_corpus
        >>> model = MUSE(make_ambiguous_corpus(2000, 300, seed=0).sentences, senses=3, vector_size=16, workers=1)
        >>> senses = model.prune_senses(min_prior=0.1)
        >>> bool(model.arrays.priors().min() >= 0.1)
        True
        """
        snapshot, senses = hygiene.pruned(self.snapshot, min_prior, min_count)
        self.publish(snapshot)
        return senses

    # -- files -------------------------------------------------------------------------------------------------------

    @uses
    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file; one of that name is replaced only when the new one is complete.

        Times and speeds in `history` are left out, so that equal models give equal files.
        """
        model_file.write(path, self.snapshot, self.history)

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
        snapshot = self.snapshot
        write_table(path, SenseTable.of_model(snapshot.vocabulary, snapshot.arrays), format, **options)

    @uses
    def tag_corpus(
        self,
        input: str | PathLike[str],
        output: str | PathLike[str],
        *,
        margin: float = 0.0,
        resume: bool = False,
        progress: bool | None = None,
    ) -> TagReport:
        """Write a text with the sense of each word behind it: ``head`` becomes ``head#2``.

        All else stays as it is: unknown words, white space, and lines, each of which is a sentence. The work is done in
        C++ on all threads; a file of any size is streamed.

        Parameters
        ----------
        input : path-like
            UTF-8 text, one sentence a line, plain or compressed (.gz, .bz2, .xz, .zst).
        output : path-like
            Where it goes, compressed if the name says so. The file appears when it is complete.
        margin : float
            Leave words bare whose sense is less than this more probable than the next best one.
        resume : bool
            Go on where an earlier call with the same arguments was stopped or killed; a file ``output.partial`` holds
            what it had done.
        progress : bool, optional
            Show a progress bar; the model's setting, if not given.

        Returns
        -------
        TagReport
            ``tokens`` and ``tagged``, how many there are of each.

        Raises
        ------
        FileNotFoundError, OSError
            If a file cannot be read or written, or `input` changes meanwhile; `BlockingIOError` while another process
            tags to the same output; `FileExistsError` if ``output.partial`` or ``output.partial.json``, which are
            written meanwhile, are there and no earlier call left them.
        ValueError
            If the text is not valid UTF-8 (with the line), `input` is also `output` or a file beside it that is written
            meanwhile (``output.partial``, ``output.partial.json``), or the text, the model, the margin or those files
            have changed since the call that is to be resumed.

        Notes
        -----
        A line of more than 64 MB is cut at a space, and contexts do not reach over the cut; with
        ``cross_sentences=True`` they do not reach from one piece of the file, about 4 MB of lines, into the next.

        Examples
        --------
        >>> model.tag_corpus("text.txt", "tagged.txt.gz")  # doctest: +SKIP
        TagReport(tokens=8000064, tagged=7761204)
        """
        return tagging.tag_text(self.snapshot, input, output, margin=margin, resume=resume, progress=progress)

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
        reject_unknown(runtime)
        stored = sorted(set(runtime) - set(Settings.runtime_names()))
        if stored:
            raise TypeError(f"{stored[0]!r} is part of the model; load can set {', '.join(Settings.runtime_names())}")
        checked = Settings(**runtime)  # before the file is read: a wrong value is no damage
        runtime = {name: getattr(checked, name) for name in runtime}
        return cls._of(*model_file.read(path, mapped=bool(mmap), **runtime))


_own = [p for p in inspect.signature(MUSE.__init__).parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
MUSE.__init__.__signature__ = inspect.Signature([*_own, *Settings.parameters()])  # type: ignore[attr-defined]
MUSE.__doc__ = f"{inspect.cleandoc(MUSE.__doc__ or '')}\n\nSettings\n--------\n{Settings.describe()}\n"
