"""Which words stay: min_count and its relatives, with the meaning that they have in gensim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muse.data.vocabulary import Vocabulary
from muse.errors import NoWordsError

__all__ = ["RULE_DEFAULT", "RULE_DISCARD", "RULE_KEEP", "TrimRule", "VocabularyRules"]

RULE_DEFAULT = 0
"""What a ``trim_rule`` returns to let ``min_count`` decide (the constants equal those of ``gensim.utils``)."""
RULE_DISCARD = 1
"""What a ``trim_rule`` returns to drop the word."""
RULE_KEEP = 2
"""What a ``trim_rule`` returns to keep the word, however rare."""

TrimRule = Callable[[str, int, int], int]
"""``trim_rule(word, count, min_count)`` returns one of the ``RULE_`` constants."""


@dataclass
class VocabularyRules:
    """Which words of a corpus stay, and in which order; the parameters are those of `muse.corpus.encode_corpus`."""

    min_count: int
    max_final_vocab: int | None
    trim_rule: TrimRule | None
    sorted_vocab: bool

    def keeps(self, word: str, count: int, min_count: int) -> bool:
        """Whether a word stays, where there is a trim_rule."""
        assert self.trim_rule is not None
        decision = self.trim_rule(word, count, min_count)
        if decision not in (RULE_DEFAULT, RULE_DISCARD, RULE_KEEP):
            raise ValueError(
                f"trim_rule({word!r}, {count}, {min_count}) returned {decision!r}; "
                "it must return muse.corpus.RULE_DEFAULT, RULE_KEEP or RULE_DISCARD"
            )
        return decision == RULE_KEEP or (decision == RULE_DEFAULT and count >= min_count)

    def effective_min_count(self, counts: NDArray[np.int64]) -> int:
        """min_count, raised so far that no more than max_final_vocab words reach it."""
        limit = self.max_final_vocab
        if limit is None or limit >= len(counts):
            return self.min_count
        first_beyond = int(np.partition(counts, len(counts) - 1 - limit)[len(counts) - 1 - limit])
        return max(self.min_count, first_beyond + 1)

    def select(
        self, words: list[str], counts: NDArray[np.int64], raw_tokens: int, known: Vocabulary | None
    ) -> tuple[Vocabulary, NDArray[np.int32]]:
        """Decide on `words`, which occur `counts` times among `raw_tokens`.

        Returns
        -------
        vocabulary : Vocabulary
            The words of `known`, all of them and first, then those that stay.
        ids : int32 (len(words),)
            The id of each of `words` in it, or -1.
        """
        known = known or Vocabulary([])
        ids = np.fromiter(map(known.get, words), np.int32, len(words))
        threshold = self.effective_min_count(counts)
        if self.trim_rule is None:
            stays = counts >= threshold
        else:
            pairs = zip(words, counts.tolist(), strict=True)
            stays = np.fromiter((self.keeps(word, count, threshold) for word, count in pairs), bool, len(words))
        new = np.flatnonzero(stays & (ids < 0))
        if len(new) == 0 and (ids < 0).all():
            raise NoWordsError(self._nothing_stays(words, counts, threshold))
        if self.sorted_vocab:
            new = new[np.argsort(-counts[new], kind="stable")]
        all_counts = np.concatenate([known.counts, counts[new]])
        np.add.at(all_counts, ids[ids >= 0], counts[ids >= 0])
        ids[new] = len(known) + np.arange(len(new), dtype=np.int32)
        vocabulary = Vocabulary(
            [*known.words, *(words[i] for i in new)],
            all_counts,
            raw_words=known.raw_words + raw_tokens,
            effective_min_count=threshold,
        )
        return vocabulary, ids

    def _nothing_stays(self, words: list[str], counts: NDArray[np.int64], threshold: int) -> str:
        if not words:  # ties at the limit are all forgotten
            return "max_vocab_size is so low that every word was forgotten while counting; pass a larger one, or None"
        top = int(counts.argmax())
        most = f"the most frequent, {words[top]!r}, occurs {_times(int(counts[top]))}"
        if counts[top] < self.min_count:
            return (
                f"no word occurs min_count={self.min_count} times; {most}: "
                f"pass min_count={max(1, int(counts[top]) // 2)} or so, or more text"
            )
        if counts[top] < threshold:
            ties = int((counts == counts[top]).sum())
            return (
                f"max_final_vocab={self.max_final_vocab} leaves no word, since {ties} words tie for it; {most}: "
                f"pass max_final_vocab={ties} or more"
            )
        return f"trim_rule discards every word that occurs min_count={threshold} times; {most}: check the rule"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
