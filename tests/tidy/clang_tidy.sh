#!/bin/sh
# clang_tidy.sh ROOT BUILD: checks that clang-tidy reports nothing about the changed sources. These
# are the sources that differ from the commit or branch in RANKCHECK_BASE, by default the branch
# main, and sources that git does not know yet. Headers are checked where these sources include
# them.
set -eu
cd "$1"
skip() { echo "skipped: $*"; exit 0; }

command -v clang-tidy >/dev/null || skip 'clang-tidy is not installed: apt-get install clang-tidy'
named=${RANKCHECK_BASE:-main}
base=$(git merge-base HEAD "$named" 2>/dev/null) ||
  skip "no commit here is the base of $named: RANKCHECK_BASE names another one"
sources="reference/*.cpp gpu/*.cpp harness/*.cpp cases/*.cpp tests/*.cpp"
set -f
# shellcheck disable=SC2086
changed=$(
  git diff --name-only --diff-filter=d "$base" -- $sources
  git ls-files --others --exclude-standard -- $sources
)
set +f
[ -n "$changed" ] || skip "no source differs from $base"
# clang-tidy needs a compile command for each source, which a unity build does not have, and cannot
# read GCC's precompiled headers.
cmake --preset release -B "$2/clang-tidy" -D CMAKE_UNITY_BUILD=OFF \
  -D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON >/dev/null
cmake --build "$2/clang-tidy" --target rankcheck_commit >/dev/null
printf '%s\n' "$changed" | xargs -n 1 -P "$(nproc)" clang-tidy --quiet \
  --extra-arg=-Wno-unused-command-line-argument -p "$2/clang-tidy"
