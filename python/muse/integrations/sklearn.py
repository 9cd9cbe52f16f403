"""Documents to vectors in a scikit-learn pipeline."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import tokens_of
from muse.model.muse import MUSE

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise ImportError(
        "muse.integrations.sklearn needs scikit-learn; install it with: pip install 'muse-senses[sklearn]'"
    ) from error

__all__ = ["SenseVectorizer"]

Document = str | Sequence[str]


class SenseVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn documents into the mean of the sense vectors that their words have there.

    Parameters
    ----------
    model : MUSE, path-like or None
        A trained model, or the file of one, which is mapped into memory, so that clones of the vectorizer share it.
        None: `fit` trains one on the documents.
    settings : dict, optional
        Settings of the model that `fit` trains, such as ``{"vector_size": 100, "seed": 1}``.
    tokenizer : callable, optional
        ``tokenizer(document)`` gives the tokens of a text. By default `muse.corpus.tokenize`, the lower-case
        words of prose; give ``str.split`` for a model of text that is tokenised already, and
        `muse.corpus.tokenize_wiki` for one of the usual Wikipedia texts. Documents that are lists of tokens are taken
        as they are.
    select : bool
        Whether a word counts with the sense that its context means. If not, with its word-level vector.

    Attributes
    ----------
    model_ : MUSE
        The model in use.

    Examples
    --------
    >>> documents = ["The bank of the river is wet.", "The bank lends money."] * 30
    >>> vectorizer = SenseVectorizer(settings={"vector_size": 8, "epochs": 1, "seed": 1, "workers": 1})
    >>> vectorizer.fit_transform(documents).shape
    (60, 8)
    """

    def __init__(
        self,
        model: MUSE | str | os.PathLike[str] | None = None,
        *,
        settings: dict[str, Any] | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        select: bool = True,
    ) -> None:
        self.model = model
        self.settings = settings
        self.tokenizer = tokenizer
        self.select = select

    def fit(self, X: Iterable[Document], y: Any = None) -> SenseVectorizer:
        """Train a model on documents, or take the one that was given.

        Parameters
        ----------
        X : iterable of str or of lists of str
            The documents.
        y : ignored

        Raises
        ------
        TypeError
            If `X` is a single string, or a document is neither text nor tokens.
        ValueError
            If `model` and `settings` are both given, or no word is frequent enough to learn.
        """
        if self.model is not None and self.settings is not None:
            raise ValueError("settings are for a model that fit trains; leave them out, or leave out model")
        if self.model is None:
            if not isinstance(self.settings, (dict, NoneType)):
                raise TypeError(f"settings must be a dict of settings of MUSE; got {self.settings!r:.80}")
            self.model_ = MUSE(self._token_lists(X), **(self.settings or {}))
        elif isinstance(self.model, MUSE):
            self.model_ = self.model
        else:
            self.model_ = MUSE.load(self.model, mmap=True)
        self._n_features_out = self.model_.vector_size
        return self

    def transform(self, X: Iterable[Document]) -> NDArray[np.float32]:
        """The mean vector of each document, float32 (N, D); zeros where no word of it is known.

        Parameters
        ----------
        X : iterable of N str or lists of str
            The documents, read as they come.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        """
        check_is_fitted(self, "model_")
        rows = self._selected(X) if self.select else self._known(X)
        vectors = self.model_.sv.vectors if self.select else self.model_.wv.vectors
        means = [
            vectors[found].mean(axis=0) if len(found) else np.zeros(vectors.shape[1], np.float32) for found in rows
        ]
        return np.stack(means) if means else np.empty((0, vectors.shape[1]), np.float32)

    def _selected(self, documents: Iterable[Document]) -> Iterator[NDArray[np.int64]]:
        """Rows of the senses that the words of each document have there."""
        offset = self.model_.arrays.sense_offset
        read: deque[list[str]] = deque()  # by the selector, ahead of what it has yielded

        def reading() -> Iterator[list[str]]:
            for tokens in self._token_lists(documents):
                read.append(tokens)
                yield tokens

        for senses, _ in self.model_.selector.select(reading()):
            tokens = read.popleft()
            known = np.flatnonzero(senses >= 0)
            ids = np.fromiter(
                (self.model_.vocabulary.ids[tokens[place]] for place in known.tolist()), np.int64, len(known)
            )
            yield offset[ids] + senses[known]

    def _known(self, documents: Iterable[Document]) -> Iterator[NDArray[np.int64]]:
        """Ids of the known words of each document."""
        ids = self.model_.vocabulary.ids
        for tokens in self._token_lists(documents):
            yield np.array([ids[token] for token in tokens if token in ids], np.int64)

    def _token_lists(self, documents: Iterable[Document]) -> Iterator[list[str]]:
        if isinstance(documents, (str, bytes)) or not isinstance(documents, Iterable):
            raise TypeError("X must be an iterable of documents; for a single one give [document]")
        split = tokenize if self.tokenizer is None else self.tokenizer
        for document in documents:
            if isinstance(document, str):
                yield tokens_of(split, document)
            elif isinstance(document, Sequence) and all(isinstance(token, str) for token in document):
                yield list(document)
            else:
                raise TypeError(f"a document must be a string or a list of tokens; got {type(document).__name__}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags
