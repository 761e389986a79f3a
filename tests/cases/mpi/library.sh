#!/bin/sh
# library.sh TREE FOLDER KNOWN PIN VERDICT PACKAGE...
# Runs the lines by which the page of backends checks another MPI library, for these packages, with
# few cases and the file KNOWN of cases/known/. Then the pinned case PIN must have this verdict.
set -eu
tree=$1 folder=$2 known=$3 pin=$4 verdict=$5
shift 5
rm -rf "$folder"
mkdir -p "$folder"
cd "$tree"
sed -n '/^### Another MPI library/,/^Such a/s/^    //p' cases/backends/README.md |
  sed "s|theirs|$folder/theirs|g; s|mpich==[0-9.]*|$*|; s|mpich-[0-9.]*$|$folder/worker|" \
    >"$folder/lines.sh"
[ "$(wc -l <"$folder/lines.sh")" -eq 3 ] || { echo 'the page has not three lines'; exit 1; }
line() { sed -n "$1p" "$folder/lines.sh"; }
sh -ec "$(line 1)" >"$folder/install.log" 2>&1 ||
  { echo "skipped: pip cannot install $*: $(tail -n 1 "$folder/install.log")"; exit 0; }
sh -ec "$(line 2)"
sh -ec "$(line 3) --property agrees_with_reference --operation all_reduce --algorithm blocking \
  --cases 4 --known cases/known/$known --report $folder/report"
case=$(sed "s|\"mpi\"|\"mpi:$folder/worker\"|" "cases/collectives/$pin.json")
build/release/rankcheck replay "$case" >"$folder/replay.log" || true
cat "$folder/replay.log"
grep -q "^verdict  *$verdict" "$folder/replay.log" || { echo "expected $verdict"; exit 1; }
