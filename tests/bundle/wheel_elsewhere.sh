#!/bin/sh
# wheel_elsewhere.sh ROOT FOLDER SOURCES: makes a wheel of the bundle in the root folder ROOT,
# installs it for another release of Python than the one that made it, and checks a subject from
# there. Prints that the test is skipped if there is no such Python here, or no numpy for it.
set -eu
bundle=$(echo "$1/a folder"/rankcheck-*)
folder=$2
sources=$3
rm -rf "$folder"
mkdir -p "$folder"
maker=${RANKCHECK_PYTHON:-python3}
release='import sys; print("%d.%d" % sys.version_info[:2])'
unset RANKCHECK RANKCHECK_PYTHON PYTHONPATH

# Prints the Pythons that the package runs with, of other releases, the newest first.
others() {
  first=$("$maker" -c "$release")
  for python in python3.9 python3.10 python3.11 python3.12 python3.13 python3.14 \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3; do
    found=$("$python" -c "import sys, venv, ensurepip; assert sys.version_info >= (3, 9)
$release" 2>/dev/null) || continue
    [ "$found" = "$first" ] || echo "$found $python"
  done | sort -rV
}

others >"$folder/others"
[ -s "$folder/others" ] ||
  { echo "skipped: there is no other release of Python here than that of $maker"; exit 0; }
while read -r found python; do
  rm -rf "$folder/venv"
  "$python" -m venv --system-site-packages "$folder/venv"
  "$folder/venv/bin/python" -c 'import numpy' 2>/dev/null ||
    "$folder/venv/bin/python" -m pip install -q --only-binary :all: --timeout 5 --retries 0 numpy \
      >"$folder/pip.log" 2>&1 || continue
  wheel=$("$maker" "$sources/cases/bundle/wheel.py" "$bundle" "$folder")
  "$folder/venv/bin/python" -m pip install -q --no-index --no-deps "$wheel"
  cd "$folder"
  venv/bin/python venv/bin/rankcheck --version
  venv/bin/python "$sources/tests/bundle/check_wheel.py" "$sources" "$found"
  echo "a wheel of Python $("$maker" -c "$release") works in Python $found"
  exit 0
done <"$folder/others"
echo "skipped: pip cannot install numpy for $(cut -d' ' -f1 "$folder/others" | xargs)"
