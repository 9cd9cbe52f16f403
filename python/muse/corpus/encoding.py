"""Text in, vocabulary and encoded corpus out, in a single pass over the input.

The work is done by :class:`muse._core.Encoder`; this module checks what the user passes and opens files;
:mod:`muse.data.trimming` decides which words stay.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import _core
from muse.base.checks import path_like
from muse.base.checks import sentences as check_sentences
from muse.base.limits import memory_limit, usable_cores
from muse.base.progress import progress_bar
from muse.corpus.columns import sentences_of
from muse.data.memory import check_memory_to_read, out_of_memory
from muse.data.settings import Settings
from muse.data.trimming import RULE_DEFAULT, RULE_DISCARD, RULE_KEEP, TrimRule, VocabularyRules
from muse.data.vocabulary import Vocabulary, check_words
from muse.errors import NoWordsError
from muse.files.line_sentence import LineSentence, utf8_chunks
from muse.files.lines import PathInput, check_uncompressed, is_compressed, shown
from muse.files.looks import ProseWatch
from muse.files.text_files import open_text, text_files

__all__ = [
    "RULE_DEFAULT",
    "RULE_DISCARD",
    "RULE_KEEP",
    "LineSentence",
    "TrimRule",
    "Vocabulary",
    "VocabularyRules",
    "encode_corpus",
]

logger = logging.getLogger("muse.corpus")

_BLOCK = 2000  # sentences between two updates of the progress bar
_BEGINNING = 1 << 15  # bytes of a file, in which compressed data and prose are looked for


class _Files(NamedTuple):
    """Files to read, and their encoding; None: UTF-8."""

    paths: list[Path]
    encoding: str | None


def encode_corpus(
    sentences: Iterable[Iterable[str]] | None = None,
    corpus_file: PathInput | None = None,
    *,
    vocab: Vocabulary | Sequence[str] | None = None,
    extend: bool = False,
    min_count: int = 5,
    max_vocab_size: int | None = None,
    max_final_vocab: int | None = None,
    trim_rule: TrimRule | None = None,
    sorted_vocab: bool = True,
    max_ram: int | None = None,
    spill_dir: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: bool = False,
) -> tuple[Vocabulary, _core.Corpus]:
    """Count the words of a corpus and encode it, in one pass.

    Parameters
    ----------
    sentences
        An iterable of sentences, each an iterable of strings. It is iterated exactly once, so a generator will do.
        Series and frames of one column are read as `Column` reads them; of other tables give a `Column`.
    corpus_file
        Instead of `sentences`: a UTF-8 text file, or several, a folder, a pattern or ``"-"``, as in `LineSentence`,
        which also takes other encodings; one sentence a line, words between white space, as `str.split` has it. Read
        on all threads, or decompressed as a stream when the name ends in .gz, .bz2, .xz or .zst.
    vocab
        Encode with these words and their ids, and drop all others. None: the corpus decides.
    extend
        With `vocab`: keep its words at their ids, and append the new words that pass the rules below.
    min_count
        Words that occur less often are dropped.
    max_vocab_size
        A limit on the distinct words in memory during the scan. Whenever it is exceeded at the end of a sentence, those
        that occurred less than n times are forgotten, with n = 1, 2, 3, ...; as in gensim.
    max_final_vocab
        A limit on the words that stay, kept by raising `min_count`; as in gensim, words that tie at the limit are all
        dropped.
    trim_rule
        ``trim_rule(word, count, min_count)`` returns ``RULE_KEEP``, ``RULE_DISCARD``, or ``RULE_DEFAULT`` for what
        `min_count` says.
    sorted_vocab
        Ids by descending count, ties by first occurrence. Otherwise all by first occurrence.
    max_ram
        Bytes of encoded corpus (about 4 a token) to hold in memory; a larger one goes to a temporary file that
        disappears with the process. None: half of the machine's memory. 0: no limit.
    spill_dir
        The directory of that file. None: the system's directory for temporary files.
    workers
        Threads for `corpus_file`. None: one for each available core. The result does not depend on it.
    progress
        Show a progress bar.

    Returns
    -------
    vocabulary : Vocabulary
        With the counts of this corpus (with `extend`, added to those of `vocab`).
    corpus : muse._core.Corpus
        Without the dropped words, and without sentences that are left empty.

    Raises
    ------
    TypeError
        If `sentences` or one of its sentences is a string or a mapping (a row of a table), or a token is no string; for
        an option of the wrong type.
    ValueError
        For an option out of range; if both or neither of `sentences` and `corpus_file` are given, the corpus is empty
        or no word stays (which is a RuntimeError too, as in gensim), or the text is not valid UTF-8 (with file and
        line).
    OSError
        If a file cannot be read (`FileNotFoundError`, `IsADirectoryError`) or the disk is full.
    InsufficientMemoryError
        If memory runs out.

    Examples
    --------
    >>> vocabulary, corpus = encode_corpus([["a", "rose", "is", "a", "rose"]], min_count=2)
    >>> vocabulary.words
    ['a', 'rose']
    >>> corpus.tokens
    array([0, 1, 0, 1], dtype=int32)
    """
    text = _files_of(sentences, corpus_file)
    given = Settings(
        min_count=min_count, max_vocab_size=max_vocab_size, max_final_vocab=max_final_vocab, trim_rule=trim_rule,
        sorted_vocab=sorted_vocab, max_ram=max_ram, workers=workers, progress=progress,
    )  # fmt: skip
    rules = VocabularyRules(given.min_count, given.max_final_vocab, given.trim_rule, given.sorted_vocab)
    vocab = _known(vocab)
    encoder = _core.Encoder(
        vocab=None if vocab is None or extend else list(vocab.words),
        max_vocab_size=given.max_vocab_size or 0,
        max_ram=_half_of_memory() if given.max_ram is None else given.max_ram,
        spill_dir="" if spill_dir is None else path_like("spill_dir", spill_dir),
        keep_rule=None if given.trim_rule is None else rules.keeps,
    )
    check_memory_to_read()
    started = time.perf_counter()
    try:
        if text is not None:
            _read_files(encoder, text, given.workers or usable_cores(), given.progress)
        else:
            _read_sentences(encoder, sentences, given.progress)
    except MemoryError as error:
        raise out_of_memory(
            f"reading the corpus, after {encoder.raw_tokens:,} tokens in {encoder.raw_sentences:,} sentences",
            "set max_ram, beyond which the text goes to a temporary file, or max_vocab_size, which limits the words",
        ) from error
    seconds = time.perf_counter() - started
    logger.info("read %d tokens in %d sentences in %.1f s", encoder.raw_tokens, encoder.raw_sentences, seconds)
    if encoder.raw_tokens == 0:
        raise NoWordsError("the corpus is empty: it holds no words. If you passed a generator, was it already used up?")

    words, counts = encoder.vocabulary()
    if vocab is not None and not extend:
        vocabulary, mapping = _fixed(vocab, counts, encoder.raw_tokens)
    else:
        vocabulary, mapping = rules.select(words, counts, encoder.raw_tokens, vocab)
    corpus = encoder.finish(mapping)
    _core.give_back_memory()  # that of the words that were counted and not kept
    logger.info(
        "kept %d of %d words (effective min_count %d), which are %d of %d tokens",
        len(vocabulary), len(words), vocabulary.effective_min_count, corpus.n_tokens, corpus.raw_tokens,
    )  # fmt: skip
    return vocabulary, corpus


def _known(vocab: Any) -> Vocabulary | None:
    """Words that the caller gives."""
    if vocab is None:
        return None
    if isinstance(vocab, (str, bytes)) or not isinstance(vocab, (Vocabulary, Sequence)):
        raise TypeError(f"vocab must be a Vocabulary or a list of words; got {vocab!r:.80}")
    words = vocab.words if isinstance(vocab, Vocabulary) else vocab
    check_words(words, "vocab")
    return vocab if isinstance(vocab, Vocabulary) else Vocabulary(words)


def _fixed(vocab: Vocabulary, counts: NDArray[np.int64], raw_tokens: int) -> tuple[Vocabulary, NDArray[np.int32]]:
    if not counts.any():
        raise ValueError(f"none of the {raw_tokens} tokens of the corpus is in the vocabulary of {len(vocab)} words")
    vocabulary = Vocabulary(vocab.words, counts, raw_words=raw_tokens, effective_min_count=vocab.effective_min_count)
    return vocabulary, np.arange(len(vocab), dtype=np.int32)


def _files_of(sentences: Any, corpus_file: PathInput | None) -> _Files | None:
    """The files to read, or None where `sentences` are to be iterated; complains about anything else."""
    if sentences is not None and corpus_file is not None:
        raise ValueError("pass either sentences or corpus_file, not both")
    if corpus_file is not None:
        return _Files(text_files(corpus_file, "corpus_file"), None)
    if sentences is None:
        raise ValueError("there is no corpus: pass sentences (an iterable of token lists) or corpus_file (a path)")
    if type(sentences) is LineSentence:
        sentences.begin()
        return _Files(sentences.paths, sentences.encoding)
    if isinstance(sentences, str | bytes | os.PathLike):
        raise TypeError(
            f"sentences is a {type(sentences).__name__}; pass an iterable of token lists, e.g. [text.split()], "
            "or the path of a text file as corpus_file="
        )
    if hasattr(sentences, "read"):
        raise TypeError("sentences is an open file; pass its path as corpus_file=, or (line.split() for line in file)")
    check_sentences("sentences", sentences)
    return None


def _read_sentences(encoder: _core.Encoder, sentences: Any, progress: bool) -> None:
    total = len(sentences) if hasattr(sentences, "__len__") else None
    remaining = iter(sentences_of(sentences))
    with progress_bar(total=total, desc="reading", unit=" sentences", show=progress) as bar:
        while count := encoder.add_sentences(islice(remaining, _BLOCK)):
            bar.update(count)


def _read_files(encoder: _core.Encoder, text: _Files, workers: int, progress: bool) -> None:
    total, watch = sum(path.stat().st_size for path in text.paths), ProseWatch()
    with progress_bar(total=total, desc="reading", unit="B", show=progress) as bar:
        done = 0

        def show(position: int) -> None:
            bar.update(done + position - bar.n)

        for path in text.paths:
            with open_text(path) as file:
                # A pipe can only be read from start to end.
                streamed = is_compressed(path) or not path.is_file() or text.encoding is not None
                if streamed:
                    for chunk in watch.watched(utf8_chunks(path, file, text.encoding), shown(path)):
                        encoder.add_text(chunk, shown(path))
                        show(file.tell() if file.seekable() else 0)
                    encoder.end_text()
                else:
                    first = file.read(_BEGINNING)
                    check_uncompressed(path, first)
                    watch.look(first, shown(path))
            if not streamed:
                encoder.add_file(path, workers, show)
            done += path.stat().st_size


def _half_of_memory() -> int:
    """Half of the memory that this process may use, in bytes."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(memory, memory_limit() or memory) // 2
