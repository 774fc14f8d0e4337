#!/bin/bash
# Makes the guest's file system: busybox, `rdma`, libibverbs with its rxe provider, modules, /init.
#
#   tests/interop/initrd.sh KERNEL_FOLDER VERBS_PEER TARGET
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
kernel=$1 program=$2 target=$3

root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,proc,sys,dev,etc}

# with_libraries FILE TARGET: copies it, and what it is linked with, to where the linker looks.
with_libraries() {
  local library
  install -D "$1" "$root$2"
  ldd "$1" | grep -o '/[^ ]*' | while read -r library; do
    [[ -e $root$library ]] || install -D "$(readlink -f "$library")" "$root$library"
  done
}

install "$(command -v busybox)" "$root/bin/busybox"
with_libraries "$(command -v rdma)" /bin/rdma
with_libraries "$program" /bin/verbs_peer
provider=$(dpkg -L ibverbs-providers | grep '/librxe-rdmav[0-9]*\.so$')
with_libraries "$provider" "$provider"
install -D -m 644 /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/rxe.driver"
cp -r "$kernel/modules" "$root/modules"
install "$here/init" "$root/init"
(cd "$root" && find . | cpio --quiet -o -H newc) >"$target"
