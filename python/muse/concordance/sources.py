"""Files of a corpus as they were when they were indexed, and whether they are so still."""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from muse.base.numeric import checksum

__all__ = ["Source", "changed_sources", "form_of", "same_files"]

_PARTS, _PART_BYTES = 16, 1 << 16
_BLOCK_BYTES = 1 << 22
_DEEPEST = 4  # parts of parts of a reader
_NO_OPTIONS = ("paths", "_read")  # attributes of readers: which files, and whether they were read


@dataclass(frozen=True)
class Source:
    """A file of a corpus.

    Attributes
    ----------
    path : str
        From the folder of the index, if they lie in one folder or below it, so that both can be moved; else absolute.
    size : int
        Bytes.
    modified : int
        Time of its last change, in nanoseconds.
    parts : str
        Hash of pieces spread over it; of a file up to 1 MB that is all of it.
    whole : int
        CRC-32 of all of it: where only the time has changed, this says whether the text has.
    """

    path: str
    size: int
    modified: int
    parts: str
    whole: int

    @classmethod
    def of(cls, path: Path, folder: Path) -> Source:
        """A file as it is now, for an index in a `folder`."""
        stat = path.stat()
        return cls(_named(path, folder), stat.st_size, stat.st_mtime_ns, _hash_of_parts(path, stat.st_size), _crc(path))

    @classmethod
    def from_json(cls, given: Any) -> Source:
        """What `to_json` gave; a ValueError or TypeError for anything else."""
        types = {"path": str, "size": int, "modified": int, "parts": str, "whole": int}
        if not isinstance(given, dict) or {name: type(value) for name, value in given.items()} != types:
            raise ValueError("a file of the corpus is described in another form")
        return cls(**given)

    def to_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)

    def place(self, folder: Path) -> Path:
        """Where the file should be, for an index in a `folder`."""
        return folder / self.path

    def is_as_before(self, folder: Path) -> bool:
        """Whether the file is what it was; true also where it is not there any more."""
        path = self.place(folder)
        try:
            stat = path.stat()
            if stat.st_size != self.size or _hash_of_parts(path, stat.st_size) != self.parts:
                return False
            return stat.st_mtime_ns == self.modified or _crc(path) == self.whole
        except FileNotFoundError:
            return True


def changed_sources(sources: Iterable[Source], folder: Path) -> list[Path]:
    """The files that are not what they were; those that are gone do not count."""
    return [source.place(folder) for source in sources if not source.is_as_before(folder)]


def same_files(sources: Iterable[Source], folder: Path, paths: Iterable[Path]) -> bool:
    """Whether these are the files, in the same order."""
    return [os.path.realpath(source.place(folder)) for source in sources] == [os.path.realpath(p) for p in paths]


def form_of(reader: Any) -> str:
    """How a reader of files makes sentences of them, by its attributes: a hash that is the same in other processes."""
    return hashlib.blake2b(_form(reader, _DEEPEST).encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


def _form(value: Any, deep: int) -> str:
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return repr(value)
    if isinstance(value, functools.partial):
        return f"partial{_form([value.func, value.args, value.keywords], deep)}"
    if isinstance(value, re.Pattern):
        return repr((value.pattern, value.flags))
    if callable(value) and hasattr(value, "__qualname__"):
        owner = getattr(value, "__self__", None)  # of a method, which does what its object says
        bound = "" if owner is None or isinstance(owner, (type, ModuleType)) else f" of {_form(owner, deep)}"
        return f"{value.__module__}.{value.__qualname__}{_code(value, deep)}{bound}"
    if deep and isinstance(value, (list, tuple)):
        return f"[{', '.join(_form(item, deep - 1) for item in value)}]"
    if deep and isinstance(value, (set, frozenset, dict)):
        items = value.items() if isinstance(value, dict) else value
        return f"{{{', '.join(sorted(_form(item, deep - 1) for item in items))}}}"
    parts = sorted(getattr(value, "__dict__", {}).items()) if deep else []
    told = (f"{name}={_form(part, deep - 1)}" for name, part in parts if name not in _NO_OPTIONS)
    return f"{type(value).__qualname__}({', '.join(told)})"


def _code(function: Any, deep: int) -> str:
    """What a function without a name of its own does: others of its module are called the same."""
    code = getattr(function, "__code__", None)
    if code is None or "<" not in function.__qualname__:
        return ""
    held = list(inspect.getclosurevars(function).nonlocals.values())
    return f"{_of_code(code)}{_form([function.__defaults__, function.__kwdefaults__, held], deep)}"


def _of_code(code: CodeType) -> str:
    parts = [_of_code(part) if isinstance(part, CodeType) else _form(part, _DEEPEST) for part in code.co_consts]
    return f"({code.co_code.hex()} {code.co_names} {', '.join(parts)})"


def _named(path: Path, folder: Path) -> str:
    full, base = Path(os.path.realpath(path)), Path(os.path.realpath(folder))
    return str(full.relative_to(base) if full.is_relative_to(base) else full)


def _hash_of_parts(path: Path, size: int) -> str:
    """Of pieces from the start to the end, which overlap in a small file."""
    found, step = hashlib.blake2b(digest_size=16), max(0, size - _PART_BYTES) // (_PARTS - 1)
    with path.open("rb") as file:
        for part in range(_PARTS):
            file.seek(part * step if part < _PARTS - 1 else max(0, size - _PART_BYTES))
            found.update(file.read(_PART_BYTES))
    return found.hexdigest()


def _crc(path: Path) -> int:
    def blocks() -> Iterator[bytes]:
        with path.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                yield block

    return checksum(blocks())
