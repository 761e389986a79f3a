#!/bin/sh
# content.sh SOURCES ROOT PROGRAM...: checks the bundle in the root folder ROOT. It must have these
# programs, all data that are among the sources, and licences where dpkg has them.
set -eu
sources=$1
bundle=$(echo "$2/a folder"/rankcheck-*)
shift 2

for program; do
  [ -x "$bundle/$program" ] || { echo "expected the program $program"; exit 1; }
done
cd "$sources"
for file in *.md reference/*.md reference/*/*.md gpu/*.md gpu/*/*.md harness/*.md harness/*/*.md \
  cases/*.md cases/*/*.md cases/*/*/*.md tests/*.md \
  harness/*/*/*.md cases/subjects/*.* \
  reports/*.md reports/hardware/*.md reports/schema.json \
  cases/suites/*.json cases/known/*.json cases/*/*/pinned/*.json gpu/plan/topologies/*; do
  cmp "$file" "$bundle/share/rankcheck/$file"
done
for file in harness/client/cpp/rankcheck/*.hpp harness/client/cpp/rankcheck/*/*.hpp; do
  cmp "$file" "$bundle/include/${file#harness/client/cpp/}"
done
for file in rankcheckConfig rankcheckConfigVersion rankcheckAddTest; do
  [ -s "$bundle/share/cmake/rankcheck/$file.cmake" ] || { echo "expected $file.cmake"; exit 1; }
done
command -v dpkg-query >/dev/null || exit 0
# Libraries, and headers that are compiled in.
for package in libhdf5 libcairo2 libzip libcli11-dev nlohmann-json3-dev librapidcheck-dev; do
  ls "$bundle/share/rankcheck/licenses/$package"*/copyright
done
