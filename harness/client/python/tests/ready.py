"""Checks a ready subject: python3 -m tests.ready FILE, or command:LINE [FILE.cpp] OPERATION...

Runs a few cases of each operation that the subject offers. All must pass, except for the defects in
cases/known/NAME.json, where NAME is the subject's, and the subject must not refuse cases that were
drawn inside its limits. Then replays what was found in released versions:
found/*.json beside FILE that name the subject. Each gives a subject that takes more than the ready
one, and a case. In the version that the file names, the verdict must be the one in the file, and
the script beside the file, which does the same without rankcheck, must fail. For a subject in C++,
this is a program beside the subject's own, and the subject has to take the case as it is.
"""
from __future__ import annotations

import glob
import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Sequence

from rankcheck.program import report_of, run_program

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
        if each["verdict"] != "passed" and not each.get("is_known", False):
            return f"{each['id']}: {each['verdict']}: {each.get('reason', '')}"
        if each.get("refused_cases", 0) > 0:
            return f"{each['id']}: expected no refused case, got {each['refused_cases']}"
        if operation != "barrier" and each["compared_bytes"] == 0:
            return f"{each['id']}: expected that bytes were compared"
    return ""


def known_of(subject: str, name: str) -> str:
    """Returns the path of the file that lists a subject's known defects. There may be none."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(subject)))
    return os.path.join(folder, "known", f"{name}.json")


def check_cases(
    backend: str,
    operations: List[str],
    folder: str,
    ranks_max: int = RANKS_MAX,
    known: str = "",
) -> int:
    """Runs a few cases of each operation. Prints what is wrong and returns how often."""
    report = os.path.join(folder, "report")
    words = ["--start-timeout", "300", "run", "smoke", "--backend", backend, "--report", report]
    words += ["--unit", "*/agrees_with_reference", "--unit", "barrier/*/separates_ranks"]
    if os.path.exists(known):
        words += ["--known", known]
    done = run_program([*words, "--ranks", f"2..{ranks_max}", "--cases", str(CASES)])
    try:
        findings = report_of(report)["findings"]
    except FileNotFoundError:
        print(f"{backend}: no report\n{done.stdout}{done.stderr}")
        return 1
    wrong = [text for text in (why_wrong(each, findings) for each in operations) if text]
    print(f"{len(operations)} operations, {sum(each['cases'] for each in findings)} cases")
    if wrong:
        print("\n".join(wrong) + f"\n{done.stdout}{done.stderr}")
    return len(wrong)


def run_script(script: str, launcher: List[str]) -> int:
    """Runs the script of a pin, which shows the same without rankcheck and has to fail.

    Prints what is wrong, and returns 1 if it does not fail. There may be no script.
    """
    if not os.path.exists(script):
        return 0
    command = [*launcher, *([sys.executable] if script.endswith(".py") else []), script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    print(f"{os.path.basename(script)}: status {done.returncode}")
    if done.returncode == 0:
        print(f"expected that {script} fails, as in the version of the pin")
    return int(done.returncode == 0)


def pins_of(file: str) -> Dict[str, Dict[str, Any]]:
    """Returns the pins that name the subject of a file, by their paths."""
    pins = {}
    for path in sorted(glob.glob(os.path.join(os.path.dirname(file), "found", "*.json"))):
        with open(path, encoding="utf-8") as opened:
            pin = json.load(opened)
        if pin["subject"] == os.path.basename(file):
            pins[path] = pin
    return pins


def replay_on(
    backend: str, path: str, script: str, versions: Dict[str, str], launcher: Sequence[str] = ()
) -> int:
    """Replays a case of found/, and runs its script if the installed version is the pin's.

    Prints the verdict, and returns how much is not as expected.
    """
    with open(path, encoding="utf-8") as opened:
        pin = json.load(opened)
    case = {**pin["case"], "backend": backend}
    words = ["--start-timeout", "300", "replay", "--times", "1", json.dumps(case)]
    done = run_program(words)
    found = re.search(r"^verdict +(\w+)", done.stdout, re.MULTILINE)
    verdict = found.group(1) if found else f"none: {done.stdout}{done.stderr}"
    installed = versions[pin["library"]]
    pinned = [pin["version"]] if isinstance(pin["version"], str) else pin["version"]
    is_known = any(installed.startswith(each) for each in pinned)
    print(f"{os.path.basename(path)}: {pin['library']} {installed}: {verdict}")
    expected = [pin["verdict"]] if is_known else [pin["verdict"], "passed"]
    if verdict not in expected:
        print(f"expected {' or '.join(expected)}, as found in {', '.join(pinned)}\n{done.stdout}")
    return int(verdict not in expected) + (run_script(script, list(launcher)) if is_known else 0)


def replay_pin(
    path: str, file: str, versions: Dict[str, str], folder: str, launcher: Sequence[str] = ()
) -> int:
    """Replays a pin with a subject that takes more than the ready one."""
    with open(path, encoding="utf-8") as opened:
        pin = json.load(opened)
    wider = os.path.join(folder, "wider.py")
    with open(wider, "w", encoding="utf-8") as opened:
        operation = pin["case"]["operation"]
        opened.write(WIDER.format(file=file, operation=operation, change=pin["takes"]))
    script = path[: -len(".json")] + ".py"
    return replay_on(f"python:{shlex.quote(wider)}", path, script, versions, launcher)


def check_program(backend: str, words: List[str], folder: str) -> int:
    """Checks a subject that is a program. Returns how much is wrong."""
    if not words[0].endswith(".cpp"):
        return check_cases(backend, words, folder)
    file, *operations = words
    stem = os.path.splitext(os.path.basename(file))[0]
    wrong = check_cases(backend, operations, folder, known=known_of(file, stem))
    program = shlex.split(backend[len("command:") :])[0]
    listed = json.loads(run_program(["list", "--json", "--backend", backend]).stdout)
    (versions,) = [each["versions"] for each in listed["backends"] if "command" in each]
    for path in pins_of(file):
        name = os.path.splitext(os.path.basename(path))[0]
        script = os.path.join(os.path.dirname(program), name)
        wrong += replay_on(backend, path, script, versions)
    return wrong


def check_file(file: str, folder: str) -> int:
    """Checks the subject of a file. Returns how much is wrong."""
    names = runpy.run_path(file)
    subject = names["s"]
    # A subject whose ranks need devices says how many ranks there can be.
    usual = subject.launch.ranks if subject.is_one_process else RANKS_MAX
    ranks_max = min(names.get("RANKS_MAX", usual), usual)
    if ranks_max < 2:
        print(f"skipped: {subject.name} has devices for {ranks_max} ranks, and the test needs 2")
        return 0
    launcher = shlex.split(getattr(subject.launch, "launcher", None) or "")
    if launcher and shutil.which(launcher[0]) is None:
        print(f"skipped: {launcher[0]} is not on PATH: apt-get install openmpi-bin")
        return 0
    known = known_of(file, subject.name)
    backend = f"python:{shlex.quote(file)}"
    wrong = check_cases(backend, list(subject.offers), folder, ranks_max, known)
    for path in pins_of(file):
        two = [word.replace("{ranks}", "2") for word in launcher]
        wrong += replay_pin(path, file, subject.versions, folder, two)
    return wrong


def main(words: List[str]) -> int:
    """Returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="rankcheck-") as folder:
        if words[0].startswith("command:"):
            return int(check_program(words[0], words[1:], folder) > 0)
        return int(check_file(os.path.abspath(words[0]), folder) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
