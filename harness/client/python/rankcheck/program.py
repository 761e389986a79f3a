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

from .launch import OneProcess
from .subject import Subject

# A finding as report.json has it: id, unit, verdict, reason, cases, minimal and so on.
Finding = Dict[str, Any]

PROGRAM_VARIABLE = "RANKCHECK"
PASSING = ("passed", "skipped")


def find_program() -> str:
    """Returns the path of the program: $RANKCHECK, or else `rankcheck` on PATH."""
    name = os.environ.get(PROGRAM_VARIABLE) or "rankcheck"
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            f"{name}: expected the program rankcheck: put it on PATH, or name its file in "
            f"{PROGRAM_VARIABLE}"
        )
    return found


def command_of(subject: Union[Subject, str, "os.PathLike[str]"]) -> str:
    """Returns the command that serves the subject, or a file that serves its subject itself."""
    if isinstance(subject, Subject):
        words = [sys.executable, "-m", "rankcheck", subject.file, subject.name]
        launcher = "" if isinstance(subject.launch, OneProcess) else subject.launch.launcher
    else:
        words = [sys.executable, os.fspath(subject)]
        launcher = ""
    start = f"{launcher} " if launcher else ""
    return start + " ".join(shlex.quote(word) for word in words) + " --ranks {ranks}"


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


def environment_with_package() -> Dict[str, str]:
    """Returns this process's environment, in which other processes find this package, too."""
    parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    paths = [parent, os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def check(
    subject: Union[Subject, str, "os.PathLike[str]"], suite: str = "smoke", **options: Any
) -> List[Finding]:
    """Runs a suite on a subject and returns the findings.

    Args:
        subject: A subject, or the path of a file that serves one.
        suite: The name of a suite, or the path of its file.
        options: Options of `rankcheck run`, such as operation="all_*", ranks="2..4", cases=20.

    Raises:
        AssertionError: A finding failed. The message has its reason and the line that replays it.
        RuntimeError: The run could not be made.
    """
    command = command_of(subject)
    with tempfile.TemporaryDirectory(prefix="rankcheck-") as folder:
        report = str(options.pop("report", None) or os.path.join(folder, "report"))
        words = [find_program(), "run", suite, "--report", report, *options_of(options)]
        words += ["--backend", f"command:{command}"]
        done = subprocess.run(
            words,
            env=environment_with_package(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            universal_newlines=True,
        )
        findings = read_findings(os.path.join(report, "report.json"), done)
    failed = [each for each in findings if each["verdict"] not in PASSING]
    if failed:
        raise AssertionError("\n\n".join(describe_failure(each) for each in failed))
    if done.returncode != 0:
        raise RuntimeError(f"rankcheck ended with status {done.returncode}: {last_lines(done)}")
    return findings


def read_findings(path: str, done: "subprocess.CompletedProcess[str]") -> List[Finding]:
    """Returns the findings of a report. Throws RuntimeError if there is no report."""
    try:
        with open(path, encoding="utf-8") as file:
            findings: List[Finding] = json.load(file)["findings"]
            return findings
    except FileNotFoundError:
        text = f"rankcheck ended with status {done.returncode} and left no report"
        raise RuntimeError(f"{text}: {last_lines(done)}") from None


def last_lines(done: "subprocess.CompletedProcess[str]") -> str:
    """Returns the end of what a program wrote."""
    lines = (done.stdout + done.stderr).strip().splitlines()
    return "\n".join(lines[-5:])


def describe_failure(finding: Finding) -> str:
    """Says what failed, and how to see it again."""
    lines = [f"{finding['verdict']}: {finding['id']}"]
    if finding.get("reason"):
        lines.append(f"  {finding['reason']}")
    if finding.get("minimal"):
        case = json.dumps(finding["minimal"], separators=(",", ":"), ensure_ascii=False)
        lines.append(f"  rankcheck replay {shlex.quote(case)}")
    return "\n".join(lines)
