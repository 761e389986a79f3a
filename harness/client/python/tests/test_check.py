"""check(): the command that it runs, and what it makes of a report. The program is a stand-in."""
from __future__ import annotations

import json
import stat
import sys

import pytest

import rankcheck
from rankcheck.program import command_of

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
    assert got[:3] == ["run", "smoke", "--report"]
    options = ["--operation", "all_*", "--time-budget", "5", "--fail-fast"]
    command = f"command:{sys.executable} 'my file.py' --ranks {{ranks}}"
    assert got[4:] == [*options, "--backend", command]


def test_throws_the_reason_and_the_replay_line(stand_in):
    stand_in([PASSED, FALSIFIED], 1)
    with pytest.raises(AssertionError) as error:
        rankcheck.check("file.py")
    assert str(error.value) == (
        "falsified: all_reduce/mine/command/agrees_with_reference\n"
        "  differs from the reference\n"
        """  rankcheck replay '{"operation":"all_reduce","ranks":2}'"""
    )


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


def test_a_subject_is_served_by_the_package():
    mine = rankcheck.Subject("mine", rankcheck.processes(launcher="mpirun -n {ranks}"))
    words = f"mpirun -n {{ranks}} {sys.executable} -m rankcheck {__file__} mine"
    assert command_of(mine) == f"{words} --ranks {{ranks}}"
