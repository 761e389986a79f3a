#!/bin/sh
# run.sh PACKAGE MODULES COMMAND...: runs `python3 -m COMMAND...` in the folder PACKAGE, with the
# first Python 3 that has all MODULES, a list with spaces between them. RANKCHECK_PYTHON in the
# environment names another Python. If no Python has the modules, prints that the test is skipped.
set -eu
cd "$1"
modules=$2
shift 2

# Neither the sources nor the home folder get files from a test.
export PYTHONDONTWRITEBYTECODE=1 PYTHONNOUSERSITE=1
# Several processes with several threads each would wait for one another.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

imports=$(printf 'import %s\n' $modules)
for python in ${RANKCHECK_PYTHON:-python3 /usr/bin/python3}; do
  if "$python" -c "$imports" >/dev/null 2>&1; then
    RANKCHECK_PYTHON=$python
    export RANKCHECK_PYTHON
    exec "$python" -m "$@"
  fi
done
echo "skipped: no Python 3 here has the modules $modules: install them, or name a Python that has" \
  "them in RANKCHECK_PYTHON"
