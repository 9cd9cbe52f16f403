"""Table 2: synonym questions by strategy.

ESL-50, RD-300 and TOEFL-80 may not be redistributed, so this package has none of them: ask their owners, and name your
copies, for example ``--questions TOEFL-80=toefl.qst,toefl.ans --questions RD-300=rd.csv``. Layouts are those of
`muse.evaluation.read_synonyms` (CSV) and, for two files, `muse.evaluation.read_toefl`. A word's answer is the candidate
with the closest pair of senses (MaxSim); questions with unknown words are counted apart.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks import common
from benchmarks.paper import report
from benchmarks.paper.published import TABLE2
from benchmarks.paper.recipes import RECIPES, STRATEGIES, Scale, grid, recipe, title
from muse import MUSE
from muse.evaluation import SynonymTask

NO_QUESTIONS = """\
Table 2 needs synonym questions, and none are here: ESL-50, RD-300 and TOEFL-80 may not be redistributed.
Ask their owners for them (muse/evaluation/synonyms.py cites the sources), then name your copies:
  --questions TOEFL-80=toefl.qst,toefl.ans --questions ESL-50=esl.csv --questions RD-300=rd.csv
"""


def read_questions(named: list[str]) -> dict[str, SynonymTask]:
    """Tasks from ``NAME=FILE`` or ``NAME=QUESTIONS,ANSWERS``."""
    tasks = {}
    for entry in named:
        name, equals, paths = entry.partition("=")
        files = paths.split(",")
        if not equals or not name or len(files) > 2 or not all(files):
            raise ValueError(f"--questions takes NAME=FILE or NAME=QUESTIONS,ANSWERS; got {entry!r}")
        tasks[name] = SynonymTask(files[0] if len(files) == 1 else (files[0], files[1]))
    return tasks


def measure(
    corpus: Any, tasks: dict[str, SynonymTask], scale: Scale, strategies: Sequence[str], workers: int
) -> list[dict[str, Any]]:
    """A row for each model, seed and set; accuracy in %."""
    rows = []
    for seed in range(1, scale.seeds + 1):
        for name, strategy in grid(strategies):
            model = MUSE(corpus_file=corpus, **recipe(name, strategy, scale, seed=seed, workers=workers))
            for questions, task in tasks.items():
                found = task(model).summary
                row = {"name": title(name, strategy), "recipe": name, "strategy": strategy, "seed": seed}
                rows.append({**row, "questions": questions, "accuracy": 100 * found["accuracy"],
                             "answered": found["answered"], "of": found["questions"]})  # fmt: skip
                print(row["name"], seed, questions, f"{rows[-1]['accuracy']:.1f}", flush=True)
    return rows


def summarise(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    """A line for each model, with columns for each set and the paper's figure beside."""
    table = []
    for name in dict.fromkeys(row["name"] for row in rows):
        same = [row for row in rows if row["name"] == name]
        theirs = TABLE2.get("skip-gram" if same[0]["recipe"] == "word" else same[0]["strategy"], {})
        line: dict[str, Any] = {"name": name, "recipe": same[0]["recipe"], "strategy": same[0]["strategy"]}
        for questions in names:
            mine = [row for row in same if row["questions"] == questions]
            line[questions] = common.mean_sd([row["accuracy"] for row in mine], digits=1)
            line[f"{questions} mean"] = float(np.mean([row["accuracy"] for row in mine]))
            line[f"{questions} paper"] = f"{theirs[questions]:.1f}" if questions in theirs else None
            line[f"{questions} answered"] = f"{mine[0]['answered']} of {mine[0]['of']}"
        table.append(line)
    return table


def draw(figure: Any, table: list[dict[str, Any]], names: list[str]) -> None:
    """One plot a set."""
    for axes, questions in zip(np.atleast_1d(figure.subplots(1, len(names), sharey=True)), names, strict=True):
        series: dict[str, list[float | None]] = {
            "paper, 1,000M tokens": [TABLE2.get(strategy, {}).get(questions) for strategy in STRATEGIES]
        }
        for name in RECIPES:
            of = {line["strategy"]: line[f"{questions} mean"] for line in table if line["recipe"] == name}
            series[title(name)] = [of.get(strategy) for strategy in STRATEGIES]
        report.draw_bars(axes, [strategy.replace("_", "\n") for strategy in STRATEGIES], series)
        axes.set_title(f"{questions}, accuracy in %")


def main(argv: list[str] | None = None) -> None:
    parser = report.parser_of("table2", __doc__)
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=list(STRATEGIES), help="default: all")
    parser.add_argument(
        "--questions", action="append", default=[], metavar="NAME=FILE[,ANSWERS]", help="may be repeated"
    )
    arguments: argparse.Namespace = parser.parse_args(argv)
    if not arguments.questions:
        sys.exit(NO_QUESTIONS)
    tasks = read_questions(arguments.questions)
    corpus = common.plain_corpus(arguments.corpus, arguments.limit_tokens)
    scale = report.scale_of(arguments)
    names = list(tasks)
    head = report.stamp("table2", arguments, scale, questions=", ".join(names))
    rows = measure(corpus, tasks, scale, arguments.strategies, arguments.workers)
    table = summarise(rows, names)
    columns = {"name": "model"}
    for name in names:
        columns |= {name: name, f"{name} paper": f"paper's {name}", f"{name} answered": "answered"}
    body = [common.markdown_table(table, columns)]
    result = {**head, "table": table, "runs": rows}
    report.publish("table2", __doc__, arguments, result, body, lambda figure: draw(figure, table, names))


if __name__ == "__main__":
    main()
