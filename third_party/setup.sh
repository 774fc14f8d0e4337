#!/bin/sh
# Installs the Debian packages that the build needs, and says which and why. Does nothing, at once,
# when all are there. With --no-install it names what is missing and fails.
set -eu

# One package a line, and what it is for. docs/dependencies.md says more.
packages() {
  cat <<'EOF'
bazel-bootstrap         the build system
pkg-config              finds the libraries
g++                     compiles everything
python3                 runs the test driver and the style checks
git                     names the commit, and the files to check
libboost1.81-dev        Asio and the header-only parts of Boost
libboost-test1.81-dev   the test framework
libboost-context1.81-dev  switches between simulated threads
libyaml-cpp-dev         reads configurations
libfmt-dev              formats text
libcli11-dev            reads command lines
nlohmann-json3-dev      writes and reads JSON
libbenchmark-dev        runs benchmarks
libnlopt-cxx-dev        fits parameters to measurements
libpcap-dev             writes captures of packets
libibverbs-dev          rdma-core, for real ConnectX NICs and for the byte contract's test
gnuplot-nox             draws the curves of a sweep
EOF
  # A user who only builds and runs does not need them; the checks of .ci/run do.
  [ "$with_checks" = no ] || cat <<'EOF'
clang                   checks that each include comes from a direct dependency
lld                     links what clang compiled
clang-format            checks the format
clang-tidy              finds suspicious code
qemu-system-x86         runs Linux rxe, which our live NIC talks to
busybox-static          the guest's programs
cpio                    makes the guest's file system
kmod                    finds the modules that the guest needs
xz-utils                unpacks the guest's kernel
iproute2                makes the guest's RDMA device
ibverbs-utils           programs of rdma-core that run on the virtual ConnectX
perftest                the same: the benchmarks of RDMA
ucx-utils               the same: UCX
libfabric-bin           the same: libfabric
strace                  shows which files a run on the virtual ConnectX touches
python3-pyverbs         rdma-core's own tests, run on the virtual ConnectX
rdma-core               the files of those tests
libopenmpi-dev          MPI: a sweep on several ranks; its test
openmpi-bin             starts the ranks
chromium                opens the report of a sweep
ibverbs-providers       the libmlx5 that they run on, and the guest's driver
EOF
}

install=yes
with_checks=no
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --checks) with_checks=yes ;;
    *)
      echo "setup.sh: unknown argument $argument; it knows --no-install and --checks" >&2
      exit 2
      ;;
  esac
done

if ! command -v dpkg-query >/dev/null 2>&1; then
  # Another distribution has these under other names: the build says what it does not find.
  command -v bazel >/dev/null 2>&1 && exit 0
  echo "setup.sh: this is no Debian; please install what provides:" >&2
  packages >&2
  exit 1
fi

names=$(packages | cut -d' ' -f1)
# shellcheck disable=SC2086  # One word a package.
installed=$(dpkg-query -W -f='${Status} ${binary:Package}\n' $names 2>/dev/null |
  sed -n 's/^install ok installed \([^:]*\).*/\1/p') || true
missing=
for name in $names; do
  case "
$installed
" in
    *"
$name
"*) ;;
    *) missing="$missing $name" ;;
  esac
done
[ -n "$missing" ] || exit 0

echo "Missing system packages:" >&2
for name in $missing; do
  packages | grep "^$name " | sed 's/^/  /' >&2
done
if [ "$install" = no ]; then
  echo "Install them with: apt-get install$missing" >&2
  exit 1
fi

sudo=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null 2>&1; then
    echo "setup.sh: neither root nor sudo is here; as root: apt-get install$missing" >&2
    exit 1
  fi
  sudo="sudo"
  # Without a terminal nobody could type a password.
  [ -t 0 ] || sudo="sudo -n"
fi
echo "Installing them." >&2
options="-qq -o DPkg::Lock::Timeout=600"
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get $options update </dev/null >&2
# shellcheck disable=SC2086
$sudo env DEBIAN_FRONTEND=noninteractive apt-get $options install -y --no-install-recommends \
  $missing </dev/null >&2

# A running server would not look again for what was missing.
cd "$(dirname "$0")/.."
bazel shutdown >/dev/null 2>&1 || true
