#!/bin/bash
# Builds and runs the test of docs/your_first_test.md in a workspace of its own, which knows this
# repository by its path alone. First it holds the documents against the files that are built.
set -euo pipefail
cd "$(dirname "$0")"
here=$PWD
root=$(cd ../.. && pwd -P)

# documented FILE LANGUAGE HEAD: the block of FILE in this language whose first line is HEAD.
documented() {
  awk -v open="\`\`\`$2" -v head="$3" '
    $0 == open { getline; inside = ($0 == head) }
    $0 == "```" { inside = 0 }
    inside' "$root/$1"
}

# same DOCUMENT LANGUAGE FILE: the document prints the file, byte for byte.
same() {
  if ! diff -u --label "$1" --label "tests/consumer/$3" \
    <(documented "$1" "$2" "$(head -n 1 "$here/$3")") "$here/$3"; then
    echo "$1 does not print tests/consumer/$3 as it is" >&2
    exit 1
  fi
}

same docs/your_first_test.md cpp first_test.cc
same docs/your_first_test.md python WORKSPACE
same docs/your_first_test.md python BUILD
same docs/your_first_test.md text .bazelrc
same README.md cpp first_test.cc

folder=$(mktemp -d)
bazel=(bazel --output_base="$folder/output" --max_idle_secs=60)
clean_up() {
  (cd "$folder/consumer" && "${bazel[@]}" shutdown >/dev/null 2>&1) || true
  chmod -R u+w "$folder" # Bazel takes the right to write from what it made
  rm -rf "$folder"
}
trap clean_up EXIT

mkdir "$folder/consumer"
cp .bazelrc BUILD first_test.cc "$folder/consumer"
sed "s|/path/to/ringpost|$root|" WORKSPACE >"$folder/consumer/WORKSPACE"
cd "$folder/consumer"
# Unlike its user's, this build is not for speed.
"${bazel[@]}" test --noshow_progress --compilation_mode=fastbuild //...
