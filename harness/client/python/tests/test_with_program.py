"""The examples in cases/subjects/ under the program itself: right ones pass, planted bugs fail.

The tests are skipped unless RANKCHECK in the environment names the program.
"""
from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from fake_harness import HERE, ONCE

import rankcheck
from rankcheck.program import run_program

PROGRAM = os.environ.get("RANKCHECK")
pytestmark = pytest.mark.skipif(
    not PROGRAM, reason="RANKCHECK in the environment does not name the program rankcheck"
)
PACKAGE = os.path.dirname(HERE)
SUBJECTS = os.path.abspath(os.path.join(PACKAGE, *[os.pardir] * 3, "cases", "subjects"))
THREADS = os.path.join(SUBJECTS, "numpy_threads.py")
MPI4PY = os.path.join(SUBJECTS, "mpi4py_subject.py")


@pytest.fixture(autouse=True)
def subjects_start_quickly(quick_starts):
    """Lets a forked Python serve the subjects."""


def run(tmp_path, command, operation):
    """Runs smoke for an operation, and returns the exit status and all output."""
    words = [PROGRAM, "run", "smoke", "--operation", operation, "--ranks", "1..4", "--cases", "20"]
    words += ["--report", str(tmp_path / "report"), "--backend", f"command:{command}"]
    mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    environment = {**os.environ, **mpi, "PYTHONPATH": PACKAGE}
    done = subprocess.run(
        words,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("operation", ["all_reduce", "broadcast", "reduce_scatter", "barrier"])
def test_threads_pass(tmp_path, operation):
    command = shlex.join([sys.executable, THREADS])
    status, output = run(tmp_path, f"{command} --ranks {{ranks}}", operation)
    assert status == 0, output


@pytest.mark.parametrize("operation", ["all_reduce", "gather"])
def test_mpi4py_passes(tmp_path, operation):
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("mpirun is not on PATH")
    command = shlex.join([sys.executable, MPI4PY])
    status, output = run(tmp_path, f"mpirun --oversubscribe -n {{ranks}} {command}", operation)
    assert status == 0, output


def test_a_wrong_root_is_found(tmp_path):
    text = open(THREADS).read()
    right = "call.group.exchange(call.rank, send)[call.root]"
    assert right in text
    file = tmp_path / "wrong_root.py"
    file.write_text(text.replace(right, "call.group.exchange(call.rank, send)[0]"))
    with pytest.raises(AssertionError, match="rankcheck replay") as error:
        rankcheck.check(file, operation="broadcast", ranks="1..4", cases=20, **ONCE)
    assert "broadcast" in str(error.value)


def test_gets_only_the_calls_that_it_takes(tmp_path):
    text = open(THREADS).read()
    right = "@s.broadcast(in_place=True)\ndef broadcast(call, send, recv):\n"
    assert right in text
    narrow = right.replace("in_place=True", "root=[0], members=(2, 3)")
    file = tmp_path / "narrow.py"
    checked = f"{narrow}    assert call.root == 0 and call.size in (2, 3)\n"
    file.write_text(text.replace(right, checked))
    findings = rankcheck.check(file, operation="broadcast", ranks="1..4", cases=20)
    passed = [finding for finding in findings if finding["verdict"] == "passed"]
    # "2:5 3:4" are five cases of two members and four of three.
    texts = [text for finding in passed for text in finding["cell_members"].values()]
    assert {each.split(":")[0] for text in texts for each in text.split()} == {"2", "3"}, findings


@pytest.fixture
def raises(tmp_path):
    text = open(THREADS).read()
    file = tmp_path / "raises.py"
    assert "functools.reduce" in text
    file.write_text(text.replace("functools.reduce", "functools.no_such"))
    return file


def test_an_error_is_explained(raises):
    with pytest.raises(AssertionError, match=r"AttributeError: .*no_such.* \(raises.py:\d+"):
        rankcheck.check(raises, operation="all_reduce", ranks="1..4", cases=20, **ONCE)


@pytest.fixture
def raises_in_processes(tmp_path):
    text = open(os.path.join(HERE, "subjects", "in_processes.py")).read()
    begin = "def _(call, send, recv):\n"
    assert begin in text
    file = tmp_path / "raises.py"
    file.write_text(text.replace(begin, f"{begin}    raise KeyError('lost')\n"))
    return file


def test_check_worker_says_which_call_failed(raises_in_processes):
    backend = f"python:{raises_in_processes}"
    done = run_program(["check-worker", "--operation", "all_reduce", "--ranks", "1", backend])
    assert done.returncode == 0, done.stdout + done.stderr
    said = r" failed in the call, first all_reduce \S+: .*KeyError: 'lost' \(raises.py:\d+"
    assert re.search(said, done.stdout), done.stdout


def test_a_replay_of_processes_prints_no_stacks_of_idle_ranks(raises_in_processes):
    case = {"operation": "all_reduce", "backend": f"python:{raises_in_processes}", "ranks": 2}
    case["op"] = "sum"
    case = {**case, "type": "int32", "count": 1}
    done = run_program(["replay", "--times", "1", json.dumps(case)])
    assert done.returncode == 1, done.stderr
    for rank in range(2):
        assert f" in rank {rank} of 2\n" in done.stderr, done.stderr
    assert done.stderr.count("KeyError: 'lost'\n") == 2, done.stderr
    assert "most recent call first" not in done.stderr, done.stderr


def test_a_replay_prints_the_traceback(raises):
    case = {"operation": "all_reduce", "backend": f"python:{raises}", "ranks": 1, "op": "sum"}
    done = run_program(["replay", "--times", "1", json.dumps({**case, "type": "f32", "count": 1})])
    assert done.returncode == 1, done.stderr
    assert "Traceback (most recent call last)" in done.stderr
    assert re.search(r'File ".*raises.py", line \d+, in ', done.stderr), done.stderr


def stack_of(rank, errors):
    """Returns the frames of the only thread that runs this rank, the innermost first."""
    stacks = re.findall(r"\(most recent call first\):\n((?:  File .*\n)+)", errors)
    found = [each for each in stacks if f" in {rank}\n" in each]
    assert len(found) == 1, errors
    return found[0].splitlines()


@pytest.mark.parametrize("path, operation, begin, rank", [
    (THREADS, "broadcast", "def broadcast(call, send, recv):\n", "rank 1"),
    (os.path.join(HERE, "subjects", "in_processes.py"), "all_reduce",
     "def _(call, send, recv):\n", "rank 1 of 2"),
], ids=["threads", "processes"])
def test_a_replay_of_a_hang_prints_where_the_rank_is(tmp_path, path, operation, begin, rank):
    text = open(path).read()
    assert begin in text
    file = tmp_path / "hangs.py"
    # Nobody ever writes into the pipe.
    read = "(lambda os: os.read(os.pipe()[0], 1))(__import__('os'))"
    hang = f"    if call.rank == 1:\n        {read}\n"
    file.write_text(text.replace(begin, begin + hang))
    line = text[: text.index(begin)].count("\n") + 3
    case = {"operation": operation, "backend": f"python:{file}", "ranks": 2, "count": 1}
    case["type"] = "int32"
    if operation == "all_reduce":
        case["op"] = "sum"
    done = run_program(["replay", "--times", "1", "--timeout", "10", json.dumps(case)])
    assert re.search("^verdict +hung: no answer within 10 s", done.stdout, flags=re.M), done.stdout
    assert f'hangs.py", line {line} in ' in stack_of(rank, done.stderr)[0], done.stderr


def run_file(file):
    """Runs a file of Python with the package. Returns its exit status and all output."""
    done = subprocess.run(
        [sys.executable, str(file)],
        env={**os.environ, "PYTHONPATH": PACKAGE},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        universal_newlines=True,
        timeout=600,
    )
    return done.returncode, done.stdout


CHANGES = """
import sys
sys.path.insert(0, {folder!r})
import numpy_threads
import rankcheck

subject = numpy_threads.s
{change}
rankcheck.check(subject, operation="{operation}", ranks="1..2", cases=5)
"""


@pytest.mark.parametrize("change, operation, said", [
    ("", "broadcast", ""),
    ("subject.offers['broadcast'].function = lambda call, send, recv: None", "broadcast",
     r"broadcast is numpy_threads.py:\d+ here, and changes.py:\d+ where check\(\) was"),
    ("del subject.offers['all_to_all']", "broadcast",
     r"all_to_all is numpy_threads.py:\d+ here, and not offered where check\(\) was"),
], ids=["same", "another function", "one less"])
def test_what_is_checked_is_what_the_test_has(tmp_path, change, operation, said):
    file = tmp_path / "changes.py"
    file.write_text(CHANGES.format(folder=SUBJECTS, change=change, operation=operation))
    status, output = run_file(file)
    assert (status == 0) == (said == ""), output
    assert re.search(said, " ".join(output.split())), output


def test_a_file_that_checks_itself_without_a_guard_ends(tmp_path):
    file = tmp_path / "unguarded.py"
    with open(THREADS) as opened:
        text = opened.read().split('if __name__ == "__main__":')[0]
    call = "import rankcheck as rc\nrc.check(s, operation='broadcast', ranks='1..2', cases=3)\n"
    file.write_text(text + call)
    line = text.count("\n") + 2
    status, output = run_file(file)
    assert status == 1, output
    said = f"unguarded.py:{line}: check() is called while rankcheck runs this file: put the call"
    assert said in output, output
