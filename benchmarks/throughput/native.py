"""Programs that are compiled here: the measure of the machine's limits, and word2vec.c as its peer."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.common import ROOT, cache_dir
from benchmarks.throughput.loops import KERNEL_FLAGS, SETS
from muse import _core

PEAK_SOURCE = ROOT / "benchmarks" / "peak.cpp"
_ISA_FLAGS = {"avx512": ["-mavx512f", "-mfma", "-mprefer-vector-width=512"], "avx2": ["-mavx2", "-mfma"]}

# The PyPI package `word2vec` carries the original C program of Mikolov et al.
_WORD2VEC_PACKAGE, _WORD2VEC_VERSION = "word2vec", "0.9.4"
WORD2VEC_FLAGS = {
    "word2vec.c, as shipped (-O3)": ["-O3", "-march=native", "-funroll-loops"],  # of its makefile
    "word2vec.c, -Ofast": ["-Ofast", "-march=native", "-funroll-loops"],
}


class NotAvailableError(RuntimeError):
    """A program cannot be had here; says why."""


def peak_program() -> Path:
    """benchmarks/peak.cpp, compiled for the instruction set in use."""
    flags = ["-O3", "-std=c++20", *_ISA_FLAGS.get(_core.isa(), [])]
    return _compiled("c++", PEAK_SOURCE, flags, ["-pthread"])


def core_program(source: Path) -> Path:
    """A program that includes kernels of the core, compiled for the instruction set in use."""
    isa = _core.isa()
    flags = [*KERNEL_FLAGS, f"-I{ROOT / 'src' / 'cpp'}", f"-DMUSE_ISA={isa}", *SETS.get(isa, ("", []))[1]]
    used = sorted([*(ROOT / "src" / "cpp").glob("*/*"), *source.parent.glob("*.h")])
    return _compiled("c++", source, flags, ["-pthread"], used)


def machine_limits(threads: int) -> dict[str, Any]:
    """GFLOP/s of fused multiply-adds and GB/s of memory, the sum over threads by processor time."""
    done = subprocess.run([peak_program(), str(threads)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def word2vec_program(flags: list[str]) -> Path:
    """word2vec.c, compiled with some flags.

    Raises
    ------
    NotAvailableError
        If its source cannot be fetched or compiled.
    """
    source = cache_dir() / f"word2vec-{_WORD2VEC_VERSION}.c"
    if not source.exists():
        with tempfile.TemporaryDirectory() as folder:
            try:
                _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
                      "--no-build-isolation", "--dest", folder,
                      f"{_WORD2VEC_PACKAGE}=={_WORD2VEC_VERSION}"])  # fmt: skip
            except NotAvailableError as error:
                raise NotAvailableError(f"{error} (pip reads its source with setuptools, wheel and cython)") from None
            with tarfile.open(next(Path(folder).glob("*.tar.gz"))) as packed:
                name = next(n for n in packed.getnames() if n.endswith("/c/word2vec.c"))
                member = packed.extractfile(name)
                if member is None:
                    raise NotAvailableError(f"{name} is not a file")
                source.write_bytes(member.read())
    return _compiled("cc", source, [*flags, "-w"], ["-lm", "-pthread"])


def _compiled(
    compiler: str, source: Path, flags: list[str], libraries: list[str], included: Sequence[Path] = ()
) -> Path:
    used = b"".join(path.read_bytes() for path in (source, *included))
    key = hashlib.sha256(used + repr(flags).encode()).hexdigest()[:12]
    program = cache_dir() / f"{source.stem}-{key}"
    if not program.exists():
        if shutil.which(compiler) is None:
            raise NotAvailableError(f"no compiler {compiler} here")
        unfinished = program.with_suffix(".new")
        _run([compiler, *flags, str(source), "-o", str(unfinished), *libraries])
        unfinished.replace(program)
    return program


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        errors = re.findall(r"^ *((?:[\w.]*Error|error): .*[ '].*)$", done.stderr, re.MULTILINE)
        told = errors[0] if errors else " ".join(done.stderr.split())  # one line, whose end whoever runs this reads
        raise NotAvailableError(f"{Path(command[0]).name} failed: {told[-300:]}")
