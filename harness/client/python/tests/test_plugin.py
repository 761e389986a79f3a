"""The plugin for pytest. The program is a stand-in that lists units and writes a journal."""
from __future__ import annotations

import json
import os
import stat
import sys

import pytest
from fake_harness import HERE
from fork_server import PYTHON

# The stand-in finds a unit wrong if its id contains "wrong". It waits for a file before the
# findings of units whose ids contain "late". Its subject ends badly after units whose ids contain
# "crash". A suite of units whose ids contain "cycle" repeats itself, and only its first round finds
# what is wrong. It notes each start in the file `starts`.
STAND_IN = """#!{python}
import json, os, signal, sys
here, words = {here!r}, sys.argv[1:]
properties = open(os.path.join(here, "properties")).read().split()
units = [dict(id="broadcast/mine/python/" + each) for each in properties]
open(os.path.join(here, "starts"), "a").write(json.dumps(words) + "\\n")
if "--list-units" in words:
    if properties == ["none"]:
        print("no unit can be found", file=sys.stderr)
        sys.exit(2)
    print(json.dumps(units))
    sys.exit(0)
wanted = [words[i + 1] for i, word in enumerate(words) if word == "--unit"]
folder = words[words.index("--report") + 1]
os.makedirs(folder)
def interrupted(number, frame):
    open(os.path.join(here, "interrupted"), "w").close()
    sys.exit(2)
signal.signal(signal.SIGINT, interrupted)
with open(os.path.join(folder, "journal.jsonl"), "w") as journal:
    def write(entry):
        journal.write(json.dumps(entry) + "\\n")
        journal.flush()
    cycles = any("cycle" in each for each in wanted)
    write(dict(cycles=cycles))
    findings = []
    for each in [unit["id"] for unit in units if unit["id"] in wanted]:
        if "late" in each:
            signal.pause()
        if "lost" in each:
            sys.exit(2)
        finding = dict(id=each, verdict="passed", unit=dict(backend="mine"))
        if "wrong" in each:
            finding.update(verdict="falsified", reason="it differs", minimal=dict(ranks=2))
        if "errored" in each:
            finding.update(verdict="errored", reason="no memory")
        if "skipped" in each:
            finding.update(verdict="skipped", reason="no_device")
        if "refused" in each:
            finding.update(verdict="skipped", reason="not_supported", refused_cells=["f32/sum"])
        if "over" in each:
            finding.update(verdict="skipped", reason="time_over")
        findings.append(finding)
        write(dict(finding=finding))
        if cycles:
            write(dict(finding=dict(finding, verdict="passed")))
        if "wrong" in each and "--fail-fast" in sys.argv:
            write(dict(ending="failed_fast"))
            sys.exit(1)
    if "crash" in finding["id"]:
        write(dict(finding=dict(finding, verdict="crashed", reason="it ended by signal 11")))
with open(os.path.join(folder, "report.json"), "w") as report:
    failed = [each["id"] for each in findings if each["verdict"] == "falsified"]
    cause = dict(line="it differs", extent=str(len(failed)) + " units", units=failed)
    json.dump(dict(findings=findings, causes=[cause]), report)
"""
SUBJECT = """
import rankcheck

mine = rankcheck.Subject("mine")
mine.broadcast(lambda call, send, recv: None)

def test_mine(rankcheck):
    rankcheck.check(mine, suite="smoke", require_ranks=2)
"""


class Session:
    """A folder with a test file, in which the stand-in offers these properties."""

    def __init__(self, pytester, monkeypatch, properties):
        self.pytester = pytester
        here = str(pytester.path)
        program = pytester.path / "rankcheck-stand-in"
        program.write_text(STAND_IN.format(python=PYTHON, here=here))
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (pytester.path / "properties").write_text(properties)
        monkeypatch.setenv("RANKCHECK", str(program))
        paths = [os.path.dirname(HERE), os.environ.get("PYTHONPATH", "")]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
        pytester.makepyfile(test_mine=SUBJECT)

    def run(self, *words):
        """Runs pytest in a process of its own, and returns its result."""
        # The entry point may be missing, because the package need not be installed.
        plugin = ["-p", "rankcheck.pytest_plugin", "-p", "no:cacheprovider"]
        return self.pytester.runpytest_subprocess(*plugin, "-v", "-rA", *words, timeout=600)

    def started(self):
        """Returns the words of each start that was not for the list of units."""
        with open(self.pytester.path / "starts") as file:
            starts = [json.loads(line) for line in file]
        return [words for words in starts if "--list-units" not in words]

    def has(self, name):
        return os.path.exists(self.pytester.path / name)


@pytest.fixture
def session(pytester, monkeypatch, forking_python):
    monkeypatch.setattr(sys, "executable", forking_python("pytest"))

    def make(properties):
        return Session(pytester, monkeypatch, properties)

    return make


def name(unit):
    return f"test_mine.py::test_mine?broadcast/mine/python/{unit}?"


def test_makes_an_item_for_each_unit(session):
    mine = session("right skipped wrong")
    result = mine.run()
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            f"{name('right')} PASSED*",
            f"{name('skipped')} SKIPPED*",
            f"{name('wrong')} FAILED*",
            "E *AssertionError: falsified: broadcast/mine/python/wrong",
            "E *it differs",
            """E *rankcheck-stand-in replay '{"ranks":2}'""",
        ]
    )
    (words,) = mine.started()
    assert words[:6] == ["run", "smoke", "--require-ranks", "2", "--backend", words[5]]


def test_names_failures_with_one_cause(session):
    title = "*rankcheck: failures that seem to have one cause*"
    result = session("right wrong wrong_too").run()
    result.stdout.fnmatch_lines([title, "2 units: it differs"])
    session("right wrong").run().stdout.no_fnmatch_line(title)


def test_a_skip_has_what_the_subject_does_not_take(session):
    result = session("refused right").run()
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["SKIPPED*not_supported: the subject does not take f32/sum"])


def test_fails_if_all_units_are_skipped(session):
    mine = session("refused skipped")
    result = mine.run()
    result.assert_outcomes(failed=2)
    why = "E *RuntimeError: nothing was judged, because all units of the run were skipped: "
    result.stdout.fnmatch_lines(
        [
            f"{why}broadcast/mine/python/refused: not_supported: the subject does not take f32/sum",
            f"{why}broadcast/mine/python/skipped: no_device",
        ]
    )
    # A selection is a run of its own, as `rankcheck run --unit` is.
    mine = session("right skipped")
    mine.run("-k", "skipped").assert_outcomes(failed=1, deselected=1)


def test_lists_items_without_a_run(session):
    mine = session("right wrong")
    mine.run("--collect-only").stdout.fnmatch_lines(["*<Function test_mine?broadcast*/right]>"])
    assert mine.started() == []


def test_runs_the_selected_units_only(session):
    mine = session("right wrong")
    mine.run("-k", "right").assert_outcomes(passed=1, deselected=1)
    (words,) = mine.started()
    assert [words[i + 1] for i, word in enumerate(words) if word == "--unit"] == [
        "broadcast/mine/python/right"
    ]


def test_the_first_failure_may_end_the_run(session):
    mine = session("wrong late")
    mine.run("-x").assert_outcomes(failed=1)
    assert mine.has("interrupted")


def test_expected_failures_are_strict(session):
    mine = session("right wrong1 wrong2 errored")
    mine.pytester.makeini("[pytest]\nrankcheck_xfail = known.txt\n")
    (mine.pytester.path / "known.txt").write_text(
        "# A comment.\n\n*/wrong1 is known\n*/right is said to be wrong\n*/errored cannot run\n"
        "*/gone was renamed\n"
    )
    result = mine.run()
    result.assert_outcomes(xfailed=1, failed=3, warnings=1)
    result.stdout.fnmatch_lines(
        [
            f"{name('right')} FAILED*",
            f"{name('wrong1')} XFAIL (is known)*",
            f"{name('wrong2')} FAILED*",
            f"{name('errored')} FAILED*",
            "?XPASS(strict)? is said to be wrong",
            "*PytestWarning: rankcheck_xfail: [*]/gone matches no unit of this session",
        ]
    )


def test_an_expected_failure_needs_a_reason(session):
    mine = session("right")
    mine.pytester.makeini("[pytest]\nrankcheck_xfail = known.txt\n")
    mine.run().stderr.fnmatch_lines(["*rankcheck_xfail: *known.txt: No such file or directory"])
    (mine.pytester.path / "known.txt").write_text("*/right\n")
    result = mine.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*known.txt:1: got [*]/right, expected the pattern of a unit and a reason"]
    )


def test_a_run_ends_after_its_time(session):
    mine = session("right late")
    mine.pytester.makeini("[pytest]\nrankcheck_timeout = 3\n")
    result = mine.run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["E *RuntimeError: the run took longer than 3 s*"])
    result.stdout.no_fnmatch_line("*pytest_runs.py*")
    result.stdout.no_fnmatch_line("*POLL_S*")
    assert mine.has("interrupted")


@pytest.mark.parametrize("text", ["soon", "-1", "nan"])
def test_the_time_of_a_run_is_a_number(session, text):
    mine = session("right")
    mine.pytester.makeini(f"[pytest]\nrankcheck_timeout = {text}\n")
    result = mine.run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = f"ERROR: rankcheck_timeout: got {text}, expected a number of seconds"
    result.stderr.fnmatch_lines([said])


def test_items_without_a_finding_fail(session):
    mine = session("right lost after")
    result = mine.run()
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["E *rankcheck ended with status 2, and this unit has no finding*"])
    assert len(mine.started()) == 1


def test_items_that_fail_fast_leaves_out_are_skipped(session):
    mine = session("right wrong after")
    fast = SUBJECT.replace("require_ranks=2", "require_ranks=2, fail_fast=True")
    mine.pytester.makepyfile(test_mine=fast)
    result = mine.run()
    result.assert_outcomes(passed=1, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["*not run: fail_fast ended the run at the failure of another*"])
    # Beside a failure that is expected, a skip would look like a pass.
    mine.pytester.makeini("[pytest]\nrankcheck_xfail = known.txt\n")
    (mine.pytester.path / "known.txt").write_text("*/wrong it is known\n")
    mine.run().assert_outcomes(passed=1, xfailed=1, failed=1)


# A bad end of the subject fails the unit that it has checked last. A suite that repeats itself has
# the findings of its report. A unit that the time limit has cut off is no skip.
ENDINGS = {
    "right crash": "E *AssertionError: crashed: broadcast/mine/python/crash",
    "cycle cycle_wrong": f"{name('cycle_wrong')} FAILED*",
    "right over": "E *RuntimeError: skipped: broadcast/mine/python/over",
}


@pytest.mark.parametrize("units", ENDINGS)
def test_a_unit_fails_as_in_the_report(session, units):
    result = session(units).run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines([ENDINGS[units]])


def test_reports_are_in_the_folder_of_the_session(session):
    mine = session("right")
    mine.pytester.makepyfile(
        test_mine="def test_a(rankcheck):\n    rankcheck.check('a.py', report='mine')\n"
    )
    mine.run().assert_outcomes(passed=1)
    (words,) = mine.started()
    assert words.count("--report") == 1


def test_says_why_there_are_no_units(session, monkeypatch):
    mine = session("none")
    result = mine.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *RuntimeError: *status 2: no unit can be found"])
    monkeypatch.setenv("RANKCHECK", "/no/such/program")
    mine.run().stdout.fnmatch_lines(["E *is not there, expected the program rankcheck: put it*"])


def test_refuses_functions_that_collecting_cannot_call(session):
    mine = session("right")
    mine.pytester.makepyfile(
        test_mine="def test_a(rankcheck, tmp_path):\n    rankcheck.check('a.py')\n"
    )
    mine.run().stdout.fnmatch_lines(["*test_a: got tmp_path, expected no fixture beside rankcheck"])
    mine.pytester.makepyfile(test_mine="def test_a(rankcheck):\n    pass\n")
    mine.run().stdout.fnmatch_lines(["*test_a: expected a call of rankcheck.check()"])


def test_there_must_be_something_to_check(session):
    mine = session("right")
    mine.pytester.makepyfile(test_mine=SUBJECT.replace("mine.broadcast(", "print("))
    result = mine.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["mine offers no operation: decorate a function, *"])
    result.stdout.no_fnmatch_line("*program.py*")


def test_takes_methods(session):
    mine = session("right")
    mine.pytester.makepyfile(
        test_mine="class TestIt:\n    def test_a(self, rankcheck):\n        rankcheck.check('a.py')\n"
    )
    mine.run().assert_outcomes(passed=1)


def test_processes_of_xdist_share_a_run(session):
    pytest.importorskip("xdist")
    mine = session("a b wrong c d e f g")
    mine.run("-n", "2").assert_outcomes(passed=7, failed=1)
    assert len(mine.started()) == 1
