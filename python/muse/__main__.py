"""The command line: ``muse demo``, ``train``, ``senses`` and ``tag``; ``python -m muse`` is the same."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from muse import MUSE, Callback, __version__
from muse.base.checks import Choice, number
from muse.base.limits import usable_cores
from muse.corpus.encoding import LineSentence
from muse.data.describing import meaning_of
from muse.data.recipes import RECIPES
from muse.data.settings import Settings, constructor_settings
from muse.datasets import AmbiguousCorpus, make_ambiguous_corpus
from muse.errors import DivergenceError, UnknownWordError
from muse.evaluation.clustering import purity, v_measure
from muse.files.lines import as_paths, compression, shown
from muse.files.replacing import check_target, replacing
from muse.integrations.wikipedia import WikipediaSentences, is_dump
from muse.selector.context import as_tokens
from muse.selector.tag_file import TagReport, is_stream, tag_stream
from muse.selector.uses import Uses, find_uses

DEMO_SENTENCES, DEMO_WORDS = 40_000, 1_000
DEMO_SENSES = 2
DEMO_DIMENSION = 100  # enough for a small text, and quick
DEMO_EPOCHS = 8  # more than for real text, of which there is more
DEMO_CARDS = ("bank", "spring", "rock", "cell", "match")
# What a person knows to be ambiguous; cards of those that a named corpus holds are shown.
FILE_CARDS = ("head", "tie", "bank", "cell", "spring", "rock", "apple", "java", "current", "match")
_STANDARD_INPUT = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
_STANDARD_OUTPUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")
MAIN_SETTINGS = (
    "senses", "vector_size", "window", "min_count", "epochs", "negative", "sample", "alpha", "strategy", "workers",
    "seed",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Arguments without the program's name; by default those of the process.

    Returns
    -------
    int
        The exit status: 0, or 1 with a message on standard error (none where it is only that nobody reads on).
    """
    if sys.stderr is None:  # closed, as by `2>&-`; else the next file that is opened would get its number
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (it stays open)
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], None] = options.run
    try:
        run(options)
        print(end="", flush=True)
    except BrokenPipeError:  # nobody reads on, as in `muse senses ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (OSError, ValueError, MemoryError, ImportError, UnknownWordError, DivergenceError) as error:
        said = str(error)
        if isinstance(error, OSError) and error.strerror and error.filename is not None:
            said = f"{error.filename if isinstance(error.filename, int) else shown(error.filename)}: {error.strerror}"
        print(f"muse {options.command}: {said}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="muse", description="Sense embeddings from plain text.")
    parser.add_argument("--version", action="version", version=f"muse {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    demo = commands.add_parser("demo", help="train on generated text with known senses, or on a file; show senses")
    demo.add_argument("--corpus", metavar="FILE", help="plain text, one sentence a line, words separated by spaces")
    demo.add_argument("--words", nargs="+", metavar="WORD", help="words whose senses are shown")
    demo.add_argument("--save", metavar="PATH", help="keep the model")
    generated = "for the generated text"
    own = {
        "vector_size": str(DEMO_DIMENSION),
        "senses": f"{DEMO_SENSES} {generated}",
        "epochs": f"{DEMO_EPOCHS} {generated}",
    }
    _add_settings(demo, ("epochs", "vector_size", "senses", "workers", "seed"), own)
    demo.set_defaults(run=run_demo)

    train = commands.add_parser("train", help="train on a file and save the model")
    form = "plain text, one sentence a line, words separated by spaces; or a Wikipedia dump (.xml, .xml.bz2)"
    train.add_argument("corpus", metavar="FILE", help=form)
    train.add_argument("--save", metavar="PATH", required=True, help="where the model goes (.safetensors)")
    _add_settings(train, MAIN_SETTINGS)
    kinds = [kind.__name__.lower() for kind in RECIPES]
    usual = f"how senses are made, with the recipe's defaults: {' or '.join(kinds)}. Default: {kinds[0]}."
    train.add_argument("--recipe", choices=kinds, metavar="X", help=usual)
    train.set_defaults(run=run_train)

    senses = commands.add_parser("senses", help="show the senses of a word of a saved model")
    senses.add_argument("model", metavar="MODEL", help="a file that `muse train` wrote")
    senses.add_argument("word", metavar="WORD")
    senses.add_argument("--context", metavar="TEXT", help="also say which sense this text means")
    senses.add_argument("--corpus", metavar="FILE", help="also label the senses, and show uses from this text")
    senses.set_defaults(run=run_senses)

    tag = commands.add_parser("tag", help="write a text with the sense of each word behind it: head becomes head#2")
    tag.add_argument("model", metavar="MODEL", help="a file that `muse train` wrote")
    tag.add_argument(
        "input",
        metavar="INPUT",
        help="plain text, one sentence a line; may be .gz, .bz2, .xz or .zst; -: standard input",
    )
    tag.add_argument(
        "output", metavar="OUTPUT", help="where it goes; compressed if the name says so; -: standard output"
    )
    tag.add_argument(
        "--margin",
        type=float,
        default=0.0,
        metavar="X",
        help="leave words bare whose sense is less than this more probable than the next best one",
    )
    tag.add_argument("--resume", action="store_true", help="go on where the same command was stopped")
    tag.set_defaults(run=run_tag)
    return parser


def _add_settings(parser: argparse.ArgumentParser, names: Sequence[str], own: Mapping[str, str] | None = None) -> None:
    """Options for some settings of MUSE; they mean what `Settings` says, with its default where not `own`."""
    fields = constructor_settings()
    group = parser.add_argument_group("settings of the model (MUSE in Python has more)")
    for name in names:
        known, check = fields[name].metadata, fields[name].metadata["check"]
        meaning = known["doc"] if own and name in own else meaning_of(fields[name], "Default")
        if isinstance(check, Choice):
            meaning += f" One of {', '.join(check.allowed)}."
        if own and name in own:
            meaning += f" Default: {own[name]}."
        elif fields[name].default is not None and not known["by_recipe"]:  # else the meaning says what None does
            meaning += f" Default: {fields[name].default}."
        option = "--" + name.replace("_", "-")
        group.add_argument(option, type=_value, dest=name, metavar="X", help=meaning.replace("%", "%%"))
    parser.set_defaults(setting_names=names)


def _value(text: str) -> Any:
    """A number or a JSON object if it reads as one: `Settings` checks the rest and says what is allowed."""
    for kind in (int, float, json.loads) if text.startswith("{") else (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _given_settings(options: argparse.Namespace) -> dict[str, Any]:
    values = {name: getattr(options, name) for name in options.setting_names}
    given = {name: value for name, value in values.items() if value is not None}
    if recipe := getattr(options, "recipe", None):
        given["recipe"] = {kind.__name__.lower(): kind for kind in RECIPES}[recipe]()
    try:
        Settings.of(**given)
    except TypeError as error:  # "wide" for a number: on the command line that is a wrong value like any other
        raise ValueError(str(error)) from error
    return given


# ---------------------------------------------------------------------------------------------------- subcommands


def run_demo(options: argparse.Namespace) -> None:
    """Train and save, then print speed, sense use, the score against the known senses, and sense cards."""
    _check_target(options.save, options.corpus)
    settings = {"vector_size": DEMO_DIMENSION, "progress": sys.stderr.isatty(), **_given_settings(options)}
    if options.corpus is None:
        corpus = make_ambiguous_corpus(DEMO_SENTENCES, DEMO_WORDS, seed=0)
        ambiguous = len(corpus.ambiguous_words)
        text = f"{DEMO_SENTENCES:,} generated sentences in which {ambiguous} words mean two things each"
        model = _train(
            text,
            {"sentences": corpus.sentences},
            {"senses": DEMO_SENSES, "epochs": DEMO_EPOCHS, **settings},
            options.save,
        )
        _print_recovery(model, corpus)
        sentences: Iterable[list[str]] = corpus.sentences
    else:
        model = _train(options.corpus, {"corpus_file": options.corpus}, settings, options.save)
        sentences = LineSentence(options.corpus)
    words = options.words or [word for word in (DEMO_CARDS if options.corpus is None else FILE_CARDS) if word in model]
    uses = find_uses(model.snapshot, [word for word in words if word in model], sentences)
    for word in words:
        if word in model:
            _print_card(model, word, uses[word])
        else:
            print(f"\n{word}: {UnknownWordError(word, model.vocabulary.words)}")


def run_train(options: argparse.Namespace) -> None:
    """Train on a file and save."""
    _check_target(options.save, options.corpus)
    settings = {"progress": sys.stderr.isatty(), **_given_settings(options)}
    if is_dump(options.corpus):
        corpus: dict[str, Any] = {"sentences": WikipediaSentences(options.corpus, workers=usable_cores())}
    else:
        corpus = {"corpus_file": options.corpus}
    _train(options.corpus, corpus, settings, options.save)


def run_senses(options: argparse.Namespace) -> None:
    """Print the senses of a word, and which of them a context means."""
    model = MUSE.load(options.model, mmap=True)
    print(f"\n{model.describe(options.word, topn=6, corpus=options.corpus)}")
    if options.context is not None:
        probabilities = model.sense_probabilities(options.word, options.context)
        numbers = model.sense_numbers(options.word).tolist()
        listed = ", ".join(
            f"{options.word}#{k} {share:.0%}" for k, share in zip(numbers, probabilities.tolist(), strict=True)
        )
        print(f"\nin this context: {listed}")
        if not any(token in model for token in as_tokens(options.context)):
            print("no word of it is known: these are the shares in the training text")


def run_tag(options: argparse.Namespace) -> None:
    """Tag a file, or what a pipe brings; where the text goes to standard output, the count goes to standard error."""
    writes = options.output in _STANDARD_OUTPUT
    if not writes and not is_stream(options.output):
        _check_target(options.output, options.model)
    model = MUSE.load(options.model, mmap=True)
    if writes or options.input in _STANDARD_INPUT:
        report = _tag_stream(model, options)
    else:
        report = model.tag_corpus(
            options.input, options.output, margin=options.margin, resume=options.resume, progress=sys.stderr.isatty()
        )
    print(f"tagged    {report.tagged:,} of {report.tokens:,} tokens", file=sys.stderr if writes else sys.stdout)


def _tag_stream(model: MUSE, options: argparse.Namespace) -> TagReport:
    """Tag from standard input, or to standard output, or both."""
    if options.resume:
        raise ValueError("--resume goes on with a file that an earlier call left, and a pipe leaves none")
    source, target, selector = options.input, options.output, model.selector
    margin = number(0, 1)("margin", options.margin)
    with contextlib.ExitStack() as opened:
        if source in _STANDARD_INPUT:
            if sys.stdin is None:
                raise OSError("standard input is closed; name a file")
            source, file = "standard input", getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)  # gives what has come
        else:
            file = opened.enter_context(as_paths(source, "input")[0].open("rb"))
        if target in _STANDARD_OUTPUT:
            if sys.stdout is None:
                raise OSError("standard output is closed; name a file")
            sink: Any = sys.stdout.buffer
        elif is_stream(target):
            sink = opened.enter_context(Path(target).open("wb"))
        else:
            sink = opened.enter_context(replacing(target))
        return tag_stream(
            selector.tagger, file, sink,
            name=source, margin=margin, workers=selector.workers, ending=compression(Path(target)),
        )  # fmt: skip


class _Stopwatch(Callback):
    """The seconds between word level and senses, which the split takes."""

    def __init__(self) -> None:
        self.split, self._split_starts = 0.0, 0.0

    def on_epoch_end(self, model: MUSE) -> None:
        self._split_starts = time.perf_counter() if model.history[-1]["stage"] == "words" else 0.0

    def on_epoch_begin(self, model: MUSE) -> None:
        if self._split_starts:
            self.split += time.perf_counter() - self._split_starts


def _train(text: str, corpus: dict[str, Any], settings: dict[str, Any], path: str | None) -> MUSE:
    """Train a model and save it; only then say how long it took, how fast it went and how the senses are used.

    What is printed may find nobody to read it, which must not cost the model.
    """
    start, watch = time.perf_counter(), _Stopwatch()
    model = MUSE(**settings)
    model.build_vocab(**corpus)
    reading = time.perf_counter() - start
    model.train(callbacks=[watch])
    seconds = time.perf_counter() - start
    if path is not None:
        model.save(path)
    print(f"text      {shown(text)}")
    last = model.history[-1]
    trees = last["seconds"] if last["stage"] == "trees" else 0.0
    epoch = next(row for row in reversed(model.history) if row["stage"] != "trees")
    parts = f"reading {reading:.1f} s" + (f", split {watch.split:.1f} s" if watch.split and not trees else "")
    parts += f", sense trees {trees:.1f} s" if trees else ""
    print(f"training  {len(model):,} words, {model.arrays.n_senses:,} senses, dimension {model.vector_size}, "
          f"{model.epochs} epochs in {seconds:.1f} s ({parts}); last epoch {epoch['tokens_per_second']:,.0f} tokens/s"
          )  # fmt: skip
    if last["ambiguous_words"]:
        print(f"senses    in the {last['ambiguous_words']:,} words that have several: {last['senses_used']:.2f} in "
              f"effective use a word; one sense takes all in {last['collapsed']:.0%}")  # fmt: skip
    else:
        print("senses    no word that is frequent enough has several")
    if path is not None:
        print(f"saved     {shown(path)}")
    return model


def _check_target(path: str | None, *inputs: str | None) -> None:
    """Say before the work, not after it, that a file cannot be written there, or would replace what is read."""
    if path is None:
        return
    for source in inputs:
        if source is not None and os.path.realpath(source) == os.path.realpath(path):
            raise ValueError(f"{path} is what is to be read; give another name for what is to be written")
    check_target(path)


# ---------------------------------------------------------------------------------------------------- what is shown


def _print_recovery(model: MUSE, corpus: AmbiguousCorpus) -> None:
    """How well the selected senses are the true ones, as means over the ambiguous words."""
    selected = list(model.disambiguate_batch(corpus.sentences))
    measures = []
    for word, found in corpus.occurrences().items():
        if word in model:
            true = [sense for *_, sense in found]
            chosen = [int(selected[sentence][position]) for sentence, position, _ in found]
            measures.append((v_measure(true, chosen)[2], purity(true, chosen), purity(true, [0] * len(true))))
    v, right, majority = np.mean(measures, axis=0)
    print(f"recovered V-measure {v:.2f}; {right:.0%} of the occurrences sorted right, where one sense would give "
          f"{majority:.0%}")  # fmt: skip


def _print_card(model: MUSE, word: str, uses: Uses) -> None:
    card = model.describe(word, topn=6)
    print(f"\n{word}: {card.count:,} uses")
    places = {number: place for place, number in enumerate(model.sense_numbers(word).tolist())}
    for sense in card.senses:
        print(f"  {sense.key}  {sense.share:4.0%}  like {', '.join(key for key, _ in sense.neighbours)}")
        for example in uses.examples(places[int(sense.key.rpartition("#")[2])], 1):
            print(f'  {" " * len(sense.key)}        as in "{example}"')


if __name__ == "__main__":
    sys.exit(main())
