#!/bin/bash
# Gathers what runs on a GPU into one folder, for a machine that has neither Bazel nor the libraries:
# it needs the driver, glibc 2.36 or newer, and Python 3; mlx5_test also rdma-core's libibverbs and
# libmlx5, and brings two virtual ConnectX.
#
#   tests/gpu/portable.sh FOLDER          here: builds with --config=portable, no GPU is needed
#   FOLDER/run [--out FOLDER] [--tests]   there: tests, then measurements
#   FOLDER/vendor/vendor_libraries.py     there: NCCL and NVSHMEM of pip, on virtual devices
set -euo pipefail
most_mib=60

if [ $# -ne 1 ]; then
  echo "usage: tests/gpu/portable.sh FOLDER" >&2
  exit 2
fi
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."

tests=(cuda_memory_test live_test mlx5_test conformance_test workload_test)
measurements=(put_vs_bare shared_rate memory_routes live_put op_costs)
bazel build --config=portable "${tests[@]/#/"//tests/gpu:"}" "${measurements[@]/#/"//bench/gpu:"}" \
  //tests/gpu:device_tree //sim/uverbs:libringpost_{uverbs,io_memory}.so //tools/ringpost
built=$(bazel info --config=portable bazel-bin)

rm -rf "$folder"
mkdir -p "$folder/tests" "$folder/bench" "$folder/virtual" "$folder/bin" "$folder/lib"
cp "${tests[@]/#/"$built/tests/gpu/"}" "$folder/tests"
cp "${measurements[@]/#/"$built/bench/gpu/"}" "$folder/bench"
cp "$built/tests/gpu/device_tree" "$built"/sim/uverbs/libringpost_{uverbs,io_memory}.so "$folder/virtual"
cp -r tests/gpu/vendor "$folder"
cp "$built/tools/ringpost/ringpost" "$folder/bin"
cp bench/gpu/workload_costs.py "$folder/bench/workload_costs"
git ls-files -z configs | grep -z '\.yaml$' | xargs -0 cp --parents -t "$folder"
cp tests/run.py "$folder/cases.py"
cp tests/gpu/portable_run.py "$folder/run"
git describe --always --dirty >"$folder/commit"

# Names for a debugger are a tenth of it.
chmod u+w "$folder"/*/*
strip --strip-unneeded "${tests[@]/#/"$folder/tests/"}" "${measurements[@]/#/"$folder/bench/"}" \
  "$folder/bin/ringpost" "$folder"/virtual/*

# What is neither of glibc nor of rdma-core (which brings libnl) comes along, for LD_LIBRARY_PATH.
rdma="ibverbs|mlx5|nl-3|nl-route-3"
programs=("$folder"/tests/* "${measurements[@]/#/"$folder/bench/"}" "$folder"/virtual/* "$folder/bin/ringpost")
ldd "${programs[@]}" | awk '$2 == "=>" && $3 ~ "^/" { print $3 }' | sort -u |
  grep -vE "/lib(c|m|dl|rt|pthread|$rdma)\.so" | xargs -r cp -Lt "$folder/lib"
if ldd "${programs[@]}" | grep "not found" >&2; then
  echo "portable.sh: these libraries are not here either" >&2
  exit 1
fi
mib=$(du -sm "$folder" | cut -f1)
if [ "$mib" -gt "$most_mib" ]; then
  echo "portable.sh: $folder has $mib MiB; $most_mib at most" >&2
  exit 1
fi
echo "$folder: $mib MiB; run $folder/run on a machine with a GPU"
