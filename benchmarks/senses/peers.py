"""What a user might take instead: gensim's Word2Vec, and an MSSG-style model.

No implementation of MSSG (Neelakantan et al. 2014, *Efficient non-parametric estimation of multiple embeddings per
word in vector space*, EMNLP) installs from PyPI; its idea is short enough to be written here. AdaGram has a file of
its own.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.senses.texts import Encoded, Merged
from muse import MUSE, Arrays, Settings, _core
from muse.data.vocabulary import Vocabulary
from muse.evaluation import SenseKeyedVectors
from muse.selector.selection import context_weights, selection_options
from muse.training.run import train_model

__all__ = ["one_vector", "train_gensim", "train_mssg"]

_CHUNK = 16  # uses of a word between two updates of its centres
_LEAST = 20  # uses from which on a word gets several senses
_SETTLED = 5000  # uses after which the centres of a word have settled
_BLOCK = 200_000  # contexts held at a time


def train_gensim(
    merged: Merged, settings: Settings, threads: int, cache: Path, seconds: float | None = None
) -> tuple[Any, float, int]:
    """Word2Vec with our settings, from a file, which is gensim's fast way in.

    With `seconds`, for as many epochs as come nearest to that time, judged by one epoch of a model thrown away.
    Reading and counting words is in nobody's seconds.

    Returns
    -------
    (gensim model, float, int)
        The model, the seconds that training took, and the epochs.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        path = Path(folder) / "text.txt"
        merged.write(path)
        epochs = settings.epochs
        if seconds is not None:
            epochs = max(1, round(seconds / _word2vec(path, settings, threads, 1)[1]))
        return *_word2vec(path, settings, threads, epochs), epochs


def _word2vec(path: Path, settings: Settings, threads: int, epochs: int) -> tuple[Any, float]:
    from gensim.models import Word2Vec

    same = ("vector_size", "window", "negative", "sample", "min_count", "ns_exponent", "alpha", "min_alpha", "seed")
    options = {name: getattr(settings, name) for name in same}
    model = Word2Vec(sg=1, workers=threads, **options)
    model.build_vocab(corpus_file=str(path))
    start = time.perf_counter()
    # With another total_words than the text has the workers would repeat parts of it.
    model.train(
        corpus_file=str(path), total_examples=model.corpus_count, total_words=model.corpus_total_words, epochs=epochs
    )
    return model, time.perf_counter() - start


def one_vector(model: Any) -> SenseKeyedVectors:
    """A gensim model as one with a single sense for each word."""
    return SenseKeyedVectors({word: model.wv[word][None] for word in model.wv.index_to_key})


def train_mssg(merged: Merged, settings: Settings, counts: dict[str, int]) -> tuple[MUSE, Encoded, float]:
    """An MSSG-style model: online clusters of context means, and skip-gram for the sense whose cluster is nearest.

    As in MSSG every word has one global vector, which stands for it as a collocate; a context is the average of its
    words' global vectors; each of a word's K cluster centres is the running mean of the contexts assigned to it; and
    the nearest centre by cosine says which sense is trained against the global vectors. Unlike MSSG the clusters come
    after a word-level warm start instead of growing along with it, count every context alike, however long, stay fixed
    while the senses learn, in as many epochs together as every other model takes, and senses start from their word's
    vector. A window is weighted by keep probabilities, which is what MSSG's subsampled windows are on average.
    """
    warm_epochs = min(2, settings.warmup_epochs, settings.epochs // 2) or 1
    context: dict[str, Any] = {
        "context": "mean", "context_weights": "keep", "distance_power": 0.0, "selection_window": settings.window,
        "context_center": False, "full_text": True,
    }  # fmt: skip
    start = time.perf_counter()
    words = MUSE(**settings.replace(senses=1, epochs=warm_epochs, **context).arguments())
    words.build_vocab_from_freq(counts)
    encoded = merged.encode(words.vocabulary)
    train_model(words, encoded.corpus, epochs=warm_epochs)

    frozen = settings.replace(
        selection_update="none", strategy="greedy", sibling_share=0.0, collocation="word", senses=settings.senses,
        share_weight=0.0, epochs=max(1, settings.epochs - warm_epochs), **context,
    )  # fmt: skip
    arrays = _cluster(words, encoded.corpus, frozen)
    model = MUSE.from_arrays(Vocabulary(words.vocabulary.words, words.vocabulary.counts), arrays, frozen, words.history)
    train_model(model, encoded.corpus, epochs=frozen.epochs)
    return model, encoded, time.perf_counter() - start


def _cluster(words: MUSE, corpus: _core.Corpus, settings: Settings) -> Arrays:
    """Cluster the contexts of every word in the order of the text, and give its senses the word's vector."""
    if not isinstance(settings.senses, int):
        raise ValueError("an MSSG-style model needs a number of senses: give senses=")
    old, most = words.arrays, settings.senses
    vectors = old.collocation_vectors
    offsets, places = _core.sample_occurrences(corpus, old.n_words, _SETTLED, settings.seed)
    options, weights = selection_options(settings), context_weights(settings, old.word_counts)
    rng = np.random.default_rng(settings.seed)
    centres: list[NDArray[np.float32]] = []
    while (first := len(centres)) < old.n_words:  # many words a call, as the core looks through the text each time
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + _BLOCK, side="right")) - 1)
        mine = _unit(_core.context_vectors(vectors, weights, options, corpus, places[offsets[first] : offsets[last]]))
        for word, contexts in enumerate(np.split(mine, offsets[first + 1 : last] - offsets[first]), first):
            enough = len(contexts) >= _LEAST
            centres.append(_online(contexts, most, rng) if enough else vectors[word : word + 1])
    senses = np.array([len(rows) for rows in centres])
    word_of = np.repeat(np.arange(old.n_words), senses)
    return Arrays(
        context_vectors=vectors,
        selection_vectors=np.concatenate(centres),
        sense_vectors=old.sense_vectors[word_of],
        collocation_vectors=old.collocation_vectors,
        sense_offset=np.concatenate(([0], np.cumsum(senses))),
        sense_counts=np.ones(len(word_of), np.int64),
        word_counts=old.word_counts,
    )


def _online(contexts: NDArray[np.float32], most: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Unit centres of one pass of online clustering by cosine, a few contexts at a time."""
    sums = contexts[rng.choice(len(contexts), most, replace=False)]
    each = np.eye(most, dtype=np.float32)
    for first in range(0, len(contexts), _CHUNK):
        block = contexts[first : first + _CHUNK]
        nearest = (block @ _unit(sums).T).argmax(axis=1)
        sums += each[nearest].T @ block
    return _unit(sums)


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0), dtype=np.float32)
