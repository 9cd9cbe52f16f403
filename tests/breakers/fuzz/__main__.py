"""``python -m tests.breakers.fuzz run [LOADER ...] --seconds N``: each loader for N seconds, in a process of its own.

With atheris installed (``pip install atheris``) its coverage guides the changes; without it they are random.
"""

from __future__ import annotations

import argparse
import base64
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

SPARE_MEMORY = 1 << 31  # what a small file may cost at most
SLOWEST = 10.0  # seconds for one file, on a busy machine


def _atheris() -> ModuleType | None:
    if importlib.util.find_spec("atheris") is None:
        return None
    import atheris

    return atheris


def check_input(name: str, data: bytes, folder: Path) -> str:
    """Load a file of these bytes; returns "loaded" or the documented error, and lets any other through."""
    from .loaders import LOADERS

    loader = LOADERS[name]
    path = folder / loader.name
    path.write_bytes(data)
    start = time.process_time()  # how busy the machine is does not count
    try:
        loader.load(path)
    except loader.errors as error:
        outcome, said = type(error).__name__, str(error)
    else:
        outcome = said = "loaded"
    assert said, "an error without a message"
    assert time.process_time() - start < SLOWEST, "a small file takes for ever"
    assert {child.name for child in folder.iterdir()} <= {loader.name, "second", "again"}, "files outside the given one"
    return outcome


def fuzz_randomly(name: str, keep_on: Callable[[int], bool], seed: int = 0) -> dict[str, int]:
    """Random changes of the seeds, as long as `keep_on` says so for the number of inputs done; outcomes counted."""
    from .loaders import LOADERS

    loader, rng = LOADERS[name], np.random.default_rng(seed)
    seeds = loader.seed_files(name)
    outcomes: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        number = 0
        while keep_on(number):
            data = seeds[number] if number < len(seeds) else loader.change(_one_of(seeds, rng), seeds, rng)
            try:
                outcome = check_input(name, data, Path(folder))
            except Exception:
                Path(f"fuzz-{name}-input").write_bytes(data)
                raise
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            number += 1
    return outcomes


def _one_of(seeds: list[bytes], rng: np.random.Generator) -> bytes:
    return seeds[int(rng.integers(len(seeds)))]


def _fuzz_one(name: str, seconds: int, seed: int) -> None:
    """In a process of its own: limits, then fuzzing."""
    atheris = _atheris()
    if atheris is not None:
        with atheris.instrument_imports(include=["muse"]):
            from .loaders import LOADERS
    else:
        from .loaders import LOADERS
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + SPARE_MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    if atheris is None:
        end = time.monotonic() + seconds
        outcomes = fuzz_randomly(name, lambda _: time.monotonic() < end, seed)
        print(f"{name}: {sum(outcomes.values())} files: {outcomes}", flush=True)
        return
    loader = LOADERS[name]
    seeds = loader.seed_files(name)
    with tempfile.TemporaryDirectory() as folder:
        corpus, scratch = Path(folder) / "corpus", Path(folder) / "scratch"
        corpus.mkdir()
        scratch.mkdir()
        for number, data in enumerate(seeds):
            (corpus / f"seed-{number}").write_bytes(data)

        def change(data: bytes, max_size: int, seed: int) -> bytes:
            rng = np.random.default_rng(seed)
            if rng.random() < 0.5:
                return bytes(atheris.Mutate(data, max_size))
            return loader.change(data, seeds, rng)[:max_size]

        atheris.Setup(
            ["fuzz", f"-max_total_time={seconds}", f"-seed={seed + 1}", "-max_len=20000", "-rss_limit_mb=0",
             "-verbosity=0", "-print_final_stats=1", f"-artifact_prefix=fuzz-{name}-", str(corpus)],
            lambda data: check_input(name, data, scratch) and None,
            custom_mutator=change,
        )  # fmt: skip
        atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.breakers.fuzz", description=__doc__)
    parser.add_argument("command", choices=["run", "one"])
    parser.add_argument("loaders", nargs="*", metavar="LOADER")
    parser.add_argument("--seconds", type=int, default=60, help="for each loader")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.command == "one":
        _fuzz_one(args.loaders[0], args.seconds, args.seed)
        return 0
    from .loaders import LOADERS

    failed = []
    for name in args.loaders or LOADERS:
        command = [sys.executable, "-m", __package__, "one", name, f"--seconds={args.seconds}", f"--seed={args.seed}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "number_of_executed_units" in line]
        print(f"{name}: {lines[0].split()[-1]} files, guided by coverage" if lines else done.stdout.strip(), flush=True)
        if done.returncode != 0:
            failed.append(name)
            said = f"{done.stdout}\n{done.stderr}"[-6000:]
            print(f"FAILED {name} ({done.returncode})\n{said}", file=sys.stderr, flush=True)
            for path in Path().glob(f"fuzz-{name}-*"):  # in words, since who reads this may not see the machine's files
                print(f"{path}, in base64: {base64.b64encode(path.read_bytes()).decode()}", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
