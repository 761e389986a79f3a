"""check(): the command that it runs, and what it makes of a report. The program is a stand-in."""
from __future__ import annotations

import json
import os
import stat
import sys

import pytest

import rankcheck
from rankcheck import installed
from rankcheck.program import backend_of, list_units, run_program

STAND_IN = """#!{python}
import json, os, sys
words = sys.argv[1:]
folder = words[words.index("--report") + 1]
os.makedirs(folder)
json.dump({{"findings": {findings}, "causes": {causes}}}, open(os.path.join(folder, "report.json"), "w"))
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
    def write(findings, status, causes=()):
        file = tmp_path / "rankcheck"
        words = str(tmp_path / "words.json")
        text = STAND_IN.format(
            python=sys.executable,
            findings=findings,
            causes=list(causes),
            status=status,
            words=words,
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


def test_failures_of_one_cause_are_one_paragraph(stand_in):
    failed = [{**PASSED, "id": each, "verdict": "hung"} for each in "abcdefg"]
    stand_in(failed, 1, [{"line": "", "units": list("bacde")}, {"line": "", "units": ["f"]}])
    with pytest.raises(AssertionError) as error:
        rankcheck.check("file.py")
    assert str(error.value) == (
        "hung: b\n  4 more units, probably with this cause: a, c, d and 1 more\n\nhung: f\n\nhung: g"
    )


def test_throws_if_the_run_could_not_be_made(stand_in, tmp_path, monkeypatch):
    stand_in([PASSED, SKIPPED], 2)
    with pytest.raises(RuntimeError, match="rankcheck ended with status 2"):
        rankcheck.check("file.py")
    monkeypatch.setenv("RANKCHECK", "/bin/false")
    with pytest.raises(RuntimeError, match="status 1 and left no report"):
        rankcheck.check("file.py")
    monkeypatch.setenv("RANKCHECK", str(tmp_path / "missing"))
    with pytest.raises(FileNotFoundError, match="is not there, expected the program rankcheck"):
        rankcheck.check("file.py")


def test_the_command_of_a_wheel_without_its_program_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(installed, "PROGRAM", str(tmp_path / "rankcheck"))
    monkeypatch.setenv("RANKCHECK_PYTHON", "python3")
    package = os.path.dirname(os.path.dirname(rankcheck.__file__))
    with pytest.raises(SystemExit) as error:
        installed.main()
    assert str(error.value) == (
        f"{tmp_path}/rankcheck: No such file or directory: expected the program of the wheel: remove "
        f"{package} from PYTHONPATH, or start a built program by its own path"
    )


def test_throws_if_nothing_was_judged(stand_in):
    cells = [f"int8/op{i}" for i in range(8)]
    refused = {**SKIPPED, "reason": "not_supported", "refused_cells": cells}
    stand_in([refused, SKIPPED], 2)
    with pytest.raises(RuntimeError) as error:
        rankcheck.check("file.py")
    assert str(error.value) == (
        "nothing was judged, because all units of the run were skipped: b: not_supported: the "
        f"subject does not take {', '.join(cells[:6])} and 2 more"
    )


def test_a_subject_without_operations_is_not_checked(stand_in):
    words = stand_in([PASSED], 0)
    with pytest.raises(ValueError) as error:
        rankcheck.check(rankcheck.Subject("mine"))
    assert str(error.value) == (
        "mine offers no operation: decorate a function, for example with @subject.all_reduce"
    )
    assert not os.path.exists(words)


def test_a_process_that_serves_a_subject_checks_nothing(stand_in, tmp_path, monkeypatch):
    words = stand_in([PASSED], 0)
    monkeypatch.setenv("RANKCHECK_SOCKET", str(tmp_path / "socket"))
    line = sys._getframe().f_lineno + 6
    for what, call in [
        ("check", rankcheck.check),
        ("list_units", list_units),
    ]:
        with pytest.raises(RuntimeError) as error:
            call("file.py")
        assert str(error.value) == (
            f"{os.path.basename(__file__)}:{line}: {what}() is called while rankcheck runs this "
            'file: put the call under `if __name__ == "__main__":`'
        )
    with pytest.raises(RuntimeError, match=r"run_program\(\) is called while rankcheck runs"):
        run_program(["version"])
    assert not os.path.exists(words)


def test_a_subject_is_found_by_its_file_and_name():
    mine = rankcheck.Subject("mine")
    mine.barrier(lambda call: None)
    assert backend_of(mine) == f"python:{__file__} mine"
