"""Checks a ready subject: python3 -m tests.ready FILE, or command:LINE OPERATION...

Runs a few cases of each operation that the subject offers. All must pass, and the subject must not
refuse cases that were drawn inside its limits. Then replays what was found in released versions:
found/*.json beside FILE that name the subject. Each gives a subject that takes more than the ready
one, and a case. In the version that the file names, the verdict must be the one in the file.
"""
from __future__ import annotations

import glob
import json
import os
import re
import runpy
import shlex
import shutil
import sys
import tempfile
from typing import Any, Dict, List

from rankcheck.program import findings_of, run_program

CASES = 4
RANKS_MAX = 4
WIDER = """
import runpy
s = runpy.run_path({file!r})["s"]
for name, value in {change!r}.items():
    setattr(s.offers[{operation!r}], name, value)

if __name__ == "__main__":
    s.serve()
"""


def why_wrong(operation: str, findings: List[Dict[str, Any]]) -> str:
    """Returns what is wrong with the findings of an operation that the subject offers."""
    mine = [each for each in findings if each["unit"]["operation"] == operation]
    if not mine:
        return f"{operation}: expected a finding, got none"
    for each in mine:
        if each["verdict"] != "passed":
            return f"{each['id']}: {each['verdict']}: {each.get('reason', '')}"
        if each.get("refused_cases", 0) > 0:
            return f"{each['id']}: expected no refused case, got {each['refused_cases']}"
        if operation != "barrier" and each["compared_bytes"] == 0:
            return f"{each['id']}: expected that bytes were compared"
    return ""


def check_cases(
    backend: str, operations: List[str], folder: str, ranks_max: int = RANKS_MAX
) -> int:
    """Runs a few cases of each operation. Prints what is wrong and returns how often."""
    report = os.path.join(folder, "report")
    words = ["--start-timeout", "300", "run", "smoke", "--backend", backend, "--report", report]
    words += ["--unit", "*/agrees_with_reference", "--unit", "barrier/*/separates_ranks"]
    done = run_program([*words, "--ranks", f"2..{ranks_max}", "--cases", str(CASES)])
    try:
        findings = findings_of(report)
    except FileNotFoundError:
        print(f"{backend}: no report\n{done.stdout}{done.stderr}")
        return 1
    wrong = [text for text in (why_wrong(each, findings) for each in operations) if text]
    print(f"{len(operations)} operations, {sum(each['cases'] for each in findings)} cases")
    if wrong:
        print("\n".join(wrong) + f"\n{done.stdout}{done.stderr}")
    return len(wrong)


def replay_pin(path: str, file: str, versions: Dict[str, str], folder: str) -> int:
    """Replays a case of found/. Prints the verdict, and returns 1 if another one was expected."""
    with open(path, encoding="utf-8") as opened:
        pin = json.load(opened)
    wider = os.path.join(folder, "wider.py")
    with open(wider, "w", encoding="utf-8") as opened:
        operation = pin["case"]["operation"]
        opened.write(WIDER.format(file=file, operation=operation, change=pin["takes"]))
    case = {**pin["case"], "backend": f"python:{shlex.quote(wider)}"}
    words = ["--start-timeout", "300", "replay", "--times", "1", json.dumps(case)]
    done = run_program(words)
    found = re.search(r"^verdict +(\w+)", done.stdout, re.MULTILINE)
    verdict = found.group(1) if found else f"none: {done.stdout}{done.stderr}"
    installed = versions[pin["library"]]
    is_known = installed.startswith(pin["version"])
    print(f"{os.path.basename(path)}: {pin['library']} {installed}: {verdict}")
    expected = [pin["verdict"]] if is_known else [pin["verdict"], "passed"]
    if verdict not in expected:
        print(f"expected {' or '.join(expected)}, as found in {pin['version']}\n{done.stdout}")
    return int(verdict not in expected)


def check_file(file: str, folder: str) -> int:
    """Checks the subject of a file. Returns how much is wrong."""
    names = runpy.run_path(file)
    subject = names["s"]
    # A subject whose ranks need devices says how many ranks there can be.
    ranks_max = min(names.get("RANKS_MAX", RANKS_MAX), RANKS_MAX)
    if ranks_max < 2:
        print(f"skipped: {subject.name} has devices for {ranks_max} ranks, and the test needs 2")
        return 0
    launcher = shlex.split(getattr(subject.launch, "launcher", None) or "")
    if launcher and shutil.which(launcher[0]) is None:
        print(f"skipped: {launcher[0]} is not on PATH: apt-get install openmpi-bin")
        return 0
    wrong = check_cases(f"python:{shlex.quote(file)}", list(subject.offers), folder, ranks_max)
    for path in sorted(glob.glob(os.path.join(os.path.dirname(file), "found", "*.json"))):
        with open(path, encoding="utf-8") as opened:
            if json.load(opened)["subject"] == os.path.basename(file):
                wrong += replay_pin(path, file, subject.versions, folder)
    return wrong


def main(words: List[str]) -> int:
    """Returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="rankcheck-") as folder:
        if words[0].startswith("command:"):
            return int(check_cases(words[0], words[1:], folder) > 0)
        return int(check_file(os.path.abspath(words[0]), folder) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
