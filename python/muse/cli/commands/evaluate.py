"""``muse evaluate``: how good a model's senses are, on the test sets of the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from muse.base.checks import integer, number
from muse.cli.command import VECTORS, Command, command, group
from muse.cli.kinds import FILE, Checked
from muse.cli.models import open_vectors
from muse.cli.output import Output
from muse.cli.streams import input_file
from muse.evaluation.induction import evaluate_induction
from muse.evaluation.results import EvaluationResult
from muse.evaluation.scws import evaluate_scws
from muse.evaluation.similarity import evaluate_word_similarity
from muse.evaluation.synonyms import evaluate_synonyms
from muse.evaluation.wic import evaluate_wic

_SECTION = "Judge, change, convert"


@group(
    _SECTION,
    "muse evaluate similarity model.safetensors ratings.csv",
    "muse evaluate wic model.safetensors WiC_dataset --json",
)
def evaluate() -> None:
    """Judge a model, or vectors of another tool, by a test set.

    Data are files as published; none come with this program. docs/evaluation.md says what each measure means.
    """


def _task(*examples: str, model: Callable[..., Any] = VECTORS) -> Callable[[Callable[..., EvaluationResult]], Command]:
    """A command of the group: a function that gives a result becomes one that prints it."""

    def make(function: Callable[..., EvaluationResult]) -> Command:
        def run(out: Output, model: str, items: bool, **options: Any) -> None:
            with open_vectors(model) as opened:
                result = function(opened, **options)
            out.record(result.to_dict(items=items))
            _show(out, result, items)

        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__click_params__ = [  # type: ignore[attr-defined]
            *getattr(function, "__click_params__", []),
            click.Option(["--items"], is_flag=True, help="Show each pair, question or word, too."),
        ]
        made = command(_SECTION, *examples)(VECTORS(run))
        evaluate.add_command(made)
        return made

    return make


def _show(out: Output, result: EvaluationResult, items: bool) -> None:
    tables = {result.task: result.table, **result.curves, **({"items": result.items} if items else {})}
    for title, rows in tables.items():
        out.table(rows, list({name: None for row in rows for name in row}), title)
    for note in result.notes:
        out.line(f"note: {note}")


@_task(
    "muse evaluate wic model.safetensors WiC_dataset",
    "muse evaluate wic model.safetensors WiC_dataset --how usage_similarity --fit train --json",
)
@click.argument("folder", type=FILE)
@click.option("--fit", type=click.Choice(["dev", "train"]), default="dev", show_default=True,
              help="Part on which the threshold is chosen.")  # fmt: skip
@click.option("--how", default="expected_cosine", show_default=True, metavar="NAME",
              type=click.Choice(["expected_cosine", "same_sense", "max_sim_c", "usage_similarity"]),
              help="What is compared with it: expected_cosine, same_sense, max_sim_c or usage_similarity.")  # fmt: skip
@click.option("--threshold", type=Checked(number(-2, 2)), metavar="X", help="Take this one instead.")
@click.option("--target", type=click.Choice(["lemma", "form"]), default="lemma", show_default=True,
              help="Look up the lemma, or the form in the text.")  # fmt: skip
def wic(model: Any, folder: str, **options: Any) -> EvaluationResult:
    """Word in Context (WiC), whether two sentences mean a word in the same sense.

    FOLDER holds dev/dev.data.txt, train/train.data.txt and test/test.data.txt with their gold, as released.
    """
    return evaluate_wic(model, folder, **options)


@_task(
    "muse evaluate scws model.safetensors ratings.txt",
    "muse evaluate scws model.safetensors ratings.txt --items --json",
)
@click.argument("ratings", type=FILE)
@click.option("--score", default="MaxSimC", show_default=True, metavar="NAME", help="The measure that is the score.")
@click.option("--resamples", type=Checked(integer(0)), default=1000, metavar="N", show_default=True,
              help="Of the bootstrap intervals; 0: none, which is faster.")  # fmt: skip
@click.option("--seed", type=Checked(integer(0)), default=0, metavar="N", help="Of the resampling.")
def scws(model: Any, ratings: str, **options: Any) -> EvaluationResult:
    """Stanford's contextual word similarities (SCWS), of words where they stand.

    RATINGS is the official ratings.txt.
    """
    with input_file(ratings) as path:
        return evaluate_scws(model, path, **options)


@_task(
    "muse evaluate similarity model.safetensors ratings.csv",
    "muse evaluate similarity senses.vec ratings.csv --which max --which avg --resamples 0",
)
@click.argument("ratings", nargs=-1, required=True, type=FILE)
@click.option("--which", multiple=True, type=click.Choice(["wv", "max", "avg"]), metavar="NAME",
              help="Compare words (wv), closest senses (max) or all senses (avg).  [wv, max, avg]")  # fmt: skip
@click.option("--keep-case", is_flag=True, help="Look words up as they are, not in lower case.")
@click.option("--resamples", type=Checked(integer(0)), default=1000, metavar="N", show_default=True,
              help="Of the bootstrap intervals; 0: none, which is faster.")  # fmt: skip
def similarity(
    model: Any, ratings: tuple[str, ...], which: tuple[str, ...], keep_case: bool, resamples: int
) -> EvaluationResult:
    """Human ratings of word similarity, by Spearman's correlation.

    RATINGS are tables of two words and a number, such as WordSim-353 or SimLex-999; with several, the score is the mean
    of their correlations.
    """
    options: dict[str, Any] = {"which": list(which)} if which else {}
    with input_file(ratings[0]) as first:
        data: Any = first if len(ratings) == 1 else {path: path for path in ratings}
        return evaluate_word_similarity(model, data, lowercase=not keep_case, resamples=resamples, **options)


@_task(
    "muse evaluate induction model.safetensors semeval2013_task13 --graded",
    "muse evaluate induction model.safetensors contexts.tsv --score ari",
)
@click.argument("data", type=FILE)
@click.option("--key", metavar="NAME|FILE", help="The gold key: of XML contexts its file, of SemEval-2013 its name.")
@click.option("--graded", is_flag=True, help="Answer with several senses and their weights.")
@click.option("--target", type=click.Choice(["lemma", "form"]), default="lemma", show_default=True,
              help="Look up the lemma, or the form in the text.")  # fmt: skip
@click.option("--score", default="v_measure", show_default=True, metavar="NAME", help="The measure that is the score.")
def induction(model: Any, data: str, key: str | None, **options: Any) -> EvaluationResult:
    """Word sense induction, whether uses are sorted as people sort them.

    DATA is the folder of SemEval-2013 task 13, XML contexts as there or of SemEval-2010 task 14, or a table as of RUSSE
    or TWSI.
    """
    return evaluate_induction(model, data, key, **options)


@_task(
    "muse evaluate synonyms model.safetensors questions.txt",
    "muse evaluate synonyms model.safetensors toefl.qst toefl.ans",
)
@click.argument("questions", nargs=-1, required=True, type=FILE)
@click.option("--keep-case", is_flag=True, help="Look words up as they are, not in lower case.")
def synonyms(model: Any, questions: tuple[str, ...], keep_case: bool) -> EvaluationResult:
    """Synonym questions, which of some words means the same as another.

    QUESTIONS is a file of them, or two for TOEFL: questions and answers.
    """
    if len(questions) > 2:
        raise click.UsageError(f"one file of questions, or TOEFL's two; got {len(questions)}")
    with input_file(questions[0]) as first:
        given: Any = first if len(questions) == 1 else tuple(questions)
        return evaluate_synonyms(model, given, lowercase=not keep_case)


@_task("muse evaluate analogies model.safetensors questions-words.txt")
@click.argument("questions", type=FILE)
@click.option("--most-frequent", type=Checked(integer(1)), default=300_000, metavar="N", show_default=True,
              help="Search the most frequent words only, and skip questions with others.")  # fmt: skip
@click.option("--keep-case", is_flag=True, help="Tell upper from lower case.")
@click.option(
    "--count-unknown", is_flag=True, help="Count questions with unknown words as wrong, instead of skipping them."
)
def analogies(model: Any, questions: str, most_frequent: int, keep_case: bool, count_unknown: bool) -> EvaluationResult:
    """Analogies, a is to b as c is to what, by the word-level vectors.

    QUESTIONS is a file such as questions-words.txt: four words a line, in sections that begin with ": name".
    """
    with input_file(questions) as path:
        score, sections = model.wv.evaluate_word_analogies(
            path, restrict_vocab=most_frequent, case_insensitive=not keep_case, dummy4unknown=count_unknown
        )
    rows = []
    for section in sections:
        right, wrong = len(section["correct"]), len(section["incorrect"])
        asked = right + wrong
        rows.append({"section": section["section"], "accuracy": right / asked if asked else None, "questions": asked})
    items = [
        {"section": section["section"], "question": " ".join(question), "right": right}
        for section in sections[:-1]
        for name, right in (("correct", True), ("incorrect", False))
        for question in section[name]
    ]
    summary = {"accuracy": float(score), "questions": rows[-1]["questions"]}
    settings = {
        "data": questions,
        "most_frequent": most_frequent,
        "keep_case": keep_case,
        "count_unknown": count_unknown,
    }
    return EvaluationResult("analogies", "accuracy", summary, rows, items, settings)
