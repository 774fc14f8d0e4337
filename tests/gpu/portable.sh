#!/bin/bash
# Gathers what runs on a GPU into one folder, for a machine that has neither Bazel nor the libraries:
# it needs the driver, glibc 2.36 or newer, and Python 3; mlx5_test also rdma-core's libibverbs and
# libmlx5, and brings two virtual ConnectX.
#
#   tests/gpu/portable.sh FOLDER          here: builds with --config=portable, no GPU is needed
#   FOLDER/run [--out FOLDER] [--tests]   there: tests, then measurements
set -euo pipefail
most_mib=60

if [ $# -ne 1 ]; then
  echo "usage: tests/gpu/portable.sh FOLDER" >&2
  exit 2
fi
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."

tests=(cuda_memory_test live_test mlx5_test)
measurements=(put_vs_bare memory_routes live_put)
bazel build --config=portable "${tests[@]/#/"//tests/gpu:"}" "${measurements[@]/#/"//bench/gpu:"}" \
  //tests/gpu:device_tree //sim/uverbs:libringpost_uverbs.so
built=$(bazel info --config=portable bazel-bin)

rm -rf "$folder"
mkdir -p "$folder/tests" "$folder/bench" "$folder/virtual"
cp "${tests[@]/#/"$built/tests/gpu/"}" "$folder/tests"
cp "${measurements[@]/#/"$built/bench/gpu/"}" "$folder/bench"
cp "$built/tests/gpu/device_tree" "$built/sim/uverbs/libringpost_uverbs.so" "$folder/virtual"
cp tests/run.py "$folder/cases.py"
cp tests/gpu/portable_run.py "$folder/run"
git describe --always --dirty >"$folder/commit"

# Of rdma-core; these bring libnl.
rdma="ibverbs|mlx5|nl-3|nl-route-3"
missing=$(ldd "$folder"/tests/* "$folder"/bench/* "$folder"/virtual/* | grep "=>" |
  grep -vE "lib(c|m|$rdma)\.so" || true)
if [ -n "$missing" ]; then
  echo "portable.sh: these libraries are not on a bare machine:" >&2
  echo "$missing" | sort -u >&2
  exit 1
fi
mib=$(du -sm "$folder" | cut -f1)
if [ "$mib" -gt "$most_mib" ]; then
  echo "portable.sh: $folder has $mib MiB; $most_mib at most" >&2
  exit 1
fi
echo "$folder: $mib MiB; run $folder/run on a machine with a GPU"
