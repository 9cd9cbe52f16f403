"""Fixtures for all tests."""

import importlib.util
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

import muse.base.cuda
from toy import toy_model

# The same examples each time, whatever the load, so that a failure is of the change under test;
# `pytest --hypothesis-profile=search` looks for new ones.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.register_profile("search", deadline=None, database=None, print_blob=True)
settings.load_profile("repeatable")

# A shell that starts the tests in the background makes them ignore Ctrl-C, which some of them send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def eval_data() -> Path:
    """The directory of evaluation data: ``$MUSE_DATA/eval`` or ``../shared/data/eval`` beside the repository."""
    named = os.environ.get("MUSE_DATA")
    root = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not (root / "eval").is_dir():
        pytest.skip(f"no evaluation data in {root / 'eval'}: set MUSE_DATA to the directory that holds eval/")
    return root / "eval"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The file of a small model that was put together by hand."""
    path = tmp_path / "toy.safetensors"
    toy_model().save(path)
    return path


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a file of text or bytes."""

    def write_file(content: str | bytes, name: str = "corpus.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


# --- the CUDA backend: tests/cuda ---

EMULATED = os.environ.get("MUSE_CUDA_EMULATION")


@pytest.fixture(scope="session")
def backend() -> ModuleType:
    """`muse._cuda`, emulated or real."""
    if not EMULATED:
        if muse.base.cuda.missing():
            pytest.skip(f"no emulation (MUSE_CUDA_EMULATION is not set), and no device: {muse.base.cuda.missing()}")
        return muse.base.cuda.load()
    (path,) = Path(EMULATED).glob("_cuda*.so")
    spec = importlib.util.spec_from_file_location("_cuda", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def emulated(backend):
    """The emulation, in its usual state again after the test."""
    if not EMULATED:
        pytest.skip("only the emulation can do this")
    yield backend
    backend.set_order()
    backend.set_memory(1 << 40)


@pytest.fixture
def on_device(backend, monkeypatch):
    """``device="cuda"`` means `backend`."""
    monkeypatch.setattr(muse.base.cuda, "load", lambda: backend)
    monkeypatch.setattr(muse.base.cuda, "missing", lambda: "")
