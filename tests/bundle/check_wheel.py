"""Checks one subject with the package that is installed: check_wheel.py SOURCES [RELEASE].

RELEASE is the release of Python that must run this, such as 3.12.
"""
import sys

import rankcheck

sources, *releases = sys.argv[1:]
for release in releases:
    assert "%d.%d" % sys.version_info[:2] == release, sys.version
assert rankcheck.__file__.startswith(sys.prefix), rankcheck.__file__
found = rankcheck.check(
    sources + "/cases/subjects/numpy_threads.py",
    operation="broadcast",
    property="agrees_with_reference",
    ranks="1..3",
    cases=5,
)
assert [each["verdict"] for each in found] == ["passed"], found
