#!/bin/sh
# Prints the program of a case, builds it with a compiler wrapper, runs it, and prints its status.
# usage: emit.sh RANKCHECK FOLDER_OF_WORKER CASE MPICC MPIEXEC FOLDER
set -e
ln -f "$1" "$2/rankcheck"
mkdir -p "$6"
RANKCHECK_MPIEXEC=$5 "$2/rankcheck" replay --emit c "$3" > "$6/program.c"
"$4" -std=gnu99 -Wall -Wextra -Werror -o "$6/program" "$6/program.c" -lm
ranks=$(sed -n 's/.*mpiexec -n \([0-9]*\).*/\1/p' "$6/program.c")
status=0
timeout 100 "$5" -n "$ranks" "$6/program" || status=$?
echo "status $status"
