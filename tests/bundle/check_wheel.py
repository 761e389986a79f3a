"""Checks one subject with the package that is installed: check_wheel.py SOURCES [RELEASE].

RELEASE is the release of Python that must run this, such as 3.12.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

import rankcheck

sources, *releases = sys.argv[1:]
for release in releases:
    assert "%d.%d" % sys.version_info[:2] == release, sys.version
assert rankcheck.__file__.startswith(sys.prefix), rankcheck.__file__
only = {"property": "agrees_with_reference", "cases": 5}
for file, operation, ranks in [
    ("cases/subjects/numpy_threads.py", "broadcast", "1..3"),
    ("harness/client/python/tests/subjects/in_processes.py", "all_reduce", "1..2"),
]:
    found = rankcheck.check(f"{sources}/{file}", operation=operation, ranks=ranks, **only)
    assert [each["verdict"] for each in found] == ["passed"], found

# pytest finds the plugin by the entry point of the wheel.
if importlib.util.find_spec("pytest"):
    with tempfile.TemporaryDirectory() as folder:
        test = os.path.join(folder, "test_wheel.py")
        with open(test, "w", encoding="utf-8") as opened:
            opened.write(
                "def test_threads(rankcheck):\n"
                f"    file = {sources + '/cases/subjects/numpy_threads.py'!r}\n"
                f"    rankcheck.check(file, operation='broadcast', ranks='1..3', **{only!r})\n"
            )
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
        done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
