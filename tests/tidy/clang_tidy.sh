#!/bin/sh
# clang_tidy.sh ROOT BUILD: clang-tidy has nothing to say of the sources that differ from the commit
# or branch that RANKCHECK_BASE names.
set -eu
cd "$1"
skip() { echo "skipped: $*"; exit 0; }

[ -n "${RANKCHECK_BASE-}" ] || skip 'RANKCHECK_BASE names no commit to compare with'
command -v clang-tidy >/dev/null || skip 'clang-tidy is not installed: apt-get install clang-tidy'
base=$(git merge-base HEAD "$RANKCHECK_BASE")
changed=$(git diff --name-only --diff-filter=d "$base" -- \
  'reference/*.cpp' 'gpu/*.cpp' 'harness/*.cpp' 'cases/*.cpp' 'tests/*.cpp')
[ -n "$changed" ] || skip "no source differs from $base"
# clang-tidy wants the command of each source, which joined sources do not have.
cmake --preset release -B "$2/clang-tidy" -D CMAKE_UNITY_BUILD=OFF >/dev/null
cmake --build "$2/clang-tidy" --target rankcheck_commit >/dev/null
printf '%s\n' "$changed" | xargs -n 1 -P "$(nproc)" clang-tidy --quiet -p "$2/clang-tidy"
