"""Senses of a model in a dictionary such as WordNet: a method of `MUSE`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from muse.base.checks import number
from muse.base.progress import progress_bar
from muse.data.snapshot import Publisher

if TYPE_CHECKING:
    from muse.lexicon.linking import SenseLinks

__all__ = ["link_wordnet"]


def link_wordnet(
    self: Publisher,
    words: str | Iterable[str] | None = None,
    lexicon: Any = "oewn:2024",
    *,
    pos: str | Iterable[str] | None = None,
    threshold: float = 0.5,
) -> SenseLinks:
    """Find the entry of WordNet, or of a dictionary like it, that each sense is.

    Parameters
    ----------
    words : str or iterable of str, optional
        A known word, or several; all words with several senses, if not given.
    lexicon : str, path-like or wn.Wordnet
        The name of a lexicon in the database of the library ``wn`` (extra ``[wordnet]``); a WN-LMF file; a folder with
        the database files of WordNet, such as ``"/usr/share/wordnet"``, for which no library is needed; or a
        ``wn.Wordnet``. Words are looked up as they stand, in lower case.
    pos : str or iterable of str, optional
        Only entries of these parts of speech: ``"n"``, ``"v"``, ``"a"``, ``"r"``.
    threshold : float
        The least `score` of an entry, from 0 to 1; a sense without one that is likely enough has none.

    Returns
    -------
    SenseLinks
        By keys: a `SenseLink` with ``synset``, ``gloss``, ``score`` and a ``name``, or None.

    Raises
    ------
    UnknownWordError
        A KeyError that names the nearest spellings.
    FileNotFoundError
        If the lexicon is a path that is not there.
    ImportError
        If the library ``wn`` is needed and not installed.
    ModelFileError
        If a file of the lexicon is damaged or something else.
    TypeError, ValueError
        If ``wn`` has no such lexicon, the message says how to get it; or for a wrong part of speech or threshold.

    Examples
    --------
    >>> links = model.link_wordnet("bank", "/usr/share/wordnet")  # doctest: +SKIP
    >>> links["bank#1"].gloss, links["bank#1"].score  # doctest: +SKIP
    ('sloping land (especially the slope beside a body of water)', 0.93)
    """
    from muse.lexicon.linking import SenseLink, SenseLinks, link_word
    from muse.lexicon.opening import open_lexicon

    snapshot = self.snapshot
    least = number(0, 1)("threshold", threshold)
    wanted = _parts_of_speech(pos)
    if words is None:
        several = np.flatnonzero(np.diff(snapshot.arrays.sense_offset) > 1)
        asked = [snapshot.vocabulary.words[row] for row in several.tolist()]
    else:
        asked = [words] if isinstance(words, str) else list(words)
        _ = snapshot.arrays  # or it is not trained
        for word in asked:
            snapshot.vocabulary.index(word)
    opened, links = open_lexicon(lexicon), dict[str, SenseLink | None]()
    with progress_bar(total=len(asked), desc="linking", unit=" words", show=snapshot.settings.progress) as bar:
        for word in asked:
            links |= link_word(snapshot, opened, word, wanted, least)
            bar.update(1)
    return SenseLinks(links, opened.name)


def _parts_of_speech(pos: Any) -> tuple[str, ...] | None:
    from muse.lexicon.synsets import POS

    if pos is None:
        return None
    given = (pos,) if isinstance(pos, str) else tuple(pos)
    for part in given:
        if part not in POS:
            raise ValueError(f"pos must be some of {', '.join(map(repr, POS))}; got {part!r:.40}")
    return given
