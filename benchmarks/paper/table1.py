"""Table 1: similarity in context (SCWS) by strategy.

Every strategy is trained with the paper's recipe and on this package's start (recipes.py), beside this package's
defaults and one vector a word, and scored by MaxSimC and AvgSimC.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.paper import report
from benchmarks.paper.published import TABLE1
from benchmarks.paper.recipes import RECIPES, STRATEGIES, grid, title
from benchmarks.paper.runs import Runs, cases
from benchmarks.real_text import use_of
from muse import MUSE
from muse.evaluation import ScwsTask

MEASURES = ("MaxSimC", "AvgSimC")
COLUMNS = {
    "name": "model", "MaxSimC": "MaxSimC", "AvgSimC": "AvgSimC", "paper MaxSimC": "paper's MaxSimC",
    "paper AvgSimC": "paper's AvgSimC", "senses_used": "senses used", "collapsed_words": "collapsed",
}  # fmt: skip


def measure(corpus: Path, task: ScwsTask, settings: dict[str, Any]) -> dict[str, Any]:
    """One model; correlations × 100."""
    model = MUSE(corpus_file=corpus, **settings)
    found = task(model).summary
    return {**{m: 100 * found[m] for m in (*MEASURES, "globalSim")}, **use_of(model), "scored": found["scored"]}


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and spread over seeds of each model, beside the paper's figures."""
    table = []
    for model in dict.fromkeys((row["recipe"], row["strategy"]) for row in rows):
        same = [row for row in rows if (row["recipe"], row["strategy"]) == model]
        line: dict[str, Any] = {"name": title(*model), "recipe": same[0]["recipe"], "strategy": same[0]["strategy"]}
        for measure_name in MEASURES:
            line[measure_name] = common.mean_sd([row[measure_name] for row in same], digits=1)
            line[f"{measure_name} mean"] = float(np.mean([row[measure_name] for row in same]))
            if line["recipe"] in RECIPES:
                theirs = TABLE1.get(line["strategy"], {}).get(measure_name)
                line[f"paper {measure_name}"] = theirs and f"{theirs:.1f}"
        for key in ("senses_used", "collapsed_words"):
            line[key] = float(np.mean([row[key] for row in same]))
        table.append(line)
    return table


def draw(figure: Any, table: list[dict[str, Any]]) -> None:
    """Bars of both measures, and dotted lines for one vector a word."""
    for axes, name in zip(figure.subplots(1, 2, sharey=True), MEASURES, strict=True):
        series: dict[str, list[float | None]] = {
            "paper, 1,000M tokens": [TABLE1.get(s, {}).get(name) for s in STRATEGIES]
        }
        for recipe_name in RECIPES:
            of = {line["strategy"]: line[f"{name} mean"] for line in table if line["recipe"] == recipe_name}
            series[title(recipe_name)] = [of.get(strategy) for strategy in STRATEGIES]
        report.draw_bars(axes, [s.replace("_", "\n") for s in STRATEGIES], series)
        for line, style in zip(table[-2:], ("--", ":"), strict=True):
            axes.axhline(line[f"{name} mean"], linestyle=style, color="black", label=line["name"])
        axes.legend(fontsize="x-small", loc="lower right")
        axes.set_title(f"SCWS {name}, Spearman × 100")


def main(argv: list[str] | None = None) -> None:
    parser = report.parser_of("table1", __doc__)
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=list(STRATEGIES), help="default: all")
    arguments = parser.parse_args(argv)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale = report.scale_of(arguments)
    head = report.stamp("table1", arguments, scale)
    ratings = common.evaluation_file("SCWS")
    task = ScwsTask(ratings, resamples=0)
    run = Runs("table1", corpus, scale, arguments.workers, data=common.digest(ratings))
    rows = run(cases(scale, grid(arguments.strategies)), lambda settings: measure(corpus, task, settings))
    table = summarise(rows)
    body = [common.markdown_table(table, COLUMNS)]
    report.publish("table1", __doc__, arguments, {**head, "table": table, "runs": rows}, body, lambda f: draw(f, table))


if __name__ == "__main__":
    common.command(main)
