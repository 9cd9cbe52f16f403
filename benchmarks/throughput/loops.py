"""What the kernels could do on processors that are not here: ``python -m benchmarks.throughput.loops``.

Compiles the kernels for each instruction set as CMakeLists.txt does, cuts out their inner loops, and lets ``llvm-mca``
say how many cycles they take on each processor with all data in the first cache. A share is of the multiply-adds that
the processor can start. A call is the loop as often as it runs and what lies around it, with no branch taken, so that
its share is the least that is to be expected. Needs llvm-mca and a compiler for arm64 (Debian: llvm-19,
g++-aarch64-linux-gnu).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import common

KERNEL_FLAGS = ["-std=c++20", "-O3", "-fPIC", "-fno-trapping-math", "-fno-math-errno", "-ffp-contract=fast",
                "-Wno-psabi"]  # fmt: skip
FLAGS = [*KERNEL_FLAGS, "-Isrc/cpp", "-S", "-o", "-"]
ARM, X86 = "aarch64-linux-gnu-g++", "g++"
_NEON = ["-DMUSE_NEON", "-fno-schedule-insns"]
SETS = {  # compiler and flags, as in CMakeLists.txt
    "neon": (ARM, [*_NEON, "-march=armv8.2-a+dotprod"]),
    "sve256": (ARM, [*_NEON, "-march=armv8.2-a+sve+dotprod", "-msve-vector-bits=256"]),
    "avx2": (X86, ["-mavx2", "-mfma"]),
    "avx512": (X86, ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mfma", "-mprefer-vector-width=512"]),
}
LANES = {"neon": 4, "sve256": 8, "avx2": 8, "avx512": 16}


@dataclass(frozen=True)
class Processor:
    """One that llvm-mca knows: numbers that it multiplies and adds a cycle at most, and what it can run."""

    model: str
    numbers: int
    sets: tuple[str, ...]


# LLVM describes all of Apple's processors by one model, of 2013: a share there says little. So see `counted_cycles`.
PROCESSORS = {
    "Apple M1": Processor("apple-m1", 16, ("neon",)),
    "Neoverse N1": Processor("neoverse-n1", 8, ("neon",)),
    "Neoverse V1": Processor("neoverse-v1", 16, ("neon", "sve256")),
    "Zen 4": Processor("znver4", 16, ("avx2", "avx512")),
}
COUNTED = "Apple M1"


@dataclass(frozen=True)
class Kernel:
    """A kernel: its functions' name, and what its loop passes over.

    Over the columns of a row, with so many multiply-adds for each (0: all of the loop's are for one vector of columns),
    or over `rows` rows, for a block of columns.
    """

    function: str
    each: int = 0
    rows: int = 0


KERNELS = {
    "scores, 4 × 4 sums": Kernel("score_tileILi4ELi[34]E"),
    "combine, 24 rows": Kernel("combine_", rows=24),
    "blend, 24 rows": Kernel("blend", rows=24),
    "score_rows, 8 rows": Kernel("score_row", each=8),
    "step_rows, 4 rows": Kernel("step_row", each=8),
    "slide, 20 rows": Kernel("slide(?!_gradient)", rows=20),
    "dot": Kernel("3dotE", each=1),
    "axpy": Kernel("4axpyE", each=1),
    "add_row": Kernel("add_rowE", each=1),
}
MULTIPLY_ADD = re.compile(r"^(fmla|fmad|vfn?madd\w*ps)\b")
BRANCH = re.compile(r"^(?:j\w+|b|b\.?\w\w|cbn?z|tbn?z)\s+(?:.*,\s*)?(\.L\w+)$")


@dataclass(frozen=True)
class Loop:
    """The instructions of an innermost loop, and those that run once before and behind it."""

    before: tuple[str, ...]
    body: tuple[str, ...]
    behind: tuple[str, ...]

    @property
    def multiply_adds(self) -> int:
        return sum(bool(MULTIPLY_ADD.match(line)) for line in self.body)

    @property
    def chain(self) -> int:
        """Multiply-adds of an iteration that wait for each other: into one register that nothing else writes."""
        counts: dict[str, int] = {}
        for line in self.body:
            register = re.match(r"\w+ \{?(\w+)", line)
            if register and not line.startswith(("st", "cmp", "b", "prfm")):
                name = re.sub(r"^[vqs](?=\d)", "z", register[1])
                counts[name] = counts.get(name, 0) + 1 if MULTIPLY_ADD.match(line) else -1000
        return max(counts.values(), default=0)

    def counted(self, names: tuple[str, ...]) -> int:
        """Instructions that begin so; a pair counts as two."""
        return sum(2 if line.startswith(("ldp q", "stp q")) else 1 for line in self.body if line.startswith(names))


def functions(assembly: str) -> dict[str, list[str]]:
    """The lines of each function: instructions and local labels."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for raw in assembly.splitlines():
        line = raw.split("//")[0].strip().replace("\t", " ")
        if name := re.match(r"^(_Z\w+)(?:\.\w+)*:", line):
            lines = found.setdefault(name[1], [])
        elif re.match(r"^\.L\w+:", line) or (line and line[0] not in ".#" and not line.endswith(":")):
            lines.append(line)
    return found


def loops(lines: Sequence[str]) -> Iterator[Loop]:
    """The innermost loops: from a label to the branch back to it, with no other such within."""
    places = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    spans = []
    for i, line in enumerate(lines):
        if (branch := BRANCH.match(line)) and places.get(branch[1], i) < i:
            spans.append((places[branch[1]], i))
    inner = [(a, b) for a, b in spans if not any(a <= c and d <= b and (a, b) != (c, d) for c, d in spans)]
    once = [not any(a <= i <= b for a, b in inner) and not line.endswith(":") for i, line in enumerate(lines)]
    ends = [i for i, line in enumerate(lines) if re.match(r"(ret|b|jmp)\b(?!\.)", line)]
    for first, last in inner:
        start = max((i + 1 for i in ends if i < first), default=0)
        stop = min((i for i in ends if i > last), default=len(lines))
        yield Loop(
            tuple(lines[i] for i in range(start, first) if once[i]),
            tuple(line for line in lines[first : last + 1] if not line.endswith(":")),
            tuple(lines[i] for i in range(last + 1, stop) if once[i]),
        )


def main_loop(code: dict[str, list[str]], kernel: Kernel) -> Loop:
    """The loop of a kernel with the most multiply-adds: that of its whole tiles."""
    found = [loop for name, lines in code.items() if re.search(kernel.function, name) for loop in loops(lines)]
    return max(found, key=lambda loop: (loop.multiply_adds, -len(loop.body)))


def cycles(instructions: Sequence[str], processor: Processor, triple: str, iterations: int) -> float:
    """Cycles that llvm-mca counts for instructions, run again and again."""
    text = "\n".join(instructions) + "\n"
    command = [_analyser(), f"-mtriple={triple}", f"-mcpu={processor.model}", f"-iterations={iterations}"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    total = re.search(r"Total Cycles:\s+(\d+)", done.stdout)
    assert total, done.stdout[:500]
    return int(total[1]) / iterations


def _analyser() -> str:
    names = ["llvm-mca", *(f"llvm-mca-{version}" for version in range(16, 30))]
    for name in reversed(names):
        if found := shutil.which(name):
            return found
    raise SystemExit("llvm-mca is needed (Debian package llvm-19)")


def compiled(isa: str) -> dict[str, list[str]]:
    """The functions of the kernels of an instruction set."""
    compiler, flags = SETS[isa]
    source = "src/cpp/math/kernels.cpp"
    done = subprocess.run([compiler, *FLAGS, *flags, f"-DMUSE_ISA={isa}", source],
                          cwd=common.ROOT, capture_output=True, text=True, check=True)  # fmt: skip
    return functions(done.stdout)


def counted_cycles(loop: Loop) -> float:
    """Cycles of an iteration on an Apple M1 by its widths alone.

    It starts eight instructions a cycle, four of them vectors' arithmetic, three loads and two stores but four of both,
    and a multiply-add takes four cycles.
    """
    loads, stores = loop.counted(("ld", "prfm")), loop.counted(("st",))
    vectors = sum(bool(re.search(r"\b[vz]\d+\.", line)) for line in loop.body if not line.startswith(("ld", "st")))
    return max(len(loop.body) / 8, vectors / 4, loads / 3, stores / 2, (loads + stores) / 4, 4.0 * loop.chain)


def loop_share(loop: Loop, isa: str, processor: Processor, counted: bool = False) -> float:
    """Multiply-adds of the loop to those that the processor could start meanwhile."""
    took = counted_cycles(loop) if counted else cycles(loop.body, processor, _triple(isa), 200)
    return loop.multiply_adds * LANES[isa] / took / processor.numbers


def call_share(loop: Loop, kernel: Kernel, isa: str, processor: Processor, dim: int) -> float:
    """The same for a call with rows of `dim` numbers, what is before and behind the loop and the padding included."""
    padded = -(-dim // 16) * 16
    together = LANES[isa] * loop.multiply_adds / (kernel.each or loop.multiply_adds)  # columns of an iteration
    times = kernel.rows or max(1, round(padded / together))
    took = cycles([*loop.before, *loop.body * times, *loop.behind], processor, _triple(isa), 20)
    useful = times * loop.multiply_adds * LANES[isa] * dim / padded
    return useful / took / processor.numbers


def _triple(isa: str) -> str:
    return "aarch64" if SETS[isa][0] == ARM else "x86_64"


def measure(dims: Sequence[int]) -> list[dict[str, Any]]:
    """A row for each kernel, instruction set and processor."""
    rows = []
    code = {isa: compiled(isa) for isa in SETS}
    for name, kernel in KERNELS.items():
        for place, processor in PROCESSORS.items():
            for isa in processor.sets:
                loop = main_loop(code[isa], kernel)
                row = {"kernel": name, "processor": place, "isa": isa, "instructions": len(loop.body),
                       "multiply_adds": loop.multiply_adds}  # fmt: skip
                if place == COUNTED:
                    row["share_of_loop"] = loop_share(loop, isa, processor, counted=True)
                else:
                    row["share_of_loop"] = loop_share(loop, isa, processor)
                    for dim in dims:
                        row[f"share_at_{dim}"] = call_share(loop, kernel, isa, processor, dim)
                rows.append(row)
    return rows


def page(result: dict[str, Any]) -> str:
    """The tables."""
    columns = list(dict.fromkeys((row["processor"], row["isa"]) for row in result["rows"]))
    head = (
        f"# Inner loops by counting\n\n`{result['command']}`, {result['date']}; {result['compiler']}; "
        f"{result['analyser']}. Shares of the multiply-adds that a processor can start, all data in the first cache: "
        "the M1 by its widths, the others by llvm-mca's models. A call's share is the least to be expected."
    )
    parts = [head]
    titles = {"share_of_loop": "The loop"} | {f"share_at_{d}": f"A call at dimension {d}" for d in result["dims"]}
    for key, title in titles.items():
        table = []
        for kernel in KERNELS:
            line: dict[str, Any] = {"kernel": kernel}
            for row in result["rows"]:
                if row["kernel"] == kernel and key in row:
                    line[f"{row['processor']}, {row['isa']}"] = row[key]
            table.append(line)
        names = [f"{place}, {isa}" for place, isa in columns if any(f"{place}, {isa}" in line for line in table)]
        parts.append(f"## {title}\n\n" + common.markdown_table(table, ["kernel", *names]))
    return "\n\n".join(parts) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.throughput.loops", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("--dims", type=common.at_least(1), nargs="+", default=[100, 300])
    parser.add_argument("--out", type=common.out_folder, help="folder for the results; default: benchmarks/results")
    arguments = parser.parse_args(argv)
    result = {**common.stamp("python -m benchmarks.throughput.loops"), "compiler": _first_line(ARM, "--version"),
              "analyser": _first_line(_analyser(), "--version"), "dims": arguments.dims,
              "rows": measure(arguments.dims)}  # fmt: skip
    text = page(result)
    print(text)
    folder = arguments.out or common.RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    common.write_page(folder, "loops", text, result)


def _first_line(*command: str) -> str:
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return next(line.strip() for line in lines if re.search(r"\d+\.\d+", line))


if __name__ == "__main__":
    common.command(main)
