"""Words a second that sentence splitters take, `muse.corpus` and, where they are installed, others.

``python -m benchmarks.prose [FILE]`` reads a file of prose, or generated sentences in capitals and punctuation, and
prints a table; seconds are the processor's.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from muse.corpus import Prose, SentenceSplitter, tokenize
from muse.datasets import make_ambiguous_corpus

__all__ = ["made_prose", "measured", "splitters"]

_AT_ONCE = 5  # sentences of a made paragraph
_SLOW_WORDS = 20_000  # for libraries


def made_prose(n_sentences: int, seed: int = 0) -> list[str]:
    """Paragraphs of generated sentences, with capitals, commas and marks at the end."""
    chance = random.Random(seed)
    made = []
    for words in make_ambiguous_corpus(n_sentences, 1000, seed=seed).sentences:
        text = " ".join(word + ("," if chance.random() < 0.06 else "") for word in words)
        made.append(text.capitalize() + chance.choice(".?!"))
    return [" ".join(made[i : i + _AT_ONCE]) for i in range(0, len(made), _AT_ONCE)]


def splitters() -> dict[str, Callable[[Sequence[str]], int]]:
    """What counts the sentences of paragraphs, by name; libraries that are there."""
    own = SentenceSplitter()
    found: dict[str, Callable[[Sequence[str]], int]] = {
        "muse.corpus.SentenceSplitter": lambda texts: sum(len(own.split(text)) for text in texts),
        "the same, and tokenize": lambda texts: sum(bool(tokenize(s)) for text in texts for s in own.split(text)),
    }
    try:
        from syntok import segmenter

        found["syntok"] = lambda texts: sum(1 for text in texts for part in segmenter.analyze(text) for _ in part)
    except ImportError:
        pass
    try:
        import pysbd

        rules = pysbd.Segmenter(language="en", clean=False)
        found["pysbd"] = lambda texts: sum(len(rules.segment(text)) for text in texts)
    except ImportError:
        pass
    try:
        import spacy

        nlp = spacy.blank("en")
        nlp.add_pipe("sentencizer")
        found["spaCy, sentencizer"] = lambda texts: sum(1 for document in nlp.pipe(texts) for _ in document.sents)
    except ImportError:
        pass
    return found


def measured(texts: Sequence[str], count: Callable[[Sequence[str]], int], most: int | None = None) -> tuple[float, int]:
    """Words a second and sentences of the first texts with `most` words."""
    chosen, words = [], 0
    for text in texts:
        if most is not None and words >= most:
            break
        chosen.append(text)
        words += len(text.split())
    count(chosen[:3])  # patterns are compiled
    started = time.process_time()
    sentences = count(chosen)
    return words / max(time.process_time() - started, 1e-9), sentences


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    texts = list(Prose(arguments[0], encoding="auto").paragraphs()) if arguments else made_prose(30_000)
    print(f"{sum(len(text.split()) for text in texts):,} words in {len(texts):,} paragraphs\n")
    print("| what | words a second | sentences |\n| --- | --- | --- |")
    for name, count in splitters().items():
        speed, sentences = measured(texts, count, None if "muse" in name or "same" in name else _SLOW_WORDS)
        print(f"| {name} | {speed:,.0f} | {sentences:,} |")
    if arguments:
        started = time.process_time()
        tokens = sum(map(len, Prose(Path(arguments[0]), encoding="auto")))
        print(f"| Prose, with reading | {tokens / (time.process_time() - started):,.0f} | |")


if __name__ == "__main__":
    main(sys.argv[1:])
