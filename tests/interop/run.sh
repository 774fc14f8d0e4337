#!/bin/bash
# Our live NIC and Linux rxe as each other's peers: boots a guest of QEMU with Debian's kernel, and
# runs rxe_test against it. docs/interop.md says more.
#
#   tests/interop/run.sh [ARGUMENT OF THE TEST PROGRAM]...
#
# The last line is 'N passed, N failed, N skipped'. Where QEMU or a kernel is missing, it says so
# and counts as one skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/interop
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ringpost/interop

skip() {
  echo "SKIPPED: $1"
  echo "0 passed, 0 failed, 1 skipped"
  exit 0
}

for program in qemu-system-x86_64:qemu-system-x86 busybox:busybox-static cpio:cpio depmod:kmod \
  xz:xz-utils rdma:iproute2; do
  command -v "${program%:*}" >/dev/null || skip "${program%:*} is missing; apt-get install ${program#*:}"
done
[[ -e /etc/libibverbs.d/rxe.driver ]] ||
  skip "the rxe provider is missing; apt-get install ibverbs-providers"

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
kernel=$($here/kernel.sh "$cache" 2>"$logs/kernel.log") ||
  skip "there is no kernel for the guest: $(paste -sd ';' "$logs/kernel.log")"

bazel build --noshow_progress //$here:rxe_test //$here:verbs_peer
# Not .bazel/bin, which follows whatever configuration was built last.
built=$(echo .bazel/out/*-opt/bin/$here)
$here/initrd.sh "$kernel" "$built/verbs_peer" "$logs/initrd"

status=0
RINGPOST_GUEST_KERNEL=$kernel/vmlinux RINGPOST_GUEST_INITRD=$logs/initrd \
  RINGPOST_GUEST_LOGS=$logs XML_OUTPUT_FILE=$logs/test.xml \
  BOOST_TEST_COLOR_OUTPUT=no timeout --kill-after=10 300 "$built/rxe_test" "$@" || status=$?
if ((status != 0)); then
  kept=$cache/failed
  rm -rf "$kept"
  mkdir -p "$kept"
  cp "$logs"/*.log "$logs"/frames.pcap "$kept" 2>/dev/null || true
  echo "exit status $status; the guest's console, also in $kept, beside frames.pcap:"
  tail -n 50 "$logs/console.log" || true
fi
python3 - "$logs/test.xml" "$status" <<'EOF'
import sys
sys.path.insert(0, "tests")
from run import count_cases
passed, failed, skipped = count_cases(sys.argv[1])
failed = max(failed, int(sys.argv[2] != "0"))
print(f"{passed} passed, {failed} failed, {skipped} skipped")
sys.exit(1 if failed else 0)
EOF
