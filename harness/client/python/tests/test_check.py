"""check(): the command that it runs, and what it makes of a report. The program is a stand-in."""
from __future__ import annotations

import json
import os
import stat
import sys

import pytest

import rankcheck
from rankcheck.program import backend_of

STAND_IN = """#!{python}
import json, os, sys
words = sys.argv[1:]
folder = words[words.index("--report") + 1]
os.makedirs(folder)
json.dump({{"findings": {findings}}}, open(os.path.join(folder, "report.json"), "w"))
json.dump(words, open({words!r}, "w"))
sys.exit({status})
"""
PASSED = {"id": "a", "verdict": "passed"}
SKIPPED = {"id": "b", "verdict": "skipped", "reason": "no_device"}
FALSIFIED = {
    "id": "all_reduce/mine/command/agrees_with_reference",
    "verdict": "falsified",
    "reason": "differs from the reference",
    "minimal": {"operation": "all_reduce", "ranks": 2},
}


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    def write(findings, status):
        file = tmp_path / "rankcheck"
        words = str(tmp_path / "words.json")
        text = STAND_IN.format(
            python=sys.executable, findings=findings, status=status, words=words
        )
        file.write_text(text)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("RANKCHECK", str(file))
        return words

    return write


def test_returns_the_findings(stand_in):
    words = stand_in([PASSED, SKIPPED], 0)
    findings = rankcheck.check("my file.py", operation="all_*", time_budget=5, fail_fast=True)
    assert [each["id"] for each in findings] == ["a", "b"]
    got = json.load(open(words))
    assert got[:2] == ["run", "smoke"]
    assert got[-2] == "--report"
    options = ["--operation", "all_*", "--time-budget", "5", "--fail-fast"]
    assert got[2:-2] == [*options, "--backend", "python:'my file.py'"]


def test_throws_the_reason_and_the_replay_line(stand_in, monkeypatch):
    stand_in([PASSED, FALSIFIED], 1)
    monkeypatch.setattr("shutil.which", lambda name: sys.executable if name == "python3" else name)
    program = os.environ["RANKCHECK"]
    with pytest.raises(AssertionError) as error:
        rankcheck.check("file.py")
    assert str(error.value) == (
        "falsified: all_reduce/mine/command/agrees_with_reference\n"
        "  differs from the reference\n"
        f"""  {program} replay '{{"operation":"all_reduce","ranks":2}}'"""
    )
    monkeypatch.setattr("shutil.which", lambda name: name)
    with pytest.raises(AssertionError, match=f"  RANKCHECK_PYTHON={sys.executable} .* replay "):
        rankcheck.check("file.py")


def test_throws_if_the_run_could_not_be_made(stand_in, tmp_path, monkeypatch):
    stand_in([SKIPPED], 2)
    with pytest.raises(RuntimeError, match="rankcheck ended with status 2"):
        rankcheck.check("file.py")
    monkeypatch.setenv("RANKCHECK", "/bin/false")
    with pytest.raises(RuntimeError, match="status 1 and left no report"):
        rankcheck.check("file.py")
    monkeypatch.setenv("RANKCHECK", str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError, match="expected the program rankcheck"):
        rankcheck.check("file.py")


def test_a_subject_is_found_by_its_file_and_name():
    mine = rankcheck.Subject("mine of all")
    assert backend_of(mine) == f"python:{__file__} 'mine of all'"
