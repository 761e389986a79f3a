#!/bin/sh
# Makes the reports of this folder anew: make.sh BUILD MPICH-BUILD. The second folder has a build
# with MPICH 4.0.2, see cases/backends/README.md. Then RANKCHECK_WRITE_GOLDEN=1 lets the test write
# the texts, and `git diff` shows what changed.
set -eu
build=$(realpath "$1")
mpich=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run NAME ARGS: keeps the report as NAME. Failures are expected.
run() {
  name=$1
  shift
  "$build/rankcheck" run --report "$name" "$@" >/dev/null || [ $? -lt 2 ]
  mkdir -p "$here/$name"
  cp "$name/report.json" "$here/$name/"
}

reduce="--operation all_reduce --property agrees_with_reference --ranks 1..3 --cases 40"
run open_mpi $reduce --type uint8,int32 --backend mpi
ci="ci --backend mpi --property agrees_with_reference"
run open_mpi_ci $ci
build=$mpich RANKCHECK_MPIEXEC=/usr/bin/mpiexec.mpich run mpich_ci $ci

cp "$build/subjects/every_operation" .
run right $reduce --type int32 --backend command:./every_operation
run planted_bug $reduce --type int32 --backend 'command:./every_operation --bug last_element'

broadcast="--operation broadcast --property agrees_with_reference --ranks 1..3 --cases 20"
run all_backends $broadcast --type uint8
RANKCHECK_MPIEXEC=/no/mpiexec run no_mpi $broadcast --type uint8

# bench NAME: two measurements of all_reduce, beside the report NAME.
bench() {
  mkdir -p "$here/$1"
  cp "$here/open_mpi/report.json" "$here/$1/"
  "$build/rankcheck" bench --backend mpi --filter 'large/mpi/all_reduce/*blocking/*' --bytes 65536 \
    --min-time 0.1 --repetitions 5 --json "$here/$1/bench.json" >/dev/null
}
bench fast
# Blocking calls then use a ring with pieces of 512 bytes. Calls that do not block are as before.
export OMPI_MCA_coll_tuned_use_dynamic_rules=1
export OMPI_MCA_coll_tuned_allreduce_algorithm=5
export OMPI_MCA_coll_tuned_allreduce_algorithm_segmentsize=512
bench slow
