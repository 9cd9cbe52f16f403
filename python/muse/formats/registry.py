"""The formats by name, which of them a file has, and what each loses."""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from muse.base.checks import integer, optional, path_like
from muse.data.memory import with_figure
from muse.errors import ModelFileError, warn_of_format
from muse.files.word2vec_rows import check_no_empty_word, writable_keys, write_word2vec
from muse.formats.adagram import read_adagram, write_adagram
from muse.formats.array_folder import METADATA, read_numpy, read_projector, write_numpy, write_projector
from muse.formats.gensim_vectors import read_gensim, write_gensim
from muse.formats.mssg import read_mssg, write_mssg
from muse.formats.msword2vec import read_msword2vec, write_msword2vec
from muse.formats.names import write_names
from muse.formats.paper import index_of, read_paper, write_paper
from muse.formats.parquet import read_parquet, write_parquet
from muse.formats.reading import damaged, open_reader
from muse.formats.sense2vec_folder import read_sense2vec, write_sense2vec
from muse.formats.sensegram import find_inventory, read_sensegram, write_sensegram
from muse.formats.spacy_vectors import read_spacy, write_spacy
from muse.formats.sqlite import read_sqlite, write_sqlite
from muse.formats.table import SenseTable
from muse.formats.word2vec import read_glove, read_word2vec

__all__ = ["FORMATS", "Format", "detect_format", "read_sense_table", "write_sense_table"]

Path_: TypeAlias = str | PathLike[str]

SHARES, COUNTS, WORDS, LABELS = "shares of senses", "counts of words", "word-level vectors", "labels of senses"
SELECTION, NAMES = "selection of senses", "names of senses"
_SNIFFED = 1 << 21
_NUMBERED = re.compile(rb"[^ \t]+_[1-9][0-9]{0,8}[ \t]")


@dataclass(frozen=True)
class Format:
    """A file format for sense vectors.

    Attributes
    ----------
    name : str
        As in ``load_vectors(path, format=name)``.
    title : str
        What it is, in a line.
    read, write : callable
        ``read(path, **options)`` gives a `SenseTable`, ``write(path, table, **options)`` writes one; their docstrings
        say the options.
    keeps : frozenset of str
        What it holds beside keys and vectors: some of "shares of senses", "counts of words", "word-level vectors",
        "labels of senses", "names of senses" and, for tables that were read from this format, "selection of
        senses".
    """

    name: str
    title: str
    read: Callable[..., SenseTable]
    write: Callable[..., None]
    keeps: frozenset[str]

    @property
    def read_options(self) -> list[str]:
        """Names of the options of `read`."""
        return _options_of(self.read)

    @property
    def write_options(self) -> list[str]:
        """Names of the options of `write`."""
        return _options_of(self.write)


def _write_word2vec(
    path: Path_, table: SenseTable, *, binary: bool = False, counts: Path_ | None = None, names: Path_ | None = None,
    replace_spaces: str | None = None, mark: str = "#", header: bool = True,
) -> None:  # fmt: skip
    """Write sense vectors as word2vec does; see `write_word2vec`.

    `counts` names a file for lines ``key count``, `names` one for lines ``key``, tab, ``name`` of the senses that have
    a name.
    """
    keys = writable_keys(table.keys(mark), replace_spaces)
    if names is not None:
        write_names(names, keys, table)
    write_word2vec(
        path, keys, table.sense_vectors, binary=binary, header=header, counts=table.counts_of_senses(),
        counts_path=counts,
    )  # fmt: skip


def _write_glove(
    path: Path_, table: SenseTable, *, counts: Path_ | None = None, names: Path_ | None = None,
    replace_spaces: str | None = None, mark: str = "#",
) -> None:  # fmt: skip
    """Write sense vectors as text without a header; the options are those of word2vec, but for `binary`."""
    _write_word2vec(path, table, header=False, counts=counts, names=names, replace_spaces=replace_spaces, mark=mark)


def _read_adagram_text(
    path: Path_, *, mark: str = "_", limit: int | None = None, encoding: str = "utf-8", errors: str = "strict"
) -> SenseTable:
    """Read what AdaGram.jl's ``export.jl`` wrote: lines ``word_k numbers``."""
    return read_glove(path, mark=mark, limit=limit, encoding=encoding, errors=errors)


def _write_adagram_text(path: Path_, table: SenseTable, *, replace_spaces: str | None = None) -> None:
    """Write lines ``word_k numbers`` with k from 1, as AdaGram.jl's ``export.jl`` does."""
    write_word2vec(path, table.keys("_", 1), table.sense_vectors, replace_spaces=replace_spaces, header=False)


def _format(name: str, title: str, read: Any, write: Any, *keeps: str) -> tuple[str, Format]:
    return name, Format(name, title, read, write, frozenset(keeps))


FORMATS: dict[str, Format] = dict(
    [
        _format("word2vec", "word2vec, text or binary, and fastText's .vec", read_word2vec, _write_word2vec),
        _format("glove", "text without a header, as of GloVe", read_glove, _write_glove),
        _format("gensim", "gensim's own KeyedVectors files, through gensim", read_gensim, write_gensim, SHARES, NAMES),
        _format("paper", "the dump of the paper's code: embed.txt and index.tsv", read_paper, write_paper),
        _format("sensegram", "sensegram: word2vec and an inventory of shares", read_sensegram, write_sensegram, SHARES),
        _format("mssg", "MSSG and NP-MSSG, text", read_mssg, write_mssg, SHARES, WORDS, SELECTION),
        _format("msword2vec", "MSWord2Vec, text", read_msword2vec, write_msword2vec, SELECTION),
        _format("adagram", "AdaGram.jl, binary", read_adagram, write_adagram, SHARES, COUNTS, SELECTION),
        _format("adagram-text", "AdaGram.jl's text export", _read_adagram_text, _write_adagram_text),
        _format("sense2vec", "sense2vec folder, through sense2vec", read_sense2vec, write_sense2vec, SHARES, LABELS),
        _format("numpy", "folder of vectors.npy and metadata.tsv", read_numpy, write_numpy, SHARES, COUNTS),
        _format("projector", "folder for TensorBoard's projector", read_projector, write_projector, SHARES, COUNTS),
        _format("parquet", "Apache Parquet, through pyarrow", read_parquet, write_parquet, SHARES, COUNTS),
        _format("sqlite", "SQLite, a table of senses", read_sqlite, write_sqlite, SHARES, COUNTS),
        _format("spacy", "spaCy pipeline with vectors, through spaCy", read_spacy, write_spacy, WORDS),
    ]
)
"""The formats by name."""


def _named(name: str) -> Format:
    if not isinstance(name, str) or name not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(map(repr, FORMATS))}; got {name!r:.80}")
    return FORMATS[name]


def _options_of(function: Any) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY]


def _check_options(chosen: Format, function: Any, verb: str, options: dict[str, Any]) -> None:
    """Raise a TypeError for an option that the format does not have, or a limit that is none."""
    known = _options_of(function)
    for name in options:
        if name not in known:
            listed = f"the options are {', '.join(known)}" if known else "there are no options"
            raise TypeError(f"{name!r} is no option to {verb} the {chosen.name} format; {listed}")
    optional(integer(0))("limit", options.get("limit"))


def read_sense_table(path: Path_, format: str | None = None, **options: Any) -> SenseTable:
    """Read a vector file; its format is found out, if not given (`detect_format`)."""
    advice = "free memory, or raise the limit of this process (ulimit -v)"
    try:
        found = _named(detect_format(path) if format is None else format)
        path_like("the file", path)
        _check_options(found, found.read, "read", options)
        if "limit" in _options_of(found.read):
            advice = "read a part of it with limit="
        table = found.read(path, **options).check()
    except MemoryError as error:
        raise with_figure(error, f"{os.fspath(path)!r} was read", advice) from error
    try:
        table.check_finite()
    except ValueError as error:
        raise damaged(repr(os.fspath(path)), error) from None
    return table


def write_sense_table(path: Path_, table: SenseTable, format: str, **options: Any) -> None:
    """Write a vector file, and warn of what the format does not hold.

    Raises
    ------
    ValueError
        If a vector holds NaN or infinity, or a word is the empty string, whose keys no format gives back.

    Warns
    -----
    FormatWarning
        Names what is lost.
    """
    chosen = _named(format)
    path_like("the file", path)
    _check_options(chosen, chosen.write, "write", options)
    check_no_empty_word(table.words, format)
    table.check_finite()
    chosen.write(path, table, **options)
    lost = lost_parts(table, chosen, options)
    if lost:
        warn_of_format(f"the {format} format does not hold {', '.join(lost)}; model.save keeps the whole of a model")


def lost_parts(table: SenseTable, chosen: Format, options: dict[str, Any]) -> list[str]:
    """What of a table a format does not hold."""
    keeps = set(chosen.keeps)
    if options.get("counts") is not None or options.get("clusters") is not None:
        keeps |= {SHARES}
    if options.get("names") is not None:
        keeps |= {NAMES}
    has = {
        SHARES: table.priors is not None or bool(table.counts_of_senses().any()),
        COUNTS: table.word_counts is not None,
        WORDS: table.word_vectors is not None,
        LABELS: table.labels is not None,
        NAMES: bool(table.names),
    }
    lost = [name for name, there in has.items() if there and name not in keeps]
    own = {"mssg": "centers", "msword2vec": "clusters", "adagram": "adagram"}.get(chosen.name, "")
    if table.selector is not None and own not in table.parts:
        lost.append(SELECTION)
    return table.lost + lost


# ---------------------------------------------------------------------------------------------------------------------
# Which format


def detect_format(path: Path_) -> str:
    """The name of the format that a file or folder looks to have.

    gensim's own files are never chosen, since reading them runs a pickle: they must be asked for.

    Raises
    ------
    ModelFileError
        If it looks like none of them.
    """
    name = repr(path_like("the file", path))
    if os.path.isdir(path):
        return _detect_folder(Path(path))
    with open_reader(path) as reader:
        start = reader.peek(_SNIFFED)
    if start[8:9] == b"{":
        raise ModelFileError(f"{name} is a safetensors file; if it is a model of ours, open it with MUSE.load")
    if start[:1] == b"\x80":
        raise ModelFileError(f"{name} is a pickle, which is not opened unasked; give format='gensim' if you trust it")
    for magic, known in ((b"SQLite format 3\0", "sqlite"), (b"PAR1", "parquet")):
        if start.startswith(magic):
            return known
    lines = start.lstrip(b"\r\n").split(b"\n", 2)
    first, second = lines[0].split(), lines[1].split() if len(lines) > 1 else []
    if _are_counts(first):
        kinds = {3: "adagram", 4: "mssg"}
        if len(first) in kinds:
            return kinds[len(first)]
        if len(first) == 2:
            return _detect_headed(Path(path), int(first[1]), second)
    if len(first) > 1 and _are_numbers(first[1:]):
        if _are_numbers(first[:1]) and index_of(path, None).is_file():
            return "paper"
        return "adagram-text" if _are_numbered(start) else "glove"
    listed = ", ".join(map(repr, FORMATS))
    raise ModelFileError(f"{name} looks like none of the known formats; name it with format=, one of {listed}")


def _detect_headed(path: Path, columns: int, second: list[bytes]) -> str:
    """Of a file whose first line is two whole numbers."""
    if len(second) == columns + 2 and _are_counts(second[1:2]) and _are_numbers(second[2:]):
        return "msword2vec"
    if len(second) == 2 and columns > 1 and _are_counts(second[1:]):
        return "mssg"
    return "word2vec" if find_inventory(path) is None else "sensegram"


def _detect_folder(path: Path) -> str:
    if (path / "cfg").is_file() and (path / "vectors").exists():
        return "sense2vec"
    if (path / METADATA).is_file():
        return "numpy" if (path / "vectors.npy").exists() else "projector"
    if (path / "vocab").is_dir() or ((path / "vectors").exists() and (path / "strings.json").is_file()):
        return "spacy"
    raise ModelFileError(f"{os.fspath(path)!r} is a folder, but of none of the formats that are; name a file in it")


def _are_numbered(start: bytes) -> bool:
    """Whether every line begins with a key ``word_k``, k from 1 on, as AdaGram.jl exports them."""
    lines = start.split(b"\n")
    whole = lines[:-1] if len(start) >= _SNIFFED and len(lines) > 1 else lines
    return all(_NUMBERED.match(line) for line in whole if line.strip())


def _are_counts(fields: list[bytes]) -> bool:
    return bool(fields) and all(field.isdigit() and len(field) < 20 for field in fields)


def _are_numbers(fields: list[bytes]) -> bool:
    with contextlib.suppress(ValueError):
        return bool(list(map(float, fields)))
    return False
