#!/usr/bin/env bash
# Everything that a GPU must show, in one run of under 8 minutes, without a network: builds the CUDA backend, runs its tests
# on the device, measures training and queries, trains to the CPU's score, and looks for memory errors and races. Needs
# nvcc, cmake, ninja and a Python with numpy, pybind11, safetensors, tqdm and pytest.
#
#   benchmarks/gpu_check.sh [OUT]                   # OUT: folder for gpu_check.json and the log (default: build/gpu)
#   MUSE_GPU_DRY_RUN=1 benchmarks/gpu_check.sh      # tries the script without a device: the emulation, little of all
#
# A step that fails or is out of time does not stop the others: all that is learned is printed, and stands in the JSON as
# soon as it is known. The exit status is 1 if any step failed. Nothing is installed.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${1:-${OUT:-build/gpu}}
mkdir -p "$out"
out=$(cd "$out" && pwd)
exec > >(tee "$out/gpu_check.log") 2>&1
python=${PYTHON:-python3}
dry=${MUSE_GPU_DRY_RUN:-}
seconds=470 # for all steps
build=$PWD/build/gpu-check${dry:+-dry}
package=$build/package
failed=()
echo '{"steps": []}' >"$out/gpu_check.json"

# step NAME SECONDS COMMAND...: runs it for at most so long, or what is left of the time, and notes how it went.
step() {
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  [ -n "$dry" ] && limit=$((20 * limit))
  [ -z "$dry" ] && [ "$limit" -gt $((seconds - SECONDS)) ] && limit=$((seconds - SECONDS))
  printf '\n=== %s\n' "$name"
  if [ "$limit" -ge 5 ]; then
    timeout -k 5 "$limit" "$@"
    status=$?
  else
    echo "no time is left for it" && status=124
  fi
  [ "$status" -eq 0 ] || failed+=("$name")
  printf '=== %s: status %d, %d s\n' "$name" "$status" $((SECONDS - start))
  "$python" - "$out/gpu_check.json" "$name" "$status" $((SECONDS - start)) <<'PYTHON'
import json, os, sys
path, name, status, seconds = sys.argv[1:]
report = json.load(open(path))
report["steps"].append({"step": name, "status": int(status), "seconds": int(seconds)})
with open(path + ".unfinished", "w") as file:
    json.dump(report, file, indent=1)
os.replace(path + ".unfinished", path)
PYTHON
}

machine() {
  [ -n "$dry" ] ||
    nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,compute_mode --format=csv
  nvcc --version | tail -2
  "$python" -c 'import sys, numpy, pybind11; print(sys.version); print("numpy", numpy.__version__, "pybind11", pybind11.__version__)'
}

# For the architecture of this device alone, on all cores.
compile() {
  local capability options
  if [ -n "$dry" ]; then
    options=(-DMUSE_CUDA=EMULATED)
  else
    capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
    options=(-DMUSE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${capability:-90}")
    if nvcc --help | grep -q -- --split-compile; then options+=(-DCMAKE_CUDA_FLAGS=--split-compile=0); fi
  fi
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release "${options[@]}" \
    -DPython_EXECUTABLE="$("$python" -c 'import sys; print(sys.executable)')" &&
    cmake --build "$build" -j"$(nproc)" || return
  rm -rf "$package" && mkdir -p "$package" && cp -r python/muse "$package/" && rm -f "$package"/muse/*.so &&
    cp "$build"/_core*.so "$build"/src/cuda/_cuda*.so "$package/muse/"
}

gpu_tests() { "$python" -m pytest -q -p no:cacheprovider tests/cuda/test_cuda.py tests/cuda/test_cuda_queries.py; }
measure() { "$python" -m benchmarks.gpu "$@" ${dry:+--small} --out "$out/gpu_check.json"; }
# A tool that watches a run of benchmarks.gpu; without a device only the run.
watched() {
  local part=$1
  shift
  if [ -n "$dry" ]; then
    echo "not run here: $*"
    set --
  elif ! command -v "$1" >/dev/null; then
    echo "no $1 here" && return 1
  fi
  "$@" "$python" -m benchmarks.gpu "$part" ${dry:+--small}
}
sanitize() { watched sanitized compute-sanitizer --tool "$1" --error-exitcode 1 --print-limit 20; }
# With the cache as it is and the clocks as they are: what the L2 holds from one kernel to the next is part of the answer.
profile() {
  watched profile ncu --clock-control none --cache-control none --kernel-name 'regex:represent|select_senses|move_' \
    --launch-skip 8 --launch-count 12 --section SpeedOfLight --section Occupancy --section MemoryWorkloadAnalysis
}

export -f machine compile gpu_tests measure watched sanitize profile
export python build package out dry
export PYTHONPATH=$package:$PWD PYTHONUNBUFFERED=1
step "machine" 10 bash -c machine
step "build" 130 bash -c compile
step "device" 10 "$python" -c 'from muse import cuda; print(cuda.missing() or cuda.describe_device()); assert cuda.is_available()'
step "tests on the device" 50 bash -c gpu_tests
step "same decisions" 20 bash -c 'measure decisions'
step "throughput" 75 bash -c 'measure throughput'
step "inference" 40 bash -c 'measure inference'
step "score of the CPU" 50 bash -c 'measure quality'
step "sense trees" 40 bash -c 'measure trees'
step "memcheck" 25 bash -c 'sanitize memcheck'
step "racecheck" 25 bash -c 'sanitize racecheck'
step "synccheck" 15 bash -c 'sanitize synccheck'
step "profile" 25 bash -c profile
printf '\n'
cat "$out/gpu_check.json"
if [ "${#failed[@]}" -gt 0 ]; then printf 'FAILED: %s\n' "${failed[@]}"; fi
[ "${#failed[@]}" -eq 0 ]
