"""Pictures of a model, and how it looks in a notebook: methods of `MUSE`."""

from __future__ import annotations

from typing import Any

import numpy as np

from muse.base.checks import Choice, integer
from muse.base.html import html_rows, html_text
from muse.data.snapshot import Publisher
from muse.model.guard import Model
from muse.model.trees import sense_tree

__all__ = ["plot_history", "plot_senses", "plot_tree", "repr_html"]


def plot_senses(
    self: Publisher, word: str, topn: int = 12, *, method: str = "pca", seed: int = 0, ax: Any = None
) -> Any:
    """Draw the senses of a word and what they are near to, in two dimensions, coloured by sense.

    Parameters
    ----------
    word : str
        A known word.
    topn : int
        How many neighbours of each sense at most: of ten times as many senses of other words that are nearest to it,
        those that are nearer to it than to the word's other senses, by how much.
    method : {"pca", "umap"}
        The two principal components, or UMAP, with the library ``umap-learn``.
    seed : int
        Of UMAP.
    ax : matplotlib axes, optional
        Where; a new figure, if not given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    ImportError
        If matplotlib, or the library of UMAP, is not installed; the message says how to.
    TypeError, ValueError
        For another `method`, or a `topn` that is no number of at least 1.

    Examples
    --------
    >>> model.plot_senses("bank").figure.savefig("bank.png")  # doctest: +SKIP
    """
    from muse.plots.senses import draw_senses, map_of_senses

    snapshot = self.snapshot
    topn, method = integer(1)("topn", topn), Choice("pca", "umap")("method", method) or ""
    found = map_of_senses(snapshot, word, topn, method, integer(0)("seed", seed))
    return draw_senses(snapshot, word, found, ax)


def plot_tree(self: Publisher, word: str, topn: int = 6, *, ax: Any = None) -> Any:
    """Draw the sense tree of a word: joins further right are wider, and what is a sense now is bold.

    Parameters
    ----------
    word : str
        A known word.
    topn : int
        How many neighbours are looked at: the words of the first of them, three at most, stand beside each sense and
        each finest sense; 0 for none.
    ax : matplotlib axes, optional
        Where; a new figure, if not given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    ImportError
        If matplotlib is not installed; the message says how to.

    Examples
    --------
    >>> model.plot_tree("bank").figure.savefig("bank.svg")  # doctest: +SKIP
    """
    return sense_tree(self, word, topn).plot(ax)


def plot_history(self: Model, measure: str = "loss", *, ax: Any = None) -> Any:
    """Draw how a measure went in training: a point for each row of `history`.

    Parameters
    ----------
    measure : str
        A number of the rows: ``"loss"``, ``"reward"``, ``"collapsed"``, ``"tokens_per_second"``, ... The stages are
        lines of their own: the loss of making sense trees is that of an encoder, and not to be compared with others.
    ax : matplotlib axes, optional
        Where; a new figure, if not given.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    ValueError
        Where there is no history, or no such measure in it; the message lists those that there are.
    ImportError
        If matplotlib is not installed; the message says how to.

    Examples
    --------
    >>> model.plot_history("reward")  # doctest: +SKIP
    """
    from muse.plots.history import draw_history

    return draw_history(self.history, measure, ax)


def repr_html(self: Model) -> str:
    """A table of what the model is, for notebooks."""
    snapshot, settings = self.snapshot, self.snapshot.settings
    facts: list[tuple[str, object]] = []
    if snapshot.words is not None:
        facts += [("words", f"{len(snapshot.words):,}"), ("tokens of its text", f"{snapshot.words.raw_words:,}")]
    if snapshot.is_trained:
        several = int((np.diff(snapshot.arrays.sense_offset) > 1).sum())
        facts += [("senses", f"{snapshot.arrays.n_senses:,}"), ("words with several senses", f"{several:,}")]
    facts += [("vector_size", settings.vector_size), ("recipe", type(settings.recipe).__name__)]
    if snapshot.forest is not None:
        facts.append(("words with a sense tree", f"{int((snapshot.forest.trees.n_leaves > 0).sum()):,}"))
    if snapshot.names:
        facts.append(("names of senses", len(snapshot.names.keys_and_names())))
    rows = [(html_text(name), html_text(value)) for name, value in facts]
    return html_rows("MUSE" if snapshot.is_trained else "MUSE, not trained", (), rows, numeric=(1,))
