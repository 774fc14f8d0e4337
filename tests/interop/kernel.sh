#!/bin/bash
# Prints a folder with Debian's kernel for the guest: `vmlinux`, and `modules/`, whose files are in
# the order in which they are to be inserted. Fails, saying why, where it cannot be had.
#
#   tests/interop/kernel.sh CACHE
#
# The package is downloaded and unpacked below CACHE once, and never installed. Without a network,
# the newest one that is there serves.
set -euo pipefail

cache=$1
# rxe asks for crc32 by name, so that no dependency tells of it. The cloud flavour has no rdma_rxe.
wanted=(virtio_pci virtio_net crc32_generic rdma_rxe ib_uverbs)

wanted_package() {
  apt-cache depends linux-image-amd64 2>/dev/null |
    sed -n 's/^ *Depends: \(linux-image-[0-9].*-amd64\)$/\1/p' | head -n 1
}

newest_here() {
  find "$cache" -maxdepth 1 -name 'linux-image-*' -printf '%f\n' 2>/dev/null | sort -V | tail -n 1
}

# Booted as an ELF file, it need not unpack itself, which takes seconds in an emulator.
unpack_kernel() {
  local at
  at=$(LC_ALL=C grep -aboP '\xfd7zXZ\x00' "$1" | head -n 1 | cut -d: -f1) || true
  # xz stops before the file does, and tail by a signal then.
  [[ -n $at ]] && xz -dc --single-stream < <(tail -c "+$((at + 1))" "$1") >"$2" || cp "$1" "$2"
}

unpack_modules() {
  local root=$1 to=$2 release number=100 name file
  release=$(ls "$root/lib/modules")
  mkdir "$to"
  depmod -b "$root" "$release"
  for name in "${wanted[@]}"; do
    # A part of the kernel itself is listed as `builtin`.
    modprobe -d "$root" -S "$release" --show-depends "$name" |
      sed -n 's/^insmod \([^ ]*\).*/\1/p'
  done | awk '!seen[$0]++' | while read -r file; do
    cp "$file" "$to/$((number++))-${file##*/}"
  done
}

# Downloads and unpacks it, or says why not.
fetch() {
  local package=$1 work=$2
  if ! (cd "$work" && apt-get -q download "$package") >"$work/log" 2>&1; then
    echo "apt-get download $package failed: $(grep -m 1 '^E:' "$work/log" || true)" >&2
    return 1
  fi
  dpkg-deb -x "$work"/*.deb "$work/root"
  mkdir "$work/guest"
  unpack_kernel "$work"/root/boot/vmlinuz-* "$work/guest/vmlinux"
  unpack_modules "$work/root" "$work/guest/modules"
  # Another process may have been faster.
  mv -T "$work/guest" "$cache/$package" 2>/dev/null || [[ -e $cache/$package ]]
}

package=$(wanted_package) || true
if [[ -z $package ]]; then
  echo "apt knows no linux-image-amd64 (apt-get update)" >&2
elif [[ ! -e $cache/$package ]]; then
  mkdir -p "$cache"
  work=$(mktemp -d "$cache/new.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  # In a shell of its own, where the first failure ends it.
  (fetch "$package" "$work") & wait $! || package=
fi
[[ -n $package ]] || package=$(newest_here) || true
if [[ -z $package ]]; then
  echo "none is in $cache" >&2
  exit 1
fi
echo "$cache/$package"
