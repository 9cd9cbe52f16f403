"""Where the time of a whole run goes, by part: ``python -m benchmarks.throughput.parts --corpus FILE``.

All in one process and in the processor's seconds, over all threads, so that what else the machine does counts little:
reading the text file, encoding it, the word epochs, and each part of what makes senses of words. What the first three
take together is a run with one sense a word.
"""

from __future__ import annotations

import argparse
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import common
from muse import MUSE, _core
from muse.corpus.encoding import encode_corpus
from muse.data.forest import Forest
from muse.training.growing import tree_settings
from muse.training.trees import grow_trees

PARTS = {
    "read": "reading, counting",
    "encode": "choosing words, encoding",
    "words": "word epochs",
    "encoder": "trees: encoder",
    "whitening": "trees: samples, whitening",
    "trees": "trees: contexts, clusters, joins",
    "vectors": "trees: map to vectors",
    "calibration": "trees: calibration",
    "cut": "trees: cut, counts",
}


class Watch:
    """Processor seconds of parts, one after another: the progress of growing trees."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def stop(self, part: str) -> None:
        """What has passed since the last call was this part's."""
        now = time.process_time()
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self._last
        self._last = now

    def __call__(self, part: str, done: int, total: int) -> None:
        self.stop(part)


def measure(text: Path, dim: int, workers: int, seed: int = 1) -> dict[str, Any]:
    """Seconds of each part of one run with the default recipe, and the most memory up to the words and in all."""
    watch = Watch()
    model = MUSE(vector_size=dim, senses=1, workers=workers, seed=seed, progress=False)
    with _at_messages(watch, {"read ": "read", "kept ": "encode"}):
        model.build_vocab(corpus_file=text)
    watch.stop("encode")
    model.train()
    watch.stop("words")
    peak, settings = common.peak_memory_mb(), MUSE(vector_size=dim, seed=seed).settings
    words, corpus = model.arrays, _corpus(model, text)
    watch.stop("not counted")
    grown = grow_trees(words, corpus, tree_settings(settings), workers, watch)
    chosen = grown.trees.senses_of(settings.senses_of(model.vocabulary.words))
    forest = Forest(grown.space, grown.trees, words.sense_vectors, *grown.trees.nodes_of(chosen))
    arrays = forest.arrays(words.collocation_vectors, words.word_counts)
    watch.stop("cut")
    seconds = {part: watch.seconds.get(part, 0.0) for part in PARTS}
    one, all_parts = _one_sense(seconds), sum(seconds.values())
    return {
        "dim": dim, "workers": workers, "tokens": corpus.n_tokens, "senses": arrays.n_senses, "seconds": seconds,
        "one_sense": one, "with_senses": all_parts, "ratio": all_parts / one, "peak_mb_one_sense": peak,
        "peak_mb": common.peak_memory_mb(),
    }  # fmt: skip


def _one_sense(seconds: dict[str, float]) -> float:
    return sum(seconds[part] for part in ("read", "encode", "words"))


@contextmanager
def _at_messages(watch: Watch, parts: dict[str, str]) -> Iterator[None]:
    """Within, a message of muse.corpus that begins with one of `parts` ends that part."""

    class _Ends(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            for begin, part in parts.items():
                if record.getMessage().startswith(begin):
                    watch.stop(part)

    logger, handler = logging.getLogger("muse.corpus"), _Ends()
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _corpus(model: MUSE, text: Path) -> _core.Corpus:
    """The text once more: the model keeps its own one to itself."""
    return encode_corpus(None, text, vocab=model.vocabulary)[1]


def best(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The least seconds of each part in several runs of one setting."""
    seconds = {part: min(run["seconds"][part] for run in runs) for part in PARTS}
    one, total = _one_sense(seconds), sum(seconds.values())
    return {**runs[-1], "seconds": seconds, "one_sense": one, "with_senses": total, "ratio": total / one}


def table(rows: list[dict[str, Any]]) -> str:
    """Seconds, and shares of the whole run, as Markdown: a column for each setting."""
    names = [f"{row['tokens'] / 1e6:.1f}M tokens, dimension {row['dim']}, {row['workers']} threads" for row in rows]
    lines = [
        {"part": title, **{name: f"{row['seconds'][part]:.2f} ({row['seconds'][part] / row['with_senses']:.0%})"
                           for name, row in zip(names, rows, strict=True)}}
        for part, title in PARTS.items()
    ]  # fmt: skip
    ends = {"one sense": "{one_sense:.1f}", "with senses": "{with_senses:.1f}", "ratio": "{ratio:.2f}",
            "peak memory, MB": "{peak_mb:.0f}"}  # fmt: skip
    lines += [
        {"part": f"**{title}**", **{name: form.format(**row) for name, row in zip(names, rows, strict=True)}}
        for title, form in ends.items()
    ]
    return common.markdown_table(lines, ["part", *names])


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.throughput.parts", description=__doc__)
    common.add_arguments(parser)
    parser.add_argument("--dims", type=common.at_least(1), nargs="+", default=[100, 300])
    parser.add_argument("--runs", type=common.at_least(1), default=1, help="of which the least seconds count")
    parser.add_argument("--threads", type=common.at_least(1), nargs="+", help="several numbers of them, in turn")
    arguments = parser.parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    threads = arguments.threads or [arguments.workers]
    rows = [
        best([measure(corpus, dim, workers) for _ in range(arguments.runs)])
        for dim in arguments.dims
        for workers in threads
    ]
    listed = " ".join(map(str, threads))
    command = f"python -m benchmarks.throughput.parts --corpus {Path(arguments.corpus).name} --threads {listed}"
    stamp = common.stamp(command, limit_tokens=arguments.limit_tokens, runs=arguments.runs)
    head = f"`{stamp['command']}`, {stamp['date']}, {stamp['machine']['cpu']}. Processor seconds over all threads."
    text = f"# Parts of a whole run\n\n{head}\n\n{table(rows)}\n"
    print(text)
    if (folder := common.results_dir(arguments)) is not None:
        common.write_page(folder, "parts", text, {**stamp, "rows": rows})


if __name__ == "__main__":
    common.command(main)
