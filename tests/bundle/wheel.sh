#!/bin/sh
# wheel.sh ROOT FOLDER SOURCES: makes a wheel of the bundle in the root folder ROOT, installs it in
# a new virtual environment in FOLDER, and checks a subject from there. Prints that the test is
# skipped if no Python here has numpy, venv and pip.
set -eu
bundle=$(echo "$1/a folder"/rankcheck-*)
folder=$2
sources=$3
rm -rf "$folder"
mkdir -p "$folder"

for python in ${RANKCHECK_PYTHON:-python3 /usr/bin/python3} ''; do
  [ -n "$python" ] ||
    { echo 'skipped: apt-get install python3-numpy python3-venv python3-pip'; exit 0; }
  "$python" -c 'import numpy, venv, ensurepip' >/dev/null 2>&1 && break
done
wheel=$("$python" "$sources/cases/bundle/wheel.py" "$bundle" "$folder")
case $wheel in
  "$folder"/rankcheck-*-py3-none-manylinux_2_*_*.whl) ;;
  *) echo "expected the path of a wheel, got $wheel"; exit 1 ;;
esac

# numpy is the one of the system, so that nothing is downloaded.
"$python" -m venv --system-site-packages "$folder/a venv"
cd "$folder"
"$folder/a venv/bin/python" -m pip install -q --no-index --no-deps "$wheel"
unset RANKCHECK RANKCHECK_PYTHON PYTHONPATH
"a venv/bin/python" "$folder/a venv/bin/rankcheck" --version
"a venv/bin/python" "$sources/tests/bundle/check_wheel.py" "$sources"

# A file that is not in RECORD, or whose sum differs, would be missed when the wheel is removed.
"a venv/bin/python" - "$wheel" <<'END'
import base64, csv, hashlib, io, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    (record,) = [name for name in wheel.namelist() if name.endswith("/RECORD")]
    rows = {row[0]: row[1] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
    assert set(rows) == set(wheel.namelist()), set(rows) ^ set(wheel.namelist())
    for name in set(rows) - {record}:
        digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest())
        assert rows[name] == "sha256=" + digest.decode().rstrip("="), name
END
