#!/bin/sh
# clang_tidy.sh ROOT BUILD: checks that clang-tidy reports nothing about the changed sources. These
# are the sources that differ from the commit or branch in RANKCHECK_BASE.
set -eu
cd "$1"
skip() { echo "skipped: $*"; exit 0; }

[ -n "${RANKCHECK_BASE-}" ] || skip 'RANKCHECK_BASE names no commit to compare with'
command -v clang-tidy >/dev/null || skip 'clang-tidy is not installed: apt-get install clang-tidy'
base=$(git merge-base HEAD "$RANKCHECK_BASE")
changed=$(git diff --name-only --diff-filter=d "$base" -- \
  'reference/*.cpp' 'gpu/*.cpp' 'harness/*.cpp' 'cases/*.cpp' 'tests/*.cpp')
[ -n "$changed" ] || skip "no source differs from $base"
# clang-tidy needs a compile command for each source, which a unity build does not have.
cmake --preset release -B "$2/clang-tidy" -D CMAKE_UNITY_BUILD=OFF >/dev/null
cmake --build "$2/clang-tidy" --target rankcheck_commit >/dev/null
printf '%s\n' "$changed" | xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$2/clang-tidy"
