"""The best model of a training in a file, with a record beside it by which a later process knows what it is."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import tempfile
import weakref
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from muse.files.replacing import check_target, replacing

__all__ = ["BestFile", "TemporaryFolder", "check_writable"]

logger = logging.getLogger("muse.evaluation")

_FIELDS: dict[str, Any] = {
    "task": dict, "score": (int, float), "epoch": int, "shapes": dict, "trained": list, "history": list,
}  # fmt: skip
_BLOCK = 1 << 22


class BestFile:
    """The file of a best model, and ``<file>.json``, which records its score, and of which training and task it is.

    A file that is not of the present training is never written over: it is set aside under the same name with
    ``.previous`` in it. Where one is there already that the same task gave a better score, that one stays.

    Parameters
    ----------
    path : str
        Where the model is to be; links are followed.
    """

    def __init__(self, path: str) -> None:
        self.given = Path(path)
        self._own = False  # the file is of the present training
        self._written: dict[str, Any] = {}  # the record of the file

    def recorded(self) -> dict[str, Any] | None:
        """What is recorded of the file that is there; None if it has no record, or the record is of other contents.

        Where a process was killed after it had saved a model and before it had recorded that, the record is what it
        had written down before. That holds for models that are saved whole or not at all, as `muse.MUSE` is.
        """
        path = _real(self.given)
        record = _record_of(path)
        if record is not None or not path.is_file():
            return record
        found, contents = _read(path), _contents(path)
        pending = found.get("pending")
        if not isinstance(pending, dict) or not _is_record(pending) or contents == found.get("before"):
            return None
        return {**pending, "contents": contents}

    def take_up(self, record: Mapping[str, Any]) -> None:
        """Let the file be that of the present training, which goes on from the record."""
        self._own = True
        self._written = {name: record[name] for name in (*_FIELDS, "contents")}

    def save(self, model: Any, record: Mapping[str, Any]) -> None:
        """Save a model that is the best so far, with its record."""
        before = self._written.get("contents")
        if not self._own:
            _set_aside(_real(self.given))
            before = _contents(_real(self.given))
        self._write({**self._written, "pending": record, "before": before})
        model.save(os.fspath(self.given))
        self._own = True
        self._written = {**record, "contents": _contents(_real(self.given))}
        self._write(self._written)

    def note(self, record: Mapping[str, Any]) -> None:
        """Record what became known since the model was saved."""
        if self._written:
            self._written = {**record, "contents": self._written["contents"]}
            self._write(self._written)

    def _write(self, record: Mapping[str, Any]) -> None:
        """Write the record. If that fails, the model is still there."""
        path = _beside(_real(self.given))
        try:
            with replacing(path) as file:
                file.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
        except OSError as error:
            logger.error("the score of %s could not be recorded; another process will not know it: %s", path, error)


def check_writable(path: str) -> None:
    """Raise a ValueError if no file can be written at `path`."""
    with contextlib.suppress(OSError):
        if os.access(check_target(path).parent, os.W_OK):
            return
    raise ValueError(f"keep_best must be True, False, or the path of a file in a folder that exists; got {path!r}")


def _real(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.json")


def _contents(path: Path) -> dict[str, int]:
    """What tells the contents of a file from others; nothing, if the model was not saved as one file."""
    if not path.is_file():
        return {}
    value = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            value = zlib.crc32(block, value)
    return {"bytes": path.stat().st_size, "crc32": value}


def _read(path: Path) -> dict[str, Any]:
    """What stands in the record of a file, whatever it is; nothing, if it cannot be read."""
    try:
        record = json.loads(_beside(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def _is_record(record: Any) -> bool:
    if not isinstance(record, dict) or not all(isinstance(record.get(name), kind) for name, kind in _FIELDS.items()):
        return False
    if not all(isinstance(row, dict) and isinstance(row.get("total"), int) for row in record["history"]):
        return False
    return all(isinstance(row, list) for row in record["trained"])


def _record_of(path: Path) -> dict[str, Any] | None:
    """The record of a file, if it is of these contents."""
    record = _read(path) if path.is_file() else {}
    return record if _is_record(record) and record.get("contents") == _contents(path) else None


def _set_aside(path: Path) -> None:
    """Make room for the model of another training, and lose neither the file nor a better one of before."""
    if not path.is_file():
        return
    previous = path.with_name(f"{path.stem}.previous{path.suffix}")
    old, older = _record_of(path), _record_of(previous)
    if old and older and old["task"] == older["task"] and older["score"] > old["score"]:
        logger.warning("%s (score %.4f) is of another training and is replaced; the better one of before (%.4f) stays "
                       "in %s", path, old["score"], older["score"], previous.name)  # fmt: skip
        return
    path.replace(previous)
    _beside(previous).unlink(missing_ok=True)
    if old:
        _beside(path).replace(_beside(previous))
    logger.warning("%s is of another training, and is now %s%s", path, previous.name,
                   f" (score {old['score']:.4f})" if old else "")  # fmt: skip


class TemporaryFolder:
    """A temporary folder with one file, removed with the object. A copy, also by pickle, has a folder of its own."""

    def __init__(self, contents: bytes | None = None) -> None:
        folder = Path(tempfile.mkdtemp(prefix="muse-best-"))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.file = folder / "best.safetensors"
        if contents is not None:
            self.file.write_bytes(contents)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return TemporaryFolder, (self.file.read_bytes() if self.file.is_file() else None,)
