"""Runs the program `rankcheck` on a subject and reads its report."""
from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Union

from .declared import refuse
from .functions import place_outside
from .installed import PROGRAM
from .subject import PLACES_VARIABLE, Subject, places_of_subjects
from .wire import SOCKET_VARIABLE

# A finding as report.json has it: id, unit, verdict, reason, cases, minimal and so on.
Finding = Dict[str, Any]
# A unit as `rankcheck run --list-units` prints it: id, operation, algorithm, backend, property.
Unit = Dict[str, Any]
# A subject, or the path of a file that has one.
Subjects = Union[Subject, str, "os.PathLike[str]"]

PROGRAM_VARIABLE = "RANKCHECK"
PYTHON_VARIABLE = "RANKCHECK_PYTHON"
PASSING = ("passed", "skipped")
# Rows of the table of wrong elements.
WRONG_MAX = 5
# Units with one cause that a failure names.
UNITS_MAX = 3
# Cells that a reason names, of those that a subject does not take.
CELLS_MAX = 6


def program_name() -> str:
    """Returns $RANKCHECK, or else the program in the wheel, or else `rankcheck`."""
    return os.environ.get(PROGRAM_VARIABLE) or (PROGRAM if os.path.exists(PROGRAM) else "rankcheck")


def find_program() -> str:
    """Returns the path of the program: $RANKCHECK, the one in the wheel, or the one on PATH."""
    name = program_name()
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            f"{name}: is not there, expected the program rankcheck: put it on PATH, or name its "
            f"file in {PROGRAM_VARIABLE}"
        )
    return found


def refuse_in_worker(what: str) -> None:
    """Throws RuntimeError if this process runs a file for the program.

    Such a process would start the program, which would start such processes again, without end.
    The program sets the variable for all processes that it starts.
    """
    if SOCKET_VARIABLE in os.environ:
        raise RuntimeError(
            f"{place_outside(sys._getframe(1))}: {what} is called while rankcheck runs this file: "
            'put the call under `if __name__ == "__main__":`'
        )


def backend_of(subject: Subjects) -> str:
    """Returns the backend that serves the subject, or the only subject of a file."""
    if not isinstance(subject, (Subject, str, os.PathLike)):
        refuse("subject", "a Subject or the path of a file", subject)
    if isinstance(subject, Subject) and subject.why_not_served():
        raise ValueError(subject.why_not_served())
    words = [subject.home(), subject.name] if isinstance(subject, Subject) else [os.fspath(subject)]
    return "python:" + " ".join(shlex.quote(word) for word in words)


def options_of(options: Dict[str, Any]) -> List[str]:
    """Turns keywords into options: time_budget=30 becomes --time-budget 30."""
    words: List[str] = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is True:
            words.append(option)
        elif isinstance(value, (list, tuple)):
            for each in value:
                words += [option, str(each)]
        elif value is not None and value is not False:
            words += [option, str(value)]
    return words


def run_words(subject: Subjects, suite: str, options: Dict[str, Any]) -> List[str]:
    """Returns the words behind `rankcheck` that check a subject."""
    return ["run", suite, *options_of(options), "--backend", backend_of(subject)]


def environment_with_package() -> Dict[str, str]:
    """Returns this process's environment for the program and for what serves a subject.

    Subjects get this Python and this package, and are told which functions they must have.
    """
    parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [parent, os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        PYTHON_VARIABLE: sys.executable,
        PLACES_VARIABLE: places_of_subjects(),
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }


def run_program(words: List[str]) -> "subprocess.CompletedProcess[str]":
    """Runs the program to its end."""
    refuse_in_worker("run_program()")
    return subprocess.run(
        [find_program(), *words],
        env=environment_with_package(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )


def check(subject: Subjects, suite: str = "smoke", **options: Any) -> List[Finding]:
    """Runs a suite on a subject and returns the findings.

    Args:
        subject: A subject, or the path of a file that has one.
        suite: The name of a suite, or the path of its file.
        options: Options of `rankcheck run`, such as operation="all_*", ranks="2..4", cases=20.

    Raises:
        AssertionError: A finding failed. The message has its reason and the line that replays it.
        RuntimeError: The run could not be made, or has judged nothing.
        TypeError, ValueError: There is nothing to check.
    """
    refuse_in_worker("check()")
    with tempfile.TemporaryDirectory(prefix="rankcheck-") as folder:
        report = str(options.pop("report", None) or os.path.join(folder, "report"))
        done = run_program([*run_words(subject, suite, options), "--report", report])
        whole = read_report(report, done)
    findings: List[Finding] = whole["findings"]
    failed = [each for each in findings if each["verdict"] not in PASSING]
    if failed:
        raise AssertionError("\n\n".join(describe_causes(failed, whole.get("causes", []))))
    if findings and all(each["verdict"] == "skipped" for each in findings):
        raise RuntimeError(nothing_judged(findings[0]))
    if done.returncode != 0:
        raise RuntimeError(f"rankcheck ended with status {done.returncode}: {last_lines(done)}")
    return findings


def list_units(subject: Subjects, suite: str = "smoke", **options: Any) -> List[Unit]:
    """Returns the units that check() with these arguments would check.

    Raises:
        RuntimeError: The program could not list them.
    """
    refuse_in_worker("list_units()")
    words = run_words(subject, suite, {**options, "report": None})
    done = run_program([*words, "--list-units"])
    if done.returncode != 0:
        raise RuntimeError(f"rankcheck ended with status {done.returncode}: {last_lines(done)}")
    units: List[Unit] = json.loads(done.stdout)
    return units


def report_of(folder: str) -> Dict[str, Any]:
    """Returns a run's report. Throws FileNotFoundError if there is none."""
    with open(os.path.join(folder, "report.json"), encoding="utf-8") as file:
        report: Dict[str, Any] = json.load(file)
        return report


def read_report(folder: str, done: "subprocess.CompletedProcess[str]") -> Dict[str, Any]:
    """Returns the report of a run. Throws RuntimeError if it has left none."""
    try:
        return report_of(folder)
    except FileNotFoundError:
        text = f"rankcheck ended with status {done.returncode} and left no report"
        raise RuntimeError(f"{text}: {last_lines(done)}") from None


def last_lines(done: "subprocess.CompletedProcess[str]") -> str:
    """Returns the end of what a program wrote."""
    lines = (done.stdout + done.stderr).strip().splitlines()
    return "\n".join(lines[-5:])


def replay_line(case: Dict[str, Any]) -> str:
    """Returns the line for a shell that replays a case, with this Python and this program."""
    program = program_name()
    python = "" if shutil.which("python3") == sys.executable else sys.executable
    start = f"{PYTHON_VARIABLE}={shlex.quote(python)} " if python else ""
    text = json.dumps(case, separators=(",", ":"), ensure_ascii=False)
    return f"{start}{shlex.quote(program)} replay {shlex.quote(text)}"


def wrong_rows(finding: Finding) -> List[str]:
    """Returns a table of the first wrong elements, as the program prints it."""
    wrong = finding.get("wrong", [])[:WRONG_MAX]
    if not wrong:
        return []
    names = ["rank", "index", "expected", "got"]
    # Where bits are compared, there are no errors.
    if any(each.get("error") or each.get("bound") for each in wrong):
        names += ["error", "bound"]
    if any(each.get("stage") for each in wrong):
        names = ["stage", "group", *names]
    names.append("decoded")
    titles = {"index": "element"}
    if wrong[0].get("compared_with"):
        titles["expected"] = f"{wrong[0]['compared_with']} has"
    rows = [[titles.get(name, name) for name in names]]
    for each in wrong:
        group = ",".join(map(str, each.get("group", []))) or "as in the case"
        shown = {"stage": 0, **each, "group": group}
        values = [shown.get(name, "") for name in names]
        # JSON has no infinity, which is a text there.
        rows.append([f"{v:.3g}" if isinstance(v, float) else str(v) for v in values])
    widths = [max(len(row[i]) for row in rows) for i in range(len(names) - 1)]
    count = finding.get("wrong_count", len(wrong))
    lines = [f"{count} wrong element{'' if count == 1 else 's'}, the first:"]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths)]
        lines.append("  ".join([*cells, row[-1]]).rstrip())
    return lines


def why_skipped(finding: Finding) -> str:
    """Returns the reason of a skipped unit, and which cells the subject does not take."""
    reason = str(finding.get("reason", ""))
    cells = finding.get("refused_cells", [])
    if not cells:
        return reason
    more = f" and {len(cells) - CELLS_MAX} more" if len(cells) > CELLS_MAX else ""
    return f"{reason}: the subject does not take {', '.join(cells[:CELLS_MAX])}{more}"


def nothing_judged(finding: Finding) -> str:
    """Says that all units of a run were skipped, with the reason of this one."""
    why = f"{finding['id']}: {why_skipped(finding)}"
    return f"nothing was judged, because all units of the run were skipped: {why}"


def describe_failure(finding: Finding) -> str:
    """Says what failed, and how to see it again."""
    lines = [f"{finding['verdict']}: {finding['id']}"]
    if finding.get("reason"):
        lines.append(f"  {finding['reason']}")
    if finding.get("minimal"):
        lines.append(f"  {replay_line(finding['minimal'])}")
    lines += [f"  {line}" for line in wrong_rows(finding)]
    return "\n".join(lines)


def describe_causes(failed: List[Finding], causes: List[Dict[str, Any]]) -> List[str]:
    """Describes the simplest failure of each cause of a report, and names the others."""
    left = {str(each["id"]): each for each in failed}
    texts = []
    for cause in causes:
        units = [unit for unit in cause["units"] if unit in left]
        if not units:
            continue
        text = describe_failure(left[units[0]])
        others = units[1:]
        if others:
            count = "1 more unit" if len(others) == 1 else f"{len(others)} more units"
            more = f" and {len(others) - UNITS_MAX} more" if len(others) > UNITS_MAX else ""
            text += f"\n  {count}, probably with this cause: {', '.join(others[:UNITS_MAX])}{more}"
        texts.append(text)
        for unit in units:
            del left[unit]
    return texts + [describe_failure(each) for each in left.values()]
