"""What the benchmarks share: finding data, reading text, describing the machine, writing results.

Evaluation data is looked for in ``$MUSE_DATA/eval``, or in ``../shared/data/eval`` beside the repository. Decompressed
and generated texts are kept in ``$MUSE_CACHE``, or ``muse-benchmarks`` in the user's cache directory.

Results of full runs lie in benchmarks/results. A run on a part of its corpus (``--limit-tokens``) only prints, unless
``--out`` names a folder: a quick trial must not replace the figures of a full one.
"""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import hashlib
import json
import os
import platform
import resource
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muse import MUSE, _core
from muse.base.limits import usable_cores
from muse.corpus.encoding import LineSentence
from muse.datasets import iter_pseudo_words
from muse.evaluation import PseudoWordTask, draw_pairs, read_scws, read_word_pairs
from muse.selector.selection import context_weights, selection_options

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"

EVALUATION_FILES = {
    "SCWS": "scws/ratings.txt",
    "WordSim-353": "word_similarity/wordsim353/combined.csv",
    "SimLex-999": "word_similarity/SimLex-999/SimLex-999.txt",
    "MEN": "word_similarity/MEN/MEN_dataset_natural_form_full",
    "RG-65": "word_similarity/faruqui/EN-RG-65.txt",
}
EVALUATION_FOLDERS = {"SemEval-2013 task 13": "semeval2013_task13", "WiC": "wic"}
SIMILARITY_SETS = ("WordSim-353", "SimLex-999", "MEN")

# ---------------------------------------------------------------------------------------------------------------- data


def data_dir() -> Path:
    """The directory that holds ``eval/``.

    Raises
    ------
    FileNotFoundError
        If there is none; says how to name it.
    """
    named = os.environ.get("MUSE_DATA")
    root = Path(named) if named else ROOT.parent / "shared" / "data"
    if not (root / "eval").is_dir():
        raise FileNotFoundError(
            f"no evaluation data in {root / 'eval'}: set MUSE_DATA to the directory that holds eval/"
        )
    return root


def evaluation_file(name: str) -> Path:
    """Path of a data set of `EVALUATION_FILES`."""
    path = data_dir() / "eval" / EVALUATION_FILES[name]
    if not path.exists():
        raise FileNotFoundError(f"{name} is missing: {path}")
    return path


def evaluation_folder(name: str) -> Path:
    """Path of a data set of `EVALUATION_FOLDERS`."""
    path = data_dir() / "eval" / EVALUATION_FOLDERS[name]
    if not path.is_dir():
        raise FileNotFoundError(f"{name} is missing: {path}")
    return path


def digest(*paths: Path) -> str:
    """A digest of what files hold, for figures that are kept: other data must not be taken for the same."""
    found = hashlib.sha256()
    for path in paths:
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:16]


def similarity_sets() -> dict[str, Path]:
    """Name and path of each set of `SIMILARITY_SETS`."""
    return {name: evaluation_file(name) for name in SIMILARITY_SETS}


def cache_dir() -> Path:
    """Where decompressed and generated texts are kept."""
    named = os.environ.get("MUSE_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else base / "muse-benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def plain_corpus(path: str | os.PathLike[str], limit_tokens: int = 0) -> Path:
    """The corpus as an uncompressed file, cut after the sentence with which it reaches `limit_tokens` (0: never).

    Any format that `muse.corpus.LineSentence` reads. The result is made once and then taken from the cache.
    """
    source = Path(path)
    if not source.is_file():
        raise FileNotFoundError(f"no such corpus: {source}")
    if limit_tokens < 0:
        raise ValueError(f"limit_tokens must be at least 0; got {limit_tokens}")
    if not limit_tokens and source.suffix not in (".xz", ".gz", ".bz2", ".zst"):
        return source
    state = source.stat()
    key = hashlib.sha256(f"{source.resolve()} {state.st_size} {state.st_mtime_ns} {limit_tokens}".encode())
    cached = cache_dir() / f"{source.name.split('.')[0]}-{limit_tokens or 'all'}-{key.hexdigest()[:12]}.txt"
    if not cached.exists():
        write_sentences(cached, _head(LineSentence(source), limit_tokens))
    return cached


def _head(sentences: Iterable[list[str]], tokens: int) -> Iterator[list[str]]:
    done = 0
    for sentence in sentences:
        yield sentence
        done += len(sentence)
        if 0 < tokens <= done:
            return


def write_sentences(path: Path, sentences: Iterable[Sequence[str]]) -> None:
    """One sentence a line, by way of a temporary file: a half-written text must not be taken for a whole one."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    with unfinished.open("w", encoding="utf-8") as file:
        file.writelines(" ".join(sentence) + "\n" for sentence in sentences)
    unfinished.replace(path)


def read_sentences(path: str | os.PathLike[str]) -> list[list[str]]:
    """All sentences; equal tokens are one object, so that a token costs 8 bytes."""
    return [[sys.intern(word) for word in sentence] for sentence in LineSentence(path)]


def zipf_corpus(tokens: int, words: int = 50_000, seed: int = 0) -> Path:
    """A text of words drawn from a Zipf law, in sentences of 20: for timing, where no corpus is given."""
    path = cache_dir() / f"zipf-{tokens}-{words}-{seed}.txt"
    if not path.exists():
        rng = np.random.default_rng(seed)
        weights = 1.0 / np.arange(1, words + 1)
        ids = np.searchsorted(np.cumsum(weights) / weights.sum(), rng.random(tokens))
        names = np.array([f"w{i}" for i in range(words + 1)])[ids].tolist()
        write_sentences(path, (names[i : i + 20] for i in range(0, tokens, 20)))
    return path


class PseudoWords(NamedTuple):
    """A text with merged words, as a file, and the task that scores a model trained on it."""

    corpus: Path
    task: PseudoWordTask
    pairs: list[tuple[str, str]]


def pseudo_word_corpus(
    path: Path, n_pairs: int = 80, *, seed: int = 0, exclude: Iterable[str] = (), max_occurrences: int | None = 2000
) -> PseudoWords:
    """Merge pairs of words of a text.

    The range of counts from which words are drawn grows with the text: 300 to 3,000 for 8 million tokens.
    """
    counts = Counter(chain.from_iterable(LineSentence(path)))
    scale = max(counts.total() / 8e6, 0.05)
    pairs = draw_pairs(
        counts, n_pairs, min_count=round(300 * scale), max_count=round(3000 * scale), seed=seed, exclude=set(exclude)
    )
    key = hashlib.sha256(repr((str(path.resolve()), path.stat().st_mtime_ns, pairs)).encode()).hexdigest()[:12]
    sentences: list[list[str]] = []
    truth: dict[str, list[tuple[int, int, int]]] = {"_".join(pair): [] for pair in pairs}
    for number, (tokens, senses) in enumerate(iter_pseudo_words(LineSentence(path), pairs)):
        sentences.append([sys.intern(token) for token in tokens])
        for position, sense in enumerate(senses):
            if sense >= 0:
                truth[tokens[position]].append((number, position, sense))
    merged = cache_dir() / f"{path.stem}-merged-{key}.txt"
    if not merged.exists():
        write_sentences(merged, sentences)
    return PseudoWords(merged, PseudoWordTask(sentences, truth, max_occurrences=max_occurrences, seed=seed), pairs)


def evaluation_words() -> set[str]:
    """The words of SCWS and of the similarity sets, which are not merged where both are measured on one model."""
    words = {word for pair in read_scws(evaluation_file("SCWS")) for word in pair.words if word}
    for path in similarity_sets().values():
        words.update(word.lower() for pair in read_word_pairs(path) for word in pair[:2])
    return words


# ------------------------------------------------------------------------------------------------------------- machine


def selector_contexts(model: MUSE, corpus: _core.Corpus, places: NDArray[np.int64]) -> NDArray[np.float32]:
    """What the selector of a model sees at places of a text in its ids, float32 (places, S)."""
    arrays, settings, forest = model.arrays, model.settings, model.snapshot.forest
    if forest is not None:
        return forest.space.core.contexts(corpus, places)
    weights = context_weights(settings, arrays.word_counts)
    return _core.context_vectors(arrays.context_vectors, weights, selection_options(settings), corpus, places)


def machine() -> dict[str, Any]:
    """What a figure depends on: processor, instruction set, cores, memory, versions. No names of hosts or users."""
    return {
        "cpu": _cpu_model(),
        "isa": _core.isa(),
        "cores": os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30),
        "load_before": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": _compiler(),
        "muse": _core.__version__,
        **{name: _version(name) for name in ("numpy", "gensim", "scipy", "scikit-learn")},
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or "unknown"
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _compiler() -> str:
    """The compiler that built the extension, from its comment section; that of this machine, if it is not kept."""
    try:
        read = subprocess.run(
            ["readelf", "-p", ".comment", _core.__file__], capture_output=True, text=True, timeout=10, check=True
        ).stdout
        found = [line.split("]", 1)[1].strip() for line in read.splitlines() if "]" in line]
    except (OSError, subprocess.SubprocessError):
        found = []
    return "; ".join(dict.fromkeys(found)) or "unknown"


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def peak_memory_mb() -> float:
    """Largest resident memory of this process so far, in MB of 10^6 bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak * (1 if platform.system() == "Darwin" else 1024) / 1e6)


# ------------------------------------------------------------------------------------------------- arguments, results


def command(main: Callable[[], object]) -> None:
    """Run a command; what a user may have done wrong is said in one line on standard error, with exit status 2."""
    try:
        main()
    except (ValueError, TypeError, OSError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)


def at_least(low: int) -> Callable[[str], int]:
    """The type of an option: a whole number, not below `low`."""

    def whole(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if value < low:
            raise argparse.ArgumentTypeError(f"must be a whole number of at least {low}; got {text!r:.40}")
        return value

    return whole


def out_folder(text: str) -> Path:
    """The type of an option: a folder for results, which is there or can be made. Checked before hours of training."""
    path = Path(text)
    there = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    if not there.is_dir():
        raise argparse.ArgumentTypeError(f"{there} is a file; name a folder for the results")
    if not os.access(there, os.W_OK):
        raise argparse.ArgumentTypeError(f"{there} cannot be written to")
    return path


def out_file(text: str) -> Path:
    """The type of an option: a file for results, in a folder that is there or can be made."""
    path = Path(text)
    if path.is_dir():
        raise argparse.ArgumentTypeError(f"{path} is a folder; name a file for the results")
    out_folder(str(path.parent))
    return path


def add_arguments(parser: argparse.ArgumentParser, *, corpus_required: bool = True) -> None:
    """The options that all benchmarks have: the corpus, a limit, threads, where results go."""
    parser.add_argument(
        "--corpus", required=corpus_required, help="text file, one sentence a line; may be .xz, .gz, .bz2 or .zst"
    )
    parser.add_argument(
        "--limit-tokens", type=at_least(0), default=0, metavar="N", help="use the first N tokens only; 0: all"
    )
    parser.add_argument("--workers", type=at_least(1), default=usable_cores(), help="threads for training")
    parser.add_argument(
        "--out", type=out_folder, help="folder for the results; default: benchmarks/results for a full run"
    )


def results_dir(arguments: argparse.Namespace, *parts: str) -> Path | None:
    """Where results go; None for a run that only prints."""
    if arguments.out is None and arguments.limit_tokens:
        return None
    folder: Path = arguments.out if arguments.out is not None else RESULTS.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def stamp(command: str, **settings: Any) -> dict[str, Any]:
    """Head of a result: the command, when it ran, its settings, and the machine."""
    return {
        "command": command,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "settings": settings,
        "machine": machine(),
    }


def write_json(path: Path, content: Any) -> None:
    """Indented JSON; numpy numbers and arrays become plain ones, floats keep six digits."""
    path.write_text(json.dumps(plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def write_page(folder: Path, name: str, page: str, content: Any) -> None:
    """A result as ``name.md`` and, with all figures, as ``name.json``."""
    write_json(folder / f"{name}.json", content)
    (folder / f"{name}.md").write_text(page, encoding="utf-8")


def plain(value: Any) -> Any:
    """Plain Python values for JSON; floats keep six digits."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"is": type(value).__name__, **plain(vars(value))}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return str(value) if isinstance(value, Path) else value


def markdown_table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str] | Sequence[str]) -> str:
    """Rows as a markdown table; `columns` maps keys to headings, or lists the keys. A number of text is as given."""
    names = dict(columns) if isinstance(columns, Mapping) else {name: name for name in columns}
    lines = ["| " + " | ".join(names.values()) + " |", "|" + " --- |" * len(names)]
    lines += ["| " + " | ".join(cell(row.get(name)) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def cell(value: float | str | None) -> str:
    """A value as text: floats with three digits, large ones with separators, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, bool | str):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3f}" if abs(value) < 100 else f"{value:.1f}"


def mean_sd(values: Sequence[float], digits: int = 3) -> str:
    """``.512 ± .004`` over seeds; the mean alone for a single one."""
    mean = f"{np.mean(values):.{digits}f}"
    return mean if len(values) < 2 else f"{mean} ± {np.std(values, ddof=1):.{digits}f}"
