#!/bin/bash
# put_vs_doca.sh [FOLDER]: builds and runs put_vs_doca with the headers of DOCA GPUNetIO in FOLDER, or
# with those of an installed NCCL of 2.28 or newer. None of them are part of this repository. It needs
# nvcc and a GPU.
set -euo pipefail
headers=${1:-}
if [ -z "$headers" ]; then
  headers=$(find / -name doca_gpunetio_device.h -not -path '/proc/*' -print -quit 2>/dev/null || true)
  headers=${headers%/*}
fi
if [ ! -e "$headers/doca_gpunetio_device.h" ]; then
  echo "put_vs_doca.sh: no doca_gpunetio_device.h in '$headers'; name the folder that has it" >&2
  exit 2
fi
cd "$(dirname "$0")/../.."
program=$(mktemp)
trap 'rm -f "$program"' EXIT
nvcc -std=c++20 -O3 -arch=sm_90 -w -I. "-I$headers" \
  bench/gpu/put_vs_doca.cu -o "$program"
"$program"
