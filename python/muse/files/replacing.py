"""Files that appear whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextvars import ContextVar
from os import PathLike
from pathlib import Path
from typing import IO, BinaryIO

from muse.base.checks import path_like

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "beginning_of",
    "check_folder",
    "check_target",
    "keep_mode",
    "name_beside",
    "naming",
    "replacing",
    "sync_folder",
    "together",
]

_LONGEST_NAME = 255  # bytes, on nearly all file systems
_waiting: ContextVar[list[tuple[Path, Path, int]] | None] = ContextVar("_waiting", default=None)


def check_target(path: str | PathLike[str]) -> Path:
    """The file that `path` names, links followed, if one can be written there; `replacing` lists the errors."""
    target = Path(os.path.realpath(path_like("the file to write", path)))  # a link stays a link
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "is a folder; give the name of a file in it", str(path))
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "is not a regular file, and would be lost; give another name", str(path))
    if target.exists() and not os.access(target, os.W_OK):  # renaming over it would work
        raise PermissionError(errno.EACCES, "is write-protected; make it writable, or give another name", str(path))
    check_folder(target.parent)
    return target


def check_folder(folder: Path) -> None:
    """Raise an OSError that says what is wrong with a folder in which something is to be written."""
    if folder.is_dir():
        return
    for above in (folder, *folder.parents):
        if above.exists() and not above.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, "is a file, not a folder; give the name of a folder", str(above))
    raise FileNotFoundError(errno.ENOENT, "the folder does not exist; make it first", str(folder))


def name_beside(target: Path, ending: str) -> Path:
    """The name of a file beside `target`: with an `ending`, and made short where it would be too long for a file."""
    name = target.name + ending
    encoded = os.fsencode(target.name)
    if len(encoded) + len(ending) > _LONGEST_NAME:
        kept = beginning_of(target.name, _LONGEST_NAME - len(ending) - 17)
        import hashlib  # takes longer to load than this file

        name = f"{kept}~{hashlib.blake2b(encoded, digest_size=8).hexdigest()}{ending}"
    return target.with_name(name)


def beginning_of(name: str, size: int = 100) -> str:
    """The beginning of the name of a file, of `size` bytes at most."""
    return os.fsencode(name)[:size].decode("utf-8", "ignore")


def keep_mode(file: IO[bytes], target: Path) -> None:
    """Give a file that will replace `target` the permissions of that, if it is there and the system can."""
    if hasattr(os, "fchmod") and target.exists():
        with contextlib.suppress(OSError):  # a file system without permissions
            os.fchmod(file.fileno(), stat.S_IMODE(target.stat().st_mode))


@contextlib.contextmanager
def naming(path: str | PathLike[str]) -> Iterator[None]:
    """Errors of the system say which file they are about, which those of writing and reading do not by themselves."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


@contextlib.contextmanager
def replacing(path: str | PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only when it is complete and on the disk.

    The bytes go to a file without a name in the same folder, so that a killed process leaves nothing behind; it is
    synced, gets a temporary name, and is renamed. Where the file system has no nameless files, or the process is killed
    between the two names, a temporary file can stay; the next one who writes the same file removes it. If anything goes
    wrong on the way, a file that was there before is untouched; else the new one has its permissions.

    Raises
    ------
    IsADirectoryError, FileNotFoundError
        If `path` is a folder, or lies in one that does not exist; `NotADirectoryError` where that is a file.
    PermissionError
        If the file is there, and may not be written.
    OSError
        If `path` is a device, a pipe or a socket, or the disk is full. It names `path`, whatever failed on the way.
    """
    target = check_target(path)
    _remove_abandoned(target)
    temporary = target.with_name(f"{_prefix(target)}{os.urandom(6).hex()}.tmp")
    try:
        with naming(path), _create(temporary) as file:
            keep_mode(file, target)
            yield file
            file.flush()
            os.fsync(file.fileno())
            if not temporary.exists():
                _name(file, temporary, target)
            waiting = _waiting.get()
            if waiting is not None:
                waiting.append((temporary, target, os.dup(file.fileno())))  # which holds the lock
                return
            os.replace(temporary, target)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(temporary):  # which is none of the user's
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
    sync_folder(target.parent)


@contextlib.contextmanager
def together() -> Iterator[None]:
    """Files that are written with `replacing` inside of this take their names at its end, one right after the other.

    So all are complete and on the disk before the first replaces what was there. If anything goes wrong before that,
    none does. A process that is killed between the renames leaves some files new and others old.
    """
    waiting: list[tuple[Path, Path, int]] = []
    token = _waiting.set(waiting)
    try:
        try:
            yield
        finally:
            _waiting.reset(token)
        for temporary, target, _ in waiting:
            os.replace(temporary, target)
    finally:
        for temporary, _, lock in waiting:
            temporary.unlink(missing_ok=True)
            os.close(lock)
    for folder in {target.parent for _, target, _ in waiting}:
        sync_folder(folder)


def _prefix(target: Path) -> str:
    return f".{beginning_of(target.name)}."


def _create(temporary: Path) -> BinaryIO:
    """A locked file for writing, without a name if it can get `temporary` as its name later."""
    if hasattr(os, "O_TMPFILE") and os.path.exists("/proc/self/fd"):
        with contextlib.suppress(OSError):  # not on every file system
            descriptor = os.open(temporary.parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666)
            file: BinaryIO = os.fdopen(descriptor, "w+b")
            _lock(file)
            return file
    while True:
        file = open(temporary, "xb")  # noqa: SIM115 (the caller closes it)
        _lock(file)
        if temporary.exists():  # not taken for abandoned before it was locked
            return file
        file.close()


def _name(file: BinaryIO, path: Path, target: Path) -> None:
    """Give a nameless file its name, or, where the system refuses that, make a copy of it that has one."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:  # only with a descriptor of the folder does Python follow the link in /proc
        os.link(f"/proc/self/fd/{file.fileno()}", path.name, dst_dir_fd=folder, follow_symlinks=True)
    except OSError:
        file.seek(0)
        with open(path, "xb") as copy:
            keep_mode(copy, target)
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
    finally:
        os.close(folder)


def _lock(file: BinaryIO) -> None:
    """The lock lasts as long as the process, and says that the file is not abandoned."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # a network file system may have no locks
            fcntl.flock(file, fcntl.LOCK_EX)


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files of processes that were killed while they wrote `target`."""
    if fcntl is None:
        return
    for left in target.parent.iterdir():
        if not left.name.startswith(_prefix(target)) or not left.name.endswith(".tmp"):
            continue
        with contextlib.suppress(OSError), open(left, "rb") as file:  # locked, or somebody else removed it
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()


def sync_folder(folder: Path) -> None:
    """Make a rename in the folder survive a power cut, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
