#!/bin/sh
# outside.sh BUILD FOLDER CXX: installs the programs of BUILD into FOLDER, and makes a project there
# that uses the installed files alone. Its tests have to pass, to pass again, and to fail once a bug
# is planted.
set -eu
build=$1
folder=$2
cxx=$3

if ! command -v "$cxx" >/dev/null || ! command -v patchelf >/dev/null; then
  echo "skipped: there is no C++ compiler, or no patchelf, which the installation needs"
  exit 0
fi
rm -rf "$folder"
mkdir -p "$folder/project"
cmake --install "$build" --prefix "$folder/first" >"$folder/install.log"
# The installed folder may be moved, also to a path with a space.
mv "$folder/first" "$folder/a prefix"
cd "$folder/project"

cat >mine.cpp <<'END'
#include <algorithm>
#include <cstring>
#include <iomanip>  // It has std::quoted, which is a trap for names of the headers.

#include <rankcheck/subject.hpp>

#include "board.hpp"

int main(int argc, char** argv) {
  rankcheck::Subject subject("mine");
  subject.types("uint32 f32 f64").version("mine", "1.0");
  subject.group([](const std::vector<int>& ranks) { return Board(ranks.size()); });
  subject.all_gather([](const rankcheck::Call& call, rankcheck::Buffer send, auto recv) {
    Board& board = call.group<Board>();
    board.sent[call.rank] = send;
    board.meet();
    for (int q = 0; q < call.size; ++q) {
      if (send.bytes() > 0) std::memcpy(recv[q].data(), board.sent[q].data(), send.bytes());
    }
    board.meet();
  });
  return subject.serve(argc, argv);
}
END
cat >board.hpp <<'END'
#pragma once
#include <condition_variable>
#include <mutex>
#include <vector>

#include <rankcheck/subject.hpp>

struct Board {
  explicit Board(std::size_t members) : sent(members) {}
  void meet() {
    std::unique_lock<std::mutex> lock(mutex);
    const std::size_t now = turn;
    if (++waiting == sent.size()) {
      waiting = 0;
      ++turn;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return now != turn; });
  }
  std::vector<rankcheck::Buffer> sent;
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t waiting = 0;
  std::size_t turn = 0;
};
END
# Several sources of one program may include the header.
echo '#include "board.hpp"' >other.cpp
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(mine CXX)
enable_testing()
find_package(rankcheck 0.1 REQUIRED)
add_executable(mine mine.cpp other.cpp)
target_link_libraries(mine PRIVATE rankcheck::subject)
rankcheck_add_test(NAME gathers SUBJECT mine OPERATION all_gather CASES 30 TIME_BUDGET 60
  LABELS fast mine LOCKS board)
rankcheck_add_test(NAME covers SUBJECT "'$<TARGET_FILE:mine>' --ranks {ranks}" RANKS 2..3
  OPERATION all_gather CASES 60 REQUIRE all_gather/f32/none all_gather/uint32/none
  OPTIONS --seed 7 --property agrees_with_reference)
END

# Runs ctest and expects its status to be 0 (passes) or not (fails).
expect() {
  what=$1
  shift
  status=0
  ctest --test-dir build --output-on-failure "$@" >ctest.log 2>&1 || status=$?
  case $what$status in
    passes0 | fails[1-9]) ;;
    *) echo "expected that ctest $what, found status $status:"; cat ctest.log; exit 1 ;;
  esac
}
# Expects a line of ctest.log.
says() {
  grep -q -e "$1" ctest.log || { echo "expected '$1', found:"; cat ctest.log; exit 1; }
}

cmake -S . -B build -D CMAKE_CXX_COMPILER="$cxx" -D CMAKE_PREFIX_PATH="$folder/a prefix" \
  -D CMAKE_CXX_FLAGS="-Wall -Wextra -Werror=return-type" >configure.log
cmake --build build >build.log
expect passes
says '100% tests passed, 0 tests failed out of 2'
expect passes -L fast
says '0 tests failed out of 1'
grep -q '"verdict": "passed"' build/rankcheck/gathers/report.json
ctest --test-dir build --show-only=json-v1 >tests.json
grep -q '"RESOURCE_LOCK"' tests.json

# The lines on the page make a project, too.
page=$(realpath "$(dirname "$0")/../../../../harness/client/cpp/README.md")
mkdir page
cp mine.cpp board.hpp page
{
  echo 'cmake_minimum_required(VERSION 3.16)'
  echo 'project(page CXX)'
  sed -n '/^```cmake$/,/^```$/{/^```/!p}' "$page"
} >page/CMakeLists.txt
cmake -S page -B page/build -D CMAKE_CXX_COMPILER="$cxx" -D CMAKE_PREFIX_PATH="$folder/a prefix" \
  >configure.log
cmake --build page/build >build.log
ctest --test-dir page/build -N -L gpu >ctest.log
says 'Total Tests: 1$'

# A bug: the rows of a group of several ranks are off by one.
sed 's/recv\[q\]/recv[(q + 1) % call.size]/' mine.cpp >planted.cpp
! cmp -s mine.cpp planted.cpp
mv planted.cpp mine.cpp
cmake --build build >build.log
expect fails
says "rankcheck' replay '{"
says 'falsified all_gather/mine/'
says '0% tests passed, 2 tests failed out of 2'

# Mistakes in CMakeLists.txt are told.
refuses() {
  cp CMakeLists.txt kept
  echo "rankcheck_add_test($1)" >>CMakeLists.txt
  if cmake -S . -B build >refused.log 2>&1 || ! tr -s ' \n' ' ' <refused.log | grep -q -e "$2"; then
    echo "expected '$2', found:"
    cat refused.log
    exit 1
  fi
  mv kept CMakeLists.txt
}
refuses 'NAME x' 'expected SUBJECT'
refuses 'NAME x SUBJECT mine RANKS many' 'RANKS: got many, expected A..B'
refuses 'NAME x SUBJECT mine TIME_BUDGET -1' 'TIME_BUDGET: got -1, expected whole seconds'
refuses 'x NAME x SUBJECT mine' 'unknown arguments: x'
echo "a project outside of this tree: $(grep -c . CMakeLists.txt) lines of CMake"
