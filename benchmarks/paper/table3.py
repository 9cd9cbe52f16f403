"""Table 3: what senses of tie, blackberry and head mean in the paper's contexts.

For each context the model selects a sense; its neighbours are what has the largest collocation likelihood with it,
σ(U·V), as in the paper, and, since that favours collocates that go with everything, also the senses of other words with
the closest vectors.
"""

from __future__ import annotations

from typing import Any

from benchmarks import common
from benchmarks.paper import report
from benchmarks.paper.published import TABLE3
from benchmarks.paper.recipes import Scale, title
from benchmarks.paper.runs import Runs, cases
from muse import MUSE

MODELS = (("paper", "eps_greedy"), ("paper", "boltzmann"), ("start", "eps_greedy"), ("default", None))
CHANCE = 1.1  # times 1 / K: a sense chosen with no more than this says nothing
FREQUENT = 20_000  # neighbours are looked for among so many words, since rare ones have noisy vectors


def read_contexts(model: MUSE, topn: int = 8) -> list[dict[str, Any]]:
    """For each of the paper's contexts the sense, its probability, collocates and nearest senses."""
    found = []
    for word, context, theirs in TABLE3:
        row: dict[str, Any] = {"word": word, "context": context, "paper": theirs}
        if word not in model:
            found.append({**row, "sense": None, "probability": None, "senses": 0, "collocates": [], "nearest": []})
            continue
        tokens = context.replace("*", "").split()
        position = context.split().index(f"*{word}*")
        pi = model.sense_probabilities(word, tokens, position)
        sense = int(pi.argmax())
        near = model.predict_collocates(word, sense=sense, topn=topn, restrict_vocab=FREQUENT)
        closest = model.sv.most_similar(f"{word}#{sense}", topn=topn, exclude_same_word=True, restrict_vocab=FREQUENT)
        found.append({
            **row, "sense": sense, "probability": float(pi[sense]), "senses": len(pi),
            "collocates": [key for key, _ in near], "nearest": [key for key, _ in closest],
        })  # fmt: skip
    return found


def told_apart(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Whether a word's contexts, all of different senses in the paper, got different senses here."""
    verdict: dict[str, str] = {}
    for word in dict.fromkeys(row["word"] for row in rows):
        mine = [row for row in rows if row["word"] == word]
        if mine[0]["sense"] is None:
            verdict[word] = "unknown word"
        elif len({row["sense"] for row in mine}) < len(mine):
            verdict[word] = "no"
        else:
            sure = all(row["probability"] * row["senses"] > CHANCE for row in mine)
            verdict[word] = "yes" if sure else "by chance (π near 1 / K)"
    return verdict


def section(name: str, rows: list[dict[str, Any]]) -> str:
    """The page's part about one model."""
    lines = [
        {
            "context": row["context"].replace("*", "**"),
            "sense": "unknown word" if row["sense"] is None else f"{row['sense']} ({row['probability']:.2f})",
            "collocates": " ".join(row["collocates"]),
            "nearest": " ".join(row["nearest"]),
            "paper": row["paper"],
        }
        for row in rows
    ]
    columns = {
        "context": "context", "sense": "sense (π)", "collocates": "by collocation likelihood", "nearest": "by cosine",
        "paper": "the paper's",
    }  # fmt: skip
    verdict = ", ".join(f"{word} {apart}" for word, apart in told_apart(rows).items())
    return f"## {name}\n\nContexts told apart: {verdict}.\n\n{common.markdown_table(lines, columns)}"


def main(argv: list[str] | None = None) -> None:
    arguments = report.parser_of("table3", __doc__).parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale: Scale = report.scale_of(arguments)
    head = report.stamp("table3", arguments, scale)
    run = Runs("table3", corpus, scale, arguments.workers, fields=["sense", "probability", "senses"])
    models = run(
        cases(scale, MODELS), lambda settings: {"contexts": read_contexts(MUSE(corpus_file=corpus, **settings))}
    )
    for model in models:
        model["name"], model["told_apart"] = title(model["recipe"], model["strategy"]), told_apart(model["contexts"])
    body = [section(model["name"], model["contexts"]) for model in models if model["seed"] == 1]
    report.publish("table3", __doc__, arguments, {**head, "models": models}, body, None)


if __name__ == "__main__":
    common.command(main)
