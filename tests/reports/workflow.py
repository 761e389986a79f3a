"""Checks the example workflow for GitHub Actions: reports/ci/github.yml.

workflow.py WORKFLOW RANKCHECK SUBJECT FOLDER: reads the workflow, holds its calls of rankcheck
against what `rankcheck --help` says, and runs its steps as a pull request that plants a bug in
SUBJECT. Scripts stand in for `gh` and `python3 -m pip`. Exits with 1 if anything is not as it should
be.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

complaints = []


def expect(is_right, what):
    if not is_right:
        complaints.append(what)


def calls_of(script):
    """The calls of rankcheck in a shell script, as lists of words."""
    joined = script.replace("\\\n", " ")
    for line in joined.splitlines():
        found = re.search(r"(?:^|[;&|({]\s*)rankcheck\s+([^;&|>]*)", line.strip())
        if found:
            yield found.group(1).split()


def options_of(program, command):
    said = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True)
    return set(re.findall(r"--[a-z][a-z-]*", said.stdout))


def check_calls(steps, program):
    """Every option of every call exists. Returns the commands that are called."""
    commands = []
    for step in steps:
        for words in calls_of(step.get("run", "")):
            commands.append(words[0])
            known = options_of(program, words[0])
            for word in words[1:]:
                if word.startswith("--"):
                    expect(word in known, f"rankcheck {words[0]} has no option {word}")
    return commands


def write_program(path, text):
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def make_tools(folder, program):
    """Makes a folder with rankcheck and with what stands in for gh and pip."""
    tools = folder / "tools"
    tools.mkdir(parents=True)
    (tools / "rankcheck").symlink_to(program)
    write_program(tools / "python3", 'echo "$@" >> ../installed\n')
    write_program(tools / "gh", """case "$1 $2" in
"run list") echo 7 ;;
"run download") [ "$3" = 7 ] && cp -r ../before base ;;
"pr comment") cp comment.md "../comment-$3.md" ;;
*) exit 1 ;;
esac
""")
    return tools


def run_step(step, where, variables):
    """Runs a step's script as GitHub does: by bash, which ends at the first failure."""
    own = {k: v for k, v in step.get("env", {}).items() if "${{" not in v}
    return subprocess.run(["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step["run"]],
                          cwd=where, env={**variables, **own}, capture_output=True, text=True,
                          check=False)


def main():
    workflow, program, subject, folder = map(pathlib.Path, sys.argv[1:])
    text = workflow.read_text()
    content = yaml.safe_load(text)
    # YAML reads the key `on` as true.
    expect({"name", True, "permissions", "env", "jobs"} <= set(content), f"keys: {list(content)}")
    expect("://" not in text, "it names a host")
    steps = content["jobs"]["verify"]["steps"]
    commands = check_calls(steps, program)
    expect(sorted(commands) == ["compare", "report", "run"], f"calls of rankcheck: {commands}")
    # A check that sees nothing would pass everything.
    planted = [{"run": "rankcheck run ci --no-such-option x"}]
    check_calls(planted, program)
    expect(complaints[-1:] == ["rankcheck run has no option --no-such-option"],
           "an unknown option was not seen")
    complaints[:] = [each for each in complaints if "--no-such-option" not in each]

    shutil.rmtree(folder, ignore_errors=True)
    tools = make_tools(folder, program)
    where = folder / "repository"
    where.mkdir()
    selection = ["--operation", "all_reduce", "--cases", "20", "--seed", "1"]
    subprocess.run([program, "run", "smoke", *selection, "--backend", f"command:{subject}",
                    "--report", folder / "before"], capture_output=True, check=True)
    variables = {**os.environ, **content["env"],
                 "PATH": f"{tools}:{os.environ['PATH']}", "SUITE": "smoke", "NUMBER": "13",
                 "BACKEND": f"command:{subject} --bug last_element", "GITHUB_BASE_REF": "main",
                 "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    ended = {}
    for step in steps:
        if "run" in step:
            ended[step["name"]] = run_step(step, where, variables)
    said = {name: (each.returncode, each.stdout + each.stderr) for name, each in ended.items()}
    statuses = [each.returncode for each in ended.values()]
    expect(statuses == [0, 0, 1, 0, 1, 0], f"statuses of the steps: {said}")
    expect("::error title=" in ended["Verify"].stdout, f"no annotation: {said['Verify']}")
    used = [step["uses"].partition("@")[0] for step in steps if "uses" in step]
    expect("actions/setup-python" in used, f"it takes the system's Python: {used}")
    installed = (folder / "installed").read_text().splitlines()
    expect(installed == ["-m pip install tools/rankcheck-*.whl", "-m pip install ."],
           f"what pip installs: {installed}")
    written = folder / "comment-13.md"
    comment = written.read_text() if written.exists() else ""
    for part in ("**Failed: ", "rankcheck replay '{", "newly broken"):
        expect(part in comment, f"the comment lacks {part}: {comment}")
    summary = (folder / "summary.md").read_text()
    expect("# rankcheck\n" in summary, f"the summary: {summary}")
    for each in complaints:
        print(each)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
