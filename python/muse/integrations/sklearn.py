"""Documents to vectors in a scikit-learn pipeline, with the settings of the model as parameters."""

from __future__ import annotations

import inspect
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muse.base.optional import not_installed
from muse.base.tables import frame_columns, is_missing, is_series, named, refuse_row
from muse.corpus.tokenizer import tokenize
from muse.corpus.tokens import tokens_of
from muse.data.names import reject_unknown
from muse.data.recipes import RECIPES
from muse.data.settings import Settings, constructor_settings
from muse.data.text_form import TextForm
from muse.errors import warn_at_caller
from muse.model.muse import MUSE

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted
except ImportError as error:
    raise not_installed("sklearn", "muse.integrations.sklearn", "sklearn") from error

__all__ = ["SenseVectorizer"]

Document = str | Sequence[str]

_OF_RECIPES = {name for kind in RECIPES for name in kind.USUAL}  # whose values differ from recipe to recipe
# Of the arguments of MUSE; None is what the recipe says.
_DEFAULTS = {
    "recipe": None,
    **{name: None if name in _OF_RECIPES else field.default for name, field in constructor_settings().items()},
}


class SenseVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn documents into the mean of the sense vectors that their words have there.

    Parameters
    ----------
    model : MUSE, path-like or None
        A trained model, or the file of one, which is mapped into memory, so that clones of the vectorizer share it.
        None: `fit` trains one on the documents.
    settings : dict, optional
        Settings of the model that `fit` trains, such as ``{"vector_size": 100, "seed": 1}``; they hold where a
        parameter of the same name is left at its default.
    tokenizer : callable, optional
        ``tokenizer(document)`` gives the tokens of a text. By default what made those of the model's own text, as far
        as the model remembers it (`MUSE.tokenize`), and `muse.corpus.tokenize`, the lower-case words of prose, for one
        that does not and for one that `fit` trains. Documents that are lists of tokens are taken as they are.
    select : bool
        Whether a word counts with the sense that its context means. If not, with its word-level vector.
    column : str, optional
        The column of a data frame that holds the documents. A frame of one column, and a series, need none.
    **parameters
        The settings and the recipe of `MUSE` for the model that `fit` trains, each a parameter of the vectorizer, so
        that `set_params` and a grid search reach them: ``{"sensevectorizer__vector_size": [50, 100]}``.

    Attributes
    ----------
    model_ : MUSE
        The model in use.

    Examples
    --------
    >>> documents = ["The bank of the river is wet.", "The bank lends money."] * 30
    >>> vectorizer = SenseVectorizer(vector_size=8, epochs=1, seed=1, workers=1)
    >>> vectorizer.fit_transform(documents).shape
    (60, 8)
    >>> vectorizer.get_params()["vector_size"]
    8
    """

    def __init__(
        self,
        model: MUSE | str | os.PathLike[str] | None = None,
        *,
        settings: dict[str, Any] | None = None,
        tokenizer: Callable[[str], list[str]] | None = None,
        select: bool = True,
        column: Any = None,
        **parameters: Any,
    ) -> None:
        reject_unknown({name: given for name, given in parameters.items() if name != "recipe"}, Settings.homes())
        self.model = model
        self.settings = settings
        self.tokenizer = tokenizer
        self.select = select
        self.column = column
        for name, default in _DEFAULTS.items():
            setattr(self, name, parameters.get(name, default))

    def fit(self, X: Iterable[Document], y: Any = None) -> SenseVectorizer:
        """Train a model on documents, or take the one that was given.

        Parameters
        ----------
        X : iterable of str or of lists of str, series, or data frame
            The documents.
        y : ignored

        Raises
        ------
        TypeError
            If `X` is a single string, or a document is neither text nor tokens.
        ValueError
            If `model` and `settings` are both given, or no word is frequent enough to learn.
        """
        given = {
            name: getattr(self, name) for name, default in _DEFAULTS.items() if _differs(getattr(self, name), default)
        }
        if self.model is not None and (given or self.settings is not None):
            raise ValueError("settings are for a model that fit trains; leave them out, or leave out model")
        if self.model is None:
            if not isinstance(self.settings, (dict, NoneType)):
                raise TypeError(f"settings must be a dict of settings of MUSE; got {self.settings!r:.80}")
            split = tokenize if self.tokenizer is None else self.tokenizer
            self.model_ = MUSE(_Documents(self._token_lists(X, split), split), **{**(self.settings or {}), **given})
        elif isinstance(self.model, MUSE):
            self.model_ = self.model
        else:
            self.model_ = MUSE.load(self.model, mmap=True)
        self._n_features_out = self.model_.vector_size
        return self

    def fit_transform(self, X: Iterable[Document], y: Any = None, **fit_params: Any) -> NDArray[np.float32]:
        """`fit`, then `transform` of the same documents, which may be a generator."""
        documents = list(X) if isinstance(X, Iterator) else X  # both read them
        vectors: NDArray[np.float32] = super().fit_transform(documents, y, **fit_params)
        return vectors

    def transform(self, X: Iterable[Document]) -> NDArray[np.float32]:
        """The mean vector of each document, float32 (N, D); zeros, with a warning, where no word of it is known.

        Parameters
        ----------
        X : iterable of N str or lists of str, series, or data frame
            The documents, read as they come.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            Before `fit`.
        TypeError
            If a document is neither text nor tokens.

        Warns
        -----
        UserWarning
            Of documents without a known word, and of a generator that has nothing left.
        """
        check_is_fitted(self, "model_")
        rows = self._selected(X) if self.select else self._known(X)
        vectors = self.model_.sv.vectors if self.select else self.model_.wv.vectors
        means = [vectors[found].mean(axis=0) if len(found) else None for found in rows]
        if not means and isinstance(X, Iterator):
            warn_at_caller(
                "X held no documents; if it is a generator that was read before, give a list of them", UserWarning
            )
        _say_what_is_unknown([number for number, mean in enumerate(means) if mean is None], len(means))
        zeros = np.zeros(vectors.shape[1], np.float32)
        return np.stack([zeros if mean is None else mean for mean in means]) if means else zeros[np.newaxis][:0]

    def _selected(self, documents: Iterable[Document]) -> Iterator[NDArray[np.int64]]:
        """Rows of the senses that the words of each document have there."""
        arrays = self.model_.arrays
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
            yield arrays.rows_at(ids, senses[known])

    def _known(self, documents: Iterable[Document]) -> Iterator[NDArray[np.int64]]:
        """Ids of the known words of each document."""
        ids = self.model_.vocabulary.ids
        for tokens in self._token_lists(documents):
            yield np.array([ids[token] for token in tokens if token in ids], np.int64)

    def _token_lists(self, documents: Any, split: Callable[[str], list[str]] | None = None) -> Iterator[list[str]]:
        if split is None:
            split = self.tokenizer
        if split is None:
            split = tokenize if self.model_.snapshot.text_form is None else self.model_.tokenize
        for number, document in enumerate(_documents(documents, self.column)):
            if isinstance(document, str):
                yield tokens_of(split, document)
                continue
            refuse_row(f"document {number}", document)
            if is_missing(document):
                raise TypeError(f"document {number} is missing ({document!r}); leave it out, or fill it with ''")
            tokens = document.tolist() if hasattr(document, "tolist") else document
            if not isinstance(tokens, Sequence) or not all(isinstance(token, str) for token in tokens):
                raise TypeError(f"a document must be a string or a list of tokens; got {type(document).__name__}")
            yield list(tokens)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class _Documents:
    """Documents to train on, as lists of tokens that can be read once; a model remembers how they were made."""

    def __init__(self, documents: Iterator[list[str]], tokenizer: Callable[[str], list[str]]) -> None:
        self._documents = documents
        self.text_form = TextForm("muse", lower=True) if tokenizer is tokenize else None

    def __iter__(self) -> Iterator[list[str]]:
        return self._documents


def _with_settings(init: Callable[..., None]) -> None:
    """Give a constructor its signature with all settings of `MUSE`, from which scikit-learn takes the parameters."""
    signature = inspect.signature(init)
    own = [parameter for parameter in signature.parameters.values() if parameter.kind is not parameter.VAR_KEYWORD]
    of_muse = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default) for name, default in _DEFAULTS.items()
    ]
    init.__signature__ = signature.replace(parameters=[*own, *of_muse])  # type: ignore[attr-defined]


_with_settings(SenseVectorizer.__init__)


def _differs(value: Any, default: Any) -> bool:
    """Whether a setting was given; what is of another type counts as given, and `MUSE` checks it."""
    return value is not default and not (type(value) is type(default) and bool(value == default))


def _documents(given: Any, column: Any) -> Iterable[Any]:
    """One document after another, of a frame those of its column."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise TypeError("X must be an iterable of documents; for a single one give [document]")
    names = list(given) if isinstance(given, Mapping) else None if is_series(given) else frame_columns(given)
    if names is None:
        return given
    if column is None and len(names) != 1:
        raise TypeError(
            f"X is a {type(given).__name__} with the columns {named(names)}; give the column that holds the documents, "
            "as SenseVectorizer(column=...)"
        )
    name = names[0] if column is None else column
    if name not in names:
        raise KeyError(f"X has no column {name!r}; it has {named(names)}")
    found: Iterable[Any] = given[name]  # type: ignore[index]
    return found


def _say_what_is_unknown(places: list[int], count: int) -> None:
    if places:
        warn_at_caller(
            f"{len(places):,} of {count:,} documents hold no word that the model knows, the first is number "
            f"{places[0]}: their vectors are zeros. Is the text split as that of training was (tokenizer=)?",
            UserWarning,
        )
