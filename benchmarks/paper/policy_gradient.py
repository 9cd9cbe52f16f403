"""Policy gradient: every update makes the chosen sense less likely (appendix A).

The reward log L̄ is negative, so gradient ascent on log L̄ · log π lowers the probability of the sense that was
chosen, however good it was. This is measured on the trainer itself: after a few epochs, updates are made one target
at a time, the chosen sense is read from the trainer's count of senses, and π of that sense in its context is compared
before and after. Then the same for updates of whole batches, where the updates of other targets, which move the same
words' P, come on top. `smooth_policy`, which rewards by the likelihood instead of its logarithm, and Boltzmann
selection, which draws senses alike but estimates values, are measured beside it. The entropy of π over the epochs
shows what it leads to: ln 3 = 1.099 is a selector that knows nothing.

So that the context of an update is known outside of the trainer, the selector reads the full window of the text as it
is; all else is the paper's recipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.paper import report
from benchmarks.paper.runs import Runs, cases
from muse import MUSE, _core
from muse.corpus.encoding import encode_corpus
from muse.training.options import core_options

STRATEGIES = ("policy", "smooth_policy", "boltzmann")
BATCH = 2048


class Bench:
    """A trained model, and a trainer whose updates are watched."""

    def __init__(self, model: MUSE, corpus: _core.Corpus, batch_tokens: int, reduction: str) -> None:
        self.arrays = model.arrays.for_training()
        self.corpus = corpus
        self.window = model.settings.window
        settings = model.settings.replace(batch_tokens=batch_tokens, selection_reduction=reduction)
        arrays = self.arrays
        self.trainer = _core.Trainer(
            context_vectors=arrays.context_vectors, selection_vectors=arrays.selection_vectors,
            sense_vectors=arrays.sense_vectors, collocation_vectors=arrays.collocation_vectors,
            sense_offset=arrays.sense_offset, word_counts=model.vocabulary.counts, corpus=corpus,
            options=core_options(settings, settings.epochs), sample=settings.sample,
            ns_exponent=settings.ns_exponent, context_weights=np.empty(0, np.float32),
        )  # fmt: skip
        self._epoch = settings.epochs  # random draws that training has not used

    def log_policy(self, token: int) -> NDArray[np.float64]:
        """log π of the word at a place in its context, from equation 1; finite where π itself would round to 0."""
        offsets = self.corpus.offsets
        sentence = int(np.searchsorted(offsets, token, side="right")) - 1
        low, high = max(offsets[sentence], token - self.window), min(offsets[sentence + 1], token + self.window + 1)
        context = self.arrays.context_vectors[self.corpus.tokens[low:high]].astype(np.float64).sum(axis=0)
        scores = self.arrays.selection_vectors[self.rows(token)] @ context
        scores = scores - scores.max()
        return np.asarray(scores - np.log(np.exp(scores).sum()))

    def rows(self, token: int) -> slice[int, int, None]:
        """The senses of the word at a place."""
        word = int(self.corpus.tokens[token])
        return slice(int(self.arrays.sense_offset[word]), int(self.arrays.sense_offset[word + 1]))

    def run(self, batch: int) -> dict[str, Any]:
        """One batch of training."""
        stats = dict(self.trainer.run(self._epoch, batch, batch + 1, 1, None))
        if stats["diverged"]:
            raise RuntimeError("the watched updates diverged; train less, or with fewer epochs")
        return stats


def single_updates(bench: Bench, count: int, seed: int) -> Iterator[tuple[float, float, float]]:
    """For updates of one target each: L̄ (or the reward in its place), log π of the chosen sense before, and after."""
    total = bench.corpus.n_tokens
    if bench.trainer.num_batches != total:
        raise RuntimeError("batches of one token are not single tokens; has batch_boundaries changed?")
    for token in np.random.default_rng(seed).permutation(total).tolist():
        before = bench.log_policy(token)
        stats = bench.run(token)
        if not stats["pairs"] or len(before) < 2:
            continue  # subsampling dropped it, or it is alone
        chosen = int(stats["sense_use"][bench.rows(token)].argmax())
        yield float(stats["reward"]), float(before[chosen]), float(bench.log_policy(token)[chosen])
        count -= 1
        if not count:
            return


def batch_updates(bench: Bench, count: int) -> Iterator[tuple[float, float]]:
    """For the words that a batch selects a sense for once: log π of the chosen sense before the batch, and after."""
    begin = 0
    for batch in range(bench.trainer.num_batches):
        size = min(BATCH * 2, bench.corpus.n_tokens - begin)
        _, first, times = np.unique(bench.corpus.tokens[begin : begin + size], return_index=True, return_counts=True)
        places = (begin + first[times == 1]).tolist()
        before = {token: bench.log_policy(token) for token in places}
        stats = bench.run(batch)
        end = begin + int(stats["tokens"])
        for token in places:
            use = stats["sense_use"][bench.rows(token)]
            if token < end and len(use) > 1 and use.sum() == 1:
                chosen = int(use.argmax())
                yield float(before[token][chosen]), float(bench.log_policy(token)[chosen])
                count -= 1
                if not count:
                    return
        begin = end


def share_lowered(before: NDArray[np.float64], after: NDArray[np.float64]) -> dict[str, float]:
    """How often the probability, of which these are the logarithms, fell, and by how much its logarithm changed."""
    if not len(before):
        raise ValueError("there is no update of a word with several senses to watch: take more tokens")
    change = after - before
    return {"updates": len(change), "lowered": float((change < 0).mean()), "raised": float((change > 0).mean()),
            "mean_change": float(change.mean())}  # fmt: skip


def measure(corpus: Path, updates: int, settings: dict[str, Any]) -> dict[str, Any]:
    """One model: what watched updates did to the chosen sense, and the entropy of π by epoch."""
    model = MUSE(corpus_file=corpus, **settings)
    _, encoded = encode_corpus(corpus_file=corpus, vocab=model.vocabulary)
    watched = single_updates(Bench(model, encoded, 1, "mean"), updates, model.settings.seed)
    single = np.array(list(watched)).reshape(-1, 3)
    found = {"of one target": share_lowered(single[:, 1], single[:, 2])}
    for reduction in ("sum", "mean"):
        batch = np.array(list(batch_updates(Bench(model, encoded, BATCH, reduction), updates))).reshape(-1, 2)
        found[f"of a batch, {reduction}"] = share_lowered(batch[:, 0], batch[:, 1])
    return {
        "negative_log_reward": float((single[:, 0] < 1).mean()),
        "updates": found,
        "entropy": [row["selection_entropy"] for row in model.history],
    }


def draw(figure: Any, runs: list[dict[str, Any]]) -> None:
    """Entropy by epoch."""
    axes = figure.subplots()
    for strategy in STRATEGIES:
        mean = np.mean([row["entropy"] for row in runs if row["strategy"] == strategy], axis=0)
        axes.plot(np.arange(1, len(mean) + 1), mean, marker="o", label=strategy)
    axes.axhline(np.log(3), color="black", linestyle=":", label="uniform over three senses")
    axes.set_xlabel("epoch")
    axes.set_ylabel("mean entropy of π, nats")
    axes.legend()
    axes.grid(alpha=0.3)


def main(argv: list[str] | None = None) -> None:
    parser = report.parser_of("policy_gradient", __doc__)
    parser.add_argument("--updates", type=common.at_least(1), default=3000, help="watched updates of each kind")
    arguments = parser.parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale = report.scale_of(arguments)
    head = report.stamp("policy_gradient", arguments, scale, updates=arguments.updates)
    run = Runs("policy_gradient", corpus, scale, arguments.workers, updates=arguments.updates)
    # The selector reads the full window of the text as it is, see the head of this module.
    runs = run(
        cases(scale, [("paper", strategy) for strategy in STRATEGIES]),
        lambda settings: measure(corpus, arguments.updates, settings),
        full_text=True,
        selection_window=5,
    )
    rows = [
        {"strategy": row["strategy"], "seed": row["seed"], "update": update,
         "negative_log_reward": row["negative_log_reward"], **found}
        for row in runs for update, found in row["updates"].items()
    ]  # fmt: skip
    shown = [
        {**row, "lowered": f"{row['lowered']:.1%}", "raised": f"{row['raised']:.1%}",
         "negative_log_reward": f"{row['negative_log_reward']:.1%}", "mean_change": f"{row['mean_change']:+.2e}"}
        for row in rows
    ]  # fmt: skip
    columns = {
        "strategy": "strategy", "seed": "seed", "update": "update", "updates": "watched",
        "negative_log_reward": "log reward < 0", "lowered": "chosen sense less likely", "raised": "more likely",
        "mean_change": "mean change of log π",
    }  # fmt: skip
    body = [common.markdown_table(shown, columns)]
    result = {**head, "table": rows, "runs": runs}
    report.publish("policy_gradient", __doc__, arguments, result, body, lambda figure: draw(figure, runs))


if __name__ == "__main__":
    common.command(main)
