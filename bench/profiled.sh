#!/bin/bash
# profiled.sh [OPTION...]: the simulator built with the profile of its own runs (g++'s -fprofile-use)
# and optimised as one source (-flto): a third faster than `-c opt` alone. Measures `message_rate` with
# it, given the OPTIONs of Google Benchmark.
#
# It builds the program once to count what each branch does, runs it, and builds it again with what was
# counted. Both programs must write the same bytes. Left in .bazel/profiled: `ringpost`, for long sweeps,
# and `message_rate`. Minutes on two cores; nothing of it is committed, as a profile is of one compiler's
# version.
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
export RINGPOST_ROOT=$PWD

targets=(//tools/ringpost:ringpost //bench:message_rate)
out=$PWD/.bazel/profiled
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# build OPTION...: builds the targets and says where they are.
build() {
  bazel build --noshow_progress --show_result=0 --ui_event_filters=-info "$@" "${targets[@]}" >&2
  bazel info "$@" bazel-bin 2>/dev/null
}

# The runs whose branches count: many threads and few, each way to publish. By both programs: of a
# template that several objects define, each links the one it meets first, and only that one counts.
train() {
  local file
  GCOV_PREFIX=$scratch/counts "$1/bench/message_rate" >/dev/null 2>&1
  for file in bench/message_rate.yaml bench/message_rate_single.yaml configs/quickstart.yaml \
    configs/experiments/*.yaml; do
    GCOV_PREFIX=$scratch/counts "$1/tools/ringpost/ringpost" run "$file" >/dev/null
  done
}

# g++ looks for the counts of an object by the path of the object that it makes, with # for /.
flatten() {
  local file name
  mkdir -p "$2"
  (cd "$1" && find . -name '*.gcda' -print) | while read -r file; do
    name=${file#.}
    name=${name/-counting/-profiled}
    cp "$1/$file" "$2/${name//\//#}"
  done
}

report() {
  "$1/tools/ringpost/ringpost" run bench/message_rate.yaml --json "$2" >/dev/null
}

counting=$(build --config=counting)
report "$counting" "$scratch/counting.json"
train "$counting"
flatten "$scratch/counts" "$scratch/flat"
# By its contents, as Bazel does not look behind an option.
profile=$out/$(cat "$scratch"/flat/* | sha256sum | cut -c 1-16)
mkdir -p "$out"
rm -rf "$out"/*
mv "$scratch/flat" "$profile"
profiled=$(build --config=profiled --copt=-fprofile-use="$profile" --linkopt=-fprofile-use="$profile")
report "$profiled" "$scratch/profiled.json"
cmp "$scratch/counting.json" "$scratch/profiled.json"
cp "$profiled/tools/ringpost/ringpost" "$profiled/bench/message_rate" "$out"
echo "built $out/ringpost" >&2
"$out/message_rate" "$@"
