"""Senses in spaCy's documents: ``nlp.add_pipe("muse_senses", config={"model": "wiki.safetensors"})``."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from muse.base.optional import not_installed
from muse.errors import ModelFileError
from muse.model.muse import MUSE

try:
    from spacy.language import Language
    from spacy.tokens import Doc, Token
    from spacy.util import minibatch
except ImportError as error:
    raise not_installed("spacy", "muse.integrations.spacy", "spacy") from error

__all__ = ["SenseTagger", "make_senses"]

EXTENSIONS = ("sense", "sense_probability", "sense_vector")
_TEXTS = {"lower": "lower_", "text": "text", "lemma": "lemma_", "norm": "norm_"}
_CONFIG, _MODEL = "cfg", "model.safetensors"


class SenseTagger:
    """Sets the sense of each token: ``token._.sense``, ``._.sense_probability`` and ``._.sense_vector``.

    Parameters
    ----------
    model : MUSE, path-like or None
        A trained model, or the file of one, which is mapped into memory. None, or a file that is not there, as in a
        pipeline that was saved elsewhere: `from_disk` brings it.
    attribute : str
        What of a token the model knows as a word: ``"lower"``, ``"text"``, ``"lemma"`` or ``"norm"``. By default
        ``"text"`` for a model that remembers that its words have capitals, else ``"lower"``.
    name : str
        Of the component in its pipeline.

    Notes
    -----
    ``sense`` is a key such as ``"head#1"``, None for a token that the model does not know; ``sense_vector`` is a view
    of the model's vector, float32 (D,), or None. A context is a sentence, where the pipeline sets sentences before,
    else the whole document.
    """

    def __init__(
        self,
        model: MUSE | str | PathLike[str] | None = None,
        *,
        attribute: str | None = None,
        name: str = "muse_senses",
    ) -> None:
        if attribute is not None and attribute not in _TEXTS:
            raise ValueError(f"attribute must be one of {', '.join(map(repr, _TEXTS))}; got {attribute!r:.80}")
        self.name = name
        self._attribute = attribute
        self._model = model
        if model is not None and not isinstance(model, MUSE) and os.path.exists(model):
            self._model = MUSE.load(model, mmap=True)
        for extension in EXTENSIONS:
            if not Token.has_extension(extension):
                Token.set_extension(extension, default=None)

    @property
    def model(self) -> MUSE:
        """The model in use."""
        if self._model is None:
            raise ValueError(
                f"the component {self.name!r} has no model; add it with config={{'model': 'path of a saved model'}}, "
                "or set its model"
            )
        if not isinstance(self._model, MUSE):  # a file that was not there: from_disk may have brought another
            self._model = MUSE.load(self._model, mmap=True)
        return self._model

    @model.setter
    def model(self, model: MUSE) -> None:
        self._model = model

    def __call__(self, doc: Doc) -> Doc:
        """Set the senses in a document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 256) -> Iterator[Doc]:
        """Set the senses in a stream of documents, a batch at a time, on all threads."""
        form = self.model.snapshot.text_form
        cased = form is not None and not form.lower
        word = _TEXTS[self._attribute or ("text" if cased else "lower")]
        for batch in minibatch(stream, batch_size):
            docs = list(batch)
            contexts = [list(context) for doc in docs for context in _contexts(doc)]
            texts = [[getattr(token, word) for token in context] for context in contexts]
            selected = self.model.selector.select(texts)
            for context, words, (senses, probabilities) in zip(contexts, texts, selected, strict=True):
                for place in np.flatnonzero(senses >= 0).tolist():
                    self._set(context[place], words[place], int(senses[place]), float(probabilities[place]))
            yield from docs

    def _set(self, token: Token, word: str, sense: int, probability: float) -> None:
        row = self.model.arrays.row_of(self.model.vocabulary.ids[word], sense)
        token._.sense = f"{word}#{sense}"
        token._.sense_probability = probability
        token._.sense_vector = self.model.arrays.sense_vectors[row]

    def to_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> None:
        """Write the component, with its model, into a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _CONFIG).write_text(json.dumps({"attribute": self._attribute}), encoding="utf-8")
        self.model.save(folder / _MODEL)

    def from_disk(self, path: str | PathLike[str], *, exclude: Iterable[str] = ()) -> SenseTagger:
        """Read what `to_disk` wrote; the model is mapped into memory.

        Raises
        ------
        ModelFileError
            If the folder is damaged.
        """
        folder = Path(path)
        try:
            attribute = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))["attribute"]
        except (ValueError, KeyError, TypeError):
            attribute = ""
        if attribute is not None and attribute not in _TEXTS:
            raise ModelFileError(f"{os.fspath(folder / _CONFIG)!r} is damaged; save the pipeline again")
        self._attribute = attribute
        self._model = MUSE.load(folder / _MODEL, mmap=True)
        return self


def _contexts(doc: Doc) -> Iterable[Any]:
    return doc.sents if doc.has_annotation("SENT_START") else (doc,)


@Language.factory(  # type: ignore[untyped-decorator]
    "muse_senses",
    assigns=[f"token._.{name}" for name in EXTENSIONS],
    default_config={"model": None, "attribute": None},
)
def make_senses(nlp: Language, name: str, model: str | None, attribute: str | None) -> SenseTagger:
    """Make the component; ``config={"model": path}`` names the file of a model."""
    return SenseTagger(model, attribute=attribute, name=name)
