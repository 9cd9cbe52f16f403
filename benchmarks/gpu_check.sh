#!/usr/bin/env bash
# Everything that a GPU must show, in one run of under 8 minutes, without a network: builds the CUDA backend, runs its tests
# on the device, looks for memory errors and races, measures, and trains to the CPU's score. Needs nvcc, cmake, ninja and
# a Python with numpy, pybind11, safetensors, tqdm and pytest.
#
#   benchmarks/gpu_check.sh [OUT]      # OUT: folder for gpu_check.json and the log (default: build/gpu)
#
# A step that fails does not stop the others: all that is learned is printed, and stands in the JSON. The exit status is
# 1 if any step failed. Nothing is installed.
set -uo pipefail
cd "$(dirname "$0")/.."
out=${1:-${OUT:-build/gpu}}
mkdir -p "$out"
out=$(cd "$out" && pwd)
exec > >(tee "$out/gpu_check.log") 2>&1
python=${PYTHON:-python3}
build=$PWD/build/gpu-check
package=$build/package
failed=()
echo '{"steps": []}' >"$out/gpu_check.json"

# step NAME SECONDS COMMAND...: runs it for at most so long, and notes how it went.
step() {
  local name=$1 limit=$2 start=$SECONDS status
  shift 2
  printf '\n=== %s\n' "$name"
  timeout -k 5 "$limit" "$@"
  status=$?
  [ "$status" -eq 0 ] || failed+=("$name")
  printf '=== %s: status %d, %d s\n' "$name" "$status" $((SECONDS - start))
  "$python" - "$out/gpu_check.json" "$name" "$status" $((SECONDS - start)) <<'PYTHON'
import json, sys
path, name, status, seconds = sys.argv[1:]
report = json.load(open(path))
report["steps"].append({"step": name, "status": int(status), "seconds": int(seconds)})
json.dump(report, open(path, "w"), indent=1)
PYTHON
}

machine() {
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem --format=csv
  nvcc --version | tail -2
  "$python" -c 'import sys, numpy, pybind11; print(sys.version); print("numpy", numpy.__version__, "pybind11", pybind11.__version__)'
}

# The architecture of this device alone: all of them take three times as long.
compile() {
  local capability
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMUSE_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES="${capability:-90}" \
    -DPython_EXECUTABLE="$("$python" -c 'import sys; print(sys.executable)')" &&
    cmake --build "$build" -j"$(nproc)" || return
  rm -rf "$package" && mkdir -p "$package" && cp -r python/muse "$package/" && rm -f "$package"/muse/*.so &&
    cp "$build"/_core*.so "$build"/src/cuda/_cuda*.so "$package/muse/"
}

gpu_tests() { "$python" -m pytest -q -p no:cacheprovider tests/test_cuda.py; }
measure() { "$python" -m benchmarks.gpu "$@" --out "$out/gpu_check.json"; }
sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "no compute-sanitizer here" && return 1; }
  compute-sanitizer --tool "$1" --error-exitcode 1 "$python" -m benchmarks.gpu small
}
profile() {
  command -v ncu >/dev/null || { echo "no ncu here" && return 1; }
  ncu --clock-control none --kernel-name 'regex:represent|select_senses|move_' --launch-skip 8 --launch-count 12 \
    --section SpeedOfLight --section Occupancy --section MemoryWorkloadAnalysis "$python" -m benchmarks.gpu profile
}

export -f machine compile gpu_tests measure sanitize profile
export python build package out
export PYTHONPATH=$package:$PWD PYTHONUNBUFFERED=1
step "machine" 20 bash -c machine
step "build" 120 bash -c compile
step "device" 15 "$python" -c 'from muse import cuda; print(cuda.missing() or cuda.describe_device()); assert cuda.is_available()'
step "tests on the device" 45 bash -c gpu_tests
step "same decisions" 30 bash -c 'measure decisions'
step "throughput" 75 bash -c 'measure throughput'
step "score of the CPU" 70 bash -c 'measure quality'
step "memcheck" 30 bash -c 'sanitize memcheck'
step "racecheck" 30 bash -c 'sanitize racecheck'
step "profile" 40 bash -c profile
printf '\n'
cat "$out/gpu_check.json"
if [ "${#failed[@]}" -gt 0 ]; then printf 'FAILED: %s\n' "${failed[@]}"; fi
[ "${#failed[@]}" -eq 0 ]
